/** The price of a cart beside a model that was written from the documents alone: slow, in exact fractions, sharing nothing with the rules. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Promotion } from '../../api/pricing/discounts.ts'
import type { Coverage, PriceLine } from '../../api/pricing/lines.ts'
import { price, type Coupon, type PriceInput } from '../../api/pricing/price.ts'

const NOW = '2026-06-01T12:00:00.000Z'

/** An exact fraction. */
type Fraction = [numerator: bigint, denominator: bigint]
/** A number with a few decimals, exactly as it is written. */
const exact = (value: number): Fraction => {
  const [whole, part = ''] = String(value).split('.')
  return [BigInt(whole! + part), 10n ** BigInt(part.length)]
}
const times = (amount: number, ...factors: Fraction[]): Fraction =>
  factors.reduce<Fraction>(([a, b], [c, d]) => [a * c, b * d], [BigInt(amount), 1n])
const halfUp = ([a, b]: Fraction) => Number((2n * a + b) / (2n * b))
const down = ([a, b]: Fraction) => Number(a / b)
const up = ([a, b]: Fraction) => Number((a + b - 1n) / b)
const percent = (value: number): Fraction => {
  const [a, b] = exact(value)
  return [a, b * 100n]
}
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)

/** Shares of a whole by largest remainder, the earlier one first. */
function shares(whole: number, weights: number[]): number[] {
  const total = BigInt(sum(weights))
  const parts = weights.map((weight) => Number((BigInt(whole) * BigInt(weight)) / total))
  const rest = weights.map((weight) => (BigInt(whole) * BigInt(weight)) % total)
  for (let left = whole - sum(parts); left > 0; left--) {
    const at = rest.reduce((best, value, i) => (value > rest[best]! ? i : best), 0)
    parts[at]!++
    rest[at] = -1n
  }
  return parts
}

const names = (c: Coverage, l: PriceLine) =>
  c.productIds.some((id) => id === l.productId) ||
  c.collectionIds.some((id) => l.collectionIds.some((own) => own === id)) ||
  c.categoryIds.some((id) => l.categoryIds.some((own) => own === id)) ||
  c.brandIds.some((id) => id === l.brandId)
const isFor = (c: Coverage, l: PriceLine) =>
  c.productIds.length + c.collectionIds.length + c.categoryIds.length + c.brandIds.length === 0 || names(c, l)

function model(input: PriceInput) {
  const { lines, taxesIncluded } = input
  const left = lines.map((l) => l.quantity * l.unitPrice)
  const subtotal = sum(left)
  const takeShare = (i: number, part: Fraction) => {
    const off = halfUp(times(left[i]!, part))
    left[i]! -= off
    return off
  }
  const takeAmount = (at: number[], amount: number) => {
    const most = sum(at.map((i) => left[i]!))
    const off = Math.min(amount, most)
    if (off > 0)
      shares(
        off,
        at.map((i) => left[i]!),
      ).forEach((part, k) => (left[at[k]!]! -= part))
    return off
  }
  const positions = lines.map((_, i) => i)

  for (const itemId of new Set(lines.map((l) => l.itemId))) {
    const at = positions.filter((i) => lines[i]!.itemId === itemId && lines[i]!.bundle)
    if (at.length) takeAmount(at, halfUp(times(sum(at.map((i) => left[i]!)), percent(lines[at[0]!]!.bundle!.discountPercentage))))
  }

  const method = input.shippable ? input.shipping : null
  const threshold = method?.freeShippingThreshold ?? null
  let shipping = method === null || (threshold !== null && subtotal > threshold) ? 0 : method.price
  let isFree = !input.shippable || (method !== null && shipping === 0)

  const applied: { id: string; name: string; discount: number }[] = []
  const inOrder = [...input.promotions].sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
  for (const p of inOrder) {
    if (applied.length && !p.stackable) continue
    const at = positions.filter((i) => isFor(p, lines[i]!))
    if (!at.length) continue
    const before = sum(left)
    let frees = false
    if (p.type === 'percentage') for (const i of at) takeShare(i, percent(p.percentage!))
    if (p.type === 'fixed') takeAmount(at, p.amount ?? 0)
    if (p.type === 'volume') {
      const units = (i: number) => sum(at.filter((k) => lines[k]!.productId === lines[i]!.productId).map((k) => lines[k]!.quantity))
      for (const i of at) takeShare(i, percent(Math.max(0, ...p.tiers.filter((t) => t.minQuantity <= units(i)).map((t) => t.percentage))))
    }
    if (p.type === 'buy_x_get_y') {
      // Every unit by itself, the dearest first; of each full group the last ones are given.
      const all = at.flatMap((i) => Array.from({ length: lines[i]!.quantity }, () => i))
      all.sort((a, b) => lines[b]!.unitPrice - lines[a]!.unitPrice || a - b)
      const group = p.buyQuantity! + p.getQuantity!
      const given = all.filter((_, n) => n < Math.floor(all.length / group) * group && n % group >= p.buyQuantity!)
      for (const i of at) {
        const units = given.filter((other) => other === i).length
        takeShare(i, times(units, [1n, BigInt(lines[i]!.quantity)], percent(p.getDiscountPercentage!)))
      }
    }
    if (p.type === 'free_shipping' && !isFree) frees = true
    const discount = before - sum(left)
    if (discount === 0 && !frees) continue
    if (frees) [isFree, shipping] = [true, 0]
    applied.push({ id: p.id, name: p.name, discount })
    if (!p.stackable) break
  }

  const coupons: { id: string; discount: number }[] = []
  for (const c of input.coupons) {
    const at = positions.filter((i) => isFor(c, lines[i]!))
    if (!at.length) continue
    const before = sum(left)
    if (c.type === 'percentage') for (const i of at) takeShare(i, percent(c.percentage!))
    else takeAmount(at, c.amount!)
    coupons.push({ id: c.id, discount: before - sum(left) })
  }

  let points = 0
  if (input.loyalty) {
    const { redemptionRate, maxRedeemPercent, minorPerUnit } = input.loyalty
    const [a, b] = exact(redemptionRate)
    const limit = down(times(sum(left), percent(maxRedeemPercent)))
    const toPay = (cents: number) => up(times(cents, [a, b * BigInt(minorPerUnit)]))
    const worth = down(times(input.loyalty.points, [b * BigInt(minorPerUnit), a]))
    const off = takeAmount(positions, Math.min(limit, worth))
    points = Math.min(input.loyalty.points, toPay(off))
  }

  const taxOf = (amount: number, rate: number) =>
    halfUp(times(amount, taxesIncluded ? [BigInt(rate), BigInt(1_000_000 + rate)] : [BigInt(rate), 1_000_000n]))
  const taxes = lines.map((l, i) => taxOf(left[i]!, l.taxRate))
  const shippingTax = method ? taxOf(shipping, method.taxRate) : 0
  const tax = sum(taxes) + shippingTax
  const discount = subtotal - sum(left)
  return {
    lines: lines.map((_, i) => ({ total: left[i], tax: taxes[i] })),
    promotions: applied,
    coupons,
    pointsRedeemed: points,
    subtotal,
    discount,
    shipping,
    shippingTax,
    tax,
    total: subtotal - discount + shipping + (taxesIncluded ? 0 : tax),
  }
}

