/** Posts (document 3, Marketing and visitors): written by the team, public from their hour on. */
import { and, desc, eq, lte, sql } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Db } from '../../../db/driver.ts'
import { blogCategories, POST_STATUSES, postCategories, posts } from '../../../db/store/blog.ts'
import { deleteInTurns } from '../../../db/sliced.ts'
import { postComments } from '../../../db/store/visitors.ts'
import { translations } from '../../../db/store/translations.ts'
import { foundAmong, matchExpression, SEEN, unindexDocument } from '../../catalog/search/search-index.ts'
import { imageInput, Lang, Seo } from '../../catalog/shapes.ts'
import { blank } from '../../http/input/blank.ts'
import { requireIds, slugFor } from '../../http/input/references.ts'
import { resource, type Call } from '../../http/route.ts'
import {
  Body,
  deleted,
  Deleted,
  Ids,
  Instant,
  Label,
  Nullable,
  OneOf,
  Page,
  Paging,
  RichDocument,
  Slug,
  Text,
  Type,
  Uuid,
  type Static,
} from '../../http/schema.ts'
import { requireRichText } from '../../values/rich-text/rich-text.ts'
import { utc } from '../../values/time.ts'
import { findPost, follow, isPublic, Post, PostItem, postViewOf, shownPost, shownPosts, timesOf, type PostView } from './post.ts'

const CATEGORIES_MAX = 50
const fields = {
  slug: Type.Optional(Slug()),
  content: Type.Optional(Nullable(RichDocument())),
  excerpt: Type.Optional(Nullable(Text(0, 1_000, { description: 'A short text for lists' }))),
  image: imageInput,
  categoryIds: Type.Optional(Ids(CATEGORIES_MAX, { description: 'Of this store, in this order' })),
  publishedAt: Type.Optional(Nullable(Instant({ description: 'In the future: scheduled. Left out, a published one is public at once' }))),
  seo: Type.Optional(Seo),
}
const example = {
  title: 'How to care for linen',
  excerpt: 'Wash it cool, dry it in the air.',
  content: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Thirty degrees, little spin.' }] }] },
  status: 'published',
}
const PostInput = Body('PostInput', [example], {
  title: Label(300),
  ...fields,
  status: Type.Optional(OneOf(POST_STATUSES, { default: 'draft' })),
})
const PostPatch = Body('PostPatch', [{ status: 'published', publishedAt: '2027-03-03T12:00:00.000Z' }], {
  title: Type.Optional(Label(300)),
  ...fields,
  status: Type.Optional(OneOf(POST_STATUSES)),
})
const tool = { tool: 'blog' } as const
const reads = { scope: 'storefront:read', ...tool } as const
const changes = { scope: 'content:write', ...tool } as const

/** How the team sees them. */
const whole = (now: string): PostView => ({ lang: null, storefront: false, now })

/** Gives a post its categories, in their order. */
async function categorize(tx: Db, { id, status, sortedAt }: typeof posts.$inferSelect, categoryIds: readonly string[]) {
  await requireIds(tx, blogCategories, categoryIds, 'categoryIds')
  await tx.delete(postCategories).where(eq(postCategories.postId, id))
  const rows = categoryIds.map((categoryId, position) => ({ postId: id, categoryId, position, status, sortedAt }))
  if (rows.length) await tx.insert(postCategories).values(rows)
}

/** The columns that a body decides. */
function columns({ categoryIds: _, slug: __, excerpt, publishedAt, ...body }: Static<typeof PostPatch>) {
  const own = body as Partial<typeof posts.$inferInsert>
  if (excerpt !== undefined) own.excerpt = blank(excerpt)
  if (publishedAt !== undefined) own.publishedAt = utc(publishedAt)
  return own
}

const filters = {
  ...Paging(10),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Words in title, excerpt or content' })),
  status: Type.Optional(OneOf(POST_STATUSES)),
  categoryId: Type.Optional(Uuid({ description: 'Those in this blog category' })),
  lang: Lang,
}
const Filters = Type.Object(filters)

/** Condition: visitors see a category. */
const isOpen = (id: string) => sql`exists (select 1 from blog_categories where id = ${id} and active = 1)`

/** The page of ids that a list asks for: of one category in the order of its own index. */
function pageOf({ query, storefront, now, db }: Call<Static<typeof Filters>>) {
  const { limit, offset, status, categoryId, query: words } = query
  const far = aside(db, 'posts', { search: words !== undefined })
  const expression = words === undefined ? null : matchExpression(words)
  const found = words === undefined ? undefined : expression === null ? sql`0` : foundAmong(sql`"posts"."id"`, 'post', expression, SEEN)
  if (categoryId !== undefined && !found) {
    const { postId, sortedAt } = postCategories
    const where = and(
      eq(postCategories.categoryId, categoryId),
      storefront ? isOpen(categoryId) : undefined,
      storefront ? and(sql`${postCategories.status} = 'published'`, lte(sortedAt, now)) : undefined,
      status === undefined ? undefined : eq(postCategories.status, status),
    )
    const ids = far
      .select({ id: postId })
      .from(postCategories)
      .where(where)
      .orderBy(desc(sortedAt), desc(postId))
      .limit(limit)
      .offset(offset)
      .as('page')
    return { ids, count: far.$count(postCategories, where), far }
  }
  const where = and(
    storefront ? isPublic(now) : undefined,
    status === undefined ? undefined : eq(posts.status, status),
    categoryId === undefined
      ? undefined
      : sql`exists (select 1 from post_categories c where c.post_id = "posts"."id" and c.category_id = ${categoryId})`,
    categoryId !== undefined && storefront ? isOpen(categoryId) : undefined,
    found,
  )
  const ids = far
    .select({ id: posts.id })
    .from(posts)
    .where(where)
    .orderBy(desc(posts.sortedAt), desc(posts.id))
    .limit(limit)
    .offset(offset)
    .as('page')
  return { ids, count: far.$count(posts, where), far }
}

