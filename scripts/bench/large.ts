/** A store of 100,000 products: what its costly searches and lists take, and how long `/healthz` waits beside them. */
import { HOST, percentile, requestOf, run, type Measured, type Operation } from './load.ts'
import { median } from './rounds.ts'
import { seed, type Seeded } from './seed.ts'
import { startStoa } from './servers.ts'

export const LARGE_ROWS = ['search-large', 'list-large'] as const
export type LargeRow = (typeof LARGE_ROWS)[number]

const PRODUCTS = 100_000
const READERS = 4
const ROUND_MS = 3_000

/** The figures of a row: medians over its rounds. */
export interface Large {
  name: LargeRow
  products: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** The longest that a `/healthz` waited, beside the reads and with nothing beside it. */
  healthMs: number
  healthAloneMs: number
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']
const WORDS = ['li', 'made', 'linen', 'soft lamp', 'sku', '10', 'oak cha', 'small batches plastic']
const SORTS = ['newest', 'price', '-price', 'name']

/** Searches, no two of them alike: what was asked before is remembered. */
const searches = (n: number) => {
  const words = [...LETTERS, ...WORDS]
  return `/search?q=${encodeURIComponent(words[n % words.length]!)}&limit=${1 + (Math.floor(n / words.length) % 100)}`
}

/** Every filter with every order, each at another place of the list. */
const lists = (ids: { categoryId: string; brandId: string; collectionId: string }) => {
  const filters = [
    ...['', 'inStock=true', 'inStock=false', 'minPrice=50&maxPrice=150', 'tag=sale', 'tag=gift&inStock=true&minPrice=20', 'currency=eur'],
    ...['query=a', 'query=lamp', 'query=%25', ...Object.entries(ids).map(([name, id]) => `${name}=${id}`)],
    `collectionId=${ids.collectionId}&inStock=true&query=oak`,
  ]
  return (n: number) => {
    const sort = SORTS[Math.floor(n / filters.length) % SORTS.length]
    const filter = filters[n % filters.length]
    const kinds = [
      `/products?sort=${sort}&${filter}&offset=${(n * 997) % 3_000}`,
      '/variants?offset=100000',
      '/collections',
      '/categories?query=a',
    ]
    return kinds[n % 17 === 16 ? 1 + (n % 3) : 0]!
  }
}

interface Amounts {
  rounds: number
  roundMs: number
  products: number
}

async function pathsOf(name: LargeRow, port: number, headers: Record<string, string>): Promise<(n: number) => string> {
  if (name === 'search-large') return searches
  const first = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}?limit=1`, { headers: { ...headers, host: HOST } })
    return ((await answer.json()) as { data: { id: string }[] }).data[0]!.id
  }
  return lists({ categoryId: await first('/categories'), brandId: await first('/brands'), collectionId: await first('/collections') })
}

async function measureRow(name: LargeRow, port: number, { keys }: Seeded, { rounds, roundMs, products }: Amounts): Promise<Large> {
  const headers = { authorization: `Bearer ${keys.storefront}` }
  const path = await pathsOf(name, port, headers)
  let asked = 0
  const read = (): Operation => ({ first: requestOf('GET', `/api/v1${path(asked++)}`, headers), expect: [200] })
  const health: Operation = { first: requestOf('GET', '/healthz', {}), expect: [200] }
  const reading = () => run({ port, connections: READERS, maxMs: roundMs, next: read })
  const asking = () => run({ port, connections: 1, maxMs: roundMs, next: () => health })
  await reading()
  const turns: { alone: number; beside: number; reads: Measured }[] = []
  for (let i = 0; i < rounds; i++) {
    const alone = await asking()
    const [reads, beside] = await Promise.all([reading(), asking()])
    turns.push({ alone: percentile(alone, 1), beside: percentile(beside, 1), reads })
  }
  const middle = (of: (turn: (typeof turns)[number]) => number) => median(turns.map(of))
  return {
    name,
    products,
    perSecond: middle(({ reads }) => reads.perSecond),
    p50Ms: middle(({ reads }) => percentile(reads, 0.5)),
    p99Ms: middle(({ reads }) => percentile(reads, 0.99)),
    healthMs: middle(({ beside }) => beside),
    healthAloneMs: middle(({ alone }) => alone),
  }
}

/** Measures these rows on a store of its own. */
export async function measureLarge(
  dataDir: string,
  names: readonly LargeRow[],
  amounts: Partial<Amounts> & { rounds: number },
): Promise<Large[]> {
  const all = { roundMs: ROUND_MS, products: PRODUCTS, ...amounts }
  const seeded = await seed({ url: `file:${dataDir}/{name}.db` }, { products: all.products, orders: 0, carts: 0 })
  const stoa = await startStoa(dataDir)
  try {
    const rows = []
    for (const name of names) rows.push(await measureRow(name, stoa.port, seeded, all))
    return rows
  } finally {
    await stoa.stop()
  }
}
