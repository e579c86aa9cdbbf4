/** Product categories (document 1): a tree; a product is in at most one. */
import { and, asc, desc, eq, inArray, sql, type SQL } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { compile, named, type Db, type Reader } from '../../../db/driver.ts'
import { categories, products } from '../../../db/store/catalog.ts'
import { conflict, wrong } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, Page, RichTextOrText, Type, Uuid } from '../../http/schema.ts'
import { requireIds, slugFor } from '../../http/input/references.ts'
import { requireRichText } from '../../values/rich-text/rich-text.ts'
import {
  activeInput,
  findGroup,
  forget,
  groupCondition,
  groupFilters,
  groupInput,
  indexGroup,
  overlay,
  overlayAll,
  translationLists,
} from './groups.ts'
import { productColumns, viewOf, viewProducts, type ProductRow } from '../read.ts'
import { translationsFor } from '../translated.ts'
import { imageInput, Lang, ProductItem, Seo } from '../shapes.ts'

const Translation = Type.Object(
  { locale: Type.String() },
  { additionalProperties: true, description: 'The translated fields of one locale' },
)
const item = {
  id: Uuid(),
  name: Type.String({ examples: ['Shirts'] }),
  slug: Type.String(),
  image: Nullable(Type.String()),
  active: Type.Boolean(),
  parentId: Nullable(Uuid()),
  translations: Type.Array(Translation),
}
const Category = Named('Category', {
  ...item,
  description: RichTextOrText(),
  longDescription: RichTextOrText(),
  seo: Seo,
  products: Type.Array(ProductItem, { description: 'The newest 100 of the category' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const input = {
  ...groupInput,
  longDescription: Type.Optional(RichTextOrText()),
  image: imageInput,
  parentId: Type.Optional(Nullable(Uuid())),
}
const CategoryInput = Body('CategoryInput', [{ name: 'Shirts', active: true }], { name: Label(300), ...input, ...activeInput })
const CategoryPatch = Body('CategoryPatch', [{ active: true }], { name: Type.Optional(Label(300)), ...input })

const DEPTH_MAX = 10
const above = { parentId: categories.parentId }

/** The ids of a category and of all above it, nearest first. */
async function lineage(db: Reader, id: string): Promise<string[]> {
  const ids: string[] = []
  for (let at: string | null = id; at && ids.length <= DEPTH_MAX;) {
    ids.push(at)
    const [row]: { parentId: string | null }[] = await db.select(above).from(categories).where(eq(categories.id, at))
    at = row?.parentId ?? null
  }
  return ids
}

/** How many levels hang below a category, itself included. */
async function height(db: Reader, id: string): Promise<number> {
  const [row] = await db.all<[number]>(
    sql`with recursive below(id, level) as (select ${id}, 1 union all select c.id, level + 1 from categories c join below b on c.parent_id = b.id where level < 12) select max(level) from below`,
  )
  return Object.values(row ?? [])[0] ?? 1
}

/** Refuses a parent that is missing, below the category itself, or too deep. */
async function requireParent(tx: Db, id: string | null, parentId: string | null | undefined) {
  if (!parentId) return
  await requireIds(tx, categories, [parentId], 'parentId')
  const above = await lineage(tx, parentId)
  if (id !== null && above.includes(id)) throw wrong('parentId', 'is the category itself or lies below it')
  if (above.length + (id === null ? 1 : await height(tx, id)) > DEPTH_MAX)
    throw wrong('parentId', `categories nest at most ${DEPTH_MAX} levels deep`)
}

/** The newest products of a category: ids are sorted, along an index, and the wide rows of a hundred are read. */
const newestWith = (condition?: SQL) =>
  compile((db) => {
    const ids = db
      .select({ id: products.id })
      .from(products)
      .where(and(eq(products.categoryId, named('id')), sql`${products.isEvent} in (0, 1)`, condition))
      .orderBy(desc(products.id))
      .limit(100)
    return db.select(productColumns).from(products).where(inArray(products.id, ids)).orderBy(desc(products.id))
  })
const [newestOf, newestPublished] = [newestWith(), newestWith(eq(products.status, 'published'))]

async function read(db: Reader, idOrSlug: string, view: Parameters<typeof viewProducts>[2]) {
  const row = await findGroup(db, 'category', idOrSlug, view)
  const translated = (await translationsFor(db, 'category', view.lang, [row.id])).get(row.id)
  const rows = await (view.storefront ? newestPublished : newestOf).all(aside(db, 'products'), { id: row.id })
  return {
    ...overlay(row, translated),
    translations: (await translationLists(db, 'category', [row.id])).get(row.id)!,
    products: await viewProducts(db, rows as ProductRow[], view),
  }
}

const plain = async (call: { settings(): Promise<Parameters<typeof viewProducts>[2]['settings']> }) => ({
  currency: null,
  lang: null,
  storefront: false,
  settings: await call.settings(),
})

export const categoryRoutes = resource('catalog', '/categories')
  .get(
    '',
    {
      operationId: 'listCategories',
      summary: 'List categories',
      scope: 'storefront:read',
      responses: { 200: Page(Named('CategoryItem', item)) },
      query: groupFilters,
      stored: true,
    },
    async (call) => {
      const { limit, offset } = call.query
      const view = await viewOf(call)
      const where = groupCondition('category', call.query, view)
      const rows = await overlayAll(
        call.db,
        'category',
        await aside(call.db, 'categories').select().from(categories).where(where).orderBy(asc(categories.id)).limit(limit).offset(offset),
        view.lang,
      )
      const lists = await translationLists(
        call.db,
        'category',
        rows.map((row) => row.id),
      )
      return {
        data: rows.map(({ id, name, slug, image, active: on, parentId }) => ({
          id,
          name,
          slug,
          image,
          active: on,
          parentId,
          translations: lists.get(id)!,
        })),
        meta: { count: await aside(call.db, 'categories').$count(categories, where), offset, limit },
      }
    },
  )
  .post(
    '',
    {
      operationId: 'createCategory',
      summary: 'Add a category',
      scope: 'catalog:write',
      body: CategoryInput,
      images: 'category',
      responses: { 201: Category },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now, clock } = call
        requireRichText(body, 'description', 'longDescription')
        await requireParent(tx, null, body.parentId)
        const row = {
          description: null,
          longDescription: null,
          image: null,
          parentId: null,
          active: true,
          seo: {},
          createdAt: now,
          updatedAt: now,
          ...body,
          id: clock.id(),
          slug: await slugFor(tx, categories, body.slug, body.name),
        }
        await tx.insert(categories).values(row)
        await indexGroup(tx, 'category', row)
        return read(tx, row.id, await plain(call))
      }),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getCategory',
      summary: 'Read a category with its products and translations',
      scope: 'storefront:read',
      query: { lang: Lang },
      responses: { 200: Category },
      stored: true,
    },
    async (call) => read(call.db, call.params.idOrSlug, await viewOf(call)),
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateCategory',
      summary: 'Change a category',
      scope: 'catalog:write',
      body: CategoryPatch,
      images: 'category',
      responses: { 200: Category },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body } = call
        requireRichText(body, 'description', 'longDescription')
        const { id } = await findGroup(tx, 'category', call.params.idOrSlug, { lang: null, storefront: false })
        await requireParent(tx, id, body.parentId)
        await tx
          .update(categories)
          .set({
            ...body,
            ...(body.slug === undefined ? {} : { slug: await slugFor(tx, categories, body.slug, '') }),
            updatedAt: call.now,
          })
          .where(eq(categories.id, id))
        await indexGroup(tx, 'category', await findGroup(tx, 'category', id, { lang: null, storefront: false }))
        return read(tx, id, await plain(call))
      }),
  )
  .delete(
    '/{idOrSlug}',
    { operationId: 'deleteCategory', summary: 'Remove a category', scope: 'catalog:write', responses: { 200: Deleted }, refuses: [409] },
    (call) =>
      call.write(async (tx) => {
        const { id } = await findGroup(tx, 'category', call.params.idOrSlug, { lang: null, storefront: false })
        if ((await tx.$count(products, eq(products.categoryId, id))) || (await tx.$count(categories, eq(categories.parentId, id))))
          throw conflict('the category is still referenced by products or subcategories')
        await tx.delete(categories).where(eq(categories.id, id))
        await forget(tx, 'category', id)
        return deleted
      }),
  )
