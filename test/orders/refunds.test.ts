import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const refund = (id: string, body: unknown) => shop.post(`/orders/${id}/refunds`, body)
const refunds = async (id: string) => made(await shop.get(`/orders/${id}/refunds`))
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
const buyOne = async (order: object = {}, variant: object = {}) =>
  shop.buy({ items: [{ variantId: await shop.variant(variant) }], ...order })
/** The ledger's sum is the quantity, and nothing is held that no order holds. */
async function expectLedger(variantId: string, stock: { quantity: number; reserved: number }) {
  expect(await shop.stock(variantId)).toMatchObject(stock)
  expect(sum(await shop.ledger(variantId))).toBe(stock.quantity)
}

describe('a refund by amount', () => {
  test('gives back a part: the order keeps its status, its stock and its coupons', async () => {
    await shop.coupon({ code: 'TEN' })
    const variantId = await shop.variant()
    const order = await shop.buy({ items: [{ variantId, quantity: 2 }], coupons: ['TEN'] })
    const { status, body } = await refund(order.id, { amountCents: 300, reason: 'scratched' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      orderId: order.id,
      status: 'succeeded',
      amountCents: 300,
      currency: 'usd',
      reason: 'scratched',
      restock: true,
      lines: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await shop.order(order.id)).toMatchObject({
      status: 'paid',
      paymentStatus: 'partially_refunded',
      paidCents: 1800,
      refundedCents: 300,
    })
    expect((await shop.get('/coupons/TEN')).body.timesRedeemed).toBe(1)
    await expectLedger(variantId, { quantity: 100, reserved: 2 })
  })

  test('of all that was paid makes the order refunded, and gives stock and coupon uses back', async () => {
    await shop.coupon({ code: 'ONCE', maxUses: 1 })
    const variantId = await shop.variant({ stock: { quantity: 2 } })
    const order = await shop.buy({ items: [{ variantId, quantity: 2 }], coupons: ['ONCE'] })
    await refund(order.id, { amountCents: 1000 })
    await refund(order.id, { amountCents: 800 })
    expect(await shop.order(order.id)).toMatchObject({
      status: 'refunded',
      paymentStatus: 'refunded',
      refundedCents: 1800,
      lines: [{ refundedQuantity: 2 }],
    })
    expect((await shop.get('/coupons/ONCE')).body.timesRedeemed).toBe(0)
    await expectLedger(variantId, { quantity: 2, reserved: 0 })
    await shop.buy({ items: [{ variantId, quantity: 2 }], coupons: ['ONCE'] })
  })

  test('is never over what was paid', async () => {
    const order = await buyOne()
    const { status, body } = await refund(order.id, { amountCents: 1001 })
    expect([status, body.refundableCents]).toEqual([409, 1000])
    await refund(order.id, { amountCents: 600 })
    expect((await refund(order.id, { amountCents: 401 })).body.refundableCents).toBe(400)
    expect((await refund(order.id, { amountCents: 400 })).status).toBe(201)
    expect((await refund(order.id, { amountCents: 1 })).status).toBe(409)
    expect((await shop.order(order.id)).refundedCents).toBe(1000)
  })

  test('of an order that was not paid is 409', async () => {
    const order = await buyOne({ paymentMethod: 'manual' })
    expect((await refund(order.id, { amountCents: 1 })).status).toBe(409)
    expect((await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })).status).toBe(409)
  })

  test('of 10 at once, each of 60 % of what was paid, one succeeds', async () => {
    const order = await buyOne()
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(order.id, { amountCents: 600 })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    expect((await shop.order(order.id)).refundedCents).toBe(600)
    expect((await refunds(order.id)).meta.count).toBe(1)
  })

  test('gives shipping back too', async () => {
    const order = await shop.buy({
      items: [{ variantId: await shop.variant({ shippable: true }) }],
      shippingMethodId: await shop.method({ price: 5 }),
      shippingAddress: ADDRESS,
    })
    await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'partially_refunded', refundedCents: 1000 })
    await refund(order.id, { amountCents: 500 })
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', paymentStatus: 'refunded', refundedCents: 1500 })
  })
})

