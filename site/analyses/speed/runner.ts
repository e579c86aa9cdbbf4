/**
 * A process for one measurement by Lighthouse here: its Chromium sees the network through a proxy of ours. It ends when it has told what
 * was measured, when it is told to, and when whoever started it is gone; its Chromium ends with it.
 */
import type { Flags } from 'lighthouse'
import { publicPlaces } from '../../../api/outside/public-places.ts'
import { resolverAt } from '../../../api/outside/resolver.ts'
import type { Setting } from '../messages.ts'
import { endChromium, startChromium, type Begun } from './chromium.ts'
import { holdOf } from './hold.ts'
import { startProxy } from './proxy.ts'
import { CATEGORY_IDS, sideOf, type LighthouseResult } from './results.ts'
import { SIDES, type Measured, type SideName } from './speed.ts'

/** Of one side: the other one needs its time, too. */
const LOAD_MAX_MS = 20_000

export interface ToRunner {
  url: string
  chromium: string
  /** Whoever runs the server answers for pages that nothing holds. */
  isTrusted: boolean
  setting: Setting
}
export type FromRunner = { begun: Begun } | { name: SideName; measured: Measured }

/** What Lighthouse means, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ERRORED_DOCUMENT_REQUEST: 'the page answers with an error',
  FAILED_DOCUMENT_REQUEST: 'the page could not be loaded',
  CHROME_INTERSTITIAL_ERROR: 'it redirects too often, leads to a place that is not public, or its certificate is not trusted',
  INSECURE_DOCUMENT_REQUEST: 'its certificate is not trusted',
  DNS_FAILURE: 'its host does not exist',
  NOT_HTML: 'it is no HTML page',
  PAGE_HUNG: 'the page does not come to rest',
  NO_FCP: 'the page paints nothing',
  NO_LCP: 'the page paints nothing',
}

let chromium: Begun | undefined
const tell = (message: FromRunner) => new Promise<void>((told) => process.send!(message, undefined, undefined, () => told()))

function end(code: number): never {
  if (chromium) endChromium(chromium)
  process.exit(code)
}
process.on('SIGTERM', () => end(1))
process.on('disconnect', () => end(1))

/** A page has a browser's room in memory and on the disk, and not the machine's. */
const WATCH_MS = 1_000
const DISK_MAX_KB = 500 * 1_024
/** As `ps` counts: what its processes share is counted in each of them. */
const MEMORY_MAX_KB = 3_000 * 1_024

async function endIfHuge() {
  if (!chromium) return
  const { pid, profile } = chromium
  const [disk, memory] = await Promise.all([
    said(['du', '-sk', profile]).then((text) => Number.parseInt(text, 10) || 0),
    said(['ps', '-o', 'rss=', '-g', String(pid)]).then((text) => text.split('\n').reduce((sum, line) => sum + (Number(line) || 0), 0)),
  ])
  if (disk > DISK_MAX_KB || memory > MEMORY_MAX_KB) end(1)
}

/** What a command prints; nothing where it is not there. */
async function said(command: string[]): Promise<string> {
  try {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' })
    return await new Response(child.stdout).text()
  } catch {
    return ''
  }
}

async function measureSide(name: SideName, url: string, port: number, isAgain = false): Promise<Measured> {
  const { default: lighthouse, desktopConfig } = await import('lighthouse')
  const asked = { port, output: 'json', logLevel: 'silent', onlyCategories: [...CATEGORY_IDS], maxWaitForLoad: LOAD_MAX_MS } satisfies Flags
  const result = await lighthouse(url, asked, name === 'desktop' ? desktopConfig : undefined)
  const measured = result?.lhr as unknown as LighthouseResult | undefined
  const side = sideOf(measured)
  if (side) return { side, version: String(measured!.lighthouseVersion), fieldData: null, isOfSite: false }
  const reason = REASONS[String(measured?.runtimeError?.code)]
  // A browser that was too slow to begin is no finding: once more then.
  if (!reason && !isAgain) return measureSide(name, url, port, true)
  return { failure: reason ?? 'Lighthouse could not load the page' }
}

async function run({ url, chromium: path, isTrusted, setting }: ToRunner) {
  const hold = holdOf(isTrusted)
  if (!hold) throw new Error('nothing holds Chromium here')
  const places = publicPlaces({ ...setting, lookup: resolverAt(setting.dnsServers).addresses })
  const proxy = await startProxy(places)
  const { port } = await startChromium({ path, proxyPort: proxy.port, hold }, (begun) => {
    chromium = begun
    void tell({ begun })
  })
  setInterval(() => void endIfHuge(), WATCH_MS)
  for (const name of SIDES)
    await tell({
      name,
      measured: await measureSide(name, url, port).catch((): Measured => ({ failure: 'Lighthouse could not measure the page' })),
    })
  end(0)
}

process.on('message', (message: ToRunner) => {
  run(message).catch((error) => {
    console.error(error)
    end(1)
  })
})
