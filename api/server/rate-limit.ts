/** Rate limits by name: token buckets in a table of fixed size, which processes of one machine can share (db/shared-table.ts). */

/** `perSecond` tokens come back each second, up to `burst`. */
export interface Rate {
  perSecond: number
  burst: number
}

/** Wrong guesses at a secret: 20 a minute (document 3, Ticket look-up). */
export const GUESSES_RATE: Rate = { perSecond: 1 / 3, burst: 20 }

/** What one visitor may send in: 20 a minute. */
export const SUBMISSIONS_RATE: Rate = { perSecond: 1 / 3, burst: 20 }
/** What is made for one visitor of a storefront of ours: a page that is filled in, a price of this moment. */
export const SHOPPERS_RATE: Rate = { perSecond: 20, burst: 240 }
/** What a storefront may send in that does not forward the addresses of its visitors. */
export const RELAYED_RATE: Rate = { perSecond: 10, burst: 600 }

/** Where a caller stands after this request: `retryAfterSeconds` above 0 means refused. */
interface Standing {
  remaining: number
  resetSeconds: number
  retryAfterSeconds: number
}

/** Cells of a table, 16 bytes each: a hash of the name, and the time at which its bucket is full again, in nanoseconds. */
const CELLS = 65_536
export const TABLE_CELLS = 2 * CELLS
/** A name may stand in this many neighbouring cells; when others have them all, the fullest bucket is forgotten. */
const PROBES = 8
/** Times stay far below what a cell holds, whatever the rate. */
const WINDOW_MAX_NS = 2n ** 60n
const SECOND_NS = 1_000_000_000n
/** Two processes may have read the clock this far apart, and take tokens in the other order. */
const SKEW_NS = 10n * SECOND_NS

/** A table for this process alone. */
export const ownTable = (): BigInt64Array => new BigInt64Array(TABLE_CELLS)

/** Never 0, which is an empty cell. */
const hashOf = (name: string) => BigInt.asIntN(64, Bun.hash(name) as bigint) || 1n
const later = (a: bigint, b: bigint) => (a > b ? a : b)
const seconds = (ns: bigint) => Number((ns + SECOND_NS - 1n) / SECOND_NS)

export class RateLimiter {
  /** `RateLimit-Policy`: the burst is the quota, and its window is how long it takes to come back. */
  readonly policy: string
  readonly #tokenNs: bigint
  readonly #windowNs: bigint

  constructor(
    { perSecond, burst }: Rate,
    readonly table: BigInt64Array = ownTable(),
  ) {
    this.policy = `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`
    this.#tokenNs = BigInt(Math.max(1, Math.round(1e9 / perSecond)))
    const window = BigInt(burst) * this.#tokenNs
    this.#windowNs = window < WINDOW_MAX_NS ? window : WINDOW_MAX_NS
  }

  /**
   * Takes one token of `name`'s bucket. `now` is the wall clock in nanoseconds: the one clock that all processes read alike
   * (Bun's monotonic ones begin with the process).
   */
  take(name: string, now = BigInt(Date.now()) * 1_000_000n): Standing {
    const cell = this.#cellOf(hashOf(name), now) + 1
    for (;;) {
      const stored = Atomics.load(this.table, cell)
      const fullAt = this.#current(stored, now)
      const short = fullAt + this.#tokenNs - (now + this.#windowNs)
      if (short > 0n) return { remaining: 0, resetSeconds: seconds(fullAt - now), retryAfterSeconds: seconds(short) }
      const taken = fullAt + this.#tokenNs
      // Another process took a token in between: look again.
      if (Atomics.compareExchange(this.table, cell, stored, taken) !== stored) continue
      return {
        remaining: Number((this.#windowNs - (taken - now)) / this.#tokenNs),
        resetSeconds: seconds(taken - now),
        retryAfterSeconds: 0,
      }
    }
  }

  /** Gives back a token that was taken of `name`'s bucket. */
  giveBack(name: string, now = BigInt(Date.now()) * 1_000_000n) {
    const cell = this.#cellOf(hashOf(name), now) + 1
    for (;;) {
      const stored = Atomics.load(this.table, cell)
      const fullAt = this.#current(stored, now)
      if (fullAt <= now || Atomics.compareExchange(this.table, cell, stored, later(now, fullAt - this.#tokenNs)) === stored) return
    }
  }

  /** A full bucket is full now; a time that no bucket can have is of a clock that was set back since. */
  #current(fullAt: bigint, now: bigint): bigint {
    return fullAt > now + this.#windowNs + SKEW_NS ? now : later(fullAt, now)
  }

  /** The cell of the name with this hash: its own, or one whose bucket is forgotten for it, a full one if there is one. */
  #cellOf(hash: bigint, now: bigint): number {
    for (;;) {
      const found = this.#lookUp(hash, now)
      if (found.owner === hash) return found.cell
      // Another process may take it, for this very name even: then it is looked up again.
      if (Atomics.compareExchange(this.table, found.cell, found.owner, hash) !== found.owner) continue
      // What the forgotten bucket lacked is no debt of the new one. A time that is past is a full bucket as it stands.
      if (found.fullAt > now) Atomics.compareExchange(this.table, found.cell + 1, found.fullAt, now)
      return found.cell
    }
  }

  /** The cell of this name, else the one among its cells whose bucket is fullest. */
  #lookUp(hash: bigint, now: bigint): { cell: number; owner: bigint; fullAt: bigint } {
    const first = Number(BigInt.asUintN(32, hash))
    let fullest: { cell: number; owner: bigint; fullAt: bigint } | undefined
    for (let probe = 0; probe < PROBES; probe++) {
      const cell = 2 * ((first + probe) % CELLS)
      let owner: bigint
      let fullAt: bigint
      // A cell that was taken in between would look like one that is empty and drained, and this very name get a second one.
      do {
        owner = Atomics.load(this.table, cell)
        fullAt = Atomics.load(this.table, cell + 1)
      } while (Atomics.load(this.table, cell) !== owner)
      if (owner === hash) return { cell, owner, fullAt }
      if (!fullest || this.#current(fullAt, now) < this.#current(fullest.fullAt, now)) fullest = { cell, owner, fullAt }
    }
    return fullest!
  }
}
