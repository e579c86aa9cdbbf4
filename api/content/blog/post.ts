/** A post of a store's blog (document 3, Marketing and visitors): its shapes, who sees it when, and its finding. */
import { and, asc, eq, lte, sql, type SQL } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { POST_STATUSES, postCategories, posts } from '../../../db/store/blog.ts'
import type { TranslationFields } from '../../../db/store/translations.ts'
import { viewOf } from '../../catalog/read.ts'
import { idOfTranslatedSlug, seoOf, translationsFor } from '../../catalog/translated.ts'
import { indexDocument, textOf } from '../../catalog/search/search-index.ts'
import { Seo } from '../../catalog/shapes.ts'
import type { Call } from '../../http/route.ts'
import { Named, Nullable, OneOf, RichDocument, Type, Uuid } from '../../http/schema.ts'
import { enqueueBy } from '../../jobs/queue.ts'
import type { Moment } from '../../values/clock.ts'
import { missing } from '../../values/refusal.ts'
import { richTextHtml, richTextMarkdown } from '../../values/rich-text/render.ts'
import { isUuid } from '../../values/uuid.ts'

const item = {
  id: Uuid(),
  title: Type.String({ examples: ['How to care for linen'] }),
  slug: Type.String(),
  excerpt: Nullable(Type.String()),
  image: Nullable(Type.String()),
  categoryIds: Type.Array(Uuid(), { description: 'For visitors, the active ones' }),
  status: OneOf(POST_STATUSES, { description: 'A published one is public from `publishedAt` on' }),
  publishedAt: Nullable(Type.String()),
  seo: Seo,
  commentCount: Type.Integer({ description: 'Approved comments' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
export const PostItem = Named('PostItem', item)
export const Post = Named('Post', {
  ...item,
  content: Nullable(RichDocument()),
  contentHtml: Type.Optional(Type.String({ description: 'With `format=html`: safe to show as it is' })),
  contentMarkdown: Type.Optional(Type.String({ description: 'With `format=markdown`: without HTML in it' })),
})

/** How a post is seen: by whom, in which language, and when. */
export interface PostView {
  lang: string | null
  storefront: boolean
  now: string
}
/** How a call sees posts. */
export async function postViewOf(call: Pick<Call, 'settings' | 'storefront' | 'now'> & { query: { lang?: string } }): Promise<PostView> {
  const { lang, storefront } = await viewOf(call)
  return { lang, storefront, now: call.now }
}
type PostRow = typeof posts.$inferSelect

/** Condition: it is public at an instant. */
export const isPublic = (now: string): SQL => and(sql`${posts.status} = 'published'`, lte(posts.sortedAt, now))!
const isSeen = ({ status, publishedAt }: Pick<PostRow, 'status' | 'publishedAt'>, { storefront, now }: PostView) =>
  !storefront || (status === 'published' && publishedAt! <= now)

/** A post by id or slug (a slug of the view's language first); a visitor sees what is public. */
export async function findPost(db: Reader, idOrSlug: string, view: PostView): Promise<PostRow> {
  const key = isUuid(idOrSlug) ? idOrSlug : ((await idOfTranslatedSlug(db, 'post', view.lang, idOrSlug)) ?? idOrSlug)
  const [row] = await db
    .select()
    .from(posts)
    .where(eq(isUuid(key) ? posts.id : posts.slug, key))
  if (!row || !isSeen(row, view)) throw missing('post')
  return row
}

type Texts = Pick<PostRow, 'id' | 'title' | 'slug' | 'seo'> & { content?: PostRow['content'] }

function overlay<T extends Texts>(row: T, t: TranslationFields | undefined): T {
  const seo = seoOf(row.seo, t)
  const content = 'content' in row ? { content: t?.content ?? row.content } : {}
  return { ...row, title: t?.title ?? row.title, slug: t?.slug ?? row.slug, ...content, seo }
}

/** Posts as they are answered: in the language of the view, with their categories. */
export async function shownPosts<T extends Texts>(db: Reader, rows: readonly T[], { lang, storefront }: PostView) {
  const ids = rows.map(({ id }) => id)
  if (!ids.length) return []
  const translated = await translationsFor(db, 'post', lang, ids, 'content' in rows[0]! ? 'whole' : 'brief')
  const hidden = storefront
    ? sql`exists (select 1 from blog_categories c where c.id = "post_categories"."category_id" and c.active = 1)`
    : undefined
  const named = await db
    .select({ postId: postCategories.postId, categoryId: postCategories.categoryId })
    .from(postCategories)
    .where(and(sql`${postCategories.postId} in (select value from json_each(${JSON.stringify(ids)}))`, hidden))
    .orderBy(asc(postCategories.postId), asc(postCategories.position))
  const categoryIds = Map.groupBy(named, ({ postId }) => postId)
  return rows.map((row) => ({
    ...overlay(row, translated.get(row.id)),
    categoryIds: (categoryIds.get(row.id) ?? []).map(({ categoryId }) => categoryId),
  }))
}

/** A whole post, with its content in another form, too, when that is asked for. */
export async function shownPost(db: Reader, row: PostRow, view: PostView, format?: 'html' | 'markdown') {
  const [post] = await shownPosts(db, [row], view)
  return {
    ...post!,
    ...(format === 'html' ? { contentHtml: richTextHtml(post!.content) } : {}),
    ...(format === 'markdown' ? { contentMarkdown: richTextMarkdown(post!.content) } : {}),
  }
}

/** The job that shows a post in searches when its time has come. */
export const POST_VISIBLE = 'post.visible'

/** What follows from a post's status and instants. */
export const timesOf = ({ status, publishedAt, createdAt }: Pick<PostRow, 'status' | 'publishedAt' | 'createdAt'>, now: string) => ({
  sortedAt: publishedAt ?? createdAt,
  visible: status === 'published' && publishedAt! <= now,
})

/** Puts a post, as it is stored now, into the search index; a scheduled one is shown there in time. */
export async function follow(tx: Db, moment: Moment, { id, title, excerpt, content, status, publishedAt, visible }: PostRow) {
  await indexDocument(tx, 'post', id, '', title, [excerpt ?? '', textOf(content)].join(' '))
  if (status === 'published' && !visible) await enqueueBy(tx, moment, { kind: POST_VISIBLE, subject: id, dueAt: publishedAt! })
}