describe('the body of a refund', () => {
  test.each([
    ['amountCents', {}],
    ['amountCents', { amountCents: 0 }],
    ['amountCents', { amountCents: -5 }],
    ['amountCents', { amountCents: 1.5 }],
    ['amountCents', { amountCents: '5' }],
    ['amountCents', { amountCents: null }],
    ['lines', { lines: [] }],
    ['lines', { lines: {} }],
    ['lines.0.lineId', { lines: [{ quantity: 1 }] }],
    ['lines.0.lineId', { lines: [{ lineId: NOBODY, quantity: 1 }] }],
    ['lines.0.lineId', { lines: [{ lineId: 'x', quantity: 1 }] }],
    ['reason', { amountCents: 1, reason: 5 }],
    ['restock', { amountCents: 1, restock: 'no' }],
    ['restock', { amountCents: 1, restock: null }],
  ])('%s is 400 in %j', async (path, body) => {
    const order = await buyOne()
    expect(paths(await refund(order.id, body))).toEqual([path])
    expect((await shop.order(order.id)).refundedCents).toBe(0)
  })

  test.each([0, -1, 1.5, undefined, '1'])('a quantity of %j is 400', async (quantity) => {
    const order = await buyOne()
    expect(paths(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity }] }))).toEqual(['lines.0.quantity'])
  })

  test('either an amount or lines, not both', async () => {
    const order = await buyOne()
    expect(paths(await refund(order.id, { amountCents: 100, lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))).toEqual([
      'amountCents',
    ])
  })

  test('a line twice is 400, and one of another order too', async () => {
    const [order, other] = [await buyOne(), await buyOne()]
    const [lineId, foreign] = [order.lines[0].id, other.lines[0].id]
    expect(
      paths(
        await refund(order.id, {
          lines: [
            { lineId, quantity: 1 },
            { lineId, quantity: 1 },
          ],
        }),
      ),
    ).toEqual(['lines.1.lineId'])
    expect(paths(await refund(order.id, { lines: [{ lineId: foreign, quantity: 1 }] }))).toEqual(['lines.0.lineId'])
  })

  test('null is no reason, and restock is true unless told otherwise', async () => {
    expect((await refund((await buyOne()).id, { amountCents: 1, reason: null })).body).toMatchObject({ reason: null, restock: true })
  })
})

describe('GET /orders/{id}/refunds', () => {
  test('lists them, newest first, to a key that may read orders', async () => {
    const order = await buyOne()
    const ids = []
    for (const amountCents of [1, 2, 3]) ids.unshift((await refund(order.id, { amountCents })).body.id)
    const { body } = await shop.get(`/orders/${order.id}/refunds`, { key: await shop.keyWith('orders:read') })
    expect(body.data.map(({ id }: any) => id)).toEqual(ids)
    expect(body.meta).toEqual({ count: 3, offset: 0, limit: 50 })
    expect((await shop.get(`/orders/${order.id}/refunds?limit=1&offset=1`)).body).toMatchObject({
      data: [{ id: ids[1] }],
      meta: { count: 3 },
    })
    expect((await shop.get(`/orders/${order.id}/refunds`, { key: shop.keys.storefront })).status).toBe(403)
  })
})

