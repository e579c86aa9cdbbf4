/**
 * The price of a cart: one pure function of what is in it, the discounts, the shipping, the taxes and the time. Integer minor
 * units throughout. Order of application (document 3): line prices, bundle discount, volume and other promotions, coupons,
 * loyalty, shipping, tax. Every split is by largest remainder, so that parts add up to their whole.
 */
import { mostPayable, pointsToPay, worthOf } from '../marketing/loyalty/redeeming.ts'
import { share } from '../values/money.ts'
import { takeBundles, takePromotions, type Promotion, type TakenPromotion } from './discounts.ts'
import { Lines, type Coverage, type PriceLine } from './lines.ts'

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
  loyalty: { points: number; redemptionRate: number; maxRedeemPercent: number; minorPerUnit: number } | null
  /** Null until a method is chosen. */
  shipping: { price: number; freeShippingThreshold: number | null; taxRate: number } | null
  /** Something in the cart is shipped. */
  shippable: boolean
  taxesIncluded: boolean
  /** ISO 8601, UTC. */
  now: string
}

interface PricedLine {
  subtotal: number
  discount: number
  total: number
  tax: number
}
export interface Price {
  /** In the order of the input's lines. */
  lines: PricedLine[]
  coupons: { id: string; code: string; discount: number }[]
  /** Coupons that take nothing off now, with the reason. */
  refused: { id: string; code: string; reason: string }[]
  /** The promotions that applied, in their order. */
  promotions: TakenPromotion[]
  /** A promotion makes shipping free. */
  freeShipping: boolean
  loyaltyDiscount: number
  /** The most points that may pay; 0 without any. */
  loyaltyMost: number
  pointsRedeemed: number
  subtotal: number
  discount: number
  shipping: number
  shippingTax: number
  tax: number
  total: number
}

/** Why a coupon takes nothing off a cart with these lines now, or null when it does. */
export function couponProblem(coupon: Coupon, lines: Lines, now: string): string | null {
  if (coupon.startDate !== null && now < coupon.startDate) return 'the coupon has not started yet'
  if (coupon.endDate !== null && now >= coupon.endDate) return 'the coupon has ended'
  if (coupon.maxUses !== null && coupon.timesRedeemed >= coupon.maxUses) return 'the coupon is used up'
  const { units } = lines
  if (coupon.minProductCount !== null && units < coupon.minProductCount)
    return `the cart has too few products for the coupon: it needs ${coupon.minProductCount}`
  if (coupon.maxProductCount !== null && units > coupon.maxProductCount)
    return `the cart has too many products for the coupon: at most ${coupon.maxProductCount}`
  if (!lines.covered(coupon).length) return 'the coupon covers no product in the cart'
  if (coupon.type === 'fixed' && coupon.amount === null) return 'the coupon has no amount in the currency of the cart'
  return null
}

/** As many points as reach the most that they may pay count, so that the last one may be worth more than it pays. */
function takeLoyalty(state: Lines, loyalty: PriceInput['loyalty']): { most: number; discount: number; points: number } {
  const left = state.left.reduce((sum, amount) => sum + amount, 0)
  if (!loyalty) return { most: 0, discount: 0, points: 0 }
  const { points, minorPerUnit } = loyalty
  const most = mostPayable(left, loyalty)
  const discount = state.amount(state.all, Math.min(most, worthOf(points, loyalty, minorPerUnit)))
  return {
    most: pointsToPay(most, loyalty, minorPerUnit),
    discount,
    points: Math.min(points, pointsToPay(discount, loyalty, minorPerUnit)),
  }
}

/** Tax in, or on top of, an amount; rate in percent times 10,000. */
export const taxOf = (amount: number, rate: number, included: boolean) => share(amount, rate, included ? 1_000_000 + rate : 1_000_000)

/** Prices a cart. Throws a RangeError when it is worth more than an integer can hold exactly. */
export function price(input: PriceInput): Price {
  const { lines, taxesIncluded } = input
  const subtotal = lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0)
  if (!Number.isSafeInteger(subtotal * 2)) throw new RangeError('the cart is worth more than can be counted exactly')
  const state = new Lines(lines)
  takeBundles(state)
  const method = input.shippable ? input.shipping : null
  const reached = method !== null && method.freeShippingThreshold !== null && subtotal > method.freeShippingThreshold
  // Before a method is chosen nobody knows what shipping will cost.
  const costsShipping = input.shippable && (method === null || (method.price > 0 && !reached))
  const promotions = takePromotions(state, input.promotions, { now: input.now, costsShipping })
  const coupons: Price['coupons'] = []
  const refused: Price['refused'] = []
  for (const coupon of input.coupons) {
    const reason = couponProblem(coupon, state, input.now)
    if (reason) {
      refused.push({ id: coupon.id, code: coupon.code, reason })
      continue
    }
    const indexes = state.covered(coupon)
    const discount =
      coupon.type === 'percentage' ? state.percentage(indexes, coupon.percentage ?? 0) : state.amount(indexes, coupon.amount ?? 0)
    coupons.push({ id: coupon.id, code: coupon.code, discount })
  }
  const loyalty = takeLoyalty(state, input.loyalty)
  const priced = lines.map((line, i): PricedLine => {
    const total = state.left[i]!
    return {
      subtotal: line.quantity * line.unitPrice,
      discount: line.quantity * line.unitPrice - total,
      total,
      tax: taxOf(total, line.taxRate, taxesIncluded),
    }
  })
  const discount = priced.reduce((sum, line) => sum + line.discount, 0)
  const shipping = method && !reached && !promotions.freeShipping ? method.price : 0
  const shippingTax = method ? taxOf(shipping, method.taxRate, taxesIncluded) : 0
  const tax = priced.reduce((sum, line) => sum + line.tax, shippingTax)
  return {
    lines: priced,
    coupons,
    refused,
    promotions: promotions.taken,
    freeShipping: promotions.freeShipping,
    loyaltyDiscount: loyalty.discount,
    loyaltyMost: loyalty.most,
    pointsRedeemed: loyalty.points,
    subtotal,
    discount,
    shipping,
    shippingTax,
    tax,
    total: subtotal - discount + shipping + (taxesIncluded ? 0 : tax),
  }
}
