/** The journal as RSS. */
import type { APIRoute } from 'astro'
import { onePage, pathIn, shop, storeIn } from '../../data/store.ts'
import type { Language } from '../../data/types.ts'
import { wordsIn } from '../../text/text.ts'
import { escaped } from '../../data/xml.ts'

export const getStaticPaths = () => (shop.tools.blog ? onePage() : [])
export const GET: APIRoute = ({ props }) => {
  const { language } = props as { language: Language }
  const title = escaped(wordsIn(language)('rssTitle', { name: shop.name }))
  const items = storeIn(language)
    .catalog.posts.slice(0, 50)
    .map((post) => {
      const url = escaped(shop.base + pathIn(language, `/blog/${post.slug}`))
      return `<item><title>${escaped(post.title)}</title><link>${url}</link><guid isPermaLink="true">${url}</guid>${post.publishedAt ? `<pubDate>${new Date(post.publishedAt).toUTCString()}</pubDate>` : ''}<description>${escaped(post.excerpt ?? '')}</description></item>`
    })
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">\n<channel><title>${title}</title><link>${escaped(shop.base)}/</link><description>${title}</description><language>${language.code}</language>\n<atom:link href="${escaped(shop.base + pathIn(language, '/feed.xml'))}" rel="self" type="application/rss+xml"/>\n${items.join('\n')}\n</channel>\n</rss>\n`,
  )
}
