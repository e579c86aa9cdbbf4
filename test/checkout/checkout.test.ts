import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
  app.clock.real()
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
const cartWith = async (variant: object = {}, quantity = 1) =>
  (await shop.cart([{ variantId: await shop.variant(variant), quantity }])).id as string

/** Expects that a refused checkout has left no trace, and the cart as it was. */
async function leavesNothing(id: string, refused: () => Promise<void>) {
  const [before, cart] = [await shop.traces(), (await shop.get(`/carts/${id}`)).body]
  await refused()
  expect(await shop.traces()).toEqual(before)
  expect((await shop.get(`/carts/${id}`)).body).toEqual(cart)
}

describe('a checkout', () => {
  test('makes an order with everything that the cart had', async () => {
    const [method, variantId] = [
      await shop.method({ price: 5, name: 'Courier' }),
      await shop.variant({ price: 20, shippable: true, sku: 'MUG-1' }, { name: 'Mug' }),
    ]
    await shop.coupon({ code: 'TEN' })
    const cart = await shop.cart([{ variantId, quantity: 2 }], { email: 'Cart@Example.com' })
    await shop.post(`/carts/${cart.id}/coupons`, { code: 'TEN' })
    await shop.patch(`/carts/${cart.id}`, {
      shippingMethodId: method,
      shippingAddress: ADDRESS,
      billingAddress: { ...ADDRESS, company: 'Acme' },
      pickupPoint: { id: 'GDA01M' },
      note: 'ring twice',
    })
    const { status, body } = await shop.checkOut(cart.id, { email: undefined, name: 'Ada L.', phone: '+48 1', paymentMethod: 'manual' })
    expect(status).toBe(201)
    const { order, payment } = body
    expect(order).toEqual({
      id: expect.any(String),
      orderNumber: '1001',
      lookup: 1001,
      source: 'storefront',
      status: 'pending',
      paymentStatus: 'unpaid',
      customer: { id: expect.any(String), email: 'cart@example.com', name: 'Ada L.' },
      lang: null,
      lines: [
        {
          id: expect.any(String),
          variantId,
          productId: cart.items[0].productId,
          bundleId: null,
          name: 'Mug',
          sku: 'MUG-1',
          quantity: 2,
          unitPriceCents: 2000,
          discountCents: 400,
          taxCents: 0,
          totalCents: 3600,
          shippedQuantity: 0,
          refundedQuantity: 0,
          bookingSlotId: null,
        },
      ],
      currency: 'usd',
      subtotalCents: 4000,
      discountCents: 400,
      shippingCents: 500,
      taxCents: 0,
      totalCents: 4100,
      paidCents: 0,
      paymentIssue: null,
      mailIssues: [],
      refundedCents: 0,
      shippingAddress: { ...ADDRESS, company: null, line2: null, state: null, phone: null },
      billingAddress: expect.objectContaining({ company: 'Acme' }),
      shipping: { methodId: method, name: 'Courier', priceCents: 500, pickupPoint: { id: 'GDA01M' } },
      pickupLocationId: null,
      promotions: [],
      coupons: [{ code: 'TEN', discountCents: 400 }],
      loyalty: { pointsEarned: 0, pointsRedeemed: 0 },
      accessCode: expect.stringMatching(/^[0-9a-f]{32,}$/),
      workstationId: null,
      packedAt: null,
      paidAt: null,
      note: 'ring twice',
      cancelReason: null,
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/\.\d{3}Z$/),
    })
    expect(payment).toEqual({
      id: expect.any(String),
      orderId: order.id,
      method: 'manual',
      status: 'pending',
      amountCents: 4100,
      currency: 'usd',
      reference: null,
      createdAt: expect.any(String),
    })
    expect(await shop.order(order.id)).toEqual(order)
    expect(await shop.stock(variantId)).toEqual({ quantity: 100, reserved: 2, available: 98 })
    expect((await shop.get('/coupons/TEN')).body.timesRedeemed).toBe(1)
    expect(await shop.events()).toEqual(['customer.created', 'order.created'])
  })

  test('takes what the body says before what the cart says', async () => {
    const [a, b] = [await shop.method({ price: 5 }), await shop.method({ price: 7 })]
    const id = await cartWith({ shippable: true })
    await shop.patch(`/carts/${id}`, { email: 'cart@example.com', shippingMethodId: a, shippingAddress: ADDRESS, note: 'from the cart' })
    const order = made(
      await shop.checkOut(id, {
        email: 'BODY@example.com',
        shippingMethodId: b.toUpperCase(),
        shippingAddress: { ...ADDRESS, city: 'Gdynia' },
        note: 'from the body',
      }),
    ).order
    expect(order).toMatchObject({
      customer: { email: 'body@example.com' },
      shippingCents: 700,
      shipping: { methodId: b },
      shippingAddress: { city: 'Gdynia' },
      note: 'from the body',
    })
  })

  test('null in the body is the same as leaving out', async () => {
    const id = await cartWith()
    await shop.patch(`/carts/${id}`, { email: 'cart@example.com', shippingAddress: ADDRESS, note: 'keep' })
    expect(
      made(
        await shop.checkOut(id, {
          email: null,
          shippingAddress: null,
          billingAddress: null,
          shippingMethodId: null,
          note: null,
          name: null,
          phone: null,
        }),
      ).order,
    ).toMatchObject({ customer: { email: 'cart@example.com' }, shippingAddress: { city: 'Gdańsk' }, note: 'keep' })
  })

  test('the billing address is the shipping address unless there is one', async () => {
    const order = await shop.buy({ items: [{ variantId: await shop.variant() }], shippingAddress: ADDRESS })
    expect(order.billingAddress).toEqual(order.shippingAddress)
  })

  test('an order without shipping has none', async () => {
    expect((await shop.buy({ items: [{ variantId: await shop.variant() }] })).shipping).toBeNull()
  })

  test('`test` pays at once', async () => {
    const { order, payment } = made(await shop.checkOut(await cartWith(), { paymentToken: 'ok' }))
    expect(order).toMatchObject({ status: 'paid', paymentStatus: 'paid', paidCents: 1000, paidAt: order.createdAt })
    expect(payment).toMatchObject({ method: 'test', status: 'succeeded', amountCents: 1000 })
    expect(await shop.events()).toEqual(['customer.created', 'order.created', 'order.paid'])
  })

  test('an order that costs nothing is paid at once, however it is paid', async () => {
    await shop.coupon({ code: 'FREE', value: 100 })
    const order = await shop.buy({ items: [{ variantId: await shop.variant() }], coupons: ['FREE'], paymentMethod: 'manual' })
    expect(order).toMatchObject({ totalCents: 0, status: 'paid', paymentStatus: 'paid', lines: [{ discountCents: 1000, totalCents: 0 }] })
  })

  test('works with a storefront key', async () => {
    expect((await shop.checkOut(await cartWith(), {}, { key: shop.keys.storefront })).status).toBe(201)
  })

  test('numbers orders without a gap, refused ones in between or not', async () => {
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    const carts = []
    for (let i = 0; i < 6; i++) carts.push((await shop.cart([{ variantId }])).id)
    const answers = []
    for (const [i, id] of carts.entries()) answers.push(await shop.checkOut(id, i === 1 ? { paymentToken: 'decline' } : {}))
    expect(answers.map(({ status }) => status)).toEqual([201, 402, 201, 201, 409, 409])
    expect(answers.filter(({ status }) => status === 201).map(({ body }) => body.order.orderNumber)).toEqual(['1001', '1002', '1003'])
  })

  test('access codes are random and differ', async () => {
    const variantId = await shop.variant()
    const codes = []
    for (let i = 0; i < 5; i++) codes.push((await shop.buy({ items: [{ variantId }] })).accessCode)
    expect(new Set(codes.map((code) => code.slice(0, 8))).size).toBe(5)
  })

  test('tells inventory.low when the threshold is passed, once', async () => {
    await shop.settings({ lowStockThreshold: 2 })
    const variantId = await shop.variant({ stock: { quantity: 4 } })
    for (let i = 0; i < 3; i++) await shop.buy({ items: [{ variantId }] })
    expect((await shop.events()).filter((event) => event === 'inventory.low')).toHaveLength(1)
  })
})

