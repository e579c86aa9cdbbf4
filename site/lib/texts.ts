/** Pages and indexes as Markdown for agents: the sources themselves, with absolute links, and lists of them. */
import { AREAS, type Area } from './areas.ts'
import type { Content, Page } from './content.ts'
import type { Frontmatter } from './frontmatter.ts'
import { lowered, parse, walk } from './markdown.ts'
import { MEASURED } from './measured.ts'
import { sectionsOf } from './nav.ts'
import { isPlanned, ROADMAP } from './planned.ts'
import { pricingMarkdown, type Pricing } from './pricing.ts'

export interface Site {
  /** Where the content site is, without a slash at the end. */
  base: string
  content: Content
  pricing: Pricing
}

export const PITCH =
  'Stoa is an online-store backend: a JSON API for the catalog, carts, checkout, orders, customers and marketing of a store, which never sells the last unit twice and loses nothing that it has acknowledged.'

/** The Markdown with the links that begin at the root made absolute. */
export function absolute(markdown: string, base: string): string {
  const places: number[] = []
  walk(parse(markdown), (node) => {
    if ((node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') || !node.url.startsWith('/')) return
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

/** What most people read in a minute. */
const WORDS_A_MINUTE = 220
/** How many minutes a text takes, its code left out. */
export const minutesOf = ({ body }: Pick<Page, 'body'>): number =>
  Math.max(1, Math.round(body.replace(/^```[^]*?^```$/gm, '').split(/\s+/).length / WORDS_A_MINUTE))

/** What a release is, in a few words: whether it brings something or mends, and how much it mends. */
export function kindsOf({ version, fixes }: Frontmatter['changelog']): string[] {
  const mends = fixes.length ? [`${fixes.length} fix${fixes.length === 1 ? '' : 'es'}`] : []
  return [version.endsWith('.0') ? 'New' : 'Mends', ...mends]
}

/** A page as Markdown. */
export const pageMarkdown = (page: Page, site: Pick<Site, 'base'>) => documentOf(headOf(page), bodyOf(page), site)

/** The text of a page; a release begins with what it mends. */
export function bodyOf(page: Pick<Page, 'body'> & Partial<Pick<Page, 'frontmatter'>>): string {
  const { fixes } = (page.frontmatter ?? {}) as { fixes?: string[] }
  return fixes?.length ? `${page.body}\n\n## Fixes\n\n${fixes.map((fix) => `- ${fix}`).join('\n')}` : page.body
}

const line = (page: Page, base: string, withDate = false) =>
  `- [${headOf(page)}](${base}${page.path}.md): ${isPlanned(page) ? 'Planned. ' : ''}${page.summary}${withDate ? ` (${page.date})` : ''}`
const pagesOf = ({ content }: Site, area: Area) => content.pages.filter((page) => page.kind === area)

/** The list of an area's pages under the headings of its sections, and of their parts. */
function listOf(site: Site, area: Area, depth: number, withDate: boolean): string {
  const list = (pages: readonly Page[]) => pages.map((page) => line(page, site.base, withDate)).join('\n')
  if (area !== 'docs' && area !== 'help') return list(pagesOf(site, area))
  const mark = '#'.repeat(depth)
  return sectionsOf(site.content, area)
    .flatMap(({ title, groups }) => [
      `${mark} ${title}`,
      ...groups.flatMap((group) => [...(group.title ? [`${mark}# ${group.title}`] : []), list(group.pages)]),
    ])
    .join('\n\n')
}

export const ABOUT: Record<Area, string> = {
  docs: 'How to run Stoa, build a storefront on it, and call its API.',
  help: 'How to do what a merchant does: one article for each task, by what it is about.',
  blog: 'How Stoa is built, and why so.',
  changelog: 'What each release brought.',
}

/** What a release may do to those who build on the one before. */
export const STABILITY =
  'Until 1.0, a release with a new second number (0.9.0) may change or remove something, and its notes say what; one with a new third number (0.9.1) only mends and adds.'

const SCAN_ABOUT = 'what a shop runs on, what its plugins cost, how safe it is and which AI crawlers it lets in.'

/** `/sitemap.md`: everything, nested. */
export const sitemapMarkdown = (site: Site) =>
  `# Contents\n\n${(Object.keys(AREAS) as Area[]).map((area) => `## ${AREAS[area]}\n\n${listOf(site, area, 3, true)}`).join('\n\n')}\n\n## More\n\n- [Pricing](${site.base}/pricing.md): what the plans cost and allow. (${site.pricing.updatedAt})\n- [Store scan](${site.base}/scan.md): ${SCAN_ABOUT}\n- [${ROADMAP.title}](${site.base}${ROADMAP.path}.md): ${ROADMAP.about}\n- [${MEASURED.title}](${site.base}${MEASURED.path}.md): ${MEASURED.about}\n`

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
      .filter((page) => !isPlanned(page))
      .map((page) => line(page, site.base))
      .join('\n')
  const planned = site.content.pages.filter(isPlanned)
  const lists = new Map((Object.keys(AREAS) as Area[]).map((area) => [area, listOfAll(area)]))
  const whole = () =>
    `# Stoa\n\n> ${PITCH}\n\nWhat to read for which task:\n\n${tasksOf(site)}\n- Anything else: search all pages with ${site.base}/api/search?q=refund%20an%20order (JSON), or find the page below.\n\nEvery page is there as Markdown under its address with \`.md\`, or with \`Accept: text/markdown\`. The store API describes itself as OpenAPI at \`/api/v1/openapi\` of each store's host; this site's API is described at ${site.base}/openapi.json. Both have MCP servers: this site at ${site.base}/mcp, without a key, and each store at \`/mcp\` of its host ([how](${site.base}/docs/api-reference/mcp-server.md)).\n\n${[
      ...lists,
    ]
      .map(([area, list]) => `## ${AREAS[area]}\n\n${list}`)
      .join(
        '\n\n',
      )}\n\n${planned.length ? `## Planned\n\nNot in this release; each page says what works until then.\n\n${planned.map((page) => line(page, site.base)).join('\n')}\n\n` : ''}## Optional\n\n- [Pricing](${site.base}/pricing.md): what the plans cost and allow.\n- [Store scan](${site.base}/scan.md): ${SCAN_ABOUT}\n- [${MEASURED.title}](${site.base}${MEASURED.path}.md): ${MEASURED.about}\n- [All pages in one file](${site.base}/llms-full.txt): everything above, whole.\n`
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
  const { home } = site.content
  const areas = [
    ...(Object.keys(AREAS) as Area[]).map((area) => `- [${AREAS[area]}](/${area}): ${ABOUT[area]}`),
    '- [Pricing](/pricing): what the plans cost and allow.',
    `- [Store scan](/scan): ${SCAN_ABOUT}`,
  ].join('\n')
  return documentOf(home?.title ?? 'Stoa', [home?.body ?? PITCH, '## All areas', areas].join('\n\n'), site)
}

/** The releases, newest first, each whole. */
export const releasesMarkdown = (site: Site) =>
  documentOf(
    AREAS.changelog,
    [
      ABOUT.changelog,
      STABILITY,
      ...pagesOf(site, 'changelog').map((page) => `## [${headOf(page)}](${page.path})\n\n${lowered(bodyOf(page))}`),
    ].join('\n\n'),
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
