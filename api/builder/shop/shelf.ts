/** Answers that are kept whole, for all hosts together: at most so many bytes, the one unused for longest let go first. */
import type { Prepared } from '../../hosting/prepared.ts'

/** What an answer takes beside its body. */
const OVERHEAD_BYTES = 2_000

export class Shelf {
  readonly #kept = new Map<string, Prepared>()
  #bytes = 0

  constructor(readonly maxBytes: number) {}

  /** The answer under a key, made when it is not there. */
  take(key: string, make: () => Prepared): Prepared {
    const known = this.#kept.get(key)
    if (known) {
      // The order is what tells which was unused for longest: it matters when there is little room.
      if (this.#bytes > this.maxBytes / 2) {
        this.#kept.delete(key)
        this.#kept.set(key, known)
      }
      return known
    }
    const made = make()
    const bytes = made.size + OVERHEAD_BYTES
    if (bytes > this.maxBytes / 8) return made
    this.#kept.set(key, made)
    this.#bytes += bytes
    for (const [oldest, answer] of this.#kept) {
      if (this.#bytes <= this.maxBytes) break
      this.#kept.delete(oldest)
      this.#bytes -= answer.size + OVERHEAD_BYTES
    }
    return made
  }
}