describe('what is missing is 400', () => {
  test('an empty cart', async () => {
    const { id } = await shop.cart()
    await leavesNothing(id, async () => {
      const { status, body } = await shop.checkOut(id)
      expect([status, body.error]).toEqual([400, expect.stringContaining('empty')])
    })
  })

  test('no email', async () => {
    const id = await cartWith()
    await leavesNothing(id, async () => expect(paths(await shop.checkOut(id, { email: undefined }))).toEqual(['email']))
  })

  test('no payment method', async () => {
    const { body } = await shop.checkOut(await cartWith(), { paymentMethod: undefined })
    expect(body.details).toEqual([expect.objectContaining({ path: ['paymentMethod'], code: 'required' })])
  })

  test.each([
    ['email', { email: 'ada' }],
    ['email', { email: 5 }],
    ['paymentMethod', { paymentMethod: 'cash' }],
    ['paymentMethod', { paymentMethod: 'stripe' }],
    ['paymentMethod', { paymentMethod: null }],
    ['paymentToken', { paymentToken: 'whatever' }],
    ['shippingMethodId', { shippingMethodId: NOBODY }],
    ['shippingMethodId', { shippingMethodId: 'courier' }],
    ['expectedTotalCents', { expectedTotalCents: -1 }],
    ['expectedTotalCents', { expectedTotalCents: 10.5 }],
    ['expectedTotalCents', { expectedTotalCents: '1000' }],
    ['shippingAddress.country', { shippingAddress: { country: 'POL' } }],
    ['name', { name: 'x'.repeat(201) }],
    ['phone', { phone: 5 }],
    ['note', { note: 'x'.repeat(2001) }],
  ])('%s in %j', async (path, change) => {
    const id = await cartWith()
    await leavesNothing(id, async () => expect(paths(await shop.checkOut(id, change))).toEqual([path]))
  })

  test('no shipping method when something is shippable', async () => {
    const id = await cartWith({ shippable: true })
    await leavesNothing(id, async () => expect(paths(await shop.checkOut(id, { shippingAddress: ADDRESS }))).toEqual(['shippingMethodId']))
  })

  test('no address, or only a part of one, when something is shipped', async () => {
    const [id, shippingMethodId] = [await cartWith({ shippable: true }), await shop.method()]
    await leavesNothing(id, async () => {
      expect(paths(await shop.checkOut(id, { shippingMethodId }))).toEqual(['shippingAddress'])
      for (const field of ['line1', 'city', 'postalCode', 'country'] as const) {
        for (const value of [undefined, null, ...(field === 'country' ? [] : [' '])])
          expect(paths(await shop.checkOut(id, { shippingMethodId, shippingAddress: { ...ADDRESS, [field]: value } }))).toEqual([
            `shippingAddress.${field}`,
          ])
      }
    })
    expect(
      (await shop.checkOut(id, { shippingMethodId, shippingAddress: { line1: 'x', city: 'y', postalCode: 'z', country: 'pl' } })).status,
    ).toBe(201)
  })

  test('what is collected in the store needs no address', async () => {
    expect(
      (await shop.checkOut(await cartWith({ shippable: true }), { shippingMethodId: await shop.method({ type: 'in_store' }) })).status,
    ).toBe(201)
  })

  test('one thing that is shipped among others is enough', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }, { variantId: await shop.variant({ shippable: true }) }])
    expect(paths(await shop.checkOut(id))).toEqual(['shippingMethodId'])
  })

  test('no phone, where checkout.requirePhone is set', async () => {
    await shop.settings({ checkout: { requirePhone: true } })
    const id = await cartWith()
    for (const phone of [undefined, null, '  ']) expect(paths(await shop.checkOut(id, { phone }))).toEqual(['phone'])
    expect((await shop.checkOut(id, { phone: '+48 1' })).status).toBe(201)
    expect((await shop.checkOut(await cartWith(), { shippingAddress: { ...ADDRESS, phone: '+48 2' } })).status).toBe(201)
  })

  test('an email that belongs to no customer, where guests may not check out', async () => {
    await shop.buy({ items: [{ variantId: await shop.variant() }], email: 'known@example.com' })
    await shop.settings({ checkout: { guestCheckout: false } })
    const id = await cartWith()
    await leavesNothing(id, async () => expect(paths(await shop.checkOut(id, { email: 'new@example.com' }))).toEqual(['email']))
    expect((await shop.checkOut(id, { email: 'Known@Example.com' })).status).toBe(201)
  })
})

