/** Bundles (document 1): variants sold together, with a percentage off the sum of their prices. */
import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import type { Db, Reader } from '../../db/driver.ts'
import { bundles, bundleVariants } from '../../db/store/bundles.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { PERCENT_DECIMALS, requireDecimals } from '../values/decimals.ts'
import { missing, wrong } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import {
  Body,
  deleted,
  Deleted,
  Label,
  Named,
  Nullable,
  OneOf,
  Page,
  Paging,
  RichTextOrText,
  Slug,
  Text,
  Type,
  Uuid,
  type Static,
} from '../http/schema.ts'
import { isUuid } from '../values/uuid.ts'
import { requireIds, slugFor } from '../http/input/references.ts'
import { requireRichText } from '../values/rich-text/rich-text.ts'
import { Images, Seo } from './shapes.ts'

const STATUSES = ['draft', 'published', 'hidden'] as const
const item = {
  id: Uuid(),
  name: Type.String({ examples: ['Summer set'] }),
  slug: Type.String(),
  summary: Nullable(Type.String()),
  images: Type.Array(Type.String()),
  status: OneOf(STATUSES),
  discountPercentage: Type.Number(),
  productCount: Type.Integer({ description: 'How many different variants are in it' }),
}
const Bundle = Named('Bundle', {
  ...item,
  content: RichTextOrText(),
  seo: Seo,
  createdAt: Type.String(),
  updatedAt: Type.String(),
  products: Type.Array(
    Type.Object({ variantId: Uuid(), quantity: Type.Integer(), position: Type.Integer(), productId: Uuid(), productName: Type.String() }),
  ),
})
const input = {
  slug: Type.Optional(Slug()),
  summary: Type.Optional(Nullable(Text(0, 5000))),
  content: Type.Optional(RichTextOrText()),
  seo: Type.Optional(Seo),
  images: Type.Optional(Images),
  discountPercentage: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Up to four decimals' })),
  status: Type.Optional(OneOf(STATUSES)),
  variants: Type.Optional(
    Type.Array(
      Named('CreateBundleVariant', {
        variantId: Uuid(),
        quantity: Type.Integer({ minimum: 1, maximum: 10_000, default: 1 }),
        position: Type.Integer({ minimum: 0, maximum: 10_000, default: 0 }),
      }),
      { maxItems: 100, 'x-also': 'products' },
    ),
  ),
}
const BundleInput = Body(
  'BundleInput',
  [{ name: 'Summer set', summary: 'Made from European linen.', discountPercentage: 10, status: 'published' }],
  {
    name: Label(300),
    ...input,
    status: Type.Optional(OneOf(STATUSES, { default: 'published' })),
  },
)
const BundlePatch = Body('BundlePatch', [{ summary: 'Made from European linen.', discountPercentage: 10, status: 'draft' }], {
  name: Type.Optional(Label(300)),
  ...input,
})

/** A bundle by id (or slug); a storefront sees published ones alone. */
async function findBundle(db: Reader, id: string, storefront: boolean) {
  const [row] = await db
    .select()
    .from(bundles)
    .where(eq(isUuid(id) ? bundles.id : bundles.slug, id))
  if (!row || (storefront && row.status !== 'published')) throw missing('bundle')
  return row
}

/** The condition on a part of a bundle that storefronts see: an active variant of a published product. */
const visible = sql.raw("variants.active = 1 and products.status = 'published'")

async function read(db: Reader, id: string, storefront: boolean) {
  const row = await findBundle(db, id, storefront)
  const parts = await db
    .select({
      variantId: bundleVariants.variantId,
      quantity: bundleVariants.quantity,
      position: bundleVariants.position,
      productId: products.id,
      productName: products.name,
    })
    .from(bundleVariants)
    .innerJoin(variants, eq(variants.id, bundleVariants.variantId))
    .innerJoin(products, eq(products.id, variants.productId))
    .where(and(eq(bundleVariants.bundleId, row.id), storefront ? visible : undefined))
    .orderBy(asc(bundleVariants.position), asc(bundleVariants.variantId))
  return { ...row, seo: { title: null, description: null, canonical: null, ...row.seo }, productCount: parts.length, products: parts }
}

