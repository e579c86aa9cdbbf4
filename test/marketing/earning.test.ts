import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  isRunning,
  monthsLater,
  partsFor,
  partsOfPoint,
  pointsKept,
  type Campaign,
  type Earning,
  type EarningLine,
} from '../../api/marketing/loyalty/earning.ts'
import { tierOf } from '../../api/marketing/loyalty/tier.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
  variantId = await shop.variant({ price: 49.9 })
  made(await shop.call('PUT', '/loyalty/settings', {}))
})
afterAll(() => app.close())

const order = (more: object = {}) => shop.buy({ items: [{ variantId, quantity: 1 }], ...more })
const member = async (customerId: string) => (await shop.get(`/loyalty/members/${customerId}`)).body
const tier = (threshold: number, multiplier: number) =>
  shop.post('/loyalty/tiers', { name: `From ${threshold}`, threshold, multiplier, color: '#C0C0C0' }).then(made)
const campaign = (earnMultiplier: number, more: object = {}) =>
  shop.post('/loyalty/campaigns', { name: 'More', earnMultiplier, scope: 'ALL_PRODUCTS', ...more }).then(made)

describe('an order', () => {
  test('earns a point for each whole unit of currency when it is paid, and once', async () => {
    const paid = await order()
    expect(paid.loyalty).toEqual({ pointsEarned: 49, pointsRedeemed: 0 })
    const { balance, lifetimePoints, ledger } = await member(paid.customer.id)
    expect([balance, lifetimePoints]).toEqual([49, 49])
    expect(ledger).toEqual([{ points: 49, reason: `order ${paid.orderNumber}`, orderId: paid.id, expiresAt: null, createdAt: paid.paidAt }])
    made(await shop.patch(`/orders/${paid.id}`, { status: 'processing' }))
    expect((await member(paid.customer.id)).balance).toBe(49)
  })

  test('earns nothing before it is paid, and then however it is', async () => {
    const waiting = await order({ paymentMethod: 'manual' })
    expect(waiting.loyalty.pointsEarned).toBe(0)
    expect((await member(waiting.customer.id)).balance).toBe(0)
    made(await shop.patch(`/orders/${waiting.id}`, { status: 'paid' }))
    expect((await shop.order(waiting.id)).loyalty.pointsEarned).toBe(49)
    const recorded = made(await shop.post('/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId }], paid: true }))
    expect(recorded.loyalty.pointsEarned).toBe(49)
    expect((await member(waiting.customer.id)).balance).toBe(98)
  })

  test.each([
    [true, 40],
    [false, 49],
  ])('counts the goods without tax and shipping, with prices that include tax: %s', async (taxesIncluded, points) => {
    await shop.settings({ taxesIncluded })
    made(await shop.post('/tax-rates', { name: 'VAT', rate: 23, default: true }))
    const shipped = await shop.variant({ price: 49.9, shippable: true })
    const { id } = await shop.cart([{ variantId: shipped, quantity: 1 }])
    const shippingMethodId = await shop.method({ type: 'in_store', price: 20 })
    expect(made(await shop.checkOut(id, { shippingMethodId })).order.loyalty.pointsEarned).toBe(points)
  })

  test('counts what was paid after discounts, at the rate of the store', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 2.5 }))
    const { code } = await shop.coupon({ value: 50 })
    expect((await order({ coupons: [code] })).loyalty.pointsEarned).toBe(62)
  })

  test('earns nothing in a store that never set loyalty up, or has turned it off', async () => {
    const fresh = await newShop(app)
    const variant = await fresh.variant()
    expect((await fresh.buy({ items: [{ variantId: variant, quantity: 1 }] })).loyalty.pointsEarned).toBe(0)
    await shop.settings({ tools: { loyalty: false } })
    expect((await order()).loyalty.pointsEarned).toBe(0)
  })

  test('earns by the tier that the member is in before it', async () => {
    await tier(0, 1)
    await tier(49, 2)
    expect((await order()).loyalty.pointsEarned).toBe(49)
    // 49 lifetime points do not exceed the threshold of 49.
    expect((await order()).loyalty.pointsEarned).toBe(49)
    expect((await order()).loyalty.pointsEarned).toBe(99)
  })

  test('earns by the best multiplier of each line: of the tier, or of a running campaign that covers it', async () => {
    const category = made(await shop.post('/categories', { name: 'Above' })).id
    const below = made(await shop.post('/categories', { name: 'Below', parentId: category })).id
    const inCategory = await shop.variant({ price: 10 }, { categoryId: below })
    const items = [variantId, inCategory].map((id) => ({ variantId: id, quantity: 1 }))
    const earned = async () => (await shop.buy({ items })).loyalty.pointsEarned
    expect(await earned()).toBe(59)
    await campaign(3, { scope: 'CATEGORY_IDS', scopeIds: [category] })
    expect(await earned()).toBe(79)
    await campaign(2)
    expect(await earned()).toBe(129)
    await tier(0, 4)
    expect(await earned()).toBe(239)
  })

  test('counts a campaign while it runs, and neither before nor after', async () => {
    const away = (ms: number) => new Date(app.clock.now.getTime() + ms).toISOString()
    await campaign(8, { startsAt: away(60_000) })
    await campaign(8, { endsAt: away(-60_000) })
    await campaign(8, { active: false })
    expect((await order()).loyalty.pointsEarned).toBe(49)
    await campaign(2, { startsAt: away(-60_000), endsAt: away(60_000) })
    expect((await order()).loyalty.pointsEarned).toBe(99)
  })

  test('that would earn more points than can be counted is 409, and nothing is stored', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 1_000_000 }))
    await campaign(1_000)
    const dear = await shop.variant({ price: 1_000_000 })
    const items = [{ variantId: dear, quantity: 2 }]
    const { id } = await shop.cart(items)
    const before = await shop.traces()
    const refused = await shop.checkOut(id)
    expect([refused.status, refused.body.error]).toEqual([409, 'the order would earn more points than a member can have: 1000000000000'])
    expect(await shop.traces()).toEqual(before)
    // One that is there already can't fail to be paid for that: it earns as many as there is room for.
    const waiting = await order({ items, paymentMethod: 'manual' })
    made(await shop.patch(`/orders/${waiting.id}`, { status: 'paid' }))
    expect(await member(waiting.customer.id)).toMatchObject({ balance: 1e12, lifetimePoints: 1e12 })
    const more = await shop.post(`/loyalty/members/${waiting.customer.id}/adjustments`, { points: 1 })
    expect(more.body).toMatchObject({ error: 'a member can have at most 1000000000000 points', balance: 1e12 })
    made(await shop.post(`/orders/${waiting.id}/refunds`, { amountCents: waiting.totalCents / 2 }))
    expect((await member(waiting.customer.id)).balance).toBe(5e11)
  })

  test('expires months later, on the last day of a month that is too short', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsExpiryMonths: 1 }))
    const { customer, paidAt } = await order()
    expect((await member(customer.id)).ledger[0].expiresAt).toBe(monthsLater(paidAt, 1))
  })
})

