/** Tickets (document 2): what a buyer sees of an order's seats, and a guest of one of them. */
import { asc, eq } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../db/driver.ts'
import { products } from '../../db/store/catalog.ts'
import { media } from '../../db/store/content.ts'
import { seats } from '../../db/store/events.ts'
import { orders } from '../../db/store/orders.ts'
import { eventFieldsOf, productsByIds } from '../catalog/read.ts'
import type { Call } from '../http/route.ts'
import { Named, Nullable, Type, Uuid } from '../http/schema.ts'
import type { Secrets } from '../outside/secrets.ts'
import { Teller } from '../store/outbox.ts'
import type { Moment } from '../values/clock.ts'
import { conflict, missing } from '../values/refusal.ts'
import { findBought } from './access.ts'
import { hashOf, tokenOf } from './seat.ts'

const Product = Type.Object({ id: Uuid(), name: Type.String(), slug: Type.String(), image: Nullable(Type.String()) })
const When = Type.Object({
  startsAt: Nullable(Type.String()),
  location: Nullable(Type.String()),
  guestLabel: Nullable(Type.String()),
  guest: Nullable(Type.String()),
})
const Token = Nullable(Type.String(), { description: 'Null when it was sealed with another key' })

/** What a buyer sees. */
export const Tickets = Named('Tickets', {
  code: Type.String(),
  order: Type.Object({
    id: Uuid(),
    lookup: Type.Integer(),
    createdAt: Type.String(),
    status: Type.String(),
    currency: Type.String(),
    totalGross: Type.Integer(),
  }),
  buyerEmail: Type.String(),
  lines: Type.Array(
    Type.Object({
      lineItemId: Uuid(),
      product: Product,
      event: When,
      seats: Type.Array(Type.Object({ token: Token, name: Nullable(Type.String()), email: Nullable(Type.String()) })),
    }),
  ),
})
/** What webhooks get of a seat that is checked in: no token, which would open the ticket. */
const CheckedIn = Named('CheckInEvent', {
  orderId: Uuid(),
  orderStatus: Type.String(),
  productId: Uuid(),
  event: Type.Object({ name: Type.String(), slug: Type.String() }),
  name: Nullable(Type.String()),
  email: Type.String(),
  checkedInAt: Nullable(Type.String()),
  checkedInBy: Nullable(Type.String()),
})
export const ticketTold = new Teller('events', ['ticket.checked_in'], CheckedIn)
/** What a guest sees. */
export const AttendeeTicket = Named('AttendeeTicket', {
  token: Token,
  attendee: Type.Object({
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    bio: Nullable(Type.String()),
    socialProfileUrl: Nullable(Type.String()),
    listed: Type.Boolean(),
    photoUrl: Nullable(Type.String()),
  }),
  product: Type.Object({ name: Type.String(), slug: Type.String(), image: Nullable(Type.String()) }),
  event: When,
  orderStatus: Type.String(),
})

const seatsOfOrder = compile((db) =>
  db
    .select()
    .from(seats)
    .where(eq(seats.orderId, named('orderId')))
    .orderBy(asc(seats.lineId), asc(seats.position)),
)
const seatByHash = compile((db) =>
  db
    .select({ seat: seats, status: orders.status, buyer: orders.name, photoType: media.type })
    .from(seats)
    .innerJoin(orders, eq(orders.id, seats.orderId))
    .leftJoin(media, eq(media.id, seats.photoId))
    .where(eq(seats.tokenHash, named('hash'))),
)

/** 409 for what belongs to an order that is over. */
export function requireActive(status: string) {
  if (status === 'cancelled' || status === 'refunded') throw conflict(`the order is ${status}`, { status })
}

