/** Orders that nobody pays: cancelled after a while, once, whatever happens at the same moment. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Provider } from '../../api/outside/payment-provider.ts'
import { stripeProvider } from '../../api/outside/stripe.ts'
import { createLog } from '../../api/server/log.ts'
import { jobKinds } from '../../api/job-kinds.ts'
import { Runner } from '../../api/jobs/runner.ts'
import { waiting } from '../../api/orders/payments/unpaid-job.ts'
import { Handles } from '../../db/handles.ts'
import { stripeDouble, type SignedEvent, type StripeDouble } from '../doubles/stripe.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

const HOUR_MS = 3_600_000
let stripe: StripeDouble
let provider: Provider
let app: TestApp
let shop: Shop
let variantId: string
beforeAll(async () => {
  stripe = stripeDouble()
  provider = stripeProvider({ secretKey: stripe.secretKey, webhookSecret: stripe.webhookSecret, apiBase: stripe.url })
  app = await testApp({ payments: provider, log: createLog('silent') })
})
beforeEach(async () => {
  app.clock.real()
  stripe.reset()
  shop = await newShop(app)
  variantId = await shop.variant({ stock: { quantity: 100 } })
})
afterAll(async () => {
  await app.close()
  stripe.close()
})

const place = async (paymentMethod: string, more: object = {}) => shop.buy({ items: [{ variantId }], paymentMethod, ...more })
const later = async (hours: number) => {
  app.clock.advance(hours * HOUR_MS)
  await app.jobs.settle()
}
const intentOf = (orderId: string) => [...stripe.intents.values()].find(({ metadata }) => metadata.orderId === orderId)!
const cancels = () => stripe.seen.filter(({ path }) => path.endsWith('/cancel'))
const send = ({ payload, signature }: SignedEvent) =>
  app.send('POST', '/payments/stripe/webhook', undefined, { key: null, raw: payload, headers: { 'stripe-signature': signature } })
const cancelled = async () => (await shop.events()).filter((name) => name === 'order.cancelled').length

describe('an order that is paid by hand', () => {
  test('is cancelled after 168 hours: stock, coupon and points are free again, once', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 1, pointsToCurrencyRate: 100, minRedemption: 1 }))
    const earned = await place('test')
    const coupon = await shop.coupon({ code: 'ONCE', maxUses: 1 })
    const { id: cartId } = await shop.cart([{ variantId, quantity: 2 }], { email: 'ada@example.com' })
    made(await shop.post(`/carts/${cartId}/coupons`, { code: 'ONCE' }))
    made(await shop.call('PUT', `/carts/${cartId}/loyalty`, { points: 5 }))
    const order = made(await shop.checkOut(cartId, { paymentMethod: 'manual' })).order
    const uses = async () => made(await shop.get(`/coupons/${coupon.id}`)).timesRedeemed
    const balance = async () => made(await shop.get(`/loyalty/members/${order.customer.id}`)).balance
    expect([await uses(), await balance(), (await shop.stock(variantId)).reserved]).toEqual([1, 5, 3])
    await later(167.9)
    expect((await shop.order(order.id)).status).toBe('pending')
    await later(0.2)
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', paymentStatus: 'unpaid', cancelReason: 'unpaid' })
    expect([await uses(), await balance(), (await shop.stock(variantId)).reserved]).toEqual([0, 10, 1])
    await later(1_000)
    expect([await cancelled(), (await shop.order(earned.id)).status]).toEqual([1, 'paid'])
    expect((await shop.post(`/orders/${order.id}/payments`, { amountCents: 1, method: 'cash' })).status).toBe(409)
  })

  test('waits as long as the settings say, also when they change while it waits', async () => {
    const order = await place('manual')
    await shop.settings({ checkout: { unpaidHours: 720 } })
    await later(719)
    expect((await shop.order(order.id)).status).toBe('pending')
    await shop.settings({ checkout: { unpaidHours: 1 } })
    await app.jobs.settle()
    expect((await shop.order(order.id)).status).toBe('cancelled')
  })

  test('stays when it was recorded by POST /orders, when it is paid, or when a deposit is there', async () => {
    const recorded = made(await shop.post('/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId }] }))
    const [paid, deposit, refunded] = [await place('manual'), await place('manual'), await place('manual')]
    made(await shop.post(`/orders/${paid.id}/payments`, { amountCents: 1000, method: 'cash' }))
    made(await shop.post(`/orders/${deposit.id}/payments`, { amountCents: 1, method: 'cash' }))
    made(await shop.post(`/orders/${refunded.id}/payments`, { amountCents: 1, method: 'cash' }))
    made(await shop.post(`/orders/${refunded.id}/refunds`, { amountCents: 1 }))
    await later(2_000)
    const statuses = await Promise.all([recorded, paid, deposit, refunded].map(async ({ id }) => (await shop.order(id)).status))
    expect(statuses).toEqual(['pending', 'paid', 'pending', 'cancelled'])
  })

  test('is cancelled with all others of a day in batches, oldest first, each once', async () => {
    for (let i = 0; i < 60; i++) await place('manual', i % 2 ? {} : { email: `b${i}@example.com` })
    await later(169)
    expect(await cancelled()).toBe(60)
    expect(await shop.stock(variantId)).toEqual({ quantity: 100, reserved: 0, available: 100 })
  }, 60_000)
})

describe('an order at stripe', () => {
  test('is cancelled after two hours, its PaymentIntent with it', async () => {
    const order = await place('stripe')
    await later(1.9)
    expect([(await shop.order(order.id)).status, cancels()]).toEqual(['pending', []])
    await later(0.2)
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', cancelReason: 'unpaid' })
    expect([intentOf(order.id).status, cancels().length]).toEqual(['canceled', 1])
    // What Stripe tells of that changes nothing more.
    made(await send(stripe.event('payment_intent.canceled', intentOf(order.id))))
    await later(10)
    expect([await cancelled(), cancels().length]).toEqual([1, 1])
    expect((await shop.stock(variantId)).reserved).toBe(0)
  })

  test('whose buyer has paid, though nobody heard of it, is paid', async () => {
    const order = await place('stripe')
    const intent = stripe.pay(intentOf(order.id).id)
    await later(3)
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paidCents: 1000, paymentIssue: null })
    made(await send(stripe.event('payment_intent.succeeded', intent)))
    expect(await shop.order(order.id)).toMatchObject({ status: 'paid', paidCents: 1000 })
    expect(await cancelled()).toBe(0)
  })

  test('whose money is on its way waits for it, and is looked at each hour', async () => {
    const [slow, other] = [await place('stripe'), await place('stripe')]
    intentOf(slow.id).status = 'processing'
    await later(3)
    expect([(await shop.order(slow.id)).status, (await shop.order(other.id)).status]).toEqual(['pending', 'cancelled'])
    await later(0.5)
    expect(cancels()).toHaveLength(2)
    await later(0.6)
    expect(cancels()).toHaveLength(3)
    stripe.pay(intentOf(slow.id).id)
    await later(1.1)
    expect((await shop.order(slow.id)).status).toBe('paid')
  })

  test('waits while the provider is down, without holding up those that are paid by hand', async () => {
    const [order, byHand] = [await place('stripe'), await place('manual')]
    stripe.mood = 'down'
    await later(169)
    expect([(await shop.order(order.id)).status, (await shop.order(byHand.id)).status]).toEqual(['pending', 'cancelled'])
    stripe.mood = 'well'
    await later(1.1)
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', cancelReason: 'unpaid' })
  }, 30_000)

  test('is cancelled by a run that goes on where one was killed after it had asked Stripe', async () => {
    const order = await place('stripe')
    Object.assign(intentOf(order.id), { status: 'canceled' })
    await later(3)
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', cancelReason: 'unpaid' })
    expect(await cancelled()).toBe(1)
  })

  test('is cancelled when Stripe gives its PaymentIntent up, once; one that waits for nothing is not', async () => {
    const [order, paid] = [await place('stripe'), await place('stripe')]
    made(await shop.patch(`/orders/${paid.id}`, { status: 'paid' }))
    for (const { id } of [order, paid])
      for (let i = 0; i < 2; i++)
        made(await send(stripe.event('payment_intent.canceled', Object.assign(intentOf(id), { status: 'canceled' }))))
    expect(await shop.order(order.id)).toMatchObject({ status: 'cancelled', cancelReason: 'unpaid' })
    expect([(await shop.order(paid.id)).status, await cancelled()]).toEqual(['paid', 1])
    expect((await shop.stock(variantId)).reserved).toBe(1)
  })

  test('with money that a merchant has to decide about stays', async () => {
    const order = await place('stripe')
    made(await send(stripe.event('payment_intent.succeeded', { ...stripe.pay(intentOf(order.id).id), amount_received: 1 })))
    await later(1_000)
    expect(await shop.order(order.id)).toMatchObject({ status: 'pending', paymentIssue: { code: 'amount_mismatch' } })
  })
})

test('three processes at once, and buyers who pay at the same moment: each order is paid or cancelled, once', async () => {
  const orders = []
  for (let i = 0; i < 30; i++) orders.push(await place(i % 2 ? 'stripe' : 'manual'))
  app.clock.advance(169 * HOUR_MS)
  const others = [1, 2].map(() => new Handles(app.location, 20))
  const runners = others.map((handles) => new Runner({ ...app.services, handles, kinds: jobKinds(app.services), log: createLog('silent') }))
  await Promise.all([
    ...[app.jobs, ...runners].map((runner) => runner.settle()),
    ...orders.map(async ({ id }, i) => {
      if (i % 2 === 0) return shop.post(`/orders/${id}/payments`, { amountCents: 1000, method: 'cash' })
      const intent = intentOf(id)
      if (intent.status === 'requires_payment_method') await send(stripe.event('payment_intent.succeeded', stripe.pay(intent.id)))
    }),
  ])
  await app.jobs.settle()
  for (const handles of others) handles.close()
  const statuses = await Promise.all(orders.map(async ({ id }) => (await shop.order(id)).status as string))
  const [paid, ended] = ['paid', 'cancelled'].map((status) => statuses.filter((one) => one === status).length)
  expect(paid! + ended!).toBe(30)
  expect([await cancelled(), (await shop.events()).filter((name) => name === 'order.paid').length]).toEqual([ended, paid])
  expect((await shop.stock(variantId)).reserved).toBe(paid)
  expect((await shop.rows(sql`select count(*) from orders where status = 'cancelled' and paid_cents > 0`))[0]).toEqual([0])
}, 60_000)

test('what waits is found by an index, however many orders there are', async () => {
  const plan = await app.handles.use(shop.store.id, 'live', ({ read }) => {
    const { sql: text, params } = waiting(read, 'stripe', '2026', 50).toSQL()
    const parts = text.split('?').flatMap((part, i) => [sql.raw(part), ...(i < params.length ? [sql`${params[i]}`] : [])])
    return read.all<[number, number, number, string]>(sql`explain query plan ${sql.join(parts)}`)
  })
  expect(plan.map((row) => row[3])).toEqual([expect.stringMatching(/^SEARCH orders USING (COVERING )?INDEX orders_awaiting \(/)])
})
