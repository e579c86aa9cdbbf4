/** What Lighthouse measured, as `GET /api/pagespeed` tells it; Google's service and Lighthouse here give the same document. */

/** Of a Lighthouse result: the parts that are read. All of it is a stranger's. */
export interface LighthouseResult {
  lighthouseVersion?: unknown
  finalDisplayedUrl?: unknown
  finalUrl?: unknown
  runtimeError?: { code?: unknown; message?: unknown }
  categories?: Record<string, { score?: unknown } | undefined>
  audits?: Record<string, Audit | undefined>
}

interface Audit {
  id?: unknown
  title?: unknown
  score?: unknown
  numericValue?: unknown
  metricSavings?: Record<string, unknown>
  details?: { type?: unknown; overallSavingsMs?: unknown; overallSavingsBytes?: unknown }
  replacesAudits?: unknown
}

type Rating = 'good' | 'needs-improvement' | 'poor'

/** Each with the audit that it is from, and up to where it is good and where it needs improvement (web.dev, the published thresholds). */
const METRICS = {
  firstContentfulPaintMs: ['first-contentful-paint', 1_800, 3_000],
  largestContentfulPaintMs: ['largest-contentful-paint', 2_500, 4_000],
  totalBlockingTimeMs: ['total-blocking-time', 200, 600],
  cumulativeLayoutShift: ['cumulative-layout-shift', 0.1, 0.25],
  speedIndexMs: ['speed-index', 3_400, 5_800],
  timeToFirstByteMs: ['server-response-time', 800, 1_800],
} as const
type Metric = keyof typeof METRICS

const CATEGORIES = { performance: 'performance', accessibility: 'accessibility', bestPractices: 'best-practices', seo: 'seo' } as const
export const CATEGORY_IDS: readonly string[] = Object.values(CATEGORIES)
type Category = keyof typeof CATEGORIES

interface Opportunity {
  id: string
  title: string
  /** Null where it is not known. */
  savingsMs: number | null
  savingsBytes: number | null
}

/** One side: as on a phone, or as on a computer. */
export interface Side {
  scores: Record<Category, number | null>
  metrics: Record<Metric, number | null>
  ratings: Record<Metric, Rating | null>
  opportunities: Opportunity[]
  finalUrl: string | null
}

/** How real visitors have it (the Chrome UX Report), where enough of them have been. */
export interface FieldData {
  overall: Rating | null
  lcpMs: number | null
  inpMs: number | null
  cls: number | null
}

const OPPORTUNITIES_MAX = 10
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const text = (value: unknown, max: number): string | null => (typeof value === 'string' ? value.slice(0, max).toWellFormed() : null)

/** What a result says of one side. Null for one that measured nothing. */
export function sideOf(result: LighthouseResult | undefined): Side | null {
  if (!result?.categories || !result.audits || result.runtimeError?.code) return null
  const { categories, audits } = result
  const scores = mapped(CATEGORIES, (id) => {
    const score = number(categories[id]?.score)
    return score === null ? null : Math.round(Math.min(1, Math.max(0, score)) * 100)
  })
  if (Object.values(scores).every((score) => score === null)) return null
  const metrics = mapped(METRICS, ([id]) => {
    const value = number(audits[id]?.numericValue)
    return value === null ? null : id === 'cumulative-layout-shift' ? Math.round(value * 1_000) / 1_000 : Math.round(value)
  })
  return {
    scores,
    metrics,
    ratings: mapped(METRICS, ([, good, improvable], name) => rated(metrics[name], good, improvable)),
    opportunities: opportunitiesIn(audits),
    finalUrl: text(result.finalDisplayedUrl ?? result.finalUrl, 2_048),
  }
}

function mapped<T extends object, R>(object: T, change: (value: T[keyof T], name: keyof T) => R): Record<keyof T, R> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name as keyof T)])) as Record<keyof T, R>
}

function rated(value: number | null, good: number, improvable: number): Rating | null {
  if (value === null) return null
  return value <= good ? 'good' : value <= improvable ? 'needs-improvement' : 'poor'
}

/** What would save time or bytes: what saves most comes first. */
function opportunitiesIn(audits: NonNullable<LighthouseResult['audits']>): Opportunity[] {
  // What a newer audit says in the place of an older one is said once.
  const replaced = new Set(Object.values(audits).flatMap((audit) => (Array.isArray(audit?.replacesAudits) ? audit.replacesAudits : [])))
  return Object.entries(audits)
    .filter(([id]) => !replaced.has(id))
    .flatMap(([id, audit]): Opportunity[] => {
      const { details, metricSavings, score, title } = audit ?? {}
      if (score === 1 || score === null || score === undefined) return []
      const savings = Object.entries(metricSavings ?? {}).flatMap(([metric, saved]) => (metric === 'CLS' ? [] : (number(saved) ?? [])))
      const savingsMs = number(details?.overallSavingsMs) ?? (savings.length ? Math.max(...savings) : null)
      const savingsBytes = number(details?.overallSavingsBytes)
      if (!((savingsMs ?? 0) > 0 || (savingsBytes ?? 0) > 0)) return []
      const whole = (value: number | null) => (value === null ? null : Math.round(value))
      return [{ id: id.slice(0, 100), title: text(title, 200) ?? id, savingsMs: whole(savingsMs), savingsBytes: whole(savingsBytes) }]
    })
    .toSorted((a, b) => (b.savingsMs ?? 0) - (a.savingsMs ?? 0) || (b.savingsBytes ?? 0) - (a.savingsBytes ?? 0))
    .slice(0, OPPORTUNITIES_MAX)
}

/** `loadingExperience` of PageSpeed Insights. */
export interface LoadingExperience {
  overall_category?: unknown
  /** The page has had too few visitors: this is of its whole site. */
  origin_fallback?: unknown
  metrics?: Record<string, { percentile?: unknown } | undefined>
}

const OVERALL: Readonly<Record<string, Rating>> = { FAST: 'good', AVERAGE: 'needs-improvement', SLOW: 'poor' }

/** What real visitors have had; null where too few have been. */
export function fieldDataOf(experience: LoadingExperience | undefined): FieldData | null {
  const metrics = experience?.metrics ?? {}
  const of = (name: string) => number(metrics[name]?.percentile)
  const cls = of('CUMULATIVE_LAYOUT_SHIFT_SCORE')
  const [lcpMs, inpMs] = [of('LARGEST_CONTENTFUL_PAINT_MS'), of('INTERACTION_TO_NEXT_PAINT')]
  if (lcpMs === null && inpMs === null && cls === null) return null
  const overall = OVERALL[String(experience?.overall_category)] ?? null
  // The service counts shifts in hundredths.
  return { overall, lcpMs, inpMs, cls: cls === null ? null : cls / 100 }
}
