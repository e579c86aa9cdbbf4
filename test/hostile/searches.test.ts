import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
  shop = await newShop(app)
  // A text that nearly has the part at each of its places.
  await shop.change(sql`insert into contact_messages (id, email, message, status, signals, created_at, updated_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
    select printf('019f0000-0000-7000-8000-%012d', i), 'a@a.example', replace(hex(zeroblob(5000)), '0', 'a'), 'new', '{}', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z' from n`)
  for (let i = 0; i < 150; i++)
    made(await shop.post('/products', { name: `Product ${i}`, price: 1, summary: '.'.repeat(5_000), status: 'published' }))
}, 60_000)
afterAll(() => app.close())

/** The shortest time of some requests, in ms: none like another, whose answer would be remembered. */
async function timeOf(path: string, key: string): Promise<number> {
  let best = Infinity
  for (let i = 0; i < 4; i++) {
    const started = performance.now()
    const { meta } = made(await shop.get(`${path}&offset=${i}`, { key }))
    best = Math.min(best, performance.now() - started)
    expect(meta.count).toBe(0)
  }
  return best
}

describe('what looks for a part in long texts takes as long as they are long, whatever the part', () => {
  test.each([
    ['messages', '/contact-messages', 'a', 'zz', 'admin'],
    ['summaries, for signs alone', '/products', '.', '%24%25', 'storefront'],
  ] as const)('%s', async (_, path, unit, plainPart, key) => {
    const plain = await timeOf(`${path}?query=${plainPart}`, shop.keys[key])
    const hostile = await timeOf(`${path}?query=${unit.repeat(190)}!`, shop.keys[key])
    // `like` took four hundred times as long, and more.
    expect(hostile / plain).toBeLessThan(20)
  })

  test('letters of either case are found, and signs that mean something to patterns are themselves', async () => {
    made(await shop.post('/contact-messages', { email: 'b@a.example', message: '100%_ SURE \\ é' }))
    const countOf = async (query: string) => made(await shop.get(`/contact-messages?query=${encodeURIComponent(query)}`)).meta.count
    for (const query of ['100%_', 'sure', '\\', 'é', 'B@A', '_ s']) expect([query, await countOf(query)]).toEqual([query, 1])
    for (const query of ['1%S', '_sure', 'É', 'surely']) expect([query, await countOf(query)]).toEqual([query, 0])
  })
})

/** Columns of at most 300 characters, and what a part is looked for in them. */
const SHORT = [
  ...['column', 'coupons.folded', 'customers.email', 'name', 'orders.email', 'orders.foldedName', 'products.name'],
  ...['seats.buyerEmail', 'seats.email', 'seats.foldedName', 'slug', 'variants.sku'],
]

test('`like` looks into short texts alone', () => {
  const found = readdirSync('api', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(join('api', path), 'utf8').matchAll(/\$\{([\w.]+)\} like /g)].map(([, column]) => column!))
  expect([...new Set(found)].toSorted()).toEqual(SHORT)
})
