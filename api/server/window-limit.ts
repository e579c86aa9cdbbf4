/**
 * So many requests in any window of time, exactly: each name has a row with a place for every request that it may make, and a place is free
 * again once the window has passed since it was taken. Processes of one machine count together in a table that they share (db/shared-table.ts):
 * whoever swaps a place first has it.
 */

export interface Quota {
  requests: number
  windowSeconds: number
}

/** Where a caller stands after this request: `retryAfterSeconds` above 0 means refused. `resetSeconds`: until there is a place more. */
interface WindowStanding {
  remaining: number
  resetSeconds: number
  retryAfterSeconds: number
}

/** Names that a table knows at once; beyond that the one that has been silent longest is forgotten. */
const ROWS = 16_384
/** A name may stand in this many neighbouring rows. */
const PROBES = 8
const SECOND_NS = 1_000_000_000n
/** What two processes do within this time may be in either order. */
const AT_ONCE_NS = 50_000_000n
/** Two processes may have read the clock this far apart; a time that lies further ahead is of a clock that was set back since. */
const SKEW_NS = 10n * SECOND_NS

/** How many 64-bit cells the table of a quota has. */
export const windowCells = ({ requests }: Quota): number => ROWS * (1 + requests)

/** Never 0, which is an empty row. */
const hashOf = (name: string) => BigInt.asIntN(64, Bun.hash(name) as bigint) || 1n
const seconds = (ns: bigint) => Math.max(1, Number((ns + SECOND_NS - 1n) / SECOND_NS))

export class WindowLimiter {
  /** `RateLimit-Policy` */
  readonly policy: string
  readonly #row: number
  readonly #windowNs: bigint

  /** `table` has `windowCells` cells. */
  constructor(
    readonly quota: Quota,
    readonly table: BigInt64Array = new BigInt64Array(windowCells(quota)),
  ) {
    this.policy = `"default";q=${quota.requests};w=${quota.windowSeconds}`
    this.#row = 1 + quota.requests
    this.#windowNs = BigInt(quota.windowSeconds) * SECOND_NS
  }

  /** Takes a place of `name`'s. `now` is the wall clock in nanoseconds, which all processes read alike. */
  take(name: string, now = BigInt(Date.now()) * 1_000_000n): WindowStanding {
    const first = this.#rowOf(hashOf(name), now) + 1
    for (let at = first; at < first + this.quota.requests; at++) {
      const stored = Atomics.load(this.table, at)
      if (this.#isFree(stored, now) && Atomics.compareExchange(this.table, at, stored, now) === stored)
        return { ...this.#standing(first, now), retryAfterSeconds: 0 }
    }
    const { resetSeconds } = this.#standing(first, now)
    return { remaining: 0, resetSeconds, retryAfterSeconds: resetSeconds }
  }

  /** Where `name` stands; takes nothing. */
  look(name: string, now = BigInt(Date.now()) * 1_000_000n): WindowStanding {
    const standing = this.#standing(this.#rowOf(hashOf(name), now) + 1, now)
    return { ...standing, retryAfterSeconds: standing.remaining ? 0 : standing.resetSeconds }
  }

  #isFree(stored: bigint, now: bigint): boolean {
    return stored <= now - this.#windowNs || stored > now + SKEW_NS
  }

  #standing(first: number, now: bigint): Pick<WindowStanding, 'remaining' | 'resetSeconds'> {
    const taken: bigint[] = []
    for (let at = first; at < first + this.quota.requests; at++) {
      const stored = Atomics.load(this.table, at)
      if (!this.#isFree(stored, now)) taken.push(stored)
    }
    const oldest = taken.reduce((least, time) => (time < least ? time : least), now)
    return { remaining: this.quota.requests - taken.length, resetSeconds: taken.length ? seconds(oldest + this.#windowNs - now) : 0 }
  }

  /** The row of the name with this hash: its own, or the one among its rows that nobody has used for longest. */
  #rowOf(hash: bigint, now: bigint): number {
    for (;;) {
      const { row, owner } = this.#lookUp(hash)
      if (owner === hash) return row
      if (Atomics.compareExchange(this.table, row, owner, hash) !== owner) continue
      // What the forgotten name took is no debt of the new one; what this very name takes in another process at this moment is.
      for (let at = row + 1; at < row + this.#row; at++) {
        const stored = Atomics.load(this.table, at)
        if (stored < now - AT_ONCE_NS) Atomics.compareExchange(this.table, at, stored, 0n)
      }
      return row
    }
  }

  #lookUp(hash: bigint): { row: number; owner: bigint } {
    const first = Number(BigInt.asUintN(32, hash))
    let oldest: { row: number; owner: bigint; used: bigint } | undefined
    for (let probe = 0; probe < PROBES; probe++) {
      const row = ((first + probe) % ROWS) * this.#row
      const owner = Atomics.load(this.table, row)
      if (owner === hash) return { row, owner }
      let used = 0n
      for (let at = row + 1; at < row + this.#row; at++) {
        const stored = Atomics.load(this.table, at)
        if (stored > used) used = stored
      }
      if (!oldest || used < oldest.used) oldest = { row, owner, used }
    }
    return oldest!
  }
}
