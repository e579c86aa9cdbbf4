/** Who comes to an event (document 2): its buyers, the seats as they are checked in, and the guests who want to be found. */
import { and, asc, desc, eq, or, sql, type SQL } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import type { Reader } from '../../db/driver.ts'
import { media } from '../../db/store/content.ts'
import { seats } from '../../db/store/events.ts'
import { orders } from '../../db/store/orders.ts'
import { Reply, resource } from '../http/route.ts'
import { Named, Nullable, Type } from '../http/schema.ts'
import type { Secrets } from '../outside/secrets.ts'
import { contains } from '../values/compared.ts'
import { normalizeEmail } from '../values/email.ts'
import { fold } from '../values/slug.ts'
import { everyone, findEvent, PRIVATE } from './event.ts'
import { photoUrlOf } from './photo.ts'
import { tokenOf } from './seat.ts'

/** More than any event here has: a list without `limit` is whole. */
const ALL = 1_000_000
/** Tokens that are opened in one turn of the event loop: about 5 µs each. */
const OPENED_AT_ONCE = 500
const DIRECTORY_MAX = 1_000
/** Seats that are read in a millisecond or two. */
const PAGE_MAX = 200

const page = (maximum: number, description: string) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum, description })),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'How many to skip' }),
})

const Attendees = Named('Attendees', {
  attendees: Type.Array(Type.Object({ name: Nullable(Type.String()), email: Type.String(), quantity: Type.Integer() })),
  totalTickets: Type.Integer(),
})
const CheckIns = Named('CheckIns', {
  event: Type.Object({ name: Type.String(), slug: Type.String() }),
  total: Type.Integer({ description: 'Seats, whatever was asked for' }),
  checkedIn: Type.Integer(),
  attendees: Type.Array(
    Type.Object({
      token: Nullable(Type.String(), { description: 'Null when it was sealed with another key' }),
      name: Nullable(Type.String()),
      email: Type.String(),
      orderStatus: Type.String(),
      checkedInAt: Nullable(Type.String()),
      checkedInBy: Nullable(Type.String()),
    }),
  ),
})
const Directory = Named('EventDirectory', {
  attendees: Type.Array(
    Type.Object({
      name: Nullable(Type.String()),
      bio: Nullable(Type.String()),
      socialProfileUrl: Type.String(),
      photoUrl: Nullable(Type.String()),
    }),
  ),
})

interface Asked {
  limit?: number
  offset: number
  query?: string
}

/** A page is read here; what is long, or searched through, beside the event loop where there are many seats. */
const placeFor = (db: Reader, { limit = ALL, query }: Asked) => (limit > PAGE_MAX || query ? aside(db, 'seats') : db)

/** Those who bought seats that are paid, each once, with how many. */
async function buyersOf(db: Reader, productId: string, { limit = ALL, offset }: Asked) {
  const paid = and(eq(seats.productId, productId), sql`${seats.state} = 'valid'`)
  // What is skipped is only looked at in its index.
  const page = db
    .selectDistinct({ email: seats.buyerEmail })
    .from(seats)
    .where(paid)
    .orderBy(asc(seats.buyerEmail))
    .limit(limit)
    .offset(offset)
    .as('page')
  const own = sql`from ${seats} s where s.product_id = ${productId} and s.buyer_email = ${page.email} and s.state = 'valid'`
  return db
    .select({ name: orders.name, email: page.email, quantity: sql<number>`(select count(*) ${own})` })
    .from(page)
    .innerJoin(orders, eq(orders.id, sql`(select max(s.order_id) ${own})`))
    .orderBy(asc(page.email))
}

/** Some seats of an event by a condition: what is skipped is only looked at in its index. */
const pageOf = (db: Reader, where: SQL | undefined, order: SQL[], { limit, offset }: { limit: number; offset: number }) =>
  db
    .select({ id: seats.id })
    .from(seats)
    .where(where)
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
    .as('page')

const standing = (productId: string) => and(eq(seats.productId, productId), sql`${seats.state} <> 'void'`)

