import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { realClock } from '../../api/values/clock.ts'
import type { Provider } from '../../api/outside/payment-provider.ts'
import { stripeProvider } from '../../api/outside/stripe.ts'
import { createLog } from '../../api/server/log.ts'
import { sweep } from '../../api/maintenance.ts'
import { stripeDouble, type SignedEvent, type StripeDouble } from '../doubles/stripe.ts'
import { testApp, type Answer, type CallOptions, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let stripe: StripeDouble
let provider: Provider
let app: TestApp
let shop: Shop
/** Every answer of every test, for the last one. */
const said: string[] = []
const warned: object[] = []
beforeAll(async () => {
  stripe = stripeDouble()
  provider = stripeProvider({ secretKey: stripe.secretKey, webhookSecret: stripe.webhookSecret, apiBase: stripe.url })
  app = await testApp({
    payments: provider,
    log: { ...createLog('silent'), write: (level, message, fields) => warned.push({ level, message, ...fields }) },
  })
  const { fetch } = app.app
  app.app.fetch = async (request) => {
    const response = await fetch(request)
    said.push(JSON.stringify([...response.headers]) + (await response.clone().text()))
    return response
  }
})
beforeEach(async () => {
  shop = await newShop(app)
  stripe.reset()
})
afterEach(async () => {
  stripe.mood = 'well'
  await app.app.drain()
})
afterAll(async () => {
  await app.close()
  stripe.close()
})

/** All that follows the answers has run. */
const settled = () => app.app.drain()
const cartOf = async (variant: object = {}, quantity = 1) =>
  (await shop.cart([{ variantId: await shop.variant(variant), quantity }])).id as string
const buy = (cartId: string, body: object = {}, options?: CallOptions) =>
  shop.checkOut(cartId, { paymentMethod: 'stripe', ...body }, options)
const send = ({ payload, signature }: SignedEvent): Promise<Answer> =>
  app.send('POST', '/payments/stripe/webhook', undefined, { key: null, raw: payload, headers: { 'stripe-signature': signature } })
const requests = (path: RegExp) => stripe.seen.filter((seen) => path.test(`${seen.method} ${seen.path}`))
const intentOf = (answer: { body: any }) =>
  [...stripe.intents.values()].find((intent) => intent.client_secret === answer.body.payment.clientSecret)!
/** An order, and the intent that its buyer has confirmed. */
async function paid(quantity = 1, variantId?: string) {
  const { id } = await shop.cart([{ variantId: variantId ?? (await shop.variant()), quantity }])
  const answer = await buy(id)
  const intent = stripe.pay(intentOf(answer).id)
  made(await send(stripe.event('payment_intent.succeeded', intent)))
  return { order: await shop.order(answer.body.order.id), intent }
}
const lastRefund = () => [...stripe.refunds.keys()].at(-1)!
const refund = (id: string, body: unknown) => shop.post(`/orders/${id}/refunds`, body)
const refundOf = async (id: string) => made(await shop.get(`/orders/${id}/refunds`)).data[0]

describe('a checkout with stripe', () => {
  test('makes a PaymentIntent, and answers with its client secret and a pending order', async () => {
    const variantId = await shop.variant({ price: 12.34 })
    const { id } = await shop.cart([{ variantId, quantity: 2 }])
    const answer = await buy(id, { email: 'Ada@Example.com' })
    expect(answer.status).toBe(201)
    const { order, payment } = answer.body
    expect(order).toMatchObject({ status: 'pending', paymentStatus: 'unpaid', totalCents: 2468, paidCents: 0 })
    const intent = intentOf(answer)
    expect(payment).toEqual({
      id: expect.any(String),
      orderId: order.id,
      method: 'stripe',
      status: 'pending',
      amountCents: 2468,
      currency: 'usd',
      reference: null,
      clientSecret: intent.client_secret,
      createdAt: expect.any(String),
    })
    expect(intent).toMatchObject({
      amount: 2468,
      currency: 'usd',
      receipt_email: 'ada@example.com',
      status: 'requires_payment_method',
      metadata: { storeId: shop.store.id, environment: 'live', orderId: order.id },
    })
    expect(requests(/payment_intents$/)).toMatchObject([{ idempotencyKey: expect.any(String) }])
    expect(await shop.stock(variantId)).toMatchObject({ reserved: 2 })
    expect((await shop.get(`/carts/${id}`)).body.orderId).toBe(order.id)
  })

  test("has amounts in Stripe's minor units of the currency", async () => {
    for (const [currency, price, amount] of [
      ['jpy', 1500, 1500],
      ['kwd', 1.23, 1230],
      ['isk', 5000, 500_000],
      ['ugx', 20_000, 2_000_000],
      ['mga', 4500, 4500],
    ] as const) {
      shop = await newShop(app, { currency })
      const answer = await buy(await cartOf({ price }))
      expect(intentOf(answer)).toMatchObject({ amount, currency })
      made(await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))))
      const order = await shop.order(answer.body.order.id)
      expect(order).toMatchObject({ status: 'paid', paidCents: order.totalCents, paymentIssue: null })
      made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))
      await settled()
      expect(stripe.refunds.get(lastRefund())).toMatchObject({ amount, currency, status: 'succeeded' })
      expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', refundedCents: order.totalCents })
    }
  })

  test.each([
    ['kwd', 1.234, 'KWD in steps of 0.010'],
    ['mga', 10.5, 'MGA in steps of 1'],
    ['iqd', 1000, 'stripe takes no IQD'],
  ])('of an amount of %s that Stripe can not carry is 400 by field, and nothing is stored or asked', async (currency, price, message) => {
    shop = await newShop(app, { currency })
    const id = await cartOf({ price })
    const before = await shop.traces()
    const answer = await buy(id)
    expect(paths(answer)).toEqual(['paymentMethod'])
    expect(answer.body.error).toContain(message)
    expect([await shop.traces(), stripe.seen]).toEqual([before, []])
    expect((await shop.checkOut(id, { paymentMethod: 'manual' })).status).toBe(201)
  })

  test('of what costs nothing needs no intent', async () => {
    await shop.coupon({ code: 'FREE', value: 100 })
    const id = await cartOf()
    await shop.post(`/carts/${id}/coupons`, { code: 'FREE' })
    expect((await buy(id)).body).toMatchObject({ order: { status: 'paid', totalCents: 0 }, payment: { status: 'succeeded' } })
    expect(stripe.seen).toEqual([])
  })

  test('that is refused makes no intent', async () => {
    const before = await shop.traces()
    expect((await buy((await shop.cart()).id)).status).toBe(400)
    expect(paths(await buy(await cartOf(), { email: null }))).toEqual(['email'])
    expect(paths(await buy(await cartOf({ shippable: true })))).toEqual(['shippingMethodId'])
    expect((await buy(await cartOf(), { expectedTotalCents: 1 })).body.code).toBe('price_changed')
    expect(stripe.seen).toEqual([])
    expect({ ...(await shop.traces()), events: 0, movements: 0 }).toEqual({ ...before, events: 0, movements: 0 })
  })

  test('is 400 where stripe is not configured', async () => {
    const plain = await testApp()
    const other = await newShop(plain)
    const { id } = await other.cart([{ variantId: await other.variant() }])
    expect(paths(await other.checkOut(id, { paymentMethod: 'stripe' }))).toEqual(['paymentMethod'])
    expect((await plain.send('POST', '/payments/stripe/webhook', {}, { key: null })).status).toBe(404)
    await plain.close()
  })

  test('when the price changes between intent and order: 409, both totals, and the intent is cancelled', async () => {
    const variantId = await shop.variant({ price: 10 })
    const { id } = await shop.cart([{ variantId }])
    stripe.meanwhile = async ({ path }) => (path.endsWith('payment_intents') ? shop.patch(`/variants/${variantId}`, { price: 12 }) : null)
    const { status, body } = await buy(id)
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({ error: expect.any(String), code: 'price_changed', expectedTotalCents: 1000, totalCents: 1200 }),
    ])
    await settled()
    expect(requests(/cancel$/)).toHaveLength(1)
    expect([...stripe.intents.values()].at(-1)!.status).toBe('canceled')
    expect(await shop.traces()).toMatchObject({ orders: 0, payments: 0, customers: 0, reserved: 0, number: 0 })
    stripe.meanwhile = null
    expect((await buy(id, { expectedTotalCents: 1200 })).status).toBe(201)
  })

  test('when somebody else buys the last one meanwhile: 409, and the intent is cancelled', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const [slow, fast] = [await shop.cart([{ variantId }]), await shop.cart([{ variantId }])]
    stripe.meanwhile = async ({ path }) => (path.endsWith('payment_intents') ? shop.checkOut(fast.id) : null)
    expect((await buy(slow.id)).status).toBe(409)
    await settled()
    expect([...stripe.intents.values()].at(-1)!.status).toBe('canceled')
    expect(await shop.traces()).toMatchObject({ orders: 1, reserved: 1 })
  })

  test('of 5 at once of one cart one becomes the order, and the intents of the others are cancelled', async () => {
    const id = await cartOf()
    const answers = await Promise.all(Array.from({ length: 5 }, () => buy(id)))
    const won = answers.filter(({ status }) => status === 201)
    expect(won).toHaveLength(1)
    for (const { status, body } of answers) if (status !== 201) expect([status, body.orderId]).toEqual([409, won[0]!.body.order.id])
    await settled()
    const statuses = requests(/POST .*payment_intents$/).length - requests(/cancel$/).length
    expect([statuses, intentOf(won[0]!).status]).toEqual([1, 'requires_payment_method'])
  })

  test('the same Idempotency-Key gives the first answer again, and no second payment', async () => {
    const [id, headers] = [await cartOf(), { 'idempotency-key': 'once' }]
    const first = await buy(id, {}, { headers })
    const again = await buy(id, {}, { headers })
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true'])
    expect((await buy(id, { note: 'other' }, { headers })).status).toBe(422)
    await settled()
    expect([requests(/payment_intents$/).length, requests(/cancel$/).length]).toEqual([1, 0])
  })

  test('of 5 at once with one Idempotency-Key there is one answer, and one intent that can be paid', async () => {
    const [id, headers] = [await cartOf(), { 'idempotency-key': 'once' }]
    const answers = await Promise.all(Array.from({ length: 5 }, () => buy(id, {}, { headers })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    await settled()
    expect(
      [...stripe.intents.values()].filter((intent) => intent.metadata.storeId === shop.store.id && intent.status !== 'canceled'),
    ).toEqual([intentOf(answers[0]!)])
  })

  test('a refusal is remembered with its Idempotency-Key, an unreachable provider is not', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const [{ id }, headers] = [await shop.cart([{ variantId }]), { 'idempotency-key': 'once' }]
    await shop.patch(`/inventory/${variantId}`, { quantity: 0 })
    expect((await buy(id, {}, { headers })).status).toBe(409)
    await shop.patch(`/inventory/${variantId}`, { quantity: 1 })
    expect((await buy(id, {}, { headers })).headers.get('idempotent-replayed')).toBe('true')
    stripe.mood = 'down'
    const other = { 'idempotency-key': 'twice' }
    expect((await buy(id, {}, { headers: other })).status).toBe(502)
    stripe.mood = 'well'
    expect((await buy(id, {}, { headers: other })).status).toBe(201)
  })

  test('when the cart comes to the same in another currency meanwhile: 409', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const { id } = await shop.cart([{ variantId: await shop.variant({ price: 10, prices: { eur: 10 } }) }])
    stripe.meanwhile = async ({ path }) => (path.endsWith('payment_intents') ? shop.patch(`/carts/${id}`, { currency: 'eur' }) : null)
    expect((await buy(id)).body.code).toBe('price_changed')
    stripe.meanwhile = null
    expect(intentOf(await buy(id))).toMatchObject({ amount: 1000, currency: 'eur' })
  })

  test('when the provider is down: 502, nothing is taken, and the cart can be bought otherwise', async () => {
    await shop.coupon({ code: 'ONCE', maxUses: 1 })
    const id = await cartOf({ stock: { quantity: 1 } })
    await shop.post(`/carts/${id}/coupons`, { code: 'ONCE' })
    const before = [await shop.traces(), (await shop.get(`/carts/${id}`)).body]
    stripe.mood = 'down'
    const { status, body } = await buy(id)
    expect([status, body.error]).toEqual([502, expect.any(String)])
    expect([await shop.traces(), (await shop.get(`/carts/${id}`)).body]).toEqual(before)
    expect((await shop.checkOut(id, { paymentMethod: 'manual' })).status).toBe(201)
  })

  test('when the provider refuses the amount: 502, with its code and without its words', async () => {
    const { status, body, text } = await buy(await cartOf({ price: 0.01 }))
    expect([status, body.code]).toEqual([502, 'amount_too_small'])
    expect(text).not.toContain('$0.50')
  })

  test('while the provider hangs, other writes keep flowing', async () => {
    const [slow, variantId] = [await cartOf(), await shop.variant()]
    stripe.mood = 'hanging'
    let answered = false
    const waiting = buy(slow).finally(() => {
      answered = true
    })
    while (!requests(/payment_intents$/).length) await Bun.sleep(1)
    for (let i = 0; i < 10; i++) await shop.buy({ items: [{ variantId }] })
    expect(answered).toBe(false)
    stripe.mood = 'well'
    expect((await waiting).status).toBe(201)
  })

  test('in the sandbox takes test keys of the provider alone, and its webhook pays there', async () => {
    const key = shop.keys.staging
    const variantId = made(
      await shop.post(
        '/products',
        { name: 'Sandbox', status: 'published', variants: [{ price: 1, shippable: false, stock: { quantity: 1 } }] },
        { key },
      ),
    ).variants[0].id
    const cart = made(await shop.post('/carts', { items: [{ variantId }] }, { key }))
    const answer = await buy(cart.id, {}, { key })
    expect(intentOf(answer).metadata.environment).toBe('sandbox')
    made(await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))))
    expect((await shop.get(`/orders/${answer.body.order.id}`, { key })).body.status).toBe('paid')
    const live = await testApp({ payments: stripeProvider({ secretKey: 'sk_live_x', webhookSecret: null, apiBase: stripe.url }) })
    const other = await newShop(live)
    const product = made(
      await other.post(
        '/products',
        { name: 'x', status: 'published', variants: [{ price: 1, shippable: false, stock: { quantity: 1 } }] },
        { key: other.keys.staging },
      ),
    ).variants[0].id
    const basket = made(await other.post('/carts', { items: [{ variantId: product }] }, { key: other.keys.staging }))
    expect(paths(await other.checkOut(basket.id, { paymentMethod: 'stripe' }, { key: other.keys.staging }))).toEqual(['paymentMethod'])
    await live.close()
  })
})

