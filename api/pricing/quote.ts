/** The quote of a cart: reads the rows on which its price depends, and hands them to the one function that prices (price.ts). */
import type { Reader } from '../../db/driver.ts'
import { conflict } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import type { Coverage, PriceLine } from './lines.ts'
import { readLines, taxCountry, type Face, type QuoteLine, type Wanted, type Warning } from './quote-lines.ts'
import { loyaltyFor } from './quote-loyalty.ts'
import { price, type Price, type PriceInput } from './price.ts'
import { couponsFor, readCollections, readLineages } from './quote-reads.ts'
import { isLocation, methodPrice, type MethodRow } from './shipping-method.ts'
import { methodOf, promotionsIn, rateFor, readRules, type PriceRules } from './price-rules.ts'

/** The fields that a quote is made from; a cart has them, and so has an order taken elsewhere. */
interface Quotable extends Wanted {
  couponIds: readonly string[]
  shippingMethodId: string | null
  pickupLocationId?: string | null
  /** Points that the customer of `email` wants to pay with. */
  loyaltyPoints?: number
  email?: string | null
}

/** A cart as it is worth now, with what can't be sold any more left out and named in `warnings`. */
export interface Quote {
  price: Price
  /** In the order of `price.lines`. */
  lines: QuoteLine[]
  /** The name and the picture of each item, by its id; an item that is gone has no lines. */
  faces: Map<string, Face>
  method: MethodRow | null
  /** The shipping method of the cart is in the store, though it may not be offered for this cart. */
  knowsMethod: boolean
  /** The points of the cart can't be redeemed, and others could be; with the program gone, the cart costs what it costs. */
  unredeemable: boolean
  warnings: Warning[]
  shippable: boolean
}

/** Prices, or refuses what is worth more than an integer can hold. */
function exactPrice(input: PriceInput): Price {
  try {
    return price(input)
  } catch (error) {
    throw error instanceof RangeError ? conflict(error.message) : error
  }
}

/** The method of a cart with its price, and why it is not offered. */
async function shippingOf(db: Reader, cart: Quotable, settings: Settings, rules: PriceRules) {
  const method = await methodOf(db, rules, cart.shippingMethodId)
  const cost = method && methodPrice(method, cart.currency, settings)
  const country = cart.shippingAddress?.country ?? null
  const warnings: Warning[] = []
  if (cart.shippingMethodId && !cost) warnings.push({ code: 'shipping_method', message: 'the shipping method is no longer offered' })
  else if (method && country !== null && method.countries.length && !method.countries.includes(country))
    warnings.push({ code: 'shipping_method', message: `${method.name} does not serve ${country}` })
  return { method, cost, warnings }
}

/** Lines as the price sees them; their collections, and their categories with all above them, are asked only when a discount is about such. */
async function priceLines(db: Reader, lines: readonly QuoteLine[], discounts: readonly Coverage[]): Promise<PriceLine[]> {
  const about = (field: keyof Coverage) => discounts.some((discount) => discount[field].length)
  const above = await readLineages(db, new Set(about('categoryIds') ? lines.flatMap((line) => line.variant.categoryId ?? []) : []))
  const collections = await readCollections(db, new Set(about('collectionIds') ? lines.map((line) => line.variant.productId) : []))
  return lines.map(({ item, variant, quantity, unitPrice, taxRate, bundle }) => ({
    itemId: item.id,
    productId: variant.productId,
    collectionIds: collections.get(variant.productId) ?? [],
    brandId: variant.brandId,
    categoryIds: variant.categoryId === null ? [] : (above.get(variant.categoryId) ?? [variant.categoryId]),
    quantity,
    unitPrice,
    taxRate,
    bundle,
  }))
}

/** Reads and prices. */
export async function quote(db: Reader, cart: Quotable, settings: Settings, now: string): Promise<Quote> {
  const rules = await readRules(db, now)
  const { lines, faces, warnings } = await readLines(db, cart, settings, now, rules)
  const promotions = cart.unitPrices ? [] : promotionsIn(rules, cart.currency, settings)
  const coupons = await couponsFor(db, cart.couponIds, cart.currency, settings)
  const { method, cost, warnings: notShipped } = await shippingOf(db, cart, settings, rules)
  warnings.push(...notShipped)
  if (cart.pickupLocationId && !(await isLocation(db, cart.pickupLocationId)))
    warnings.push({ code: 'pickup_location', message: 'the pickup location is no longer there' })
  const { loyalty, warning: unredeemable, isOff } = await loyaltyFor(db, cart, settings, now)
  if (unredeemable) warnings.push({ code: 'loyalty', message: unredeemable })
  const shippable = lines.some(({ variant, slot }) => variant.shippable && !slot)
  const shippingRate = method ? rateFor(rules.taxRates, method.taxRateId, taxCountry(cart)) : 0
  const result = exactPrice({
    lines: await priceLines(db, lines, [...promotions, ...coupons]),
    promotions,
    coupons,
    loyalty,
    taxesIncluded: settings.taxesIncluded,
    now,
    shipping: cost && { ...cost, taxRate: shippingRate },
    shippable,
  })
  if (coupons.length < cart.couponIds.length) warnings.push({ code: 'coupon', message: 'a coupon of the cart no longer exists' })
  for (const refusal of result.refused) warnings.push({ code: 'coupon', message: refusal.reason, coupon: refusal.code })
  if (loyalty && loyalty.points > result.loyaltyMost)
    warnings.push({ code: 'loyalty', message: `of the points, only ${result.pointsRedeemed} can be redeemed in this cart` })
  return {
    price: result,
    lines,
    faces,
    method: cost ? method : null,
    knowsMethod: method !== null,
    unredeemable: unredeemable !== undefined && !isOff,
    warnings,
    shippable,
  }
}
