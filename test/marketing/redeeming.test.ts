import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { monthsLater } from '../../api/marketing/loyalty/earning.ts'
import { mostPayable, pointsToPay, worthOf } from '../../api/marketing/loyalty/redeeming.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
let customerId: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
  variantId = await shop.variant({ price: 20 })
  customerId = (await shop.buy({ items: [{ variantId }] })).customer.id
  made(await shop.call('PUT', '/loyalty/settings', {}))
  await give(1_000)
})
afterAll(() => app.close())

const give = (points: number, id = customerId) => shop.post(`/loyalty/members/${id}/adjustments`, { points }).then(made)
const member = async (id = customerId) => made(await shop.get(`/loyalty/members/${id}`))
const cartOf = (quantity = 1, email: string | null = 'ada@example.com') => shop.cart([{ variantId, quantity }], { email })
const redeem = (cartId: string, points: number) => shop.call('PUT', `/carts/${cartId}/loyalty`, { points })
const program = (fields: object) => shop.call('PUT', '/loyalty/settings', fields).then(made)
const days = (count: number) => (app.clock.now = new Date(app.clock.now.getTime() + count * 86_400_000))
/** A cart that pays with points. */
async function paying(points: number, quantity = 1) {
  const { id } = await cartOf(quantity)
  made(await redeem(id, points))
  return id
}
/** The ledger adds up to the balance, and what expires is a part of it. */
async function expectSum() {
  const [[balance, sum, expiring] = []] = await shop.rows(
    sql`select balance, (select sum(points) from loyalty_ledger), (select sum(expiring) from loyalty_ledger) from loyalty_members`,
  )
  expect(sum).toBe(balance)
  expect(expiring).toBeLessThanOrEqual(balance)
}