async function replaceParts(tx: Db, bundleId: string, parts: NonNullable<Static<typeof BundleInput>['variants']>) {
  const ids = parts.map((part) => part.variantId)
  const twice = ids.findIndex((id, i) => ids.indexOf(id) !== i)
  if (twice >= 0) throw wrong(['variants', String(twice), 'variantId'], 'stands in the bundle twice: use its quantity')
  await requireIds(tx, variants, ids, (i) => `variants.${i}.variantId`)
  await tx.delete(bundleVariants).where(eq(bundleVariants.bundleId, bundleId))
  if (parts.length) await tx.insert(bundleVariants).values(parts.map((part) => ({ bundleId, ...part })))
}

const own = ({ variants: _, ...body }: Static<typeof BundlePatch>) => body as Partial<typeof bundles.$inferInsert>

export const bundleRoutes = resource('catalog', '/bundles')
  .get(
    '',
    {
      operationId: 'listBundles',
      summary: 'List bundles',
      scope: 'storefront:read',
      query: Paging(50),
      responses: { 200: Page(Named('BundleItem', item)) },
      stored: true,
    },
    async ({ db, query: { limit, offset }, storefront }) => {
      const where = storefront ? eq(bundles.status, 'published') : undefined
      const { id, name, slug, summary, images, status, discountPercentage } = bundles
      const productCount =
        sql<number>`(select count(*) from bundle_variants parts join variants on variants.id = parts.variant_id join products on products.id = variants.product_id
      where parts.bundle_id = bundles.id ${storefront ? sql`and ${visible}` : sql``})`.as('product_count')
      const far = aside(db, 'bundles')
      return {
        data: await far
          .select({ id, name, slug, summary, images, status, discountPercentage, productCount })
          .from(bundles)
          .where(where)
          .orderBy(desc(bundles.id))
          .limit(limit)
          .offset(offset),
        meta: { count: await far.$count(bundles, where), offset, limit },
      }
    },
  )
  .post(
    '',
    {
      operationId: 'createBundle',
      summary: 'Add a bundle',
      scope: 'catalog:write',
      body: BundleInput,
      images: 'bundle',
      responses: { 201: Bundle },
    },
    ({ body, write, clock, now }) =>
      write(async (tx) => {
        requireRichText(body, 'content')
        requireDecimals('discountPercentage', body.discountPercentage, PERCENT_DECIMALS)
        const id = clock.id()
        await tx.insert(bundles).values({
          summary: null,
          content: null,
          images: [],
          status: 'published',
          discountPercentage: 0,
          seo: {},
          createdAt: now,
          updatedAt: now,
          ...own(body),
          name: body.name,
          id,
          slug: await slugFor(tx, bundles, body.slug, body.name),
        })
        await replaceParts(tx, id, body.variants ?? [])
        return read(tx, id, false)
      }),
  )
  .get(
    '/{id}',
    { operationId: 'getBundle', summary: 'Read a bundle', scope: 'storefront:read', responses: { 200: Bundle }, stored: true },
    ({ db, params, storefront }) => read(db, params.id, storefront),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateBundle',
      summary: 'Change a bundle',
      description: '`variants` replaces the whole composition.',
      scope: 'catalog:write',
      body: BundlePatch,
      images: 'bundle',
      responses: { 200: Bundle },
      refuses: [409],
    },
    ({ body, params, write, now }) =>
      write(async (tx) => {
        requireRichText(body, 'content')
        requireDecimals('discountPercentage', body.discountPercentage, PERCENT_DECIMALS)
        const { id } = await findBundle(tx, params.id, false)
        await tx
          .update(bundles)
          .set({
            ...own(body),
            ...(body.slug === undefined ? {} : { slug: await slugFor(tx, bundles, body.slug, '') }),
            updatedAt: now,
          })
          .where(eq(bundles.id, id))
        if (body.variants) await replaceParts(tx, id, body.variants)
        return read(tx, id, false)
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteBundle',
      summary: 'Remove a bundle',
      description: 'Products and variants stay as they are.',
      scope: 'catalog:write',
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await findBundle(tx, params.id, false)
        await tx.delete(bundles).where(eq(bundles.id, id))
        return deleted
      }),
  )
