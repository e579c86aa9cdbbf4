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
import { REQUESTS_MAX } from './reading/visit.ts'
import { scanStore } from './scan/scan.ts'

/** Below the servers: 0 is theirs, 19 the least. */
const NICENESS = 10

/** Memory that pages may leave behind while it rests, and at any time. */
const LEFT_BYTES = 8 * 1_048_576
const LEFT_MAX_BYTES = 64 * 1_048_576
/** It rests when nothing has ended for so long. */
const REST_MS = 1_000
let clearing: ReturnType<typeof setTimeout> | undefined
/** After the first page. */
let clearedBytes: number | undefined

const running = new Map<number, AbortController>()
let setting: Setting | undefined
let places: Places | undefined
const tell = (message: FromAnalyst) => process.send!(message)

/** What pages left behind is given back when nobody waits, or when it is very much: collecting takes longer than a scan. */
function clear() {
  clearTimeout(clearing)
  const left = process.memoryUsage.rss() - (clearedBytes ??= process.memoryUsage.rss())
  if (left > LEFT_MAX_BYTES) return collect()
  if (left > LEFT_BYTES) clearing = setTimeout(() => (running.size ? clear() : collect()), REST_MS)
}

function collect() {
  Bun.gc(true)
  Bun.shrink()
}

async function analyse({ id, operation, url }: Extract<ToAnalyst, { id: number }>) {
  const control = new AbortController()
  running.set(id, control)
  const { signal, over } = workingTime(OPERATIONS[operation].maxMs, control.signal)
  const reads = () => tell({ id, reads: true })
  const visitor = { places: places!, userAgent: setting!.userAgent, signal, left: { requests: REQUESTS_MAX }, reads }
  try {
    const work = operation === 'store-scan' ? scanStore(visitor, new URL(url)) : pageMeta(visitor, new URL(url))
    tell({ id, report: await work })
  } catch (error) {
    if (error instanceof NotFetched) tell({ id, hindrance: error.hindrance, message: error.message })
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
  else if ('ping' in message) tell({ pong: message.ping })
  else void analyse(message)
})
// Whoever asked is gone: there is nobody to tell.
process.on('disconnect', () => process.exit())
setPriority(NICENESS)