describe('a cart', () => {
  test('is paid with points, at the rate of the store', async () => {
    const cart = await cartOf()
    expect(cart.loyaltyPoints).toBe(0)
    expect(made(await redeem(cart.id, 500))).toMatchObject({
      loyaltyPoints: 500,
      subtotalCents: 2000,
      discountCents: 500,
      totalCents: 1500,
    })
    expect(made(await shop.get(`/carts/${cart.id}`))).toMatchObject({ loyaltyPoints: 500, totalCents: 1500, warnings: [] })
    expect(made(await redeem(cart.id, 0))).toMatchObject({ loyaltyPoints: 0, totalCents: 2000 })
    // Nothing is taken before the checkout.
    expect((await member()).balance).toBe(1_000)
  })

  test('takes no more than the balance, with the reason', async () => {
    const { id } = await cartOf(3)
    const refused = await redeem(id, 1_001)
    expect([refused.status, refused.body.error]).toEqual([409, 'the balance is 1000 points'])
    expect(made(await redeem(id, 1_000)).totalCents).toBe(5_000)
  })

  test('takes no more of an order than points may pay, with the reason', async () => {
    const { id } = await cartOf()
    expect([(await redeem(id, 1_001)).status, (await redeem(id, 1_000)).status]).toEqual([409, 200])
    await program({ maxRedeemPercent: 10 })
    const refused = await redeem(id, 201)
    expect([refused.status, refused.body.error]).toEqual([409, 'of the points, only 200 can be redeemed in this cart'])
    expect(made(await redeem(id, 200)).totalCents).toBe(1_800)
  })

  test('is paid in full by the points whose worth reaches it, rounded up to a point: what a refusal names is taken', async () => {
    await program({ redemptionRate: 10, maxRedeemPercent: 100 })
    const cheap = await shop.variant({ price: 9.99 })
    const { id } = await shop.cart([{ variantId: cheap }], { email: 'ada@example.com' })
    const refused = await redeem(id, 101)
    expect([refused.status, refused.body.error]).toEqual([409, 'of the points, only 100 can be redeemed in this cart'])
    expect(made(await redeem(id, 99)).totalCents).toBe(9)
    expect(made(await redeem(id, 100))).toMatchObject({ totalCents: 0, warnings: [] })
    expect(made(await shop.checkOut(id)).order).toMatchObject({ totalCents: 0, loyalty: { pointsRedeemed: 100 } })
    // The same for a part: half of 9.99, rounded down, is 4.99.
    await program({ redemptionRate: 10, maxRedeemPercent: 50 })
    const half = await shop.cart([{ variantId: cheap }], { email: 'ada@example.com' })
    expect((await redeem(half.id, 51)).body.error).toBe('of the points, only 50 can be redeemed in this cart')
    expect(made(await redeem(half.id, 50)).totalCents).toBe(500)
  })

  test('takes none from a member who holds less than the minimum, and any from who holds it', async () => {
    await program({ minRedemption: 1_001 })
    const { id } = await cartOf()
    const refused = await redeem(id, 500)
    expect([refused.status, refused.body.error]).toEqual([409, 'redeeming takes a balance of at least 1001 points; there are 1000'])
    await program({ minRedemption: 1_000 })
    expect(made(await redeem(id, 1)).totalCents).toBe(1_999)
  })

  test("needs an email, and tells nobody whether it is a customer's", async () => {
    const none = await cartOf(1, null)
    const refused = await redeem(none.id, 100)
    expect([refused.status, refused.body.error]).toEqual([409, 'points are redeemed by customers: set the email of the cart first'])
    const poor = (await shop.buy({ items: [{ variantId }], email: 'poor@example.com' })).customer.id
    await give(-(await member(poor)).balance, poor)
    const carts = [await cartOf(1, 'poor@example.com'), await cartOf(1, 'nobody@example.com')]
    for (const minRedemption of [1, 50]) {
      await program({ minRedemption })
      const key = shop.keys.storefront
      const answers = await Promise.all(carts.map(({ id }) => shop.call('PUT', `/carts/${id}/loyalty`, { points: 10 }, { key })))
      const [customer, nobody] = answers.map(({ status, body }) => [status, body])
      expect(customer).toEqual([
        409,
        expect.objectContaining({ error: `redeeming takes a balance of at least ${minRedemption} points; there are 0` }),
      ])
      expect(nobody).toEqual(customer)
      const shown = await Promise.all(carts.map(({ id }) => shop.call('GET', `/carts/${id}`, undefined, { key })))
      expect(shown.map(({ body }) => [body.loyaltyPoints, body.warnings])).toEqual([
        [0, []],
        [0, []],
      ])
    }
  })

  test('of a store without a loyalty program takes none; with loyalty turned off there is no such path', async () => {
    const other = await newShop(app)
    const { id } = await other.cart()
    expect((await other.call('PUT', `/carts/${id}/loyalty`, { points: 1 })).body.error).toBe('the store has no loyalty program')
    await other.settings({ tools: { loyalty: false } })
    expect((await other.call('PUT', `/carts/${id}/loyalty`, { points: 1 })).status).toBe(404)
  })

  test.each([[{}], [{ points: -1 }], [{ points: 1.5 }], [{ points: '5' }], [{ points: null }]])(
    'refuses %j, naming the field',
    async (body) => {
      const { id } = await cartOf()
      expect(paths(await shop.call('PUT', `/carts/${id}/loyalty`, body))).toEqual(['points'])
    },
  )

  test('that is unknown is 404, one that is an order is 409 with its id', async () => {
    expect((await redeem(Bun.randomUUIDv7(), 1)).status).toBe(404)
    const id = await paying(100)
    const { order } = made(await shop.checkOut(id))
    expect((await redeem(id, 100)).body).toMatchObject({ orderId: order.id })
  })

  test('that shrinks pays with fewer points, and says so', async () => {
    const id = await paying(1_000, 2)
    const { items } = made(await shop.get(`/carts/${id}`))
    const less = made(await shop.patch(`/carts/${id}/items/${items[0].id}`, { quantity: 1 }))
    expect(less).toMatchObject({ totalCents: 1_000, warnings: [] })
    await program({ maxRedeemPercent: 25 })
    const cart = made(await shop.get(`/carts/${id}`))
    expect(cart).toMatchObject({ totalCents: 1_500, warnings: [{ code: 'loyalty' }] })
    expect(made(await shop.checkOut(id)).order).toMatchObject({ totalCents: 1_500, loyalty: { pointsRedeemed: 500 } })
    expect((await member()).balance).toBe(500 + 15)
  })

  test('whose points are gone says so, costs the full price, and is not bought by accident', async () => {
    const id = await paying(800)
    await give(-500)
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({
      totalCents: 2_000,
      warnings: [{ code: 'loyalty', message: 'the balance is 500 points' }],
    })
    const refused = await shop.checkOut(id)
    expect([refused.status, refused.body.error]).toEqual([409, 'the balance is 500 points'])
    made(await redeem(id, 500))
    expect(made(await shop.checkOut(id)).order.totalCents).toBe(1_500)
  })

  test('of a store that has ended its program is bought at the full price, since nobody could take the points out', async () => {
    const id = await paying(800)
    await shop.settings({ tools: { loyalty: false } })
    const warning = { code: 'loyalty', message: 'the store has no loyalty program' }
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ totalCents: 2_000, warnings: [warning] })
    expect(made(await shop.checkOut(id)).order).toMatchObject({ totalCents: 2_000, loyalty: { pointsRedeemed: 0 } })
  })

  test('of another customer does not see these points', async () => {
    const id = await paying(800)
    made(await shop.patch(`/carts/${id}`, { email: 'eve@example.com' }))
    expect(made(await shop.get(`/carts/${id}`)).totalCents).toBe(2_000)
    expect((await shop.checkOut(id, { email: 'eve@example.com' })).status).toBe(409)
  })
})

