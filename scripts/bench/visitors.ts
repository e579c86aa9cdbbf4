/** What visitors have written: whether a page of 50,000 reviews costs what one of ten does, and what shoppers feel of its moderation. */
import { sql } from 'drizzle-orm'
import { openRegistry } from '../../db/control/open.ts'
import { databaseName, openDatabase, type Location } from '../../db/open.ts'
import { newStore } from '../new-store.ts'
import { seedStore } from '../seed.ts'
import { percentile, requestOf, run, type Operation } from './load.ts'
import type { Paged } from './paging.ts'
import { median } from './rounds.ts'
import { startStoa, type Server } from './servers.ts'

const SHORT = 10
const REVIEWS = 50_000
const COMMENTS = 20_000
const PRODUCTS = 200
const LIMIT = 10
const ROUNDS = 5
const ROUND_MS = 300
/** Those who read while somebody moderates. */
const SHOPPERS = 32
const MODERATED = 1_000
const BULK = 100
const ALONE_MS = 1_500
const MODERATION_MAX_MS = 30_000

/** What shoppers feel of a queue that is cleared. */
interface Moderation {
  reviews: number
  seconds: number
  /** p99 of product reads, alone and meanwhile, in ms; and the median of their ratio. */
  aloneP99Ms: number
  besideP99Ms: number
  times: number
}

export interface Visitors {
  words: Paged[]
  moderation: Moderation
}

/** The store that is asked. */
interface Store {
  key: string
  productId: string
  postId: string
  /** Reviews that wait. */
  waiting: string[]
}

/** A store whose first product has so many reviews that are shown, and some that wait; and its post so many comments. */
export async function storeWith(location: Location, reviews: number, comments: number, waiting: number): Promise<Store> {
  const { registry, close } = await openRegistry(location)
  const input = { name: `With ${reviews} reviews`, plan: 'scale', currency: 'usd', locale: 'en-US', aiBuilt: false } as const
  const { id, keys } = await newStore(registry, input)
  const store = await openDatabase(location, databaseName(id, 'live'), 'store')
  await seedStore(store, { products: PRODUCTS, customers: 5, orders: 5 })
  const now = new Date().toISOString()
  const [[productId]] = (await store.read.all(sql`select id from products where status = 'published' order by id limit 1`)) as [[string]]
  const postId = Bun.randomUUIDv7()
  const [[first]] = (await store.read.all(sql`select coalesce(max(seq), 0) from reviews where product_id = ${productId}`)) as [[number]]
  const ids = (count: number) => Array.from({ length: count }, () => Bun.randomUUIDv7())
  const waitingIds = ids(waiting)
  const add = (own: readonly string[], from: number, approved: 0 | 1) => sql`insert into reviews
    (id, product_id, author, email, content, rating, approved, created_at, updated_at, seq)
    select value, ${productId}, 'Ada', 'ada@example.com', 'It has lasted for three winters, and I wear it every day.', 4, ${approved}, ${now}, ${now},
      ${from} + key from json_each(${JSON.stringify(own)})`
  await store.write(async (tx) => {
    await tx.run(add(ids(reviews), first + 1, 1))
    await tx.run(add(waitingIds, first + 1 + reviews, 0))
    await tx.run(sql`insert into posts (id, title, slug, status, published_at, seo, comment_count, sorted_at, visible, created_at, updated_at)
      values (${postId}, 'Care', 'care', 'published', ${now}, '{}', 0, ${now}, 1, ${now}, ${now})`)
    await tx.run(sql`insert into post_comments (id, post_id, author, email, content, approved, created_at, updated_at, seq, signals)
      select value, ${postId}, 'Ada', 'ada@example.com', 'Cool water works.', 1, ${now}, ${now}, 1 + key, '{}' from json_each(${JSON.stringify(ids(comments))})`)
  })
  store.close()
  close()
  return { key: keys.admin, productId, postId, waiting: waitingIds }
}

const read = (key: string, path: string): Operation => ({
  first: requestOf('GET', `/api/v1${path}`, { authorization: `Bearer ${key}` }),
  expect: [200],
})

