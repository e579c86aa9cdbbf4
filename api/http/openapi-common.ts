/** What every operation of the OpenAPI document shares: error bodies, headers, conditional and idempotent requests, the rooms. */
import type { Room } from './route.ts'
import type { Json } from './openapi-schemas.ts'

/** The rooms in the order of the reference, each with what it holds. */
export const ROOMS: Record<Room, string> = {
  store: 'The store itself: who calls, settings, team, webhooks, audit log, this description.',
  catalog: 'What is sold: products, variants, inventory, categories, collections, brands, bundles, search, tax rates.',
  checkout: 'Carts, their discounts and shipping options, and the checkout that makes an order of a cart.',
  orders: 'Orders with their payments, refunds and shipments, customers, and the workstations that pack.',
  marketing: 'Coupons, promotions, loyalty, newsletters, subscribers, wishlists, subscriptions, messages, analytics.',
  content: 'Posts, blog categories, comments, reviews, media, legal pages, brand kit and photo feed.',
  events: 'Events, tickets, attendees, check-in and booking slots.',
  builder: 'AI-built stores: feedback sessions, custom domain and publishing.',
}

const text = (description: string, example: string): Json => ({ description, schema: { type: 'string' }, example })

/** Response headers, by the name that `$ref` uses. */
export const HEADERS: Record<string, Json> = {
  RequestId: text('Names this request in the log: the one sent, else a new one', '01985d2c-7c00-7a31-8c4e-0242ac120002'),
  ETag: text('Validator of this representation, for `If-None-Match` and `If-Match`', '"1x2y3z"'),
  RateLimit: text('What is left of the quota, and the seconds until it is whole again', '"default";r=199;t=1'),
  RateLimitPolicy: text('The quota and its window in seconds', '"default";q=200;w=2'),
  RetryAfter: text('Seconds to wait before trying again', '1'),
  Replayed: text('`true` when this is the first answer to the same `Idempotency-Key` again', 'true'),
}
const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` })
export const header = (name: keyof typeof HEADERS) => ref('headers', name)
/** Headers of every answer that counts against a rate: that of a key, or of a client without one. */
export const LIMITED_HEADERS: Json = {
  'X-Request-Id': header('RequestId'),
  RateLimit: header('RateLimit'),
  'RateLimit-Policy': header('RateLimitPolicy'),
}
export const PLAIN_HEADERS: Json = { 'X-Request-Id': header('RequestId') }

const sent = (name: string, description: string, schema: Json, example: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
  example,
})

/** Request headers that operations take, by the name that `$ref` uses. */
export const PARAMETERS: Record<string, Json> = {
  RequestId: sent(
    'X-Request-Id',
    'Comes back with the answer and stands in the log',
    { pattern: '^[A-Za-z0-9._-]{1,128}$' },
    'checkout-7f3a',
  ),
  IdempotencyKey: sent(
    'Idempotency-Key',
    'Makes the call safe to repeat: the same key and body within 24 hours get the first answer again, another body gets 422',
    { minLength: 1, maxLength: 255 },
    '8e03978e-40d5-43e8-bc93-6894a57f9324',
  ),
  IfNoneMatch: sent('If-None-Match', 'ETag known to the caller: 304 while it still holds', {}, '"1x2y3z"'),
  IfMatch: sent('If-Match', 'ETag that the change starts from: 412 when the resource has changed since', {}, '"1x2y3z"'),
}
export const parameter = (name: keyof typeof PARAMETERS) => ref('parameters', name)

const error: Json = { type: 'string', description: 'What is wrong, in a sentence' }
const documentationUrl: Json = { type: 'string', format: 'uri', description: 'The page about the operation; with 400, 403, 404 and 409' }
const detail: Json = {
  type: 'object',
  required: ['code', 'message', 'path'],
  properties: {
    code: {
      type: 'string',
      enum: ['invalid_type', 'required', 'too_small', 'too_big', 'invalid_string', 'invalid_enum_value', 'unrecognized_keys', 'custom'],
    },
    message: { type: 'string' },
    path: { type: 'array', items: { type: 'string' }, description: 'The field, from the outside in' },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
    options: { type: 'array', items: {}, description: 'The values that are possible' },
    keys: { type: 'array', items: { type: 'string' }, description: 'The unknown fields' },
    pattern: { type: 'string' },
  },
}

/** The forms of error bodies (document 1, Errors). */
export const ERROR_SCHEMAS: Record<string, Json> = {
  Error: {
    type: 'object',
    required: ['error'],
    properties: { error, hint: { type: 'string', description: 'What to do about it' }, requestId: { type: 'string' }, documentationUrl },
  },
  ErrorDetail: detail,
  ScopeError: {
    type: 'object',
    required: ['error'],
    properties: { error, hint: { type: 'string', description: 'How to get a key that may' }, documentationUrl },
  },
  ValidationError: {
    type: 'object',
    required: ['error'],
    properties: {
      error,
      details: { type: 'array', items: ref('schemas', 'ErrorDetail'), description: 'Each failed check' },
      documentationUrl,
    },
  },
}

interface Failure {
  name: string
  description: string
  schema: keyof typeof ERROR_SCHEMAS
  example: Json
  headers?: Json
}

/** Answers to refused requests, by status. */
const FAILURES: Record<number, Failure> = {
  400: {
    name: 'Invalid',
    schema: 'ValidationError',
    description: 'The query or the body is not valid, or a precondition fails; `details` names the fields',
    example: {
      error: 'limit: must be at most 100',
      details: [{ code: 'too_big', message: 'must be at most 100', path: ['limit'], maximum: 100 }],
    },
  },
  401: {
    name: 'Unauthorized',
    schema: 'Error',
    description: 'The API key is missing, unknown or revoked',
    example: { error: 'invalid API key' },
  },
  402: {
    name: 'PaymentRequired',
    schema: 'Error',
    description: 'The payment was declined; nothing has changed',
    example: { error: 'the payment was declined' },
  },
  403: {
    name: 'Forbidden',
    schema: 'ScopeError',
    description: 'The key lacks the scope, or the plan does not allow the change',
    example: {
      error: 'this key lacks the scope catalog:write',
      hint: 'Create a key with this scope: npm run -s stoa -- key create --store ID --scopes catalog:write',
    },
  },
  404: {
    name: 'NotFound',
    schema: 'Error',
    description: 'There is no such resource in this store, or its tool is off',
    example: { error: 'product not found' },
  },
  409: {
    name: 'Conflict',
    schema: 'Error',
    description: 'The state of this resource, or another resource, stands against it',
    example: { error: 'slug already exists' },
  },
  408: {
    name: 'RequestTimeout',
    schema: 'Error',
    description: 'The body came too slowly',
    example: { error: 'the body came too slowly' },
  },
  412: {
    name: 'PreconditionFailed',
    schema: 'Error',
    description: 'The resource has changed since the ETag in `If-Match`',
    example: { error: 'the resource has changed since: read it again' },
  },
  413: {
    name: 'TooLarge',
    schema: 'Error',
    description: 'The body is too large',
    example: { error: 'the body is larger than 1048576 bytes' },
  },
  415: {
    name: 'UnsupportedType',
    schema: 'Error',
    description: 'The body has another media type',
    example: { error: 'the body must be JSON: send Content-Type: application/json' },
  },
  422: {
    name: 'KeyReused',
    schema: 'Error',
    description: 'The `Idempotency-Key` was used with another body',
    example: { error: 'this Idempotency-Key was used with another body' },
  },
  429: {
    name: 'TooManyRequests',
    schema: 'Error',
    description: 'Too many requests: wait',
    example: { error: 'too many requests: wait 1 s' },
    headers: { ...LIMITED_HEADERS, 'Retry-After': header('RetryAfter') },
  },
  500: {
    name: 'InternalError',
    schema: 'Error',
    description: 'A failure of the server, which is in its log under the request id',
    example: { error: 'internal error', requestId: '01985d2c-7c00-7a31-8c4e-0242ac120002' },
  },
  502: {
    name: 'BadGateway',
    schema: 'Error',
    description: 'A third party could not be asked',
    example: { error: 'the carrier could not verify the credentials' },
  },
  503: {
    name: 'Unavailable',
    schema: 'Error',
    description: 'The store is busy, or too much is being received',
    example: { error: 'the store is busy, try again' },
    headers: { 'X-Request-Id': header('RequestId'), 'Retry-After': header('RetryAfter') },
  },
}

/** The shared answer of an error status. */
export function failure(status: number): Json {
  return ref('responses', known(status).name)
}

/** The error answer of a status beside others that it has, such as a page. */
export function failureOr(status: number, { content }: Json): Json {
  const error = response(status)
  return { ...error, content: { ...error.content, ...content } }
}

function known(status: number): Failure {
  const failure = FAILURES[status]
  if (!failure) throw new Error(`no error answer is described for status ${status}`)
  return failure
}

function response(status: number): Json {
  const { description, schema, example, headers } = known(status)
  return { description, headers: headers ?? PLAIN_HEADERS, content: { 'application/json': { schema: ref('schemas', schema), example } } }
}

/** The error answers of `statuses` as components. */
export function failures(statuses: ReadonlySet<number>): Record<string, Json> {
  return Object.fromEntries([...statuses].toSorted((a, b) => a - b).map((status) => [known(status).name, response(status)]))
}
