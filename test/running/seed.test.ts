import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { inventoryMovements, products, variants } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { couponRedemptions, coupons } from '../../db/store/marketing.ts'
import { customers, orderLines, orders } from '../../db/store/orders.ts'
import { searchDocuments } from '../../db/store/search.ts'
import { outbox } from '../../db/store/store.ts'
import { seedStore } from '../../scripts/seed.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { rowsIn, seeStatements } from '../plans.ts'
import { cleanUp, createStore, folder, stoa, stoaJson } from './processes.ts'

const AMOUNTS = { products: 60, customers: 30, orders: 400 }
const NOW = Date.parse('2026-03-01T12:00:00.000Z')
let app: TestApp
const open = async (store: TestStore) => openDatabase(app.location, databaseName(store.store.id, 'live'), 'store')
beforeAll(async () => {
  app = await testApp()
})
afterAll(async () => {
  await app.close()
  await cleanUp()
})

/** What has to hold in any store, seeded or not. */
async function expectSound({ read: db }: Handle) {
  expect(
    await db
      .select()
      .from(variants)
      .where(sql`${variants.quantity} <> (select coalesce(sum(delta), 0) from inventory_movements m where m.variant_id = ${variants.id})`),
  ).toEqual([])
  expect(
    await db
      .select()
      .from(variants)
      .where(
        sql`${variants.reserved} <> (select coalesce(sum(open_quantity), 0) from order_lines l where l.variant_id = ${variants.id} and l.held)`,
      ),
  ).toEqual([])
  expect(
    await db
      .select()
      .from(coupons)
      .where(sql`${coupons.timesRedeemed} <> (select count(*) from coupon_redemptions r where r.coupon_id = ${coupons.id})`),
  ).toEqual([])
  const numbers = (await db.select({ lookup: orders.lookup }).from(orders).orderBy(orders.createdAt, orders.lookup)).map(
    (row) => row.lookup,
  )
  expect(numbers).toEqual(numbers.map((_, i) => 1001 + i))
  expect(await db.$count(searchDocuments, eq(searchDocuments.entity, 'product'))).toBe(await db.$count(products))
}

