/** Variants (document 3, Catalog): the versions in which a product is sold. */
import { and, asc, eq, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import type { Db, Reader } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { conflict, missing } from '../values/refusal.ts'
import { resource, type Call } from '../http/route.ts'
import { Counted, deleted, Deleted, Page, Paging, Type, Uuid } from '../http/schema.ts'
import { findProduct, priceIn, variantById, variantView, viewOf, type VariantRow, type View } from './read.ts'
import { Currency, Variant, VariantInput, VariantPatch } from './shapes.ts'
import { indexProduct } from './search/index-products.ts'
import { tellProduct } from './told.ts'
import { addVariant, changeVariant, refreshPrices, refuseWhileOrdered, writing } from './write.ts'

/** A variant by id; 404 when a storefront may not see it. */
async function findVariant(db: Reader, id: string, storefront: boolean): Promise<VariantRow> {
  const row = (await variantById.get(db, { id })) as VariantRow | undefined
  if (!row) throw missing('variant')
  if (storefront) {
    const [product] = await db.select({ status: products.status }).from(products).where(eq(products.id, row.productId))
    if (!row.active || product!.status !== 'published') throw missing('variant')
  }
  return row
}

const bare = async (call: Call): Promise<View> => ({
  currency: null,
  lang: null,
  storefront: false,
  settings: await call.settings(),
})

/** Brings all that is derived from a product's variants up to date after a change of them: prices, search, the event. */
async function refresh(tx: Db, call: Call, productId: string) {
  await refreshPrices(tx, productId, (await call.settings()).currency)
  await tx.update(products).set({ updatedAt: call.now }).where(eq(products.id, productId))
  await indexProduct(tx, productId)
  await tellProduct(tx, call, 'product.updated', productId)
}

export const productVariants = resource('catalog', '/products/{idOrSlug}/variants')
  .get(
    '',
    {
      operationId: 'listProductVariants',
      summary: "List a product's variants",
      scope: 'storefront:read',
      query: { currency: Currency },
      responses: { 200: Counted(Variant) },
      stored: true,
    },
    async (call) => {
      const view = await viewOf(call)
      const { id } = await findProduct(call.db, call.params.idOrSlug, view)
      // A product has at most some hundred variants; they are never paged.
      const rows = await call.db
        .select()
        .from(variants)
        .where(eq(variants.productId, id))
        .orderBy(asc(variants.position), asc(variants.id))
        .limit(1000)
      const seen = rows.filter((row) => (!view.storefront || row.active) && priceIn(row, view.currency) !== null)
      return { data: seen.map((row) => variantView(row, view)), meta: { count: seen.length } }
    },
  )
  .post(
    '',
    {
      operationId: 'createVariant',
      summary: 'Add a variant to a product',
      scope: 'catalog:write',
      body: VariantInput,
      responses: { 201: Variant },
    },
    (call) =>
      call.write(async (tx) => {
        const product = await findProduct(tx, call.params.idOrSlug, { lang: null, storefront: false })
        if (product.isEvent) throw conflict('an event has one ticket')
        const [{ count, last }] = (await tx
          .select({ count: sql<number>`count(*)`, last: sql<number>`coalesce(max(${variants.position}), -1)` })
          .from(variants)
          .where(eq(variants.productId, product.id))) as [{ count: number; last: number }]
        if (count >= 200) throw conflict('a product has at most 200 variants')
        const { id } = await addVariant(tx, writing(call), product.id, call.body, await call.settings(), {
          name: product.name,
          position: call.body.position ?? last + 1,
        })
        await refresh(tx, call, product.id)
        return variantView(await findVariant(tx, id, false), await bare(call))
      }),
  )

export const variantRoutes = resource('catalog', '/variants')
  .get(
    '',
    {
      operationId: 'listVariants',
      summary: 'List variants',
      scope: 'storefront:read',
      responses: { 200: Page(Variant) },
      query: {
        ...Paging(10),
        sku: Type.Optional(Type.String({ maxLength: 100 })),
        barcode: Type.Optional(Type.String({ maxLength: 100 })),
        productId: Type.Optional(Uuid()),
        currency: Currency,
      },
      stored: true,
    },
    async (call) => {
      const { limit, offset, sku, barcode, productId } = call.query
      const view = await viewOf(call)
      const where = and(
        sku === undefined ? undefined : eq(variants.sku, sku),
        barcode === undefined ? undefined : eq(variants.barcode, barcode),
        productId === undefined ? undefined : eq(variants.productId, productId),
        view.storefront
          ? // Products that are not published are few, and have an index of their own.
            sql`${variants.active} = 1 and not exists (select 1 from products p indexed by products_unpublished where p.id = ${variants.productId} and p.status <> 'published')`
          : undefined,
        view.currency === null ? undefined : sql`json_extract(${variants.prices}, ${`$.${view.currency}`}) is not null`,
      )
      const far = aside(call.db, 'variants')
      const rows = await far.select().from(variants).where(where).orderBy(asc(variants.id)).limit(limit).offset(offset)
      return { data: rows.map((row) => variantView(row, view)), meta: { count: await far.$count(variants, where), offset, limit } }
    },
  )
  .get(
    '/{id}',
    {
      operationId: 'getVariant',
      summary: 'Read a variant',
      scope: 'storefront:read',
      query: { currency: Currency },
      responses: { 200: Variant },
      stored: true,
    },
    async (call) => variantView(await findVariant(call.db, call.params.id, call.storefront), await viewOf(call)),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateVariant',
      summary: 'Change a variant',
      scope: 'catalog:write',
      body: VariantPatch,
      responses: { 200: Variant },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const row = await findVariant(tx, call.params.id, false)
        await changeVariant(tx, writing(call), row, call.body, await call.settings())
        await refresh(tx, call, row.productId)
        return variantView(await findVariant(tx, row.id, false), await bare(call))
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteVariant',
      summary: 'Remove a variant',
      description: "A product's last variant can't be removed.",
      scope: 'catalog:write',
      responses: { 200: Deleted },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const row = await findVariant(tx, call.params.id, false)
        if ((await tx.$count(variants, eq(variants.productId, row.productId))) === 1)
          throw conflict("a product's last variant can't be removed")
        await refuseWhileOrdered(tx, 'variantId', row.id, call.now)
        await tx.delete(variants).where(eq(variants.id, row.id))
        await refresh(tx, call, row.productId)
        return deleted
      }),
  )
