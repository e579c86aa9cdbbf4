/** Room "catalog": products, variants and their stock, what groups them, and taxes. */
import { sql } from 'drizzle-orm'
import { check, foreignKey, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json, minor } from '../columns.ts'

export interface Seo {
  title?: string | null
  description?: string | null
  canonical?: string | null
}
/** A ProseMirror document; comes back as it was written. */
export type RichDocument = { type: 'doc'; content?: unknown[] } | null
/** Text, or a document. */
export type RichText = string | RichDocument

export const taxRates = sqliteTable(
  'tax_rates',
  {
    id: id(),
    name: text().notNull(),
    /** Percent times 10,000 (four decimals), so that it stays an integer. */
    rate: integer().notNull(),
    countries: json<string[]>().notNull(),
    default: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('tax_rates_rate', sql`${t.rate} between 0 and 1000000`)],
)

export const categories = sqliteTable(
  'categories',
  {
    id: id(),
    name: text().notNull(),
    slug: text().notNull().unique(),
    description: json<RichText>(),
    longDescription: json<RichText>(),
    image: text(),
    parentId: text(),
    active: flag().notNull(),
    seo: json<Seo>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    foreignKey({ name: 'categories_parent', columns: [t.parentId], foreignColumns: [t.id] }),
    index('categories_parent').on(t.parentId),
  ],
)

export const brands = sqliteTable('brands', {
  id: id(),
  name: text().notNull(),
  slug: text().notNull().unique(),
  description: json<RichText>(),
  logo: text(),
  active: flag().notNull(),
  seo: json<Seo>().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
})

export const collections = sqliteTable(
  'collections',
  {
    id: id(),
    name: text().notNull(),
    slug: text().notNull().unique(),
    description: json<RichText>(),
    longDescription: json<RichText>(),
    image: text(),
    kind: text({ enum: ['products', 'event-group'] }).notNull(),
    active: flag().notNull(),
    seo: json<Seo>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('collections_kind', sql`${t.kind} in ('products', 'event-group')`),
    /** Groups of events are found by their name, too. */
    index('collections_group_name')
      .on(sql`${t.name} collate nocase`)
      .where(sql`${t.kind} = 'event-group'`),
  ],
)

export const products = sqliteTable(
  'products',
  {
    id: id(),
    name: text().notNull(),
    slug: text().notNull().unique(),
    summary: text(),
    content: json<RichDocument>(),
    badgeContent: text(),
    status: text({ enum: ['draft', 'published', 'hidden'] }).notNull(),
    images: json<string[]>().notNull(),
    brandId: text().references(() => brands.id),
    categoryId: text().references(() => categories.id),
    tags: json<string[]>().notNull(),
    seo: json<Seo>().notNull(),
    isEvent: flag().notNull(),
    ratingSum: integer().notNull(),
    ratingCount: integer().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The name as lists sort it: transliterated, lowercase. */
    foldedName: text().notNull().default(''),
    /** Whether an active variant can be bought: kept by triggers on `variants`. */
    inStock: flag().notNull().default(false),
  },
  (t) => [
    check('products_status', sql`${t.status} in ('draft', 'published', 'hidden')`),
    check('products_rating', sql`${t.ratingCount} >= 0 and ${t.ratingSum} >= 0`),
    index('products_status').on(t.isEvent, t.status, t.id),
    index('products_newest').on(t.isEvent, t.id),
    index('products_unpublished')
      .on(t.id)
      .where(sql`${t.status} <> 'published'`),
    index('products_name').on(t.foldedName, t.id),
    index('products_brand').on(t.brandId, t.isEvent, t.status, t.id, t.inStock),
    index('products_category').on(t.categoryId, t.isEvent, t.status, t.id, t.inStock),
    /** All that lists filter and sort by: the rows themselves are twenty times as wide. */
    index('products_listing').on(t.id, t.isEvent, t.status, t.inStock, t.categoryId, t.brandId, t.foldedName),
  ],
)

export const productTags = sqliteTable(
  'product_tags',
  {
    tag: text().notNull(),
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.tag, t.productId] }), index('product_tags_product').on(t.productId)],
)

/** Cheapest active variant of a product, by currency; kept by every write to its variants. */
export const productPrices = sqliteTable(
  'product_prices',
  {
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    currency: text().notNull(),
    price: minor().notNull(),
  },
  (t) => [primaryKey({ columns: [t.productId, t.currency] }), index('product_prices_price').on(t.currency, t.price, t.productId)],
)

export const collectionProducts = sqliteTable(
  'collection_products',
  {
    collectionId: text()
      .notNull()
      .references(() => collections.id, { onDelete: 'cascade' }),
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.collectionId, t.productId] }),
    index('collection_products_product').on(t.productId),
    index('collection_products_position').on(t.collectionId, t.position, t.productId),
  ],
)

export const variants = sqliteTable(
  'variants',
  {
    id: id(),
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    sku: text().unique(),
    barcode: text(),
    price: minor().notNull(),
    compareAtPrice: minor(),
    /** Prices in further currencies, by lowercase code. */
    prices: json<Record<string, number>>().notNull(),
    options: json<Record<string, string>>().notNull(),
    tracked: flag().notNull(),
    /** The units on the shelf. */
    quantity: integer().notNull(),
    /** Held by orders that have not left yet. */
    reserved: integer().notNull(),
    backorder: flag().notNull(),
    weightGrams: integer(),
    dimensionsMm: json<{ length: number | null; width: number | null; height: number | null }>(),
    shippable: flag().notNull(),
    bookable: flag().notNull(),
    taxRateId: text().references(() => taxRates.id),
    position: integer().notNull(),
    active: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('variants_price', sql`${t.price} >= 0`),
    check('variants_quantity', sql`${t.quantity} >= 0`),
    check('variants_reserved', sql`${t.reserved} >= 0`),
    check('variants_available', sql`${t.tracked} = 0 or ${t.backorder} = 1 or ${t.reserved} <= ${t.quantity}`),
    index('variants_product').on(t.productId, t.position, t.id),
    index('variants_barcode').on(t.barcode),
    index('variants_tax_rate').on(t.taxRateId),
  ],
)

/** The ledger of what lies on the shelf: the sum of a variant's deltas is its quantity. */
export const inventoryMovements = sqliteTable(
  'inventory_movements',
  {
    id: id(),
    variantId: text()
      .notNull()
      .references(() => variants.id, { onDelete: 'cascade' }),
    delta: integer().notNull(),
    reason: text(),
    orderId: text(),
    keyId: text(),
    createdAt: instant().notNull(),
  },
  (t) => [index('inventory_movements_variant').on(t.variantId, t.id)],
)