describe('seedStore', () => {
  test('fills a store with what obeys every rule of the store, in the past, and tells nobody', async () => {
    const store = await app.newStore()
    const live = await open(store)
    await seedStore(live, AMOUNTS, NOW)
    const { read: db } = live
    expect([await db.$count(products), await db.$count(customers), await db.$count(orders), await db.$count(outbox)]).toEqual([
      60, 30, 400, 0,
    ])
    await expectSound(live)
    const statuses = new Set((await db.select({ status: orders.status }).from(orders)).map((row) => row.status))
    for (const status of ['paid', 'processing', 'shipped', 'delivered', 'completed', 'cancelled', 'refunded'] as const)
      expect(statuses).toContain(status)
    const [span] = await db
      .select({
        first: sql<string>`min(${orders.createdAt})`,
        last: sql<string>`max(${orders.createdAt})`,
        changed: sql<string>`max(${orders.updatedAt})`,
      })
      .from(orders)
    expect([span!.first >= '2025-12-01', span!.last <= '2026-03-01T12', span!.changed <= '2026-03-01T12:00:00.000Z']).toEqual([
      true,
      true,
      true,
    ])
    expect(await db.$count(inventoryMovements, sql`${inventoryMovements.createdAt} > '2026-03-01T12'`)).toBe(0)
    expect(await db.$count(couponRedemptions)).toBeGreaterThan(10)
    expect(await db.$count(orderLines, eq(orderLines.held, false))).toBe(0)
    live.close()
  })

  test('the same amounts in two empty stores give the same data; seeding again adds to it', async () => {
    const stores = await Promise.all([app.newStore(), app.newStore()])
    const seen = []
    for (const store of stores) {
      const live = await open(store)
      await seedStore(live, { products: 20, customers: 5, orders: 20 }, NOW)
      seen.push({
        skus: await live.read
          .select({ sku: variants.sku, price: variants.price, quantity: variants.quantity })
          .from(variants)
          .orderBy(variants.sku),
        orders: await live.read
          .select({ email: orders.email, total: orders.totalCents, status: orders.status, at: orders.createdAt })
          .from(orders)
          .orderBy(orders.lookup),
      })
      live.close()
    }
    expect(seen[0]).toEqual(seen[1])
    const live = await open(stores[0]!)
    await seedStore(live, { products: 20, customers: 5, orders: 0 }, NOW)
    expect([await live.read.$count(products), await live.read.$count(customers)]).toEqual([40, 10])
    live.close()
  })

  test('a product takes as many statements, and reads as many rows, in a full store as in an empty one', async () => {
    const live = await open(await app.newStore())
    const counted = { statements: 0, rows: 0 }
    const end = seeStatements(['file.rows', 'file.row', 'file.run', 'server.rows', 'server.row', 'server.run'], (text, _, answer, way) => {
      counted.statements++
      counted.rows += way.endsWith('.run') ? 0 : rowsIn(text, answer)
    })
    try {
      const seen = []
      for (let round = 0; round < 4; round++) {
        Object.assign(counted, { statements: 0, rows: 0 })
        await seedStore(live, { products: 500, customers: 0, orders: 0 }, NOW)
        seen.push({ ...counted })
      }
      const [first, , , last] = seen
      expect(first!.statements).toBeLessThan(500 * 20)
      expect(last!.statements / first!.statements).toBeLessThan(1.2)
      expect(last!.rows / first!.rows).toBeLessThan(1.2)
    } finally {
      end()
      live.close()
    }
  })

  test('one product is enough for orders: the first for sale in a store is published', async () => {
    const live = await open(await app.newStore())
    // What is there already shifts the choices: of 60 products about four would not be published.
    for (let round = 1; round <= 60; round++) {
      await live.write(async (tx) => void (await tx.update(products).set({ status: 'draft' })))
      await seedStore(live, { products: 1, customers: 1, orders: 1 }, NOW)
      expect([await live.read.$count(products, eq(products.status, 'published')), await live.read.$count(orders)]).toEqual([1, round])
    }
    live.close()
  })

  test.each(['jpy', 'kwd', 'eur'])('in %s prices have its decimals', async (currency) => {
    const store = await app.newStore({ currency })
    const live = await open(store)
    await seedStore(live, { products: 10, customers: 2, orders: 10 }, NOW)
    await expectSound(live)
    live.close()
    const { body } = await store.call('GET', '/products?limit=100')
    for (const { price } of body.data)
      expect(String(price).split('.')[1]?.length ?? 0).toBeLessThanOrEqual(currency === 'jpy' ? 0 : currency === 'kwd' ? 3 : 2)
  })

  test('the API shows it: lists, search, orders of a customer, and a purchase', async () => {
    const store = await app.newStore()
    const live = await open(store)
    await seedStore(live, { products: 30, customers: 5, orders: 30 })
    live.close()
    const {
      body: { data, meta },
    } = await store.call('GET', '/products?limit=100&status=published')
    expect(meta.count).toBeGreaterThan(20)
    expect((await store.call('GET', `/search?q=${encodeURIComponent(data[0].name.split(' ')[0])}`)).body.meta.count).toBeGreaterThan(0)
    expect((await store.call('GET', '/orders?limit=100')).body.meta.count).toBe(30)
    const variant = data.flatMap((product: any) => product.variants).find((candidate: any) => candidate.stock.available > 0)
    const { body: cart } = await store.call('POST', '/carts', { items: [{ variantId: variant.id }] })
    const address = { line1: '1000 SW Broadway', city: 'Portland', postalCode: '97205', country: 'US' }
    await store.call('PATCH', `/carts/${cart.id}`, { shippingAddress: address })
    const { body: options } = await store.call('GET', `/carts/${cart.id}/shipping-options`)
    const bought = await store.call('POST', `/carts/${cart.id}/checkout`, {
      email: 'ada@example.com',
      shippingMethodId: options.data[0].id,
      paymentMethod: 'test',
    })
    expect([bought.status, bought.body.order.status, bought.body.order.orderNumber]).toEqual([201, 'paid', '1031'])
  })
})

describe('stoa seed', () => {
  test('prints what it added; orders need something to be bought; counts are whole numbers', async () => {
    const dataDir = folder()
    const { id, slug } = await createStore(dataDir, 'Empty')
    for (const amounts of [
      ['--products', '0', '--customers', '5'],
      ['--products', '4', '--customers', '0'],
    ])
      expect(await stoa(dataDir, 'seed', '--store', id, ...amounts, '--orders', '5')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'error: orders need products and customers: seed some of them too\n',
      })
    // What is refused has written nothing: neither products nor customers, nor the ways to ship.
    const live = await openDatabase({ url: `file:${dataDir}/{name}.db` }, databaseName(id, 'live'), 'store')
    for (const table of [products, customers, shippingMethods, coupons]) expect(await live.read.$count(table)).toBe(0)
    live.close()
    expect(await stoaJson(dataDir, 'seed', '--store', slug)).toEqual({ id, products: 50, customers: 20, orders: 30 })
    expect((await stoa(dataDir, 'seed', '--store', id, '--products', '1.5')).code).toBe(2)
    expect((await stoa(dataDir, 'seed')).code).toBe(2)
  })
})