/** The columns of a list: all but the content. */
const itemColumns = {
  ...{ id: posts.id, title: posts.title, slug: posts.slug, excerpt: posts.excerpt, image: posts.image, status: posts.status },
  ...{ publishedAt: posts.publishedAt, seo: posts.seo, commentCount: posts.commentCount, createdAt: posts.createdAt },
  updatedAt: posts.updatedAt,
}

export const postRoutes = resource('content', '/posts')
  .get(
    '',
    {
      operationId: 'listPosts',
      summary: 'List posts',
      description: 'Newest first by `publishedAt`. Visitors see those that are public.',
      ...reads,
      query: filters,
      responses: { 200: Page(PostItem) },
    },
    async (call) => {
      const { limit, offset } = call.query
      const { ids, count, far } = pageOf(call)
      const rows = await far
        .select(itemColumns)
        .from(ids)
        .crossJoin(posts)
        .where(eq(posts.id, ids.id))
        .orderBy(desc(posts.sortedAt), desc(posts.id))
      return { data: await shownPosts(call.db, rows, await postViewOf(call)), meta: { count: await count, offset, limit } }
    },
  )
  .post(
    '',
    { operationId: 'createPost', summary: 'Write a post', ...changes, body: PostInput, images: 'post', responses: { 201: Post } },
    (call) => call.write((tx) => createPost(tx, call)),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getPost',
      summary: 'Read a post',
      ...reads,
      query: {
        lang: Lang,
        format: Type.Optional(OneOf(['html', 'markdown'], { description: 'Gives the content in this form, too' })),
      },
      responses: { 200: Post },
    },
    async (call) => {
      const view = await postViewOf(call)
      return shownPost(call.db, await findPost(call.db, call.params.idOrSlug, view), view, call.query.format)
    },
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updatePost',
      summary: 'Change a post',
      ...changes,
      body: PostPatch,
      images: 'post',
      responses: { 200: Post },
      refuses: [409],
    },
    (call) => call.write((tx) => updatePost(tx, call)),
  )
  .delete(
    '/{idOrSlug}',
    {
      operationId: 'deletePost',
      summary: 'Remove a post',
      description: 'Its comments go with it.',
      ...changes,
      responses: { 200: Deleted },
    },
    ({ params, write, now }) =>
      write(async (tx) => {
        const { id } = await findPost(tx, params.idOrSlug, whole(now))
        await deleteInTurns(tx, postComments, eq(postComments.postId, id))
        await tx.delete(posts).where(eq(posts.id, id))
        await tx.delete(translations).where(and(eq(translations.entity, 'post'), eq(translations.entityId, id)))
        await unindexDocument(tx, 'post', id)
        return deleted
      }),
  )

async function createPost(tx: Db, call: Call<unknown, Static<typeof PostInput>>) {
  const { body, clock, now } = call
  requireRichText(body, 'content')
  const { status = 'draft' } = body
  const own = {
    content: null,
    excerpt: null,
    image: null,
    publishedAt: null,
    seo: {},
    ...columns(body),
    title: body.title,
    status,
    createdAt: now,
  }
  if (status === 'published') own.publishedAt ??= now
  const slug = await slugFor(tx, posts, body.slug, body.title)
  const row = { ...own, id: clock.id(), slug, commentCount: 0, ...timesOf(own, now), updatedAt: now }
  await tx.insert(posts).values(row)
  return finish(tx, call, row, body.categoryIds ?? [])
}

async function updatePost(tx: Db, call: Call<unknown, Static<typeof PostPatch>, { idOrSlug: string }>) {
  const { body, now } = call
  requireRichText(body, 'content')
  const stored = await findPost(tx, call.params.idOrSlug, whole(now))
  const next = { ...stored, ...columns(body), updatedAt: now }
  if (next.status === 'published') next.publishedAt ??= now
  if (body.slug !== undefined) next.slug = await slugFor(tx, posts, body.slug, '')
  Object.assign(next, timesOf(next, now))
  // A key that is written, though it stays, has all that refers to it looked through.
  const { id, ...own } = next
  await tx.update(posts).set(own).where(eq(posts.id, id))
  return finish(tx, call, next, body.categoryIds)
}

/** What follows from a post that was written: its categories, what searches find, and the answer. */
async function finish(tx: Db, call: Call, row: typeof posts.$inferSelect, categoryIds: readonly string[] | undefined) {
  if (categoryIds) await categorize(tx, row, categoryIds)
  await follow(tx, call, row)
  return shownPost(tx, row, whole(call.now))
}
