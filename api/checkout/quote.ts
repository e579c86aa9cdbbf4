/** What a cart is worth now: reads what its price depends on, and hands it to the one function that prices (price.ts). */
import type { Db } from '../../db/driver.ts'
import type { CartItem } from '../../db/store/checkout.ts'
import { conflict } from '../http/refusal.ts'
import { worthOf } from '../marketing/points/redeeming.ts'
import type { Settings } from '../http/route.ts'
import type { PriceLine } from './discounts.ts'
import { loyaltyFor } from './quote-loyalty.ts'
import { price, type Price, type PriceInput } from './price.ts'
import { couponsFor, promotionsFor, rateFor, readLineages, readMethod, readParts, readSold, readTaxRates } from './quote-reads.ts'
import type { Part, Sold, TaxRate } from './quote-reads.ts'
import { isLocation } from './pickup-locations.ts'
import { methodPrice, type MethodRow } from './shipping.ts'

/** What a quote is made of; a cart has these fields, and so has an order taken elsewhere. */
export interface Quotable {
  currency: string
  items: readonly CartItem[]
  couponIds: readonly string[]
  shippingMethodId: string | null
  shippingAddress: { country?: string | null } | null
  billingAddress?: { country?: string | null } | null
  pickupLocationId?: string | null
  /** Points that the customer of `email` wants to pay with. */
  loyaltyPoints?: number
  email?: string | null
  /** Prices that replace the catalog's, by item id, in minor units. */
  unitPrices?: ReadonlyMap<string, number>
}

/** Why something in a cart no longer applies. */
export interface Warning {
  code: 'unavailable' | 'no_price' | 'out_of_stock' | 'coupon' | 'shipping_method' | 'pickup_location' | 'loyalty'
  message: string
  itemId?: string
  variantId?: string
  coupon?: string
}

/** One variant of a cart item, as it will stand in an order. */
export interface QuoteLine {
  item: CartItem
  variant: Sold
  quantity: number
  unitPrice: number
  taxRate: number
  bundle: PriceLine['bundle']
}

/** A cart as it is worth now, with what can't be sold any more left out and named in `warnings`. */
export interface Quote {
  price: Price
  /** In the order of `price.lines`. */
  lines: QuoteLine[]
  /** What each item is called and shows; an item that is gone has no lines. */
  faces: Map<string, { name: string; image: string | null; productId: string | null }>
  method: MethodRow | null
  /** The shipping method of the cart is in the store, though it may not be offered for this cart. */
  knowsMethod: boolean
  /** The points of the cart can't be redeemed, and others could be; with the program gone, the cart costs what it costs. */
  unredeemable: boolean
  warnings: Warning[]
  shippable: boolean
}

const nameOf = (variant: Sold) =>
  variant.variantName === variant.productName ? variant.productName : `${variant.productName} – ${variant.variantName}`

/** Where the buyer is taxed: where it goes, else (files, services) where the bill goes. */
const taxCountry = (cart: Quotable) => cart.shippingAddress?.country ?? cart.billingAddress?.country ?? null

/** How many units of each variant these lines ask for together. */
export function demandOf(lines: readonly QuoteLine[]): Map<string, { variant: Sold; units: number }> {
  const demand = new Map<string, { variant: Sold; units: number }>()
  for (const { variant, quantity } of lines) demand.set(variant.id, { variant, units: (demand.get(variant.id)?.units ?? 0) + quantity })
  return demand
}

/** Whether a variant can give so many units. */
export const canGive = (variant: Sold, units: number) =>
  !variant.tracked || variant.backorder || variant.quantity - variant.reserved >= units

/** Prices, or refuses what is worth more than an integer can hold. */
function exactPrice(input: PriceInput): Price {
  try {
    return price(input)
  } catch (error) {
    throw error instanceof RangeError ? conflict(error.message) : error
  }
}

/** What the lines of a cart are made from. */
interface Shelf {
  sold: ReadonlyMap<string, Sold>
  parts: ReadonlyMap<string, Part[]>
  rates: readonly TaxRate[]
  settings: Settings
}

async function readShelf(db: Db, items: readonly CartItem[], settings: Settings): Promise<Shelf> {
  const parts = await readParts(db, new Set(items.flatMap((item) => item.bundleId ?? [])))
  const variantIds = [...items.flatMap((item) => item.variantId ?? []), ...[...parts.values()].flat().map((part) => part.variantId)]
  return { sold: await readSold(db, new Set(variantIds)), parts, rates: await readTaxRates(db), settings }
}

/** What an item consists of: its variant, or the variants of its bundle. */
function contentsOf(
  item: CartItem,
  { sold, parts }: Shelf,
): { bundle: Part | null; wanted: { variant: Sold | undefined; units: number }[] } {
  if (!item.bundleId) return { bundle: null, wanted: [{ variant: sold.get(item.variantId!), units: 1 }] }
  const own = parts.get(item.bundleId) ?? []
  return { bundle: own[0] ?? null, wanted: own.map((part) => ({ variant: sold.get(part.variantId), units: part.quantity })) }
}

type Face = { name: string; image: string | null; productId: string | null }

function faceOf(item: CartItem, bundle: Part | null, first: Sold | undefined): Face {
  if (item.bundleId) return { name: bundle?.name ?? 'unavailable bundle', image: bundle?.images[0] ?? null, productId: null }
  return { name: first ? nameOf(first) : 'unavailable product', image: first?.images[0] ?? null, productId: first?.productId ?? null }
}

