/** What AI crawlers and agents get of a shop: which of them its `robots.txt` lets in, and what is there for them to read. */
import type { Markup } from '../reading/markup.ts'
import { CRAWLERS, type Crawler } from './data.ts'
import type { Robots } from './robots.ts'
import { gradeOf, type Grade } from './security/grade.ts'

/** Of a score of 100 (document 6). */
const POINTS = {
  search: 30,
  assistant: 25,
  sitemap: 10,
  llmsTxt: 10,
  readableWithoutJs: 10,
  structuredData: 5,
  contentSignal: 5,
  markdown: 5,
} as const
/** A page with fewer characters of text than this, white space left out, is empty without scripts. */
const READABLE_LEAST = 100

/** A file that a shop may have. */
interface FoundFile {
  found: boolean
  /** Null when nobody answered. */
  status: number | null
}

export interface CrawlerVerdict {
  userAgent: string
  operator: string
  purpose: Crawler['purpose']
  /** Null when nobody knows: `robots.txt` fails or is silent. */
  allowed: boolean | null
  /** The line of `robots.txt` that decides. */
  rule: string | null
}

/** What may be done with contents (contentsignals.org); null where nothing is said. */
interface ContentSignals {
  search: boolean | null
  aiInput: boolean | null
  aiTrain: boolean | null
}

export interface Visibility {
  score: number
  grade: Grade
  robotsTxt: FoundFile & { bytes: number | null }
  crawlers: CrawlerVerdict[]
  contentSignals: ContentSignals | null
  /** Directives of `meta name=robots` and `X-Robots-Tag`, in lower case. */
  metaRobots: string[]
  llmsTxt: FoundFile & { bytes: number | null }
  sitemap: FoundFile & { url: string | null }
  markdownNegotiation: { supported: boolean | null; contentType: string | null }
  /** Types of schema.org that the page describes. */
  structuredData: { types: string[] }
  readableWithoutJs: boolean
}

/** What is known before there is a score. */
export interface VisibilityFacts extends Pick<Visibility, 'robotsTxt' | 'llmsTxt' | 'sitemap' | 'markdownNegotiation' | 'metaRobots'> {
  /** Null: unknown. */
  robots: Robots | null
  /** The path of the page, its query included. */
  path: string
  markup: Markup
}

function signalsOf(text: string | null): ContentSignals | null {
  if (text === null) return null
  const said = new Map(
    text.split(',').map((part) => {
      const [name = '', value = ''] = part.split('=')
      return [name.trim().toLowerCase(), value.trim().toLowerCase()] as const
    }),
  )
  const of = (name: string) => (said.get(name) === 'yes' ? true : said.get(name) === 'no' ? false : null)
  const signals = { search: of('search'), aiInput: of('ai-input'), aiTrain: of('ai-train') }
  // Who says nothing that anybody knows has said nothing.
  return Object.values(signals).every((value) => value === null) ? null : signals
}

/** How deep and how many parts of a JSON block are looked at. */
const DEPTH_MAX = 6
const TYPES_MAX = 50

function collectTypes(value: unknown, types: Set<string>, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX || types.size >= TYPES_MAX) return
  if (Array.isArray(value)) return value.slice(0, 100).forEach((one) => collectTypes(one, types, depth + 1))
  const { '@type': type } = value as { '@type'?: unknown }
  for (const name of [type].flat()) if (typeof name === 'string') types.add(lastOf(name))
  for (const part of Object.values(value).slice(0, 100)) collectTypes(part, types, depth + 1)
}

/** `https://schema.org/Product` is Product. */
const lastOf = (type: string) => type.trim().split(/[/#]/).at(-1)!.slice(0, 60).toWellFormed()

/** The types that JSON-LD and microdata of a page name, by name. */
function typesIn({ scripts, itemTypes }: Pick<Markup, 'scripts' | 'itemTypes'>): string[] {
  const types = new Set(itemTypes.filter((type) => /schema\.org\//.test(type)).map(lastOf))
  for (const { attributes, text } of scripts) {
    if (attributes.get('type')?.split(';')[0]!.trim().toLowerCase() !== 'application/ld+json') continue
    try {
      collectTypes(JSON.parse(text), types)
    } catch {
      // What is no JSON describes nothing.
    }
  }
  return [...types].filter(Boolean).toSorted().slice(0, TYPES_MAX)
}

/** The share of the crawlers of a purpose that are let in, of so many points. */
function pointsFor(crawlers: readonly CrawlerVerdict[], purpose: Crawler['purpose'], points: number): number {
  const own = crawlers.filter((crawler) => crawler.purpose === purpose)
  return own.length ? (points * own.filter(({ allowed }) => allowed === true).length) / own.length : 0
}

/** All of it, with a score: crawlers that train are told of and cost nothing. */
export function visibilityOf({ robots, path, markup, ...facts }: VisibilityFacts): Visibility {
  const crawlers = CRAWLERS.map(({ userAgent, operator, purpose }): CrawlerVerdict => {
    const { allowed, rule } = robots?.verdict(userAgent, path) ?? { allowed: null, rule: null }
    return { userAgent, operator, purpose, allowed, rule }
  })
  const contentSignals = signalsOf(robots?.contentSignal ?? null)
  const types = typesIn(markup)
  const readableWithoutJs = markup.textLength >= READABLE_LEAST
  const score = Math.round(
    pointsFor(crawlers, 'search', POINTS.search) +
      pointsFor(crawlers, 'assistant', POINTS.assistant) +
      (facts.sitemap.found ? POINTS.sitemap : 0) +
      (facts.llmsTxt.found ? POINTS.llmsTxt : 0) +
      (readableWithoutJs ? POINTS.readableWithoutJs : 0) +
      (types.length ? POINTS.structuredData : 0) +
      (contentSignals ? POINTS.contentSignal : 0) +
      (facts.markdownNegotiation.supported ? POINTS.markdown : 0),
  )
  return { score, grade: gradeOf(score), ...facts, crawlers, contentSignals, structuredData: { types }, readableWithoutJs }
}
