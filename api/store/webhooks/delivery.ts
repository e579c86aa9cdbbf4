/** A delivery: one event on its way to one webhook; its shape on the wire, and when it is tried again (document 8, Webhooks). */
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../../db/driver.ts'
import { outbox, webhookDeliveries } from '../../../db/store/store.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import { missing } from '../../values/refusal.ts'

type DeliveryRow = typeof webhookDeliveries.$inferSelect

/** How a delivery stands. */
export const STATUSES = ['pending', 'delivered', 'failed'] as const

const delivery = {
  id: Uuid(),
  eventId: Uuid({ description: 'The `webhook-id` of each of its tries' }),
  event: Type.String({ examples: ['order.paid'] }),
  status: OneOf(STATUSES),
  tries: Type.Integer(),
  lastStatus: Nullable(Type.Integer(), { description: 'The status of the last answer; null when there was none' }),
  lastBody: Nullable(Type.String(), { description: 'The first KB of it' }),
  lastError: Nullable(Type.String(), { description: 'Why there was no answer, or why it counts as none' }),
  nextTryAt: Nullable(Type.String()),
  createdAt: Type.String(),
  deliveredAt: Nullable(Type.String()),
}
export const Delivery = Named('WebhookDelivery', delivery)
export const WholeDelivery = Named('WebhookDeliveryWithPayload', {
  ...delivery,
  payload: Nullable(Type.Object({}, { additionalProperties: true }), { description: 'The body that is sent; null once it is forgotten' }),
})

const { webhookId, seq, about, dueAt, tries } = webhookDeliveries

/** A delivery on the wire. */
export const deliveryView = ({ dueAt: nextTryAt, ...row }: DeliveryRow) => ({ ...row, nextTryAt })

/** A delivery of a webhook, with its body; or 404. */
export async function findDelivery(db: Reader, webhook: string, id: string): Promise<DeliveryRow & { body: string | null }> {
  const [found] = await db
    .select({ row: webhookDeliveries, body: outbox.body })
    .from(webhookDeliveries)
    .leftJoin(outbox, eq(outbox.id, webhookDeliveries.eventId))
    .where(and(eq(webhookDeliveries.id, id), eq(webhookId, webhook)))
  if (!found) throw missing('delivery')
  return { ...found.row, body: found.body }
}

/** The events of which something waits to be delivered to a webhook. */
export const waitingEvents = async (db: Reader, webhook: string): Promise<string[]> => {
  const rows = await db
    .selectDistinct({ event: webhookDeliveries.event })
    .from(webhookDeliveries)
    .where(and(eq(webhookId, webhook), eq(webhookDeliveries.status, 'pending')))
  return rows.map(({ event }) => event)
}

const [S, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
/** The pauses after the first tries; then it is every twelve hours. */
const PAUSES_MS = [5 * S, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR]
const PAUSE_MS = 12 * HOUR
const TRIED_FOR_MS = 3 * DAY

/** When a delivery that has failed so many times is tried again; null when it has been tried for three days. */
export function nextTry(tries: number, firstTryAt: string, now: Date): string | null {
  const at = now.getTime() + (PAUSES_MS[tries - 1] ?? PAUSE_MS)
  return at - Date.parse(firstTryAt) > TRIED_FOR_MS ? null : new Date(at).toISOString()
}

/** While a thing's event is in its first tries (some five minutes), what happened to it later waits; after that order gives way. */
const HELD_TRIES = 3
/** More things than are ever held: a webhook that fails again and again rests. */
const HELD_MAX = 1_000

const heldBy = compile((db) =>
  db
    .selectDistinct({ about })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookId, named('webhookId')),
        sql`${tries} > 0`,
        gt(dueAt, named('now')),
        sql`${tries} between 1 and ${sql.raw(String(HELD_TRIES - 1))}`,
      ),
    )
    .limit(HELD_MAX),
)
const dueOnes = compile((db) =>
  db
    .select({
      ...{ id: webhookDeliveries.id, seq, eventId: webhookDeliveries.eventId, about, tries, firstTryAt: webhookDeliveries.firstTryAt },
      body: outbox.body,
    })
    .from(webhookDeliveries)
    .leftJoin(outbox, eq(outbox.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookId, named('webhookId')),
        eq(webhookDeliveries.status, sql`'pending'`),
        sql`(${tries} = 0 or ${dueAt} <= ${named('now')})`,
        sql`${about} not in (select value from json_each(${named('held')}))`,
        sql`${seq} not in (select value from json_each(${named('sent')}))`,
      ),
    )
    .orderBy(asc(seq))
    .limit(named('limit') as never),
)
const laterOne = compile((db) =>
  db
    .select({ dueAt })
    .from(webhookDeliveries)
    .where(and(eq(webhookId, named('webhookId')), sql`${tries} > 0`, gt(dueAt, named('now'))))
    .orderBy(asc(dueAt))
    .limit(1),
)

/** A delivery that is due, with its body; without one there is nothing to send any more. */
export interface Due {
  id: string
  seq: number
  eventId: string
  about: string
  tries: number
  firstTryAt: string | null
  body: string | null
}

interface Asking {
  webhookId: string
  now: string
  limit: number
  /** Those that were sent just now, of which it is not written yet what came of them: their numbers, and the things that wait for them. */
  sent: { seqs: readonly number[]; abouts: readonly string[] }
}

/** The deliveries of a webhook that are due, in the order in which they happened. */
export async function dueDeliveries(db: Reader, { webhookId, now, limit, sent }: Asking): Promise<Due[]> {
  const held = ((await heldBy.all(db, { webhookId, now })) as { about: string }[]).map(({ about }) => about)
  const lists = { held: JSON.stringify([...held, ...sent.abouts]), sent: JSON.stringify(sent.seqs) }
  return (await dueOnes.all(db, { webhookId, now, limit, ...lists })) as Due[]
}

/** Deliveries that one statement ends. */
const ENDED_AT_ONCE = 500

/** Ends some of what a webhook waits for that is off, what happened first before the rest; whether there may be more. */
export async function endSome(tx: Db, webhook: string): Promise<boolean> {
  const waiting = and(eq(webhookId, webhook), eq(webhookDeliveries.status, 'pending'))
  const some = tx.select({ seq }).from(webhookDeliveries).where(waiting).orderBy(asc(seq)).limit(ENDED_AT_ONCE)
  const { changes } = await tx
    .update(webhookDeliveries)
    .set({ status: 'failed', dueAt: null, lastError: 'the webhook was turned off' })
    .where(inArray(seq, some))
  return changes === ENDED_AT_ONCE
}

const NONE = { seqs: [], abouts: [] }

/** When a webhook next gets something: now, when that is due and nothing holds it back; undefined when nothing waits. */
export async function nextDelivery(db: Reader, webhookId: string, now: string): Promise<string | undefined> {
  if ((await dueDeliveries(db, { webhookId, now, limit: 1, sent: NONE })).length) return now
  return ((await laterOne.get(db, { webhookId, now })) as { dueAt: string } | undefined)?.dueAt
}
