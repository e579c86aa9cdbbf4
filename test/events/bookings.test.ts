/** Bookings (document 2): places of slots, taken by orders and by nothing before them, and given back once. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stripeDouble, type StripeDouble } from '../doubles/stripe.ts'
import { stripeProvider } from '../../api/outside/stripe.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let stripe: StripeDouble
let app: TestApp
let shop: Shop
let variantId: string
let slotId: string
beforeAll(async () => {
  stripe = stripeDouble()
  const { secretKey, webhookSecret, url: apiBase } = stripe
  app = await testApp({ payments: stripeProvider({ secretKey, webhookSecret, apiBase }) })
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  variantId = await shop.variant({ bookable: true, shippable: true, stock: { quantity: 0 } })
  slotId = (await newSlot()).id
})
afterAll(async () => {
  await app.close()
  stripe.close()
})

const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(app.clock.now.getTime() + days * DAY_MS).toISOString()
const newSlot = async (more: object = {}) =>
  made(
    await shop.post('/booking-slots', {
      ...{ productVariantId: variantId, startsAt: inDays(3), endsAt: inDays(4), maxCapacity: 10, status: 'published' },
      ...more,
    }),
  )
const slot = async (id = slotId) => made(await shop.get(`/booking-slots/${id}`))
const item = (quantity = 1, id = slotId) => ({ variantId, bookingSlotId: id, quantity })
const book = (quantity = 1, more: object = {}) => shop.buy({ items: [item(quantity)], ...more })
const bookings = async (id = slotId) => made(await shop.get(`/booking-slots/${id}/bookings`))
const cancel = (body: object, options = {}) => shop.post('/bookings/cancel', body, options)
const by = ({ accessCode, lines }: any, more: object = {}) => ({ code: accessCode, email: 'ada@example.com', lineId: lines[0].id, ...more })
const told = async (name: string) =>
  (await shop.rows(sql`select payload from outbox where event = ${name} order by id`)).map(([payload]) => JSON.parse(payload))

describe('a cart', () => {
  test('holds a place as a line of its own, and takes none', async () => {
    const other = await newSlot({ startsAt: inDays(5), endsAt: inDays(6) })
    const cart = await shop.cart([item(2)])
    expect(cart.items).toMatchObject([{ variantId, bookingSlotId: slotId, quantity: 2, totalCents: 2000 }])
    expect(made(await shop.post(`/carts/${cart.id}/items`, item())).items).toMatchObject([{ bookingSlotId: slotId, quantity: 3 }])
    expect(made(await shop.post(`/carts/${cart.id}/items`, item(1, other.id))).items).toMatchObject([
      { bookingSlotId: slotId, quantity: 3 },
      { bookingSlotId: other.id, quantity: 1 },
    ])
    expect(made(await shop.get(`/carts/${cart.id}`)).items).toHaveLength(2)
    expect(await slot()).toMatchObject({ bookedCount: 0, spotsRemaining: 10, status: 'published' })
  })

  test('names the field of a slot that is none of the store, or of another variant', async () => {
    const elsewhere = await newShop(app)
    const theirs = made(
      await elsewhere.post('/booking-slots', {
        ...{ productVariantId: await elsewhere.variant(), startsAt: inDays(3), endsAt: inDays(4), maxCapacity: 1, status: 'published' },
      }),
    )
    const { id } = await shop.cart()
    for (const bookingSlotId of [theirs.id, crypto.randomUUID()]) {
      expect(paths(await shop.post(`/carts/${id}/items`, { variantId, bookingSlotId }))).toEqual(['bookingSlotId'])
      expect(paths(await shop.post('/carts', { items: [{ variantId, bookingSlotId }] }))).toEqual(['items.0.bookingSlotId'])
    }
    expect(paths(await shop.post(`/carts/${id}/items`, { variantId: await shop.variant(), bookingSlotId: slotId }))).toEqual([
      'bookingSlotId',
    ])
    expect(paths(await shop.post(`/carts/${id}/items`, { variantId }))).toEqual(['bookingSlotId'])
    const bundleId = await shop.bundle([
      [variantId, 1],
      [await shop.variant(), 1],
    ])
    expect(paths(await shop.post(`/carts/${id}/items`, { bundleId, bookingSlotId: slotId }))).toEqual(['bookingSlotId'])
  })

  test.each([
    ['a draft', { status: 'draft' }],
    ['cancelled', { status: 'cancelled' }],
    ['completed', { status: 'completed' }],
    ['begun', { startsAt: '2020-01-01T00:00:00Z' }],
    ['of fewer places', { maxCapacity: 2 }],
  ])('is 409 for a slot that is %s, also when it becomes so with the slot in a cart', async (_, change) => {
    const { id } = await shop.cart([item(3)])
    made(await shop.patch(`/booking-slots/${slotId}`, change))
    const code = 'maxCapacity' in change ? 'slot_full' : 'slot_closed'
    expect(await shop.post('/carts', { items: [item(3)] })).toMatchObject({ status: 409, body: { code, bookingSlotId: slotId } })
    const { warnings } = made(await shop.get(`/carts/${id}`))
    expect(warnings).toMatchObject([{ code, bookingSlotId: slotId }])
    expect(await shop.checkOut(id)).toMatchObject({ status: 409, body: { code, bookingSlotId: slotId } })
    expect((await slot()).bookedCount).toBe(0)
  })

  test('is 409 while the tool is off, and for a slot that is gone', async () => {
    const { id } = await shop.cart([item()])
    await shop.settings({ tools: { bookings: false } })
    expect((await shop.checkOut(id)).status).toBe(409)
    await shop.settings({ tools: { bookings: true } })
    made(await shop.remove(`/booking-slots/${slotId}`))
    expect((await shop.checkOut(id)).status).toBe(409)
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ totalCents: 0, warnings: [{ code: 'slot_closed' }] })
  })
})

describe('an order', () => {
  test('takes places and nothing from the shelf, is not shipped, and tells of it', async () => {
    const order = await book(4)
    expect(order.lines).toMatchObject([{ variantId, bookingSlotId: slotId, quantity: 4, totalCents: 4000 }])
    expect(await slot()).toMatchObject({ bookedCount: 4, spotsRemaining: 6 })
    expect(await shop.stock(variantId)).toEqual({ quantity: 0, reserved: 0, available: 0 })
    const entry = {
      orderId: order.id,
      orderLookup: order.orderNumber,
      lineId: order.lines[0].id,
      status: 'paid',
      customer: { id: order.customer.id, email: 'ada@example.com' },
      quantity: 4,
      confirmed: true,
      createdAt: order.createdAt,
    }
    expect(await bookings()).toEqual({ data: [entry], meta: { count: 1, bookedCount: 4, maxCapacity: 10, offset: 0, limit: 1000 } })
    const about = { orderId: order.id, orderNumber: order.orderNumber, lineId: order.lines[0].id, bookingSlotId: slotId }
    expect(await told('booking.created')).toEqual([{ ...about, quantity: 4, confirmed: true }])
    expect(await shop.checkOut((await shop.cart([item(6)])).id)).toMatchObject({ status: 201 })
    expect(await slot()).toMatchObject({ status: 'full', spotsRemaining: 0 })
    expect(await shop.post('/carts', { items: [item()] })).toMatchObject({ status: 409, body: { bookingSlotId: slotId, available: 0 } })
  })

  test('is all or nothing: a slot that is full leaves the stock of the rest alone', async () => {
    const thing = await shop.variant()
    const { id } = await shop.cart([{ variantId: thing, quantity: 2 }, item(8)])
    await book(3)
    const before = await shop.traces()
    expect(await shop.checkOut(id)).toMatchObject({ status: 409, body: { error: 'sold out', bookingSlotId: slotId, available: 7 } })
    expect(await shop.traces()).toEqual(before)
  })

  test('of 40 buyers of one to three places at once never books more than ten', async () => {
    const carts = await Promise.all(Array.from({ length: 40 }, (_, i) => shop.cart([item(1 + (i % 3))])))
    const answers = await Promise.all(carts.map(({ id }, i) => shop.checkOut(id, { email: `b${i}@example.com` })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    const sold = answers.filter(({ status }) => status === 201).reduce((sum, { body }) => sum + body.order.lines[0].quantity, 0)
    const { bookedCount, spotsRemaining } = await slot()
    expect([bookedCount, spotsRemaining]).toEqual([sold, 10 - sold])
    // One place is always small enough for what is left.
    expect(sold).toBe(10)
    expect((await bookings()).data.reduce((sum: number, { quantity }: any) => sum + quantity, 0)).toBe(10)
  })

  test('keeps the capacity above what is booked, and the slot from being deleted', async () => {
    await book(4)
    expect(paths(await shop.patch(`/booking-slots/${slotId}`, { maxCapacity: 3 }))).toEqual(['maxCapacity'])
    expect(made(await shop.patch(`/booking-slots/${slotId}`, { maxCapacity: 4 })).status).toBe('full')
    expect(await shop.remove(`/booking-slots/${slotId}`)).toMatchObject({ status: 409, body: { bookedCount: 4 } })
    made(await shop.patch(`/booking-slots/${slotId}`, { status: 'cancelled' }))
    expect((await bookings()).meta).toMatchObject({ count: 1, bookedCount: 4 })
  })

  test('that is cancelled or refunded gives its places back, once', async () => {
    const [one, two] = [await book(2), await book(3)]
    made(await shop.post(`/orders/${one.id}/cancel`))
    expect((await slot()).bookedCount).toBe(3)
    const [{ id: lineId }] = two.lines
    made(await shop.post(`/orders/${two.id}/refunds`, { lines: [{ lineId, quantity: 1 }], restock: false }))
    expect(await bookings()).toMatchObject({ data: [{ quantity: 2 }], meta: { bookedCount: 2 } })
    made(await shop.patch(`/orders/${two.id}`, { status: 'completed' }))
    expect((await slot()).bookedCount).toBe(2)
    made(await shop.patch(`/orders/${two.id}`, { status: 'refunded' }))
    expect(await bookings()).toMatchObject({ data: [], meta: { count: 0, bookedCount: 0 } })
    expect((await told('booking.cancelled')).map(({ quantity }) => quantity)).toEqual([2, 1, 2])
    made(await shop.remove(`/booking-slots/${slotId}`))
    expect((await shop.order(two.id)).lines[0].bookingSlotId).toBe(slotId)
  })

  test('that nobody pays gives its places back when it lapses', async () => {
    await book(4, { paymentMethod: 'manual' })
    expect((await slot()).bookedCount).toBe(4)
    await shop.settings({ checkout: { unpaidHours: 1 } })
    app.clock.advance(2 * 3_600_000)
    await app.jobs.settle()
    expect((await slot()).bookedCount).toBe(0)
  })

  test('that is taken elsewhere can book, too', async () => {
    const record = (items: object[]) => shop.post('/orders', { customer: { email: 'ada@example.com' }, items, paid: true })
    const order = made(await record([item(2)]))
    expect(order.lines[0].bookingSlotId).toBe(slotId)
    expect((await slot()).bookedCount).toBe(2)
    expect(paths(await record([{ variantId }]))).toEqual(['items.0.bookingSlotId'])
    expect(await record([item(9)])).toMatchObject({ status: 409, body: { bookingSlotId: slotId } })
    expect(paths(await record([item(), { ...item(), unitPrice: 1 }]))).toEqual(['items.1.bookingSlotId'])
    expect(paths(await record([{ variantId: await shop.variant(), bookingSlotId: slotId }]))).toEqual(['items.0.bookingSlotId'])
    made(await shop.patch(`/booking-slots/${slotId}`, { status: 'draft' }))
    expect(await record([item()])).toMatchObject({ status: 409, body: { bookingSlotId: slotId } })
  })
})

describe('a store that looks at each booking', () => {
  const decide = (order: any, what: 'confirm' | 'decline', body?: object) =>
    shop.post(`/booking-slots/${slotId}/bookings/${order.id}/${what}`, body)

  test('confirms it; a slot of its own mind comes before the settings of the store', async () => {
    await shop.settings({ booking: { autoConfirm: false } })
    const order = await book()
    expect((await bookings()).data).toMatchObject([{ confirmed: false }])
    for (let round = 0; round < 2; round++)
      expect(made(await decide(order, 'confirm'))).toMatchObject({ orderId: order.id, confirmed: true })
    expect((await bookings()).data).toMatchObject([{ confirmed: true }])
    made(await shop.patch(`/booking-slots/${slotId}`, { settings: { autoConfirm: true } }))
    await book()
    expect((await bookings()).data).toMatchObject([{ confirmed: true }, { confirmed: true }])
    expect((await told('booking.created')).map(({ confirmed }) => confirmed)).toEqual([false, true])
  })

  test('declines it: the place and the money come back, once', async () => {
    const thing = await shop.variant()
    const order = await shop.buy({ items: [{ variantId: thing }, item(2)] })
    const line = order.lines.find((line: any) => line.bookingSlotId)
    expect(made(await decide(order, 'decline', { reason: 'ill' }))).toEqual({
      orderId: order.id,
      lineId: line.id,
      status: 'paid',
      refund: { id: expect.any(String), amountCents: 2000, currency: 'usd', status: 'succeeded' },
    })
    expect((await slot()).bookedCount).toBe(0)
    expect(await shop.order(order.id)).toMatchObject({ refundedCents: 2000, paymentStatus: 'partially_refunded' })
    for (const what of ['confirm', 'decline'] as const) expect((await decide(order, what)).status).toBe(404)
    expect(made(await shop.get(`/orders/${order.id}/refunds`)).data).toMatchObject([{ reason: 'ill', amountCents: 2000 }])
  })

  test('gives back what is left of what was paid, also of a deposit', async () => {
    const kind = await book(2)
    made(await shop.post(`/orders/${kind.id}/refunds`, { amountCents: 500 }))
    expect(made(await decide(kind, 'decline'))).toMatchObject({ status: 'refunded', refund: { amountCents: 1500 } })
    const deposit = await book(1, { paymentMethod: 'manual' })
    made(await shop.post(`/orders/${deposit.id}/payments`, { amountCents: 300, method: 'cash' }))
    expect(made(await decide(deposit, 'decline'))).toMatchObject({ status: 'cancelled', refund: { amountCents: 300, status: 'succeeded' } })
    expect(await shop.order(deposit.id)).toMatchObject({ paidCents: 300, refundedCents: 300 })
    expect((await slot()).bookedCount).toBe(0)
  })

  test('leaves alone what else is in the order, free or paid for', async () => {
    const other = await newSlot({ startsAt: inDays(5), endsAt: inDays(6) })
    const free = await shop.variant({ price: 0, stock: { quantity: 5 } })
    const order = await shop.buy({ items: [{ variantId: free }, item(1), item(2, other.id)] })
    made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 2000 }))
    expect(made(await decide(order, 'decline'))).toMatchObject({ status: 'paid', refund: { amountCents: 1000 } })
    expect([(await slot()).bookedCount, (await slot(other.id)).bookedCount, (await shop.stock(free)).reserved]).toEqual([0, 2, 1])
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'refunded', status: 'paid' })
  })

  test('declines what was not paid by cancelling the order, unless that holds other things', async () => {
    const order = await book(1, { paymentMethod: 'manual' })
    expect(made(await decide(order, 'decline'))).toMatchObject({ status: 'cancelled', refund: null })
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', cancelReason: 'the booking was declined' })
    const mixed = await shop.buy({ items: [{ variantId: await shop.variant() }, item()], paymentMethod: 'manual' })
    expect(await decide(mixed, 'decline')).toMatchObject({ status: 409, body: { orderId: mixed.id } })
    expect((await slot()).bookedCount).toBe(1)
  })

  test('frees the place of what came through Stripe at once, while the money is on its way', async () => {
    const { id } = await shop.cart([item(2)])
    const { order, payment } = made(await shop.checkOut(id, { paymentMethod: 'stripe' }))
    const intent = [...stripe.intents.values()].find(({ client_secret }) => client_secret === payment.clientSecret)!
    const { payload, signature } = stripe.event('payment_intent.succeeded', stripe.pay(intent.id))
    made(
      await app.send('POST', '/payments/stripe/webhook', undefined, {
        key: null,
        raw: payload,
        headers: { 'stripe-signature': signature },
      }),
    )
    stripe.refundsAre = 'pending'
    expect(made(await decide(order, 'decline')).refund).toMatchObject({ status: 'pending', amountCents: 2000 })
    expect((await slot()).bookedCount).toBe(0)
    await book(10)
    expect((await slot()).bookedCount).toBe(10)
  })

  test('knows no booking of another slot, order or store', async () => {
    const order = await book()
    const other = await newSlot({ startsAt: inDays(5), endsAt: inDays(6) })
    const elsewhere = await newShop(app)
    for (const what of ['confirm', 'decline']) {
      for (const path of [`${other.id}/bookings/${order.id}`, `${slotId}/bookings/${crypto.randomUUID()}`])
        expect((await shop.post(`/booking-slots/${path}/${what}`)).status).toBe(404)
      expect((await elsewhere.post(`/booking-slots/${slotId}/bookings/${order.id}/${what}`)).status).toBe(404)
      expect((await shop.post(`/booking-slots/${slotId}/bookings/${order.id}/${what}`, {}, { key: shop.keys.storefront })).status).toBe(403)
    }
    expect((await slot()).bookedCount).toBe(1)
  })
})

describe('a buyer', () => {
  const visitor = () => ({ key: shop.keys.storefront })

  test('cancels by the access code and the address, and has the money back', async () => {
    const order = await book(2)
    expect(made(await cancel(by(order, { email: ' ADA@example.com ' }), visitor()))).toEqual({
      orderId: order.id,
      lineId: order.lines[0].id,
      status: 'refunded',
      refund: { id: expect.any(String), amountCents: 2000, currency: 'usd', status: 'succeeded' },
    })
    expect((await slot()).bookedCount).toBe(0)
    expect((await cancel(by(order))).status).toBe(404)
    const unpaid = await book(1, { paymentMethod: 'manual' })
    expect(made(await cancel(by(unpaid), visitor()))).toMatchObject({ status: 'cancelled', refund: null })
  })

  test('gets the same 404 for all that is wrong, and 429 after too many', async () => {
    const order = await book()
    const plain = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    const elsewhere = await newShop(app)
    const wrong = [
      await cancel(by(order, { code: 'nothing' })),
      await cancel(by(order, { email: 'grace@example.com' })),
      await cancel(by(order, { lineId: plain.lines[0].id })),
      await cancel(by(plain)),
      await elsewhere.post('/bookings/cancel', by(order)),
    ]
    expect(wrong.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    expect(new Set(wrong.map(({ text }) => text)).size).toBe(1)
    expect((await slot()).bookedCount).toBe(1)
    for (const field of ['code', 'email', 'lineId']) expect(paths(await cancel(by(order, { [field]: undefined })))).toEqual([field])
  })

  test.each([
    ['the store', 24, {}],
    ['the slot', 70, { cancellationHours: 70 }],
    ['nobody', 0, { cancellationHours: 0 }],
  ])('can cancel as long before the slot as %s says', async (_, hours, settings) => {
    made(await shop.patch(`/booking-slots/${slotId}`, { settings }))
    const [late, early] = [await book(), await book()]
    const { startsAt } = await slot()
    const until = Date.parse(startsAt) - hours * 3_600_000
    app.clock.now = new Date(until + 1)
    expect(await cancel(by(late))).toMatchObject({ status: 409, body: { cancellableUntil: new Date(until).toISOString() } })
    app.clock.now = new Date(until)
    expect((await cancel(by(early))).status).toBe(200)
    expect((await slot()).bookedCount).toBe(1)
  })

  test('can cancel at any time what the store has called off', async () => {
    const order = await book()
    made(await shop.patch(`/booking-slots/${slotId}`, { status: 'cancelled' }))
    app.clock.now = new Date(Date.parse((await slot()).startsAt) - 1)
    expect(made(await cancel(by(order)))).toMatchObject({ status: 'refunded' })
  })
})

test('what is booked is not deleted with its product, though its order has shipped, until it is over', async () => {
  const order = await book()
  made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
  const { productId } = made(await shop.get(`/variants/${variantId}`))
  expect((await shop.remove(`/products/${productId}`)).status).toBe(409)
  expect(await shop.post(`/products/${productId}/variants`, { price: 1 })).toMatchObject({ status: 201 })
  expect((await shop.remove(`/variants/${variantId}`)).status).toBe(409)
  app.clock.now = new Date(inDays(4))
  made(await shop.remove(`/variants/${variantId}`))
})

test('after 20 wrong ones by a client, right and wrong are 429 alike', async () => {
  const limited = await testApp({ visitorRate: { perSecond: 1, burst: 60 } })
  try {
    const store = await newShop(limited)
    const bookable = await store.variant({ bookable: true })
    const { id: bookingSlotId } = made(
      await store.post('/booking-slots', {
        ...{ productVariantId: bookable, startsAt: inDays(3), endsAt: inDays(4), maxCapacity: 2, status: 'published' },
      }),
    )
    const order = await store.buy({ items: [{ variantId: bookable, bookingSlotId }] })
    const ask = async (client: string, body: object) =>
      (await store.post('/bookings/cancel', body, { headers: { 'x-client': client } })).status
    for (let n = 0; n < 20; n++) expect(await ask('guesser', by(order, { code: `unknown-${n}` }))).toBe(404)
    expect([await ask('guesser', by(order)), await ask('buyer', by(order))]).toEqual([429, 200])
  } finally {
    await limited.close()
  }
})