describe('a refund by lines', () => {
  test('gives back what these units were paid with, and their stock', async () => {
    const [a, b] = [await shop.variant({ price: 10 }), await shop.variant({ price: 7 })]
    const order = await shop.buy({ items: [{ variantId: a, quantity: 3 }, { variantId: b }] })
    const { body } = await refund(order.id, {
      lines: [
        { lineId: order.lines[0].id, quantity: 2 },
        { lineId: order.lines[1].id, quantity: 1 },
      ],
    })
    expect(body).toMatchObject({
      amountCents: 2700,
      lines: [
        { lineId: order.lines[0].id, quantity: 2 },
        { lineId: order.lines[1].id, quantity: 1 },
      ],
    })
    expect(await shop.order(order.id)).toMatchObject({
      status: 'paid',
      paymentStatus: 'partially_refunded',
      lines: [{ refundedQuantity: 2 }, { refundedQuantity: 1 }],
    })
    await expectLedger(a, { quantity: 100, reserved: 1 })
    await expectLedger(b, { quantity: 100, reserved: 0 })
  })

  test('is never of more units than there are', async () => {
    const order = await shop.buy({ items: [{ variantId: await shop.variant(), quantity: 3 }] })
    const [{ id: lineId }] = order.lines
    expect((await refund(order.id, { lines: [{ lineId, quantity: 4 }] })).status).toBe(409)
    await refund(order.id, { lines: [{ lineId, quantity: 2 }] })
    expect((await refund(order.id, { lines: [{ lineId, quantity: 2 }] })).status).toBe(409)
    expect((await refund(order.id, { lines: [{ lineId, quantity: 1 }] })).status).toBe(201)
  })

  test('of which one line is refused refunds none', async () => {
    const order = await shop.buy({ items: [{ variantId: await shop.variant() }, { variantId: await shop.variant() }] })
    const [first, second] = order.lines
    expect(
      (
        await refund(order.id, {
          lines: [
            { lineId: first.id, quantity: 1 },
            { lineId: second.id, quantity: 2 },
          ],
        })
      ).status,
    ).toBe(409)
    expect(await shop.order(order.id)).toEqual(order)
  })

  test('of 10 at once of the last unit one succeeds', async () => {
    const variantId = await shop.variant()
    const order = await shop.buy({ items: [{ variantId }, { variantId: await shop.variant() }] })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await expectLedger(variantId, { quantity: 100, reserved: 0 })
  })
})

describe('refunding all units one at a time gives back exactly what was paid', () => {
  test.each([
    ['in dollars, tax included', 'usd', true, [3.33, 0.01, 19.99]],
    ['in dollars, tax added', 'usd', false, [3.33, 0.01, 19.99]],
    ['in yen', 'jpy', false, [333, 1, 1999]],
    ['in dinars', 'kwd', false, [3.333, 0.001, 19.999]],
  ] as const)('%s: discounted, bundled, in odd cents', async (_, currency, taxesIncluded, [price, least, most]) => {
    shop = await newShop(app, { currency })
    await shop.settings({ taxesIncluded })
    await shop.post('/tax-rates', { name: 'VAT', rate: 23.4567, default: true })
    await shop.coupon({ code: 'ODD', value: 33.33 })
    await shop.promotion({ type: 'volume', tiers: [{ minQuantity: 3, percentage: 7.77 }], value: undefined })
    const [a, b, c] = [await shop.variant({ price }), await shop.variant({ price: least }), await shop.variant({ price: most })]
    const order = await shop.buy({
      items: [
        { variantId: a, quantity: 7 },
        { variantId: b, quantity: 3 },
      ],
      bundles: [
        {
          bundleId: await shop.bundle(
            [
              [a, 1],
              [b, 5],
              [c, 2],
            ],
            12.5,
          ),
          quantity: 3,
        },
      ],
      coupons: ['ODD'],
    })
    const units = order.lines.flatMap((line: any) => Array.from({ length: line.quantity }, () => line.id as string))
    // In an order that mixes the lines: each line is its own sequence.
    units.sort((x: string, y: string) => (x.slice(-3) < y.slice(-3) ? -1 : 1))
    const amounts = []
    for (const lineId of units) {
      const { status, body } = await refund(order.id, { lines: [{ lineId, quantity: 1 }] })
      if (status === 201) amounts.push(body.amountCents)
      // The last cent brings back everything, with the units that were paid with nothing.
      else expect([status, body.error, sum(amounts)]).toEqual([409, 'only 0 of this line can still be refunded', order.totalCents])
    }
    expect(sum(amounts)).toBe(order.totalCents)
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', refundedCents: order.totalCents })
    await expectLedger(a, { quantity: 100, reserved: 0 })
    await expectLedger(b, { quantity: 100, reserved: 0 })
  })

  test('the last unit makes the order refunded', async () => {
    await shop.coupon({ code: 'ODD', value: 33.33 })
    const variantId = await shop.variant({ price: 0.1 })
    const order = await shop.buy({ items: [{ variantId, quantity: 7 }], coupons: ['ODD'] })
    const amounts = []
    for (let i = 0; i < 7; i++)
      amounts.push(made(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })).amountCents)
    expect(sum(amounts)).toBe(order.totalCents)
    expect(Math.max(...amounts) - Math.min(...amounts)).toBeLessThanOrEqual(1)
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', refundedCents: order.totalCents })
    await expectLedger(variantId, { quantity: 100, reserved: 0 })
  })
})

