/** What a cart is worth now: reads what its price depends on, and hands it to the one function that prices (price.ts). */
import { and, eq, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { bundles, bundleVariants, products, taxRates, variants } from '../../db/store/catalog.ts'
import { shippingMethods, type CartItem } from '../../db/store/checkout.ts'
import { coupons, promotions } from '../../db/store/marketing.ts'
import { collectionIds } from '../catalog/read.ts'
import { conflict } from '../http/refusal.ts'
import type { Settings } from '../http/route.ts'
import { methodPrice, type MethodRow } from './shipping.ts'
import type { PriceLine, Promotion } from './discounts.ts'
import { price, type Coupon, type Price, type PriceInput } from './price.ts'

/** What a quote is made of; a cart has these fields, and so has an order taken elsewhere. */
export interface Quotable {
  currency: string, items: readonly CartItem[], couponIds: readonly string[], shippingMethodId: string | null
  shippingAddress: { country?: string | null } | null
  /** Prices that replace the catalog's, by item id, in minor units. */
  unitPrices?: ReadonlyMap<string, number>
}

/** Why something in a cart no longer applies. */
export interface Warning { code: 'unavailable' | 'no_price' | 'out_of_stock' | 'coupon' | 'shipping_method', message: string, itemId?: string, variantId?: string, coupon?: string }

const sold = compile((db) => db.select({
  id: variants.id, productId: variants.productId, variantName: variants.name, sku: variants.sku, price: variants.price, prices: variants.prices, tracked: variants.tracked,
  quantity: variants.quantity, reserved: variants.reserved, backorder: variants.backorder, shippable: variants.shippable, bookable: variants.bookable, taxRateId: variants.taxRateId,
  active: variants.active, productName: products.name, status: products.status, images: products.images, categoryId: products.categoryId, brandId: products.brandId,
  collectionIds: collectionIds.as('collection_ids'),
}).from(variants).innerJoin(products, eq(products.id, variants.productId)).where(sql`${variants.id} in (select value from json_each(${named('ids')}))`))
const bundleParts = compile((db) => db.select({
  bundleId: bundles.id, name: bundles.name, images: bundles.images, status: bundles.status, discountPercentage: bundles.discountPercentage,
  variantId: bundleVariants.variantId, quantity: bundleVariants.quantity,
}).from(bundles).innerJoin(bundleVariants, eq(bundleVariants.bundleId, bundles.id)).where(sql`${bundles.id} in (select value from json_each(${named('ids')}))`).orderBy(bundleVariants.bundleId, bundleVariants.position, bundleVariants.variantId))
const couponsByIds = compile((db) => db.select().from(coupons).where(sql`${coupons.id} in (select value from json_each(${named('ids')}))`))
/** More automatic discounts than any cart can make sense of. */
const PROMOTIONS_MAX = 500
const runningPromotions = compile((db) => db.select().from(promotions).where(and(eq(promotions.active, true), sql`(${promotions.endsAt} is null or ${promotions.endsAt} > ${named('now')})`)).limit(PROMOTIONS_MAX))
const allTaxRates = compile((db) => db.select({ id: taxRates.id, rate: taxRates.rate, countries: taxRates.countries, default: taxRates.default }).from(taxRates).limit(1000))
const methodById = compile((db) => db.select().from(shippingMethods).where(eq(shippingMethods.id, named('id'))))
const ancestors = compile((db) => db.select({ id: sql<string>`c.id`, top: sql<string>`c.top` }).from(sql`(with recursive up(id, parent_id, top) as (
  select id, parent_id, id from categories where id in (select value from json_each(${named('ids')})) union all select c.id, c.parent_id, up.top from categories c join up on c.id = up.parent_id
) select id, top from up) c`))

export type Sold = { id: string, productId: string, variantName: string, sku: string | null, price: number, prices: Record<string, number>, tracked: boolean, quantity: number, reserved: number,
  backorder: boolean, shippable: boolean, bookable: boolean, taxRateId: string | null, active: boolean, productName: string, status: string, images: string[], categoryId: string | null,
  brandId: string | null, collectionIds: string[] }
interface Part { bundleId: string, name: string, images: string[], status: string, discountPercentage: number, variantId: string, quantity: number }
export type TaxRate = { id: string, rate: number, countries: string[], default: boolean }

/** One variant of a cart item, as it will stand in an order. */
export interface QuoteLine { item: CartItem, variant: Sold, quantity: number, unitPrice: number, taxRate: number }
export interface Quote {
  price: Price
  /** In the order of `price.lines`. */
  lines: QuoteLine[]
  /** What each item is called and shows; an item that is gone has no lines. */
  faces: Map<string, { name: string, image: string | null, productId: string | null }>
  method: MethodRow | null
  /** The shipping method of the cart is in the store, though it may not be offered for this cart. */
  knowsMethod: boolean
  warnings: Warning[]
  shippable: boolean
}

/** The rate for a country: the one named, else the default for the country, else the default for everywhere. 0 where none applies. */
export function rateFor(rates: readonly TaxRate[], id: string | null, country: string | null): number {
  const applies = (rate: TaxRate) => !rate.countries.length || country === null || rate.countries.includes(country)
  if (id !== null) {
    const rate = rates.find((candidate) => candidate.id === id)
    return rate && applies(rate) ? rate.rate : 0
  }
  const defaults = rates.filter((rate) => rate.default && applies(rate))
  return (defaults.find((rate) => rate.countries.length && country !== null) ?? defaults.find((rate) => !rate.countries.length) ?? defaults[0])?.rate ?? 0
}

const nameOf = (variant: Sold) => variant.variantName === variant.productName ? variant.productName : `${variant.productName} – ${variant.variantName}`
const byId = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

/** How many units of each variant these lines ask for together. */
export function demandOf(lines: readonly QuoteLine[]): Map<string, { variant: Sold, units: number }> {
  const demand = new Map<string, { variant: Sold, units: number }>()
  for (const { variant, quantity } of lines) demand.set(variant.id, { variant, units: (demand.get(variant.id)?.units ?? 0) + quantity })
  return demand
}

/** Whether a variant can give so many units. */
export const canGive = (variant: Sold, units: number) => !variant.tracked || variant.backorder || variant.quantity - variant.reserved >= units

async function promotionsFor(db: Db, currency: string, settings: Settings, now: string): Promise<Promotion[]> {
  const rows = await runningPromotions.all(db, { now }) as (typeof promotions.$inferSelect)[]
  return rows.map((row) => ({ ...row, amount: currency === settings.currency ? row.amount : row.currencyAmounts[currency] ?? null }))
}

/** Coupons as the price sees them, in the order of their ids. */
export async function couponsFor(db: Db, ids: readonly string[], currency: string, settings: Settings): Promise<Coupon[]> {
  if (!ids.length) return []
  const found = byId(await couponsByIds.all(db, { ids: JSON.stringify(ids) }) as (typeof coupons.$inferSelect)[])
  return ids.flatMap((id) => {
    const row = found.get(id)
    return row ? [{ ...row, amount: row.type === 'percentage' ? null : currency === settings.currency ? row.amount : row.currencyAmounts[currency] ?? null }] : []
  })
}

/** Each category with all above it; only asked when a discount is about categories. */
async function lineages(db: Db, lines: readonly QuoteLine[], discounts: readonly { categoryIds: readonly string[] }[]): Promise<Map<string, string[]>> {
  const result = new Map<string, string[]>()
  if (!discounts.some((discount) => discount.categoryIds.length)) return result
  const ids = [...new Set(lines.flatMap((line) => line.variant.categoryId ?? []))]
  for (const { id, top } of await ancestors.all(db, { ids: JSON.stringify(ids) }) as { id: string, top: string }[]) result.set(top, [...result.get(top) ?? [], id])
  return result
}

/** Prices, or refuses what is worth more than an integer can hold. */
function exactPrice(input: PriceInput): Price {
  try {
    return price(input)
  } catch (error) {
    throw error instanceof RangeError ? conflict(error.message) : error
  }
}

/** Reads and prices. What can't be sold any more is left out of the price and named in `warnings`. */
export async function quote(db: Db, cart: Quotable, settings: Settings, now: string): Promise<Quote> {
  const { currency, items } = cart
  const warnings: Warning[] = []
  const bundleIds = [...new Set(items.flatMap((item) => item.bundleId ?? []))]
  const parts = bundleIds.length ? await bundleParts.all(db, { ids: JSON.stringify(bundleIds) }) as Part[] : []
  const variantIds = new Set([...items.flatMap((item) => item.variantId ?? []), ...parts.map((part) => part.variantId)])
  const found = variantIds.size ? byId(await sold.all(db, { ids: JSON.stringify([...variantIds]) }) as Sold[]) : new Map<string, Sold>()
  const rates = await allTaxRates.all(db) as TaxRate[]
  const country = cart.shippingAddress?.country ?? null
  const lines: QuoteLine[] = []
  const bundlesOf = new Map<QuoteLine, PriceLine['bundle']>()
  const faces: Quote['faces'] = new Map()

  for (const item of items) {
    const own = item.bundleId ? parts.filter((part) => part.bundleId === item.bundleId) : []
    const wanted = item.bundleId ? own.map((part) => ({ variant: found.get(part.variantId), units: part.quantity })) : [{ variant: found.get(item.variantId!), units: 1 }]
    const first = wanted[0]?.variant
    faces.set(item.id, item.bundleId
      ? { name: own[0]?.name ?? 'unavailable bundle', image: own[0]?.images[0] ?? null, productId: null }
      : { name: first ? nameOf(first) : 'unavailable product', image: first?.images[0] ?? null, productId: first?.productId ?? null })
    const gone = !wanted.length || wanted.some(({ variant }) => !variant || !variant.active || variant.status !== 'published') || (item.bundleId && own[0]!.status !== 'published')
    if (gone && !cart.unitPrices) {
      warnings.push({ code: 'unavailable', message: `${faces.get(item.id)!.name} is no longer sold`, itemId: item.id })
      continue
    }
    const priced = wanted.map(({ variant, units }) => ({ variant: variant!, units, unitPrice: cart.unitPrices?.get(item.id) ?? (currency === settings.currency ? variant!.price : variant!.prices[currency] ?? null) }))
    if (priced.some((part) => part.unitPrice === null)) {
      warnings.push({ code: 'no_price', message: `${faces.get(item.id)!.name} has no price in ${currency.toUpperCase()}`, itemId: item.id })
      continue
    }
    for (const { variant, units, unitPrice } of priced) {
      const line = { item, variant, quantity: units * item.quantity, unitPrice: unitPrice!, taxRate: rateFor(rates, variant.taxRateId, country) }
      lines.push(line)
      if (item.bundleId) bundlesOf.set(line, { id: item.bundleId, discountPercentage: own[0]!.discountPercentage })
    }
  }
  for (const { variant, units } of demandOf(lines).values()) {
    if (!canGive(variant, units)) warnings.push({ code: 'out_of_stock', message: `${nameOf(variant)}: ${Math.max(0, variant.quantity - variant.reserved)} left`, variantId: variant.id })
  }
  const running = cart.unitPrices ? [] : await promotionsFor(db, currency, settings, now)
  const applied = await couponsFor(db, cart.couponIds, currency, settings)
  const above = await lineages(db, lines, [...running, ...applied])
  const method = cart.shippingMethodId ? (await methodById.get(db, { id: cart.shippingMethodId }) as MethodRow | undefined) ?? null : null
  const cost = method && methodPrice(method, currency, settings)
  if (cart.shippingMethodId && !cost) warnings.push({ code: 'shipping_method', message: 'the shipping method is no longer offered' })
  else if (method && country !== null && method.countries.length && !method.countries.includes(country)) warnings.push({ code: 'shipping_method', message: `${method.name} does not serve ${country}` })
  const shippable = lines.some((line) => line.variant.shippable)
  const result = exactPrice({
    lines: lines.map((line): PriceLine => ({
      itemId: line.item.id, productId: line.variant.productId, collectionIds: line.variant.collectionIds, brandId: line.variant.brandId,
      categoryIds: line.variant.categoryId === null ? [] : above.get(line.variant.categoryId) ?? [line.variant.categoryId], quantity: line.quantity, unitPrice: line.unitPrice, taxRate: line.taxRate,
      bundle: bundlesOf.get(line) ?? null,
    })),
    promotions: running, coupons: applied, loyalty: null, taxesIncluded: settings.taxesIncluded, now,
    shipping: cost && shippable ? { ...cost, taxRate: rateFor(rates, method!.taxRateId, country) } : null,
  })
  if (applied.length < cart.couponIds.length) warnings.push({ code: 'coupon', message: 'a coupon of the cart no longer exists' })
  for (const refusal of result.refused) warnings.push({ code: 'coupon', message: refusal.reason, coupon: refusal.code })
  return { price: result, lines, faces, method: cost ? method : null, knowsMethod: method !== null, warnings, shippable }
}
