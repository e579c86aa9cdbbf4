import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { within, type Promotion } from '../../api/pricing/discounts.ts'
import { Lines, type PriceLine } from '../../api/pricing/lines.ts'
import { split } from '../../api/values/money.ts'
import { couponProblem, price, taxOf, type Coupon, type PriceInput } from '../../api/pricing/price.ts'

const NOW = '2026-06-01T12:00:00.000Z'
const nothing = { productIds: [], collectionIds: [], categoryIds: [], brandIds: [] }
const line = (changes: Partial<PriceLine> = {}): PriceLine => ({
  itemId: 'i',
  productId: 'p',
  collectionIds: [],
  categoryIds: [],
  brandId: null,
  quantity: 1,
  unitPrice: 1000,
  taxRate: 0,
  bundle: null,
  ...changes,
})
const coupon = (changes: Partial<Coupon> = {}): Coupon => ({
  ...nothing,
  id: 'c',
  code: 'C',
  type: 'percentage',
  percentage: 10,
  amount: null,
  timesRedeemed: 0,
  maxUses: null,
  startDate: null,
  endDate: null,
  minProductCount: null,
  maxProductCount: null,
  ...changes,
})
const promotion = (changes: Partial<Promotion> = {}): Promotion => ({
  ...nothing,
  id: 'm',
  name: 'Sale',
  type: 'percentage',
  percentage: 10,
  amount: null,
  buyQuantity: null,
  getQuantity: null,
  getDiscountPercentage: null,
  tiers: [],
  startsAt: null,
  endsAt: null,
  active: true,
  priority: 0,
  stackable: true,
  ...changes,
})
const input = (changes: Partial<PriceInput> = {}): PriceInput => ({
  lines: [],
  promotions: [],
  coupons: [],
  loyalty: null,
  shipping: null,
  shippable: true,
  taxesIncluded: true,
  now: NOW,
  ...changes,
})

const percent = fc.integer({ min: 0, max: 1_000_000 }).map((millionths) => millionths / 10_000)
const ids = fc.subarray(['p0', 'p1', 'p2'])
const anyCoverage = fc.record({
  productIds: ids,
  collectionIds: fc.subarray(['k0', 'k1']),
  categoryIds: fc.subarray(['g0', 'g1']),
  brandIds: fc.subarray(['b0']),
})
const anyLine = fc
  .record({
    item: fc.integer({ min: 0, max: 5 }),
    productId: fc.constantFrom('p0', 'p1', 'p2'),
    collectionIds: fc.subarray(['k0', 'k1']),
    categoryIds: fc.subarray(['g0', 'g1']),
    brandId: fc.constantFrom(null, 'b0'),
    quantity: fc.integer({ min: 1, max: 50 }),
    unitPrice: fc.integer({ min: 0, max: 5_000_000 }),
    taxRate: fc.integer({ min: 0, max: 1_000_000 }),
    bundled: fc.boolean(),
    bundlePercent: percent,
  })
  .map(({ item, bundled, bundlePercent, ...rest }): PriceLine => ({
    ...rest,
    itemId: `i${item}`,
    bundle: bundled ? { id: `u${item}`, discountPercentage: bundlePercent } : null,
  }))
const anyPromotion = fc
  .record({
    coverage: anyCoverage,
    type: fc.constantFrom('percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping'),
    percentage: percent,
    amount: fc.integer({ min: 1, max: 100_000 }),
    buyQuantity: fc.integer({ min: 1, max: 5 }),
    getQuantity: fc.integer({ min: 1, max: 5 }),
    getDiscountPercentage: percent,
    priority: fc.integer({ min: -3, max: 3 }),
    stackable: fc.boolean(),
    tiers: fc.array(fc.record({ minQuantity: fc.integer({ min: 1, max: 30 }), percentage: percent }), { maxLength: 4 }),
    id: fc.uuid(),
  })
  .map(({ coverage, ...rest }) => promotion({ ...coverage, ...rest } as Partial<Promotion>))
const anyCoupon = fc
  .record({
    coverage: anyCoverage,
    id: fc.uuid(),
    type: fc.constantFrom('percentage', 'fixed'),
    percentage: percent,
    amount: fc.integer({ min: 1, max: 500_000 }),
  })
  .map(({ coverage, ...rest }) => coupon({ ...coverage, ...rest, code: rest.id } as Partial<Coupon>))