describe('a refund', () => {
  test('takes points back in proportion, all of them in the end', async () => {
    const paid = await order()
    const left = async () => {
      const { balance, lifetimePoints } = await member(paid.customer.id)
      return [balance, lifetimePoints]
    }
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 2495 }))
    // What is left counts as if it had been paid alone: 24.95, rounded down.
    expect(await left()).toEqual([24, 24])
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 2495 }))
    expect(await left()).toEqual([0, 0])
    const { ledger } = await member(paid.customer.id)
    expect(ledger.map(({ points }: { points: number }) => points)).toEqual([-24, -25, 49])
    expect(ledger[0]).toMatchObject({ reason: `refund of order ${paid.orderNumber}`, orderId: paid.id })
  })

  test('of a cent leaves what the rest would have earned: points are not rounded down twice', async () => {
    const cheap = await shop.variant({ price: 2.99 })
    const paid = await order({ items: [{ variantId: cheap }] })
    expect(paid.loyalty.pointsEarned).toBe(2)
    const left = async () => (await member(paid.customer.id)).balance
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 1 }))
    expect(await left()).toBe(2)
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 99 }))
    expect(await left()).toBe(1)
  })

  test('of an order whose deposit had gone back before takes what its total loses, and no more', async () => {
    const paid = await order({ paymentMethod: 'manual' })
    made(await shop.post(`/orders/${paid.id}/payments`, { amountCents: 1000, method: 'cash' }))
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 1000 }))
    made(await shop.patch(`/orders/${paid.id}`, { status: 'paid' }))
    const left = async () => (await member(paid.customer.id)).balance
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 90 }))
    expect(await left()).toBe(49)
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 1 }))
    expect(await left()).toBe(48)
  })

  test('takes points that are spent, too: the balance is below zero then, and the next points fill it up', async () => {
    const paid = await order()
    made(await shop.post(`/loyalty/members/${paid.customer.id}/adjustments`, { points: -40, reason: 'Spent' }))
    made(await shop.patch(`/orders/${paid.id}`, { status: 'refunded' }))
    expect(await member(paid.customer.id)).toMatchObject({ balance: -40, lifetimePoints: 0 })
    made(await shop.call('PUT', '/loyalty/settings', { pointsExpiryMonths: 1 }))
    await order()
    expect((await member(paid.customer.id)).balance).toBe(9)
    // Only what is left of the new points can expire.
    app.clock.advance(40 * 86_400_000)
    await app.jobs.settle()
    expect(await member(paid.customer.id)).toMatchObject({ balance: 0, ledger: [{ points: -9, reason: 'expired' }, {}, {}, {}, {}] })
    app.clock.real()
  })

  test('takes nothing for points that have expired: they are gone already', async () => {
    made(await shop.call('PUT', '/loyalty/settings', { pointsExpiryMonths: 1 }))
    const paid = await order()
    app.clock.advance(40 * 86_400_000)
    made(await shop.call('PUT', '/loyalty/settings', {}))
    await order()
    expect((await member(paid.customer.id)).balance).toBe(98)
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 2495 }))
    made(await shop.post(`/orders/${paid.id}/refunds`, { amountCents: 2495 }))
    const { balance, lifetimePoints, ledger } = await member(paid.customer.id)
    expect([balance, lifetimePoints]).toEqual([49, 49])
    expect(ledger.map(({ points, reason }: { points: number; reason: string }) => [points, reason.split(' ')[0]])).toEqual([
      [-49, 'expired'],
      [49, 'order'],
      [49, 'order'],
    ])
    app.clock.real()
  })
})

