/** The ledger of points over any sequence of orders, payments, refunds and cancellations: nobody comes by points but by money that is kept. */
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
/** Points that a unit of currency earns, so that few amounts come to whole points; 100 points pay one. */
const PER_UNIT = 37.5
const program = (more: object = {}) =>
  shop.call('PUT', '/loyalty/settings', { pointsPerUnit: PER_UNIT, minRedemption: 1, maxRedeemPercent: 100, ...more }).then(made)

beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  variantId = await shop.variant({ price: 1.01, stock: { tracked: false } })
  await program()
})
afterAll(() => app.close())

/** What the model knows of an order. */
interface Bought {
  id: string
  total: number
  paid: boolean
  /** Money that went back. */
  back: number
  points: number
  /** Holds the points that it was paid with: neither cancelled nor refunded as a whole. */
  holds: boolean
}

type Step =
  | { kind: 'buy'; units: number; share: number; method: 'test' | 'manual' }
  | { kind: 'pay'; at: number }
  | { kind: 'cancel'; at: number }
  | { kind: 'refund'; at: number }
  | { kind: 'refund-part'; at: number; share: number }
  | { kind: 'wait'; days: number }

/** A customer who does one thing after the other, beside a model that knows the documents alone. */
class Customer {
  readonly orders: Bought[] = []
  #id: string | null = null
  constructor(readonly email: string) {}

  async balance(): Promise<number> {
    return this.#id === null ? 0 : ((await shop.get(`/loyalty/members/${this.#id}`)).body.balance ?? 0)
  }

  async do(step: Step) {
    if (step.kind === 'wait') {
      app.clock.advance(step.days * 86_400_000)
      await app.jobs.settle()
      // What nobody has paid is cancelled meanwhile.
      for (const order of this.orders) if (!order.paid && (await shop.order(order.id)).status === 'cancelled') order.holds = false
      return
    }
    if (step.kind === 'buy') return this.#buy(step)
    const order = this.orders[step.at % Math.max(1, this.orders.length)]
    if (!order) return
    if (step.kind === 'pay') {
      if ((await shop.patch(`/orders/${order.id}`, { status: 'paid' })).status === 200) order.paid = true
    } else if (step.kind === 'cancel') {
      if ((await shop.post(`/orders/${order.id}/cancel`)).status === 200) order.holds = false
    } else if (step.kind === 'refund') {
      if ((await shop.patch(`/orders/${order.id}`, { status: 'refunded' })).status === 200)
        Object.assign(order, { back: order.total, holds: false })
    } else {
      const amountCents = Math.max(1, Math.round(order.total * step.share))
      if ((await shop.post(`/orders/${order.id}/refunds`, { amountCents })).status !== 201) return
      order.back += amountCents
      if (order.back >= order.total) order.holds = false
    }
  }

  async #buy({ units, share, method }: Extract<Step, { kind: 'buy' }>) {
    const cart = await shop.cart([{ variantId, quantity: units }], { email: this.email })
    const points = Math.floor(Math.max(0, await this.balance()) * share)
    if (points > 0) await shop.call('PUT', `/carts/${cart.id}/loyalty`, { points })
    const answer = await shop.checkOut(cart.id, { email: this.email, paymentMethod: method })
    if (answer.status !== 201) return
    const { order } = answer.body
    this.#id = order.customer.id
    const paid = order.status === 'paid'
    this.orders.push({ id: order.id, total: order.totalCents, paid, back: 0, points: order.loyalty.pointsRedeemed, holds: true })
  }

  /** What the documents say: points of money that is kept, without those that orders are paid with. */
  get earned() {
    return this.orders.reduce((sum, { total, paid, back }) => sum + (paid ? Math.floor(((total - back) * PER_UNIT) / 100) : 0), 0)
  }
  get held() {
    return this.orders.reduce((sum, { points, holds }) => sum + (holds ? points : 0), 0)
  }

  async check(expires: boolean) {
    if (this.#id === null) return
    const [[balance, lifetime, sum, expiring] = []] = await shop.rows(sql`select balance, lifetime_points,
      (select sum(points) from loyalty_ledger where customer_id = ${this.#id}),
      (select sum(expiring) from loyalty_ledger where customer_id = ${this.#id}) from loyalty_members where customer_id = ${this.#id}`)
    if (balance === undefined) return expect(this.earned).toBe(0)
    expect(sum).toBe(balance)
    expect(lifetime).toBe(this.earned)
    expect(expiring).toBeLessThanOrEqual(Math.max(0, balance))
    if (expires) expect(balance).toBeLessThanOrEqual(this.earned - this.held)
    else expect(balance).toBe(this.earned - this.held)
  }
}

