/** Answers that are kept whole, for all hosts together: at most so many bytes, the one unused for longest let go first. */
import type { Prepared } from './prepared.ts'

/** What an answer takes beside its body. */
const OVERHEAD_BYTES = 2_000

/** The place of an answer. Whoever remembers one holds the place alone: once it is empty, the answer is let go of everywhere. */
export interface Place {
  answer: Prepared | null
}

/** An answer with its place; that is null for one that is too large to be kept. */
export interface Taken {
  answer: Prepared
  place: Place | null
}

export class Shelf {
  readonly #kept = new Map<string, Place & { answer: Prepared }>()
  #bytes = 0

  constructor(readonly maxBytes: number) {}

  /** What is kept, in bytes. */
  get bytes() {
    return this.#bytes
  }

  /** The answer under a key, made when it is not there. */
  take(key: string, make: () => Prepared): Taken {
    const known = this.#kept.get(key)
    if (known) {
      // The order is what tells which was unused for longest: it matters when there is little room.
      if (this.#bytes > this.maxBytes / 2) {
        this.#kept.delete(key)
        this.#kept.set(key, known)
      }
      return { answer: known.answer, place: known }
    }
    const answer = make()
    const bytes = answer.size + OVERHEAD_BYTES
    if (bytes > this.maxBytes / 8) return { answer, place: null }
    const place = { answer }
    this.#kept.set(key, place)
    this.#bytes += bytes
    for (const [oldest, other] of this.#kept) {
      if (this.#bytes <= this.maxBytes) break
      this.#kept.delete(oldest)
      this.#bytes -= other.answer.size + OVERHEAD_BYTES
      ;(other as Place).answer = null
    }
    return { answer, place }
  }
}