describe('POST /payments/stripe/webhook', () => {
  test('payment_intent.succeeded pays the order', async () => {
    const answer = await buy(await cartOf())
    const { status, body } = await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id)))
    expect([status, body]).toEqual([200, { received: true }])
    expect(await shop.order(answer.body.order.id)).toMatchObject({
      status: 'paid',
      paymentStatus: 'paid',
      paidCents: 1000,
      paidAt: expect.any(String),
    })
    expect(await shop.events()).toEqual(['customer.created', 'order.created', 'order.paid'])
  })

  test('each event id takes effect once, sent 10 times in parallel', async () => {
    const answer = await buy(await cartOf())
    const event = stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(event)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect((await shop.order(answer.body.order.id)).paidCents).toBe(1000)
    expect((await shop.events()).filter((name) => name === 'order.paid')).toHaveLength(1)
  })

  test('a payment takes effect once, told by several events', async () => {
    const answer = await buy(await cartOf())
    const intent = stripe.pay(intentOf(answer).id)
    await Promise.all(Array.from({ length: 5 }, () => send(stripe.event('payment_intent.succeeded', intent))))
    expect((await shop.order(answer.body.order.id)).paidCents).toBe(1000)
    expect((await shop.events()).filter((name) => name === 'order.paid')).toHaveLength(1)
  })

  test('an event of more than 64 KB is 413, whoever signed it', async () => {
    const answer = await send({ id: 'evt_large', payload: 'x'.repeat(65_537), signature: '' })
    expect([answer.status, answer.body.error]).toEqual([413, 'the body is larger than 65536 bytes'])
  })

  test('a signature that does not match is 400, and changes nothing', async () => {
    const answer = await buy(await cartOf())
    const intent = stripe.pay(intentOf(answer).id)
    const { payload, signature } = stripe.event('payment_intent.succeeded', intent)
    const now = Math.floor(Date.now() / 1000)
    for (const wrong of [
      { payload, signature: '' },
      { payload, signature: 't=1,v1=00' },
      { payload, signature: signature.replace(/t=\d+/, 't=1') },
      { payload: payload.replace('"amount": 1000', '"amount": 1'), signature },
      stripe.event('payment_intent.succeeded', intent, { secret: 'whsec_other' }),
      stripe.event('payment_intent.succeeded', intent, { at: now - 3600 }),
      { payload: '', signature },
      { payload: 'no json', signature },
    ])
      expect((await send({ id: '', ...wrong })).status).toBe(400)
    expect((await app.send('POST', '/payments/stripe/webhook', undefined, { key: null, raw: payload })).status).toBe(400)
    expect((await shop.order(answer.body.order.id)).status).toBe('pending')
    // The same event, well signed, is still taken.
    made(await send({ id: '', payload, signature }))
    expect((await shop.order(answer.body.order.id)).status).toBe('paid')
  })

  test('needs no key, and a key changes nothing', async () => {
    const { payload, signature } = stripe.event('customer.created', { id: 'cus_1', object: 'customer' })
    expect(
      (
        await app.send('POST', '/payments/stripe/webhook', undefined, {
          key: shop.keys.admin,
          raw: payload,
          headers: { 'stripe-signature': signature },
        })
      ).status,
    ).toBe(200)
    expect((await app.send('GET', '/payments/stripe/webhook', undefined, { key: shop.keys.admin })).status).toBe(405)
  })

  test.each([
    ['of a store that is not here', { metadata: { storeId: '01985d2c-7c00-7a31-8c4e-0242ac120002', environment: 'live' } }],
    ['of no store', { metadata: {} }],
    ['without metadata', {}],
    ['with strange metadata', { metadata: { storeId: '../../control', environment: 'live' } }],
    ['of a strange environment', { metadata: { storeId: '01985d2c-7c00-7a31-8c4e-0242ac120002', environment: 'moon' } }],
  ])('an event %s is taken and ignored', async (_, object) => {
    expect(
      (await send(stripe.event('payment_intent.succeeded', { id: 'pi_x', object: 'payment_intent', amount: 1, ...object }))).body,
    ).toEqual({ received: true })
  })

  test('an event about an intent that the store does not know, or of another kind, changes nothing', async () => {
    const before = await shop.traces()
    const metadata = { storeId: shop.store.id, environment: 'live', orderId: 'x', refundId: 'x' }
    for (const [type, object] of [
      ['payment_intent.succeeded', { id: 'pi_unknown' }],
      ['payment_intent.payment_failed', { id: 'pi_unknown' }],
      ['refund.updated', { id: 're_unknown', status: 'succeeded' }],
      ['charge.refunded', { id: 'ch_1' }],
      ['made.up', { id: 'x' }],
    ] as const) {
      expect((await send(stripe.event(type, { ...object, metadata }))).status).toBe(200)
    }
    expect(await shop.traces()).toEqual(before)
  })

  test("an event that names another store can not pay this one's order", async () => {
    const answer = await buy(await cartOf())
    const other = await newShop(app)
    made(
      await send(
        stripe.event('payment_intent.succeeded', {
          ...stripe.pay(intentOf(answer).id),
          metadata: { storeId: other.store.id, environment: 'live' },
        }),
      ),
    )
    expect((await shop.order(answer.body.order.id)).status).toBe('pending')
  })

  test.each([
    ['less', { amount_received: 999 }],
    ['more', { amount_received: 1001 }],
    ['nothing', { amount_received: 0 }],
    ['another currency', { currency: 'eur' }],
    ['what an older release asked for', { amount: 10, amount_received: 10 }],
  ])('%s than the order asks for does not pay it: the order says so, and so does the log', async (_, wrong) => {
    const answer = await buy(await cartOf())
    const { id: reference } = intentOf(answer)
    const intent: Record<string, unknown> = { ...stripe.pay(reference), ...wrong }
    warned.length = 0
    const told = stripe.event('payment_intent.succeeded', intent)
    for (let i = 0; i < 2; i++) made(await send(told))
    const order = await shop.order(answer.body.order.id)
    expect(order).toMatchObject({ status: 'pending', paymentStatus: 'unpaid', paidCents: 0, paidAt: null })
    expect(order.paymentIssue).toEqual({ code: 'amount_mismatch', message: expect.any(String), reference, at: expect.any(String) })
    expect(order.paymentIssue.message).toContain(`${intent.amount_received} ${intent.currency}`)
    expect(warned).toMatchObject([
      { level: 'warn', message: order.paymentIssue.message, orderId: order.id, storeId: shop.store.id, reference },
    ])
    expect((await shop.get(`/orders/${order.id}`, { key: shop.keys.storefront })).body.paymentIssue).toBe(null)
    expect(await shop.events()).not.toContain('order.paid')
    // What the merchant decides: to take it, or not.
    made(await shop.patch(`/orders/${order.id}`, { status: 'paid' }))
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paidCents: 1000, paymentIssue: { reference } })
  })

  test('a failed attempt leaves the order pending: the buyer may try again', async () => {
    const answer = await buy(await cartOf())
    made(await send(stripe.event('payment_intent.payment_failed', { ...intentOf(answer), last_payment_error: { code: 'card_declined' } })))
    expect((await shop.order(answer.body.order.id)).status).toBe('pending')
    made(await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))))
    expect((await shop.order(answer.body.order.id)).status).toBe('paid')
  })
})