const share = fc.constantFrom(0, 0.01, 0.3, 0.5, 1)
const at = fc.nat(9)
const buy = fc.record({
  kind: fc.constant('buy' as const),
  units: fc.integer({ min: 1, max: 20 }),
  share,
  method: fc.constantFrom('test' as const, 'manual' as const),
})
const change = fc.oneof(
  fc.record({ kind: fc.constant('pay' as const), at }),
  fc.record({ kind: fc.constant('cancel' as const), at }),
  fc.record({ kind: fc.constant('refund' as const), at }),
  fc.record({ kind: fc.constant('refund-part' as const), at, share }),
)
const wait = fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(10, 25, 40) })

const runs = (steps: fc.Arbitrary<Step[]>, expires: boolean) =>
  fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const customer = new Customer(`${Bun.randomUUIDv7()}@example.com`)
      for (const step of list) {
        await customer.do(step)
        await customer.check(expires)
      }
      // With everything undone nothing is left.
      for (const [at] of customer.orders.entries()) {
        await customer.do({ kind: 'cancel', at })
        await customer.do({ kind: 'refund', at })
        if (customer.orders[at]!.paid) await customer.do({ kind: 'refund-part', at, share: 1 })
        await customer.check(expires)
      }
    }),
    { numRuns: 60 },
  )

test('a refund and a cancellation after it mint no points', async () => {
  await program({ pointsPerUnit: 1 })
  const dear = await shop.variant({ price: 1_000 })
  const buyOne = async (paymentMethod: string, points = 0) => {
    const { id } = await shop.cart([{ variantId: dear }], { email: 'ada@example.com' })
    if (points) made(await shop.call('PUT', `/carts/${id}/loyalty`, { points }))
    return made(await shop.checkOut(id, { paymentMethod })).order
  }
  const first = await buyOne('test')
  const second = await buyOne('manual', 1_000)
  made(await shop.patch(`/orders/${first.id}`, { status: 'refunded' }))
  const balance = async () => made(await shop.get(`/loyalty/members/${first.customer.id}`)).balance
  expect(await balance()).toBe(-1_000)
  // What is owed can't be redeemed.
  const { id } = await shop.cart([{ variantId: dear }], { email: 'ada@example.com' })
  expect((await shop.call('PUT', `/carts/${id}/loyalty`, { points: 1 })).body.error).toBe(
    'redeeming takes a balance of at least 1 points; there are -1000',
  )
  made(await shop.post(`/orders/${second.id}/cancel`))
  expect(await balance()).toBe(0)
  // The same with two orders that are paid, refunded in the order in which they were placed.
  const third = await buyOne('test')
  const fourth = await buyOne('test', 1_000)
  made(await shop.patch(`/orders/${third.id}`, { status: 'refunded' }))
  made(await shop.patch(`/orders/${fourth.id}`, { status: 'refunded' }))
  expect(await balance()).toBe(0)
})

test('whatever happens, a balance is what the money that is kept has earned, less what orders are paid with', () =>
  runs(fc.array(fc.oneof({ weight: 2, arbitrary: buy }, { weight: 3, arbitrary: change }), { minLength: 4, maxLength: 12 }), false))

test('points that expire are never more than that', async () => {
  await program({ pointsExpiryMonths: 1 })
  const steps = fc.oneof({ weight: 4, arbitrary: buy }, { weight: 5, arbitrary: change }, { weight: 1, arbitrary: wait })
  await runs(fc.array<Step>(steps, { minLength: 4, maxLength: 12 }), true)
})

test('points that came back from an order and expired then are not taken once more by a refund', async () => {
  await program({ pointsPerUnit: 100, pointsExpiryMonths: 1 })
  const ada = new Customer('ada@example.com')
  await ada.do({ kind: 'buy', units: 10, share: 0, method: 'test' })
  await ada.do({ kind: 'buy', units: 20, share: 1, method: 'manual' })
  await ada.do({ kind: 'cancel', at: 1 })
  expect(await ada.balance()).toBe(1_010)
  await ada.do({ kind: 'wait', days: 40 })
  expect(await ada.balance()).toBe(0)
  await ada.do({ kind: 'refund', at: 0 })
  expect(await ada.balance()).toBe(0)
})