const anyCart = fc
  .record({
    lines: fc.array(anyLine, { maxLength: 12 }),
    promotions: fc.array(anyPromotion, { maxLength: 4 }),
    coupons: fc.array(anyCoupon, { maxLength: 3 }),
    taxesIncluded: fc.boolean(),
    shippable: fc.boolean(),
    shipping: fc.option(
      fc.record({
        price: fc.integer({ min: 0, max: 10_000 }),
        freeShippingThreshold: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
        taxRate: fc.integer({ min: 0, max: 1_000_000 }),
      }),
    ),
    loyalty: fc.option(
      fc.record({
        points: fc.integer({ min: 0, max: 100_000 }),
        redemptionRate: fc.integer({ min: 1, max: 1000 }),
        maxRedeemPercent: fc.integer({ min: 1, max: 100 }),
        minorPerUnit: fc.constantFrom(1, 100, 1000),
      }),
    ),
  })
  .map((cart) => input(cart))
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)

describe('the price of any cart', () => {
  const check = (property: (cart: PriceInput) => void) =>
    fc.assert(
      fc.property(anyCart, (cart) => void property(cart)),
      { numRuns: 3000 },
    )

  test('consists of integers of at least 0', () =>
    check((cart) => {
      const result = price(cart)
      for (const value of [
        result.subtotal,
        result.discount,
        result.shipping,
        result.shippingTax,
        result.tax,
        result.total,
        result.loyaltyDiscount,
        ...result.lines.flatMap((l) => [l.discount, l.subtotal, l.tax, l.total]),
      ]) {
        expect(Number.isSafeInteger(value) && value >= 0).toBe(true)
      }
    }))

  test('adds up: lines to subtotal, discount and tax, and those to the total', () =>
    check((cart) => {
      const { lines, subtotal, discount, shipping, shippingTax, tax, total } = price(cart)
      expect(sum(lines.map((l) => l.subtotal))).toBe(subtotal)
      expect(sum(lines.map((l) => l.discount))).toBe(discount)
      expect(sum(lines.map((l) => l.tax)) + shippingTax).toBe(tax)
      expect(total).toBe(subtotal - discount + shipping + (cart.taxesIncluded ? 0 : tax))
      for (const l of lines) expect(l.total).toBe(l.subtotal - l.discount)
    }))

  test('never takes off more than there is, and coupons never more than the discount', () =>
    check((cart) => {
      const { subtotal, discount, coupons, loyaltyDiscount } = price(cart)
      expect(discount).toBeLessThanOrEqual(subtotal)
      expect(sum(coupons.map((c) => c.discount)) + loyaltyDiscount).toBeLessThanOrEqual(discount)
    }))

  test('is the same each time', () => check((cart) => expect(price(structuredClone(cart))).toEqual(price(cart))))

  test('tax that is included is less than what it is in', () =>
    check((cart) => {
      if (cart.taxesIncluded) for (const l of price(cart).lines) expect(l.tax).toBeLessThanOrEqual(l.total)
    }))

  test('one more coupon never makes it dearer', () =>
    fc.assert(
      fc.property(anyCart, anyCoupon, (cart, extra) => {
        const withLess = price({ ...cart, loyalty: null, coupons: cart.coupons })
        expect(price({ ...cart, loyalty: null, coupons: [...cart.coupons, extra] }).total).toBeLessThanOrEqual(withLess.total)
      }),
      { numRuns: 2000 },
    ))

  test('points never pay for more than maxRedeemPercent', () =>
    check((cart) => {
      if (!cart.loyalty) return
      const before = price({ ...cart, loyalty: null })
      expect(price(cart).loyaltyDiscount).toBeLessThanOrEqual(((before.subtotal - before.discount) * cart.loyalty.maxRedeemPercent) / 100)
    }))
})

test('reads the ids of a discount once, however many lines there are', () => {
  let reads = 0
  const counted = (ids: string[]) =>
    new Proxy(ids, { get: (list, key) => (typeof key === 'string' && /^\d+$/.test(key) && reads++, Reflect.get(list, key)) })
  const readsWith = (count: number) => {
    reads = 0
    const productIds = counted(Array.from({ length: 50 }, (_, i) => `p${i}`))
    const lines = Array.from({ length: count }, (_, i) => line({ itemId: `i${i}`, productId: `p${i + 25}`, categoryIds: ['g'] }))
    price(input({ lines, promotions: Array.from({ length: 10 }, (_, i) => promotion({ id: `m${i}`, productIds, percentage: 1 })) }))
    return reads
  }
  expect([readsWith(10), readsWith(100)]).toEqual([500, 500])
})