describe('refunds through stripe', () => {
  test('are pending, then succeed: the order follows', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const { order, intent } = await paid(2, variantId)
    const { status, body } = await refund(order.id, { amountCents: 500, reason: 'late' })
    expect([status, body.status, body.amountCents]).toEqual([201, 'pending', 500])
    await settled()
    expect(await refundOf(order.id)).toMatchObject({ id: body.id, status: 'succeeded' })
    expect(requests(/refunds$/)).toMatchObject([
      {
        form: { payment_intent: intent.id, amount: '500', 'metadata[refundId]': body.id, 'metadata[storeId]': shop.store.id },
        idempotencyKey: body.id,
      },
    ])
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'partially_refunded', refundedCents: 500 })
    await refund(order.id, { amountCents: 1500 })
    await settled()
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', paymentStatus: 'refunded', refundedCents: 2000 })
    expect(await shop.stock(variantId)).toEqual({ quantity: 5, reserved: 0, available: 5 })
  })

  test('that stay pending succeed by the webhook, once', async () => {
    stripe.refundsAre = 'pending'
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const { order } = await paid(2, variantId)
    await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })
    await settled()
    expect(await refundOf(order.id)).toMatchObject({ status: 'pending' })
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'paid', refundedCents: 1000 })
    expect(await shop.stock(variantId)).toMatchObject({ reserved: 2 })
    const told = stripe.event('refund.updated', stripe.settle(lastRefund(), 'succeeded'))
    await Promise.all(Array.from({ length: 10 }, () => send(told)))
    await send(stripe.event('refund.updated', stripe.settle(lastRefund(), 'succeeded')))
    expect(await refundOf(order.id)).toMatchObject({ status: 'succeeded' })
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'partially_refunded', refundedCents: 1000 })
    expect(await shop.stock(variantId)).toMatchObject({ reserved: 1 })
    expect((await shop.events()).filter((name) => name === 'order.refunded')).toHaveLength(1)
  })

  test.each([
    [
      'at once',
      async () => {
        stripe.refundsAre = 'failed'
      },
    ],
    [
      'by the webhook',
      async () => {
        stripe.refundsAre = 'pending'
      },
    ],
  ])('that fail %s: the amount and the units are free again', async (how, given) => {
    await given()
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const { order } = await paid(2, variantId)
    const lines = [{ lineId: order.lines[0].id, quantity: 2 }]
    await refund(order.id, { lines })
    expect((await refund(order.id, { amountCents: 1 })).status).toBe(409)
    await settled()
    if (how === 'by the webhook') made(await send(stripe.event('refund.failed', stripe.settle(lastRefund(), 'failed'))))
    expect(await refundOf(order.id)).toMatchObject({ status: 'failed' })
    expect(await shop.order(order.id)).toMatchObject({
      status: 'paid',
      paymentStatus: 'paid',
      refundedCents: 0,
      lines: [{ refundedQuantity: 0 }],
    })
    expect(await shop.stock(variantId)).toEqual({ quantity: 5, reserved: 2, available: 3 })
    stripe.refundsAre = 'succeeded'
    made(await refund(order.id, { lines }))
    await settled()
    expect((await shop.order(order.id)).status).toBe('refunded')
  })

  test.each([
    ['refund.failed', 'failed'],
    ['refund.updated', 'failed'],
    ['charge.refund.updated', 'failed'],
    ['refund.updated', 'canceled'],
  ] as const)('that the bank sends back later (%s, %s) give the amount back, once, and no goods', async (type, status) => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const { order } = await paid(2, variantId)
    made(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
    await settled()
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'partially_refunded', refundedCents: 1000 })
    warned.length = 0
    const told = stripe.event(type, stripe.settle(lastRefund(), status))
    await Promise.all(Array.from({ length: 5 }, () => send(told)))
    made(await send(stripe.event('refund.updated', stripe.settle(lastRefund(), status))))
    expect(await refundOf(order.id)).toMatchObject({ status: 'failed' })
    const after = await shop.order(order.id)
    expect(after).toMatchObject({ status: 'paid', paymentStatus: 'paid', refundedCents: 0, lines: [{ refundedQuantity: 1 }] })
    expect(after.paymentIssue).toMatchObject({ code: 'refund_failed', reference: lastRefund() })
    expect(warned).toMatchObject([{ orderId: order.id, reference: lastRefund() }])
    expect(await shop.stock(variantId)).toEqual({ quantity: 5, reserved: 1, available: 4 })
    // A success that is told late is older than the failure.
    made(await send(stripe.event('refund.created', stripe.settle(lastRefund(), 'succeeded'))))
    expect(await shop.order(order.id)).toMatchObject({ refundedCents: 0 })
    expect(made(await refund(order.id, { amountCents: 2000 })).status).toBe('pending')
  })

  test('that were the whole order and are sent back leave it refunded, its money to be refunded again, its goods once', async () => {
    const [variantId, coupon] = [await shop.variant({ stock: { quantity: 5 } }), await shop.coupon({ code: 'HALF', value: 50 })]
    const { id } = await shop.cart([{ variantId, quantity: 2 }])
    made(await shop.post(`/carts/${id}/coupons`, { code: 'HALF' }))
    const answer = await buy(id)
    const orderId = answer.body.order.id
    made(await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))))
    for (let round = 0; round < 2; round++) {
      made(await refund(orderId, { amountCents: 1000 }))
      await settled()
      expect(await shop.order(orderId)).toMatchObject({ status: 'refunded', paymentStatus: 'refunded', refundedCents: 1000 })
      expect(await shop.stock(variantId)).toEqual({ quantity: 5, reserved: 0, available: 5 })
      expect(made(await shop.get(`/coupons/${coupon.id}`)).timesRedeemed).toBe(0)
      if (round) break
      made(await send(stripe.event('refund.failed', stripe.settle(lastRefund(), 'failed'))))
      expect(await shop.order(orderId)).toMatchObject({ status: 'refunded', paymentStatus: 'paid', refundedCents: 0, paidCents: 1000 })
    }
  })

  test('that are sent back after another has gone through leave that one', async () => {
    const { order } = await paid(2)
    const ids = []
    for (const amountCents of [500, 700]) {
      made(await refund(order.id, { amountCents }))
      await settled()
      ids.push(lastRefund())
    }
    made(await send(stripe.event('refund.failed', stripe.settle(ids[0]!, 'failed'))))
    expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'partially_refunded', refundedCents: 700 })
    expect((await refund(order.id, { amountCents: 1301 })).body).toMatchObject({ refundableCents: 1300 })
  })

  test('that are sent back give the points again that the order had earned', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 1 }))
    const { order } = await paid(2)
    const balance = async () => made(await shop.get(`/loyalty/members/${order.customer.id}`)).balance
    expect(await balance()).toBe(20)
    made(await refund(order.id, { amountCents: 1000 }))
    await settled()
    expect(await balance()).toBe(10)
    made(await send(stripe.event('refund.failed', stripe.settle(lastRefund(), 'failed'))))
    expect(await balance()).toBe(20)
  })

  test('make an order refunded when the last one has gone through, whichever that is', async () => {
    stripe.refundsAre = 'pending'
    for (const last of ['succeeded', 'failed'] as const) {
      const variantId = await shop.variant({ stock: { quantity: 5 } })
      const { order } = await paid(2, variantId)
      const ids = []
      for (const body of [{ lines: [{ lineId: order.lines[0].id, quantity: 1 }] }, { amountCents: 1000 }]) {
        made(await refund(order.id, body))
        await settled()
        ids.push(lastRefund())
      }
      made(await send(stripe.event('refund.updated', stripe.settle(ids[1]!, 'succeeded'))))
      expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paymentStatus: 'partially_refunded' })
      expect(await shop.stock(variantId)).toMatchObject({ quantity: 5, reserved: 2 })
      made(await send(stripe.event('refund.updated', stripe.settle(ids[0]!, last))))
      expect(await shop.order(order.id)).toMatchObject(
        last === 'succeeded'
          ? { status: 'refunded', paymentStatus: 'refunded', refundedCents: 2000 }
          : { status: 'paid', paymentStatus: 'partially_refunded', refundedCents: 1000 },
      )
      expect(await shop.stock(variantId)).toMatchObject({ quantity: 5, reserved: last === 'succeeded' ? 0 : 2 })
    }
  })

  test('that the provider refuses have failed', async () => {
    const { order, intent } = await paid()
    // Somebody has refunded it on the provider's own pages.
    stripe.intents.get(intent.id)!.amount_received = 0
    made(await refund(order.id, { amountCents: 1000 }))
    await settled()
    expect(await refundOf(order.id)).toMatchObject({ status: 'failed' })
    expect((await shop.order(order.id)).refundedCents).toBe(0)
  })

  test('are never over what was paid, while others are pending', async () => {
    stripe.refundsAre = 'pending'
    const { order } = await paid()
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(order.id, { amountCents: 600 })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    await settled()
    expect(requests(/refunds$/)).toHaveLength(1)
  })

  test('while the provider is down stay pending, and are asked for again', async () => {
    const { order } = await paid()
    stripe.mood = 'down'
    made(await refund(order.id, { amountCents: 400 }))
    await settled()
    expect(await refundOf(order.id)).toMatchObject({ status: 'pending' })
    stripe.mood = 'well'
    await sweepLater()
    expect(await refundOf(order.id)).toMatchObject({ status: 'succeeded' })
    expect([...stripe.refunds.values()].filter((made) => made.metadata.storeId === shop.store.id)).toHaveLength(1)
  })

  test('whose answer was lost are found again, though the provider has forgotten its keys: none is made twice', async () => {
    const { order } = await paid(2)
    // More of them than a page of the provider's list, the lost one behind them.
    made(await refund(order.id, { amountCents: 400 }))
    await settled()
    const lost = made(await refund(order.id, { amountCents: 300 }))
    await settled()
    const theirs = stripe.refunds.get(lastRefund())!
    for (let i = 0; i < 120; i++) stripe.refunds.set(`re_dashboard${i}`, { ...theirs, id: `re_dashboard${i}`, amount: 1, metadata: {} })
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        await tx.run(sql`update refunds set status = 'pending', provider_id = null where id = ${lost.id}`)
      }),
    )
    stripe.forgetKeys()
    stripe.seen.length = 0
    await sweepLater()
    expect(requests(/POST .*refunds$/)).toEqual([])
    expect(await refundOf(order.id)).toMatchObject({ id: lost.id, status: 'succeeded' })
  })

  test('that a bank takes days over are made once, though the provider forgets its keys after one', async () => {
    stripe.refundsAre = 'pending'
    const { order } = await paid()
    made(await refund(order.id, { amountCents: 400 }))
    await settled()
    stripe.forgetKeys()
    await sweepLater()
    expect(requests(/POST .*refunds$/)).toHaveLength(1)
    expect(await refundOf(order.id)).toMatchObject({ status: 'pending' })
    stripe.settle(lastRefund(), 'succeeded')
    await sweepLater()
    expect(await refundOf(order.id)).toMatchObject({ status: 'succeeded' })
    expect(requests(/POST .*refunds$/)).toHaveLength(1)
  })

  test('while the provider hangs, other writes keep flowing', async () => {
    const { order } = await paid()
    stripe.mood = 'hanging'
    made(await refund(order.id, { amountCents: 400 }))
    const variantId = await shop.variant()
    for (let i = 0; i < 5; i++) await shop.buy({ items: [{ variantId }] })
    stripe.mood = 'well'
    await settled()
    expect(await refundOf(order.id)).toMatchObject({ status: 'succeeded' })
  })

  test('of an order that was paid in part by hand go back the way the money came', async () => {
    const answer = await buy(await cartOf())
    const orderId = answer.body.order.id
    made(await shop.post(`/orders/${orderId}/payments`, { amountCents: 300, method: 'cash' }))
    made(await send(stripe.event('payment_intent.succeeded', stripe.pay(intentOf(answer).id))))
    expect((await shop.order(orderId)).paidCents).toBe(1300)
    expect((await refund(orderId, { amountCents: 1200 })).body).toMatchObject({
      error: expect.stringContaining('came through'),
      refundableCents: 1000,
    })
    expect(made(await refund(orderId, { amountCents: 1000 })).status).toBe('pending')
    await settled()
    expect(made(await refund(orderId, { amountCents: 300 })).status).toBe('succeeded')
    expect(await shop.order(orderId)).toMatchObject({ status: 'refunded', refundedCents: 1300 })
    expect(requests(/refunds$/)).toHaveLength(1)
  })

  test('PATCH to refunded goes the same way', async () => {
    const { order } = await paid()
    made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))
    await settled()
    expect(await shop.order(order.id)).toMatchObject({ status: 'refunded', paymentStatus: 'refunded' })
  })
})