/** A page of each list, at its begin and in its middle, in a store with many and in one with few, in turn. */
async function measureWords({ port }: Server, few: Store, many: Store): Promise<Paged[]> {
  const lists: [list: string, rows: number, path: (store: Store) => string][] = [
    ['/products/{id}/reviews', REVIEWS, ({ productId }) => `/products/${productId}/reviews?limit=${LIMIT}`],
    ['/posts/{id}/comments', COMMENTS, ({ postId }) => `/posts/${postId}/comments?limit=${LIMIT}`],
    ['/products/{id} with reviews', REVIEWS, ({ productId }) => `/products/${productId}?`],
    ['/products beside reviews', REVIEWS, () => `/products?limit=${LIMIT}`],
  ]
  const p50 = async (key: string, path: string) =>
    percentile(await run({ port, connections: 1, maxMs: ROUND_MS, next: () => read(key, path) }), 0.5)
  const words: Paged[] = []
  for (const [list, rows, path] of lists) {
    const times: { first: number[]; middle: number[] } = { first: [], middle: [] }
    // The middle of the list of products is that of both stores.
    const [middle, other] = list.startsWith('/products beside') ? [PRODUCTS / 2, PRODUCTS / 2] : [rows / 2, 0]
    for (let i = 0; i < ROUNDS; i++) {
      times.first.push((await p50(many.key, `${path(many)}&offset=0`)) / (await p50(few.key, `${path(few)}&offset=0`)))
      times.middle.push((await p50(many.key, `${path(many)}&offset=${middle}`)) / (await p50(few.key, `${path(few)}&offset=${other}`)))
    }
    words.push({ list, rows, short: SHORT, firstTimes: median(times.first), middleTimes: median(times.middle) })
  }
  return words
}

/** Approves the queue, a hundred at once and as fast as it goes, and takes it back in the next round; shoppers read meanwhile. */
async function measureModeration({ port }: Server, { key, productId, waiting }: Store): Promise<Moderation> {
  const paths = [`/products/${productId}`, `/products/${productId}/reviews?limit=10`, '/products?limit=20']
  const shopping = (maxMs: number, until?: AbortSignal) =>
    run({ port, connections: SHOPPERS, maxMs, until, next: (n) => read(key, paths[n % paths.length]!) })
  const decide = async (approved: boolean) => {
    for (let at = 0; at < waiting.length; at += BULK) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/reviews/bulk`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ids: waiting.slice(at, at + BULK), approved }),
      })
      if (!answer.ok) throw new Error(`moderation: ${answer.status} ${await answer.text()}`)
    }
  }
  await shopping(ALONE_MS)
  const turns: { alone: number; beside: number; seconds: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = percentile(await shopping(ALONE_MS), 0.99)
    const over = new AbortController()
    const started = performance.now()
    const moderating = decide(round % 2 === 0).finally(() => over.abort())
    const [beside] = await Promise.all([shopping(MODERATION_MAX_MS, over.signal), moderating])
    turns.push({ alone, beside: percentile(beside, 0.99), seconds: (performance.now() - started) / 1_000 })
  }
  const middle = (of: (turn: (typeof turns)[number]) => number) => median(turns.map(of))
  return {
    reviews: waiting.length,
    seconds: middle(({ seconds }) => seconds),
    aloneP99Ms: middle(({ alone }) => alone),
    besideP99Ms: middle(({ beside }) => beside),
    times: middle(({ alone, beside }) => beside / alone),
  }
}

/** Measures both on stores of their own; nothing that was answered is remembered. */
export async function measureVisitors(dataDir: string): Promise<Visitors> {
  const location = { url: `file:${dataDir}/{name}.db` }
  const few = await storeWith(location, SHORT, SHORT, 0)
  const many = await storeWith(location, REVIEWS, COMMENTS, MODERATED)
  const stoa = await startStoa(dataDir, { isCold: true })
  try {
    return { words: await measureWords(stoa, few, many), moderation: await measureModeration(stoa, many) }
  } finally {
    await stoa.stop()
  }
}
