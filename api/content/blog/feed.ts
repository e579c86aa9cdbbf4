/** The feed of a store's blog (Atom, RFC 4287): the newest posts that are public, for readers and for machines. */
import { desc } from 'drizzle-orm'
import { posts } from '../../../db/store/blog.ts'
import { Lang } from '../../catalog/shapes.ts'
import { Reply, resource } from '../../http/route.ts'
import { Type, WebUrl } from '../../http/schema.ts'
import { Html, html } from '../../values/html.ts'
import { richTextHtml } from '../../values/rich-text/render.ts'
import { isPublic, postViewOf, shownPosts } from './post.ts'

/** What XML can't say, not even escaped. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

export const feedRoutes = resource('content', '/posts').get(
  '/feed.xml',
  {
    operationId: 'getPostFeed',
    summary: 'The feed of the blog',
    description:
      'Atom: the newest posts that are public, with their whole content as HTML. Serve it from your own host, since it needs a key.',
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
    const { db, query, now, session } = call
    const rows = await db.select().from(posts).where(isPublic(now)).orderBy(desc(posts.sortedAt), desc(posts.id)).limit(query.limit)
    const shown = await shownPosts(db, rows, { ...(await postViewOf(call)), storefront: true })
    const base = query.base?.replace(/\/*$/, '/')
    const linkTo = (path: string) => (base === undefined ? '' : html`<link rel="alternate" href="${base}${path}"/>\n`)
    const { name, locale } = await call.settings()
    const updated = rows.reduce(
      (latest, { publishedAt, updatedAt }) => [latest, publishedAt!, updatedAt].sort().at(-1)!,
      '1970-01-01T00:00:00.000Z',
    )
    const entries = shown.map(
      ({ id, title, slug, excerpt, content, publishedAt, updatedAt }) => html`<entry>
<id>urn:uuid:${id}</id>
<title>${title}</title>
${linkTo(slug)}<published>${publishedAt}</published>
<updated>${updatedAt > publishedAt! ? updatedAt : publishedAt}</updated>
${excerpt === null ? '' : html`<summary>${excerpt}</summary>`}
<content type="html">${richTextHtml(content)}</content>
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
