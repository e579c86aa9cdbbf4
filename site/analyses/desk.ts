/** Who wants what analysed: the same once at a time, not again for ten minutes, and not too much at once. */
import type { OperationName } from './operations.ts'

/** How long a report is given again, in ms. */
const KEPT_MS = 600_000
/** Of all reports that are kept together, in characters: one has 10,000 to 40,000. */
const KEPT_MAX = 8_000_000
/** Analyses at once; and of them those that take a minute, so that they keep room for those that take a second. */
export const ANALYSES_MAX = 20
export const SLOW_MAX = 5

/** There is too much to do just now. */
export class Busy extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super('too many analyses at once')
  }
}

interface Kept {
  report: object
  size: number
  /** ms since 1970. */
  at: number
}

interface Running {
  report: Promise<object>
  /** How many want it. */
  wanted: number
  control: AbortController
}

interface Given {
  report: object
  /** How long it has been kept, in whole seconds; null for one that was just made. */
  ageSeconds: number | null
}

export class Desk {
  readonly #kept = new Map<string, Kept>()
  readonly #running = new Map<string, Running>()
  #size = 0

  constructor(readonly now: () => number = Date.now) {}

  /**
   * The report of an operation on a URL; `make` makes it, and ends when its signal says so: when all who wanted it are gone. Throws `Busy`,
   * what `make` throws, and the reason of `signal`.
   */
  async ask(operation: OperationName, url: URL, signal: AbortSignal, make: (signal: AbortSignal) => Promise<object>): Promise<Given> {
    const key = `${operation} ${url.href}`
    const kept = this.#known(key)
    if (kept) return { report: kept.report, ageSeconds: Math.floor((this.now() - kept.at) / 1000) }
    const running = this.#running.get(key) ?? this.#begin(operation, key, make)
    running.wanted++
    const { promise: gone, reject } = Promise.withResolvers<never>()
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    try {
      return { report: await Promise.race([running.report, gone]), ageSeconds: null }
    } finally {
      signal.removeEventListener('abort', leave)
      if (--running.wanted === 0) running.control.abort()
    }
  }

  #begin(operation: OperationName, key: string, make: (signal: AbortSignal) => Promise<object>): Running {
    if (this.#running.size >= ANALYSES_MAX) throw new Busy(5)
    if (operation === 'pagespeed' && this.#slow() >= SLOW_MAX) throw new Busy(20)
    const control = new AbortController()
    const report = make(control.signal)
    const running = { report, wanted: 0, control }
    this.#running.set(key, running)
    const over = () => this.#running.get(key) === running && this.#running.delete(key)
    report.then(
      (made) => {
        over()
        this.#keep(key, made)
      },
      () => over(),
    )
    // One that nobody waits for any more may still be ending: the next to ask begins anew.
    control.signal.addEventListener('abort', over)
    return running
  }

  #slow(): number {
    return [...this.#running.keys()].filter((key) => key.startsWith('pagespeed ')).length
  }

  #known(key: string): Kept | null {
    const kept = this.#kept.get(key)
    if (!kept) return null
    if (this.now() - kept.at < KEPT_MS && this.now() >= kept.at) return kept
    this.#forget(key)
    return null
  }

  #keep(key: string, report: object) {
    const size = key.length + JSON.stringify(report).length
    this.#forget(key)
    // One that would push all others out is made again.
    if (size > KEPT_MAX / 20) return
    this.#kept.set(key, { report, size, at: this.now() })
    this.#size += size
    // The oldest go first.
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= KEPT_MAX) break
      this.#forget(oldest)
    }
  }

  #forget(key: string) {
    this.#size -= this.#kept.get(key)?.size ?? 0
    this.#kept.delete(key)
  }
}
