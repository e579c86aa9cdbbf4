/** The store API of Stoa for TypeScript and JavaScript. */
export type { Answered, List, WithResponse } from './answered.ts'
export { createStoa, type CallOptions, type StoaOptions } from './client.ts'
export { StoaError, type StoaErrorCode } from './error.ts'
export { decimalsOf, formatCents, formatPrice } from './money.ts'
export * from './resources.ts'
export type * from './models.ts'
export type { Answer, Body, Item, Query } from './types.ts'
import type { WebhookEvent } from './models.ts'
import { verified } from './webhook.ts'

/**
 * The event of a delivery of a webhook. `body` is the body as it came, byte by byte; `headers` those of the request; `secret` is `whsec_…`,
 * or both while they are rotated. Rejects with a `StoaError` (`invalid_signature`) when nothing shows that the store has sent it within the
 * last five minutes.
 */
export const verifyWebhook = verified as (
  body: string | Uint8Array,
  headers: Parameters<typeof verified>[1],
  secret: string | readonly string[],
  toleranceSeconds?: number,
) => Promise<WebhookEvent>
