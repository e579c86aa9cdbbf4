/**
 * A process for one measurement by Lighthouse here: its Chromium sees the network through a proxy of ours. It ends when it has told what
 * was measured, when it is told to, and when whoever started it is gone; its Chromium ends with it.
 */
import type { Flags } from 'lighthouse'
import { publicPlaces } from '../../../api/outside/public-places.ts'
import { resolverAt } from '../../../api/outside/resolver.ts'
import type { Setting } from '../messages.ts'
import { endChromium, startChromium, type Chromium } from './chromium.ts'
import { startProxy } from './proxy.ts'
import { CATEGORY_IDS, sideOf, type LighthouseResult } from './results.ts'
import { SIDES, type Measured, type SideName } from './speed.ts'

/** Of one side: the other one needs its time, too. */
const LOAD_MAX_MS = 25_000

export interface ToRunner {
  url: string
  chromium: string
  setting: Setting
}
export type FromRunner = { begun: Pick<Chromium, 'pid' | 'profile'> } | { name: SideName; measured: Measured }

let chromium: Pick<Chromium, 'pid' | 'profile'> | undefined
const tell = (message: FromRunner) => new Promise<void>((told) => process.send!(message, undefined, undefined, () => told()))

function end(code: number): never {
  if (chromium) endChromium(chromium)
  process.exit(code)
}
process.on('SIGTERM', () => end(1))
process.on('disconnect', () => end(1))

async function measureSide(name: SideName, url: string, port: number): Promise<Measured> {
  const { default: lighthouse, desktopConfig } = await import('lighthouse')
  const asked = { port, output: 'json', logLevel: 'silent', onlyCategories: [...CATEGORY_IDS], maxWaitForLoad: LOAD_MAX_MS } satisfies Flags
  const result = await lighthouse(url, asked, name === 'desktop' ? desktopConfig : undefined)
  const measured = result?.lhr as unknown as LighthouseResult | undefined
  const side = sideOf(measured)
  if (side) return { side, version: String(measured!.lighthouseVersion), fieldData: null, isOfSite: false }
  const code = measured?.runtimeError?.code
  return { failure: typeof code === 'string' ? `Lighthouse could not load the page (${code})` : 'Lighthouse could not load the page' }
}

async function run({ url, chromium: path, setting }: ToRunner) {
  const places = publicPlaces({ ...setting, lookup: resolverAt(setting.dnsServers).addresses })
  const proxy = await startProxy(places)
  const { port } = await startChromium(path, proxy.port, (begun) => {
    chromium = begun
    void tell({ begun })
  })
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
