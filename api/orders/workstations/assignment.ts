/** Which workstation packs an order (document 1, Workstation and order assignment): a pure rule of the order, the rules and the queues. */
import type { ORDER_SOURCES } from '../../../db/store/orders.ts'

type Source = (typeof ORDER_SOURCES)[number]

export interface Rule {
  /** Empty matches any. */
  sources: readonly string[]
  /** Shipping methods; empty matches any. */
  shippingIds: readonly string[]
  workstationIds: readonly string[]
}

/** A workstation that takes orders. */
export interface Queue {
  id: string
  /** Orders that wait there. */
  waiting: number
  position: number
  createdAt: string
}

export interface Packable {
  source: Source
  shippingMethodId: string | null
}

/** Whether the rules assign an order: all but one that was handed over at a counter. */
export const isForRules = ({ source }: Pick<Packable, 'source'>) => source !== 'counter'

/** Whether a rule is about an order. */
export const matches = ({ sources, shippingIds }: Rule, order: Packable) =>
  (!sources.length || sources.includes(order.source)) &&
  (!shippingIds.length || (order.shippingMethodId !== null && shippingIds.includes(order.shippingMethodId)))

/** Which of two queues comes first: the shorter one, then the lower position, then the older workstation. */
const before = (a: Queue, b: Queue) =>
  a.waiting - b.waiting ||
  a.position - b.position ||
  (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1)

/** The queue that comes first; null of none. */
export const firstOf = (queues: readonly Queue[]): Queue | null =>
  queues.reduce<Queue | null>((first, queue) => (first && before(first, queue) < 0 ? first : queue), null)

/**
 * The queue that an order joins: of the first rule that matches it and has a workstation that takes orders, the one with the fewest
 * waiting. Null when there is none. `queues` are those that take orders, by id.
 */
export function queueFor(order: Packable, rules: readonly Rule[], queues: ReadonlyMap<string, Queue>): Queue | null {
  if (!isForRules(order)) return null
  for (const rule of rules) {
    if (!matches(rule, order)) continue
    const first = firstOf(rule.workstationIds.flatMap((id) => queues.get(id) ?? []))
    if (first) return first
  }
  return null
}