/** The lines of one item, or why it has none. */
function linesOf(item: CartItem, cart: Quotable, shelf: Shelf): { face: Face; lines: QuoteLine[]; warning?: Warning } {
  const { currency, unitPrices } = cart
  const { settings, rates } = shelf
  const { bundle, wanted } = contentsOf(item, shelf)
  const face = faceOf(item, bundle, wanted[0]?.variant)
  const gone =
    !wanted.length ||
    wanted.some(({ variant }) => !variant || !variant.active || variant.status !== 'published') ||
    (bundle !== null && bundle.status !== 'published')
  // What was agreed elsewhere is recorded, even when it is no longer sold here.
  if (gone && !unitPrices)
    return { face, lines: [], warning: { code: 'unavailable', message: `${face.name} is no longer sold`, itemId: item.id } }
  const lines: QuoteLine[] = []
  for (const { variant: found, units } of wanted) {
    const variant = found!
    const unitPrice = unitPrices?.get(item.id) ?? (currency === settings.currency ? variant.price : variant.prices[currency])
    if (unitPrice === undefined)
      return {
        face,
        lines: [],
        warning: { code: 'no_price', message: `${face.name} has no price in ${currency.toUpperCase()}`, itemId: item.id },
      }
    const taxRate = rateFor(rates, variant.taxRateId, taxCountry(cart))
    lines.push({
      item,
      variant,
      quantity: units * item.quantity,
      unitPrice,
      taxRate,
      bundle: bundle && { id: bundle.bundleId, discountPercentage: bundle.discountPercentage },
    })
  }
  return { face, lines }
}

/** Units that the stock can't give. */
function shortages(lines: readonly QuoteLine[]): Warning[] {
  return [...demandOf(lines).values()]
    .filter(({ variant, units }) => !canGive(variant, units))
    .map(({ variant }) => ({
      code: 'out_of_stock',
      message: `${nameOf(variant)}: ${Math.max(0, variant.quantity - variant.reserved)} left`,
      variantId: variant.id,
    }))
}

/** The method of a cart with its price, and why it is not offered. */
async function shippingOf(db: Db, cart: Quotable, settings: Settings) {
  const method = await readMethod(db, cart.shippingMethodId)
  const cost = method && methodPrice(method, cart.currency, settings)
  const country = cart.shippingAddress?.country ?? null
  const warnings: Warning[] = []
  if (cart.shippingMethodId && !cost) warnings.push({ code: 'shipping_method', message: 'the shipping method is no longer offered' })
  else if (method && country !== null && method.countries.length && !method.countries.includes(country))
    warnings.push({ code: 'shipping_method', message: `${method.name} does not serve ${country}` })
  return { method, cost, warnings }
}

/** Lines as the price sees them; categories count with all above them, which is asked only when a discount is about categories. */
async function priceLines(
  db: Db,
  lines: readonly QuoteLine[],
  discounts: readonly { categoryIds: readonly string[] }[],
): Promise<PriceLine[]> {
  const asked = discounts.some((discount) => discount.categoryIds.length)
  const above = await readLineages(db, new Set(asked ? lines.flatMap((line) => line.variant.categoryId ?? []) : []))
  return lines.map(({ item, variant, quantity, unitPrice, taxRate, bundle }) => ({
    itemId: item.id,
    productId: variant.productId,
    collectionIds: variant.collectionIds,
    brandId: variant.brandId,
    categoryIds: variant.categoryId === null ? [] : (above.get(variant.categoryId) ?? [variant.categoryId]),
    quantity,
    unitPrice,
    taxRate,
    bundle,
  }))
}

/** Reads and prices. */
export async function quote(db: Db, cart: Quotable, settings: Settings, now: string): Promise<Quote> {
  const shelf = await readShelf(db, cart.items, settings)
  const warnings: Warning[] = []
  const lines: QuoteLine[] = []
  const faces: Quote['faces'] = new Map()
  for (const item of cart.items) {
    const own = linesOf(item, cart, shelf)
    faces.set(item.id, own.face)
    lines.push(...own.lines)
    if (own.warning) warnings.push(own.warning)
  }
  warnings.push(...shortages(lines))
  const promotions = cart.unitPrices ? [] : await promotionsFor(db, cart.currency, settings, now)
  const coupons = await couponsFor(db, cart.couponIds, cart.currency, settings)
  const { method, cost, warnings: notShipped } = await shippingOf(db, cart, settings)
  warnings.push(...notShipped)
  if (cart.pickupLocationId && !(await isLocation(db, cart.pickupLocationId)))
    warnings.push({ code: 'pickup_location', message: 'the pickup location is no longer there' })
  const { loyalty, warning: unredeemable, isOff } = await loyaltyFor(db, cart, settings, now)
  if (unredeemable) warnings.push({ code: 'loyalty', message: unredeemable })
  const shippable = lines.some((line) => line.variant.shippable)
  const shippingRate = method ? rateFor(shelf.rates, method.taxRateId, taxCountry(cart)) : 0
  const result = exactPrice({
    lines: await priceLines(db, lines, [...promotions, ...coupons]),
    promotions,
    coupons,
    loyalty,
    taxesIncluded: settings.taxesIncluded,
    now,
    shipping: cost && shippable ? { ...cost, taxRate: shippingRate } : null,
  })
  if (coupons.length < cart.couponIds.length) warnings.push({ code: 'coupon', message: 'a coupon of the cart no longer exists' })
  for (const refusal of result.refused) warnings.push({ code: 'coupon', message: refusal.reason, coupon: refusal.code })
  if (loyalty && worthOf(loyalty.points, loyalty, loyalty.minorPerUnit) > result.loyaltyMost)
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
