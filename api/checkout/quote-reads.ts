/** What a price depends on, read from the store: variants, bundles, discounts, tax rates, shipping methods. */
import { and, eq, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { bundles, bundleVariants } from '../../db/store/bundles.ts'
import { products, taxRates, variants } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { coupons, promotions } from '../../db/store/marketing.ts'
import { collectionIds } from '../catalog/read.ts'
import type { Settings } from '../http/route.ts'
import type { Promotion } from './discounts.ts'
import type { Coupon } from './price.ts'
import type { MethodRow } from './shipping.ts'

/** A variant with what its product says about its price. */
export interface Sold {
  id: string
  productId: string
  variantName: string
  sku: string | null
  price: number
  prices: Record<string, number>
  tracked: boolean
  quantity: number
  reserved: number
  backorder: boolean
  shippable: boolean
  bookable: boolean
  taxRateId: string | null
  active: boolean
  productName: string
  status: string
  images: string[]
  categoryId: string | null
  brandId: string | null
  collectionIds: string[]
}
/** A variant in a bundle. */
export interface Part {
  bundleId: string
  name: string
  images: string[]
  status: string
  discountPercentage: number
  variantId: string
  quantity: number
}
export interface TaxRate {
  id: string
  rate: number
  countries: string[]
  default: boolean
}

const sold = compile((db) =>
  db
    .select({
      id: variants.id,
      productId: variants.productId,
      variantName: variants.name,
      sku: variants.sku,
      price: variants.price,
      prices: variants.prices,
      tracked: variants.tracked,
      quantity: variants.quantity,
      reserved: variants.reserved,
      backorder: variants.backorder,
      shippable: variants.shippable,
      bookable: variants.bookable,
      taxRateId: variants.taxRateId,
      active: variants.active,
      productName: products.name,
      status: products.status,
      images: products.images,
      categoryId: products.categoryId,
      brandId: products.brandId,
      collectionIds: collectionIds.as('collection_ids'),
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(sql`${variants.id} in (select value from json_each(${named('ids')}))`),
)
const bundleParts = compile((db) =>
  db
    .select({
      bundleId: bundles.id,
      name: bundles.name,
      images: bundles.images,
      status: bundles.status,
      discountPercentage: bundles.discountPercentage,
      variantId: bundleVariants.variantId,
      quantity: bundleVariants.quantity,
    })
    .from(bundles)
    .innerJoin(bundleVariants, eq(bundleVariants.bundleId, bundles.id))
    .where(sql`${bundles.id} in (select value from json_each(${named('ids')}))`)
    .orderBy(bundleVariants.bundleId, bundleVariants.position, bundleVariants.variantId),
)
const couponsByIds = compile((db) =>
  db
    .select()
    .from(coupons)
    .where(sql`${coupons.id} in (select value from json_each(${named('ids')}))`),
)
/** More automatic discounts than any cart can make sense of. */
const PROMOTIONS_MAX = 500
const runningPromotions = compile((db) =>
  db
    .select()
    .from(promotions)
    .where(and(eq(promotions.active, true), sql`(${promotions.endsAt} is null or ${promotions.endsAt} > ${named('now')})`))
    .limit(PROMOTIONS_MAX),
)
const allTaxRates = compile((db) =>
  db
    .select({ id: taxRates.id, rate: taxRates.rate, countries: taxRates.countries, default: taxRates.default })
    .from(taxRates)
    .orderBy(taxRates.id)
    .limit(1000),
)
const methodById = compile((db) =>
  db
    .select()
    .from(shippingMethods)
    .where(eq(shippingMethods.id, named('id'))),
)
const ancestors = compile((db) =>
  db.select({ id: sql<string>`c.id`, top: sql<string>`c.top` }).from(sql`(with recursive up(id, parent_id, top) as (
  select id, parent_id, id from categories where id in (select value from json_each(${named('ids')})) union all select c.id, c.parent_id, up.top from categories c join up on c.id = up.parent_id
) select id, top from up) c`),
)

/** The rate for a country: the one named, else the default for the country, else the default for everywhere. 0 where none applies. */
export function rateFor(rates: readonly TaxRate[], id: string | null, country: string | null): number {
  const applies = (rate: TaxRate) => !rate.countries.length || country === null || rate.countries.includes(country)
  if (id !== null) {
    const rate = rates.find((candidate) => candidate.id === id)
    return rate && applies(rate) ? rate.rate : 0
  }
  const defaults = rates.filter((rate) => rate.default && applies(rate))
  return (
    (defaults.find((rate) => rate.countries.length && country !== null) ?? defaults.find((rate) => !rate.countries.length) ?? defaults[0])
      ?.rate ?? 0
  )
}

const keyed = (ids: Iterable<string>) => ({ ids: JSON.stringify([...ids]) })
const byId = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

/** The variants with these ids, by id. */
export const readSold = async (db: Db, ids: ReadonlySet<string>) =>
  ids.size ? byId((await sold.all(db, keyed(ids))) as Sold[]) : new Map<string, Sold>()

/** The variants in these bundles, by bundle. */
export async function readParts(db: Db, ids: ReadonlySet<string>): Promise<Map<string, Part[]>> {
  return ids.size ? Map.groupBy((await bundleParts.all(db, keyed(ids))) as Part[], ({ bundleId }) => bundleId) : new Map()
}

export const readTaxRates = (db: Db) => allTaxRates.all(db) as Promise<TaxRate[]>

export const readMethod = async (db: Db, id: string | null) =>
  id === null ? null : (((await methodById.get(db, { id })) as MethodRow | undefined) ?? null)

/** The automatic discounts that may run now, with their amounts in `currency`. */
export async function promotionsFor(db: Db, currency: string, settings: Settings, now: string): Promise<Promotion[]> {
  const rows = (await runningPromotions.all(db, { now })) as (typeof promotions.$inferSelect)[]
  return rows.map((row) => ({ ...row, amount: currency === settings.currency ? row.amount : (row.currencyAmounts[currency] ?? null) }))
}

/** Coupons as the price sees them, in the order of their ids. */
export async function couponsFor(db: Db, ids: readonly string[], currency: string, settings: Settings): Promise<Coupon[]> {
  if (!ids.length) return []
  const found = byId((await couponsByIds.all(db, keyed(ids))) as (typeof coupons.$inferSelect)[])
  const amountOf = (row: Pick<typeof coupons.$inferSelect, 'amount' | 'currencyAmounts'>) =>
    currency === settings.currency ? row.amount : (row.currencyAmounts[currency] ?? null)
  return ids.flatMap((id) => {
    const row = found.get(id)
    return row ? [{ ...row, amount: row.type === 'percentage' ? null : amountOf(row) }] : []
  })
}

/** The categories with these ids, each with all above it. */
export async function readLineages(db: Db, ids: ReadonlySet<string>): Promise<Map<string, string[]>> {
  if (!ids.size) return new Map()
  const rows = (await ancestors.all(db, keyed(ids))) as { id: string; top: string }[]
  return new Map([...Map.groupBy(rows, ({ top }) => top)].map(([id, above]) => [id, above.map((row) => row.id)]))
}
