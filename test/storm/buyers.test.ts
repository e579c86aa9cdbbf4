import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { ADDRESS, openShop, tally, type Reply, type Server, type Shop } from './servers.ts'

let shop: Shop
let servers: [Server, Server]
let shippingMethodId: string
beforeAll(async () => {
  shop = await openShop()
  servers = [await shop.start(), await shop.start()]
  shippingMethodId = (await post(0, '/shipping', { name: 'Courier', type: 'courier', price: 5 })).body.id
})
afterAll(() => shop.close())

/** Buyers spread over both processes. */
const post = (buyer: number, path: string, body: unknown, headers?: Record<string, string>) =>
  shop.call(servers[buyer % 2]!, 'POST', path, body, headers)
const read = (path: string) => shop.call(servers[0], 'GET', path)

async function product(quantity: number): Promise<string> {
  return (await post(0, '/products', { name: `Thing ${crypto.randomUUID()}`, price: 10, stock: { quantity } })).body.variants[0].id
}
const cartWith = async (buyer: number, variantId: string, quantity = 1) =>
  (await post(buyer, '/carts', { items: [{ variantId, quantity }] })).body.id as string
const checkOut = (buyer: number, cart: string, headers?: Record<string, string>) =>
  post(
    buyer,
    `/carts/${cart}/checkout`,
    { email: `buyer${buyer}@example.com`, paymentMethod: 'manual', shippingMethodId, shippingAddress: ADDRESS },
    headers,
  )
const many = <T>(count: number, run: (i: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => run(i)))

/** Order numbers without a gap, one reservation and one event for each order, the ledger equal to the shelf. */
async function expectConsistent() {
  await shop.inside(async ({ read: db }) => {
    const one = async (query: ReturnType<typeof sql>) => Object.values((await db.all<Record<string, number>>(query))[0]!).map(Number)
    const [count, lowest, highest] = await one(sql`select count(*), coalesce(min(lookup), 1001), coalesce(max(lookup), 1000) from orders`)
    expect(highest! - lowest! + 1).toBe(count!)
    expect(await one(sql`select count(*) from outbox where event = 'order.created'`)).toEqual([count])
    expect(
      await one(
        sql`select count(*) from variants v where v.reserved <> (select coalesce(sum(l.open_quantity), 0) from order_lines l join orders o on o.id = l.order_id where l.variant_id = v.id and l.held = 1)`,
      ),
    ).toEqual([0])
    expect(
      await one(
        sql`select count(*) from variants v where v.quantity <> (select coalesce(sum(delta), 0) from inventory_movements m where m.variant_id = v.id)`,
      ),
    ).toEqual([0])
    expect(
      await one(
        sql`select count(*) from coupons c where c.times_redeemed <> (select count(*) from coupon_redemptions r where r.coupon_id = c.id)`,
      ),
    ).toEqual([0])
  })
}
const noServerError = (replies: readonly Reply[]) => expect(replies.filter(({ status }) => status >= 500)).toEqual([])

describe('many buyers at once, over two processes', () => {
  test('500 buyers for a stock of 50 make exactly 50 orders', async () => {
    const variant = await product(50)
    const carts = await many(500, (i) => cartWith(i, variant))
    const replies = await many(500, (i) => checkOut(i, carts[i]!))
    noServerError(replies)
    expect(tally(replies)).toEqual({ 201: 50, 409: 450 })
    expect((await read(`/variants/${variant}`)).body.stock).toMatchObject({ quantity: 50, reserved: 50, available: 0 })
    await expectConsistent()
  })

  test('of a stock of 50, buyers of three get 16 times three, and two are left', async () => {
    const variant = await product(50)
    const carts = await many(40, (i) => cartWith(i, variant, 3))
    expect(tally(await many(40, (i) => checkOut(i, carts[i]!)))).toEqual({ 201: 16, 409: 24 })
    expect((await read(`/variants/${variant}`)).body.stock.available).toBe(2)
    await expectConsistent()
  })

  test('a coupon for one use is used once, by one of 40 carts', async () => {
    const variant = await product(1000)
    const code = `ONCE-${crypto.randomUUID().slice(0, 8)}`
    await post(0, '/coupons', { code, type: 'percentage', value: 10, maxUses: 1 })
    const carts = await many(40, (i) => cartWith(i, variant))
    await many(40, (i) => post(i, `/carts/${carts[i]}/coupons`, { code }))
    const replies = await many(40, (i) => checkOut(i, carts[i]!))
    expect(tally(replies)).toEqual({ 201: 1, 409: 39 })
    expect((await read(`/coupons/${code}`)).body.timesRedeemed).toBe(1)
    await expectConsistent()
  })

  test('one cart that is checked out 20 times becomes one order, named in every answer', async () => {
    const cart = await cartWith(0, await product(100))
    const replies = await many(20, (i) => checkOut(i, cart))
    expect(tally(replies)).toEqual({ 201: 1, 409: 19 })
    expect(new Set(replies.map(({ body }) => body.order?.id ?? body.orderId)).size).toBe(1)
  })

  test('with one Idempotency-Key, all 20 answers are the first one', async () => {
    const cart = await cartWith(0, await product(100))
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const replies = await many(20, (i) =>
      post(
        i,
        `/carts/${cart}/checkout`,
        { email: 'same@example.com', paymentMethod: 'test', shippingMethodId, shippingAddress: ADDRESS },
        headers,
      ),
    )
    expect(tally(replies)).toEqual({ 201: 20 })
    expect(new Set(replies.map(({ body }) => body.order.id)).size).toBe(1)
    await expectConsistent()
  })

  test('of ten refunds of 60 % at once, one goes through', async () => {
    const {
      body: { order },
    } = await post(0, '/orders', { customer: { email: 'r@example.com' }, items: [{ variantId: await product(10) }], paid: true }).then(
      ({ body }) => ({ body: { order: body } }),
    )
    expect(tally(await many(10, (i) => post(i, `/orders/${order.id}/refunds`, { amountCents: 600 })))).toEqual({ 201: 1, 409: 9 })
    expect((await read(`/orders/${order.id}`)).body.refundedCents).toBe(600)
  })

  test('cancelled twenty times at once, an order gives its stock back once', async () => {
    const variant = await product(5)
    const { body: order } = await post(0, '/orders', { customer: { email: 'c@example.com' }, items: [{ variantId: variant, quantity: 3 }] })
    expect(tally(await many(20, (i) => post(i, `/orders/${order.id}/cancel`, {})))).toEqual({ 200: 1, 409: 19 })
    expect((await read(`/variants/${variant}`)).body.stock).toMatchObject({ quantity: 5, reserved: 0, available: 5 })
    await expectConsistent()
  })

  test('20 orders at once of one address in 20 spellings are one customer', async () => {
    const variant = await product(100)
    const spelled = (i: number) => [...'anna@example.com'].map((c, k) => ((i >> (k % 5)) & 1 ? c.toUpperCase() : c)).join('')
    await many(20, (i) => post(i, '/orders', { customer: { email: spelled(i) }, items: [{ variantId: variant }] }))
    expect((await read('/customers?search=anna@example.com')).body.pagination.total).toBe(1)
  })
})
