/** The report of a scan in words: for its page, and as Markdown for agents. */
import type { Problem } from '../lib/problem.ts'
import type { FoundPlugin, PluginCost } from './scan/made-with.ts'
import type { StoreScan } from './scan/scan.ts'
import type { CheckId } from './scan/security/outcomes.ts'
import type { CrawlerVerdict } from './scan/visibility.ts'

/** What the page `/scan` shows. */
export interface Shown {
  /** What was typed. */
  given: string
  /** The query as it came, for the addresses of the other forms. */
  query: string
  scan: StoreScan | null
  problem: Problem | null
}

/** Something to do, with the points that it costs as long as it is not done; 0 where they can't be told. */
interface Step {
  part: 'security' | 'visibility'
  points: number
  what: string
  /** The others need it. */
  isFirst?: boolean
}

const STEPS_MAX = 6

/** Checks that can't be in order while a shop is on http. */
const NEED_HTTPS: readonly CheckId[] = ['strict-transport-security', 'redirection', 'cookies']

/** What is to be done for security: with https first, since the rest needs it. */
function securitySteps({ security }: StoreScan): Step[] {
  const faults = security.checks.filter(({ modifier, controllable, recommendation }) => modifier < 0 && controllable && recommendation)
  const waiting = security.https ? [] : faults.filter(({ id }) => NEED_HTTPS.includes(id))
  const points = (some: typeof faults) => some.reduce((sum, { modifier }) => sum - modifier, 0)
  return [
    ...(waiting.length
      ? [
          {
            part: 'security' as const,
            points: points(waiting),
            what: 'Serve the shop over https alone; then make its cookies Secure.',
            isFirst: true,
          },
        ]
      : []),
    ...faults
      .filter((fault) => !waiting.includes(fault))
      .map(({ id, modifier, recommendation }) => ({
        part: 'security' as const,
        points: -modifier,
        what: `${nameOf(id)}: ${recommendation}`,
      })),
  ]
}

/** What is to be done for AI visibility. */
function visibilitySteps({ aiVisibility, platform }: StoreScan): Step[] {
  const { crawlers, sitemap, llmsTxt, structuredData, readableWithoutJs, robotsTxt, contentSignals, markdownNegotiation, metaRobots } =
    aiVisibility
  const shutOut = (purpose: CrawlerVerdict['purpose']) =>
    crawlers.filter((crawler) => crawler.purpose === purpose && crawler.allowed === false).map(({ userAgent }) => userAgent)
  const share = (names: readonly string[], purpose: CrawlerVerdict['purpose'], points: number) =>
    Math.round((points * names.length) / Math.max(1, crawlers.filter((crawler) => crawler.purpose === purpose).length))
  const [search, assistants] = [shutOut('search'), shutOut('assistant')]
  const isUnknown = crawlers.some(({ allowed }) => allowed === null)
  const isHosted = platform?.hosting === 'saas'
  const steps: [isTrue: boolean, points: number, what: string][] = [
    [
      isUnknown,
      55,
      `Make /robots.txt answer: it ${robotsTxt.status === null ? 'is silent' : `answers ${robotsTxt.status}`}, and crawlers that can't read it stay away.`,
    ],
    [search.length > 0, share(search, 'search', 30), `Let AI search in: robots.txt shuts out ${listed(search)}.`],
    [
      assistants.length > 0,
      share(assistants, 'assistant', 25),
      `Let assistants in that fetch for a person who asks: robots.txt shuts out ${listed(assistants)}.`,
    ],
    [!readableWithoutJs, 10, 'Send the text of the page as HTML: without scripts it is empty, and most crawlers run none.'],
    [
      !sitemap.found,
      10,
      sitemap.url ? `Mend the sitemap that robots.txt names: ${sitemap.url}` : 'Publish a sitemap, and name it in robots.txt.',
    ],
    [!llmsTxt.found, 10, 'Publish /llms.txt: a short list of the pages that an agent should read.'],
    [structuredData.types.length === 0, 5, 'Describe what the page shows by schema.org in JSON-LD; products as Product.'],
    [
      contentSignals === null,
      5,
      'Say in robots.txt what contents may be used for, by a line such as Content-Signal: search=yes, ai-input=yes, ai-train=no.',
    ],
    // Where a vendor runs the servers, nobody else can.
    [markdownNegotiation.supported === false && !isHosted, 5, 'Answer Accept: text/markdown with Markdown: agents read it best.'],
  ]
  const hidden = metaRobots.some((directive) => /^(.*:\s*)?(noindex|none)$/.test(directive))
  return [
    ...(hidden
      ? [{ part: 'visibility' as const, points: 0, what: 'Remove noindex from this page, if it is to be found at all.', isFirst: true }]
      : []),
    ...steps.filter(([isTrue]) => isTrue).map(([, points, what]) => ({ part: 'visibility' as const, points, what })),
  ]
}

