/**
 * The price of a cart: one pure function of what is in it, the discounts, the shipping, the taxes and the time. Integer minor
 * units throughout. Order of application (document 3): line prices, bundle discount, volume and other promotions, coupons,
 * loyalty, shipping, tax. Every split is by largest remainder, so that parts add up to their whole.
 */
import { millionths, share, split } from '../money.ts'

/** What a discount covers: nothing named means everything; an id that is gone covers nothing. */
export interface Coverage { productIds: readonly string[], collectionIds: readonly string[], categoryIds: readonly string[], brandIds: readonly string[] }

/** One variant in a cart; those of a bundle share its `bundle`. */
export interface PriceLine {
  /** The cart item that it belongs to. */
  itemId: string
  productId: string
  collectionIds: readonly string[]
  /** Its category and all above it. */
  categoryIds: readonly string[]
  brandId: string | null
  quantity: number
  unitPrice: number
  /** Percent times 10,000. */
  taxRate: number
  bundle: { id: string, discountPercentage: number } | null
}

export interface Promotion extends Coverage {
  id: string
  type: 'percentage' | 'fixed' | 'buy_x_get_y' | 'volume' | 'free_shipping'
  percentage: number | null
  /** In the cart's currency; null when the merchant set none for it. */
  amount: number | null
  buyQuantity: number | null
  getQuantity: number | null
  getDiscountPercentage: number | null
  tiers: readonly { minQuantity: number, percentage: number }[]
  startsAt: string | null
  endsAt: string | null
  active: boolean
  /** Higher goes first. */
  priority: number
  stackable: boolean
}

export interface Coupon extends Coverage {
  id: string
  code: string
  type: 'percentage' | 'fixed'
  percentage: number | null
  /** In the cart's currency; null when the merchant set none for it. */
  amount: number | null
  timesRedeemed: number
  maxUses: number | null
  startDate: string | null
  endDate: string | null
  minProductCount: number | null
  maxProductCount: number | null
}

export interface PriceInput {
  lines: readonly PriceLine[]
  promotions: readonly Promotion[]
  /** In the order in which they were added. */
  coupons: readonly Coupon[]
  loyalty: { points: number, redemptionRate: number, maxRedeemPercent: number, minorPerUnit: number } | null
  shipping: { price: number, freeShippingThreshold: number | null, taxRate: number } | null
  taxesIncluded: boolean
  /** ISO 8601, UTC. */
  now: string
}

export interface PricedLine { subtotal: number, discount: number, total: number, tax: number }
export interface Price {
  /** In the order of the input's lines. */
  lines: PricedLine[]
  coupons: { id: string, code: string, discount: number }[]
  /** Coupons that take nothing off now, with the reason. */
  refused: { id: string, code: string, reason: string }[]
  promotionIds: string[]
  /** A promotion makes shipping free. */
  freeShipping: boolean
  loyaltyDiscount: number
  pointsRedeemed: number
  subtotal: number
  discount: number
  shipping: number
  shippingTax: number
  tax: number
  total: number
}

/** Whether a discount covers a line. */
export function covers(coverage: Coverage, line: Pick<PriceLine, 'productId' | 'collectionIds' | 'categoryIds' | 'brandId'>): boolean {
  const { productIds, collectionIds, categoryIds, brandIds } = coverage
  if (!productIds.length && !collectionIds.length && !categoryIds.length && !brandIds.length) return true
  return productIds.includes(line.productId) || line.collectionIds.some((id) => collectionIds.includes(id))
    || line.categoryIds.some((id) => categoryIds.includes(id)) || (line.brandId !== null && brandIds.includes(line.brandId))
}

/** Whether an instant lies in a window: from its start, to just before its end; null is open. */
export const within = (now: string, start: string | null, end: string | null) => (start === null || start <= now) && (end === null || now < end)

