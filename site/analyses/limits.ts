/**
 * How often a client address may ask for each analysis, exactly so many times in any minute. Requests whose address can't be used have a
 * window of their own, so that who mistypes does not lose those that count.
 */
import type { Clients } from '../../api/server/client-address.ts'
import { windowCells, WindowLimiter, type Quota } from '../../api/server/window-limit.ts'
import type { Fields } from '../../api/hosting/prepared.ts'
import { OPERATIONS, type OperationName } from './operations.ts'

const WINDOW_SECONDS = 60

/** What is counted: analyses, or requests that are none. */
type Counted = 'analyses' | 'mistakes'

interface Standing {
  fields: Fields
  /** Above 0: refused. */
  retryAfterSeconds: number
}

/** A table for the counts of one window; processes that get the same one count together. */
export type TableOf = (name: string, cells: number) => BigInt64Array

export class Limits {
  readonly #windows = new Map<string, WindowLimiter>()

  constructor(
    readonly clients: Clients,
    readonly tableOf: TableOf = (_, cells) => new BigInt64Array(cells),
  ) {}

  /** Made when first somebody asks: most installations are never asked for most of them. */
  #window(operation: OperationName, counted: Counted): WindowLimiter {
    const name = counted === 'analyses' ? operation : `${operation}-${counted}`
    let window = this.#windows.get(name)
    if (!window) {
      const quota: Quota = { requests: OPERATIONS[operation].perMinute, windowSeconds: WINDOW_SECONDS }
      this.#windows.set(name, (window = new WindowLimiter(quota, this.tableOf(name, windowCells(quota)))))
    }
    return window
  }

  /** Takes one of a client's requests. */
  take(operation: OperationName, counted: Counted, client: string): Standing {
    const window = this.#window(operation, counted)
    return standing(window.policy, window.take(client))
  }

  /** Where a client stands, for answers to what is not counted. */
  look(operation: OperationName, client: string): Standing {
    const window = this.#window(operation, 'analyses')
    return standing(window.policy, { ...window.look(client), retryAfterSeconds: 0 })
  }
}

function standing(policy: string, { remaining, resetSeconds, retryAfterSeconds }: ReturnType<WindowLimiter['take']>): Standing {
  const fields = {
    'ratelimit-policy': policy,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After, Age',
    ...(retryAfterSeconds ? { 'retry-after': String(retryAfterSeconds) } : {}),
  }
  return { fields, retryAfterSeconds }
}
