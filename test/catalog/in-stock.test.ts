/** Whether a product is in stock, after every kind of change to its variants: what lists filter by is what its variants say. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrations } from '../../db/migrate.ts'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { seedStore } from '../../scripts/seed.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, read } from './shop.ts'

let app: TestApp
let shop: TestStore
let live: Handle
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  live = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
})
afterAll(() => {
  live.close()
  return app.close()
})

const BUYABLE =
  'exists (select 1 from variants v where v.product_id = p.id and v.active = 1 and (v.tracked = 0 or v.backorder = 1 or v.quantity > v.reserved))'
const wrong = async () => live.read.all(sql.raw(`select p.name from products p where p.in_stock <> (${BUYABLE})`))
const isInStock = async (id: string) =>
  (await read(shop, '/products?inStock=true&limit=100')).data.some((product: any) => product.id === id)

test('each change of a variant is noticed', async () => {
  const { id, variants } = await create(shop, '/products', { name: 'Mug', price: 5, stock: { quantity: 0 } })
  const variant = variants[0].id
  const path = `/variants/${variant}`
  const step = async (method: string, to: string, body: unknown, expected: boolean) => {
    const { status } = await shop.call(method, to, body)
    expect([to, body, status < 300, await isInStock(id)]).toEqual([to, body, true, expected])
    expect(await wrong()).toEqual([])
  }
  expect(await isInStock(id)).toBe(false)
  await step('PATCH', `/inventory/${variant}`, { adjust: 2 }, true)
  await step('PATCH', path, { active: false }, false)
  await step('PATCH', path, { active: true }, true)
  await step('PATCH', `/inventory/${variant}`, { quantity: 0 }, false)
  await step('PATCH', path, { stock: { backorder: true } }, true)
  await step('PATCH', path, { stock: { backorder: false } }, false)
  await step('PATCH', path, { stock: { tracked: false } }, true)
  await step('PATCH', path, { stock: { tracked: true } }, false)
  const second = (await shop.call('POST', `/products/${id}/variants`, { price: 5, stock: { quantity: 1 } })).body.id
  expect(await isInStock(id)).toBe(true)
  await step('DELETE', `/variants/${second}`, undefined, false)
})

test('an order that takes the last unit takes the product out of the list, its cancellation brings it back', async () => {
  const { id, variants } = await create(shop, '/products', { name: 'Last one', price: 5, stock: { quantity: 1 } })
  const order = await create(shop, '/orders', { customer: { email: 'a@example.com' }, items: [{ variantId: variants[0].id, quantity: 1 }] })
  expect([await isInStock(id), await wrong()]).toEqual([false, []])
  await shop.call('POST', `/orders/${order.id}/cancel`, {})
  expect([await isInStock(id), await wrong()]).toEqual([true, []])
})

test('a seeded store with orders agrees, and so does one that was there before the column', async () => {
  await seedStore(live, { products: 150, customers: 10, orders: 60 })
  expect(await wrong()).toEqual([])
  const fill = migrations('store')
    .flat()
    .find((statement) => /^UPDATE `products` SET `in_stock`/.test(statement))!
  await live.write(async (tx) => {
    await tx.run(sql`update products set in_stock = 0`)
    await tx.run(sql.raw(fill))
  })
  expect(await wrong()).toEqual([])
})