describe('the order of refusals', () => {
  test('what is missing comes before what stands against it, and that before the payment', async () => {
    const [variantId, shippingMethodId] = [await shop.variant({ shippable: true, stock: { quantity: 1 } }), await shop.method()]
    const { id } = await shop.cart([{ variantId }])
    await shop.patch(`/inventory/${variantId}`, { quantity: 0 })
    const whole = { shippingMethodId, shippingAddress: ADDRESS, paymentToken: 'decline' }
    for (const [missing, path] of [
      [{ email: null }, 'email'],
      [{ shippingMethodId: null }, 'shippingMethodId'],
      [{ shippingAddress: null }, 'shippingAddress'],
      [{ paymentToken: 'gold' }, 'paymentToken'],
      [{ paymentMethod: 'stripe' }, 'paymentMethod'],
    ] as const) {
      expect(paths(await shop.checkOut(id, { ...whole, ...missing }))).toEqual([path])
    }
    expect((await shop.checkOut(id, whole)).status).toBe(409)
    await shop.patch(`/inventory/${variantId}`, { quantity: 1 })
    expect((await shop.checkOut(id, { ...whole, expectedTotalCents: 1 })).status).toBe(409)
    expect((await shop.checkOut(id, whole)).status).toBe(402)
  })

  test('what is missing has the code `required`', async () => {
    const [id, shippingMethodId] = [await cartWith({ shippable: true }), await shop.method()]
    const codes = []
    for (const body of [{ email: null }, {}, { shippingMethodId }, { shippingMethodId, shippingAddress: { ...ADDRESS, city: null } }])
      codes.push((await shop.checkOut(id, body)).body.details.map((detail: any) => detail.code))
    expect(codes).toEqual([['required'], ['required'], ['required'], ['required']])
  })
})

