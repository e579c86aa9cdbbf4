/** What machines read beside pages: the API catalogue, sitemaps, feeds, prices and the latest release as JSON. */
import { isIP } from 'node:net'
import type { Content, Page } from './content.ts'
import { AREAS, type Area } from './areas.ts'
import { bodyOf, pageMarkdown, type Site } from './texts.ts'

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
      ...[base, storeApi].map((host) => ({
        anchor: `${host}/mcp`,
        'service-desc': link(`${base}${MCP}`, 'application/json'),
        'service-doc': link(`${base}/docs/api-reference/mcp-server`, 'text/html'),
      })),
    ],
  })
}

/** Where the MCP servers are described. */
export const MCP = '/.well-known/mcp.json'

/** `/.well-known/mcp.json`: both MCP servers, each as a `server.json` of the MCP registry describes one. */
export function mcpServers({ base }: Site, storeApi: string, version: string): string {
  const { hostname } = new URL(base)
  const server = (name: string, title: string, description: string, remote: object) => ({
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    // A name there is a domain backwards, and what the server is called on it.
    name: `${isIP(hostname) ? hostname : hostname.split('.').toReversed().join('.')}/${name}`,
    title,
    description,
    version,
    websiteUrl: `${base}/docs/api-reference/mcp-server`,
    remotes: [{ type: 'streamable-http', ...remote }],
  })
  const key = 'Bearer and an API key of the store: what the key may do, the tools may do'
  return json({
    servers: [
      server('stoa', 'Stoa store', 'The catalog, orders, customers and shop of one store', {
        url: `${storeApi}/mcp`,
        headers: [{ name: 'Authorization', description: key, isRequired: true, isSecret: true }],
      }),
      server('stoa-docs', 'Stoa documentation', 'The documentation of Stoa, and what can be told of public shops', { url: `${base}/mcp` }),
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
    ['/roadmap', undefined],
    ['/measured', undefined],
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

/** How long a `security.txt` is to be believed, from the release on: at most a year (RFC 9116). */
const SECURITY_DAYS = 364

/** `/.well-known/security.txt` (RFC 9116): where security reports go. */
export function securityTxt({ base, content }: Site): string {
  const released = pagesOf(content, 'changelog')[0]?.date ?? new Date().toISOString().slice(0, 10)
  const expires = new Date(Date.parse(released) + SECURITY_DAYS * 86_400_000).toISOString()
  return `Contact: ${content.project.contact}\nExpires: ${expires}\nPreferred-Languages: en\nCanonical: ${base}/.well-known/security.txt\n`
}

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
