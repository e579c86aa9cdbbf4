/** `/webhooks`: addresses that get signed POSTs of what happens in the store (document 3, Marketing and visitors; document 8, Webhooks). */
import { and, asc, desc, eq, lt } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { deleteInTurns } from '../../../db/sliced.ts'
import { webhookDeliveries, webhooks } from '../../../db/store/store.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, Counted, deleted, Deleted, Label, Nullable, OneOf, Paging, Text, Type, WebUrl, type Static } from '../../http/schema.ts'
import { enqueue } from '../../jobs/queue.ts'
import { conflict, Refusal, wrong } from '../../values/refusal.ts'
import { later } from '../../values/time.ts'
import { DELIVER_WEBHOOK, deliverTest } from '../outbox.ts'
import { Delivery, deliveryView, endSome, findDelivery, waitingEvents, WholeDelivery, STATUSES } from './delivery.ts'
import { EVENT_TYPES, EVENTS, isEvent, type EventType } from './events.ts'
import {
  findWebhook,
  NewWebhook,
  newSecret,
  ROTATION_MS,
  sealSecret,
  Webhook,
  webhookView,
  WEBHOOKS_MAX,
  type WebhookRow,
} from './webhook.ts'

const ADMIN = 'store:admin'

const url = WebUrl({ description: 'Where the POSTs go: a public host, port 80 or 443, unless the operator allows others (`FETCH_ALLOW`)' })
const events = Type.Array(OneOf(EVENT_TYPES), { minItems: 1, maxItems: EVENT_TYPES.length, uniqueItems: true })
const description = Type.Optional(Nullable(Label(200)))
const WebhookInput = Body(
  'WebhookInput',
  [{ url: 'https://hooks.example.com/stoa', events: ['order.created', 'order.paid'], description: 'ERP' }],
  { url, events, description },
)
const WebhookPatch = Body('WebhookPatch', [{ events: ['order.paid'], active: true }], {
  url: Type.Optional(url),
  events: Type.Optional(events),
  description,
  active: Type.Optional(Type.Boolean({ description: 'True turns one on again that was turned off; what it missed is not sent by itself' })),
})

/** Refuses an address that nothing will ever be sent to, whatever its name resolves to. */
function requireAddress({ services }: Pick<Call, 'services'>, given: string | undefined) {
  if (given === undefined) return
  const refusal = services.postPublic.refusal(new URL(given))
  if (refusal !== null) throw wrong('url', refusal)
}

/** Whether a key may read itself what an event tells. A test tells nothing of the store. */
const mayRead = ({ scopes }: Call['session'], event: string) => scopes === null || !isEvent(event) || scopes.has(EVENTS[event].scope)

/**
 * Refuses a key that may not read itself what a webhook gets, or would get. What learns its secret, sends it something again or has it
 * sent elsewhere takes the same as making it.
 */
function requireReading({ session }: Pick<Call, 'session'>, given: readonly string[]) {
  const event = given.find((type) => !mayRead(session, type))
  if (event === undefined) return
  const { scope } = EVENTS[event as EventType]
  throw new Refusal(403, `this key lacks the scope ${scope}, with which what ${event} tells is read`, {
    hint: 'Use a key with that scope, or leave the event out',
  })
}

/** A webhook that a key with its events' scopes wants to do something with. */
async function ownWebhook(tx: Db, call: Pick<Call<unknown, unknown, { id: string }>, 'params' | 'session'>): Promise<WebhookRow> {
  const row = await findWebhook(tx, call.params.id)
  requireReading(call, row.events)
  return row
}

/** A delivery as a key sees it: what its receiver has answered may repeat what it got. */
const seenBy = (session: Call['session'], row: Parameters<typeof deliveryView>[0]) =>
  deliveryView(mayRead(session, row.event) ? row : { ...row, lastBody: null })

/** Events in the order in which the documents list them. */
const sorted = (given: Static<typeof events>) => EVENT_TYPES.filter((event) => given.includes(event))

async function insert(tx: Db, call: Call<unknown, Static<typeof WebhookInput>>) {
  const { body, clock, now, services } = call
  if ((await tx.$count(webhooks)) >= WEBHOOKS_MAX)
    throw conflict(`a store has at most ${WEBHOOKS_MAX} webhooks: remove one first`, { maximum: WEBHOOKS_MAX })
  const [id, secret] = [clock.id(), newSecret()]
  const row: WebhookRow = {
    ...{ id, url: body.url, description: body.description ?? null, events: sorted(body.events), active: true },
    ...{ disabledReason: null, disabledAt: null, failures: 0, restUntil: null, lastDeliveredAt: null, createdAt: now, updatedAt: now },
    ...{ secret: sealSecret(services.secrets, ownerOf(call), id, secret), previousSecret: null, previousUntil: null },
  }
  await tx.insert(webhooks).values(row)
  return { ...webhookView(row, now), secret }
}

