/** A new product: its row, its variants with their first stock, and what lists and search find it by. */
import { inserter, type Db } from '../../db/driver.ts'
import { collections, products, taxRates } from '../../db/store/catalog.ts'
import { wrong } from '../values/refusal.ts'
import type { Call, Settings } from '../http/route.ts'
import type { Static } from '../http/schema.ts'
import { requireIds, slugFor } from '../http/input/references.ts'
import { requireRichText } from '../values/rich-text/rich-text.ts'
import { fold } from '../values/slug.ts'
import { indexProduct } from './search/index-products.ts'
import { tellProduct } from './told.ts'
import type { ProductInput } from './shapes.ts'
import { addTags, addToCollections, isBuyable, notePrices, requireLinks, storeVariant, writing, type Writing } from './write.ts'

type Body = Static<typeof ProductInput>

/** The fields of a product's own row that a request sets. */
const OWN = ['name', 'summary', 'content', 'badgeContent', 'status', 'images', 'brandId', 'categoryId', 'tags', 'seo'] as const
export const ownColumns = (body: Record<string, unknown>) =>
  Object.fromEntries(OWN.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]))
/** Those that make, or change, a single variant. */
export const VARIANT_FIELDS = ['price', 'sku', 'stock', 'compareAtPrice', 'prices'] as const

const insertRow = inserter(products)

const variantsIn = ({ variants, price, sku, stock, compareAtPrice, prices }: Body) =>
  variants ?? (price === undefined ? [] : [{ price, sku, stock, compareAtPrice, prices }])

/**
 * Stores a product, or an event, whose links are known to be in the store. The caller indexes it: many at once cost less than one by
 * one.
 */
export async function storeProduct(tx: Db, about: Writing, settings: Settings, body: Body, isEvent = false): Promise<string> {
  const { now } = about
  const id = about.clock.id()
  const inputs = variantsIn(body)
  await insertRow(tx, {
    summary: null,
    content: null,
    badgeContent: null,
    status: 'published',
    images: [],
    brandId: null,
    categoryId: null,
    tags: [],
    seo: {},
    isEvent,
    ratingSum: 0,
    ratingCount: 0,
    inStock: inputs.some(isBuyable),
    createdAt: now,
    updatedAt: now,
    name: body.name,
    foldedName: fold(body.name),
    ...ownColumns(body),
    id,
    slug: await slugFor(tx, products, body.slug, body.name),
  })
  const rows = []
  for (const [i, input] of inputs.entries()) {
    const name = inputs.length > 1 ? `${body.name} ${i + 1}` : body.name
    rows.push(
      await storeVariant(tx, about, id, input, settings, { name, position: input.position ?? i, path: body.variants && `variants.${i}` }),
    )
  }
  await addTags(tx, id, body.tags ?? [])
  await addToCollections(tx, id, body.collectionIds ?? [])
  await notePrices(tx, id, settings.currency, rows)
  return id
}

/** Adds a product; refuses what contradicts itself or names what is not in the store. The caller is inside a transaction. */
export async function insertProduct(tx: Db, call: Call<unknown, Body>): Promise<string> {
  const { body } = call
  if (body.variants && VARIANT_FIELDS.some((field) => body[field] !== undefined))
    throw wrong('variants', 'give either variants, or price, sku and stock of a single one')
  if (!body.variants && body.price === undefined && VARIANT_FIELDS.some((field) => body[field] !== undefined))
    throw wrong('price', 'is needed for sku, stock or prices')
  requireRichText(body, 'content')
  await requireLinks(tx, body)
  await requireIds(tx, collections, body.collectionIds ?? [], 'collectionIds')
  const rates = (body.variants ?? []).map(({ taxRateId }) => taxRateId)
  await requireIds(tx, taxRates, rates, (i) => `variants.${i}.taxRateId`)
  const id = await storeProduct(tx, writing(call), await call.settings(), body)
  await indexProduct(tx, id)
  await tellProduct(tx, call, 'product.created', id)
  return id
}
