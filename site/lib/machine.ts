/** What machines read beside pages: the API's description, the API catalogue, sitemaps, feeds, prices and the latest release as JSON. */
import type { Content, Page } from './content.ts'
import { AREAS, bodyOf, pageMarkdown, type Area, type Site } from './texts.ts'

type Json = Record<string, unknown>

const pagesOf = (content: Content, kind: Area) => content.pages.filter((page) => page.kind === kind)
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

/** A problem's fields (RFC 9457), as every error of the content API has them. */
export const PROBLEM_FIELDS = ['type', 'title', 'status', 'detail', 'instance', 'code', 'resolution', 'documentationUrl'] as const

const text = (description: string, type = 'text/markdown') => ({ description, content: { [type]: { schema: { type: 'string' } } } })
const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

/** A parameter whose values are taken from the content. */
const parameter = (name: string, description: string, schema: Json) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', ...schema },
})

function operation(id: string, summary: string, answer: Json, parameters: Json[] = []) {
  const responses = {
    200: answer,
    304: { description: 'Unchanged since the ETag in If-None-Match' },
    ...(parameters.length ? { 404: problem('No such document'), 414: problem('A path over 2,048 characters') } : {}),
    405: problem('Another method than GET, HEAD and OPTIONS'),
  }
  return { get: { operationId: id, summary, tags: ['content'], security: [], ...(parameters.length ? { parameters } : {}), responses } }
}

/** `/openapi.json`: the content API, with the sections and slugs that there are. */
export function openapiJson({ base, content }: Site): string {
  const unique = (values: string[]) => [...new Set(values)]
  const of = (kind: 'docs' | 'help', what: 'section' | 'slug') => unique(pagesOf(content, kind).map((page) => page[what]!))
  const latest = {
    type: 'object',
    required: ['version', 'date', 'headline', 'slug', 'url', 'fixes', 'markdown'],
    properties: {
      version: { type: 'string' },
      date: { type: 'string', format: 'date' },
      headline: { type: 'string' },
      slug: { type: 'string' },
      url: { type: 'string', format: 'uri' },
      fixes: { type: 'array', items: { type: 'string' } },
      markdown: { type: 'string' },
    },
  }
  const asJson = (description: string, schema: Json) => ({ description, content: { 'application/json': { schema } } })
  const paths = {
    '/sitemap.md': operation('getSitemap', 'Table of contents of the site', text('The contents')),
    '/{section}/sitemap.md': operation('getSectionSitemap', 'Table of contents of a section', text('The contents'), [
      parameter('section', 'Section of the site', { enum: Object.keys(AREAS) }),
    ]),
    '/llms.txt': operation('getLlmsTxt', 'Index for agents: a line for each page', text('The index')),
    '/openapi.json': operation('getOpenapi', 'This document', asJson('OpenAPI 3.1', { type: 'object' })),
    '/.well-known/api-catalog': operation('getApiCatalog', 'The APIs of this host (RFC 9727)', {
      description: 'A linkset (RFC 9264)',
      content: { 'application/linkset+json': { schema: { type: 'object' } } },
    }),
    '/api/index-md': operation('getHome', 'The home page as Markdown', text('The page')),
    '/api/docs/{section}/{slug}': operation('getDocsPage', 'A page of the documentation', text('The page'), [
      parameter('section', 'Section of the documentation', { enum: of('docs', 'section') }),
      parameter('slug', 'Page of the section', { enum: of('docs', 'slug') }),
    ]),
    '/api/help/{category}/{slug}': operation('getHelpArticle', 'A help article', text('The article'), [
      parameter('category', 'Category of the help', { enum: of('help', 'section') }),
      parameter('slug', 'Article of the category', { enum: of('help', 'slug') }),
    ]),
    '/api/blog/{slug}': operation('getBlogPost', 'A post of the blog', text('The post'), [
      parameter('slug', 'As listed in /blog/sitemap.md', { enum: pagesOf(content, 'blog').map(({ slug }) => slug) }),
    ]),
    '/api/changelog/{slug}': operation('getRelease', 'The notes of a release', text('The notes, headed by version and date'), [
      parameter('slug', 'Date and title of the release', {
        pattern: '^\\d{4}-\\d{2}-\\d{2}-.+$',
        enum: pagesOf(content, 'changelog').map(({ slug }) => slug),
      }),
    ]),
    '/api/changelog/latest': operation('getLatestRelease', 'The latest release', asJson('The release', latest)),
    '/api/pricing': operation('getPricing', 'Plans, prices and limits', asJson('The plans', { $ref: '#/components/schemas/Pricing' })),
    '/api/pricing-md': operation('getPricingMarkdown', 'Plans, prices and limits as Markdown', text('The plans')),
  }
  return json({
    openapi: '3.1.1',
    info: {
      title: 'Stoa content API',
      version: '1.0.0',
      description: 'Documentation, help, blog, release notes and prices as Markdown and JSON. All operations are GET; no key is needed.',
    },
    servers: [{ url: base }],
    tags: [{ name: 'content', description: 'What the site says, for programs' }],
    paths,
    components: { schemas: { Problem: PROBLEM_SCHEMA, Pricing: PRICING_SCHEMA } },
  })
}

const PROBLEM_SCHEMA = {
  type: 'object',
  required: [...PROBLEM_FIELDS],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Where the problem is explained' },
    title: { type: 'string', description: 'For people; may be reworded' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri', description: 'The URL that was asked for' },
    code: { type: 'string', description: 'What to branch on' },
    resolution: { type: 'string', description: 'What to do next' },
    documentationUrl: { type: 'string', format: 'uri' },
  },
}

const PLAN_LIST = { type: 'array', items: { type: 'string', enum: ['starter', 'growth', 'scale'] } }
const PRICING_SCHEMA = {
  type: 'object',
  required: ['currency', 'updatedAt', 'plans', 'features'],
  properties: {
    currency: { type: 'string' },
    updatedAt: { type: 'string', format: 'date' },
    plans: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name', 'tagline', 'priceMonthly', 'priceYearly', 'limits', 'features'],
        properties: {
          id: { type: 'string', enum: PLAN_LIST.items.enum },
          name: { type: 'string' },
          tagline: { type: 'string' },
          priceMonthly: { type: 'number' },
          priceYearly: { type: 'number' },
          limits: { type: 'object', properties: { monthlyEmails: { type: 'integer' }, workstations: { type: 'boolean' } } },
          features: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    features: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, plans: PLAN_LIST } } },
  },
}

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
