/** Answers that two processes remember, while both write: none is older than what was acknowledged before it was asked for. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const PRODUCTS = 4
const READERS = 8
const STORM_MS = 5_000
/** Every statement is a request on a libSQL server. */
const READS_LEAST = process.env.DATABASE_URL ? 100 : 500

test('a read through either process is at least as new as the last write that was acknowledged through either', async () => {
  const servers: Server[] = [await shop.start(), await shop.start()]
  const any = () => servers[Math.floor(Math.random() * servers.length)]!
  const ids: string[] = []
  for (let n = 0; n < PRODUCTS; n++)
    ids.push((await shop.call(any(), 'POST', '/products', { name: `Product ${n}`, price: 0, summary: 'x'.repeat(1500) })).body.id)
  /** The price that each product has at least, by what was acknowledged, and at most, by what was sent. */
  const least = ids.map(() => 0)
  const most = ids.map(() => 0)
  let [blowing, reads, known, zipped] = [true, 0, 0, 0]
  const stale: string[] = []

  async function write() {
    while (blowing) {
      const n = Math.floor(Math.random() * PRODUCTS)
      const price = ++most[n]!
      const { status } = await shop.call(any(), 'PATCH', `/products/${ids[n]}`, { price })
      expect(status).toBe(200)
      least[n] = price
      // Longer than a few reads take, so that answers are remembered in between.
      await Bun.sleep(Math.random() * 40)
    }
  }
  /** What each URL answered this client, by its ETag. */
  async function read() {
    const seen = new Map<string, { etag: string; body: any }>()
    while (blowing) {
      const n = Math.floor(Math.random() * PRODUCTS)
      const path = Math.random() < 0.5 ? `/products/${ids[n]}` : '/products?limit=100'
      const before = [...least]
      const last = Math.random() < 0.5 ? seen.get(path) : undefined
      const response = await fetch(`${any().url}/api/v1${path}`, {
        headers: {
          authorization: `Bearer ${shop.key}`,
          'accept-encoding': Math.random() < 0.5 ? 'gzip' : 'identity',
          ...(last ? { 'if-none-match': last.etag } : {}),
        },
      })
      reads++
      if (response.status === 304) known++
      if (response.headers.has('content-encoding')) zipped++
      const body = response.status === 304 ? last!.body : await response.json()
      seen.set(path, { etag: response.headers.get('etag')!, body })
      for (const product of body.data ?? [body]) {
        const i = ids.indexOf(product.id)
        const price = product.variants?.[0]?.price ?? product.price
        if (!(price >= before[i]! && price <= most[i]!)) stale.push(`${path}: ${price}, not ${before[i]} to ${most[i]}`)
      }
    }
  }

  const storm = Promise.all([write(), ...Array.from({ length: READERS }, read)])
  await Bun.sleep(STORM_MS)
  blowing = false
  await storm
  expect(stale).toEqual([])
  expect(reads).toBeGreaterThan(READS_LEAST)
  expect(known).toBeGreaterThan(0)
  if (!process.env.DATABASE_URL) expect(zipped).toBeGreaterThan(0)
}, 60_000)
