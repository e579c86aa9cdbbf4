/** `GET /api/store-scan`: what a storefront is made with, how safe it is and what AI crawlers get of it, from six requests at most. */
import { headerOf, readBody } from '../../../api/outside/exchange.ts'
import { locationOf, placeOf } from '../../../api/outside/fetch-public.ts'
import { NotFetched } from '../../../api/outside/not-fetched.ts'
import { HTML_MAX_BYTES, toldBy } from '../page-meta.ts'
import { decoderOf } from '../reading/charset.ts'
import { Markup } from '../reading/markup.ts'
import { ask, attempt, isHtml, read, REDIRECTS_MAX, visit, type Redirect, type Visited, type Visitor } from '../reading/visit.ts'
import { shortened } from '../reading/words.ts'
import { costOf, platformOf, pluginsOf, type FoundPlatform, type FoundPlugin, type PluginCost } from './made-with.ts'
import { isPreloaded } from './preloaded.ts'
import { fileOf, GLANCE_BYTES, isLlms, isRobots, lookForSitemap, robotsOf, type Read, type Tried } from './files.ts'
import { ROBOTS_MAX_BYTES } from './robots.ts'
import { gradeSecurity, type Security } from './security/grade.ts'
import { tracesOf } from './signals.ts'
import { visibilityOf, type Visibility, type VisibilityFacts } from './visibility.ts'
import { warningsOf } from './warnings.ts'

const DIRECTIVES_MAX = 20
const HTML = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1'
/** An origin that nobody has. Who lets it in lets in anybody. */
const STRANGER = 'https://stranger.invalid'

export interface StoreScan {
  url: string
  finalUrl: string
  status: number
  /** ISO 8601. */
  scannedAt: string
  durationMs: number
  redirects: Redirect[]
  page: { title: string | null; description: string | null; language: string | null; canonical: string | null }
  warnings: string[]
  platform: FoundPlatform | null
  plugins: FoundPlugin[]
  pluginCost: PluginCost
  security: Pick<Security, 'grade' | 'score'> & { https: boolean; httpToHttps: boolean | null } & Pick<Security, 'checks'>
  aiVisibility: Visibility
}

/** The source of a page; of what is no HTML, nothing. */
function markupOf({ bytes, headers }: Read): Markup {
  const contentType = headerOf({ headers }, 'content-type')
  const markup = new Markup()
  if (isHtml(contentType)) markup.write(decoderOf(bytes, contentType).decode(bytes))
  return markup.end()
}

/** What the other requests found; they run beside each other. */
interface Beside {
  robots: Tried<Read>
  llms: Tried<Read>
  markdown: Tried<Visited>
  /** The addresses that `http://` leads through; null when nothing answers there. */
  httpRoute: Tried<readonly string[] | null>
}

async function lookBeside(visitor: Visitor, start: URL, page: Read): Promise<Beside> {
  const origin = page.url.origin
  const glance = (path: string, accept: string, maxBytes: number) => attempt(read(visitor, new URL(path, origin), { accept, maxBytes }))
  const [robots, llms, markdown, httpRoute] = await Promise.all([
    glance('/robots.txt', 'text/plain,*/*;q=0.8', ROBOTS_MAX_BYTES),
    glance('/llms.txt', 'text/markdown,text/plain;q=0.9,*/*;q=0.1', GLANCE_BYTES),
    attempt(visit(visitor, page.url, { accept: 'text/markdown', origin: STRANGER })),
    attempt(routeOf(visitor, start, page)),
  ])
  if (!(markdown instanceof NotFetched)) markdown.answer.end()
  return { robots, llms, markdown, httpRoute }
}

/** Where the `http://` twin of an address leads. What the visit of the page has found out is not asked again. */
async function routeOf(visitor: Visitor, start: URL, page: Read): Promise<readonly string[] | null> {
  const known = new Map(page.redirects.map(({ from, to }) => [from, to]))
  const twin = new URL(start)
  twin.protocol = 'http:'
  // A port that is named has no twin.
  if (start.port && start.protocol === 'https:') return null
  const route = [twin.href]
  for (let url = twin; url.href !== page.url.href && route.length <= REDIRECTS_MAX; url = new URL(route.at(-1)!)) {
    const next = known.get(url.href) ?? (await nextOf(visitor, url))
    if (next === 'nobody') return null
    if (next === null) break
    route.push(next)
  }
  return route
}

