/** A store of 100,000 products: what its costly searches and lists take, and how long `/healthz` waits beside them. */
import { readFileSync } from 'node:fs'
import { HOST, percentile, requestOf, run, type Measured, type Operation } from './load.ts'
import { median } from './rounds.ts'
import { seed, type Seeded } from './seed.ts'
import { startStoa, type Server } from './servers.ts'

export const LARGE_ROWS = ['search-large', 'list-large'] as const
type LargeRow = (typeof LARGE_ROWS)[number]

const PRODUCTS = 100_000
const READERS = 4
const ALONE_MS = 2_000
const READ_MAX_MS = 60_000

/** The figures of a row: medians over its rounds, unless they say otherwise. */
export interface Large {
  name: LargeRow
  products: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /**
   * The longest that a `/healthz` waited, beside the reads and with nothing beside it, in the quietest round: each round asks for all that
   * there is, so what holds others up does so in each, and what else the machine does only adds to it.
   */
  healthMs: number
  healthAloneMs: number
  /** The most CPU of the event loop's own thread that one request took; null where the system doesn't tell. */
  loopMs: number | null
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']
const WORDS = ['li', 'made', 'linen', 'soft lamp', 'sku', '10', 'oak cha', 'small batches plastic']
const SORTS = ['newest', 'price', '-price', 'name']

/** The nth request of a row; `cycle` of them are all kinds that there are. */
interface Paths {
  cycle: number
  path(n: number): string
}

/** Searches, no two of them alike: what was asked before is remembered. */
const searches = (): Paths => {
  const words = [...LETTERS, ...WORDS]
  const path = (n: number) => `/search?q=${encodeURIComponent(words[n % words.length]!)}&limit=${1 + (Math.floor(n / words.length) % 100)}`
  return { cycle: words.length, path }
}

/** Every filter with every order, each at another place of the list. */
const lists = (ids: { categoryId: string; brandId: string; collectionId: string }): Paths => {
  const filters = [
    ...['', 'inStock=true', 'inStock=false', 'minPrice=50&maxPrice=150', 'tag=sale', 'tag=gift&inStock=true&minPrice=20', 'currency=eur'],
    ...['query=a', 'query=lamp', 'query=%25', ...Object.entries(ids).map(([name, id]) => `${name}=${id}`)],
    `collectionId=${ids.collectionId}&inStock=true&query=oak`,
  ]
  const products = SORTS.flatMap((sort) => filters.map((filter) => `/products?sort=${sort}&${filter}`))
  const others = [
    '/variants?limit=10',
    '/collections?limit=10',
    '/categories?query=a',
    `/collections/${ids.collectionId}?`,
    `/categories/${ids.categoryId}?`,
  ]
  const all = [...products, ...others]
  return { cycle: all.length, path: (n) => `${all[n % all.length]}&offset=${(n * 997) % 3_000}` }
}

interface Amounts {
  rounds: number
  products: number
}

async function pathsOf(name: LargeRow, port: number, headers: Record<string, string>): Promise<Paths> {
  if (name === 'search-large') return searches()
  const first = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}?limit=1`, { headers: { ...headers, host: HOST } })
    return ((await answer.json()) as { data: { id: string }[] }).data[0]!.id
  }
  return lists({ categoryId: await first('/categories'), brandId: await first('/brands'), collectionId: await first('/collections') })
}

/** The CPU time of the thread that a process began with, in ms; null where the system doesn't tell. */
function loopTime(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return null
  }
}

/** The most that one of some requests, one after the other, takes of the event loop. */
async function costliest({ port, pid }: Server, count: number, ask: () => Operation): Promise<number | null> {
  let most: number | null = null
  for (let i = 0; i < count; i++) {
    const before = loopTime(pid)
    await run({ port, connections: 1, maxMs: READ_MAX_MS, next: (n) => (n ? null : ask()) })
    const after = loopTime(pid)
    if (before !== null && after !== null) most = Math.max(most ?? 0, after - before)
  }
  return most
}

async function measureRow(name: LargeRow, stoa: Server, { keys }: Seeded, { rounds, products }: Amounts): Promise<Large> {
  const { port } = stoa
  const headers = { authorization: `Bearer ${keys.storefront}` }
  const { cycle, path } = await pathsOf(name, port, headers)
  let asked = 0
  const ask = (): Operation => ({ first: requestOf('GET', `/api/v1${path(asked++)}`, headers), expect: [200] })
  const health: Operation = { first: requestOf('GET', '/healthz', {}), expect: [200] }
  const reading = () => run({ port, connections: READERS, maxMs: READ_MAX_MS, next: (n) => (n < cycle ? ask() : null) })
  const asking = (maxMs: number, until?: AbortSignal) => run({ port, connections: 1, maxMs, until, next: () => health })
  await reading()
  const turns: { alone: number; beside: number; reads: Measured }[] = []
  for (let i = 0; i < rounds; i++) {
    const alone = await asking(ALONE_MS)
    const over = new AbortController()
    const [reads, beside] = await Promise.all([reading().finally(() => over.abort()), asking(READ_MAX_MS, over.signal)])
    turns.push({ alone: percentile(alone, 1), beside: percentile(beside, 1), reads })
  }
  const middle = (of: (turn: (typeof turns)[number]) => number) => median(turns.map(of))
  return {
    name,
    products,
    perSecond: middle(({ reads }) => reads.perSecond),
    p50Ms: middle(({ reads }) => percentile(reads, 0.5)),
    p99Ms: middle(({ reads }) => percentile(reads, 0.99)),
    healthMs: Math.min(...turns.map(({ beside }) => beside)),
    healthAloneMs: Math.min(...turns.map(({ alone }) => alone)),
    loopMs: await costliest(stoa, cycle, ask),
  }
}

/** Measures these rows on a store of its own. */
export async function measureLarge(
  dataDir: string,
  names: readonly LargeRow[],
  amounts: Partial<Amounts> & { rounds: number },
): Promise<Large[]> {
  const all = { products: PRODUCTS, ...amounts }
  const seeded = await seed({ url: `file:${dataDir}/{name}.db` }, { products: all.products, orders: 0, carts: 0 })
  const stoa = await startStoa(dataDir)
  try {
    const rows = []
    for (const name of names) rows.push(await measureRow(name, stoa, seeded, all))
    return rows
  } finally {
    await stoa.stop()
  }
}
