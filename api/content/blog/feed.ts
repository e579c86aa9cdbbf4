/** The feed of a store's blog (Atom, RFC 4287): the newest posts that are public, for readers and for machines. */
import { desc, inArray, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { posts } from '../../../db/store/blog.ts'
import { Lang } from '../../catalog/shapes.ts'
import { translationsFor } from '../../catalog/translated.ts'
import { Reply, resource } from '../../http/route.ts'
import { Type, WebUrl } from '../../http/schema.ts'
import { Html, html } from '../../values/html.ts'
import { richTextHtml } from '../../values/rich-text/render.ts'
import { isPublic, postViewOf, shownPosts, type PostView } from './post.ts'

/** Characters of contents that a feed has: posts after that have their excerpt alone. */
const CONTENT_MAX = 500_000

/** What XML can't say, not even escaped. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** The newest posts, and the ids of those whose contents there is room for. */
async function newestOf(db: Reader, { lang, now }: PostView, limit: number) {
  const translated = sql`(select length(t.fields ->> '$.content') from translations t where t.entity = 'post' and t.locale = ${lang} and t.entity_id = "posts"."id")`
  const items = await db
    .select({
      ...{ id: posts.id, title: posts.title, slug: posts.slug, excerpt: posts.excerpt, image: posts.image, status: posts.status },
      ...{ seo: posts.seo, publishedAt: posts.publishedAt, updatedAt: posts.updatedAt },
      size: sql<number>`coalesce(${translated}, length(${posts.content}), 0)`,
    })
    .from(posts)
    .where(isPublic(now))
    .orderBy(desc(posts.sortedAt), desc(posts.id))
    .limit(limit)
  let size = 0
  return { items, whole: items.filter((item) => (size += item.size) <= CONTENT_MAX).map(({ id }) => id) }
}

/** The contents of posts, in the language of the view where they have one. */
async function contentsOf(db: Reader, { lang }: PostView, ids: string[]): Promise<Map<string, unknown>> {
  const rows = ids.length ? await db.select({ id: posts.id, content: posts.content }).from(posts).where(inArray(posts.id, ids)) : []
  const translated = await translationsFor(db, 'post', lang, ids)
  return new Map(rows.map(({ id, content }) => [id, translated.get(id)?.content ?? content]))
}

export const feedRoutes = resource('content', '/posts').get(
  '/feed.xml',
  {
    operationId: 'getPostFeed',
    summary: 'The feed of the blog',
    description:
      'Atom: the newest posts that are public, with their content as HTML, as far as 500,000 characters of it go; then with their excerpts alone. Serve it from your own host, since it needs a key.',
    scope: 'storefront:read',
    tool: 'blog',
    query: {
      limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
      lang: Lang,
      base: Type.Optional(
        WebUrl({ description: 'Where your blog is: the address of a post is this, and its slug. Without it entries have no links' }),
      ),
    },
    responses: { 200: 'application/atom+xml' },
  },
  async (call) => {
    const { db, query, session } = call
    const view = { ...(await postViewOf(call)), storefront: true }
    const { items, whole } = await newestOf(db, view, query.limit)
    const contents = await contentsOf(db, view, whole)
    const shown = await shownPosts(db, items, view)
    const base = query.base && `${query.base.replace(/(?<!\/)\/+$/, '')}/`
    const linkTo = (path: string) => (base === undefined ? '' : html`<link rel="alternate" href="${base}${path}"/>\n`)
    const { name, locale } = await call.settings()
    const updated = items.reduce(
      (latest, { publishedAt, updatedAt }) => [latest, publishedAt!, updatedAt].sort().at(-1)!,
      '1970-01-01T00:00:00.000Z',
    )
    const entries = shown.map(
      ({ id, title, slug, excerpt, publishedAt, updatedAt }) => html`<entry>
<id>urn:uuid:${id}</id>
<title>${title}</title>
${linkTo(slug)}<published>${publishedAt}</published>
<updated>${updatedAt > publishedAt! ? updatedAt : publishedAt}</updated>
${excerpt === null ? '' : html`<summary>${excerpt}</summary>`}
${contents.has(id) ? html`<content type="html">${richTextHtml(contents.get(id))}</content>` : ''}
</entry>
`,
    )
    const feed = html`${new Html('<?xml version="1.0" encoding="utf-8"?>\n')}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${query.lang ?? locale}">
<id>urn:uuid:${session.store.id}</id>
<title>${name}</title>
<updated>${updated}</updated>
<author><name>${name}</name></author>
${linkTo('')}${entries}</feed>
`
    return new Reply(200, feed.text.toWellFormed().replace(FORBIDDEN, ''), { 'content-type': 'application/atom+xml; charset=utf-8' })
  },
)
