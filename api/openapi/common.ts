/** The shared parts of every operation of the OpenAPI document: headers, conditional and idempotent requests, the rooms. */
import type { Room } from '../http/route.ts'
import type { Json } from './schemas.ts'

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
  Ignored: text(
    'What of the request is not known, at most 20 names: fields with their path, query parameters after a `?`',
    '?minTotal, pric',
  ),
  Applied: text('`handling=strict` when the request asked for it in `Prefer`', 'handling=strict'),
  Replayed: text('`true` when this is the first answer to the same `Idempotency-Key` again', 'true'),
}
export const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` })
export const header = (name: keyof typeof HEADERS) => ref('headers', name)
/** Headers of every answer that counts against a rate: that of a key, or of a client without one. */
export const LIMITED_HEADERS: Json = {
  'X-Request-Id': header('RequestId'),
  RateLimit: header('RateLimit'),
  'RateLimit-Policy': header('RateLimitPolicy'),
}
/** Headers of every answer to a request that was read. */
export const READ_HEADERS: Json = { 'Ignored-Fields': header('Ignored'), 'Preference-Applied': header('Applied') }
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
    'Comes back with the answer and stands in the log when it has 1 to 128 of `A-Za-z0-9._-`; otherwise the request gets an id as if none had been sent',
    {},
    'checkout-7f3a',
  ),
  Prefer: sent(
    'Prefer',
    '`handling=strict` (RFC 7240): what of the request is not known is refused with 400 instead of being named in `Ignored-Fields`',
    {},
    'handling=strict',
  ),
  IdempotencyKey: sent(
    'Idempotency-Key',
    'Makes the call safe to repeat: the same key and body within 24 hours get the first answer again, another body gets 422',
    { minLength: 1, maxLength: 255 },
    '8e03978e-40d5-43e8-bc93-6894a57f9324',
  ),
  IfNoneMatch: sent(
    'If-None-Match',
    'ETags known to the caller, separated by commas, weak ones (`W/"…"`) too, or `*`: 304 while one of them holds',
    {},
    '"1x2y3z"',
  ),
  IfMatch: sent(
    'If-Match',
    'ETag that the change starts from, several separated by commas, or `*`: 412 when the resource has none of them any more',
    {},
    '"1x2y3z"',
  ),
}
export const parameter = (name: keyof typeof PARAMETERS) => ref('parameters', name)
