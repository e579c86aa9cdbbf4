import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const REVIEWS = 1_000
const BULK = 100
const SHOPPERS = 32

test('the summary of a product is exact at every read, while 1,000 reviews are decided in bulk at two processes', async () => {
  const servers: Server[] = [await shop.start(), await shop.start()]
  const call = (n: number, method: string, path: string, body?: unknown) => shop.call(servers[n % 2]!, method, path, body)
  const product = (await call(0, 'POST', '/products', { name: 'Reviewed', status: 'published', price: 5 })).body
  const ids = Array.from({ length: REVIEWS }, () => Bun.randomUUIDv7())
  // The ratings of each hundred differ: a sum that lacks its count, or has another hundred, shows.
  await shop.inside((store) =>
    store.write((tx) =>
      tx.run(sql`insert into reviews (id, product_id, author, email, content, rating, approved, created_at, updated_at, seq)
        select value, ${product.id}, 'Ada', 'ada@example.com', 'Soft.', 1 + (key / ${BULK}) % 5, 0, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1 + key
        from json_each(${JSON.stringify(ids)})`),
    ),
  )
  const rating = (block: number) => 1 + (block % 5)
  const average = (blocks: number) =>
    blocks ? Math.round((Array.from({ length: blocks }, (_, block) => rating(block)).reduce((a, b) => a + b) / blocks) * 100) / 100 : null
  const wrong: unknown[] = []
  let reads = 0
  let isOver = false
  const states = new Set<number>()
  async function shopping(n: number) {
    while (!isOver) {
      const about = n % 2 ? `/products/${product.id}/reviews?limit=20&offset=${(n * 37) % 900}` : `/products/${product.id}`
      const { status, body } = await call(n >> 1, 'GET', about)
      const { count, mean } =
        n % 2
          ? { count: body.summary.reviewCount, mean: body.summary.averageRating }
          : { count: body.rating.count, mean: body.rating.average }
      const isExact = status === 200 && count % BULK === 0 && mean === average(count / BULK)
      const isPage = n % 2 === 0 || (body.meta.count === count && body.data.length === Math.max(0, Math.min(20, count - ((n * 37) % 900))))
      if (!isExact || !isPage) wrong.push({ about, status, count, mean, page: body.data?.length })
      states.add(count)
      reads++
    }
  }
  const shoppers = Array.from({ length: SHOPPERS }, (_, n) => shopping(n))
  for (let round = 0; round < 4; round++) {
    const blocks = Array.from({ length: REVIEWS / BULK }, (_, block) => block)
    // Taken back from the end, so that what is approved is always the first so many hundreds.
    for (const block of round % 2 ? blocks.toReversed() : blocks) {
      const body = { ids: ids.slice(block * BULK, (block + 1) * BULK), approved: round % 2 === 0 }
      const answer = await call(block, 'POST', '/reviews/bulk', body)
      expect([answer.status, answer.body.changed]).toEqual([200, BULK])
      await Bun.sleep(10)
    }
  }
  isOver = true
  await Promise.all(shoppers)
  expect(wrong).toEqual([])
  expect(states.size).toBeGreaterThan(5)
  expect(reads).toBeGreaterThan(500)
}, 60_000)