describe('what stands against it is 409, and leaves nothing', () => {
  test('sold out', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const { id } = await shop.cart([{ variantId }])
    await shop.coupon({ code: 'TEN' })
    await shop.post(`/carts/${id}/coupons`, { code: 'TEN' })
    await shop.buy({ items: [{ variantId }], email: 'faster@example.com' })
    await leavesNothing(id, async () => {
      const { status, body } = await shop.checkOut(id, { email: 'slower@example.com' })
      expect([status, body.error, body.variantId]).toEqual([409, 'sold out', variantId])
    })
  })

  test('sold out in one of two lines takes nothing of the other', async () => {
    const [plenty, rare] = [await shop.variant(), await shop.variant({ stock: { quantity: 1 } })]
    const { id } = await shop.cart([{ variantId: plenty }, { variantId: rare }])
    await shop.patch(`/inventory/${rare}`, { quantity: 0 })
    await leavesNothing(id, async () => expect((await shop.checkOut(id)).status).toBe(409))
    expect(await shop.stock(plenty)).toMatchObject({ reserved: 0 })
  })

  test('the same variant in a bundle and alone, when there is enough for each but not for both', async () => {
    const variantId = await shop.variant({ stock: { quantity: 6 } })
    const { id } = await shop.cart([{ variantId, quantity: 3 }])
    made(await shop.post(`/carts/${id}/items`, { bundleId: await shop.bundle([[variantId, 3]]) }))
    await shop.patch(`/inventory/${variantId}`, { quantity: 5 })
    await leavesNothing(id, async () => expect((await shop.checkOut(id)).status).toBe(409))
    await shop.patch(`/inventory/${variantId}`, { quantity: 6 })
    expect((await shop.checkOut(id)).status).toBe(201)
    expect(await shop.stock(variantId)).toEqual({ quantity: 6, reserved: 6, available: 0 })
  })

  test('the price has changed since expectedTotalCents: both totals are told', async () => {
    const variantId = await shop.variant({ price: 10 })
    const { id } = await shop.cart([{ variantId }])
    await shop.patch(`/variants/${variantId}`, { price: 12 })
    await leavesNothing(id, async () => {
      const { status, body } = await shop.checkOut(id, { expectedTotalCents: 1000 })
      expect([status, body]).toEqual([
        409,
        expect.objectContaining({ error: expect.any(String), code: 'price_changed', expectedTotalCents: 1000, totalCents: 1200 }),
      ])
    })
    expect(made(await shop.checkOut(id, { expectedTotalCents: 1200 })).order.totalCents).toBe(1200)
  })

  test('a coupon that is used up meanwhile', async () => {
    await shop.coupon({ code: 'ONCE', maxUses: 1 })
    const variantId = await shop.variant()
    const { id } = await shop.cart([{ variantId }])
    made(await shop.post(`/carts/${id}/coupons`, { code: 'ONCE' }))
    await shop.buy({ items: [{ variantId }], coupons: ['ONCE'], email: 'faster@example.com' })
    await leavesNothing(id, async () => {
      const { status, body } = await shop.checkOut(id)
      expect([status, body.code, body.error]).toEqual([409, 'coupon', expect.stringContaining('used up')])
    })
    await shop.remove(`/carts/${id}/coupons/ONCE`)
    expect((await shop.checkOut(id)).status).toBe(201)
  })

  test('a coupon that has ended at this very millisecond', async () => {
    app.clock.now = new Date('2026-05-01T00:00:00.000Z')
    await shop.coupon({ code: 'MAY', endDate: '2026-05-02T00:00:00Z' })
    const id = await cartWith()
    await shop.post(`/carts/${id}/coupons`, { code: 'MAY' })
    app.clock.now = new Date('2026-05-02T00:00:00.000Z')
    await leavesNothing(id, async () => expect((await shop.checkOut(id)).status).toBe(409))
    app.clock.now = new Date('2026-05-01T23:59:59.999Z')
    expect(made(await shop.checkOut(id)).order.discountCents).toBe(100)
  })

  test('something that is no longer sold', async () => {
    const {
      id,
      items: [item],
    } = await shop.cart([{ variantId: await shop.variant() }])
    await shop.patch(`/products/${item.productId}`, { status: 'draft' })
    await leavesNothing(id, async () => expect((await shop.checkOut(id)).status).toBe(409))
  })

  test('a currency that the store has given up', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const { id } = await shop.cart([{ variantId: await shop.variant({ prices: { eur: 9 } }) }], { currency: 'eur' })
    await shop.settings({ enabledCurrencies: ['usd'] })
    await leavesNothing(id, async () => expect((await shop.checkOut(id)).status).toBe(409))
    made(await shop.patch(`/carts/${id}`, { currency: 'usd' }))
    expect(made(await shop.checkOut(id)).order.currency).toBe('usd')
  })

  test('a shipping method that does not serve the country, or is gone', async () => {
    const [id, shippingMethodId] = [await cartWith({ shippable: true }), await shop.method({ countries: ['DE'] })]
    await leavesNothing(id, async () => expect((await shop.checkOut(id, { shippingMethodId, shippingAddress: ADDRESS })).status).toBe(409))
    await shop.patch(`/carts/${id}`, { shippingMethodId })
    await shop.remove(`/shipping/${shippingMethodId}`)
    await leavesNothing(id, async () => expect((await shop.checkOut(id, { shippingAddress: ADDRESS })).status).toBe(409))
  })

  test('a cart that is an order already tells which', async () => {
    await shop.coupon({ code: 'TEN' })
    const id = await cartWith()
    const { order } = made(await shop.checkOut(id))
    const {
      items: [item],
      orderId,
    } = (await shop.get(`/carts/${id}`)).body
    expect(orderId).toBe(order.id)
    const before = await shop.traces()
    for (const answer of [
      await shop.checkOut(id),
      await shop.patch(`/carts/${id}`, { note: 'x' }),
      await shop.remove(`/carts/${id}`),
      await shop.post(`/carts/${id}/items`, { variantId: await shop.variant() }),
      await shop.patch(`/carts/${id}/items/${item.id}`, { quantity: 5 }),
      await shop.remove(`/carts/${id}/items/${item.id}`),
      await shop.post(`/carts/${id}/coupons`, { code: 'TEN' }),
    ])
      expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ error: expect.any(String), orderId: order.id })])
    expect({ ...(await shop.traces()), events: 0, movements: 0 }).toEqual({ ...before, events: 0, movements: 0 })
  })

  test('20 checkouts of one cart at once make one order, and all others are told which', async () => {
    const variantId = await shop.variant()
    const { id } = await shop.cart([{ variantId }])
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.checkOut(id)))
    const won = answers.filter(({ status }) => status === 201)
    expect(won).toHaveLength(1)
    for (const { status, body } of answers) if (status !== 201) expect([status, body.orderId]).toEqual([409, won[0]!.body.order.id])
    expect(await shop.traces()).toMatchObject({ orders: 1, reserved: 1, customers: 1, number: 1001 })
  })

  test('the same Idempotency-Key gives the first answer again', async () => {
    const id = await cartWith()
    const headers = { 'idempotency-key': 'once' }
    const first = await shop.checkOut(id, {}, { headers })
    const second = await shop.checkOut(id, {}, { headers })
    expect([second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true'])
    expect((await shop.checkOut(id, { note: 'other' }, { headers })).status).toBe(422)
  })
})