describe('restock', () => {
  const shipped = async (quantity: number, units: number, stock: object = { quantity: 10 }) => {
    const variantId = await shop.variant({ shippable: true, stock })
    const order = await shop.buy({
      items: [{ variantId, quantity }],
      shippingMethodId: await shop.method({ price: 0 }),
      shippingAddress: ADDRESS,
    })
    if (units) made(await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId: order.lines[0].id, quantity: units }] }))
    return { variantId, order, lineId: order.lines[0].id }
  }

  test('true: units that have not left are free again, those that have come back to the shelf', async () => {
    const { variantId, order, lineId } = await shipped(4, 3)
    await expectLedger(variantId, { quantity: 7, reserved: 1 })
    await refund(order.id, { lines: [{ lineId, quantity: 1 }] })
    await expectLedger(variantId, { quantity: 7, reserved: 0 })
    await refund(order.id, { lines: [{ lineId, quantity: 2 }] })
    await expectLedger(variantId, { quantity: 9, reserved: 0 })
    await refund(order.id, { lines: [{ lineId, quantity: 1 }] })
    await expectLedger(variantId, { quantity: 10, reserved: 0 })
    expect((await shop.order(order.id)).status).toBe('refunded')
  })

  test('false: the units are written off', async () => {
    const { variantId, order, lineId } = await shipped(4, 2)
    await expectLedger(variantId, { quantity: 8, reserved: 2 })
    await refund(order.id, { lines: [{ lineId, quantity: 1 }], restock: false })
    await expectLedger(variantId, { quantity: 7, reserved: 1 })
    await refund(order.id, { lines: [{ lineId, quantity: 3 }], restock: false })
    await expectLedger(variantId, { quantity: 6, reserved: 0 })
  })

  test('a refund of an amount that completes the rest brings back the rest alone', async () => {
    const { variantId, order, lineId } = await shipped(4, 4)
    await refund(order.id, { lines: [{ lineId, quantity: 1 }] })
    await expectLedger(variantId, { quantity: 7, reserved: 0 })
    await refund(order.id, { amountCents: 3000 })
    await expectLedger(variantId, { quantity: 10, reserved: 0 })
  })

  test('what was refunded ships no more', async () => {
    const { order, lineId } = await shipped(4, 0)
    await refund(order.id, { lines: [{ lineId, quantity: 3 }] })
    expect((await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId, quantity: 2 }] })).status).toBe(409)
    expect(made(await shop.post(`/orders/${order.id}/shipments`)).lines).toEqual([{ lineId, quantity: 1 }])
    expect((await shop.order(order.id)).status).toBe('shipped')
  })
})

