/** The analyses in `/openapi.json`: parameters, answers, and every field of them. */
import { CURRENCY, PLUGINS } from './scan/data.ts'
import { PLACES } from './scan/signals.ts'
import { ANALYSES_MAX, SLOW_MAX } from './desk.ts'
import { OPERATIONS, OPERATION_NAMES, type OperationName } from './operations.ts'
import { CHECK_IDS, GRADE_NAMES } from './scan/security/grade.ts'
import { URL_MAX } from './target.ts'

type Json = Record<string, unknown>
type Problem = (description: string) => Json

const string = (description: string, more: Json = {}): Json => ({ type: 'string', description, ...more })
const integer = (description: string, more: Json = {}): Json => ({ type: 'integer', description, ...more })
const number = (description: string, more: Json = {}): Json => ({ type: 'number', description, ...more })
const boolean = (description: string): Json => ({ type: 'boolean', description })
const oneOf = (values: readonly string[], description: string): Json => ({ type: 'string', enum: values, description })
const list = (items: Json, description: string): Json => ({ type: 'array', items, description })
/** All of its fields are always there. */
const object = (properties: Record<string, Json>, description?: string): Json => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
  ...(description ? { description } : {}),
})
const orNull = ({ description, ...schema }: Json): Json => ({ description, anyOf: [schema, { type: 'null' }] })
const uri = (description: string) => string(description, { format: 'uri' })
const time = (description: string) => string(description, { format: 'date-time' })

const ASKED = uri('What was asked for, in one spelling')
const CACHED = boolean('Whether this was made up to ten minutes ago; `Age` says how many seconds')

const PAGE_META = object({
  url: ASKED,
  finalUrl: uri('What was read, after redirects'),
  status: integer('Status of the page'),
  contentType: orNull(string('As the page was sent')),
  title: orNull(string('`og:title`, `twitter:title` or `<title>`; at most 512 characters')),
  description: orNull(string('`og:description`, `twitter:description` or `meta description`; at most 1,024 characters')),
  image: orNull(uri('Picture for previews')),
  imageAlt: orNull(string('What the picture shows')),
  imageWidth: orNull(integer('In pixels, as the page says')),
  imageHeight: orNull(integer('In pixels, as the page says')),
  siteName: orNull(string('`og:site_name`')),
  type: orNull(string('`og:type`')),
  locale: orNull(string('`og:locale`')),
  canonical: orNull(uri('`link rel=canonical`')),
  favicon: orNull(uri('`link rel=icon`')),
  themeColor: orNull(string('`meta theme-color`')),
  twitterCard: orNull(string('`twitter:card`')),
  fetchedAt: time('When it was read'),
  cached: CACHED,
})

const EVIDENCE = list(object({ in: oneOf(PLACES, 'Where it was found'), match: string('What was found there') }), 'What gave it away')
const CONFIDENCE = number('From 0 to 1', { minimum: 0, maximum: 1 })
const POINTS = integer('Of 100', { minimum: 0 })
const file = (more: Record<string, Json>) =>
  object({ found: boolean('Whether there is one'), status: orNull(integer('Null when nobody answered')), ...more })

const PRICING = object({
  model: oneOf(['free', 'freemium', 'flat', 'tiered', 'usage', 'quote'], 'How its vendor charges'),
  monthlyMin: orNull(number('Cheapest plan a month; null where no dated source says it')),
  monthlyMax: orNull(number('Dearest listed plan a month')),
  asOf: orNull(string('Day on which the source said so', { format: 'date' })),
  sourceUrl: orNull(uri('Where the vendor says it')),
})

const PLATFORM = object(
  {
    id: string('Its name for programs'),
    name: string('Its name for people'),
    version: orNull(string('Where the page tells it')),
    hosting: oneOf(['saas', 'self-hosted'], 'Whether its vendor runs it'),
    confidence: CONFIDENCE,
    evidence: EVIDENCE,
    alternatives: list(
      object({ id: string('Its name for programs'), name: string('Its name for people'), confidence: CONFIDENCE }),
      'Others that are likely',
    ),
  },
  'The likeliest; null when none reaches 0.5',
)

const CHECK = object({
  id: oneOf(CHECK_IDS, 'What is checked'),
  pass: boolean('Whether it is in order'),
  modifier: integer('Points that it adds or takes'),
  value: orNull(string('What was looked at')),
  result: string('What was found, for people'),
  recommendation: orNull(string('What to do')),
  controllable: boolean('False where the platform does not let a merchant set it'),
})