describe('a checkout', () => {
  test('takes the points, and earns only on what is paid with money', async () => {
    const { order } = made(await shop.checkOut(await paying(500)))
    expect(order).toMatchObject({ discountCents: 500, totalCents: 1_500, loyalty: { pointsEarned: 15, pointsRedeemed: 500 } })
    const { balance, lifetimePoints, ledger } = await member()
    expect([balance, lifetimePoints]).toEqual([515, 1_015])
    expect(ledger.map(({ points }: { points: number }) => points)).toEqual([15, -500, 1_000])
    expect(ledger[1]).toEqual({
      points: -500,
      reason: `redeemed for order ${order.orderNumber}`,
      orderId: order.id,
      expiresAt: null,
      createdAt: order.createdAt,
    })
    await expectSum()
  })

  test('that is declined takes none', async () => {
    const id = await paying(500)
    expect((await shop.checkOut(id, { paymentToken: 'decline' })).status).toBe(402)
    expect((await member()).balance).toBe(1_000)
  })

  test('may be paid with points as a whole', async () => {
    await program({ maxRedeemPercent: 100 })
    await give(1_000)
    const { order } = made(await shop.checkOut(await paying(2_000), { paymentMethod: 'manual' }))
    expect(order).toMatchObject({ totalCents: 0, status: 'paid', loyalty: { pointsEarned: 0, pointsRedeemed: 2_000 } })
  })

  test('of ten carts at once with a balance for one is one order, and the ledger adds up', async () => {
    await give(-900)
    const carts = await Promise.all(Array.from({ length: 10 }, () => paying(100)))
    await program({ pointsPerUnit: 0.001 })
    const answers = await Promise.all(carts.map((id) => shop.checkOut(id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    expect((await member()).balance).toBe(0)
    await expectSum()
  })

  test('splits what points pay over the lines, so that the parts add up', async () => {
    const cheap = await shop.variant({ price: 0.01 })
    const { id } = await shop.cart(
      [
        { variantId, quantity: 3 },
        { variantId: cheap, quantity: 1 },
      ],
      { email: 'ada@example.com' },
    )
    made(await redeem(id, 777))
    const { order } = made(await shop.checkOut(id))
    expect(order.lines.reduce((sum: number, line: { discountCents: number }) => sum + line.discountCents, 0)).toBe(777)
    expect(order.totalCents).toBe(6_001 - 777)
  })
})

describe('points come back', () => {
  const bought = async (body: object = {}) => made(await shop.checkOut(await paying(500), body)).order

  test('when an order is cancelled', async () => {
    const order = await bought({ paymentMethod: 'manual' })
    expect((await member()).balance).toBe(500)
    made(await shop.post(`/orders/${order.id}/cancel`))
    const { balance, lifetimePoints, ledger } = await member()
    expect([balance, lifetimePoints]).toEqual([1_000, 1_000])
    expect(ledger[0]).toMatchObject({ points: 500, reason: `returned from order ${order.orderNumber}`, orderId: order.id })
    await expectSum()
  })

  test('when an order is refunded as a whole, not in part, and once', async () => {
    const order = await bought()
    made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 700 }))
    expect((await member()).balance).toBe(515 - 7)
    made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 800 }))
    expect((await member()).balance).toBe(1_000)
    expect((await shop.order(order.id)).status).toBe('refunded')
    await expectSum()
  })

  test('with a cancelled order once, even when its money follows', async () => {
    const order = await bought()
    made(await shop.post(`/orders/${order.id}/cancel`))
    expect((await member()).balance).toBe(1_015)
    made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 1_500 }))
    expect((await member()).balance).toBe(1_000)
  })

  test('with the expiry that they had; with a new one when that has passed', async () => {
    await give(-1_000)
    await program({ pointsExpiryMonths: 1, pointsPerUnit: 10, minRedemption: 1 })
    const first = await shop.buy({ items: [{ variantId }] })
    const order = made(await shop.checkOut(await paying(150))).order
    const again = made(await shop.checkOut(await paying(20), { paymentMethod: 'manual' })).order
    made(await shop.post(`/orders/${again.id}/cancel`))
    expect((await member()).ledger[0]).toMatchObject({ points: 20, expiresAt: monthsLater(first.paidAt, 1) })
    days(40)
    made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: order.totalCents }))
    expect((await member()).ledger[0]).toMatchObject({ points: 150, expiresAt: monthsLater(app.clock.now.toISOString(), 1) })
    await expectSum()
  })
})

