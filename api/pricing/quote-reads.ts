/** The rows on which a price depends: variants, bundles, discounts, shipping methods. Their rules are in price-rules.ts. */
import { eq, sql, type SQL } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { bundles, bundleVariants } from '../../db/store/bundles.ts'
import { collectionProducts, products, variants } from '../../db/store/catalog.ts'
import { coupons } from '../../db/store/marketing.ts'
import type { Settings } from '../http/route.ts'
import type { Coupon } from './price.ts'

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
  isEvent: boolean
  status: string
  images: string[]
  categoryId: string | null
  brandId: string | null
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
const soldColumns = {
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
  isEvent: products.isEvent,
  status: products.status,
  images: products.images,
  categoryId: products.categoryId,
  brandId: products.brandId,
}
const sold = (db: Reader, where: SQL) =>
  db.select(soldColumns).from(variants).innerJoin(products, eq(products.id, variants.productId)).where(where)
const soldByIds = compile((db) => sold(db, sql`${variants.id} in (select value from json_each(${named('ids')}))`))
/** A list of one costs a third more. */
const soldById = compile((db) => sold(db, eq(variants.id, named('id'))))
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
const couponById = compile((db) =>
  db
    .select()
    .from(coupons)
    .where(eq(coupons.id, named('id'))),
)
const collectionsOf = compile((db) =>
  db
    .select({ productId: collectionProducts.productId, collectionId: collectionProducts.collectionId })
    .from(collectionProducts)
    .where(sql`${collectionProducts.productId} in (select value from json_each(${named('ids')}))`),
)
const ancestors = compile((db) =>
  db.select({ id: sql<string>`c.id`, top: sql<string>`c.top` }).from(sql`(with recursive up(id, parent_id, top) as (
  select id, parent_id, id from categories where id in (select value from json_each(${named('ids')})) union all select c.id, c.parent_id, up.top from categories c join up on c.id = up.parent_id
) select id, top from up) c`),
)

const keyed = (ids: Iterable<string>) => ({ ids: JSON.stringify([...ids]) })
const byId = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

/** The variants with these ids, by id. */
export async function readSold(db: Reader, ids: ReadonlySet<string>): Promise<Map<string, Sold>> {
  const [id] = ids
  if (id === undefined) return new Map()
  if (ids.size > 1) return byId((await soldByIds.all(db, keyed(ids))) as Sold[])
  const row = (await soldById.get(db, { id })) as Sold | undefined
  return new Map(row && [[id, row]])
}

/** The variants in these bundles, by bundle. */
export async function readParts(db: Reader, ids: ReadonlySet<string>): Promise<Map<string, Part[]>> {
  return ids.size ? Map.groupBy((await bundleParts.all(db, keyed(ids))) as Part[], ({ bundleId }) => bundleId) : new Map()
}

/** Coupons as the price sees them, in the order of their ids. */
export async function couponsFor(db: Reader, ids: readonly string[], currency: string, settings: Settings): Promise<Coupon[]> {
  if (!ids.length) return []
  const rows = ids.length > 1 ? await couponsByIds.all(db, keyed(ids)) : [(await couponById.get(db, { id: ids[0] })) ?? []].flat()
  const found = byId(rows as (typeof coupons.$inferSelect)[])
  const amountOf = (row: Pick<typeof coupons.$inferSelect, 'amount' | 'currencyAmounts'>) =>
    currency === settings.currency ? row.amount : (row.currencyAmounts[currency] ?? null)
  return ids.flatMap((id) => {
    const row = found.get(id)
    return row ? [{ ...row, amount: row.type === 'percentage' ? null : amountOf(row) }] : []
  })
}

/** The categories with these ids, each with all above it. */
export async function readLineages(db: Reader, ids: ReadonlySet<string>): Promise<Map<string, string[]>> {
  if (!ids.size) return new Map()
  const rows = (await ancestors.all(db, keyed(ids))) as { id: string; top: string }[]
  return new Map([...Map.groupBy(rows, ({ top }) => top)].map(([id, above]) => [id, above.map((row) => row.id)]))
}

/** The collections of the products with these ids. */
export async function readCollections(db: Reader, ids: ReadonlySet<string>): Promise<Map<string, string[]>> {
  if (!ids.size) return new Map()
  const rows = (await collectionsOf.all(db, keyed(ids))) as { productId: string; collectionId: string }[]
  return new Map([...Map.groupBy(rows, (row) => row.productId)].map(([id, own]) => [id, own.map((row) => row.collectionId)]))
}
