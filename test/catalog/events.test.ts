import { asc } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { outbox } from '../../db/store/store.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create } from './shop.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await app.newStore()
})
afterAll(() => app.close())

/** What has stood in the outbox since the last look. */
let seen = 0
beforeEach(() => {
  seen = 0
})
async function events(): Promise<[string, unknown][]> {
  const rows = await app.handles.use(shop.store.id, 'live', async ({ read }) => await read.select().from(outbox).orderBy(asc(outbox.id)))
  const fresh = rows.slice(seen)
  seen = rows.length
  return fresh.map(({ event, payload }) => [event, payload])
}

test('product.created, product.updated, product.deleted: once for each change, and none for what is refused', async () => {
  const {
    id,
    variants: [first],
  } = await create(shop, '/products', { name: 'Shirt', variants: [{ price: 1, sku: 'A' }, { price: 2 }] })
  expect(await events()).toEqual([['product.created', { productId: id }]])
  const changes = [
    ['PATCH', `/products/${id}`, { name: 'New' }],
    ['PATCH', `/variants/${first.id}`, { price: 3 }],
    ['POST', `/products/${id}/variants`, { price: 4 }],
    ['DELETE', `/variants/${first.id}`, undefined],
  ] as const
  for (const [method, path, body] of changes) {
    expect((await shop.call(method, path, body)).status).toBeLessThan(300)
    expect(await events()).toEqual([['product.updated', { productId: id }]])
  }
  for (const [method, path, body] of [
    ['POST', '/products', { name: 'x', slug: 'shirt' }],
    ['PATCH', `/products/${id}`, { brandId: id }],
    ['POST', `/products/${id}/variants`, { price: 0.001 }],
    ['DELETE', '/products/nothing', undefined],
  ] as const) {
    expect((await shop.call(method, path, body)).status).toBeGreaterThan(399)
  }
  expect(await events()).toEqual([])
  await shop.call('DELETE', `/products/${id}`)
  expect(await events()).toEqual([['product.deleted', { productId: id }]])
})

test('inventory.low: when what is available falls to lowStockThreshold, whoever changes it, and only then', async () => {
  await shop.call('PATCH', '/settings', { lowStockThreshold: 3 })
  const {
    variants: [{ id }],
  } = await create(shop, '/products', { name: 'Shirt', price: 1, stock: { quantity: 10 } })
  const low = async () => (await events()).filter(([event]) => event === 'inventory.low')
  const quantity = (n: number) => shop.call('PATCH', `/inventory/${id}`, { quantity: n })
  await low()
  for (const [n, told] of [
    [4, 0],
    [3, 1],
    [2, 0],
    [9, 0],
    [0, 1],
    [9, 0],
  ] as const) {
    await quantity(n)
    expect([n, await low()]).toEqual([n, Array(told).fill(['inventory.low', { variantId: id }])])
  }
  await shop.call('POST', '/inventory/bulk', { items: [{ variantId: id, adjust: -6 }] })
  expect(await low()).toHaveLength(1)
  await quantity(9)
  for (const path of [`/variants/${id}`, `/products/shirt`]) {
    await shop.call('PATCH', path, { stock: { quantity: 1 } })
    expect(await low()).toEqual([['inventory.low', { variantId: id }]])
    await shop.call('PATCH', path, { stock: { quantity: 9 } })
  }
  await create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: id, quantity: 6 }] })
  expect(await low()).toHaveLength(1)
  await shop.call('PATCH', `/variants/${id}`, { stock: { tracked: false, quantity: 7 } })
  await quantity(6)
  expect(await low()).toEqual([])
})