describe('points that expire', () => {
  beforeEach(() => program({ pointsExpiryMonths: 1, pointsPerUnit: 10, minRedemption: 1 }))

  test('can be redeemed until then and not from then on, before anything has swept them up', async () => {
    await give(-1_000)
    const { paidAt } = await shop.buy({ items: [{ variantId }] })
    const expiry = Date.parse(monthsLater(paidAt, 1))
    app.clock.now = new Date(expiry - 1)
    const { id } = await cartOf()
    expect((await redeem(id, 200)).status).toBe(200)
    app.clock.now = new Date(expiry)
    expect((await redeem(id, 200)).body.error).toBe('redeeming takes a balance of at least 1 points; there are 0')
  })

  test('are used before those that never expire', async () => {
    await shop.buy({ items: [{ variantId }] })
    await program({ pointsExpiryMonths: 1, pointsPerUnit: 0.000001, minRedemption: 1 })
    made(await shop.checkOut(await paying(150)))
    days(40)
    await app.jobs.settle()
    const { balance, ledger } = await member()
    expect(balance).toBe(1_000)
    expect(ledger[0]).toMatchObject({ points: -50, reason: 'expired', orderId: null })
    await expectSum()
  })

  test('are taken by the job at their time, of each member what is due, and the job waits for the next', async () => {
    await give(-1_000)
    const first = await shop.buy({ items: [{ variantId }] })
    const other = (await shop.buy({ items: [{ variantId, quantity: 2 }], email: 'eve@example.com' })).customer.id
    days(10)
    const second = await shop.buy({ items: [{ variantId, quantity: 3 }] })
    const balances = async () => [(await member()).balance, (await member(other)).balance]
    expect(await balances()).toEqual([800, 400])
    app.clock.now = new Date(Date.parse(monthsLater(first.paidAt, 1)) - 1)
    await app.jobs.settle()
    expect(await balances()).toEqual([800, 400])
    app.clock.advance(60_000)
    await app.jobs.settle()
    expect(await balances()).toEqual([600, 0])
    expect(await shop.rows(sql`select due_at from jobs`)).toEqual([[monthsLater(second.paidAt, 1)]])
    app.clock.now = new Date(monthsLater(second.paidAt, 1))
    await app.jobs.settle()
    expect(await balances()).toEqual([0, 0])
    expect(await shop.rows(sql`select count(*) from jobs`)).toEqual([[0]])
    // Lifetime points, and with them the tier, stay.
    expect((await member()).lifetimePoints).toBe(1_800)
  })
})

describe('what points are worth', () => {
  test.each([
    [100, 100, 100, 100],
    [150, 100, 100, 150],
    [7, 0.07, 100, 10_000],
    [999, 1000, 100, 99],
    [1, 3, 1, 0],
    [10, 3, 1000, 3_333],
  ])('%d points at %d points a unit of %d are %d', (points, redemptionRate, minorPerUnit, cents) => {
    expect(worthOf(points, { redemptionRate }, minorPerUnit)).toBe(cents)
  })

  test('is never more than the points that pay it, and never more than the share of the cart', () => {
    const rate = fc.double({ min: 0.01, max: 10_000, noNaN: true })
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        rate,
        fc.constantFrom(1, 100, 1000),
        fc.nat(10_000_000),
        fc.integer({ min: 1, max: 100 }),
        (points, redemptionRate, unit, left, percent) => {
          const cents = worthOf(points, { redemptionRate }, unit)
          expect(pointsToPay(cents, { redemptionRate }, unit)).toBeLessThanOrEqual(points)
          const most = mostPayable(left, { maxRedeemPercent: percent })
          expect(most * 100).toBeLessThanOrEqual(left * percent)
          expect((most + 1) * 100).toBeGreaterThan(left * percent)
        },
      ),
    )
  })
})
