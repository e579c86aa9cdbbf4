/** How bundles and promotions come off the lines of a cart: the rules beneath its price (price.ts). */
import { millionths, share, split } from '../money.ts'

/** What a discount covers: nothing named means everything; an id that is gone covers nothing. */
export interface Coverage {
  productIds: readonly string[]
  collectionIds: readonly string[]
  categoryIds: readonly string[]
  brandIds: readonly string[]
}

/** One variant in a cart; those of a bundle share its `bundle`. */
export interface PriceLine {
  /** The cart item that it belongs to. */
  itemId: string
  productId: string
  collectionIds: readonly string[]
  /** Its category and all above it. */
  categoryIds: readonly string[]
  brandId: string | null
  quantity: number
  unitPrice: number
  /** Percent times 10,000. */
  taxRate: number
  bundle: { id: string; discountPercentage: number } | null
}

export interface Promotion extends Coverage {
  id: string
  type: 'percentage' | 'fixed' | 'buy_x_get_y' | 'volume' | 'free_shipping'
  percentage: number | null
  /** In the cart's currency; null when the merchant set none for it. */
  amount: number | null
  buyQuantity: number | null
  getQuantity: number | null
  getDiscountPercentage: number | null
  tiers: readonly { minQuantity: number; percentage: number }[]
  startsAt: string | null
  endsAt: string | null
  active: boolean
  /** Higher goes first. */
  priority: number
  stackable: boolean
}

/** Whether a discount covers a line. */
export function covers(coverage: Coverage, line: Pick<PriceLine, 'productId' | 'collectionIds' | 'categoryIds' | 'brandId'>): boolean {
  const { productIds, collectionIds, categoryIds, brandIds } = coverage
  if (!productIds.length && !collectionIds.length && !categoryIds.length && !brandIds.length) return true
  return (
    productIds.includes(line.productId) ||
    line.collectionIds.some((id) => collectionIds.includes(id)) ||
    line.categoryIds.some((id) => categoryIds.includes(id)) ||
    (line.brandId !== null && brandIds.includes(line.brandId))
  )
}

/** Whether an instant lies in a window: from its start, to just before its end; null is open. */
export const within = (now: string, start: string | null, end: string | null) =>
  (start === null || start <= now) && (end === null || now < end)

/** How many of the first `n` units, dearest first, a buy-x-get-y takes off: the last `get` of each full group. */
function freeUnits(n: number, total: number, buy: number, get: number): number {
  const group = buy + get
  const counted = Math.min(n, Math.floor(total / group) * group)
  return Math.floor(counted / group) * get + Math.max(0, (counted % group) - buy)
}

/** The lines of a cart, and what is still to be paid of each. */
export class Lines {
  readonly left: number[]
  constructor(readonly lines: readonly PriceLine[]) {
    this.left = lines.map((line) => line.quantity * line.unitPrice)
  }

  covered(coverage: Coverage): number[] {
    return this.lines.flatMap((line, i) => (covers(coverage, line) ? [i] : []))
  }

  /** Takes a percentage off each of these lines, rounded per line; returns how much in all. */
  percentage(indexes: readonly number[], percent: number): number {
    return indexes.reduce((sum, i) => sum + this.take(i, share(this.left[i]!, millionths(percent), 1_000_000)), 0)
  }

  /** Takes an amount off these lines together, in proportion to what is left of each. */
  amount(indexes: readonly number[], amount: number): number {
    const weights = indexes.map((i) => this.left[i]!)
    const off = Math.min(
      amount,
      weights.reduce((sum, weight) => sum + weight, 0),
    )
    split(off, weights).forEach((part, k) => this.take(indexes[k]!, part))
    return off
  }

  take(i: number, amount: number): number {
    const off = Math.min(amount, this.left[i]!)
    this.left[i]! -= off
    return off
  }
}

/** Takes the discount of each bundle off the sum of its parts. */
export function takeBundles(state: Lines) {
  const items = new Map<string, number[]>()
  state.lines.forEach((line, i) => {
    if (line.bundle) items.set(line.itemId, [...(items.get(line.itemId) ?? []), i])
  })
  for (const indexes of items.values()) {
    const sum = indexes.reduce((total, i) => total + state.left[i]!, 0)
    state.amount(indexes, share(sum, millionths(state.lines[indexes[0]!]!.bundle!.discountPercentage), 1_000_000))
  }
}

function takePromotion(state: Lines, promotion: Promotion, indexes: readonly number[]): number {
  const { lines } = state
  switch (promotion.type) {
    case 'percentage':
      return state.percentage(indexes, promotion.percentage ?? 0)
    case 'fixed':
      return promotion.amount === null ? 0 : state.amount(indexes, promotion.amount)
    case 'free_shipping':
      return 0
    case 'volume': {
      const units = new Map<string, number>()
      for (const i of indexes) units.set(lines[i]!.productId, (units.get(lines[i]!.productId) ?? 0) + lines[i]!.quantity)
      const percentOf = (quantity: number) =>
        promotion.tiers.reduce((best, tier) => (tier.minQuantity <= quantity ? Math.max(best, tier.percentage) : best), 0)
      return indexes.reduce((sum, i) => sum + state.percentage([i], percentOf(units.get(lines[i]!.productId)!)), 0)
    }
    case 'buy_x_get_y': {
      const buy = promotion.buyQuantity ?? 1
      const get = promotion.getQuantity ?? 1
      const dearestFirst = [...indexes].sort((a, b) => lines[b]!.unitPrice - lines[a]!.unitPrice || a - b)
      const total = dearestFirst.reduce((sum, i) => sum + lines[i]!.quantity, 0)
      let before = 0
      let off = 0
      for (const i of dearestFirst) {
        const { quantity } = lines[i]!
        const free = freeUnits(before + quantity, total, buy, get) - freeUnits(before, total, buy, get)
        before += quantity
        off += state.take(i, share(share(state.left[i]!, free, quantity), millionths(promotion.getDiscountPercentage ?? 100), 1_000_000))
      }
      return off
    }
  }
}

/** Applies the promotions that run now, higher priority first; one that does not stack goes alone. */
export function takePromotions(state: Lines, promotions: readonly Promotion[], now: string): { ids: string[]; freeShipping: boolean } {
  const ids: string[] = []
  let freeShipping = false
  const running = promotions
    .filter((p) => p.active && within(now, p.startsAt, p.endsAt))
    .sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
  for (const promotion of running) {
    if (ids.length && !promotion.stackable) continue
    const indexes = state.covered(promotion)
    if (!indexes.length) continue
    const off = takePromotion(state, promotion, indexes)
    if (promotion.type === 'free_shipping') freeShipping = true
    else if (off === 0) continue
    ids.push(promotion.id)
    if (!promotion.stackable) break
  }
  return { ids, freeShipping }
}
