/**
 * The outbox: what happened, written in the transaction of the change, for those outside (document 3, Webhook events). Who asked for an
 * event gets what the API answers about its thing at that moment.
 */
import { asc, eq, sql } from 'drizzle-orm'
import { compile, inserter, named, type Db } from '../../db/driver.ts'
import { outbox, webhookDeliveries, webhooks } from '../../db/store/store.ts'
import { projection, type Projection } from '../http/projection.ts'
import type { Room } from '../http/route.ts'
import type { Static, TSchema } from '../http/schema.ts'
import { enqueueIdle } from '../jobs/queue.ts'
import type { Clock, Moment } from '../values/clock.ts'
import type { EventType } from './webhooks/events.ts'

/** The kind of the jobs that deliver; their subject is the webhook's id. */
export const DELIVER_WEBHOOK = 'webhook.deliver'

const insertEvent = inserter(outbox)
/** One for each of a list of ids and webhooks, in its order. */
const insertDeliveries = compile((db) =>
  db.insert(webhookDeliveries).select(
    sql`select null, value ->> 0, value ->> 1, ${named('eventId')}, ${named('event')}, ${named('about')}, 'pending', 0, null, ${named('now')},
        null, null, null, ${named('now')}, null from json_each(${named('list')}) order by key`,
  ),
)
const activeOnes = compile((db) =>
  db
    .select({ id: webhooks.id, events: webhooks.events, restUntil: webhooks.restUntil })
    .from(webhooks)
    .where(eq(webhooks.active, true))
    .orderBy(asc(webhooks.id)),
)

/** The body of a delivery, which is the same at each try (Standard Webhooks). */
const bodyOf = (type: string, timestamp: string, data: unknown) => JSON.stringify({ type, timestamp, data })

interface Delivering {
  to: readonly { id: string; restUntil: string | null }[]
  eventId: string
  event: string
  about: string
}

/** Has an event delivered to webhooks; the ids of the deliveries. */
async function deliver(tx: Db, moment: Moment, { to, ...delivering }: Delivering): Promise<string[]> {
  const { clock, now } = moment
  const ids = to.map(() => clock.id())
  await insertDeliveries.run(tx, { ...delivering, now, list: JSON.stringify(to.map((webhook, i) => [ids[i], webhook.id])) })
  for (const { id: subject, restUntil } of to) {
    const dueAt = restUntil !== null && restUntil > now ? restUntil : now
    await enqueueIdle(tx, moment, { kind: DELIVER_WEBHOOK, subject, dueAt })
  }
  return ids
}

/** Sends a webhook a test, whatever it asked for; the id of the delivery. */
export async function deliverTest(tx: Db, moment: Moment, webhookId: string): Promise<string> {
  const { clock, now } = moment
  const [eventId, event] = [clock.id(), 'webhook.test']
  const body = bodyOf(event, now, { webhookId })
  await insertEvent(tx, { id: eventId, event, payload: { webhookId }, createdAt: now, body })
  return (await deliver(tx, moment, { to: [{ id: webhookId, restUntil: null }], eventId, event, about: eventId }))[0]!
}

interface Happened<S extends TSchema> {
  /** The id of the thing that it is about: a webhook hears what happens to it in its order. */
  about: string
  /** Ids, for the log of events. */
  payload: Record<string, unknown>
  /** What the API answers about it; asked for where somebody wants to know. */
  show(): Static<S> | Promise<Static<S>>
}

/** Tells events about one kind of thing; `data` is its shape, without what only stronger keys may read. */
export class Teller<T extends EventType, S extends TSchema> {
  #project: Projection | undefined

  constructor(
    readonly room: Room,
    readonly types: readonly T[],
    readonly data: S,
  ) {}

  /** Records an event; it is there, and is delivered, if and only if the change is. */
  async tell(tx: Db, moment: { clock: Clock; now: string }, type: T, { about, payload, show }: Happened<S>) {
    const { clock, now } = moment
    const id = clock.id()
    const asked = (await activeOnes.all(tx)).filter(({ events }) => events.includes(type))
    const body = asked.length ? bodyOf(type, now, (this.#project ??= projection(this.data))(await show())) : null
    await insertEvent(tx, { id, event: type, payload, createdAt: now, body })
    if (asked.length) await deliver(tx, moment, { to: asked, eventId: id, event: type, about })
  }
}
