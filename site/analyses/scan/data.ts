/** What the scan knows of platforms, plugins and crawlers: `content/scan/`, edited by people. */
import crawlerData from '../../../content/scan/ai-crawlers.json'
import platformData from '../../../content/scan/platforms.json'
import pluginData from '../../../content/scan/plugins.json'
import type { CheckId } from './security/outcomes.ts'
import type { Signal, VersionPlace } from './signals.ts'

export interface Platform {
  id: string
  name: string
  hosting: 'saas' | 'self-hosted'
  website: string
  signals: Signal[]
  /** Where its version stands: the number behind a text. */
  version?: { in: VersionPlace; after: string }
  /** Checks that a merchant can't change, since the platform sends the headers. */
  locked: CheckId[]
}

/** What a plugin costs a month in `currency`; without a source that says it, null. */
interface Pricing {
  model: 'free' | 'freemium' | 'flat' | 'tiered' | 'usage' | 'quote'
  monthlyMin: number | null
  monthlyMax: number | null
  /** The day on which the source said so. */
  asOf: string | null
  sourceUrl: string | null
}

export interface Plugin {
  id: string
  name: string
  category: string
  website: string
  signals: Signal[]
  pricing: Pricing
}

export interface Crawler {
  /** As `robots.txt` names it. */
  userAgent: string
  operator: string
  purpose: 'training' | 'search' | 'assistant'
  /** Where its operator says so. */
  sourceUrl: string
}

export const PLATFORMS = platformData.platforms as Platform[]
export const PLUGINS = pluginData.plugins as Plugin[]
export const CRAWLERS = crawlerData.crawlers as Crawler[]
export const CURRENCY = pluginData.currency
/** Of all three files: the newest. */
export const DATASET_VERSION = [platformData.version, pluginData.version, crawlerData.version].toSorted().at(-1)!
