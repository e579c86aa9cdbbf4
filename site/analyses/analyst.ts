/**
 * The process that visits storefronts and reads what they say. It stands apart from the servers, so that no page of a stranger costs a
 * buyer a millisecond: it yields to them, and is ended whole when a page should ever hold it.
 */
import { setPriority } from 'node:os'
import { workingTime } from '../../api/outside/fetch-public.ts'
import { NotFetched } from '../../api/outside/not-fetched.ts'
import { publicPlaces, type Places } from '../../api/outside/public-places.ts'
import { resolverAt } from '../../api/outside/resolver.ts'
import type { FromAnalyst, Setting, ToAnalyst } from './messages.ts'
import { OPERATIONS } from './operations.ts'
import { pageMeta } from './page-meta.ts'
import { scanStore } from './scan/scan.ts'

/** Below the servers: 0 is theirs, 19 the least. */
const NICENESS = 10

/** Memory that pages may leave behind. */
const LEFT_MAX_BYTES = 8 * 1_048_576
/** After the first page. */
let clearedBytes: number | undefined

const running = new Map<number, AbortController>()
let setting: Setting | undefined
let places: Places | undefined
const tell = (message: FromAnalyst) => process.send!(message)

/** What a page left behind is given back at once when it is much: nobody is waiting for this process in the next milliseconds. */
function clear() {
  const bytes = process.memoryUsage.rss()
  clearedBytes ??= bytes
  if (bytes < clearedBytes + LEFT_MAX_BYTES) return
  Bun.gc(true)
  Bun.shrink()
}

async function analyse({ id, operation, url }: Extract<ToAnalyst, { id: number }>) {
  const control = new AbortController()
  running.set(id, control)
  const { signal, over } = workingTime(OPERATIONS[operation].maxMs, control.signal)
  const visitor = { places: places!, userAgent: setting!.userAgent, signal }
  try {
    const work = operation === 'store-scan' ? scanStore(visitor, new URL(url)) : pageMeta(visitor, new URL(url))
    tell({ id, report: await work })
  } catch (error) {
    if (error instanceof NotFetched) tell({ id, hindrance: error.message })
    else tell({ id, defect: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    over()
    running.delete(id)
    clear()
  }
}

process.on('message', (message: ToAnalyst) => {
  if ('setting' in message) {
    setting = message.setting
    places = publicPlaces({ ...setting, lookup: resolverAt(setting.dnsServers).addresses })
  } else if ('cancel' in message) running.get(message.cancel)?.abort()
  else void analyse(message)
})
// Whoever asked is gone: there is nobody to tell.
process.on('disconnect', () => process.exit())
setPriority(NICENESS)
