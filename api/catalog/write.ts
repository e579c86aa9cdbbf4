/** Writing products and variants: the rows, and what is derived from them (cheapest prices, tags, search documents). */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { compile, inserter, named, type Db } from '../../db/driver.ts'
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
import { events } from '../../db/store/events.ts'
import { orderLines, orders } from '../../db/store/orders.ts'
import { announce } from '../../db/writer.ts'
import { conflict, wrong } from '../values/refusal.ts'
import type { Call, Settings } from '../http/route.ts'
import { toMinor } from '../values/money.ts'
import { later } from '../values/time.ts'
import { requireIds } from '../http/input/references.ts'
import { keptPrices, pricesIn } from './given-prices.ts'
import { fallsLow, record } from './stock.ts'
import { tellLow } from './told.ts'
import type { VariantInput, VariantPatch } from './shapes.ts'

/** The part of a call that writing to the catalog needs: the moment, and the key that writes. */
export type Writing = Pick<Call, 'clock' | 'now'> & { keyId: string }
export const writing = (call: Call): Writing => ({ clock: call.clock, now: call.now, keyId: call.session.key.id })

/** The columns that a variant's input sets; `path` is where it stands in the body. */
function variantColumns(input: VariantPatch, settings: Settings, path = ''): Partial<typeof variants.$inferInsert> {
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
  if (input.prices !== undefined) columns.prices = pricesIn(input.prices, at('prices'), settings)
  if (input.dimensionsMm !== undefined)
    columns.dimensionsMm = input.dimensionsMm && { length: null, width: null, height: null, ...input.dimensionsMm }
  if (input.stock?.tracked !== undefined) columns.tracked = input.stock.tracked
  if (input.stock?.backorder !== undefined) columns.backorder = input.stock.backorder
  return columns
}

const insertVariant = inserter(variants)

/** Stores a variant of a product; its first stock is the first row of its ledger. */
export async function storeVariant(
  tx: Db,
  about: Writing,
  productId: string,
  input: VariantInput,
  settings: Settings,
  defaults: { name: string; position: number; path?: string },
) {
  const quantity = input.stock?.quantity ?? 0
  const id = about.clock.id()
  const row = {
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
  }
  await insertVariant(tx, row)
  await record(tx, id, quantity, {
    id: about.clock.id(),
    reason: 'initial stock',
    orderId: null,
    keyId: about.keyId,
    createdAt: about.now,
  })
  return row
}

/**
 * Whether a new variant can be bought. Triggers on `variants` know when that changes; who adds one says it, since a trigger would have
 * each of many inserts keep a journal of its own.
 */
export const isBuyable = ({ active, stock }: VariantInput) =>
  active !== false && (stock?.tracked === false || stock?.backorder === true || (stock?.quantity ?? 0) > 0)

/** Adds a variant to a product that is there. */
export async function addVariant(...[tx, about, productId, input, settings, defaults]: Parameters<typeof storeVariant>) {
  await requireIds(tx, taxRates, [input.taxRateId], 'taxRateId')
  if (isBuyable(input)) await tx.update(products).set({ inStock: true }).where(eq(products.id, productId))
  return storeVariant(tx, about, productId, input, settings, defaults)
}

const eventOf = compile((db) =>
  db
    .select({ id: events.productId })
    .from(events)
    .where(eq(events.variantId, named('id'))),
)
const isTicket = async (tx: Db, variantId: string) => (await eventOf.get(tx, { id: variantId })) !== undefined

/**
 * The ticket of an event, ready for a change. Its stock is the capacity: nothing is sold beyond it, and when it is counted again all that
 * was sold meanwhile is held.
 */
async function ticketFor(tx: Db, row: typeof variants.$inferSelect, input: VariantPatch) {
  const { shippable, bookable, stock } = input
  if (shippable) throw wrong('shippable', 'a ticket is not shipped')
  if (bookable) throw wrong('bookable', 'a ticket is no booking')
  if (stock?.backorder) throw wrong('stock.backorder', 'a ticket beyond the capacity has no seat')
  if (row.tracked || !stock?.tracked) return row
  await tx.run(sql`update order_lines set held = 1 where variant_id = ${row.id} and ticket = 1 and open_quantity > 0`)
  const [sold] = await tx
    .select({ units: sql<number>`coalesce(sum(${orderLines.openQuantity}), 0)` })
    .from(orderLines)
    .where(and(eq(orderLines.variantId, row.id), eq(orderLines.held, true)))
  await tx.update(variants).set({ reserved: sold!.units }).where(eq(variants.id, row.id))
  return { ...row, reserved: sold!.units }
}

/** Changes a variant; a quantity given here goes through the ledger like any other (409 under what is reserved). */
export async function changeVariant(tx: Db, about: Writing, row: typeof variants.$inferSelect, input: VariantPatch, settings: Settings) {
  await requireIds(tx, taxRates, [input.taxRateId], 'taxRateId')
  if (await isTicket(tx, row.id)) row = await ticketFor(tx, row, input)
  const quantity = input.stock?.quantity
  const { tracked = row.tracked, backorder = row.backorder } = input.stock ?? {}
  if (tracked && !backorder && (quantity ?? row.quantity) < row.reserved)
    throw conflict(`the quantity can't fall under the ${row.reserved} that orders hold`, { variantId: row.id, reserved: row.reserved })
  await tx
    .update(variants)
    .set({
      ...keptPrices(row, variantColumns(input, settings), settings),
      ...(quantity === undefined ? {} : { quantity }),
      updatedAt: about.now,
    })
    .where(eq(variants.id, row.id))
  // Where it can be bought again, a trigger asks for the mails to those who wait for it.
  announce(tx)
  if (quantity === undefined) return
  await record(tx, row.id, quantity - row.quantity, {
    id: about.clock.id(),
    reason: 'set on the variant',
    orderId: null,
    keyId: about.keyId,
    createdAt: about.now,
  })
  if (fallsLow({ ...row, tracked: input.stock!.tracked ?? row.tracked }, quantity, settings.lowStockThreshold))
    await tellLow(tx, about, row.id)
}