/** The order of an access code and its seats. */
export async function findSeats(db: Reader, { guesses, params: { code } }: Call<unknown, unknown, { code: string }>, email: string) {
  const rowsOf = (orderId: string) => seatsOfOrder.all(db, { orderId })
  const { order, rows } = await findBought(db, guesses, { code, email, what: 'ticket', rowsOf })
  return { order, seats: rows.filter(({ state }) => state !== 'void') }
}
type Bought = Awaited<ReturnType<typeof findSeats>>

/** What tickets show of their products. */
async function eventsOf(db: Reader, seen: readonly string[]) {
  const ids = [...new Set(seen)]
  const fields = await eventFieldsOf(db, ids)
  const rows = await productsByIds(db, ids)
  return new Map(
    rows.map(({ id, name, slug, images }) => [id, { product: { id, name, slug, image: images[0] ?? null }, event: fields.get(id)! }]),
  )
}

/** What the buyer of an order sees of it. */
export async function bundleOf(db: Reader, secrets: Secrets, code: string, { order: { email, name: _, ...order }, seats: all }: Bought) {
  const shown = await eventsOf(
    db,
    all.map(({ productId }) => productId),
  )
  const lines = [...Map.groupBy(all, ({ lineId }) => lineId)].flatMap(([lineItemId, own]) => {
    const about = shown.get(own[0]!.productId)
    const seen = own.map((seat) => ({ token: tokenOf(secrets, seat), name: seat.name, email: seat.email }))
    return about ? [{ lineItemId, ...about, seats: seen }] : []
  })
  return { code, order, buyerEmail: email, lines }
}

/** A seat by its token, with the status of its order; 404 for an unknown token, and for one that was given back. */
export async function findSeat(db: Reader, { params: { token } }: Call<unknown, unknown, { token: string }>) {
  const found = await seatByHash.get(db, { hash: hashOf(token) })
  if (!found) throw missing('ticket')
  return found
}

type Found = Awaited<ReturnType<typeof findSeat>>

/** A seat that may be changed: 409 once its order is over. */
export async function findActiveSeat(db: Reader, call: Call<unknown, unknown, { token: string }>) {
  const found = await findSeat(db, call)
  requireActive(found.status)
  if (found.seat.state === 'void') throw missing('ticket')
  return found
}

/** What a guest sees of a seat and its photo. */
export async function ticketOf(db: Reader, secrets: Secrets, { seat, status }: Pick<Found, 'seat' | 'status'>, photoUrl: string | null) {
  const about = (await eventsOf(db, [seat.productId])).get(seat.productId)
  if (!about || seat.state === 'void') throw missing('ticket')
  const { name, email, bio, socialProfileUrl, listed } = seat
  const { id: _, ...product } = about.product
  return {
    token: tokenOf(secrets, seat),
    attendee: { name, email, bio, socialProfileUrl, listed, photoUrl },
    product,
    event: about.event,
    orderStatus: status,
  }
}

/** Tells that a guest has come. */
export const tellCheckIn = (
  tx: Db,
  moment: Moment,
  { id, orderId, productId }: Pick<typeof seats.$inferSelect, 'id' | 'orderId' | 'productId'>,
) =>
  ticketTold.tell(tx, moment, 'ticket.checked_in', {
    about: id,
    payload: { productId, seatId: id, orderId },
    async show() {
      const [row] = await tx
        .select({
          ...{
            orderId: seats.orderId,
            orderStatus: orders.status,
            productId: seats.productId,
            event: { name: products.name, slug: products.slug },
          },
          ...{ name: seats.name, buyer: orders.name, email: seats.email, buyerEmail: seats.buyerEmail },
          ...{ checkedInAt: seats.checkedInAt, checkedInBy: seats.checkedInBy },
        })
        .from(seats)
        .innerJoin(orders, eq(orders.id, seats.orderId))
        .innerJoin(products, eq(products.id, seats.productId))
        .where(eq(seats.id, id))
      const { buyer, buyerEmail, ...seat } = row!
      return { ...seat, name: seat.name ?? buyer, email: seat.email ?? buyerEmail }
    },
  })
