/** The refusals of the OpenAPI document: the forms of their bodies, and what each status says. */
import { header, LIMITED_HEADERS, PLAIN_HEADERS, ref } from './common.ts'
import type { Json } from './schemas.ts'

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
      hint: 'Create a key with this scope: POST /api-keys, or npm run -s stoa -- key create --store ID --scopes catalog:write',
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
    description: 'The store is busy, too much is being received, or the database or the disk can not be used; `error` says which',
    example: { error: 'the store is busy, try again' },
    headers: { 'X-Request-Id': header('RequestId'), 'Retry-After': header('RetryAfter') },
  },
  507: {
    name: 'InsufficientStorage',
    schema: 'Error',
    description: "The server's disk is full; nothing was changed",
    example: { error: "the server's disk is full: nothing was changed" },
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
