/** Everything that the site serves beside Astro's pages, by path. Every body comes from the one index of the content. */
import { version } from '../../package.json'
import { SCAN } from '../analyses/operations.ts'
import type { Page } from './content.ts'
import { apiCatalog, feed, latestRelease, MCP, mcpServers, pricingJson, robotsTxt, securityTxt, sitemapXml } from './machine.ts'
import { MEASURED, measuredBody, RAW } from './measured.ts'
import { openapiJson } from './openapi.ts'
import { madePassages, passagesOf } from './passages.ts'
import { ROADMAP, roadmapBody } from './planned.ts'
import type { IndexWriter } from './search.ts'
import * as texts from './texts.ts'
import { AREAS, type Area } from './areas.ts'
import type { Site } from './texts.ts'

const MARKDOWN = 'text/markdown; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const XML = 'application/xml; charset=utf-8'
const RSS = 'application/rss+xml; charset=utf-8'
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

interface Output {
  type: string
  body: string
}

/** Pages that the site makes itself, with what they are as Markdown. */
function ownPages(site: Site): [path: string, markdown: string][] {
  return [
    ['/', texts.homeMarkdown(site)],
    ...(Object.keys(AREAS) as Area[]).map((area): [string, string] => [
      `/${area}`,
      area === 'changelog' ? texts.releasesMarkdown(site) : texts.areaMarkdown(site, area),
    ]),
    ['/pricing', texts.pricingPage(site)],
    [ROADMAP.path, texts.documentOf(ROADMAP.title, roadmapBody(site.content), site)],
    [MEASURED.path, texts.documentOf(MEASURED.title, measuredBody(site.content.figures, site.content.peers), site)],
    [SCAN, texts.scanMarkdown(site)],
    ['/search', texts.searchMarkdown(site)],
  ]
}

/** The paths of all pages: each has an HTML and a Markdown form. */
export const pagePaths = (site: Site): string[] => [...ownPages(site).map(([path]) => path), ...site.content.pages.map(({ path }) => path)]

/** Where the Markdown of a page is: `/docs.md`, `/index.md` for the home page. */
export const markdownPath = (path: string) => (path === '/' ? '/index.md' : `${path}.md`)

/**
 * All outputs with their paths, each made when it is asked for: of a large site they are many. `storeApi` is where the store API is; the
 * search index is told the passages of all pages.
 */
export function* outputsOf(site: Site, storeApi: string, index?: Pick<IndexWriter, 'add'>): Generator<[path: string, output: Output]> {
  const whole: string[] = []
  for (const page of site.content.pages) {
    const markdown = texts.pageMarkdown(page, site)
    whole.push(markdown)
    index?.add(passagesOf(page))
    yield [markdownPath(page.path), { type: MARKDOWN, body: markdown }]
    yield [`/api${page.path}`, { type: MARKDOWN, body: markdown }]
  }
  index?.add(madePassages(site))
  // Every page, one after the other.
  yield ['/llms-full.txt', { type: MARKDOWN, body: whole.join('\n\n') }]
  whole.length = 0
  yield* madeOutputs(site, storeApi)
}

/** What is not the text of one page after the other. */
function madeOutputs(site: Site, storeApi: string): [path: string, output: Output][] {
  const outputs: [path: string, output: Output][] = []
  const add = (path: string, type: string, body: string) => outputs.push([path, { type, body }])
  for (const [path, markdown] of ownPages(site)) add(markdownPath(path), MARKDOWN, markdown)
  add('/api/index-md', MARKDOWN, texts.homeMarkdown(site))
  add('/sitemap.md', MARKDOWN, texts.sitemapMarkdown(site))
  add('/llms.txt', MARKDOWN, texts.llmsTxt(site))
  for (const area of Object.keys(AREAS) as Area[]) {
    add(`/${area}/sitemap.md`, MARKDOWN, texts.areaSitemap(site, area))
    add(`/${area}/llms.txt`, MARKDOWN, texts.areaLlmsTxt(site, area))
  }
  add('/openapi.json', JSON_TYPE, openapiJson(site))
  add('/.well-known/api-catalog', LINKSET, apiCatalog(site, storeApi))
  add(MCP, JSON_TYPE, mcpServers(site, storeApi, version))
  if (site.content.peers) add(RAW, JSON_TYPE, `${JSON.stringify(site.content.peers, null, 2)}\n`)
  if (site.content.project.contact) add('/.well-known/security.txt', 'text/plain; charset=utf-8', securityTxt(site))
  add('/api/pricing', JSON_TYPE, pricingJson(site))
  add('/api/pricing-md', MARKDOWN, texts.pricingPage(site))
  add('/api/changelog/latest', JSON_TYPE, latestRelease(site))
  add('/sitemap.xml', XML, sitemapXml(site))
  add('/robots.txt', 'text/plain; charset=utf-8', robotsTxt(site))
  const of = (...kinds: Page['kind'][]) =>
    site.content.pages.filter(({ kind }) => kinds.includes(kind)).toSorted((a, b) => (a.date === b.date ? 0 : a.date < b.date ? 1 : -1))
  add('/rss.xml', RSS, feed(site, '/rss.xml', 'Stoa: blog and releases', of('blog', 'changelog')))
  add('/blog/rss.xml', RSS, feed(site, '/blog/rss.xml', 'Stoa: blog', of('blog')))
  add('/changelog/rss.xml', RSS, feed(site, '/changelog/rss.xml', 'Stoa: releases', of('changelog')))
  return outputs
}