describe('`test` payments', () => {
  test.each(['decline', 'insufficient_funds', 'expired_card'])(
    '%s is 402, the cart stays usable and nothing is taken',
    async (paymentToken) => {
      await shop.coupon({ code: 'ONCE', maxUses: 1 })
      const id = await cartWith({ stock: { quantity: 1 } })
      await shop.post(`/carts/${id}/coupons`, { code: 'ONCE' })
      await leavesNothing(id, async () => {
        const { status, body } = await shop.checkOut(id, { paymentToken })
        expect([status, body]).toEqual([402, { error: expect.any(String), code: paymentToken }])
      })
      expect((await shop.checkOut(id)).status).toBe(201)
    },
  )

  test('declined and accepted ones in parallel leave the coupon counted right', async () => {
    await shop.coupon({ code: 'FEW', maxUses: 3 })
    const variantId = await shop.variant()
    const carts = []
    for (let i = 0; i < 20; i++) {
      carts.push((await shop.cart([{ variantId }])).id)
      await shop.post(`/carts/${carts[i]}/coupons`, { code: 'FEW' })
    }
    const statuses = (await Promise.all(carts.map((id, i) => shop.checkOut(id, { paymentToken: i % 2 ? 'decline' : 'ok' })))).map(
      ({ status }) => status,
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(3)
    expect((await shop.get('/coupons/FEW')).body.timesRedeemed).toBe(3)
    expect(await shop.traces()).toMatchObject({ redemptions: 3, reserved: 3, orders: 3 })
  })

  test('are 400 where payments.testMode is off, but not in the sandbox', async () => {
    await shop.settings({ payments: { testMode: false } })
    const id = await cartWith()
    await leavesNothing(id, async () => expect(paths(await shop.checkOut(id))).toEqual(['paymentMethod']))
    expect((await shop.checkOut(id, { paymentMethod: 'manual' })).status).toBe(201)
    const key = shop.keys.staging
    await shop.patch('/settings', { payments: { testMode: false } }, { key })
    const variantId = made(
      await shop.post(
        '/products',
        { name: 'Sandbox', status: 'published', variants: [{ price: 1, shippable: false, stock: { quantity: 1 } }] },
        { key },
      ),
    ).variants[0].id
    const cart = made(await shop.post('/carts', { items: [{ variantId }] }, { key }))
    expect((await shop.checkOut(cart.id, {}, { key })).status).toBe(201)
  })

  test('the sandbox has numbers, orders and customers of its own', async () => {
    await shop.buy({ items: [{ variantId: await shop.variant() }] })
    const key = shop.keys.staging
    expect((await shop.get('/orders', { key })).body.meta.count).toBe(0)
    expect((await shop.get('/customers', { key })).body.pagination.total).toBe(0)
  })
})

describe('lines of an order', () => {
  test('a bundle is split into its variants, whose sums add up to it', async () => {
    const [a, b, c] = [await shop.variant({ price: 3.33 }), await shop.variant({ price: 3.34 }), await shop.variant({ price: 0.05 })]
    const bundleId = await shop.bundle(
      [
        [a, 2],
        [b, 1],
        [c, 3],
      ],
      33.33,
    )
    const { id } = await shop.cart([{ variantId: a }])
    const cart = made(await shop.post(`/carts/${id}/items`, { bundleId, quantity: 3 }))
    const { order } = made(await shop.checkOut(id))
    expect(
      order.lines.map(({ variantId, bundleId, quantity, unitPriceCents }: any) => [variantId, bundleId, quantity, unitPriceCents]),
    ).toEqual([
      [a, null, 1, 333],
      [a, bundleId, 6, 333],
      [b, bundleId, 3, 334],
      [c, bundleId, 9, 5],
    ])
    const parts = order.lines.slice(1)
    expect([sum(parts.map((line: any) => line.discountCents)), sum(parts.map((line: any) => line.totalCents))]).toEqual([
      cart.items[1].discountCents,
      cart.items[1].totalCents,
    ])
    for (const line of order.lines) expect(line.totalCents).toBe(line.quantity * line.unitPriceCents - line.discountCents)
    expect(sum(order.lines.map((line: any) => line.totalCents))).toBe(order.totalCents)
    expect(await shop.stock(a)).toMatchObject({ reserved: 7 })
    expect(await shop.stock(c)).toMatchObject({ reserved: 9 })
  })

  test.each([
    [true, 3.86],
    [false, 3.86],
  ])('taxes are rounded per line (included: %j)', async (taxesIncluded) => {
    await shop.settings({ taxesIncluded })
    await shop.post('/tax-rates', { name: 'MwSt', rate: 19, default: true })
    const order = await shop.buy({ items: [{ variantId: await shop.variant({ price: 1.08 }), quantity: 3 }] })
    // 3.24 × 1.19 = 3.8556; in 3.24 are 0.5173.
    expect(order).toMatchObject(
      taxesIncluded
        ? { taxCents: 52, totalCents: 324, lines: [{ taxCents: 52, totalCents: 324 }] }
        : { taxCents: 62, totalCents: 386, lines: [{ taxCents: 62, totalCents: 324 }] },
    )
  })

  test('the same money in JPY and KWD', async () => {
    const [jpy, kwd] = [await newShop(app, { currency: 'jpy' }), await newShop(app, { currency: 'kwd' })]
    for (const store of [jpy, kwd]) await store.post('/tax-rates', { name: 'Tax', rate: 10, default: true })
    expect(await jpy.buy({ items: [{ variantId: await jpy.variant({ price: 105 }), quantity: 1 }] })).toMatchObject({
      currency: 'jpy',
      totalCents: 105,
      taxCents: 10,
    })
    expect(await kwd.buy({ items: [{ variantId: await kwd.variant({ price: 1.055 }), quantity: 1 }] })).toMatchObject({
      currency: 'kwd',
      totalCents: 1055,
      taxCents: 96,
    })
  })

  test('an order-level amount over three equal lines falls on them to the cent', async () => {
    await shop.coupon({ code: 'TEN', type: 'fixed', value: 10 })
    const items = []
    for (let i = 0; i < 3; i++) items.push({ variantId: await shop.variant({ price: 10 }) })
    const order = await shop.buy({ items, coupons: ['TEN'] })
    expect(order.lines.map((line: any) => line.discountCents)).toEqual([334, 333, 333])
    expect(order.totalCents).toBe(2000)
  })

  test('keep what they were, whatever happens to the product later', async () => {
    const variantId = await shop.variant({ sku: 'OLD' }, { name: 'Old name' })
    const order = await shop.buy({ items: [{ variantId }] })
    await shop.patch(`/products/${order.lines[0].productId}`, { name: 'New name' })
    await shop.patch(`/variants/${variantId}`, { price: 99, sku: 'NEW' })
    expect((await shop.order(order.id)).lines).toEqual(order.lines)
  })

  test('what is not tracked is held by nobody', async () => {
    const variantId = await shop.variant({ stock: { tracked: false } })
    await shop.buy({ items: [{ variantId, quantity: 5 }] })
    expect(await shop.stock(variantId)).toMatchObject({ reserved: 0 })
  })

  test('what may be sold before it is there is held all the same', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1, backorder: true } })
    await shop.buy({ items: [{ variantId, quantity: 5 }] })
    expect(await shop.stock(variantId)).toEqual({ quantity: 1, reserved: 5, available: -4 })
  })
})

