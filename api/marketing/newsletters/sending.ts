/** Sending newsletters (documents 1 and 3): now or at a time, taken back, tried again, and what became of each delivery. */
import { and, asc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { DELIVERY_STATUSES, newsletterDeliveries, newsletters, subscribers } from '../../../db/store/newsletters.ts'
import { conflict, wrong } from '../../values/refusal.ts'
import { resource, type Call, type Params } from '../../http/route.ts'
import { Body, Instant, Named, Nullable, OneOf, Page, Paging, Type, Uuid } from '../../http/schema.ts'
import { enqueue, withdraw } from '../../jobs/queue.ts'
import { utc } from '../../values/time.ts'
import { reach, type Reach } from './audience.ts'
import { begin, DELIVER, redraft, requireSendable } from './launch.ts'
import { findNewsletter, Newsletter } from './newsletter.ts'

const Sending = Named('NewsletterSending', { success: Type.Literal(true), recipientCount: Type.Integer(), message: Type.String() })
const Delivery = Named('NewsletterDelivery', {
  subscriberId: Uuid(),
  email: Nullable(Type.String(), { description: 'Null once the subscriber is deleted' }),
  status: OneOf(DELIVERY_STATUSES, {
    description:
      '`unknown`: nobody can tell whether it arrived; `refused`: by the mail server; `skipped`: no longer active when their turn came',
  }),
  error: Nullable(Type.String(), { examples: [null] }),
  updatedAt: Type.String(),
})
const People = (count: number) => `${count} ${count === 1 ? 'subscriber' : 'subscribers'}`

const back = { scope: 'marketing:write', responses: { 200: Newsletter } }

/** Makes a newsletter that is in one status, and in no other, a draft again. */
const redraftFrom = (
  from: 'scheduled' | 'failed',
  { params, now, write }: Pick<Call<unknown, unknown, Params<'/{id}'>>, 'params' | 'now' | 'write'>,
) =>
  write(async (tx) => {
    const row = await findNewsletter(tx, params.id)
    const { status } = row
    if (status !== from) throw conflict(`the newsletter is ${status}: this is for ${from} ones`, { status })
    await withdraw(tx, DELIVER, row.id)
    return redraft(tx, row, now)
  })

export const newsletterSendingRoutes = resource('marketing', '/newsletters')
  .post(
    '/{id}/send',
    {
      operationId: 'sendNewsletter',
      summary: 'Send a newsletter',
      description:
        'In the background; at `scheduledAt` when that is given. Needs, in this order: a verified email domain with outbound mail turned on, an address of the store, somebody to send to (400), and enough of the monthly quota (403). A scheduled one is checked again at its time.',
      scope: 'marketing:write',
      // A misspelt schedule would send it at once, and nobody can take that back.
      body: Body(
        'SendNewsletterInput',
        [{}],
        { scheduledAt: Type.Optional(Nullable(Instant({ description: 'In the future' }))) },
        { additionalProperties: false },
      ),
      bodyOptional: true,
      responses: { 202: Sending },
      async prepare({ db, params, now }): Promise<Reach | null> {
        // One that is gone is refused where an answer that is repeated has been looked for.
        const [row] = await db.select().from(newsletters).where(eq(newsletters.id, params.id))
        return row?.status === 'draft' ? reach({ read: db }, { newsletterId: row.id, audience: row.audience, now }) : null
      },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, params, now, session } = call
        const newsletter = await findNewsletter(tx, params.id)
        const scheduledAt = utc(body?.scheduledAt) ?? null
        if (scheduledAt !== null && scheduledAt <= now) throw wrong('scheduledAt', 'must be in the future')
        const reached = call.prepared as Reach | null
        if (newsletter.status !== 'draft' || !reached) {
          const { status } = newsletter
          throw conflict(`only drafts can be sent: the newsletter is ${status}`, { status })
        }
        const launch = { newsletter, settings: await call.settings(), plan: session.store.plan, reached, now }
        if (scheduledAt === null) await begin(tx, launch)
        else {
          await requireSendable(tx, { ...launch, now: scheduledAt })
          await tx.update(newsletters).set({ status: 'scheduled', scheduledAt, updatedAt: now }).where(eq(newsletters.id, newsletter.id))
        }
        await enqueue(tx, call, { kind: DELIVER, subject: newsletter.id, dueAt: scheduledAt ?? now })
        const to = People(reached.recipients)
        const message =
          scheduledAt === null ? `the newsletter is being sent to ${to}` : `the newsletter will be sent to ${to} at ${scheduledAt}`
        return { success: true as const, recipientCount: reached.recipients, message }
      }),
  )
  .post(
    '/{id}/cancel',
    {
      operationId: 'cancelNewsletter',
      summary: 'Take back a scheduled newsletter',
      description: 'It is a draft again.',
      ...back,
    },
    (call) => redraftFrom('scheduled', call),
  )
  .post(
    '/{id}/retry',
    {
      operationId: 'retryNewsletter',
      summary: 'Make a failed newsletter a draft again',
      description: 'It can be changed and sent again; who has got it already is left out then.',
      ...back,
    },
    (call) => redraftFrom('failed', call),
  )
  .get(
    '/{id}/deliveries',
    {
      operationId: 'listNewsletterDeliveries',
      summary: 'What became of each delivery',
      scope: 'marketing:read',
      query: { ...Paging(50), status: Type.Optional(OneOf(DELIVERY_STATUSES)) },
      responses: { 200: Page(Delivery) },
    },
    async ({ db, params, query: { limit, offset, status } }) => {
      const { id } = await findNewsletter(db, params.id)
      const { newsletterId, subscriberId, error, updatedAt, status: own } = newsletterDeliveries
      const where = and(eq(newsletterId, id), status && eq(own, status))
      const far = aside(db, 'newsletter_deliveries')
      const data = await far
        .select({ subscriberId, email: subscribers.email, status: own, error, updatedAt })
        .from(newsletterDeliveries)
        .leftJoin(subscribers, eq(subscribers.id, subscriberId))
        .where(where)
        .orderBy(asc(subscriberId))
        .limit(limit)
        .offset(offset)
      return { data, meta: { count: await far.$count(newsletterDeliveries, where), offset, limit } }
    },
  )