describe('the pure rules', () => {
  const line = (netCents: number, more: Partial<EarningLine> = {}): EarningLine => ({
    netCents,
    productId: 'p',
    categoryIds: ['c', 'top'],
    collectionIds: ['s'],
    ...more,
  })
  const START = '2026-05-01T00:00:00.000Z'
  const END = '2026-06-01T00:00:00.000Z'
  const more = (overrides: Partial<Campaign> = {}): Campaign => ({
    earnMultiplier: 2,
    scope: 'ALL_PRODUCTS',
    scopeIds: [],
    startsAt: null,
    endsAt: null,
    active: true,
    ...overrides,
  })
  const base = { pointsPerUnit: 1, tierMultiplier: null, campaigns: [], now: START }
  const pointsFor = (lines: EarningLine[], earning: Earning, minorPerUnit = 100) =>
    Number(partsFor(lines, earning) / partsOfPoint(minorPerUnit))

  test('points are rounded down once, and not line by line', () => {
    expect(pointsFor([line(60), line(60)], base)).toBe(1)
    expect(pointsFor([line(60), line(60)], { ...base, pointsPerUnit: 0.1 })).toBe(0)
    expect(pointsFor([line(1000)], { ...base, pointsPerUnit: 0.1 })).toBe(1)
    expect(pointsFor([line(29)], { ...base, tierMultiplier: 1.1 }, 1)).toBe(31)
    expect(pointsFor([line(100)], { ...base, tierMultiplier: 0.5 })).toBe(0)
  })

  test.each<[Partial<Campaign>, number]>([
    [{ scope: 'PRODUCT_IDS', scopeIds: ['p'] }, 2],
    [{ scope: 'PRODUCT_IDS', scopeIds: ['c'] }, 1],
    [{ scope: 'CATEGORY_IDS', scopeIds: ['top'] }, 2],
    [{ scope: 'COLLECTION_IDS', scopeIds: ['x', 's'] }, 2],
    [{ scope: 'COLLECTION_IDS', scopeIds: [] }, 1],
    [{ earnMultiplier: 0.5 }, 1],
  ])('a campaign %j makes %s', (overrides, points) => {
    expect(pointsFor([line(100)], { ...base, campaigns: [more(overrides)] })).toBe(points)
  })

  test('a campaign runs from its start on, until its end', () => {
    const window = more({ startsAt: START, endsAt: END })
    expect(isRunning(window, '2026-04-30T23:59:59.999Z')).toBe(false)
    expect(isRunning(window, START)).toBe(true)
    expect(isRunning(window, '2026-05-31T23:59:59.999Z')).toBe(true)
    expect(isRunning(window, END)).toBe(false)
    expect(isRunning({ ...window, active: false }, START)).toBe(false)
    expect(isRunning(more(), START)).toBe(true)
  })

  test('what is kept shrinks with what goes back, is all at first and nothing in the end', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000_000),
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.nat(10_000_000),
        fc.nat(10_000_000),
        (net, total, a, b) => {
          const parts = partsFor([line(net)], base)
          const kept = (cents: number) => pointsKept(parts, partsOfPoint(100), cents, total)
          const [less, most] = [Math.min(a, b, total), Math.min(Math.max(a, b), total)]
          expect(kept(less)).toBeLessThanOrEqual(kept(most))
          expect([kept(total), kept(total + 1), kept(0), kept(-1)]).toEqual([Math.floor(net / 100), Math.floor(net / 100), 0, 0])
          // Rounded down once: as what is left would have earned.
          if (net === total) expect(kept(less)).toBe(Math.floor(less / 100))
        },
      ),
    )
    expect(pointsKept(partsFor([line(299)], base), partsOfPoint(100), 298, 299)).toBe(2)
  })

  test.each([
    ['2026-01-31T10:00:00.000Z', 1, '2026-02-28T10:00:00.000Z'],
    ['2028-01-31T10:00:00.000Z', 1, '2028-02-29T10:00:00.000Z'],
    ['2026-11-30T10:00:00.000Z', 3, '2027-02-28T10:00:00.000Z'],
    ['2026-03-15T10:00:00.000Z', 12, '2027-03-15T10:00:00.000Z'],
  ])('%s and %s months is %s', (instant, months, later) => {
    expect(monthsLater(instant, months)).toBe(later)
  })

  test('the tier is the highest whose threshold is strictly under the lifetime points', () => {
    const tiers = [100, 0, 500].map((threshold) => ({ threshold, multiplier: 1 }))
    for (const [points, threshold] of [
      [0, undefined],
      [1, 0],
      [100, 0],
      [101, 100],
      [501, 500],
    ] as const)
      expect(tierOf(points, tiers)?.threshold).toBe(threshold)
  })
})