/** Turning one on begins anew; turning one off ends what waits. */
async function switched(tx: Db, { clock, now }: Pick<Call, 'clock' | 'now'>, { id, active }: WebhookRow, wanted: boolean | undefined) {
  if (wanted === undefined || wanted === active) return {}
  if (!wanted) await enqueue(tx, { clock, now }, { kind: DELIVER_WEBHOOK, subject: id, dueAt: now })
  // What waited when it was turned off has ended, also where the job has not come to it yet.
  else while (await endSome(tx, id));
  return { active: wanted, disabledReason: null, disabledAt: wanted ? null : now, failures: 0, restUntil: null }
}

export const webhookRoutes = resource('store', '/webhooks')
  .get(
    '',
    {
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: `All of them: a store has at most ${WEBHOOKS_MAX}.`,
      scope: ADMIN,
      responses: { 200: Counted(Webhook) },
    },
    async ({ db, now }) => {
      const rows = await db.select().from(webhooks).orderBy(asc(webhooks.id)).limit(WEBHOOKS_MAX)
      return { data: rows.map((row) => webhookView(row, now)), meta: { count: rows.length } }
    },
  )
  .post(
    '',
    {
      operationId: 'createWebhook',
      summary: 'Add a webhook',
      description: `The answer shows \`secret\`, this once. The key needs the scopes, too, with which what the events tell is read. A store has at most ${WEBHOOKS_MAX}, and as many of its sandbox, which get the events of the sandbox.`,
      scope: ADMIN,
      body: WebhookInput,
      responses: { 201: NewWebhook },
    },
    (call) => {
      requireReading(call, call.body.events)
      requireAddress(call, call.body.url)
      return call.write((tx) => insert(tx, call))
    },
  )
  .get(
    '/{id}',
    { operationId: 'getWebhook', summary: 'Read a webhook', scope: ADMIN, responses: { 200: Webhook } },
    async ({ db, params, now }) => webhookView(await findWebhook(db, params.id), now),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description:
        'Deliveries that wait go to the new address. One that is turned off gets nothing of what happens meanwhile. The key needs the scopes of its events, of those before and of the new ones.',
      scope: ADMIN,
      body: WebhookPatch,
      responses: { 200: Webhook },
    },
    (call) => {
      const { body, now } = call
      return call.write(async (tx) => {
        const row = await ownWebhook(tx, call)
        const wanted = body.events === undefined ? (row.events as EventType[]) : sorted(body.events)
        requireReading(call, wanted)
        requireAddress(call, body.url)
        // What waits goes to the new address, also of events that it does not get any more.
        if (body.url !== undefined && body.url !== row.url) requireReading(call, await waitingEvents(tx, row.id))
        const next = {
          ...row,
          ...(body.url === undefined ? {} : { url: body.url }),
          events: wanted,
          ...(body.description === undefined ? {} : { description: body.description }),
          ...(await switched(tx, call, row, body.active)),
          updatedAt: now,
        }
        // At another address nobody has failed yet.
        if (next.url !== row.url) Object.assign(next, { failures: 0, restUntil: null })
        await tx.update(webhooks).set(next).where(eq(webhooks.id, row.id))
        if (row.restUntil !== null && next.restUntil === null)
          await enqueue(tx, call, { kind: DELIVER_WEBHOOK, subject: row.id, dueAt: now })
        return webhookView(next, now)
      })
    },
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteWebhook',
      summary: 'Remove a webhook',
      description: 'Its deliveries go with it, also those that wait.',
      scope: ADMIN,
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await findWebhook(tx, params.id)
        await deleteInTurns(tx, webhookDeliveries, eq(webhookDeliveries.webhookId, id))
        await tx.delete(webhooks).where(eq(webhooks.id, id))
        return deleted
      }),
  )
  .post(
    '/{id}/rotate',
    {
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook',
      description:
        'The answer shows the new `secret`, this once. For 24 hours deliveries have two signatures, also one with the secret before; after a second call meanwhile, the one before that signs nothing any more. The key needs the scopes, too, with which what its events tell is read.',
      scope: ADMIN,
      responses: { 200: NewWebhook },
    },
    (call) =>
      call.write(async (tx) => {
        const { services, now } = call
        const row = await ownWebhook(tx, call)
        const secret = newSecret()
        const next = {
          ...row,
          secret: sealSecret(services.secrets, ownerOf(call), row.id, secret),
          previousSecret: row.secret,
          previousUntil: later(now, ROTATION_MS),
          updatedAt: now,
        }
        await tx.update(webhooks).set(next).where(eq(webhooks.id, row.id))
        return { ...webhookView(next, now), secret }
      }),
  )
  .post(
    '/{id}/test',
    {
      operationId: 'testWebhook',
      summary: 'Send a webhook a test',
      description:
        'A delivery of the event `webhook.test`, whatever it asked for; what came of it stands in its deliveries. 409 for one that is off. The key needs the scopes of its events.',
      scope: ADMIN,
      responses: { 202: Delivery },
    },
    (call) =>
      call.write(async (tx) => {
        const row = await ownWebhook(tx, call)
        if (!row.active) throw conflict('the webhook is off: PATCH it with {"active": true} first')
        return deliveryView(await findDelivery(tx, row.id, await deliverTest(tx, call, row.id)))
      }),
  )
  .get(
    '/{id}/deliveries',
    {
      operationId: 'listWebhookDeliveries',
      summary: 'List deliveries, newest first',
      description: 'What a webhook got, or will get. They are forgotten after a week.',
      scope: ADMIN,
      query: {
        limit: Paging(50).limit,
        cursor: Type.Optional(Text(1, 20, { pattern: '^[0-9]{1,15}$', description: '`nextCursor` of the page before' })),
        status: Type.Optional(OneOf(STATUSES)),
      },
      responses: {
        200: Type.Object({ data: Type.Array(Delivery), nextCursor: Nullable(Type.String(), { description: 'Null at the end' }) }),
      },
    },
    async ({ db, params, session, query: { limit, cursor, status } }) => {
      const { id } = await findWebhook(db, params.id)
      const { webhookId, seq } = webhookDeliveries
      const before = cursor === undefined ? undefined : lt(seq, Number(cursor))
      const newest = (one: (typeof STATUSES)[number]) =>
        db
          .select()
          .from(webhookDeliveries)
          .where(and(eq(webhookId, id), eq(webhookDeliveries.status, one), before))
          .orderBy(desc(seq))
          .limit(limit + 1)
      // The index has them by their status: the newest of all are among the newest of each.
      const each = await Promise.all((status === undefined ? STATUSES : [status]).map(newest))
      const rows = each.flat().toSorted((a, b) => b.seq - a.seq)
      const page = rows.slice(0, limit)
      return { data: page.map((row) => seenBy(session, row)), nextCursor: rows.length > limit ? String(page.at(-1)!.seq) : null }
    },
  )
  .get(
    '/{id}/deliveries/{deliveryId}',
    { operationId: 'getWebhookDelivery', summary: 'Read a delivery', scope: ADMIN, responses: { 200: WholeDelivery } },
    async ({ db, params, session }) => {
      const { body, ...row } = await findDelivery(db, (await findWebhook(db, params.id)).id, params.deliveryId)
      requireReading({ session }, [row.event])
      return { ...deliveryView(row), payload: body === null ? null : JSON.parse(body) }
    },
  )
  .post(
    '/{id}/deliveries/{deliveryId}/redeliver',
    {
      operationId: 'redeliverWebhook',
      summary: 'Deliver an event again',
      description:
        "With the same `webhook-id` and body, whatever came of it before. 409 for a webhook that is off, and once the body is forgotten. The key needs the scopes of the webhook's events, and of this one.",
      scope: ADMIN,
      responses: { 202: Delivery },
    },
    (call) =>
      call.write(async (tx) => {
        const { params, now } = call
        const row = await ownWebhook(tx, call)
        const { body, ...found } = await findDelivery(tx, row.id, params.deliveryId)
        requireReading(call, [found.event])
        if (!row.active) throw conflict('the webhook is off: PATCH it with {"active": true} first')
        if (body === null) throw conflict('the body of this event is forgotten')
        const again = { status: 'pending' as const, tries: 0, firstTryAt: null, dueAt: now }
        await tx.update(webhookDeliveries).set(again).where(eq(webhookDeliveries.id, found.id))
        await enqueue(tx, call, { kind: DELIVER_WEBHOOK, subject: row.id, dueAt: now })
        return deliveryView({ ...found, ...again })
      }),
  )
