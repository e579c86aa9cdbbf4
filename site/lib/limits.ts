/**
 * Limits by client address, for endpoints whose answers are worked out on demand. Memory is bounded however many clients there are
 * (`RateLimiter`).
 */
import type { Clients } from '../../api/server/client-address.ts'
import { RateLimiter } from '../../api/server/rate-limit.ts'
import type { Fields } from './prepared.ts'

/** Requests a minute of each client, by path. */
type PerMinute = Readonly<Record<string, number>>

/** One row for each endpoint that is worked out on demand. This release has none. */
export const LIMITS: PerMinute = {}

const SECONDS = 60

export class Limits {
  readonly #limiters: ReadonlyMap<string, RateLimiter>

  constructor(
    perMinute: PerMinute,
    readonly clients: Clients,
  ) {
    this.#limiters = new Map(
      Object.entries(perMinute).map(([path, burst]) => [path, new RateLimiter({ perSecond: burst / SECONDS, burst })]),
    )
  }

  /** Takes one of this client's requests for a path: what its answer says of the limit; null where there is none. */
  take(path: string, peerOf: () => string, forwardedFor: string | null): { fields: Fields; retryAfterSeconds: number } | null {
    const limiter = this.#limiters.get(path)
    if (!limiter) return null
    const { remaining, resetSeconds, retryAfterSeconds } = limiter.take(this.clients.nameOf(peerOf(), forwardedFor))
    const fields = {
      'ratelimit-policy': limiter.policy,
      ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
      ...(retryAfterSeconds ? { 'retry-after': String(retryAfterSeconds) } : {}),
    }
    return { fields, retryAfterSeconds }
  }
}