describe('the customer of a checkout', () => {
  test('is one for all spellings of an address', async () => {
    const variantId = await shop.variant()
    for (const email of ['Ada@Example.com', 'ada@example.com', ' ADA@EXAMPLE.COM ', 'ada+tag@example.com'])
      await shop.buy({ items: [{ variantId }], email })
    expect((await shop.rows(sql`select email from customers order by id`)).flat()).toEqual(['ada@example.com', 'ada+tag@example.com'])
  })

  test.each([
    ['ŁUKASZ@example.com', 'łukasz@example.com'],
    ['jo@BÜCHER.example', 'jo@xn--bcher-kva.example'],
    ['A\u030Ake@example.com', '\u00e5ke@example.com'],
  ])('%s and %s are one', async (one, other) => {
    const variantId = await shop.variant()
    const ids = []
    for (const email of [one, other]) ids.push((await shop.buy({ items: [{ variantId }], email })).customer.id)
    expect(ids[0]).toBe(ids[1])
  })

  test('is one when 20 spellings of one address buy at once', async () => {
    const variantId = await shop.variant()
    const carts = []
    for (let i = 0; i < 20; i++) carts.push((await shop.cart([{ variantId }])).id)
    const spell = (i: number) => [...'ada@example.com'].map((letter, k) => ((i >> (k % 5)) & 1 ? letter.toUpperCase() : letter)).join('')
    const answers = await Promise.all(carts.map((id, i) => shop.checkOut(id, { email: spell(i) })))
    expect(new Set(answers.map(({ body }) => body.order.customer.id)).size).toBe(1)
    expect(await shop.traces()).toMatchObject({ customers: 1, orders: 20 })
  })

  test('keeps its name and phone, and gets them when they were missing', async () => {
    const variantId = await shop.variant()
    const first = await shop.buy({ items: [{ variantId }] })
    await shop.buy({ items: [{ variantId }], name: 'Ada', phone: '+48 1' })
    await shop.buy({ items: [{ variantId }], name: 'Somebody else', phone: '+48 2' })
    expect((await shop.get(`/customers/${first.customer.id}`)).body).toMatchObject({ name: 'Ada', phone: '+48 1' })
  })
})