/** Where one address redirects to; null when nowhere. */
async function nextOf(visitor: Visitor, url: URL): Promise<string | null | 'nobody'> {
  const answer = await attempt(ask(visitor, url, { accept: HTML }))
  if (answer instanceof NotFetched) {
    if (['refused', 'reset', 'silent', 'not-http', 'no-host', 'certificate'].includes(answer.hindrance)) return 'nobody'
    throw answer
  }
  answer.end()
  const location = locationOf(answer)
  return location === null ? null : placeOf(location, visitor.places, url).href.split('#', 1)[0]!
}

/** What there is for crawlers and agents. */
function factsOf(page: Read, markup: Markup, { robots, llms, markdown }: Beside): Omit<VisibilityFacts, 'sitemap' | 'robots'> {
  const type = markdown instanceof NotFetched ? null : headerOf(markdown, 'content-type')
  const isMarkdown = /^text\/(x-)?markdown\b/i.test(type ?? '')
  const said = [
    ...markup.metas.filter((meta) => meta.get('name')?.trim().toLowerCase() === 'robots').map((meta) => meta.get('content') ?? ''),
    ...page.headers.filter(([name]) => name.toLowerCase() === 'x-robots-tag').map(([, value]) => value),
  ]
  const directives = said.flatMap((text) => text.toLowerCase().split(',')).map((part) => shortened(part, 100) ?? '')
  return {
    path: page.url.pathname + page.url.search,
    markup,
    robotsTxt: fileOf(robots, isRobots),
    llmsTxt: fileOf(llms, isLlms),
    markdownNegotiation: {
      supported: markdown instanceof NotFetched ? null : markdown.status === 200 && isMarkdown,
      contentType: shortened(type, 200),
    },
    metaRobots: [...new Set(directives)].filter(Boolean).slice(0, DIRECTIVES_MAX),
  }
}

/** What was asked for beside the page, as reports call it. */
const namesOf = ({ robots, llms, markdown, httpRoute }: Beside) =>
  [
    ['robots.txt', robots],
    ['llms.txt', llms],
    ['the request for Markdown', markdown],
    ['the http:// address', httpRoute],
  ] as const

/** Scans a storefront. Throws `NotFetched` when its page can't be read; whatever else can't is said in the report. */
export async function scanStore(visitor: Visitor, start: URL): Promise<StoreScan> {
  const began = performance.now()
  const scannedAt = new Date().toISOString()
  const visited = await visit(visitor, start, { accept: HTML })
  const page: Read = { ...visited, ...(await readBody(visited.answer, HTML_MAX_BYTES)) }
  const beside = lookBeside(visitor, start, page)
  // While the others are asked: it takes time that nobody waits for.
  visitor.reads()
  const markup = markupOf(page)
  const found = await beside
  visitor.reads()
  const robots = robotsOf(found.robots)
  const { sitemap, failure: sitemapFailure } = await lookForSitemap(visitor, page, robots)
  visitor.reads()
  const facts = factsOf(page, markup, found)
  const traces = tracesOf(markup, { url: page.url, headers: page.headers, cookies: page.cookies.flatMap(({ lines }) => lines) })
  const platform = platformOf(traces)
  const plugins = pluginsOf(traces)
  const route = found.httpRoute instanceof NotFetched ? null : found.httpRoute
  const security = gradeSecurity(
    {
      url: page.url,
      headers: page.headers,
      cookies: page.cookies,
      isHtml: isHtml(headerOf(page, 'content-type')),
      metas: markup.metas,
      scripts: markup.scripts,
      base: markup.base,
      httpRoute: route,
      cors: found.markdown instanceof NotFetched ? null : { origin: STRANGER, headers: found.markdown.headers },
      isPreloaded,
    },
    platform?.known.locked,
  )
  const { title, description, canonical } = toldBy(markup, page.url)
  return {
    url: start.href,
    finalUrl: page.url.href,
    status: page.status,
    scannedAt,
    durationMs: Math.round(performance.now() - began),
    redirects: page.redirects,
    page: { title, description, language: shortened(markup.lang, 35), canonical },
    warnings: warningsOf({ page, markup, metaRobots: facts.metaRobots, asked: namesOf(found), robots: found.robots, sitemapFailure }),
    platform: platform?.found ?? null,
    plugins,
    pluginCost: costOf(plugins),
    security: {
      grade: security.grade,
      score: security.score,
      https: page.url.protocol === 'https:',
      httpToHttps: route === null ? null : route.at(-1)!.startsWith('https:'),
      checks: security.checks,
    },
    aiVisibility: visibilityOf({ ...facts, robots, sitemap }),
  }
}
