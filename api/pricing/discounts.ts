/** How bundles and promotions come off the lines of a cart: the rules beneath its price (price.ts). */
import { millionths, share } from '../values/money.ts'
import type { Coverage, Lines } from './lines.ts'

export interface Promotion extends Coverage {
  id: string
  name: string
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

/** Whether an instant lies in a window: from its start, to just before its end; null is open. */
export const within = (now: string, start: string | null, end: string | null) =>
  (start === null || start <= now) && (end === null || now < end)

/** Takes the discount of each bundle off the sum of its parts. */
export function takeBundles(state: Lines) {
  const bundled = state.all.filter((i) => state.lines[i]!.bundle)
  for (const indexes of Map.groupBy(bundled, (i) => state.lines[i]!.itemId).values()) {
    const sum = indexes.reduce((total, i) => total + state.left[i]!, 0)
    state.amount(indexes, share(sum, millionths(state.lines[indexes[0]!]!.bundle!.discountPercentage), 1_000_000))
  }
}

function takePromotion(state: Lines, promotion: Promotion, indexes: readonly number[]): number {
  switch (promotion.type) {
    case 'percentage':
      return state.percentage(indexes, promotion.percentage ?? 0)
    case 'fixed':
      return promotion.amount === null ? 0 : state.amount(indexes, promotion.amount)
    case 'free_shipping':
      return 0
    case 'volume':
      return takeVolume(state, promotion, indexes)
    case 'buy_x_get_y':
      return takeUnits(state, promotion, indexes)
  }
}

/** The tiers by the quantity from which they hold, each with the best percentage up to it, in millionths. */
function steps(tiers: Promotion['tiers']): { minQuantity: number; part: number }[] {
  let part = 0
  return tiers
    .toSorted((a, b) => a.minQuantity - b.minQuantity)
    .map(({ minQuantity, percentage }) => ({ minQuantity, part: (part = Math.max(part, millionths(percentage))) }))
}

/** Takes the percentage of the best tier off each product that reaches one with all its variants together. */
function takeVolume(state: Lines, { tiers }: Promotion, indexes: readonly number[]): number {
  const ascending = steps(tiers)
  const units = new Float64Array(state.lines.length)
  for (const i of indexes) units[state.products[i]!]! += state.lines[i]!.quantity
  let off = 0
  for (const i of indexes) {
    const quantity = units[state.products[i]!]!
    let [reached, end] = [0, ascending.length]
    while (reached < end) {
      const middle = (reached + end) >> 1
      if (ascending[middle]!.minQuantity <= quantity) reached = middle + 1
      else end = middle
    }
    if (reached > 0) off += state.take(i, share(state.left[i]!, ascending[reached - 1]!.part, 1_000_000))
  }
  return off
}

/** Takes the last `get` units of each full group off, the units in groups of `buy` and `get`, dearest first; rounded once for each line. */
function takeUnits(state: Lines, promotion: Promotion, indexes: readonly number[]): number {
  const buy = promotion.buyQuantity ?? 1
  const group = buy + (promotion.getQuantity ?? 1)
  const part = millionths(promotion.getDiscountPercentage ?? 100)
  const order = state.dearestFirst(indexes)
  let total = 0
  for (const i of order) total += state.lines[i]!.quantity
  const counted = total - (total % group)
  let [before, freeBefore, off] = [0, 0, 0]
  for (const i of order) {
    const { quantity } = state.lines[i]!
    before = Math.min(before + quantity, counted)
    const full = Math.floor(before / group)
    const free = full * (group - buy) + Math.max(0, before - full * group - buy)
    if (free > freeBefore) off += state.take(i, share(state.left[i]!, (free - freeBefore) * part, quantity * 1_000_000))
    freeBefore = free
  }
  return off
}

/** A promotion that applied, with what it took off the lines: free shipping takes nothing off those. */
export interface TakenPromotion {
  id: string
  name: string
  discount: number
}

/**
 * Applies the promotions that run now, higher priority first; one that does not stack goes alone. What takes nothing off is passed over,
 * as is free shipping where nothing has to be paid for it.
 */
export function takePromotions(
  state: Lines,
  promotions: readonly Promotion[],
  { now, costsShipping }: { now: string; costsShipping: boolean },
): { taken: TakenPromotion[]; freeShipping: boolean } {
  const taken: TakenPromotion[] = []
  let freeShipping = false
  const running = promotions
    .filter((p) => p.active && within(now, p.startsAt, p.endsAt))
    .sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
  for (const promotion of running) {
    if (taken.length && !promotion.stackable) continue
    const indexes = state.covered(promotion)
    if (!indexes.length) continue
    const discount = takePromotion(state, promotion, indexes)
    const isFree: boolean = promotion.type === 'free_shipping' && costsShipping && !freeShipping
    if (discount === 0 && !isFree) continue
    freeShipping ||= isFree
    taken.push({ id: promotion.id, name: promotion.name, discount })
    if (!promotion.stackable) break
  }
  return { taken, freeShipping }
}
