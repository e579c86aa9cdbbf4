/** The sitemaps: one, or an index of several where there are more addresses than one may have (sitemaps.org). */
import { listedIn } from './listed.ts'
import { shop } from './store.ts'
import { escaped } from './xml.ts'

const MOST = 50_000
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
const XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

/** The addresses, as many at a time as one sitemap may have. */
export function sitemaps(): string[] {
  const urls = shop.languages
    .flatMap(listedIn)
    .map(({ path, changed }) => `<url><loc>${escaped(shop.base + path)}</loc>${changed ? `<lastmod>${changed}</lastmod>` : ''}</url>`)
  const parts = Array.from({ length: Math.max(1, Math.ceil(urls.length / MOST)) }, (_, at) => urls.slice(at * MOST, (at + 1) * MOST))
  return parts.map((part) => `${HEAD}<urlset ${XMLNS}>\n${part.join('\n')}\n</urlset>\n`)
}

/** What stands at /sitemap.xml: the sitemap, or the index of those beside it. */
export function sitemap(): string {
  const all = sitemaps()
  if (all.length === 1) return all[0]!
  const rows = all.map((_, at) => `<sitemap><loc>${escaped(`${shop.base}/sitemap-${at + 1}.xml`)}</loc></sitemap>`)
  return `${HEAD}<sitemapindex ${XMLNS}>\n${rows.join('\n')}\n</sitemapindex>\n`
}
