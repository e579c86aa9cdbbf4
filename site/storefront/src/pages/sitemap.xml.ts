/** All pages, in all languages. */
import type { APIRoute } from 'astro'
import { listedIn } from '../data/listed.ts'
import { shop } from '../data/store.ts'
import { escaped } from '../data/xml.ts'

/** More are not read of one sitemap (sitemaps.org). */
const MOST = 50_000
export const GET: APIRoute = () => {
  const urls = shop.languages
    .flatMap(listedIn)
    .slice(0, MOST)
    .map(({ path, changed }) => `<url><loc>${escaped(shop.base + path)}</loc>${changed ? `<lastmod>${changed}</lastmod>` : ''}</url>`)
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`,
  )
}