describe('an order that is over', () => {
  test('gives stock back once: cancelled first, then refunded', async () => {
    await shop.coupon({ code: 'TEN' })
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const order = await shop.buy({ items: [{ variantId, quantity: 3 }], coupons: ['TEN'] })
    await shop.buy({ items: [{ variantId }], coupons: ['TEN'] })
    made(await shop.post(`/orders/${order.id}/cancel`))
    await expectLedger(variantId, { quantity: 5, reserved: 1 })
    made(await refund(order.id, { amountCents: 2700 }))
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', paymentStatus: 'refunded', refundedCents: 2700 })
    expect((await shop.get('/coupons/TEN')).body.timesRedeemed).toBe(1)
    await expectLedger(variantId, { quantity: 5, reserved: 1 })
  })

  test('gives stock back once: cancelled first, then refunded line by line, restocked or written off', async () => {
    for (const restock of [true, false]) {
      const variantId = await shop.variant({ stock: { quantity: 5 } })
      const order = await shop.buy({ items: [{ variantId, quantity: 3 }] })
      made(await shop.post(`/orders/${order.id}/cancel`))
      for (let i = 0; i < 3; i++) made(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }], restock }))
      await expectLedger(variantId, { quantity: 5, reserved: 0 })
    }
  })

  test('gives stock back once: refunded in part, then cancelled, then refunded in full', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const order = await shop.buy({ items: [{ variantId, quantity: 3 }] })
    made(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
    made(await shop.post(`/orders/${order.id}/cancel`))
    await expectLedger(variantId, { quantity: 5, reserved: 0 })
    made(await refund(order.id, { amountCents: 2000 }))
    await expectLedger(variantId, { quantity: 5, reserved: 0 })
  })

  test('PATCH to refunded gives back all that is left, and is 409 where the table has no such move', async () => {
    const order = await buyOne()
    await refund(order.id, { amountCents: 400 })
    expect(made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))).toMatchObject({ status: 'refunded', refundedCents: 1000 })
    expect((await refunds(order.id)).data.map(({ amountCents }: any) => amountCents)).toEqual([600, 400])
    const cancelled = await buyOne()
    await shop.post(`/orders/${cancelled.id}/cancel`)
    const pending = await buyOne({ paymentMethod: 'manual' })
    made(await shop.post(`/orders/${pending.id}/payments`, { amountCents: 300, method: 'cash' }))
    for (const { id } of [cancelled, pending]) {
      expect((await shop.patch(`/orders/${id}`, { status: 'refunded' })).status).toBe(409)
      expect((await shop.order(id)).refundedCents).toBe(0)
    }
  })

  test('an order that cost nothing can be refunded by its status: stock and coupon come back', async () => {
    await shop.coupon({ code: 'FREE', value: 100, maxUses: 1 })
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const order = await shop.buy({ items: [{ variantId }], coupons: ['FREE'] })
    expect(order).toMatchObject({ status: 'paid', totalCents: 0 })
    expect(made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))).toMatchObject({
      status: 'refunded',
      paymentStatus: 'refunded',
    })
    await expectLedger(variantId, { quantity: 1, reserved: 0 })
    expect((await shop.get('/coupons/FREE')).body.timesRedeemed).toBe(0)
    expect((await shop.patch(`/orders/${order.id}`, { status: 'refunded' })).status).toBe(409)
  })

  test('a deposit that is refunded leaves the order pending, its stock held and its total due', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const order = await shop.buy({ items: [{ variantId }], paymentMethod: 'manual' })
    made(await shop.post(`/orders/${order.id}/payments`, { amountCents: 300, method: 'cash' }))
    made(await refund(order.id, { amountCents: 300 }))
    expect(await shop.order(order.id)).toMatchObject({ status: 'pending', paymentStatus: 'unpaid', paidCents: 300, refundedCents: 300 })
    await expectLedger(variantId, { quantity: 1, reserved: 1 })
    expect((await shop.post(`/orders/${order.id}/payments`, { amountCents: 1001, method: 'cash' })).body.dueCents).toBe(1000)
    made(await shop.post(`/orders/${order.id}/payments`, { amountCents: 1000, method: 'cash' }))
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'paid', paidCents: 1300, refundedCents: 300 })
  })

  test('a refund of what was sold before it was there leaves nothing held', async () => {
    for (const restock of [true, false]) {
      const variantId = await shop.variant({ stock: { quantity: 1, backorder: true } })
      const order = await shop.buy({ items: [{ variantId, quantity: 4 }] })
      made(await refund(order.id, { amountCents: 4000, restock }))
      // Written off is what was there to write off.
      await expectLedger(variantId, { quantity: restock ? 1 : 0, reserved: 0 })
    }
  })

  test('a payment that was recorded by hand under any name is refunded here', async () => {
    const order = await buyOne({ paymentMethod: 'manual' })
    made(await shop.post(`/orders/${order.id}/payments`, { amountCents: 1000, method: 'stripe', reference: 'pi_elsewhere' }))
    expect(made(await refund(order.id, { amountCents: 1000 })).status).toBe('succeeded')
    expect((await shop.order(order.id)).status).toBe('refunded')
  })
})

