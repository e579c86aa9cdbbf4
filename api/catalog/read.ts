/** Reading products: the compiled queries behind lists and details, and the step from rows to the wire. */
import { asc, eq, sql } from 'drizzle-orm'
import { compile, fromJson, named, type Reader } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { events } from '../../db/store/events.ts'
import type { TranslationFields } from '../../db/store/translations.ts'
import { isUuid } from '../values/uuid.ts'
import { currencyOf } from '../store/currency.ts'
import { missing } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import { toMajor, toMajorOrNull } from '../values/money.ts'
import { idOfTranslatedSlug, seoOf, translationsFor } from './translated.ts'

/** How an answer is seen: in which currency and language, and whether by a storefront. */
export interface View {
  currency: string | null
  lang: string | null
  storefront: boolean
  settings: Settings
}

/** The view that a request asks for; refuses a currency that the store has not enabled. The entities themselves speak the base locale. */
export async function viewOf(call: {
  settings(): Promise<Settings>
  storefront: boolean
  query: { currency?: string; lang?: string }
}): Promise<View> {
  const settings = await call.settings()
  const currency = currencyOf(call.query.currency, settings)
  const lang = call.query.lang
  return {
    currency: currency === settings.currency ? null : currency,
    lang: lang && lang !== settings.locale ? lang : null,
    storefront: call.storefront,
    settings,
  }
}

/** The collections of the product at hand, read with its row. */
export const collectionIds = sql<
  string[]
>`(select json_group_array(collection_id) from collection_products where product_id = ${products.id})`.mapWith(
  fromJson as { mapFromDriverValue(text: string): string[] },
)

export const productColumns = {
  id: products.id,
  name: products.name,
  slug: products.slug,
  summary: products.summary,
  badgeContent: products.badgeContent,
  status: products.status,
  images: products.images,
  brandId: products.brandId,
  categoryId: products.categoryId,
  tags: products.tags,
  seo: products.seo,
  isEvent: products.isEvent,
  ratingSum: products.ratingSum,
  ratingCount: products.ratingCount,
  createdAt: products.createdAt,
  updatedAt: products.updatedAt,
  collectionIds: collectionIds.as('collection_ids'),
}
export type ProductRow = {
  [K in Exclude<keyof typeof productColumns, 'collectionIds'>]: (typeof products.$inferSelect)[K & keyof typeof products.$inferSelect]
} & { collectionIds: string[] }
type WholeProductRow = ProductRow & Pick<typeof products.$inferSelect, 'content'>
export type VariantRow = typeof variants.$inferSelect

const byId = compile((db) =>
  db
    .select({ ...productColumns, content: products.content })
    .from(products)
    .where(eq(products.id, named('key'))),
)
const bySlug = compile((db) =>
  db
    .select({ ...productColumns, content: products.content })
    .from(products)
    .where(eq(products.slug, named('key'))),
)
const byIds = compile((db) =>
  db
    .select(productColumns)
    .from(products)
    .where(sql`${products.id} in (select value from json_each(${named('ids')}))`),
)
const variantsOf = compile((db) =>
  db
    .select()
    .from(variants)
    .where(sql`${variants.productId} in (select value from json_each(${named('ids')}))`)
    .orderBy(asc(variants.productId), asc(variants.position), asc(variants.id)),
)
const variantsOfOne = compile((db) =>
  db
    .select()
    .from(variants)
    .where(eq(variants.productId, named('id')))
    .orderBy(asc(variants.position), asc(variants.id)),
)
export const variantById = compile((db) =>
  db
    .select()
    .from(variants)
    .where(eq(variants.id, named('id'))),
)

const eventsByIds = compile((db) =>
  db
    .select({
      id: events.productId,
      startsAt: events.startsAt,
      location: events.location,
      guestLabel: events.guestLabel,
      guest: events.guest,
      tracked: variants.tracked,
      quantity: variants.quantity,
    })
    .from(events)
    .innerJoin(variants, eq(variants.id, events.variantId))
    .where(sql`${events.productId} in (select value from json_each(${named('ids')}))`),
)

/** What makes a product an event; its capacity is the stock of its ticket. */
interface EventFields {
  enabled: boolean
  startsAt: string | null
  location: string | null
  capacity: number | null
  guestLabel: string | null
  guest: string | null
}

/** The `event` of each of some products, of those that are one. */
export async function eventFieldsOf(db: Reader, ids: readonly string[]): Promise<Map<string, EventFields>> {
  if (!ids.length) return new Map()
  const rows = await eventsByIds.all(db, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, tracked, quantity, ...own }) => [id, { enabled: true, ...own, capacity: tracked ? quantity : null }]))
}

const eventIds = (rows: readonly ProductRow[]) => rows.filter((row) => row.isEvent).map((row) => row.id)

/** A product by id or slug (a slug of the view's language first); 404 when a storefront may not see it. */
export async function findProduct(
  db: Reader,
  idOrSlug: string,
  view: { lang: string | null; storefront: boolean },
): Promise<WholeProductRow> {
  const key = isUuid(idOrSlug) ? idOrSlug : ((await idOfTranslatedSlug(db, 'product', view.lang, idOrSlug)) ?? idOrSlug)
  const row = (await (isUuid(key) ? byId : bySlug).get(db, { key })) as WholeProductRow | undefined
  if (!row || (view.storefront && row.status !== 'published')) throw missing('product')
  return row
}

