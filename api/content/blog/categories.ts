/** Blog categories (document 1): what posts are about, in an order of their own. */
import { generateKeyBetween } from 'fractional-indexing'
import { and, asc, desc, eq, or, sql } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { deleteInTurns } from '../../../db/sliced.ts'
import { blogCategories, postCategories } from '../../../db/store/blog.ts'
import { Seo, imageInput } from '../../catalog/shapes.ts'
import { seoOf } from '../../catalog/translated.ts'
import { blank } from '../../http/input/blank.ts'
import { slugFor } from '../../http/input/references.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, Page, Paging, Slug, Text, Type, Uuid } from '../../http/schema.ts'
import { contains } from '../../values/compared.ts'
import { conflict, missing, wrong } from '../../values/refusal.ts'
import { isUuid } from '../../values/uuid.ts'

/** A list shows all of them at once. */
const CATEGORIES_MAX = 1_000
const item = {
  id: Uuid(),
  storeId: Uuid(),
  name: Type.String({ examples: ['Workshop'] }),
  slug: Type.String(),
  description: Nullable(Type.String()),
  image: Nullable(Type.String()),
  position: Type.String({ description: 'Sorts by code unit between those of its neighbours', examples: ['a0'] }),
  active: Type.Boolean(),
  seo: Seo,
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
const BlogCategory = Named('BlogCategory', item)
const BlogCategoryItem = Named('BlogCategoryItem', {
  ...item,
  postCount: Type.Integer({ description: 'For visitors, those that are public' }),
})
const input = {
  slug: Type.Optional(Slug()),
  description: Type.Optional(Nullable(Text(0, 5_000))),
  image: imageInput,
  active: Type.Optional(Type.Boolean()),
  position: Type.Optional(Text(1, 200, { description: 'A key between those of its neighbours; a new one goes to the end' })),
  seo: Type.Optional(Seo),
}
const strict = { additionalProperties: false }
const BlogCategoryInput = Body(
  'BlogCategoryInput',
  [{ name: 'Workshop', description: 'What happens at the bench' }],
  { name: Label(300), ...input },
  strict,
)
const BlogCategoryPatch = Body('BlogCategoryPatch', [{ active: false }], { name: Type.Optional(Label(300)), ...input }, strict)

const reads = { scope: 'storefront:read', tool: 'blog' } as const
const changes = { scope: 'content:write', tool: 'blog' } as const
type Row = typeof blogCategories.$inferSelect

async function find(db: Reader, idOrSlug: string, storefront: boolean): Promise<Row> {
  const [row] = await db
    .select()
    .from(blogCategories)
    .where(eq(isUuid(idOrSlug) ? blogCategories.id : blogCategories.slug, idOrSlug))
  if (!row || (storefront && !row.active)) throw missing('blog category')
  return row
}

const whole = ({ seo, ...row }: Row, { session }: Pick<Call, 'session'>) => ({
  ...row,
  storeId: session.store.id,
  seo: seoOf(seo),
})

/** The key of a place in the order: the one given, or the one behind all others. */
async function placeFor(tx: Db, given: string | undefined): Promise<string> {
  const [last] = await tx.select({ position: blogCategories.position }).from(blogCategories).orderBy(desc(blogCategories.position)).limit(1)
  if (given === undefined) return generateKeyBetween(last?.position ?? null, null)
  try {
    generateKeyBetween(given, null)
  } catch {
    throw wrong('position', 'must be a fractional index, such as a0 or a0V')
  }
  return given
}

export const blogCategoryRoutes = resource('content', '/blog-categories')
  .get(
    '',
    {
      operationId: 'listBlogCategories',
      summary: 'List blog categories',
      description: 'By `position`. Visitors see the active ones.',
      ...reads,
      query: {
        ...Paging(50),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name or slug' })),
        active: Type.Optional(Type.Boolean()),
      },
      responses: { 200: Page(BlogCategoryItem) },
    },
    async (call) => {
      const { db, query, storefront, now } = call
      const { limit, offset, active } = query
      const like = query.query === undefined ? undefined : contains(query.query)
      const { name, slug, position, id } = blogCategories
      const where = and(
        like === undefined ? undefined : or(sql`${name} like ${like} escape '\\'`, sql`${slug} like ${like} escape '\\'`),
        active === undefined ? undefined : eq(blogCategories.active, active),
        storefront ? eq(blogCategories.active, true) : undefined,
      )
      const rows = await db.select().from(blogCategories).where(where).orderBy(asc(position), asc(id)).limit(limit).offset(offset)
      const isSeen = storefront ? sql`and p.status = 'published' and p.sorted_at <= ${now}` : sql``
      const ids = JSON.stringify(rows.map((row) => row.id))
      const counts = new Map(
        await aside(db, 'post_categories').all<[string, number]>(
          sql`select value, (select count(*) from post_categories p where p.category_id = value ${isSeen}) from json_each(${ids})`,
        ),
      )
      const data = rows.map((row) => ({ ...whole(row, call), postCount: counts.get(row.id) ?? 0 }))
      return { data, meta: { count: await db.$count(blogCategories, where), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createBlogCategory',
      summary: 'Add a blog category',
      ...changes,
      body: BlogCategoryInput,
      images: 'blogCategory',
      responses: { 201: BlogCategory },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now, clock } = call
        if ((await tx.$count(blogCategories)) >= CATEGORIES_MAX) throw conflict(`a blog has at most ${CATEGORIES_MAX} categories`)
        const row = {
          ...{ image: null, active: true, seo: {}, ...body, id: clock.id(), createdAt: now, updatedAt: now },
          description: blank(body.description) ?? null,
          slug: await slugFor(tx, blogCategories, body.slug, body.name),
          position: await placeFor(tx, body.position),
        }
        await tx.insert(blogCategories).values(row)
        return whole(await find(tx, row.id, false), call)
      }),
  )
  .get(
    '/{idOrSlug}',
    { operationId: 'getBlogCategory', summary: 'Read a blog category', ...reads, responses: { 200: BlogCategory }, stored: true },
    async (call) => whole(await find(call.db, call.params.idOrSlug, call.storefront), call),
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateBlogCategory',
      summary: 'Change a blog category',
      ...changes,
      body: BlogCategoryPatch,
      images: 'blogCategory',
      responses: { 200: BlogCategory },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now, params } = call
        const { id } = await find(tx, params.idOrSlug, false)
        const next = {
          ...(body as Omit<Partial<Row>, 'id'>),
          description: blank(body.description),
          slug: body.slug === undefined ? undefined : await slugFor(tx, blogCategories, body.slug, ''),
          position: body.position === undefined ? undefined : await placeFor(tx, body.position),
          updatedAt: now,
        }
        await tx.update(blogCategories).set(next).where(eq(blogCategories.id, id))
        return whole(await find(tx, id, false), call)
      }),
  )
  .delete(
    '/{idOrSlug}',
    {
      operationId: 'deleteBlogCategory',
      summary: 'Remove a blog category',
      description: 'Its posts stay.',
      ...changes,
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.idOrSlug, false)
        await deleteInTurns(tx, postCategories, eq(postCategories.categoryId, id))
        await tx.delete(blogCategories).where(eq(blogCategories.id, id))
        return deleted
      }),
  )
