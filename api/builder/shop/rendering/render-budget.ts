/**
 * How much of the thread that renders pages the templates of one store may take: they are its own authors', and while one is rendered no
 * other shop's is. A page of the starter takes a few milliseconds, so this is hundreds a second.
 */
import { Refusal } from '../../../values/refusal.ts'

/** Milliseconds of the processor that come back each second, and that may be taken ahead. */
const [PER_SECOND_MS, AHEAD_MS] = [600, 1_500]
const STORES_MAX = 5_000

export class RenderBudget {
  /** What each store has taken, as of an instant. */
  readonly #taken = new Map<string, { ms: number; at: number }>()

  constructor(readonly now: () => number = () => performance.now()) {}

  /** Refuses with 503 while a store has taken too much. */
  require(storeId: string) {
    const over = this.#left(storeId, this.now()) - AHEAD_MS
    if (over <= 0) return
    const wait = String(Math.ceil(over / PER_SECOND_MS))
    throw new Refusal(503, 'the pages of this shop take too long to make', {}, { 'retry-after': wait })
  }

  /** Notes what a page has taken of the processor, in ms: waiting for one is no fault of a template. */
  note(storeId: string, ms: number) {
    const now = this.now()
    const taken = this.#left(storeId, now) + ms
    if (this.#taken.size >= STORES_MAX) this.#taken.clear()
    this.#taken.set(storeId, { ms: taken, at: now })
  }

  #left(storeId: string, now: number): number {
    const known = this.#taken.get(storeId)
    return known ? Math.max(0, known.ms - ((now - known.at) / 1_000) * PER_SECOND_MS) : 0
  }
}