/** The seats of an event, those that were checked in last first, with their tokens. */
async function rosterOf(db: Reader, secrets: Secrets, productId: string, { limit = ALL, offset, query }: Asked) {
  const folded = fold(query?.trim() ?? '')
  const part = folded && contains(folded)
  const address = contains(normalizeEmail(query ?? ''))
  const searched =
    part &&
    or(
      sql`${seats.foldedName} like ${part} escape '\\'`,
      sql`${seats.email} like ${address} escape '\\'`,
      sql`${seats.buyerEmail} like ${address} escape '\\'`,
    )
  const order = [desc(seats.checkedInAt), asc(seats.foldedName), asc(seats.id)]
  const page = pageOf(db, and(standing(productId), searched || undefined), order, { limit, offset })
  const rows = await db
    .select({
      ...{ id: seats.id, token: seats.token, name: seats.name, email: seats.email, buyer: orders.name, buyerEmail: seats.buyerEmail },
      ...{ orderStatus: orders.status, checkedInAt: seats.checkedInAt, checkedInBy: seats.checkedInBy },
    })
    .from(page)
    .crossJoin(seats)
    .innerJoin(orders, eq(orders.id, seats.orderId))
    .where(eq(seats.id, page.id))
    .orderBy(...order)
  const attendees = []
  for (const [i, { id, token, buyer, buyerEmail, ...seat }] of rows.entries()) {
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await new Promise(setImmediate)
    attendees.push({ ...seat, token: tokenOf(secrets, { id, token }), name: seat.name ?? buyer, email: seat.email ?? buyerEmail })
  }
  return attendees
}

export const attendeeRoutes = resource('events', '/events/{idOrSlug}')
  .get(
    '/attendees',
    {
      operationId: 'listAttendees',
      summary: 'List those who bought seats',
      description: 'Of orders that are paid, each buyer once. Without `limit` all of them.',
      scope: 'events:read',
      tool: 'events',
      query: page(1_000, 'How many buyers'),
      responses: { 200: Attendees },
    },
    async ({ db, params, query }) => {
      const { event } = await findEvent(db, params.idOrSlug, everyone)
      return new Reply(200, { attendees: await buyersOf(placeFor(db, query), event.productId, query), totalTickets: event.sold }, PRIVATE)
    },
  )
  .get(
    '/checkins',
    {
      operationId: 'listCheckIns',
      summary: 'List all seats for the door',
      description: 'Those that were checked in last first, then by name; also unpaid and unlisted ones. Without `limit` all of them.',
      scope: 'events:read',
      tool: 'events',
      query: {
        ...page(1_000, 'How many seats'),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of a name or an address' })),
      },
      responses: { 200: CheckIns },
    },
    async ({ db, params, query, services }) => {
      const { event, product } = await findEvent(db, params.idOrSlug, everyone)
      const id = event.productId
      const [counted] = await db
        .select({ total: sql<number>`count(*)`, checkedIn: sql<number>`count(${seats.checkedInAt})` })
        .from(seats)
        .where(standing(id))
      const attendees = await rosterOf(placeFor(db, query), services.secrets, id, query)
      return new Reply(200, { event: { name: product.name, slug: product.slug }, ...counted!, attendees }, PRIVATE)
    },
  )
  .get(
    '/directory',
    {
      operationId: 'getEventDirectory',
      summary: 'List the guests who want to be found',
      description: 'Of orders that are paid, those who gave a profile and opted in. No address is ever shown.',
      scope: ['storefront:read', 'events:read'],
      tool: 'events',
      query: page(DIRECTORY_MAX, `How many guests; ${DIRECTORY_MAX} when left out`),
      responses: { 200: Directory },
    },
    async (call) => {
      const { limit = DIRECTORY_MAX, offset } = call.query
      const { db, params, storefront } = call
      const { event } = await findEvent(db, params.idOrSlug, { lang: null, storefront })
      const order = [asc(seats.foldedName), asc(seats.id)]
      const listed = and(eq(seats.productId, event.productId), sql`${seats.state} = 'valid' and ${seats.listed} = 1`)
      const page = pageOf(db, listed, order, { limit, offset })
      const rows = await db
        .select({
          name: seats.name,
          bio: seats.bio,
          socialProfileUrl: sql<string>`${seats.socialProfileUrl}`,
          photoId: seats.photoId,
          photoType: media.type,
        })
        .from(page)
        .crossJoin(seats)
        .leftJoin(media, eq(media.id, seats.photoId))
        .where(eq(seats.id, page.id))
        .orderBy(...order)
      return { attendees: rows.map((row) => ({ ...row, photoUrl: photoUrlOf(call, row) })) }
    },
  )
