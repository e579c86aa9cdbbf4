/** Pages and indexes as Markdown for agents: the sources themselves, with absolute links, and lists of them. */
import { AREAS, type Area } from './areas.ts'
import type { Content, NavigationSection, Page } from './content.ts'
import { lowered, parse, walk } from './markdown.ts'
import { pricingMarkdown, type Pricing } from './pricing.ts'

export interface Site {
  /** Where the content site is, without a slash at the end. */
  base: string
  content: Content
  pricing: Pricing
}

export const PITCH =
  'Stoa is an online-store backend: a JSON API for the catalog, carts, checkout, orders, customers and marketing of a store, which never sells the last unit twice and loses nothing that it has acknowledged.'

/** What Stoa promises, in a few words and in a sentence or two. */
export const POINTS: readonly [title: string, text: string][] = [
  [
    'The last unit, once',
    'Five hundred buyers at once for a stock of fifty, over two processes, make exactly fifty orders. Killed in the middle of a storm of checkouts, it loses none that it acknowledged.',
  ],
  [
    'A store is a file',
    'Each store has a database of its own, and a sandbox beside it. A query can not reach another store, and a backup is one file, made while the store sells.',
  ],
  [
    'One transaction',
    'Stock, coupon, order number, payment and the events that follow are written together or not at all. Checkouts that wait together share one flush to disk.',
  ],
  [
    'Described by itself',
    'The OpenAPI 3.1 document is made from the schemas that the handlers check against, and a typed client and the tools of agents from the same. Errors name the field, and say what is allowed.',
  ],
  [
    'Safe to try again',
    'Idempotency keys, ETags and conditional changes on every resource; request ids in every answer and every log line.',
  ],
  ['Two commands', 'npm start and npm test. Node.js 20 and npm are all it takes; the databases are files until you want a libSQL server.'],
]

/** The Markdown with the links that begin at the root made absolute. */
export function absolute(markdown: string, base: string): string {
  const places: number[] = []
  walk(parse(markdown), (node) => {
    if ((node.type !== 'link' && node.type !== 'definition') || !node.url.startsWith('/')) return
    const { start, end } = node.position!
    places.push(start.offset! + markdown.slice(start.offset, end.offset).lastIndexOf(node.url))
  })
  const pieces = [0, ...places].map((from, i) => markdown.slice(from, places[i]))
  return pieces.join(base)
}

/** A document of the site: its title, its text, and where to find the others, for those who read the beginning or the end alone. */
export const documentOf = (title: string, body: string, { base }: Pick<Site, 'base'>) =>
  `# ${title}\n\n> Index of all pages: ${base}/llms.txt\n\n${absolute(body, base)}\n\n---\n\nAll pages: ${base}/llms.txt\n`

/** What stands over the text of a page: a release has its version and date. */
function headOf(page: Page): string {
  if (page.kind !== 'changelog') return page.title
  const { version, date, headline } = (page as Page<'changelog'>).frontmatter
  return `${version}, ${date}: ${headline}`
}

const long = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
/** `2026-03-05` as `5 March 2026`. */
export const longDate = (date: string) => long.format(new Date(date))

/** A page as Markdown. */
export const pageMarkdown = (page: Page, site: Pick<Site, 'base'>) => documentOf(headOf(page), bodyOf(page), site)

/** The text of a page; a release begins with what it mends. */
export function bodyOf(page: Page): string {
  const { fixes } = page.frontmatter as { fixes?: string[] }
  return fixes?.length ? `${page.body}\n\n## Fixes\n\n${fixes.map((fix) => `- ${fix}`).join('\n')}` : page.body
}

const line = (page: Page, base: string, withDate = false) =>
  `- [${headOf(page)}](${base}${page.path}.md): ${page.summary}${withDate ? ` (${page.date})` : ''}`
const pagesOf = ({ content }: Site, area: Area, section?: string) =>
  content.pages.filter((page) => page.kind === area && (section === undefined || page.section === section))
const sectionsOf = ({ content }: Site, area: Area): NavigationSection[] =>
  area === 'docs' || area === 'help' ? content.navigation[area] : []

