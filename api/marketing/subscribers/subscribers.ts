/** Subscribers (document 3, Marketing and visitors): who wants newsletters, signed up by visitors or by the merchant. */
import { and, asc, desc, eq, gte, inArray, lt, lte } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Reader } from '../../../db/driver.ts'
import { SUBSCRIBER_STATUSES, subscribers } from '../../../db/store/newsletters.ts'
import { normalizeEmail } from '../../values/email.ts'
import { missing } from '../../values/refusal.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, deleted, Deleted, Email, Line, Named, Nullable, OneOf, Page, Paging, Type, Uuid } from '../../http/schema.ts'
import { markAt, remember } from './page-marks.ts'
import { forget, signUp } from './subscribing.ts'
import { countOf, type SubscriberStatus } from '../newsletters/tally.ts'

const Status = OneOf(SUBSCRIBER_STATUSES)
const own = {
  email: Type.String(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  source: Nullable(Type.String()),
  status: Status,
}
const Subscriber = Named('Subscriber', {
  id: Uuid(),
  ...own,
  subscribedAt: Nullable(Type.String(), { description: 'When they last became active' }),
  unsubscribedAt: Nullable(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const SignedUp = Named('SignedUp', {
  ...own,
  id: Type.Optional(Uuid({ description: 'For keys that may read subscribers, like the fields after it' })),
  subscribedAt: Type.Optional(Nullable(Type.String())),
  unsubscribedAt: Type.Optional(Nullable(Type.String())),
  createdAt: Type.Optional(Type.String()),
  updatedAt: Type.Optional(Type.String()),
})
const SubscriberInput = Body('SubscriberInput', [{ email: 'ada@example.com', name: 'Ada Lovelace', source: 'footer' }], {
  email: Email(),
  name: Type.Optional(Nullable(Line(0, 200))),
  source: Type.Optional(Nullable(Line(0, 100, { description: 'Where they signed up' }))),
})

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(subscribers).where(eq(subscribers.id, id))
  if (!row) throw missing('subscriber')
  return row
}

interface Listing {
  limit: number
  offset: number
  status?: SubscriberStatus
}

/** The subscribers whose addresses begin like this, newest first. */
async function search(db: Reader, { limit, offset, status }: Listing, beginning: string) {
  const where = and(
    gte(subscribers.email, beginning),
    lt(subscribers.email, `${beginning}\u{10ffff}`),
    status && eq(subscribers.status, status),
  )
  const far = aside(db, 'subscribers')
  const rows = await far.select().from(subscribers).where(where).orderBy(desc(subscribers.id)).limit(limit).offset(offset)
  return { data: rows, meta: { count: await far.$count(subscribers, where), offset, limit } }
}

/** A page of subscribers, newest first. Where it begins may be known; if not, what lies in the far half is counted off from its end. */
async function list(db: Reader, { limit, offset, status }: Listing) {
  const where = status && eq(subscribers.status, status)
  const { count, changes } = await countOf(db, status)
  const size = Math.max(0, Math.min(limit, count - offset))
  const mark = markAt(db, changes, status ?? 'all', offset)
  const fromEnd = !mark && offset > count / 2
  const after = mark && (mark.inclusive ? lte(subscribers.id, mark.id) : lt(subscribers.id, mark.id))
  const ids = db
    .select({ id: subscribers.id })
    .from(subscribers)
    .where(and(where, after))
    .orderBy(fromEnd ? asc(subscribers.id) : desc(subscribers.id))
    .limit(size)
    .offset(mark ? 0 : fromEnd ? Math.max(0, count - offset - size) : offset)
  const rows = size ? await db.select().from(subscribers).where(inArray(subscribers.id, ids)).orderBy(desc(subscribers.id)) : []
  const found = rows.map(({ id }) => id)
  remember(db, changes, status ?? 'all', offset, found)
  return { data: rows, meta: { count, offset, limit } }
}

/** Whether a key may know who is subscribed; to others a sign-up says the same, whoever is signed up. */
const mayKnow = ({ session: { scopes } }: Call) => scopes === null || scopes.has('marketing:read') || scopes.has('marketing:write')

export const subscriberRoutes = resource('marketing', '/subscribers')
  .get(
    '',
    {
      operationId: 'listSubscribers',
      summary: 'List subscribers',
      description: 'Newest first.',
      scope: 'marketing:read',
      query: {
        ...Paging(50),
        status: Type.Optional(Status),
        query: Type.Optional(Type.String({ maxLength: 254, description: 'How the email begins' })),
      },
      responses: { 200: Page(Subscriber) },
    },
    ({ db, query }) => (query.query === undefined ? list(db, query) : search(db, query, normalizeEmail(query.query))),
  )
  .post(
    '',
    {
      operationId: 'createSubscriber',
      summary: 'Sign up for newsletters',
      description:
        'The same 201 for an address that is there already: a key that may not read subscribers never learns who is. With double opt-in in the settings the address waits for the click in a mail; one that has unsubscribed always does.',
      scope: ['storefront:write', 'marketing:write'],
      unaudited: true,
      body: SubscriberInput,
      responses: { 201: SignedUp },
    },
    (call) => {
      call.countSubmission()
      return call.write(async (tx) => {
        const { body } = call
        const settings = await call.settings()
        const who = { email: normalizeEmail(body.email), name: body.name?.trim() || null, source: body.source?.trim() || null }
        const row = await signUp(tx, call, who, ownerOf(call), settings)
        if (mayKnow(call)) return row
        return { ...who, status: settings.email.doubleOptIn ? ('pending' as const) : ('active' as const) }
      })
    },
  )
  .get(
    '/{id}',
    { operationId: 'getSubscriber', summary: 'Read a subscriber', scope: 'marketing:read', responses: { 200: Subscriber } },
    ({ db, params }) => find(db, params.id),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteSubscriber',
      summary: 'Forget a subscriber',
      description: 'With that the store forgets, too, that the address had unsubscribed.',
      scope: 'marketing:write',
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        if (!(await forget(tx, params.id))) throw missing('subscriber')
        return deleted
      }),
  )