const coverage = fc.record({
  productIds: fc.subarray(['p0', 'p1', 'p2', 'gone']),
  collectionIds: fc.subarray(['k0', 'k1']),
  categoryIds: fc.subarray(['g0']),
  brandIds: fc.subarray(['b0']),
})
/** Often nothing, so that it covers everything. */
const anyCoverage = fc.oneof(fc.constant({ productIds: [], collectionIds: [], categoryIds: [], brandIds: [] }), coverage)
const share = fc.oneof(
  fc.constantFrom(0, 5, 10, 33.3333, 50, 99.9999, 100),
  fc.integer({ min: 0, max: 1_000_000 }).map((n) => n / 10_000),
)
const cents = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 3_000_000 }))
const line: fc.Arbitrary<PriceLine> = fc.record({
  itemId: fc.constantFrom('i0', 'i1', 'i2', 'i3'),
  productId: fc.constantFrom('p0', 'p1', 'p2'),
  collectionIds: fc.subarray(['k0', 'k1']),
  categoryIds: fc.subarray(['g0', 'g1']),
  brandId: fc.constantFrom(null, 'b0'),
  quantity: fc.integer({ min: 1, max: 9 }),
  unitPrice: cents,
  taxRate: fc.constantFrom(0, 50_000, 80_000, 107_500, 230_000),
  bundle: fc.constantFrom(null, null, { id: 'u', discountPercentage: 12.5 }),
})
const promotion: fc.Arbitrary<Promotion> = fc
  .record({
    within: anyCoverage,
    id: fc.uuid(),
    name: fc.constant('Sale'),
    type: fc.constantFrom('percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping'),
    percentage: share,
    amount: fc.option(cents),
    buyQuantity: fc.integer({ min: 1, max: 4 }),
    getQuantity: fc.integer({ min: 1, max: 3 }),
    getDiscountPercentage: share,
    tiers: fc.array(fc.record({ minQuantity: fc.integer({ min: 1, max: 15 }), percentage: share }), { maxLength: 4 }),
    priority: fc.integer({ min: 0, max: 2 }),
    stackable: fc.boolean(),
  })
  .map(({ within, ...rest }) => ({ ...within, ...rest, startsAt: null, endsAt: null, active: true }))
const unlimited = { timesRedeemed: 0, maxUses: null, startDate: null, endDate: null, minProductCount: null, maxProductCount: null }
const coupon: fc.Arbitrary<Coupon> = fc
  .record({ within: anyCoverage, id: fc.uuid(), type: fc.constantFrom('percentage', 'fixed'), percentage: share, amount: cents })
  .map(({ within, ...rest }) => ({ ...within, ...rest, ...unlimited, code: rest.id }))
const cart: fc.Arbitrary<PriceInput> = fc.record({
  lines: fc.array(line, { maxLength: 8 }),
  promotions: fc.array(promotion, { maxLength: 4 }),
  coupons: fc.array(coupon, { maxLength: 2 }),
  loyalty: fc.option(
    fc.record({
      points: fc.oneof(fc.nat(200), fc.nat(1_000_000)),
      redemptionRate: fc.constantFrom(0.07, 1, 3, 10, 99.999999, 100, 1_000),
      maxRedeemPercent: fc.constantFrom(1, 33.3333, 50, 100),
      minorPerUnit: fc.constantFrom(1, 100, 1_000),
    }),
  ),
  shipping: fc.option(
    fc.record({ price: fc.constantFrom(0, 499), freeShippingThreshold: fc.option(cents), taxRate: fc.constantFrom(0, 230_000) }),
  ),
  shippable: fc.boolean(),
  taxesIncluded: fc.boolean(),
  now: fc.constant(NOW),
})

test('a cart costs what the documents say, to the cent, with each line, tax, discount and point', () => {
  fc.assert(
    fc.property(cart, (input) => {
      const { coupons, ...result } = price(input)
      expect({ ...result, coupons: coupons.map(({ id, discount }) => ({ id, discount })) }).toMatchObject(model(input))
    }),
    { numRuns: 10_000 },
  )
})