const CRAWLER = object({
  userAgent: string('As robots.txt names it'),
  operator: string('Whose it is'),
  purpose: oneOf(['training', 'search', 'assistant'], 'What it fetches for'),
  allowed: orNull(boolean('Null when robots.txt fails or is silent')),
  rule: orNull(string('The line of robots.txt that decides')),
})

const GRADE = oneOf(GRADE_NAMES, 'From A+ to F')
const STORE_SCAN = object({
  url: ASKED,
  finalUrl: uri('What was read, after redirects'),
  status: integer('Status of the page'),
  scannedAt: time('When it was read'),
  durationMs: integer('How long it took, in ms'),
  redirects: list(
    object({ status: integer('Of the redirect'), from: uri('Where it was'), to: uri('Where it led') }),
    'On the way to the page',
  ),
  page: object({
    title: orNull(string('As for previews: `og:title` before `<title>`')),
    description: orNull(string('As for previews: `og:description` first')),
    language: orNull(string('`<html lang>`')),
    canonical: orNull(uri('`link rel=canonical`')),
  }),
  warnings: list(string('For people'), 'What to mind in this report'),
  platform: orNull(PLATFORM),
  plugins: list(
    object({
      id: string('Its name for programs'),
      name: string('Its name for people'),
      category: oneOf([...new Set(PLUGINS.map(({ category }) => category))].toSorted(), 'What it is for'),
      confidence: CONFIDENCE,
      evidence: EVIDENCE,
      pricing: PRICING,
    }),
    'Those with a confidence of at least 0.5',
  ),
  pluginCost: object({
    currency: oneOf([CURRENCY], 'Of all prices'),
    monthlyMin: orNull(number('All cheapest plans together; null where no price is known')),
    monthlyMax: orNull(number('All dearest listed plans together')),
    pricedCount: integer('Plugins whose price is known'),
    unpricedCount: integer('Plugins whose price is not'),
    basis: string('What the figures are, in a sentence'),
    datasetVersion: string('Day of the data', { format: 'date' }),
  }),
  security: object({
    grade: GRADE,
    score: integer('As Mozilla’s HTTP Observatory scores; over 100 with bonuses', { minimum: 0 }),
    https: boolean('Whether the page came over https'),
    httpToHttps: orNull(boolean('Whether http:// leads to https://; null when nobody answers there')),
    checks: list(CHECK, 'In a fixed order'),
  }),
  aiVisibility: object({
    score: POINTS,
    grade: GRADE,
    robotsTxt: file({ bytes: orNull(integer('Its size')) }),
    crawlers: list(CRAWLER, 'All that are known'),
    contentSignals: orNull(
      object(
        {
          search: orNull(boolean('Null: not said')),
          aiInput: orNull(boolean('Null: not said')),
          aiTrain: orNull(boolean('Null: not said')),
        },
        'Content-Signal of robots.txt; null without one',
      ),
    ),
    metaRobots: list(string('A directive'), 'Of meta robots and X-Robots-Tag'),
    llmsTxt: file({ bytes: orNull(integer('Its size; of a large one what was read')) }),
    sitemap: file({ url: orNull(uri('Where it is')) }),
    markdownNegotiation: object({
      supported: orNull(boolean('Whether Accept: text/markdown gets Markdown')),
      contentType: orNull(string('What it gets')),
    }),
    structuredData: object({ types: list(string('Such as Product'), 'Types of schema.org') }),
    readableWithoutJs: boolean('Whether the page has its text without scripts'),
  }),
  cached: CACHED,
})