/** What to do first: what all else needs, then what brings most. What a merchant can't change is left out. */
export function firstSteps(scan: StoreScan): Step[] {
  // What was read is not the shop.
  if (scan.status >= 300)
    return [
      {
        part: 'visibility',
        points: 0,
        what: `Scan an address that answers as a page: this one answers ${scan.status}. A firewall may have to let the scan in.`,
      },
    ]
  const steps = [...securitySteps(scan), ...visibilitySteps(scan)]
  return steps.toSorted((a, b) => Number(b.isFirst ?? false) - Number(a.isFirst ?? false) || b.points - a.points).slice(0, STEPS_MAX)
}

/** What is said where there is no step. */
export const nothingToDo = ({ security }: StoreScan): string =>
  security.checks.some(({ modifier }) => modifier < 0)
    ? 'Nothing that a merchant can change: what costs points is sent by the platform.'
    : 'Nothing: all that costs points is in order.'

/** The names of the checks, as headers are written. */
const NAMES: Record<CheckId, string> = {
  'content-security-policy': 'Content-Security-Policy',
  'strict-transport-security': 'Strict-Transport-Security',
  'x-frame-options': 'X-Frame-Options',
  'x-content-type-options': 'X-Content-Type-Options',
  'referrer-policy': 'Referrer-Policy',
  redirection: 'Redirection to https',
  cookies: 'Cookies',
  'cross-origin-resource-sharing': 'Cross-origin sharing (CORS)',
  'subresource-integrity': 'Subresource integrity',
  'cross-origin-resource-policy': 'Cross-Origin-Resource-Policy',
  'cross-origin-embedder-policy': 'Cross-Origin-Embedder-Policy',
  'cross-origin-opener-policy': 'Cross-Origin-Opener-Policy',
}
export const nameOf = (id: CheckId): string => NAMES[id]

/** What a step brings, in words. */
export const gainOf = ({ part, points }: Step): string => `${part === 'security' ? 'Security' : 'AI visibility'}, ${points} points`

const NAMED_MAX = 4
const listed = (names: readonly string[]) =>
  names.length > NAMED_MAX ? `${names.slice(0, NAMED_MAX).join(', ')} and ${names.length - NAMED_MAX} more` : names.join(', ')

const money = (amount: number, currency: string) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency, maximumFractionDigits: Number.isInteger(amount) ? 0 : 2 }).format(amount)

function range(min: number, max: number, currency: string): string {
  return min === max ? money(min, currency) : `${money(min, currency)} to ${money(max, currency)}`
}

/** `$15 to $120 a month`; null where no price is known. */
const costInWords = ({ monthlyMin, monthlyMax, currency }: Pick<PluginCost, 'monthlyMin' | 'monthlyMax' | 'currency'>): string | null =>
  monthlyMin === null || monthlyMax === null ? null : `${range(monthlyMin, monthlyMax, currency)} a month`

const MODELS: Record<FoundPlugin['pricing']['model'], string> = {
  free: 'free',
  freemium: 'free to begin with',
  flat: 'one price',
  tiered: 'by plan',
  usage: 'by use',
  quote: 'on request',
}

/** The same, with how many of them are in it. */
export function totalInWords(cost: PluginCost): string {
  const { pricedCount, unpricedCount } = cost
  const words = costInWords(cost)
  if (words === null) return 'prices not known'
  return unpricedCount ? `${words} for ${pricedCount} of them, ${unpricedCount} without a known price` : words
}

/** What a plugin costs, as its vendor says. */
export const priceInWords = ({ pricing }: FoundPlugin, currency: string): string =>
  pricing.monthlyMin === null || pricing.monthlyMax === null
    ? pricing.model === 'free'
      ? 'free, as far as is known'
      : `not known (${MODELS[pricing.model]})`
    : pricing.monthlyMax === 0
      ? 'free'
      : range(pricing.monthlyMin, pricing.monthlyMax, currency)

export const PURPOSES: Record<CrawlerVerdict['purpose'], string> = {
  search: 'AI search',
  assistant: 'fetches when a person asks',
  training: 'trains models',
}

/** Those that are shut out first, then by what they are for. */
export function shutOutFirst(crawlers: readonly CrawlerVerdict[]): CrawlerVerdict[] {
  const order = Object.keys(PURPOSES)
  return crawlers.toSorted((a, b) => Number(a.allowed ?? 0) - Number(b.allowed ?? 0) || order.indexOf(a.purpose) - order.indexOf(b.purpose))
}

/** Whether a crawler is let in. */
export const letIn = ({ allowed }: CrawlerVerdict): string => (allowed === null ? 'unknown' : allowed ? 'yes' : 'no')

