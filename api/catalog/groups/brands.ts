/** Brands (document 3, Catalog). */
import { asc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { brands, products } from '../../../db/store/catalog.ts'
import { conflict } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, Page, RichTextOrText, Type, Uuid } from '../../http/schema.ts'
import { slugFor } from '../../http/input/references.ts'
import { requireRichText } from '../../values/rich-text/rich-text.ts'
import { activeInput, findGroup, forget, groupCondition, groupFilters, groupInput, indexGroup, overlay, overlayAll } from './groups.ts'
import { viewOf } from '../read.ts'
import { translationsFor } from '../translated.ts'
import { imageInput, Lang, Seo } from '../shapes.ts'

const Brand = Named('Brand', {
  id: Uuid(),
  name: Type.String({ examples: ['Northwind'] }),
  slug: Type.String(),
  description: RichTextOrText(),
  logo: Nullable(Type.String()),
  active: Type.Boolean(),
  seo: Seo,
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const BrandInput = Body('BrandInput', [{ name: 'Northwind', active: true }], {
  name: Label(300),
  ...groupInput,
  logo: imageInput,
  ...activeInput,
})
const BrandPatch = Body('BrandPatch', [{ active: true }], { name: Type.Optional(Label(300)), ...groupInput, logo: imageInput })
const everyone = { lang: null, storefront: false }

export const brandRoutes = resource('catalog', '/brands')
  .get(
    '',
    {
      operationId: 'listBrands',
      summary: 'List brands',
      scope: 'storefront:read',
      responses: { 200: Page(Brand) },
      query: groupFilters,
      stored: true,
    },
    async (call) => {
      const { limit, offset } = call.query
      const view = await viewOf(call)
      const where = groupCondition('brand', call.query, view)
      const rows = await aside(call.db, 'brands')
        .select()
        .from(brands)
        .where(where)
        .orderBy(asc(brands.name), asc(brands.id))
        .limit(limit)
        .offset(offset)
      return {
        data: await overlayAll(call.db, 'brand', rows, view.lang),
        meta: { count: await aside(call.db, 'brands').$count(brands, where), offset, limit },
      }
    },
  )
  .post(
    '',
    {
      operationId: 'createBrand',
      summary: 'Add a brand',
      scope: 'catalog:write',
      body: BrandInput,
      images: 'brand',
      responses: { 201: Brand },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now, clock } = call
        requireRichText(body, 'description')
        const row = {
          description: null,
          logo: null,
          active: true,
          seo: {},
          createdAt: now,
          updatedAt: now,
          ...body,
          id: clock.id(),
          slug: await slugFor(tx, brands, body.slug, body.name),
        }
        await tx.insert(brands).values(row)
        await indexGroup(tx, 'brand', row)
        return overlay(await findGroup(tx, 'brand', row.id, everyone), undefined)
      }),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getBrand',
      summary: 'Read a brand',
      scope: 'storefront:read',
      query: { lang: Lang },
      responses: { 200: Brand },
      stored: true,
    },
    async (call) => {
      const view = await viewOf(call)
      const row = await findGroup(call.db, 'brand', call.params.idOrSlug, view)
      return overlay(row, (await translationsFor(call.db, 'brand', view.lang, [row.id])).get(row.id))
    },
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateBrand',
      summary: 'Change a brand',
      scope: 'catalog:write',
      body: BrandPatch,
      images: 'brand',
      responses: { 200: Brand },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body } = call
        requireRichText(body, 'description')
        const { id } = await findGroup(tx, 'brand', call.params.idOrSlug, everyone)
        await tx
          .update(brands)
          .set({
            ...body,
            ...(body.slug === undefined ? {} : { slug: await slugFor(tx, brands, body.slug, '') }),
            updatedAt: call.now,
          })
          .where(eq(brands.id, id))
        const row = await findGroup(tx, 'brand', id, everyone)
        await indexGroup(tx, 'brand', row)
        return overlay(row, undefined)
      }),
  )
  .delete(
    '/{idOrSlug}',
    { operationId: 'deleteBrand', summary: 'Remove a brand', scope: 'catalog:write', responses: { 200: Deleted }, refuses: [409] },
    (call) =>
      call.write(async (tx) => {
        const { id } = await findGroup(tx, 'brand', call.params.idOrSlug, everyone)
        if (await tx.$count(products, eq(products.brandId, id))) throw conflict('the brand is still referenced by products')
        await tx.delete(brands).where(eq(brands.id, id))
        await forget(tx, 'brand', id)
        return deleted
      }),
  )