const RATING = orNull(oneOf(['good', 'needs-improvement', 'poor'], 'By the published thresholds'))
const METRICS = [
  'firstContentfulPaintMs',
  'largestContentfulPaintMs',
  'totalBlockingTimeMs',
  'cumulativeLayoutShift',
  'speedIndexMs',
  'timeToFirstByteMs',
]
const of = (names: readonly string[], schema: Json) => object(Object.fromEntries(names.map((name) => [name, schema])))
const score = orNull(integer('0 to 100', { minimum: 0, maximum: 100 }))
const SIDE = object({
  scores: of(['performance', 'accessibility', 'bestPractices', 'seo'], score),
  metrics: object(Object.fromEntries(METRICS.map((name) => [name, orNull(number(name.endsWith('Ms') ? 'In ms' : 'Without a unit'))]))),
  ratings: of(METRICS, RATING),
  opportunities: list(
    object({
      id: string('Lighthouse’s audit'),
      title: string('For people'),
      savingsMs: orNull(integer('Time saved')),
      savingsBytes: orNull(integer('Bytes saved')),
    }),
    'What saves most comes first; ten at most',
  ),
  finalUrl: orNull(uri('What was measured')),
})
const PAGE_SPEED = object({
  url: ASKED,
  fetchedAt: time('When it was measured'),
  provider: oneOf(['pagespeed-insights', 'lighthouse'], 'Google’s service, or Lighthouse on this machine'),
  lighthouseVersion: orNull(string('Of the one that measured')),
  mobile: orNull({ ...SIDE, description: 'As on a phone; null when it failed' }),
  desktop: orNull({ ...SIDE, description: 'As on a computer; null when it failed' }),
  fieldData: orNull(
    object(
      {
        overall: RATING,
        lcpMs: orNull(number('Largest contentful paint')),
        inpMs: orNull(number('Interaction to next paint')),
        cls: orNull(number('Cumulative layout shift')),
      },
      'How real visitors have it, from Google’s service; null without',
    ),
  ),
  warnings: list(string('For people'), 'What to mind in this answer'),
  cached: CACHED,
})

/** Schemas of the answers, by name. */
export const ANALYSIS_SCHEMAS: Record<string, Json> = { StoreScan: STORE_SCAN, PageSpeed: PAGE_SPEED, PageMeta: PAGE_META }

const ABOUT: Record<OperationName, [id: string, summary: string, schema: string]> = {
  'store-scan': ['scanStore', 'What a storefront is made with, how safe it is and what AI crawlers get of it', 'StoreScan'],
  pagespeed: ['measurePageSpeed', 'How fast a page is, as on a phone and as on a computer', 'PageSpeed'],
  'fetch-page-meta': ['fetchPageMeta', 'What a page says about itself, as link previews show it', 'PageMeta'],
}

const header = (description: string) => ({ description, schema: { type: 'string' } })
/** What an answer says of its limit. */
export const LIMITS = {
  RateLimit: header('What is left: r requests; t seconds until there is one more'),
  'RateLimit-Policy': header('q requests in w seconds'),
}
export const RETRY = { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } }
const withHeaders = (answer: Json, headers: Json = {}) => ({ ...answer, headers: { ...LIMITS, ...headers } })

const URL_PARAMETER = {
  name: 'url',
  in: 'query',
  required: true,
  description: 'Address of a public web page, http or https, on their usual ports; without a scheme https:// is put before it',
  schema: { type: 'string', minLength: 1, maxLength: URL_MAX },
}

function pathOf(name: OperationName, problem: Problem): Json {
  const { maxMs, perMinute } = OPERATIONS[name]
  const [operationId, summary, schema] = ABOUT[name]
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } }
  return {
    get: {
      operationId,
      summary,
      description: `At most ${perMinute} requests a minute from one address; takes up to ${maxMs / 1000} seconds, and is kept for ten minutes.`,
      tags: ['analyses'],
      security: [],
      parameters: [URL_PARAMETER],
      responses: {
        200: withHeaders(
          { description: 'The report', content },
          { Age: { description: 'Seconds since it was made', schema: { type: 'integer' } } },
        ),
        400: withHeaders(problem('`url` is missing (`missing_parameter`) or can not be used (`invalid_parameter`)')),
        405: problem('Another method than GET, HEAD and OPTIONS'),
        429: withHeaders(problem('Too many requests from this address (`rate_limited`)'), RETRY),
        502: withHeaders(problem('The page, or the service that measures, did not answer usefully (`upstream_unavailable`)')),
        503: withHeaders(
          problem(
            `Too many analyses are under way (\`overloaded\`): ${ANALYSES_MAX} together, ${SLOW_MAX} of page speed, fewer by Lighthouse here`,
          ),
          RETRY,
        ),
      },
    },
  }
}

/** The paths of the analyses. */
export const analysisPaths = (problem: Problem): Record<string, Json> =>
  Object.fromEntries(OPERATION_NAMES.map((name) => [OPERATIONS[name].path, pathOf(name, problem)]))
