/** What machines read beside pages: the API catalogue, sitemaps, feeds, prices and the latest release as JSON. */
import type { Content, Page } from './content.ts'
import { AREAS, bodyOf, pageMarkdown, type Area, type Site } from './texts.ts'

const pagesOf = (content: Content, kind: Area) => content.pages.filter((page) => page.kind === kind)
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

/** `/.well-known/api-catalog` (RFC 9727): both APIs, with what describes them. `storeApi` is where the store API is. */
export function apiCatalog({ base }: Site, storeApi: string): string {
  const link = (href: string, type: string) => [{ href, type }]
  return json({
    linkset: [
      {
        anchor: `${base}/`,
        'service-desc': link(`${base}/openapi.json`, 'application/json'),
        'service-doc': link(`${base}/docs/api-reference/overview`, 'text/html'),
        status: link(`${base}/healthz`, 'application/json'),
      },
      {
        anchor: `${storeApi}/api/v1`,
        'service-desc': link(`${storeApi}/api/v1/openapi`, 'application/json'),
        'service-doc': link(`${storeApi}/api/v1/docs`, 'text/html'),
        status: link(`${storeApi}/healthz`, 'application/json'),
      },
    ],
  })
}

/** `/api/pricing` */
export const pricingJson = ({ pricing }: Site) => json(pricing)

/** `/api/changelog/latest` */
export function latestRelease(site: Site): string {
  const page = pagesOf(site.content, 'changelog')[0] as Page<'changelog'>
  const { version, date, headline, fixes } = page.frontmatter
  return json({ version, date, headline, slug: page.slug, url: `${site.base}${page.path}`, fixes, markdown: pageMarkdown(page, site) })
}

/** `/sitemap.xml`: every page that is to be found. */
export function sitemapXml({ base, content }: Site): string {
  const newest = (kind: Area) =>
    pagesOf(content, kind)
      .map(({ date }) => date)
      .toSorted()
      .at(-1)
  const entries = [
    ['/', newest('changelog')],
    ...(Object.keys(AREAS) as Area[]).map((area) => [`/${area}`, newest(area)] as const),
    ['/pricing', undefined],
    ['/scan', undefined],
    ...content.pages.map(({ path, date }) => [path, date] as const),
  ] as const
  const urls = entries.map(
    ([path, date]) => `<url><loc>${escape(base + (path === '/' ? '/' : path))}</loc>${date ? `<lastmod>${date}</lastmod>` : ''}</url>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`
}

/** `/robots.txt`: everything may be read, by people and by machines that answer people. */
export const robotsTxt = ({ base }: Site) =>
  `User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=yes\nAllow: /\n\nSitemap: ${base}/sitemap.xml\n`

/** An RSS 2.0 feed of dated pages, newest first. */
export function feed(site: Site, path: string, title: string, pages: readonly Page[]): string {
  const { base } = site
  const items = pages.map((page) => {
    const url = escape(base + page.path)
    return `<item><title>${escape(page.title)}</title><link>${url}</link><guid isPermaLink="true">${url}</guid><pubDate>${new Date(page.date).toUTCString()}</pubDate><description>${escape(page.kind === 'changelog' ? bodyOf(page).split('\n')[0]! : page.summary)}</description></item>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    `<channel><title>${escape(title)}</title><link>${escape(base)}/</link><description>${escape(title)}</description><language>en</language>`,
    `<atom:link href="${escape(base + path)}" rel="self" type="application/rss+xml"/>`,
    ...items,
    '</channel>',
    '</rss>',
    '',
  ].join('\n')
}