/** The sweep that comes round every some minutes. */
const sweepLater = () =>
  app.handles.use(shop.store.id, 'live', (store) =>
    sweep(store, { storeId: shop.store.id, environment: 'live' }, provider, {
      ...realClock,
      now: () => new Date(Date.now() + 3_600_000),
    }),
  )

test.each([
  ['by amount', { amountCents: 1235 }, 400],
  ['by lines', null, 409],
])('a refund %s that Stripe can not carry is refused before anything is stored', async (_, body, status) => {
  shop = await newShop(app, { currency: 'kwd' })
  const variantId = await shop.variant({ price: 1.235 })
  const { order } = await paid(2, variantId)
  const answer = await refund(order.id, body ?? { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining('KWD in steps of 0.010')])
  expect(await shop.order(order.id)).toEqual(order)
  expect((await shop.get(`/orders/${order.id}/refunds`)).body.data).toEqual([])
  made(await refund(order.id, { lines: [{ lineId: order.lines[0].id, quantity: 2 }] }))
  await settled()
  expect((await shop.order(order.id)).status).toBe('refunded')
})

describe('an order that is not paid', () => {
  test.each([
    ['POST …/cancel', (id: string) => shop.post(`/orders/${id}/cancel`)],
    ['PATCH', (id: string) => shop.patch(`/orders/${id}`, { status: 'cancelled' })],
  ])('cancelled by %s gives its intent up', async (_, cancel) => {
    const answer = await buy(await cartOf())
    made(await cancel(answer.body.order.id))
    await settled()
    expect(intentOf(answer).status).toBe('canceled')
    expect(requests(/cancel$/)).toHaveLength(1)
    made(await send(stripe.event('payment_intent.canceled', intentOf(answer))))
    expect((await shop.order(answer.body.order.id)).status).toBe('cancelled')
  })

  test.each([
    ['POST …/payments', (id: string) => shop.post(`/orders/${id}/payments`, { amountCents: 1000, method: 'cash' })],
    ['PATCH', (id: string) => shop.patch(`/orders/${id}`, { status: 'paid' })],
  ])('and is paid otherwise, by %s, gives its intent up: nobody pays twice', async (way, pay) => {
    const answer = await buy(await cartOf())
    if (way !== 'PATCH') {
      await shop.post(`/orders/${answer.body.order.id}/payments`, { amountCents: 1, method: 'cash' })
      await settled()
      expect(intentOf(answer).status).toBe('requires_payment_method')
      made(await refund(answer.body.order.id, { amountCents: 1 }))
    }
    made(await pay(answer.body.order.id))
    await settled()
    expect(intentOf(answer).status).toBe('canceled')
  })

  test('and is cancelled while its buyer pays: the money is recorded, can be refunded, and pays nothing', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const { id } = await shop.cart([{ variantId }])
    const answer = await buy(id)
    const intent = stripe.pay(intentOf(answer).id)
    const orderId = answer.body.order.id
    made(await shop.post(`/orders/${orderId}/cancel`))
    made(await send(stripe.event('payment_intent.succeeded', intent)))
    expect(await shop.order(orderId)).toMatchObject({
      status: 'cancelled',
      paymentStatus: 'paid',
      paidCents: 1000,
      paymentIssue: { code: 'unexpected_payment' },
    })
    made(await refund(orderId, { amountCents: 1000 }))
    await settled()
    expect(await shop.order(orderId)).toMatchObject({ status: 'cancelled', paymentStatus: 'refunded' })
    expect(await shop.stock(variantId)).toEqual({ quantity: 5, reserved: 0, available: 5 })
    expect(await shop.events()).not.toContain('order.paid')
  })
})

test('the secrets of the provider are in no answer', () => {
  expect(said.length).toBeGreaterThan(100)
  for (const secret of [stripe.secretKey, stripe.webhookSecret]) expect(said.filter((text) => text.includes(secret))).toEqual([])
})
