/** A webhook: its row, its shape on the wire, and its secrets (document 8, Webhooks; Standard Webhooks). */
import { createHmac, randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { compile, named, type Reader } from '../../../db/driver.ts'
import { webhooks } from '../../../db/store/store.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import type { Owner } from '../../outside/files.ts'
import type { Secrets } from '../../outside/secrets.ts'
import { missing } from '../../values/refusal.ts'
import { EVENT_TYPES, type EventType } from './events.ts'

export type WebhookRow = typeof webhooks.$inferSelect

/** So many a store may have. */
export const WEBHOOKS_MAX = 20
/** The secret before signs beside the new one for so long. */
export const ROTATION_MS = 24 * 3_600_000
const SECRET_BYTES = 32

export const Webhook = Named('Webhook', {
  id: Uuid(),
  url: Type.String({ examples: ['https://hooks.example.com/stoa'] }),
  description: Nullable(Type.String()),
  events: Type.Array(OneOf(EVENT_TYPES)),
  active: Type.Boolean({ description: 'False: it gets nothing, also not later' }),
  disabledReason: Nullable(OneOf(['gone', 'failing']), {
    description: 'Why it was turned off: it answered 410, or took nothing for three days; null when somebody did',
  }),
  disabledAt: Nullable(Type.String()),
  lastDeliveredAt: Nullable(Type.String()),
  previousSecretUntil: Nullable(Type.String(), { description: 'Until then deliveries are signed with the secret before, too' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
export const NewWebhook = Named('NewWebhook', { ...Webhook.properties, secret: Type.String({ description: 'Shown this once' }) })

/** A webhook on the wire. */
export function webhookView({ previousUntil, ...row }: WebhookRow, now: string) {
  return {
    ...row,
    events: row.events as EventType[],
    previousSecretUntil: previousUntil !== null && previousUntil > now ? previousUntil : null,
  }
}

const webhookById = compile((db) =>
  db
    .select()
    .from(webhooks)
    .where(eq(webhooks.id, named('id'))),
)

/** A webhook as it is now; undefined when it is gone. */
export const webhookNow = async (db: Reader, id: string) => (await webhookById.get(db, { id })) as WebhookRow | undefined

/** The row of a webhook, or 404. */
export async function findWebhook(db: Reader, id: string): Promise<WebhookRow> {
  const row = await webhookNow(db, id)
  if (!row) throw missing('webhook')
  return row
}

/** A secret that nobody has yet, in the form of Standard Webhooks. */
export const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

export const placeOf = ({ storeId, environment }: Owner, id: string) => `webhook ${storeId} ${environment} ${id}`
export const sealSecret = (secrets: Secrets, owner: Owner, id: string, secret: string) => secrets.seal(secret, placeOf(owner, id))

/** The secrets that sign at an instant, the present one first; null when it was sealed with another key. */
export function secretsOf(secrets: Secrets, owner: Owner, row: WebhookRow, now: string): string[] | null {
  const open = (sealed: string) => secrets.open<string>(sealed, placeOf(owner, row.id))
  const present = open(row.secret)
  if (present === null) return null
  const before = row.previousSecret !== null && row.previousUntil! > now ? open(row.previousSecret) : null
  return before === null ? [present] : [present, before]
}

/** The headers of one try: the id is the event's at each of them, the signatures one for each secret. */
export function signed(secrets: readonly string[], id: string, body: string, at: Date): Record<string, string> {
  const seconds = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}
