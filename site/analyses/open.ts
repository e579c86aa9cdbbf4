/** The analyses of an installation: made once with its configuration, ended with its server. */
import { join } from 'node:path'
import { publicPlaces } from '../../api/outside/public-places.ts'
import { resolverAt } from '../../api/outside/resolver.ts'
import { Clients } from '../../api/server/client-address.ts'
import type { Config } from '../../api/server/config.ts'
import type { Log } from '../../api/server/log.ts'
import { sharedTable } from '../../db/shared-table.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import type { Answers } from '../lib/answers.ts'
import { Analyses } from './analyses.ts'
import { Analysts } from './analysts.ts'
import { Desk } from './desk.ts'
import { Front } from './front.ts'
import { Limits, type TableOf } from './limits.ts'
import type { Setting } from './messages.ts'
import { Renderer } from './renderer.ts'
import { insights } from './speed/insights.ts'
import { lighthouse } from './speed/lighthouse.ts'
import { pageSpeed } from './speed/speed.ts'

interface OpenNeeds {
  answers: Answers
  /** The address of a request's connection. */
  peerOf: (request: Request) => string
  /** The built server of Astro. */
  entry: string
  log: Log
}

/** Who asks, and where that is explained. */
const userAgentOf = (version: string, base: string) => `StoaScan/${version} (+${base}/help/storefront/store-scan#who-asks)`

/** Counted in files for all processes of the machine, or, where they can't be written, in each of them. */
function tablesIn({ dataDir }: Config, log: Log): TableOf {
  return (name, cells) => {
    try {
      makeDataDir(dataDir)
      return sharedTable(join(dataDir, `${name}-limits`), cells)
    } catch (error) {
      log.write('warn', `each process counts its own ${name}: their file can not be written`, { error: String(error) })
      return new BigInt64Array(cells)
    }
  }
}

export interface OpenAnalyses {
  front: Front
  /** Ends what runs. */
  stop(): Promise<unknown>
}

export function openAnalyses(config: Config, { answers, peerOf, entry, log }: OpenNeeds): OpenAnalyses {
  const { base, storeApi, version } = answers.place
  const own = [base, storeApi].map((url) => new URL(url).hostname.toLowerCase())
  const setting: Setting = { allow: config.fetchAllow, own, dnsServers: config.dnsServers, userAgent: userAgentOf(version, base) }
  const places = publicPlaces({ ...setting, lookup: resolverAt(config.dnsServers).addresses })
  const analysts = new Analysts(setting)
  const measure = pageSpeed(
    places,
    config.pagespeed ? insights(config.pagespeed.url, config.pagespeed.key) : lighthouse(setting, config.chromiumNoSandbox),
  )
  const analyses = new Analyses({
    limits: new Limits(new Clients(config.trustProxy), tablesIn(config, log)),
    desk: new Desk(),
    places,
    allow: config.fetchAllow,
    make: (operation, url, { client, signal }) =>
      operation === 'pagespeed' ? measure(url, signal, client) : analysts.analyse(operation, url, signal),
  })
  const renderer = new Renderer(entry)
  return {
    front: new Front({ answers, analyses, renderer, peerOf }),
    stop: () => Promise.all([analysts.stop(), renderer.stop()]),
  }
}
