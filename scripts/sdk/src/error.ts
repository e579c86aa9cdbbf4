/** The one error that a call of the store API rejects with. */
import type { ErrorDetail } from './models.ts'

/** What went wrong, as a program branches on it. */
export type StoaErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'payment_failed'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'unavailable'
  | 'storage_full'
  | 'server_error'
  | 'refused'
  | 'network'
  | 'timeout'
  | 'unexpected_answer'
  | 'invalid_argument'
  | 'invalid_signature'

const CODES: Readonly<Record<number, StoaErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  402: 'payment_failed',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_media_type',
  422: 'idempotency_key_reused',
  429: 'rate_limited',
  503: 'unavailable',
  507: 'storage_full',
}

interface Said {
  status: number
  code: StoaErrorCode
  details?: readonly ErrorDetail[]
  requestId?: string | null
  retryAfterSeconds?: number | null
  body?: Readonly<Record<string, any>>
  cause?: unknown
}

/**
 * What the API refused, or why it was not reached. `status` is that of the answer, 0 where there was none. `code` is `invalid_request`
 * (400), `unauthorized` (401), `payment_failed` (402), `forbidden` (403), `not_found` (404), `conflict` (409), `precondition_failed` (412),
 * `too_large` (413), `unsupported_media_type` (415), `idempotency_key_reused` (422), `rate_limited` (429), `unavailable` (503),
 * `storage_full` (507), `server_error` (other 5xx), `refused` (other 4xx); `network`, `timeout`,
 * `unexpected_answer`, `invalid_argument` and `invalid_signature` without an answer of the API.
 */
export class StoaError extends Error {
  override readonly name = 'StoaError'
  readonly status: number
  readonly code: StoaErrorCode
  /** What the API calls the reason, where it has a word for it: `out_of_stock`, `price_changed`, `decline`. */
  readonly reason: string | null
  /** The failed checks of a 400, each with the path of its field. */
  readonly details: readonly ErrorDetail[]
  /** Names the request in the log of the server. */
  readonly requestId: string | null
  /** Seconds to wait before another try, where the answer said so. */
  readonly retryAfterSeconds: number | null
  /** The whole answer: `error`, and whatever came with it, such as `hint` and `documentationUrl`. */
  readonly body: Readonly<Record<string, any>>

  constructor(message: string, { status, code, details = [], requestId = null, retryAfterSeconds = null, body = {}, cause }: Said) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.details = details
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
    this.body = body
    this.reason = typeof body.code === 'string' ? body.code : null
  }
}

/** The error of an answer; `answered` is its body, read as JSON where it is JSON. */
export function errorOf({ status, headers }: Response, answered: unknown): StoaError {
  const body = (typeof answered === 'object' && answered !== null ? answered : {}) as Record<string, unknown>
  const wait = Number(headers.get('retry-after') ?? NaN)
  return new StoaError(typeof body.error === 'string' ? body.error : `the server answered ${status}`, {
    status,
    code: CODES[status] ?? (status >= 500 ? 'server_error' : 'refused'),
    details: (body.details as ErrorDetail[] | undefined) ?? [],
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(wait) ? wait : null,
    body,
  })
}
