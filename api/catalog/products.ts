/** Products (document 3, Catalog): what a store sells. */
import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { deleteInTurns } from '../../db/sliced.ts'
import { announce } from '../../db/writer.ts'
import { translations } from '../../db/store/translations.ts'
import { availabilityNotifications, reviews } from '../../db/store/visitors.ts'
import { wrong } from '../values/refusal.ts'
import { resource, type Call, type Params } from '../http/route.ts'
import { deleted, Deleted, Page, type Static } from '../http/schema.ts'
import { slugFor } from '../http/input/references.ts'
import { fold } from '../values/slug.ts'
import { requireRichText } from '../values/rich-text/rich-text.ts'
import { insertProduct, ownColumns, VARIANT_FIELDS } from './insert-product.ts'
import { Filters, listProducts } from './product-list.ts'
import { findProduct, readProduct, viewOf, type View } from './read.ts'
import { indexProduct } from './search/index-products.ts'
import { unindexDocument } from './search/search-index.ts'
import { tellProduct } from './told.ts'
import { Currency, Lang, Product, ProductInput, ProductItem, ProductPatch } from './shapes.ts'
import {
  addVariant,
  changeVariant,
  refreshPrices,
  refuseWhileOrdered,
  replaceCollections,
  replaceTags,
  requireLinks,
  writing,
} from './write.ts'

async function changeProduct(tx: Db, call: Call<unknown, Static<typeof ProductPatch>, Params<'/{idOrSlug}'>>) {
  const { body, now } = call
  const settings = await call.settings()
  const { id } = await findProduct(tx, call.params.idOrSlug, { lang: null, storefront: false })
  requireRichText(body, 'content')
  await requireLinks(tx, body)
  const slug = body.slug === undefined ? {} : { slug: await slugFor(tx, products, body.slug, '') }
  await tx
    .update(products)
    .set({ ...ownColumns(body), ...(body.name === undefined ? {} : { foldedName: fold(body.name) }), ...slug, updatedAt: now })
    .where(eq(products.id, id))
  const rows = VARIANT_FIELDS.some((field) => body[field] !== undefined)
    ? await tx.select().from(variants).where(eq(variants.productId, id)).limit(2)
    : null
  if (rows && rows.length > 1) {
    // What the product shows of its cheapest variant may come back with the rest of it.
    const shown: Record<string, unknown> = await readProduct(tx, id, await plainView(call))
    const changed = VARIANT_FIELDS.find((field) => body[field] !== undefined && !isDeepStrictEqual(body[field], shown[field]))
    if (changed) throw wrong(changed, 'the product has several variants: change them one by one')
  } else if (rows) {
    const { price, sku, stock, compareAtPrice, prices } = body
    if (rows[0]) await changeVariant(tx, writing(call), rows[0], { price, sku, stock, compareAtPrice, prices }, settings)
    else if (price === undefined) throw wrong('price', 'is needed for the first variant')
    else
      await addVariant(
        tx,
        writing(call),
        id,
        { price, sku, compareAtPrice, prices, stock: { tracked: true, quantity: 0, backorder: false, ...stock } },
        settings,
        { name: body.name ?? 'Default', position: 0 },
      )
  }
  // Those who wait for a product hear of it when it is there again: a trigger asks for the mails.
  if (body.status === 'published') announce(tx)
  if (body.tags) await replaceTags(tx, id, body.tags)
  if (body.collectionIds) await replaceCollections(tx, id, body.collectionIds)
  await refreshPrices(tx, id, settings.currency)
  await indexProduct(tx, id)
  await tellProduct(tx, call, 'product.updated', id)
  return id
}

const plainView = async (call: Call): Promise<View> => ({
  currency: null,
  lang: null,
  storefront: false,
  settings: await call.settings(),
})

export const productRoutes = resource('catalog', '/products')
  .get(
    '',
    {
      operationId: 'listProducts',
      summary: 'List products',
      scope: 'storefront:read',
      query: Filters,
      responses: { 200: Page(ProductItem) },
      stored: true,
    },
    async (call) => {
      const { limit, offset } = call.query
      const { data, count } = await listProducts(call.db, call.query, await viewOf(call))
      return { data, meta: { count, offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createProduct',
      summary: 'Add a product',
      scope: 'catalog:write',
      body: ProductInput,
      images: 'product',
      responses: { 201: Product },
    },
    (call) => call.write(async (tx) => readProduct(tx, await insertProduct(tx, call), await plainView(call))),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getProduct',
      summary: 'Read a product',
      scope: 'storefront:read',
      query: { lang: Lang, currency: Currency },
      responses: { 200: Product },
      stored: true,
    },
    async (call) => readProduct(call.db, call.params.idOrSlug, await viewOf(call)),
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateProduct',
      summary: 'Change a product',
      scope: 'catalog:write',
      body: ProductPatch,
      images: 'product',
      responses: { 200: Product },
      refuses: [409],
    },
    (call) => call.write(async (tx) => readProduct(tx, await changeProduct(tx, call), await plainView(call))),
  )
  .delete(
    '/{idOrSlug}',
    {
      operationId: 'deleteProduct',
      summary: 'Remove a product',
      description: 'Refused while an open order has it.',
      scope: 'catalog:write',
      responses: { 200: Deleted },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { id } = await findProduct(tx, call.params.idOrSlug, { lang: null, storefront: false })
        await refuseWhileOrdered(tx, 'productId', id, call.now)
        await tellProduct(tx, call, 'product.deleted', id)
        await deleteInTurns(tx, reviews, eq(reviews.productId, id))
        await deleteInTurns(
          tx,
          availabilityNotifications,
          sql`${availabilityNotifications.variantId} in (select id from variants where product_id = ${id})`,
        )
        await tx.delete(products).where(eq(products.id, id))
        await tx.delete(translations).where(and(eq(translations.entity, 'product'), eq(translations.entityId, id)))
        await unindexDocument(tx, 'product', id)
        return deleted
      }),
  )