const pricesOf = compile((db) =>
  db
    .select({ price: variants.price, prices: variants.prices, active: variants.active })
    .from(variants)
    .where(eq(variants.productId, named('productId'))),
)
const deletePrices = compile((db) => db.delete(productPrices).where(eq(productPrices.productId, named('productId'))))
const insertPrice = inserter(productPrices)

/** Notes the cheapest price by currency of a product that has none noted. */
export async function notePrices(
  tx: Db,
  productId: string,
  currency: string,
  rows: readonly { price: number; prices: Record<string, number>; active: boolean }[],
) {
  const best = new Map<string, number>()
  for (const { price, prices, active } of rows) {
    if (!active) continue
    for (const [code, amount] of [[currency, price] as const, ...Object.entries(prices).filter(([code]) => code !== currency)]) {
      if (!best.has(code) || amount < best.get(code)!) best.set(code, amount)
    }
  }
  for (const [code, price] of best) await insertPrice(tx, { productId, currency: code, price })
}

/** Refreshes the cheapest price by currency that lists sort and filter by. */
export async function refreshPrices(tx: Db, productId: string, currency: string) {
  await deletePrices.run(tx, { productId })
  await notePrices(tx, productId, currency, await pricesOf.all(tx, { productId }))
}

const deleteTags = compile((db) => db.delete(productTags).where(eq(productTags.productId, named('productId'))))
const insertTag = inserter(productTags)

/** Adds tags by which lists filter. */
export async function addTags(tx: Db, productId: string, tags: readonly string[]) {
  for (const tag of tags) await insertTag(tx, { tag, productId })
}

/** Replaces them. */
export async function replaceTags(tx: Db, productId: string, tags: readonly string[]) {
  await deleteTags.run(tx, { productId })
  await addTags(tx, productId, tags)
}

/** Puts a product behind the last one of a collection. */
const append = compile((db) =>
  db.insert(collectionProducts).values({
    collectionId: named('collectionId'),
    productId: named('productId'),
    position: sql`coalesce((select last.position from ${collectionProducts} last where last.collection_id = ${named('collectionId')} order by last.position desc limit 1), -1) + 1`,
  }),
)

/** Puts a product that is in none of them into some collections. */
export async function addToCollections(tx: Db, productId: string, ids: readonly string[]) {
  for (const collectionId of new Set(ids)) await append.run(tx, { collectionId, productId })
}

/** Replaces the collections that a product is in; those it stays in keep its place. */
export async function replaceCollections(tx: Db, productId: string, ids: readonly string[]) {
  await requireIds(tx, collections, ids, 'collectionIds')
  const before = (
    await tx.select({ id: collectionProducts.collectionId }).from(collectionProducts).where(eq(collectionProducts.productId, productId))
  ).map((row) => row.id)
  const gone = before.filter((id) => !ids.includes(id))
  if (gone.length)
    await tx
      .delete(collectionProducts)
      .where(and(eq(collectionProducts.productId, productId), inArray(collectionProducts.collectionId, gone)))
  await addToCollections(
    tx,
    productId,
    ids.filter((id) => !before.includes(id)),
  )
}

/** Refuses with 400 unless the brand and the category that a product names are in the store. */
export async function requireLinks(tx: Db, input: { brandId?: string | null; categoryId?: string | null }) {
  await requireIds(tx, brands, [input.brandId], 'brandId')
  await requireIds(tx, categories, [input.categoryId], 'categoryId')
}

const OPEN = ['pending', 'paid', 'processing'] as const

/** An event is over a day after it began: nobody says when it ends. */
const DAY_MS = 86_400_000

/** Refuses with 409 while somebody is still to come: a guest of an event that is not over, or who has booked a slot that has not ended. */
async function refuseWhileAwaited(tx: Db, column: 'productId' | 'variantId', id: string, now: string) {
  const [seat] = await tx.all<[number]>(
    sql`select 1 from seats s join events e on e.product_id = s.product_id
      where ${column === 'productId' ? sql`e.product_id` : sql`e.variant_id`} = ${id} and s.state <> 'void' and coalesce(e.starts_at, '9') > ${later(now, -DAY_MS)} limit 1`,
  )
  if (seat) throw conflict('seats of the event are sold, and it is still to come: give them back first')
  const [slot] = await tx.all<[number]>(
    sql`select 1 from booking_slots b where b.booked_count > 0 and b.ends_at > ${now}
      and b.product_variant_id ${column === 'variantId' ? sql`= ${id}` : sql`in (select id from variants where product_id = ${id})`} limit 1`,
  )
  if (slot) throw conflict('a slot of it has bookings that are still to come: decline them first')
}

/** Refuses with 409 while an order that is still open has a line of this product (or, given one, of this variant), or somebody is to come. */
export async function refuseWhileOrdered(tx: Db, column: 'productId' | 'variantId', id: string, now: string) {
  const [line] = await tx
    .select({ lookup: orders.lookup })
    .from(orderLines)
    .innerJoin(orders, eq(orders.id, orderLines.orderId))
    .where(and(eq(orderLines[column], id), inArray(orders.status, [...OPEN])))
    .limit(1)
  if (line) throw conflict(`the open order ${line.lookup} has this ${column === 'productId' ? 'product' : 'variant'}`)
  await refuseWhileAwaited(tx, column, id, now)
}