/** Prices in further currencies, those that the store has enabled. */
function majors(prices: Record<string, number>, settings: Settings): Record<string, number> {
  const result: Record<string, number> = {}
  for (const code in prices)
    if (code !== settings.currency && settings.enabledCurrencies.includes(code)) result[code] = toMajor(prices[code]!, code)
  return result
}

/** A variant's price in the view's currency, in minor units; null when the merchant set none. */
export const priceIn = (row: Pick<VariantRow, 'price' | 'prices'>, currency: string | null) =>
  currency === null ? row.price : (row.prices[currency] ?? null)

/** A variant on the wire. */
export function variantView(row: VariantRow, { currency, settings }: View) {
  const code = currency ?? settings.currency
  return {
    id: row.id,
    productId: row.productId,
    name: row.name,
    sku: row.sku,
    barcode: row.barcode,
    price: toMajorOrNull(priceIn(row, currency), code),
    compareAtPrice: currency === null ? toMajorOrNull(row.compareAtPrice, code) : null,
    prices: majors(row.prices, settings),
    options: row.options,
    stock: {
      tracked: row.tracked,
      quantity: row.quantity,
      reserved: row.reserved,
      available: row.quantity - row.reserved,
      backorder: row.backorder,
    },
    weightGrams: row.weightGrams,
    dimensionsMm: row.dimensionsMm,
    shippable: row.shippable,
    bookable: row.bookable,
    taxRateId: row.taxRateId,
    position: row.position,
    active: row.active,
  }
}

/** The cheapest of some prices by currency. */
function cheapest(rows: readonly VariantRow[]): { price: number | null; prices: Record<string, number> } {
  let price: number | null = null
  const prices: Record<string, number> = {}
  for (const row of rows) {
    if (!row.active) continue
    if (price === null || row.price < price) price = row.price
    for (const code in row.prices) if (!(code in prices) || row.prices[code]! < prices[code]!) prices[code] = row.prices[code]!
  }
  return { price, prices }
}

/** A product on the wire, without its `content`. */
function productView(
  row: ProductRow,
  all: readonly VariantRow[],
  view: View,
  translation: TranslationFields | undefined,
  event: EventFields | undefined,
) {
  const { settings, currency } = view
  const rows = view.storefront ? all.filter((variant) => variant.active) : all
  const { price, prices } = cheapest(rows)
  const t = translation
  const seo = seoOf(row.seo, t)
  return {
    id: row.id,
    name: t?.name ?? row.name,
    slug: t?.slug ?? row.slug,
    summary: t?.summary ?? row.summary,
    badgeContent: t?.badgeContent ?? row.badgeContent,
    status: row.status,
    images: row.images,
    price: toMajorOrNull(currency === null ? price : (prices[currency] ?? null), currency ?? settings.currency),
    prices: majors(prices, settings),
    brandId: row.brandId,
    categoryId: row.categoryId,
    collectionIds: row.collectionIds,
    tags: row.tags,
    seo,
    event: event ?? null,
    variants: rows.filter((variant) => priceIn(variant, currency) !== null).map((variant) => variantView(variant, view)),
    rating: { average: row.ratingCount ? Math.round((row.ratingSum / row.ratingCount) * 100) / 100 : null, count: row.ratingCount },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** One product with everything, as the view sees it. */
export async function readProduct(db: Reader, idOrSlug: string, view: View) {
  const row = await findProduct(db, idOrSlug, view)
  const rows = (await variantsOfOne.all(db, { id: row.id })) as VariantRow[]
  const translated = view.lang === null ? undefined : (await translationsFor(db, 'product', view.lang, [row.id])).get(row.id)
  const event = (await eventFieldsOf(db, eventIds([row]))).get(row.id)
  return { ...productView(row, rows, view, translated, event), content: translated?.content ?? row.content }
}

/** The rows of some products, in the order of the ids: lists sort narrow rows and read wide ones for their page alone. */
export async function productsByIds(db: Reader, ids: readonly string[]): Promise<ProductRow[]> {
  const rows = new Map(
    (ids.length ? ((await byIds.all(db, { ids: JSON.stringify(ids) })) as ProductRow[]) : []).map((row) => [row.id, row]),
  )
  return ids.flatMap((id) => rows.get(id) ?? [])
}

/** Some products with their variants, in the order of the rows. */
export async function viewProducts(db: Reader, rows: readonly ProductRow[], view: View) {
  const ids = rows.map((row) => row.id)
  const byProduct = new Map<string, VariantRow[]>(ids.map((id) => [id, []]))
  if (ids.length)
    for (const variant of (await variantsOf.all(db, { ids: JSON.stringify(ids) })) as VariantRow[])
      byProduct.get(variant.productId)!.push(variant)
  const translated = await translationsFor(db, 'product', view.lang, ids)
  const byEvent = await eventFieldsOf(db, eventIds(rows))
  return rows.map((row) => productView(row, byProduct.get(row.id)!, view, translated.get(row.id), byEvent.get(row.id)))
}
