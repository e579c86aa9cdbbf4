/**
 * How much of the process the templates of one store may take: they are its own authors', and while one is rendered nobody else is answered.
 * A page of the starter takes a few milliseconds, so this is hundreds a second.
 */
import { Refusal } from '../../values/refusal.ts'

/** Milliseconds of the processor that come back each second, and that may be taken ahead. */
const [PER_SECOND_MS, AHEAD_MS] = [600, 1_500]
const STORES_MAX = 5_000

export class RenderBudget {
  /** What each store has taken, as of an instant. */
  readonly #taken = new Map<string, { ms: number; at: number }>()

  constructor(
    readonly now: () => number = () => performance.now(),
    /** The milliseconds that this thread has had a processor for: waiting for one is no fault of a template. */
    readonly used: () => number = () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1_000
    },
  ) {}

  /** Renders for a store; refuses with 503 while it has taken too much. */
  spend<T>(storeId: string, work: () => T): T {
    const [started, usedBefore] = [this.now(), this.used()]
    const before = this.#left(storeId, started)
    if (before > AHEAD_MS)
      throw new Refusal(
        503,
        'the pages of this shop take too long to make',
        {},
        { 'retry-after': String(Math.ceil((before - AHEAD_MS) / PER_SECOND_MS)) },
      )
    try {
      return work()
    } finally {
      if (this.#taken.size >= STORES_MAX) this.#taken.clear()
      this.#taken.set(storeId, { ms: before + (this.used() - usedBefore), at: started })
    }
  }

  #left(storeId: string, now: number): number {
    const known = this.#taken.get(storeId)
    return known ? Math.max(0, known.ms - ((now - known.at) / 1_000) * PER_SECOND_MS) : 0
  }
}