/** Why a coupon takes nothing off a cart with these lines now, or null when it does. */
export function couponProblem(coupon: Coupon, lines: readonly PriceLine[], now: string): string | null {
  if (coupon.startDate !== null && now < coupon.startDate) return 'the coupon has not started yet'
  if (coupon.endDate !== null && now >= coupon.endDate) return 'the coupon has ended'
  if (coupon.maxUses !== null && coupon.timesRedeemed >= coupon.maxUses) return 'the coupon is used up'
  const units = lines.reduce((sum, line) => sum + line.quantity, 0)
  if (coupon.minProductCount !== null && units < coupon.minProductCount) return `the cart has too few products for the coupon: it needs ${coupon.minProductCount}`
  if (coupon.maxProductCount !== null && units > coupon.maxProductCount) return `the cart has too many products for the coupon: at most ${coupon.maxProductCount}`
  if (!lines.some((line) => covers(coupon, line))) return 'the coupon covers no product in the cart'
  if (coupon.type === 'fixed' && coupon.amount === null) return 'the coupon has no amount in the currency of the cart'
  return null
}

/** How many of the first `n` units, dearest first, a buy-x-get-y takes off: the last `get` of each full group. */
function freeUnits(n: number, total: number, buy: number, get: number): number {
  const group = buy + get
  const counted = Math.min(n, Math.floor(total / group) * group)
  return Math.floor(counted / group) * get + Math.max(0, counted % group - buy)
}

class Lines {
  /** What is still to be paid of each line. */
  readonly left: number[]
  constructor(readonly lines: readonly PriceLine[]) { this.left = lines.map((line) => line.quantity * line.unitPrice) }

  covered(coverage: Coverage): number[] { return this.lines.flatMap((line, i) => covers(coverage, line) ? [i] : []) }

  /** Takes a percentage off each of these lines, rounded per line; returns how much in all. */
  percentage(indexes: readonly number[], percent: number): number {
    return indexes.reduce((sum, i) => sum + this.take(i, share(this.left[i]!, millionths(percent), 1_000_000)), 0)
  }

  /** Takes an amount off these lines together, in proportion to what is left of each. */
  amount(indexes: readonly number[], amount: number): number {
    const weights = indexes.map((i) => this.left[i]!)
    const off = Math.min(amount, weights.reduce((sum, weight) => sum + weight, 0))
    split(off, weights).forEach((part, k) => this.take(indexes[k]!, part))
    return off
  }

  take(i: number, amount: number): number {
    const off = Math.min(amount, this.left[i]!)
    this.left[i]! -= off
    return off
  }
}

function takeBundles(state: Lines) {
  const items = new Map<string, number[]>()
  state.lines.forEach((line, i) => { if (line.bundle) items.set(line.itemId, [...items.get(line.itemId) ?? [], i]) })
  for (const indexes of items.values()) {
    const sum = indexes.reduce((total, i) => total + state.left[i]!, 0)
    state.amount(indexes, share(sum, millionths(state.lines[indexes[0]!]!.bundle!.discountPercentage), 1_000_000))
  }
}

function takePromotion(state: Lines, promotion: Promotion, indexes: readonly number[]): number {
  const { lines } = state
  switch (promotion.type) {
    case 'percentage': return state.percentage(indexes, promotion.percentage ?? 0)
    case 'fixed': return promotion.amount === null ? 0 : state.amount(indexes, promotion.amount)
    case 'free_shipping': return 0
    case 'volume': {
      const units = new Map<string, number>()
      for (const i of indexes) units.set(lines[i]!.productId, (units.get(lines[i]!.productId) ?? 0) + lines[i]!.quantity)
      const percentOf = (quantity: number) => promotion.tiers.reduce((best, tier) => tier.minQuantity <= quantity ? Math.max(best, tier.percentage) : best, 0)
      return indexes.reduce((sum, i) => sum + state.percentage([i], percentOf(units.get(lines[i]!.productId)!)), 0)
    }
    case 'buy_x_get_y': {
      const buy = promotion.buyQuantity ?? 1
      const get = promotion.getQuantity ?? 1
      const dearestFirst = [...indexes].sort((a, b) => lines[b]!.unitPrice - lines[a]!.unitPrice || a - b)
      const total = dearestFirst.reduce((sum, i) => sum + lines[i]!.quantity, 0)
      let before = 0
      let off = 0
      for (const i of dearestFirst) {
        const { quantity } = lines[i]!
        const free = freeUnits(before + quantity, total, buy, get) - freeUnits(before, total, buy, get)
        before += quantity
        off += state.take(i, share(share(state.left[i]!, free, quantity), millionths(promotion.getDiscountPercentage ?? 100), 1_000_000))
      }
      return off
    }
  }
}

