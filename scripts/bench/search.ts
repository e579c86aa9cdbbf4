/** What buyers feel of readers: how long the API takes beside eight clients that search the site on new connections, under `npm start`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRegistry } from '../../db/control/open.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { newStore } from '../new-store.ts'
import { environment } from './servers.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const CLIENTS = 8
const ASKED = 1_000
const PAUSE_MS = 5
/** Until the thread that searches has begun, and the clients have. */
const WARM_MS = 2_000
/** Bar of `/healthz`, in ms (issue 28). */
const P99_MAX_MS = 20

interface Health {
  p50Ms: number
  p99Ms: number
  maxMs: number
}
interface SearchMeasured {
  alone: Health
  beside: Health
  searchesPerSecond: number
  apiMb: number
  siteMb: number
}

/** The health of the API, asked again and again on connections of their own. */
async function healthOf(url: string): Promise<Health> {
  const times: number[] = []
  for (let i = 0; i < ASKED; i++) {
    const started = performance.now()
    const { status } = await fetch(`${url}/healthz`, { headers: { connection: 'close' } })
    if (status !== 200) throw new Error(`/healthz: ${status}`)
    times.push(performance.now() - started)
    await Bun.sleep(PAUSE_MS)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1]! * 10) / 10
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}

/** Megabytes that a process has in memory. */
const memoryOf = (pid: number) =>
  Math.round((Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024) / 1e6)

/** The process of the site that a server has begun. */
const siteOf = (pid: number) =>
  Number(
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .find((child) => child && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('serve-site')),
  )

/** Starts Stoa over a store that is there: nothing dresses a demo shop meanwhile. */
async function startStoa(dataDir: string) {
  makeDataDir(dataDir)
  const { registry, close } = await openRegistry({ url: `file:${dataDir}/{name}.db` })
  await newStore(registry, { name: 'Bench store', plan: 'starter', currency: 'usd', locale: 'en-US', aiBuilt: false }).finally(close)
  const env = environment({ DATA_DIR: dataDir, HOST: '127.0.0.1', API_PORT: '0', SITE_PORT: '0', LOG: 'silent', TRUST_PROXY: '127.0.0.1' })
  const server = Bun.spawn([process.execPath, 'scripts/start.ts'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  for await (const part of server.stdout) {
    said += Buffer.from(part).toString()
    const [, api, site] = /Store API +(\S+)\/api\/v1\nContent site +(\S+)\n/.exec(said) ?? []
    if (api && site) return { server, api, site }
  }
  throw new Error(`npm start ended: ${said}`)
}

/** Measures it; each search comes from an address of its own, so that no limit spares anybody anything. */
export async function measureSearch(): Promise<SearchMeasured> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stoa-search-'))
  const { server, api, site } = await startStoa(dataDir)
  let searchers: Bun.Subprocess<'ignore', 'pipe'> | undefined
  try {
    const alone = await healthOf(api)
    const env = environment({ SITE: site, CLIENTS: String(CLIENTS) })
    searchers = Bun.spawn([process.execPath, 'scripts/bench/searchers.ts'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
    await Bun.sleep(WARM_MS)
    const started = performance.now()
    const beside = await healthOf(api)
    const seconds = (performance.now() - started + WARM_MS) / 1000
    searchers.kill()
    const searches = (await new Response(searchers.stdout).text()).split('\n').length - 1
    return {
      alone,
      beside,
      searchesPerSecond: Math.round(searches / seconds),
      apiMb: memoryOf(server.pid),
      siteMb: memoryOf(siteOf(server.pid)),
    }
  } finally {
    searchers?.kill()
    server.kill()
    await server.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The figures beside their bar. */
export function lineOf({ alone, beside, searchesPerSecond, apiMb, siteMb }: SearchMeasured): string {
  const verdict = beside.p99Ms <= P99_MAX_MS ? 'met' : 'MISSED'
  return `healthz of the API beside ${CLIENTS} who search the site ${searchesPerSecond} times/s on new connections: ${beside.p50Ms} ms, p99 ${beside.p99Ms}, most ${beside.maxMs} (alone ${alone.p50Ms}, ${alone.p99Ms}, ${alone.maxMs}); bar p99 ${P99_MAX_MS}: ${verdict}; memory: API ${apiMb} MB, site ${siteMb} MB`
}