/** The list of an area's pages under the headings of its sections. */
function listOf(site: Site, area: Area, depth: number, withDate: boolean): string {
  const sections = sectionsOf(site, area)
  const list = (pages: readonly Page[]) => pages.map((page) => line(page, site.base, withDate)).join('\n')
  if (!sections.length) return list(pagesOf(site, area))
  return sections.map(({ section, title }) => `${'#'.repeat(depth)} ${title}\n\n${list(pagesOf(site, area, section))}`).join('\n\n')
}

export const ABOUT: Record<Area, string> = {
  docs: 'How to run Stoa, build a storefront on it, and call its API.',
  help: 'How to do what a merchant does: one article for each task.',
  blog: 'How Stoa is built, and why so.',
  changelog: 'What each release brought.',
}

const SCAN_ABOUT = 'what a shop runs on, what its plugins cost, how safe it is and which AI crawlers it lets in.'

/** `/sitemap.md`: everything, nested. */
export const sitemapMarkdown = (site: Site) =>
  `# Contents\n\n${(Object.keys(AREAS) as Area[]).map((area) => `## ${AREAS[area]}\n\n${listOf(site, area, 3, true)}`).join('\n\n')}\n\n## More\n\n- [Pricing](${site.base}/pricing.md): what the plans cost and allow. (${site.pricing.updatedAt})\n- [Store scan](${site.base}/scan.md): ${SCAN_ABOUT}\n`

/** `/{section}/sitemap.md` */
export const areaSitemap = (site: Site, area: Area) => `# ${AREAS[area]}\n\n${ABOUT[area]}\n\n${listOf(site, area, 2, true)}\n`

/** Agents read no more of an `llms.txt` than so many characters. */
const LLMS_TXT_MAX = 50_000

/** Which pages to read for which task. */
const TASKS: readonly [task: string, paths: readonly string[]][] = [
  [
    'Sell',
    [
      'docs/getting-started/quick-start',
      'help/products/add-a-product',
      'help/payments/connect-payment-provider',
      'help/orders/manage-orders',
    ],
  ],
  ['Offer discounts', ['help/marketing/coupons-and-discounts', 'help/marketing/promotions', 'help/marketing/loyalty-program']],
  [
    'Ship',
    ['help/shipping/shipping-methods', 'help/orders/fulfill-and-ship', 'help/shipping/pickup-locations', 'help/orders/refunds-and-returns'],
  ],
  ['Mail', ['help/marketing/newsletters-and-subscribers', 'help/account/email-notifications', 'docs/api-reference/newsletters']],
  ['Build a shop', ['docs/storefront/overview', 'docs/storefront/cart', 'docs/commerce-sdk/quick-start', 'docs/api-reference/carts']],
  ['Call the API', ['docs/api-reference/overview', 'docs/api-reference/authentication', 'docs/api-reference/content-api']],
  ['Look at a shop from outside', ['docs/api-reference/analyses', 'help/storefront/store-scan']],
  ['Run it', ['docs/getting-started/installation', 'docs/getting-started/configuration', 'docs/getting-started/deployment']],
]

/** The tasks, a line each; of content that has none of their pages, none. */
const tasksOf = ({ content, base }: Site): string =>
  TASKS.map(([task, paths]) => [task, paths.flatMap((path) => content.byPath.get(`/${path}`) ?? [])] as const)
    .filter(([, pages]) => pages.length)
    .map(([task, pages]) => `- ${task}: ${pages.map((page) => `[${page.title}](${base}${page.path}.md)`).join(', ')}`)
    .join('\n')