/** Applies the promotions that run now, higher priority first; one that does not stack goes alone. */
function takePromotions(state: Lines, input: PriceInput): { ids: string[], freeShipping: boolean } {
  const ids: string[] = []
  let freeShipping = false
  const running = input.promotions.filter((p) => p.active && within(input.now, p.startsAt, p.endsAt))
    .sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
  for (const promotion of running) {
    if (ids.length && !promotion.stackable) continue
    const indexes = state.covered(promotion)
    if (!indexes.length) continue
    const off = takePromotion(state, promotion, indexes)
    if (promotion.type === 'free_shipping') freeShipping = true
    else if (off === 0) continue
    ids.push(promotion.id)
    if (!promotion.stackable) break
  }
  return { ids, freeShipping }
}

function takeLoyalty(state: Lines, loyalty: PriceInput['loyalty']): { discount: number, points: number } {
  if (!loyalty || loyalty.points <= 0) return { discount: 0, points: 0 }
  const left = state.left.reduce((sum, amount) => sum + amount, 0)
  const most = Math.floor(left * millionths(loyalty.maxRedeemPercent) / 1_000_000)
  const worth = Math.floor(loyalty.points * loyalty.minorPerUnit / loyalty.redemptionRate)
  const discount = state.amount(state.lines.map((_, i) => i), Math.min(most, worth))
  return { discount, points: Math.min(loyalty.points, Math.ceil(discount * loyalty.redemptionRate / loyalty.minorPerUnit)) }
}

/** Tax in, or on top of, an amount; rate in percent times 10,000. */
export const taxOf = (amount: number, rate: number, included: boolean) =>
  share(amount, rate, included ? 1_000_000 + rate : 1_000_000)

/** Prices a cart. Throws a RangeError when it is worth more than an integer can hold exactly. */
export function price(input: PriceInput): Price {
  const { lines, taxesIncluded } = input
  const subtotal = lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0)
  if (!Number.isSafeInteger(subtotal * 2)) throw new RangeError('the cart is worth more than can be counted exactly')
  const state = new Lines(lines)
  takeBundles(state)
  const promotions = takePromotions(state, input)
  const coupons: Price['coupons'] = []
  const refused: Price['refused'] = []
  for (const coupon of input.coupons) {
    const reason = couponProblem(coupon, lines, input.now)
    if (reason) {
      refused.push({ id: coupon.id, code: coupon.code, reason })
      continue
    }
    const indexes = state.covered(coupon)
    const discount = coupon.type === 'percentage' ? state.percentage(indexes, coupon.percentage ?? 0) : state.amount(indexes, coupon.amount ?? 0)
    coupons.push({ id: coupon.id, code: coupon.code, discount })
  }
  const loyalty = takeLoyalty(state, input.loyalty)
  const priced = lines.map((line, i): PricedLine => {
    const total = state.left[i]!
    return { subtotal: line.quantity * line.unitPrice, discount: line.quantity * line.unitPrice - total, total, tax: taxOf(total, line.taxRate, taxesIncluded) }
  })
  const discount = priced.reduce((sum, line) => sum + line.discount, 0)
  const { shipping: method } = input
  const free = promotions.freeShipping || (method !== null && method.freeShippingThreshold !== null && subtotal > method.freeShippingThreshold)
  const shipping = method && !free ? method.price : 0
  const shippingTax = method ? taxOf(shipping, method.taxRate, taxesIncluded) : 0
  const tax = priced.reduce((sum, line) => sum + line.tax, shippingTax)
  return {
    lines: priced, coupons, refused, promotionIds: promotions.ids, freeShipping: promotions.freeShipping, loyaltyDiscount: loyalty.discount, pointsRedeemed: loyalty.points,
    subtotal, discount, shipping, shippingTax, tax, total: subtotal - discount + shipping + (taxesIncluded ? 0 : tax),
  }
}
