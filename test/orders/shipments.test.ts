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
const ship = (id: string, body?: unknown) => shop.post(`/orders/${id}/shipments`, body)
/** A paid order of some units of two shippable variants. */
async function ordered(quantities: [number, number] = [3, 1], order: object = {}) {
  const variants = [
    await shop.variant({ shippable: true, stock: { quantity: 10 } }),
    await shop.variant({ shippable: true, stock: { quantity: 10 } }),
  ] as const
  const placed = await shop.buy({
    items: variants.map((variantId, i) => ({ variantId, quantity: quantities[i] })),
    shippingMethodId: await shop.method(),
    shippingAddress: ADDRESS,
    ...order,
  })
  return { id: placed.id as string, variants, lines: placed.lines.map((line: { id: string }) => line.id) as string[] }
}

describe('POST /orders/{id}/shipments', () => {
  test('without lines ships everything that is open', async () => {
    const { id, variants, lines } = await ordered()
    const { status, body } = await ship(id, { carrier: 'DHL', trackingNumber: 'JD01', trackingUrl: 'https://track.example/JD01' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      orderId: id,
      lines: [
        { lineId: lines[0], quantity: 3 },
        { lineId: lines[1], quantity: 1 },
      ],
      carrier: 'DHL',
      trackingNumber: 'JD01',
      trackingUrl: 'https://track.example/JD01',
      label: null,
      createdAt: expect.any(String),
    })
    expect(await shop.order(id)).toMatchObject({ status: 'shipped', lines: [{ shippedQuantity: 3 }, { shippedQuantity: 1 }] })
    expect(await shop.stock(variants[0])).toEqual({ quantity: 7, reserved: 0, available: 7 })
    expect(await shop.ledger(variants[0])).toEqual([10, -3])
    expect((await shop.events()).filter((event) => event === 'order.shipped')).toHaveLength(1)
  })

  test('a part makes the order processing, and the last part shipped', async () => {
    const { id, variants, lines } = await ordered()
    const first = made(await ship(id, { lines: [{ lineId: lines[0], quantity: 2 }] }))
    expect(first).toMatchObject({ lines: [{ lineId: lines[0], quantity: 2 }], carrier: null, trackingNumber: null, trackingUrl: null })
    expect(await shop.order(id)).toMatchObject({ status: 'processing', lines: [{ shippedQuantity: 2 }, { shippedQuantity: 0 }] })
    expect(await shop.stock(variants[0])).toEqual({ quantity: 8, reserved: 1, available: 7 })
    expect(await shop.events()).not.toContain('order.shipped')
    await ship(id, { lines: [{ lineId: lines[1], quantity: 1 }] })
    expect((await shop.order(id)).status).toBe('processing')
    await ship(id)
    expect(await shop.order(id)).toMatchObject({ status: 'shipped', lines: [{ shippedQuantity: 3 }, { shippedQuantity: 1 }] })
    expect(await shop.ledger(variants[0])).toEqual([10, -2, -1])
    expect(await shop.stock(variants[0])).toEqual({ quantity: 7, reserved: 0, available: 7 })
  })

  test('the ledger names the order and the key', async () => {
    const { id, variants } = await ordered()
    await ship(id)
    const {
      data: [newest],
    } = made(await shop.get(`/inventory/${variants[0]}/movements`))
    expect(newest).toMatchObject({ delta: -3, orderId: id, keyId: made(await shop.get('/me')).key.id })
  })

  test('more units than are open is 409 and ships nothing', async () => {
    const { id, variants, lines } = await ordered()
    for (const body of [
      { lines: [{ lineId: lines[0], quantity: 4 }] },
      {
        lines: [
          { lineId: lines[1], quantity: 1 },
          { lineId: lines[0], quantity: 4 },
        ],
      },
    ])
      expect((await ship(id, body)).status).toBe(409)
    await ship(id, { lines: [{ lineId: lines[0], quantity: 2 }] })
    expect((await ship(id, { lines: [{ lineId: lines[0], quantity: 2 }] })).status).toBe(409)
    expect(await shop.stock(variants[1])).toEqual({ quantity: 10, reserved: 1, available: 9 })
  })

  test.each([['pending'], ['cancelled'], ['refunded'], ['shipped'], ['completed']])(
    'an order that is %s can not be shipped',
    async (status) => {
      const { id } = await ordered([3, 1], status === 'pending' ? { paymentMethod: 'manual' } : {})
      if (status !== 'pending') made(await shop.patch(`/orders/${id}`, { status }))
      expect((await ship(id)).status).toBe(409)
      expect((await shop.get(`/orders/${id}/shipments`)).body.meta.count).toBe(0)
    },
  )

  test('of 10 at once one ships', async () => {
    const { id, variants } = await ordered()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ship(id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    expect(await shop.stock(variants[0])).toMatchObject({ quantity: 7, reserved: 0 })
  })

  test.each([
    ['lines', { lines: [] }],
    ['lines', { lines: {} }],
    ['lines', { lines: null }],
    ['lines.0.lineId', { lines: [{ lineId: NOBODY, quantity: 1 }] }],
    ['lines.0.lineId', { lines: [{ quantity: 1 }] }],
    ['carrier', { carrier: 5 }],
    ['carrier', { carrier: 'x'.repeat(101) }],
    ['trackingNumber', { trackingNumber: 5 }],
    ['trackingNumber', { trackingNumber: 'a\nb' }],
    ['trackingUrl', { trackingUrl: 'javascript:alert(1)' }],
    ['trackingUrl', { trackingUrl: 'track' }],
  ])('%s is 400 in %j', async (path, body) => {
    const { id } = await ordered()
    expect(paths(await ship(id, body))).toEqual([path])
  })

  test.each([0, -1, 1.5, undefined])('a quantity of %j is 400, and so is a line twice', async (quantity) => {
    const { id, lines } = await ordered()
    expect(paths(await ship(id, { lines: [{ lineId: lines[0], quantity }] }))).toEqual(['lines.0.quantity'])
    expect(
      paths(
        await ship(id, {
          lines: [
            { lineId: lines[0], quantity: 1 },
            { lineId: lines[0], quantity: 1 },
          ],
        }),
      ),
    ).toEqual(['lines.1.lineId'])
  })

  test('what is not on the shelf yet can not ship: 409 until it is there', async () => {
    const variantId = await shop.variant({ shippable: true, stock: { quantity: 1, backorder: true } })
    const { id } = await shop.buy({ items: [{ variantId, quantity: 3 }], shippingMethodId: await shop.method(), shippingAddress: ADDRESS })
    expect((await ship(id)).status).toBe(409)
    expect(await shop.stock(variantId)).toEqual({ quantity: 1, reserved: 3, available: -2 })
    await shop.patch(`/inventory/${variantId}`, { adjust: 2 })
    expect((await ship(id)).status).toBe(201)
    expect(await shop.stock(variantId)).toEqual({ quantity: 0, reserved: 0, available: 0 })
  })

  test('what is no longer tracked ships without being on the shelf', async () => {
    const variantId = await shop.variant({ shippable: true, stock: { quantity: 0, backorder: true } })
    const { id } = await shop.buy({ items: [{ variantId, quantity: 3 }], shippingMethodId: await shop.method(), shippingAddress: ADDRESS })
    made(await shop.patch(`/variants/${variantId}`, { stock: { tracked: false } }))
    expect((await ship(id)).status).toBe(201)
    expect(await shop.stock(variantId)).toEqual({ quantity: 0, reserved: 0, available: 0 })
  })

  test('what is not shipped is in no shipment', async () => {
    const [parcel, file] = [await shop.variant({ shippable: true }), await shop.variant()]
    const order = await shop.buy({
      items: [{ variantId: parcel }, { variantId: file }],
      shippingMethodId: await shop.method(),
      shippingAddress: ADDRESS,
    })
    expect((await ship(order.id, { lines: [{ lineId: order.lines[1].id, quantity: 1 }] })).status).toBe(409)
    expect(made(await ship(order.id)).lines).toEqual([{ lineId: order.lines[0].id, quantity: 1 }])
    expect((await shop.order(order.id)).status).toBe('shipped')
  })

  test('an order that has shipped holds nothing, of what is not shipped either', async () => {
    const [parcel, file] = [await shop.variant({ shippable: true }), await shop.variant()]
    const order = await shop.buy({
      items: [{ variantId: parcel, quantity: 2 }, { variantId: file }],
      shippingMethodId: await shop.method(),
      shippingAddress: ADDRESS,
    })
    made(await ship(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
    expect(await shop.stock(file)).toEqual({ quantity: 100, reserved: 1, available: 99 })
    made(await ship(order.id))
    for (const variantId of [parcel, file]) expect(await shop.stock(variantId)).toMatchObject({ reserved: 0 })
    expect(await shop.ledger(file)).toEqual([100, -1])
    made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))
    for (const variantId of [parcel, file]) expect(await shop.stock(variantId)).toEqual({ quantity: 100, reserved: 0, available: 100 })
  })

  test('an order of which nothing is shipped has no shipments', async () => {
    const { id } = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    expect((await ship(id)).status).toBe(409)
  })

  test('what is not tracked leaves no trace in the ledger', async () => {
    const variantId = await shop.variant({ shippable: true, stock: { tracked: false } })
    const { id } = await shop.buy({ items: [{ variantId }], shippingMethodId: await shop.method(), shippingAddress: ADDRESS })
    made(await ship(id))
    expect(await shop.ledger(variantId)).toEqual([])
    expect(await shop.stock(variantId)).toEqual({ quantity: 0, reserved: 0, available: 0 })
  })
})

describe('GET /orders/{id}/shipments', () => {
  test('lists them, newest first, to a key that may read orders', async () => {
    const { id, lines } = await ordered()
    const ids = []
    for (let i = 0; i < 3; i++) ids.unshift(made(await ship(id, { lines: [{ lineId: lines[0], quantity: 1 }] })).id)
    const { body } = await shop.get(`/orders/${id}/shipments`, { key: await shop.keyWith('orders:read') })
    expect(body.data.map((row: { id: string }) => row.id)).toEqual(ids)
    expect(body.meta).toEqual({ count: 3, offset: 0, limit: 50 })
    expect((await shop.get(`/orders/${id}/shipments?limit=1&offset=2`)).body).toMatchObject({ data: [{ id: ids[2] }], meta: { count: 3 } })
    expect((await shop.get(`/orders/${id}/shipments`, { key: shop.keys.storefront })).status).toBe(403)
  })
})
