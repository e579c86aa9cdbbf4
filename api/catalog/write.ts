/** Writing products and variants: the rows, and what is derived from them (cheapest prices, tags, search documents). */
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import {
  brands,
  categories,
  collectionProducts,
  collections,
  productPrices,
  productTags,
  products,
  taxRates,
  variants,
} from '../../db/store/catalog.ts'
import { orderLines, orders } from '../../db/store/orders.ts'
import { conflict, wrong } from '../http/refusal.ts'
import type { Call, Settings } from '../http/route.ts'
import { isCurrency, toMinor } from '../money.ts'
import { requireIds } from '../references.ts'
import { indexDocument, textOf, unindexDocument, UNSEEN } from './search-index.ts'
import { emit } from '../store/outbox.ts'
import { fallsLow, record } from './stock.ts'
import type { VariantInput, VariantPatch } from './shapes.ts'

/** What writing needs of a call. */
export type Writing = Pick<Call, 'outside' | 'now'> & { keyId: string }
export const writing = (call: Call<never, never>): Writing => ({ outside: call.outside, now: call.now, keyId: call.session.key.id })

/** Prices of a request by lowercase currency, in minor units; refuses unknown currencies and too many decimals. */
export function pricesIn(prices: Record<string, number> | undefined, path: string): Record<string, number> {
  const result: Record<string, number> = {}
  for (const [code, value] of Object.entries(prices ?? {})) {
    if (!isCurrency(code)) throw wrong(`${path}.${code}`, 'is not a currency')
    result[code.toLowerCase()] = toMinor(value, code.toLowerCase(), `${path}.${code}`)
  }
  return result
}

/** The columns that a variant's input sets; `path` is where it stands in the body. */
export function variantColumns(input: VariantPatch, settings: Settings, path = ''): Partial<typeof variants.$inferInsert> {
  const at = (field: string) => (path ? `${path}.${field}` : field)
  const columns: Partial<typeof variants.$inferInsert> = {}
  for (const field of [
    'name',
    'sku',
    'barcode',
    'options',
    'weightGrams',
    'shippable',
    'bookable',
    'taxRateId',
    'position',
    'active',
  ] as const) {
    if (input[field] !== undefined) Object.assign(columns, { [field]: input[field] })
  }
  if (input.price !== undefined) columns.price = toMinor(input.price, settings.currency, at('price'))
  if (input.compareAtPrice !== undefined)
    columns.compareAtPrice = input.compareAtPrice === null ? null : toMinor(input.compareAtPrice, settings.currency, at('compareAtPrice'))
  if (input.prices !== undefined) columns.prices = pricesIn(input.prices, at('prices'))
  if (input.dimensionsMm !== undefined)
    columns.dimensionsMm = input.dimensionsMm && { length: null, width: null, height: null, ...input.dimensionsMm }
  if (input.stock?.tracked !== undefined) columns.tracked = input.stock.tracked
  if (input.stock?.backorder !== undefined) columns.backorder = input.stock.backorder
  return columns
}

/** Adds a variant to a product; its first stock is the first row of its ledger. */
export async function addVariant(
  tx: Db,
  about: Writing,
  productId: string,
  input: VariantInput,
  settings: Settings,
  defaults: { name: string; position: number; path?: string },
) {
  const quantity = input.stock?.quantity ?? 0
  const id = about.outside.id()
  await requireIds(tx, taxRates, [input.taxRateId], defaults.path ? `${defaults.path}.taxRateId` : 'taxRateId')
  await tx.insert(variants).values({
    name: Object.values(input.options ?? {}).join(' / ') || defaults.name,
    sku: null,
    barcode: null,
    compareAtPrice: null,
    prices: {},
    options: {},
    tracked: true,
    reserved: 0,
    backorder: false,
    weightGrams: null,
    dimensionsMm: null,
    shippable: true,
    bookable: false,
    taxRateId: null,
    position: defaults.position,
    active: true,
    createdAt: about.now,
    updatedAt: about.now,
    price: 0,
    ...variantColumns(input, settings, defaults.path),
    id,
    productId,
    quantity,
  })
  await record(tx, id, quantity, {
    id: about.outside.id(),
    reason: 'initial stock',
    orderId: null,
    keyId: about.keyId,
    createdAt: about.now,
  })
  return id
}

