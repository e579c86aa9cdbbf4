/** `/openapi.json`: the content API, described with the sections and slugs that there are. */
import { ANALYSIS_SCHEMAS, analysisPaths, LIMITS, RETRY } from '../analyses/openapi.ts'
import { SEARCHES } from '../search/limit.ts'
import type { Content } from './content.ts'
import { PROBLEM_CODES } from './problem.ts'
import { FOUND, FOUND_MAX, QUERY_MAX } from './search.ts'
import { AREAS, type Area } from './areas.ts'
import type { Site } from './texts.ts'

type Json = Record<string, unknown>

const pagesOf = (content: Content, kind: Area) => content.pages.filter((page) => page.kind === kind)

/** A problem's fields (RFC 9457), as every error of the content API has them. */
const PROBLEM_FIELDS = ['type', 'title', 'status', 'detail', 'instance', 'code', 'resolution', 'documentationUrl'] as const

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

const SEARCH_RESULTS = {
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: {
      type: 'array',
      maxItems: FOUND_MAX,
      items: {
        type: 'object',
        required: ['title', 'url', 'section', 'heading', 'excerpt', 'planned', 'score'],
        properties: {
          title: { type: 'string', description: 'Of the page' },
          url: { type: 'string', format: 'uri', description: 'Of the page, with the anchor of the heading' },
          section: { type: 'string', enum: Object.keys(AREAS), description: 'Part of the site' },
          heading: { type: 'string', description: 'What the passage stands under; the title of the page where it begins one' },
          excerpt: { type: 'string' },
          planned: { type: 'boolean', description: 'Whether it is about something that is not in this release' },
          score: { type: 'number', minimum: 0, description: 'More fits better; compares the results of one search' },
        },
      },
    },
    meta: { type: 'object', required: ['count'], properties: { count: { type: 'integer', description: 'How many are in data' } } },
  },
}

const searchOperation = {
  get: {
    operationId: 'searchPages',
    summary: 'Passages of all pages that have the words, best first',
    description: `At most ${SEARCHES.requests} requests in any second from one address.`,
    tags: ['content'],
    security: [],
    parameters: [
      { name: 'q', in: 'query', required: true, description: 'Words', schema: { type: 'string', minLength: 1, maxLength: QUERY_MAX } },
      {
        name: 'limit',
        in: 'query',
        description: 'How many passages at most',
        schema: { type: 'integer', minimum: 1, maximum: FOUND_MAX, default: FOUND },
      },
    ],
    responses: {
      200: { description: 'What was found', content: { 'application/json': { schema: { $ref: '#/components/schemas/SearchResults' } } } },
      304: { description: 'Unchanged since the ETag in If-None-Match' },
      400: problem('`q` is missing (`missing_parameter`), or a parameter can not be used (`invalid_parameter`)'),
      405: problem('Another method than GET, HEAD and OPTIONS'),
      429: {
        ...problem(
          `More than ${SEARCHES.requests} searches in a second from this address (\`rate_limited\`), those of \`/search\` and of the tool \`search_docs\` counted`,
        ),
        headers: { ...LIMITS, ...RETRY },
      },
      503: { ...problem('More searches wait than can be answered soon (`overloaded`)'), headers: RETRY },
    },
  },
}

const LATEST = {
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

/** The operations, with the sections and slugs that there are. */
function pathsOf(content: Site['content']) {
  const unique = (values: string[]) => [...new Set(values)]
  const of = (kind: 'docs' | 'help', what: 'section' | 'slug') => unique(pagesOf(content, kind).map((page) => page[what]!))
  const asJson = (description: string, schema: Json) => ({ description, content: { 'application/json': { schema } } })
  return {
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
    '/api/changelog/latest': operation('getLatestRelease', 'The latest release', asJson('The release', LATEST)),
    '/api/search': searchOperation,
    '/api/pricing': operation('getPricing', 'Plans, prices and limits', asJson('The plans', { $ref: '#/components/schemas/Pricing' })),
    '/api/pricing-md': operation('getPricingMarkdown', 'Plans, prices and limits as Markdown', text('The plans')),
    ...analysisPaths(problem),
  }
}

/** `/openapi.json`: the content API. */
export function openapiJson({ base, content }: Site): string {
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Stoa content API',
      version: '1.0.0',
      description:
        'Documentation, help, blog, release notes and prices as Markdown and JSON, and three analyses of storefronts. All operations are GET; no key is needed.',
    },
    servers: [{ url: base }],
    tags: [
      { name: 'content', description: 'What the site says, for programs' },
      { name: 'analyses', description: 'What other sites say, from the outside' },
    ],
    paths: pathsOf(content),
    components: { schemas: { Problem: PROBLEM_SCHEMA, Pricing: PRICING_SCHEMA, SearchResults: SEARCH_RESULTS, ...ANALYSIS_SCHEMAS } },
  }
  return `${JSON.stringify(document, null, 2)}\n`
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
    code: { type: 'string', enum: PROBLEM_CODES, description: 'What to branch on' },
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
          limits: {
            type: 'object',
            properties: {
              monthlyEmails: { type: 'integer' },
              diskMb: { type: 'integer' },
              buildsPerDay: { type: 'integer' },
              workstations: { type: 'boolean' },
            },
          },
          features: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    features: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, plans: PLAN_LIST } } },
  },
}