describe('order of application', () => {
  test('line prices, bundle discount, promotions, coupons, loyalty, shipping, tax', () => {
    const result = price(
      input({
        lines: [line({ unitPrice: 10_000, taxRate: 230_000, bundle: { id: 'b', discountPercentage: 10 } })],
        promotions: [promotion({ percentage: 20 })],
        coupons: [coupon({ percentage: 50 })],
        loyalty: { points: 600, redemptionRate: 100, maxRedeemPercent: 50, minorPerUnit: 100 },
        shipping: { price: 1000, freeShippingThreshold: null, taxRate: 230_000 },
        taxesIncluded: false,
      }),
    )
    // 100.00 - 10 % = 90.00; - 20 % = 72.00; - 50 % = 36.00; 600 points pay 6.00; 30.00 and 10.00 shipping, 23 % on top of each.
    expect(result).toMatchObject({
      subtotal: 10_000,
      discount: 7000,
      shipping: 1000,
      tax: 690 + 230,
      total: 3000 + 1000 + 920,
      loyaltyDiscount: 600,
      pointsRedeemed: 600,
    })
    expect(result.coupons[0]!.discount).toBe(3600)
  })

  test('shipping is free when the subtotal is above the threshold, not at it', () => {
    const shipped = (unitPrice: number) =>
      price(input({ lines: [line({ unitPrice })], shipping: { price: 500, freeShippingThreshold: 5000, taxRate: 0 } })).shipping
    expect([shipped(4999), shipped(5000), shipped(5001)]).toEqual([500, 500, 0])
  })

  test('a promotion that does not stack goes alone, the one with the higher priority first', () => {
    const lines = [line({ unitPrice: 10_000 })]
    const loud = promotion({ id: 'a', percentage: 10, priority: 5, stackable: false })
    const quiet = promotion({ id: 'b', percentage: 50 })
    expect(price(input({ lines, promotions: [quiet, loud] })).promotions.map(({ id }) => id)).toEqual(['a'])
    expect(price(input({ lines, promotions: [quiet, { ...loud, priority: -5 }] })).promotions.map(({ id }) => id)).toEqual(['b'])
    expect(price(input({ lines, promotions: [quiet, { ...loud, stackable: true }] })).discount).toBe(1000 + 4500)
  })
})

describe('rounding', () => {
  test('three of 1.08 at 19 % on top come to 3.86: tax is rounded per line', () => {
    const { total, tax } = price(input({ lines: [line({ quantity: 3, unitPrice: 108, taxRate: 190_000 })], taxesIncluded: false }))
    expect([tax, total]).toEqual([62, 386])
  })
  test('10.75 % of 24.99 are 2.69', () => expect(taxOf(2499, 107_500, false)).toBe(269))
  test('10 % off 49.95 leave 44.95: half up', () =>
    expect(price(input({ lines: [line({ unitPrice: 4995 })], coupons: [coupon()] })).total).toBe(4495))
  test('33.33 % of 0.10 are 0.03', () =>
    expect(price(input({ lines: [line({ unitPrice: 10 })], coupons: [coupon({ percentage: 33.33 })] })).discount).toBe(3))
  test('100 % off leaves 0', () =>
    expect(
      price(input({ lines: [line({ unitPrice: 4995, quantity: 3, taxRate: 190_000 })], coupons: [coupon({ percentage: 100 })] })),
    ).toMatchObject({ total: 0, tax: 0 }))
  test('10.00 over three equal lines are 3.34, 3.33 and 3.33', () => {
    const { lines } = price(
      input({ lines: [line(), line(), line()], coupons: [coupon({ type: 'fixed', percentage: null, amount: 1000 })] }),
    )
    expect(lines.map((l) => l.discount)).toEqual([334, 333, 333])
  })
  test('a fixed amount never takes more than the lines it covers, nor anything off a line that costs nothing', () => {
    const { lines } = price(
      input({
        lines: [line({ unitPrice: 0 }), line({ unitPrice: 300 })],
        coupons: [coupon({ type: 'fixed', percentage: null, amount: 1000 })],
      }),
    )
    expect(lines.map((l) => l.discount)).toEqual([0, 300])
  })
  test('taxes that are included are taken out of the price: 23 % in 123.00 are 23.00', () =>
    expect(taxOf(12_300, 230_000, true)).toBe(2300))
  test('what can not be counted exactly is refused', () =>
    expect(() => price(input({ lines: [line({ unitPrice: 10 ** 13, quantity: 10_000 })] }))).toThrow(RangeError))
})