describe('a cart that became an order', () => {
  test('stays what was bought, whatever becomes of stock, prices and coupons', async () => {
    const [method, coupon] = [await shop.method({ price: 4 }), await shop.coupon({ code: 'HALF', value: 50, maxUses: 1 })]
    const variantId = await shop.variant({ shippable: true, stock: { quantity: 1 } })
    const { id } = await shop.cart([{ variantId }])
    made(await shop.post(`/carts/${id}/coupons`, { code: coupon.code }))
    const { order } = made(await shop.checkOut(id, { shippingMethodId: method, shippingAddress: ADDRESS, note: 'Ring twice' }))
    const bought = made(await shop.get(`/carts/${id}`))
    expect(bought).toMatchObject({
      orderId: order.id,
      email: 'ada@example.com',
      note: 'Ring twice',
      shippingMethodId: method,
      shippingAddress: ADDRESS,
      coupons: [{ code: 'HALF', discountCents: 500 }],
      subtotalCents: 1000,
      shippingCents: 400,
      totalCents: order.totalCents,
      warnings: [],
    })
    await shop.patch(`/variants/${variantId}`, { price: 99 })
    await shop.remove(`/coupons/HALF`)
    expect(made(await shop.get(`/carts/${id}`))).toEqual(bought)
  })

  test('refuses what names nothing of the store before it says that it is an order', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    made(await shop.checkOut(id))
    const nobody = '01985d2c-7c00-7a31-8c4e-0242ac120002'
    expect(paths(await shop.post(`/carts/${id}/items`, { variantId: nobody }))).toEqual(['variantId'])
    expect(paths(await shop.patch(`/carts/${id}`, { shippingMethodId: nobody }))).toEqual(['shippingMethodId'])
    expect(paths(await shop.checkOut(id, { paymentMethod: 'stripe' }))).toEqual(['paymentMethod'])
    expect((await shop.patch(`/carts/${id}/items/${nobody}`, { quantity: 1 })).status).toBe(404)
    expect((await shop.post(`/carts/${id}/coupons`, { code: 'NONE' })).status).toBe(404)
  })
})

test('goods that go nowhere are taxed where the bill goes', async () => {
  made(await shop.post('/tax-rates', { name: 'VAT', rate: 23, countries: ['PL'], default: true }))
  made(await shop.post('/tax-rates', { name: 'MwSt', rate: 19, countries: ['DE'], default: true }))
  const { id } = await shop.cart([{ variantId: await shop.variant() }])
  expect(made(await shop.checkOut(id, { billingAddress: { ...ADDRESS, country: 'DE' } })).order.taxCents).toBe(160)
})
