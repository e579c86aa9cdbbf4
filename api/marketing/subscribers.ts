/** Subscribers (document 3, Marketing and visitors): who wants newsletters, signed up by visitors or by the merchant. */
import { and, asc, desc, eq, gte, inArray, lt, type SQL } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { SUBSCRIBER_STATUSES, subscribers } from '../../db/store/newsletters.ts'
import { normalizeEmail } from '../email.ts'
import { missing } from '../http/refusal.ts'
import { resource, type Call, type Wake } from '../http/route.ts'
import { deleted, Deleted, Email, Line, Nullable, OneOf, Page, Paging, Type, Uuid } from '../http/schema.ts'
import { forget, signUp, type SubscriberRow } from './subscribing.ts'
import { countOf, type SubscriberStatus } from './tally.ts'

const Status = OneOf(SUBSCRIBER_STATUSES)
const own = { email: Type.String(), name: Nullable(Type.String()), source: Nullable(Type.String()), status: Status }
const Subscriber = Type.Object(
  {
    id: Uuid(),
    ...own,
    subscribedAt: Nullable(Type.String(), { description: 'When they last became active' }),
    unsubscribedAt: Nullable(Type.String()),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { $id: 'Subscriber' },
)
const SignedUp = Type.Object(
  {
    ...own,
    id: Type.Optional(Uuid({ description: 'For keys that may read subscribers, like the fields after it' })),
    subscribedAt: Type.Optional(Nullable(Type.String())),
    unsubscribedAt: Type.Optional(Nullable(Type.String())),
    createdAt: Type.Optional(Type.String()),
    updatedAt: Type.Optional(Type.String()),
  },
  { $id: 'SignedUp' },
)
const SubscriberInput = Type.Object(
  {
    email: Email(),
    name: Type.Optional(Nullable(Line(0, 200))),
    source: Type.Optional(Nullable(Line(0, 100, { description: 'Where they signed up' }))),
  },
  { examples: [{ email: 'ada@example.com', name: 'Ada Lovelace', source: 'footer' }] },
)

const view = ({ token: _, askedAt: __, ...row }: SubscriberRow) => row

async function find(db: Db, id: string) {
  const [row] = await db.select().from(subscribers).where(eq(subscribers.id, id.toLowerCase()))
  if (!row) throw missing('subscriber')
  return row
}

interface Listing {
  limit: number
  offset: number
  status?: SubscriberStatus
  query?: string
}

/** A page of subscribers, newest first. What lies in the far half is counted off from its end. */
async function list(db: Db, { limit, offset, status, query }: Listing) {
  const from = query === undefined ? undefined : normalizeEmail(query)
  const filters: (SQL | undefined)[] = [
    status && eq(subscribers.status, status),
    from === undefined ? undefined : and(gte(subscribers.email, from), lt(subscribers.email, `${from}\u{10ffff}`)),
  ]
  const where = and(...filters)
  const count = from === undefined ? await countOf(db, status) : await db.$count(subscribers, where)
  const size = Math.max(0, Math.min(limit, count - offset))
  const fromEnd = offset > count / 2
  const ids = db
    .select({ id: subscribers.id })
    .from(subscribers)
    .where(where)
    .orderBy(fromEnd ? asc(subscribers.id) : desc(subscribers.id))
    .limit(size)
    .offset(fromEnd ? Math.max(0, count - offset - size) : offset)
  const rows = size ? await db.select().from(subscribers).where(inArray(subscribers.id, ids)).orderBy(desc(subscribers.id)) : []
  return { data: rows.map(view), meta: { count, offset, limit } }
}

/** Whether a key may know who is subscribed; to others a sign-up says the same, whoever is signed up. */
const mayKnow = ({ session: { scopes } }: Call<never, never>) =>
  scopes === null || scopes.has('marketing:read') || scopes.has('marketing:write')

/** `wake`: says that there is a mail to be sent. */
export const subscriberRoutes = ({ wake }: { wake?: Wake }) =>
  resource('marketing', '/subscribers')
    .get(
      '',
      {
        op: 'listSubscribers',
        summary: 'List subscribers',
        description: 'Newest first.',
        scope: 'marketing:read',
        query: {
          ...Paging(50),
          status: Type.Optional(Status),
          query: Type.Optional(Type.String({ maxLength: 254, description: 'How the email begins' })),
        },
        answers: { 200: Page(Subscriber) },
      },
      ({ db, query }) => list(db, query),
    )
    .post(
      '',
      {
        op: 'createSubscriber',
        summary: 'Sign up for newsletters',
        description:
          'The same 201 for an address that is there already: a key that may not read subscribers never learns who is. With double opt-in in the settings the address waits for the click in a mail; one that has unsubscribed always does.',
        scope: ['storefront:write', 'marketing:write'],
        unaudited: true,
        body: SubscriberInput,
        answers: { 201: SignedUp },
      },
      (call) =>
        call.write(async (tx) => {
          const { body, session } = call
          const settings = await call.settings()
          const who = { email: normalizeEmail(body.email), name: body.name?.trim() || null, source: body.source?.trim() || null }
          call.after(async () => wake?.(session.store.id, session.environment))
          const row = await signUp(tx, call, who, { storeId: session.store.id, environment: session.environment }, settings)
          if (mayKnow(call as never)) return view(row)
          return { ...who, status: settings.email.doubleOptIn ? ('pending' as const) : ('active' as const) }
        }),
    )
    .get(
      '/{id}',
      { op: 'getSubscriber', summary: 'Read a subscriber', scope: 'marketing:read', answers: { 200: Subscriber }, refuses: [404] },
      async ({ db, params }) => view(await find(db, params.id!)),
    )
    .delete(
      '/{id}',
      {
        op: 'deleteSubscriber',
        summary: 'Forget a subscriber',
        description: 'With that the store forgets, too, that the address had unsubscribed.',
        scope: 'marketing:write',
        answers: { 200: Deleted },
        refuses: [404],
      },
      ({ params, write }) =>
        write(async (tx) => {
          if (!(await forget(tx, params.id!.toLowerCase()))) throw missing('subscriber')
          return deleted
        }),
    )