describe('units that were paid with nothing', () => {
  test('come back by themselves, and the money stays', async () => {
    const [paid, gift] = [await shop.variant({ price: 20 }), await shop.variant({ price: 0 })]
    const order = await shop.buy({ items: [{ variantId: paid }, { variantId: gift }] })
    const lineId = order.lines.find((line: any) => line.variantId === gift).id
    const { status, body } = await refund(order.id, { lines: [{ lineId, quantity: 1 }] })
    expect([status, body.amountCents]).toEqual([201, 0])
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'paid', refundedCents: 0 })
    await expectLedger(gift, { quantity: 100, reserved: 0 })
    await expectLedger(paid, { quantity: 100, reserved: 1 })
    expect((await refund(order.id, { lines: [{ lineId, quantity: 1 }] })).status).toBe(409)
  })

  test('of an order that cost nothing come back one by one; with the last one it is refunded', async () => {
    const coupon = await shop.coupon({ value: 100 })
    const variantId = await shop.variant()
    const order = await shop.buy({ items: [{ variantId, quantity: 2 }], coupons: [coupon.code] })
    const one = { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }
    expect((await refund(order.id, one)).status).toBe(201)
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'paid' })
    await expectLedger(variantId, { quantity: 100, reserved: 1 })
    expect((await refund(order.id, one)).status).toBe(201)
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', paymentStatus: 'refunded' })
    await expectLedger(variantId, { quantity: 100, reserved: 0 })
    expect((await refund(order.id, one)).status).toBe(409)
    expect(made(await shop.get(`/coupons/${coupon.code}`)).timesRedeemed).toBe(0)
  })
})

test('units of an order with no more than a deposit on it are not refunded: it would be owed for them still', async () => {
  const variantId = await shop.variant()
  const items = [{ variantId, quantity: 3 }]
  const order = made(await shop.post('/orders', { customer: { email: 'ada@example.com' }, items }))
  made(await shop.post(`/orders/${order.id}/payments`, { amountCents: 1000, method: 'cash' }))
  expect((await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })).status).toBe(409)
  expect((await refund(order.id, { amountCents: 400 })).status).toBe(201)
  expect((await shop.post(`/orders/${order.id}/payments`, { amountCents: 2401, method: 'cash' })).body.dueCents).toBe(2400)
})

test('what names no line of the order is refused before what stands against it', async () => {
  const unpaid = made(await shop.post('/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: await shop.variant() }] }))
  const nobody = { lineId: NOBODY, quantity: 1 }
  expect(paths(await refund(unpaid.id, { lines: [nobody] }))).toEqual(['lines.0.lineId'])
  expect(paths(await shop.post(`/orders/${unpaid.id}/shipments`, { lines: [nobody] }))).toEqual(['lines.0.lineId'])
  const order = await buyOne()
  expect(paths(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 9 }, nobody] }))).toEqual(['lines.1.lineId'])
})

test('what is no longer tracked neither leaves the shelf nor comes back to it', async () => {
  const variantId = await shop.variant({ shippable: true, stock: { quantity: 10 } })
  const [shippingMethodId, items] = [await shop.method(), [{ variantId, quantity: 3 }]]
  for (const leave of [
    (id: string) => shop.post(`/orders/${id}/shipments`, {}),
    (id: string) => refund(id, { amountCents: 3500, restock: false }),
  ]) {
    await shop.patch(`/variants/${variantId}`, { stock: { tracked: true } })
    const order = await shop.buy({ items, shippingMethodId, shippingAddress: ADDRESS })
    await shop.patch(`/variants/${variantId}`, { stock: { tracked: false } })
    made(await leave(order.id))
    if ((await shop.order(order.id)).status !== 'refunded') made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))
    await expectLedger(variantId, { quantity: 10, reserved: 0 })
  }
})

test('an order whose last open unit is refunded has shipped', async () => {
  const variantId = await shop.variant({ shippable: true })
  const order = await shop.buy({ items: [{ variantId, quantity: 3 }], shippingMethodId: await shop.method(), shippingAddress: ADDRESS })
  const [{ id: lineId }] = order.lines
  made(await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId, quantity: 2 }] }))
  expect((await shop.order(order.id)).status).toBe('processing')
  made(await refund(order.id, { lines: [{ lineId, quantity: 1 }] }))
  expect(await shop.order(order.id)).toMatchObject({ status: 'shipped', paymentStatus: 'partially_refunded' })
})
