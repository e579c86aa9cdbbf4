/** How many points an order earns, and how many a refund takes back (document 3, Decisions): pure rules, exact in integers. */
import type { CAMPAIGN_SCOPES } from '../../../db/store/loyalty.ts'

/** A factor with six decimals, as an integer. */
const SCALE = 1_000_000n
const scaled = (factor: number) => BigInt(Math.round(factor * Number(SCALE)))

/** A line of an order as a campaign sees it. */
export interface EarningLine {
  /** Paid for the goods, without tax, in minor units. */
  netCents: number
  productId: string | null
  /** Its category and all above. */
  categoryIds: readonly string[]
  collectionIds: readonly string[]
}

export interface Campaign {
  earnMultiplier: number
  scope: (typeof CAMPAIGN_SCOPES)[number]
  scopeIds: readonly string[]
  startsAt: string | null
  endsAt: string | null
  active: boolean
}

/** Whether a campaign counts now: from its start on, until its end. */
export const isRunning = ({ active, startsAt, endsAt }: Campaign, now: string) =>
  active && (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt)

function covers({ scope, scopeIds }: Campaign, { productId, categoryIds, collectionIds }: EarningLine): boolean {
  if (scope === 'ALL_PRODUCTS') return true
  const own = scope === 'PRODUCT_IDS' ? [productId] : scope === 'CATEGORY_IDS' ? categoryIds : collectionIds
  return own.some((id) => id !== null && scopeIds.includes(id))
}

export interface Earning {
  pointsPerUnit: number
  /** The multiplier of the member's tier; null for a member in none. */
  tierMultiplier: number | null
  campaigns: readonly Campaign[]
  now: string
}

/** How many parts a point has: an order's money times two factors, before it is divided. */
export const partsOfPoint = (minorPerUnit: number): bigint => SCALE * SCALE * BigInt(minorPerUnit)

/** The points that an order earns, in parts of a point: each line by the best of its multipliers. */
export function partsFor(lines: readonly EarningLine[], { pointsPerUnit, tierMultiplier, campaigns, now }: Earning): bigint {
  const running = campaigns.filter((campaign) => isRunning(campaign, now))
  const worth = lines.reduce((sum, line) => {
    const multipliers = running.filter((campaign) => covers(campaign, line)).map(({ earnMultiplier }) => earnMultiplier)
    return sum + BigInt(line.netCents) * scaled(Math.max(tierMultiplier ?? 1, ...multipliers))
  }, 0n)
  return worth * scaled(pointsPerUnit)
}

/** The points that an order keeps while so much of its total is kept: what that alone would have earned, rounded down once. */
export const pointsKept = (parts: bigint, partsInPoint: bigint, keptCents: number, totalCents: number): number =>
  totalCents > 0 ? Number((parts * BigInt(Math.max(0, Math.min(keptCents, totalCents)))) / (partsInPoint * BigInt(totalCents))) : 0

/** So many months later; in a month that is too short, on its last day. */
export function monthsLater(instant: string, months: number): string {
  const date = new Date(instant)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
  return date.toISOString()
}
