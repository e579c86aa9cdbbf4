/**
 * What an analysis costs beyond the shop's own time, which is measured by asking the shop for the same directly, in turn; and what the
 * rest of the site feels of twenty at once.
 */
import { readFileSync } from 'node:fs'
import { requestOf, run, type Operation } from './load.ts'

/** Of each answer of the shop. */
const DELAY_MS = 100
const ROUNDS = 40
const AT_ONCE = 20
const BATCHES = 8
const LOAD_MS = 3_000
const LOAD_ROUNDS = 5
const CONNECTIONS = 8
/** Bars of p95 beyond the shop's own time, in ms, and of the throughput that is left. */
const SCAN_MAX_MS = 50
const META_MAX_MS = 15
const LEFT_LEAST = 0.9

interface Beyond {
  name: string
  p50Ms: number
  p95Ms: number
  maxMs: number
}

interface AnalysesMeasured {
  beyond: Beyond[]
  atOnce: Beyond[]
  /** Requests a second of a page, alone and beside scans; and what is left of them. */
  alonePerSecond: number
  besidePerSecond: number
  left: number
  scansPerSecond: number
}

const FIXTURE = new URL('../../test/analyses/fixtures/platforms/shopify.http', import.meta.url)

/** A shop that answers everything after a while. */
function startShop() {
  const text = readFileSync(FIXTURE, 'utf8')
  const page = text.slice(text.indexOf('\n\n') + 2)
  const robots = (origin: string) => `User-agent: *\nAllow: /\nSitemap: ${origin}/sitemap.xml\n`
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await Bun.sleep(DELAY_MS)
      const { pathname, origin } = new URL(request.url)
      if (pathname === '/robots.txt') return new Response(robots(origin))
      if (pathname === '/sitemap.xml') return new Response('<urlset/>', { headers: { 'content-type': 'application/xml' } })
      if (pathname === '/llms.txt') return new Response('no', { status: 404 })
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
  })
}

const direct = async (url: string, accept = '*/*') => (await fetch(url, { headers: { accept, connection: 'close' } })).text()
/** What a scan asks a shop for, in its three steps. */
async function asScan(origin: string, n: number) {
  await direct(`${origin}/?${n}`)
  await Promise.all([direct(`${origin}/robots.txt`), direct(`${origin}/llms.txt`), direct(`${origin}/?${n}`, 'text/markdown')])
  await direct(`${origin}/sitemap.xml`)
}

let asked = 0
/** Each from an address of its own, for a page that nobody has asked for. */
async function analyse(site: string, operation: string, origin: string) {
  const n = asked++
  const headers = { 'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` }
  const answer = await fetch(`${site}/api/${operation}?url=${encodeURIComponent(`${origin}/?analysis=${n}`)}`, { headers })
  if (answer.status !== 200) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`)
  await answer.text()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const summary = (name: string, beyond: readonly number[]): Beyond => {
  const sorted = beyond.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]! * 10) / 10
  return { name, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) }
}

/** One at a time, each beside the same asked for directly. */
async function beyondOne(site: string, origin: string): Promise<Beyond[]> {
  const [scans, metas]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const scan = await timed(() => asScan(origin, round))
    scans.push((await timed(() => analyse(site, 'store-scan', origin))) - scan)
    const meta = await timed(() => direct(`${origin}/?${round}`))
    metas.push((await timed(() => analyse(site, 'fetch-page-meta', origin))) - meta)
  }
  return [summary('store-scan', scans), summary('fetch-page-meta', metas)]
}

/** Many at once, beside as many asked for directly at once. */
async function beyondMany(site: string, origin: string): Promise<Beyond[]> {
  const many = async (work: (n: number) => Promise<unknown>) => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => timed(() => work(n))))
  const measured: Beyond[] = []
  for (const [name, floor] of [
    ['store-scan', (n: number) => asScan(origin, n)],
    ['fetch-page-meta', (n: number) => direct(`${origin}/?${n}`)],
  ] as const) {
    const beyond: number[] = []
    for (let batch = 0; batch < BATCHES; batch++) {
      const alone = (await many(floor)).toSorted((a, b) => a - b)
      const analysed = (await many(() => analyse(site, name, origin))).toSorted((a, b) => a - b)
      beyond.push(...analysed.map((ms, i) => ms - alone[i]!))
    }
    measured.push(summary(`${name}, ${AT_ONCE} at once`, beyond))
  }
  return measured
}

/**
 * Throughput of a page beside twenty who ask the shop for the same directly, and beside twenty scans that never cease, in turn: the shop
 * and whoever asks are on this machine, too, and no cost of the analyses.
 */
async function beside(site: string, origin: string, page: string) {
  const operation: Operation = { first: requestOf('GET', page, { accept: 'text/html' }), expect: [200] }
  const load = async () =>
    (await run({ port: Number(new URL(site).port), connections: CONNECTIONS, next: () => operation, maxMs: LOAD_MS })).perSecond
  const [alone, meanwhile]: [number[], number[]] = [[], []]
  let scans = 0
  const besideMany = async (work: () => Promise<unknown>) => {
    let isOver = false
    const working = Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (!isOver) await work()
      }),
    )
    const rate = await load()
    isOver = true
    await working
    return rate
  }
  for (let round = 0; round < LOAD_ROUNDS; round++) {
    alone.push(await besideMany(() => asScan(origin, asked++)))
    meanwhile.push(await besideMany(() => analyse(site, 'store-scan', origin).then(() => scans++)))
  }
  const best = (rates: readonly number[]) => Math.round(Math.max(...rates))
  const left = Math.round((Math.max(...meanwhile) / Math.max(...alone)) * 100) / 100
  return {
    alonePerSecond: best(alone),
    besidePerSecond: best(meanwhile),
    left,
    scansPerSecond: Math.round(scans / ((LOAD_MS * LOAD_ROUNDS) / 1000)),
  }
}

/** Measures the site that `start` starts, which may fetch from `host:port`; `page` is one of its pages. */
export async function measureAnalyses(start: (allow: string) => Promise<string>, page: string): Promise<AnalysesMeasured> {
  const shop = startShop()
  try {
    const origin = shop.url.origin
    const site = await start(shop.url.host)
    // The process that analyses is started by the first.
    for (let i = 0; i < 5; i++) await analyse(site, 'store-scan', origin)
    return { beyond: await beyondOne(site, origin), atOnce: await beyondMany(site, origin), ...(await beside(site, origin, page)) }
  } finally {
    await shop.stop(true)
  }
}

/** The figures beside their bars, a line each. */
export function linesOf({ beyond, atOnce, alonePerSecond, besidePerSecond, left, scansPerSecond }: AnalysesMeasured): string[] {
  const bar = ({ name, p50Ms, p95Ms, maxMs }: Beyond) => {
    const most = name.startsWith('store-scan') ? SCAN_MAX_MS : META_MAX_MS
    return `${name.padEnd(28)} ${p50Ms} ms beyond the shop's own time, p95 ${p95Ms}, most ${maxMs}; bar ${most}: ${p95Ms <= most ? 'met' : 'MISSED'}`
  }
  const rest = `a page beside ${scansPerSecond} scans/s: ${besidePerSecond}/s, beside the same visits without them ${alonePerSecond}/s, left ${left}; bar ${LEFT_LEAST}: ${left >= LEFT_LEAST ? 'met' : 'MISSED'}`
  return [...beyond.map(bar), ...atOnce.map(bar), rest]
}