/** Changes a variant; a quantity given here goes through the ledger like any other (409 under what is reserved). */
export async function changeVariant(tx: Db, about: Writing, row: typeof variants.$inferSelect, input: VariantPatch, settings: Settings) {
  await requireIds(tx, taxRates, [input.taxRateId], 'taxRateId')
  const quantity = input.stock?.quantity
  const { tracked = row.tracked, backorder = row.backorder } = input.stock ?? {}
  if (tracked && !backorder && (quantity ?? row.quantity) < row.reserved)
    throw conflict(`the quantity can't fall under the ${row.reserved} that orders hold`, { variantId: row.id, reserved: row.reserved })
  await tx
    .update(variants)
    .set({ ...variantColumns(input, settings), ...(quantity === undefined ? {} : { quantity }), updatedAt: about.now })
    .where(eq(variants.id, row.id))
  if (quantity === undefined) return
  await record(tx, row.id, quantity - row.quantity, {
    id: about.outside.id(),
    reason: 'set on the variant',
    orderId: null,
    keyId: about.keyId,
    createdAt: about.now,
  })
  if (fallsLow({ ...row, tracked: input.stock!.tracked ?? row.tracked }, quantity, settings.lowStockThreshold))
    await emit(tx, about.outside, about.now, 'inventory.low', { variantId: row.id })
}

/** Refreshes the cheapest price by currency that lists sort and filter by. */
export async function refreshPrices(tx: Db, productId: string, currency: string) {
  const best = new Map<string, number>()
  for (const { price, prices } of await tx
    .select({ price: variants.price, prices: variants.prices })
    .from(variants)
    .where(and(eq(variants.productId, productId), eq(variants.active, true)))) {
    for (const [code, amount] of [[currency, price] as const, ...Object.entries(prices).filter(([code]) => code !== currency)]) {
      if (!best.has(code) || amount < best.get(code)!) best.set(code, amount)
    }
  }
  await tx.delete(productPrices).where(eq(productPrices.productId, productId))
  if (best.size) await tx.insert(productPrices).values([...best].map(([code, price]) => ({ productId, currency: code, price })))
}

/** Replaces the tags by which lists filter. */
export async function replaceTags(tx: Db, productId: string, tags: readonly string[]) {
  await tx.delete(productTags).where(eq(productTags.productId, productId))
  if (tags.length) await tx.insert(productTags).values(tags.map((tag) => ({ tag, productId })))
}

/** Replaces the collections that a product is in; those it stays in keep its place. */
export async function replaceCollections(tx: Db, productId: string, ids: readonly string[]) {
  await requireIds(tx, collections, ids, 'collectionIds')
  const now = new Set(
    (
      await tx.select({ id: collectionProducts.collectionId }).from(collectionProducts).where(eq(collectionProducts.productId, productId))
    ).map((row) => row.id),
  )
  const gone = [...now].filter((id) => !ids.includes(id))
  if (gone.length)
    await tx
      .delete(collectionProducts)
      .where(and(eq(collectionProducts.productId, productId), inArray(collectionProducts.collectionId, gone)))
  for (const collectionId of ids) {
    if (now.has(collectionId)) continue
    const [last] = await tx
      .select({ position: sql<number>`coalesce(max(${collectionProducts.position}), -1)` })
      .from(collectionProducts)
      .where(eq(collectionProducts.collectionId, collectionId))
    await tx.insert(collectionProducts).values({ collectionId, productId, position: last!.position + 1 })
  }
}

/** Refuses with 400 unless the brand and the category that a product names are in the store. */
export async function requireLinks(tx: Db, input: { brandId?: string | null; categoryId?: string | null }) {
  await requireIds(tx, brands, [input.brandId], 'brandId')
  await requireIds(tx, categories, [input.categoryId], 'categoryId')
}

/** Puts a product, as it is stored now, into the search index. */
export async function indexProduct(tx: Db, id: string) {
  const [row] = await tx.select().from(products).where(eq(products.id, id))
  const codes = await tx
    .select({ sku: variants.sku, active: variants.active })
    .from(variants)
    .where(and(eq(variants.productId, id), isNotNull(variants.sku)))
  const bodyWith = (some: typeof codes) =>
    [row!.summary ?? '', ...some.map(({ sku }) => sku), row!.tags.join(' '), textOf(row!.content)].join(' ')
  await indexDocument(tx, 'product', id, '', row!.name, bodyWith(codes.filter(({ active }) => active)))
  if (codes.some(({ active }) => !active)) await indexDocument(tx, 'product', id, UNSEEN, row!.name, bodyWith(codes))
  else await unindexDocument(tx, 'product', id, UNSEEN)
}

const OPEN = ['pending', 'paid', 'processing'] as const

/** Refuses with 409 while an order that is still open has a line of this product (or, given one, of this variant). */
export async function refuseWhileOrdered(tx: Db, column: 'productId' | 'variantId', id: string) {
  const [line] = await tx
    .select({ lookup: orders.lookup })
    .from(orderLines)
    .innerJoin(orders, eq(orders.id, orderLines.orderId))
    .where(and(eq(orderLines[column], id), inArray(orders.status, [...OPEN])))
    .limit(1)
  if (line) throw conflict(`the open order ${line.lookup} has this ${column === 'productId' ? 'product' : 'variant'}`)
}
