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
/** One for each of a list of ids, webhooks, event ids and events, in its order. */
const insertDeliveries = compile((db) =>
  db.insert(webhookDeliveries).select(
    sql`select null, value ->> 0, value ->> 1, value ->> 2, value ->> 3, ${named('about')}, 'pending', 0, null, ${named('now')},
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

/** The body of a delivery, which is the same at each try (Standard Webhooks). `data` is JSON. */
const bodyOf = (type: string, timestamp: string, data: string) =>
  `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(timestamp)},"data":${data}}`

interface Addressee {
  id: string
  restUntil: string | null
}
/** An event, and who gets it. */
interface Addressed {
  id: string
  event: string
  to: readonly Addressee[]
}

/** Has events about one thing delivered, in their order; the ids of the deliveries. */
async function deliver(tx: Db, moment: Moment, about: string, events: readonly Addressed[]): Promise<string[]> {
  const { clock, now } = moment
  const all = events.flatMap(({ id, event, to }) => to.map((webhook) => [clock.id(), webhook.id, id, event] as const))
  if (!all.length) return []
  await insertDeliveries.run(tx, { about, now, list: JSON.stringify(all) })
  const dueAt = (restUntil: string | null) => (restUntil !== null && restUntil > now ? restUntil : now)
  const webhooks = new Map(events.flatMap(({ to }) => to.map(({ id, restUntil }) => [id, restUntil])))
  const jobs = [...webhooks].map(([subject, restUntil]) => ({ subject, dueAt: dueAt(restUntil) }))
  await enqueueIdle(tx, moment, DELIVER_WEBHOOK, jobs)
  return all.map(([id]) => id)
}

/** Sends a webhook a test, whatever it asked for; the id of the delivery. */
export async function deliverTest(tx: Db, moment: Moment, webhookId: string): Promise<string> {
  const { clock, now } = moment
  const [id, event] = [clock.id(), 'webhook.test']
  const body = bodyOf(event, now, JSON.stringify({ webhookId }))
  await insertEvent(tx, { id, event, payload: { webhookId }, createdAt: now, body })
  return (await deliver(tx, moment, id, [{ id, event, to: [{ id: webhookId, restUntil: null }] }]))[0]!
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

  /** Records what has happened to one thing, in this order; it is there, and is delivered, if and only if the change is. */
  async tell(tx: Db, moment: { clock: Clock; now: string }, types: T | readonly T[], { about, payload, show }: Happened<S>) {
    const { clock, now } = moment
    const active = await activeOnes.all(tx)
    const events = [types].flat().map((event) => ({ id: clock.id(), event, to: active.filter(({ events }) => events.includes(event)) }))
    const isAsked = events.some(({ to }) => to.length)
    const data = isAsked ? JSON.stringify((this.#project ??= projection(this.data))(await show())) : ''
    for (const { id, event, to } of events)
      await insertEvent(tx, { id, event, payload, createdAt: now, body: to.length ? bodyOf(event, now, data) : null })
    if (isAsked) await deliver(tx, moment, about, events)
  }
}