describe('a split', () => {
  test('adds up, and gives what is left over to the largest remainders, the earlier first, whether or not it fits a double', () => {
    const naive = (amount: number, weights: number[]) => {
      const total = weights.reduce((a, b) => a + BigInt(b), 0n)
      const parts = weights.map((weight) => Number((BigInt(amount) * BigInt(weight)) / total))
      const order = weights
        .map((weight, i) => ({ i, rest: (BigInt(amount) * BigInt(weight)) % total }))
        .sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1))
      for (let k = amount - sum(parts), at = 0; k > 0; k--, at++) parts[order[at]!.i]!++
      return parts
    }
    const weight = fc.oneof(fc.nat(3), fc.nat(10_000), fc.nat(2 ** 40))
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), (weights, part) => {
        const amount = Math.floor(sum(weights) * part)
        if (sum(weights) > 0) expect(split(amount, weights)).toEqual(naive(amount, weights))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('promotions', () => {
  test('buy two, get one: the cheapest of each three is free, and a rest of two is not', () => {
    const lines = [
      line({ itemId: 'a', unitPrice: 300, quantity: 2 }),
      line({ itemId: 'b', unitPrice: 200, quantity: 2 }),
      line({ itemId: 'c', unitPrice: 100, quantity: 1 }),
    ]
    // 300 300 [200] 200 100: one full group of three.
    expect(
      price(
        input({ lines, promotions: [promotion({ type: 'buy_x_get_y', buyQuantity: 2, getQuantity: 1, getDiscountPercentage: 100 })] }),
      ).lines.map((l) => l.discount),
    ).toEqual([0, 200, 0])
  })
  test('buy one, get one at half price, after another promotion, is rounded once', () => {
    const half = promotion({ id: 'z', type: 'buy_x_get_y', buyQuantity: 1, getQuantity: 1, getDiscountPercentage: 50 })
    // 2 x 0.05 less 10 % is 0.09, a unit of it 0.045, half of that 0.0225.
    expect(price(input({ lines: [line({ unitPrice: 5, quantity: 2 })], promotions: [promotion(), half] })).total).toBe(7)
  })
  test('volume: the best tier that the quantity of the product reaches, over all its variants', () => {
    const tiers = [
      { minQuantity: 5, percentage: 10 },
      { minQuantity: 10, percentage: 20 },
    ]
    const at = (quantity: number) =>
      price(
        input({
          lines: [line({ quantity: 1, unitPrice: 100 }), line({ itemId: 'j', quantity: quantity - 1, unitPrice: 100 })],
          promotions: [promotion({ type: 'volume', tiers })],
        }),
      ).discount
    expect([at(4), at(5), at(9), at(10)]).toEqual([0, 50, 90, 200])
  })
  test('free shipping covers the cart when a line is covered', () => {
    const shipping = { price: 500, freeShippingThreshold: null, taxRate: 0 }
    expect(
      price(input({ lines: [line()], shipping, promotions: [promotion({ type: 'free_shipping', productIds: ['p'] })] })).shipping,
    ).toBe(0)
    expect(
      price(input({ lines: [line()], shipping, promotions: [promotion({ type: 'free_shipping', productIds: ['other'] })] })).shipping,
    ).toBe(500)
  })
  test.each([
    ['nothing is shipped', { shippable: false }],
    ['it costs nothing', { shipping: { price: 0, freeShippingThreshold: null, taxRate: 0 } }],
    ['it is free from an amount on that is reached', { shipping: { price: 500, freeShippingThreshold: 999, taxRate: 0 } }],
  ])('free shipping is passed over where %s, and does not stand in the way of others', (_, changes) => {
    const alone = promotion({ id: 'a', type: 'free_shipping', priority: 5, stackable: false })
    const result = price(input({ lines: [line()], promotions: [promotion({ id: 'b' }), alone], ...changes }))
    expect(result).toMatchObject({ promotions: [{ id: 'b', discount: 100 }], freeShipping: false, discount: 100, shipping: 0 })
    const paid = price(input({ lines: [line()], promotions: [promotion({ id: 'b' }), alone] }))
    expect(paid).toMatchObject({ promotions: [{ id: 'a', discount: 0 }], freeShipping: true, discount: 0 })
  })
  test('a window runs from its start to just before its end', () => {
    expect([
      within(NOW, NOW, null),
      within(NOW, null, NOW),
      within(NOW, '2026-06-01T12:00:00.001Z', null),
      within(NOW, null, '2026-06-01T12:00:00.001Z'),
    ]).toEqual([true, false, false, true])
  })
})

describe('coupons', () => {
  test.each([
    [{ startDate: '2026-06-01T12:00:00.001Z' }, 'the coupon has not started yet'],
    [{ endDate: NOW }, 'the coupon has ended'],
    [{ maxUses: 1, timesRedeemed: 1 }, 'the coupon is used up'],
    [{ minProductCount: 3 }, 'the cart has too few products for the coupon: it needs 3'],
    [{ maxProductCount: 1 }, 'the cart has too many products for the coupon: at most 1'],
    [{ productIds: ['gone'] }, 'the coupon covers no product in the cart'],
    [{ type: 'fixed' as const, percentage: null, amount: null }, 'the coupon has no amount in the currency of the cart'],
    [{ startDate: NOW }, null],
    [{ minProductCount: 2, maxProductCount: 2 }, null],
  ])('%j: %s', (changes, reason) => expect(couponProblem(coupon(changes), new Lines([line({ quantity: 2 })]), NOW)).toBe(reason))

  test('restricted to a deleted product it covers nothing, never everything', () => {
    expect(price(input({ lines: [line()], coupons: [coupon({ productIds: ['gone'] })] }))).toMatchObject({
      discount: 0,
      refused: [{ code: 'C' }],
    })
  })
})