/** Signs that Markdown would take for its own. */
const plain = (text: string | null) => (text ?? '').replace(/[\\`*_{}[\]<>#|!~]/g, '\\$&').replace(/\s+/g, ' ')
const table = (head: readonly string[], rows: readonly (readonly (string | null)[])[]) =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(plain))].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** What a shop is, and what was read: the first lines of a report. */
export function factsOf(scan: StoreScan): [name: string, value: string][] {
  const { platform, pluginCost, plugins, security, aiVisibility } = scan
  const version = platform?.version ? ` ${platform.version}` : ''
  return [
    ['Platform', platform ? `${platform.name}${version}` : 'not recognised'],
    ['Plugins', plugins.length ? `${plugins.length} found: ${totalInWords(pluginCost)}` : 'none recognised'],
    ['Security', `${security.grade} (${security.score} of 100)`],
    ['AI visibility', `${aiVisibility.grade} (${aiVisibility.score} of 100)`],
  ]
}

/** What there is for agents and crawlers to read. */
export function offeredOf({ aiVisibility }: StoreScan): [name: string, value: string][] {
  const { sitemap, llmsTxt, markdownNegotiation, structuredData, readableWithoutJs, contentSignals, metaRobots, robotsTxt } = aiVisibility
  const said = (value: boolean | null) => (value === null ? 'not said' : value ? 'yes' : 'no')
  return [
    [
      'robots.txt',
      robotsTxt.found
        ? 'there'
        : robotsTxt.status === null
          ? 'no answer'
          : robotsTxt.status === 200
            ? 'not there: another page answers in its place'
            : `not there (${robotsTxt.status})`,
    ],
    ['Sitemap', sitemap.found ? (sitemap.url ?? 'there') : 'none'],
    ['llms.txt', llmsTxt.found ? 'there' : 'none'],
    ['Markdown on request', said(markdownNegotiation.supported)],
    ['Structured data', structuredData.types.join(', ') || 'none'],
    ['Readable without scripts', readableWithoutJs ? 'yes' : 'no'],
    [
      'Content-Signal',
      contentSignals
        ? `search ${said(contentSignals.search)}, AI input ${said(contentSignals.aiInput)}, AI training ${said(contentSignals.aiTrain)}`
        : 'none',
    ],
    ['Rules for indexing this page', metaRobots.join(', ') || 'none'],
  ]
}

/** A report as Markdown. `base` is where the site is. */
export function reportMarkdown(scan: StoreScan, base: string): string {
  const { finalUrl, page, security, aiVisibility, plugins, pluginCost, warnings, scannedAt } = scan
  const parts = [
    `# Store scan: ${plain(new URL(finalUrl).host)}`,
    [plain(page.title), `Scanned at ${scannedAt}: ${plain(finalUrl)} (status ${scan.status})`].filter(Boolean).join('\n\n'),
    factsOf(scan)
      .map(([name, value]) => `- ${name}: ${plain(value)}`)
      .join('\n'),
    ...(warnings.length ? [`## Please note\n\n${warnings.map((warning) => `- ${plain(warning)}`).join('\n')}`] : []),
    `## What to do first\n\n${
      firstSteps(scan)
        .map((step, i) => `${i + 1}. ${plain(step.what)}${step.points ? ` (${gainOf(step)})` : ''}`)
        .join('\n') || nothingToDo(scan)
    }`,
    `## Plugins\n\n${
      plugins.length
        ? `${table(
            ['Plugin', 'Category', 'A month', 'As of', 'Sure', 'Seen by'],
            plugins.map((plugin) => [
              plugin.name,
              plugin.category,
              priceInWords(plugin, pluginCost.currency),
              plugin.pricing.asOf ?? '',
              `${Math.round(plugin.confidence * 100)} %`,
              plugin.evidence.map(({ match }) => match).join(', '),
            ]),
          )}\n\n`
        : ''
    }${plain(pluginCost.basis)}`,
    `## Security\n\n${table(
      ['Check', 'Points', 'Found', 'To do'],
      security.checks.map(({ id, modifier, result, recommendation, controllable }) => [
        nameOf(id),
        String(modifier),
        result,
        recommendation && !controllable ? 'The platform sends this; a merchant can not change it.' : recommendation,
      ]),
    )}`,
    `## What agents find\n\n${offeredOf(scan)
      .map(([name, value]) => `- ${name}: ${plain(value)}`)
      .join('\n')}`,
    `## AI crawlers\n\n${table(
      ['Crawler', 'Operator', 'What for', 'Allowed', 'Rule in robots.txt'],
      shutOutFirst(aiVisibility.crawlers).map((crawler) => [
        crawler.userAgent,
        crawler.operator,
        PURPOSES[crawler.purpose],
        letIn(crawler),
        crawler.rule,
      ]),
    )}`,
    `---\n\nAs JSON: ${base}/api/store-scan?url=${encodeURIComponent(scan.url)}\n\nAll pages: ${base}/llms.txt`,
  ]
  return `${parts.join('\n\n')}\n`
}
