/** What a shop is made with, and what that costs. */
import { CURRENCY, DATASET_VERSION, PLATFORMS, PLUGINS, type Platform, type Plugin } from './data.ts'
import { CONFIDENCE_LEAST, recognise, versionIn, type Evidence, type Traces } from './signals.ts'

interface Sure {
  id: string
  name: string
  /** From 0 to 1. */
  confidence: number
}

export interface FoundPlatform extends Sure {
  version: string | null
  hosting: Platform['hosting']
  evidence: Evidence[]
  /** Others that are likely, too. */
  alternatives: Sure[]
}

export interface FoundPlugin extends Sure, Pick<Plugin, 'category' | 'pricing'> {
  evidence: Evidence[]
}

/** A range of what the plugins cost; null where no price is known. */
export interface PluginCost {
  currency: string
  monthlyMin: number | null
  monthlyMax: number | null
  pricedCount: number
  unpricedCount: number
  basis: string
  datasetVersion: string
}

/** The platform that is likeliest, with what is known of it; null when none is likely. */
export function platformOf(traces: Traces): { found: FoundPlatform; known: Platform } | null {
  const likely = PLATFORMS.map((known) => ({ known, ...recognise(traces, known.signals) }))
    .filter(({ confidence }) => confidence >= CONFIDENCE_LEAST)
    .toSorted((a, b) => b.confidence - a.confidence || b.evidence.length - a.evidence.length)
  const [first, ...others] = likely
  if (!first) return null
  const { known, confidence, evidence } = first
  const { id, name, hosting, version } = known
  const alternatives = others.map((other) => ({ id: other.known.id, name: other.known.name, confidence: other.confidence }))
  const found = {
    id,
    name,
    version: version ? versionIn(traces, version.in, version.after) : null,
    hosting,
    confidence,
    evidence,
    alternatives,
  }
  return { found, known }
}

/** The plugins that are likely, by category and name. */
export const pluginsOf = (traces: Traces): FoundPlugin[] =>
  PLUGINS.map(({ id, name, category, pricing, signals }) => ({ id, name, category, ...recognise(traces, signals), pricing }))
    .filter(({ confidence }) => confidence >= CONFIDENCE_LEAST)
    .toSorted((a, b) => a.category.localeCompare(b.category) || a.name.localeCompare(b.name))

const sum = (amounts: readonly number[]) => Math.round(amounts.reduce((total, amount) => total + amount, 0) * 100) / 100

/** What the plugins cost together: from the cheapest plan of each to its dearest that is listed. */
export function costOf(plugins: readonly FoundPlugin[]): PluginCost {
  const priced = plugins.flatMap(({ pricing }) => (pricing.monthlyMin === null ? [] : pricing))
  const days = priced.map(({ asOf }) => asOf!).toSorted()
  const span = days[0] === days.at(-1) ? days[0] : `between ${days[0]} and ${days.at(-1)}`
  const basis = priced.length
    ? `List prices of ${priced.length} of ${plugins.length} plugins, dated ${span}, from the cheapest plan of each to the dearest that is listed; plans, volume and discounts are not seen from outside.`
    : plugins.length
      ? 'No price of these plugins is known from a source that can be named.'
      : 'No plugin was recognised.'
  return {
    currency: CURRENCY,
    monthlyMin: priced.length ? sum(priced.map(({ monthlyMin }) => monthlyMin!)) : null,
    monthlyMax: priced.length ? sum(priced.map(({ monthlyMax }) => monthlyMax!)) : null,
    pricedCount: priced.length,
    unpricedCount: plugins.length - priced.length,
    basis,
    datasetVersion: DATASET_VERSION,
  }
}
