/** Token buckets, one per key: `perSecond` tokens come back each second, up to `burst`. */

export interface Rate { perSecond: number, burst: number }
/** Where a caller stands after this request: `retryAfterSeconds` above 0 means refused. */
export interface Standing { remaining: number, resetSeconds: number, retryAfterSeconds: number }

/** Buckets beyond this many are forgotten, fullest of time first: a forgotten bucket is a full one. */
const BUCKETS_MAX = 50_000

export class RateLimiter {
  readonly #buckets = new Map<string, { tokens: number, at: number }>()
  /** `RateLimit-Policy`: the burst is the quota, and its window is how long it takes to come back. */
  readonly policy: string

  constructor(readonly rate: Rate) {
    this.policy = `"default";q=${rate.burst};w=${Math.max(1, Math.ceil(rate.burst / rate.perSecond))}`
  }

  take(key: string, now: number): Standing {
    const { perSecond, burst } = this.rate
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(this.#buckets.keys().next().value!)
      this.#buckets.set(key, bucket = { tokens: burst, at: now })
    }
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) / 1000 * perSecond)
    bucket.at = now
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= 1
    return {
      remaining: Math.floor(bucket.tokens), resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
    }
  }
}