/** `/llms.txt` (llmstxt.org): what to read first, and a line for each page, or for an area whose lines would be too many. */
export function llmsTxt(site: Site): string {
  const listOfAll = (area: Area) =>
    pagesOf(site, area)
      .map((page) => line(page, site.base))
      .join('\n')
  const lists = new Map((Object.keys(AREAS) as Area[]).map((area) => [area, listOfAll(area)]))
  const whole = () =>
    `# Stoa\n\n> ${PITCH}\n\nWhat to read for which task:\n\n${tasksOf(site)}\n- Anything else: search all pages with ${site.base}/api/search?q=refund%20an%20order (JSON), or find the page below.\n\nEvery page is there as Markdown under its address with \`.md\`, or with \`Accept: text/markdown\`. The store API describes itself as OpenAPI at \`/api/v1/openapi\` of each store's host; this site's API is described at ${site.base}/openapi.json. Both have MCP servers: this site at ${site.base}/mcp, without a key, and each store at \`/mcp\` of its host ([how](${site.base}/docs/api-reference/mcp-server.md)).\n\n${[
      ...lists,
    ]
      .map(([area, list]) => `## ${AREAS[area]}\n\n${list}`)
      .join(
        '\n\n',
      )}\n\n## Optional\n\n- [Pricing](${site.base}/pricing.md): what the plans cost and allow.\n- [Store scan](${site.base}/scan.md): ${SCAN_ABOUT}\n- [All pages in one file](${site.base}/llms-full.txt): everything above, whole.\n`
  for (const [area] of [...lists].toSorted(([, a], [, b]) => b.length - a.length)) {
    if (whole().length < LLMS_TXT_MAX) break
    lists.set(area, `- [All ${pagesOf(site, area).length} pages](${site.base}/${area}/llms.txt): ${ABOUT[area]}`)
  }
  return whole()
}

/** `/{section}/llms.txt` */
export const areaLlmsTxt = (site: Site, area: Area) => `# Stoa: ${AREAS[area]}\n\n> ${ABOUT[area]}\n\n${listOf(site, area, 2, false)}\n`

/** The home page as Markdown. */
export function homeMarkdown(site: Site): string {
  const first = (['introduction', 'quick-start', 'installation'] as const).flatMap(
    (slug) => site.content.byPath.get(`/docs/getting-started/${slug}`) ?? [],
  )
  return documentOf(
    'An online-store backend that keeps its word',
    [
      PITCH,
      '## Start',
      'With Node.js 20 or later and npm, in a clone of the project:',
      '```sh\nnpm start\n```',
      'That starts the store API and this site, and prints the keys of a demo store.',
      first.map((page) => `- [${page.title}](${page.path}): ${page.summary}`).join('\n'),
      '## What you can rely on',
      ...POINTS.map(([title, text]) => `### ${title}\n\n${text}`),
      '## Read on',
      (Object.keys(AREAS) as Area[]).map((area) => `- [${AREAS[area]}](/${area}): ${ABOUT[area]}`).join('\n'),
      `- [Pricing](/pricing): what the plans cost and allow.`,
      `- [Store scan](/scan): ${SCAN_ABOUT}`,
    ].join('\n\n'),
    site,
  )
}

/** The releases, newest first, each whole. */
export const releasesMarkdown = (site: Site) =>
  documentOf(
    AREAS.changelog,
    [ABOUT.changelog, ...pagesOf(site, 'changelog').map((page) => `## [${headOf(page)}](${page.path})\n\n${lowered(bodyOf(page))}`)].join(
      '\n\n',
    ),
    site,
  )

/** The front page of an area as Markdown. */
export const areaMarkdown = (site: Site, area: Exclude<Area, 'changelog'>) =>
  documentOf(AREAS[area], `${ABOUT[area]}\n\n${listOf({ ...site, base: '' }, area, 2, area === 'blog')}`, site)

export const pricingPage = (site: Site) => documentOf('Pricing', pricingMarkdown(site.pricing), site)

/** The page of the scan without a shop: how an agent asks for one. */
export const scanMarkdown = (site: Site) =>
  documentOf(
    'Store scan',
    'Paste a shop’s address: what it runs on, what its plugins cost, how safe its headers are, and which AI crawlers it lets in or shuts out.\n\nAsk for `/scan.md?url=shop.com` for a report as Markdown, or [for JSON](/docs/api-reference/content-api#store-scan) at `/api/store-scan?url=shop.com`: ten a minute from one address. [How to read a report](/help/storefront/store-scan).',
    site,
  )

export const searchMarkdown = (site: Site) =>
  documentOf(
    'Search',
    'Ask for `/search.md?q=refund%20an%20order` for the ten passages that fit best, or [for JSON](/docs/api-reference/content-api#search) at `/api/search?q=`. All pages with their summaries are in [llms.txt](/llms.txt).',
    site,
  )
