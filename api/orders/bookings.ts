/** Bookings (document 2): the lines of orders that hold places in a slot; confirmed or declined by the store, cancelled by buyers. */
import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { bookings, bookingSlots } from '../../db/store/events.ts'
import { ORDER_STATUSES, orders } from '../../db/store/orders.ts'
import { findBought } from '../events/access.ts'
import { everyone } from '../events/event.ts'
import { Booking, bookingColumns as columns, shownBooking as shown } from '../events/booking.ts'
import { effective, findSlot, freePlaces } from '../events/slot.ts'
import { resource, type Call } from '../http/route.ts'
import { Body, Cents, Named, Nullable, OneOf, Paging, Text, Type, Uuid } from '../http/schema.ts'
import { conflict, missing } from '../values/refusal.ts'
import { actingOf, cancel } from './change.ts'
import { findOrder, readLines } from './order.ts'
import { askForRefund, giveUpIntents } from './payments/provider.ts'
import { refund, type RefundRow } from './payments/refund.ts'

const HOUR_MS = 3_600_000
const LIST_MAX = 1_000

const Bookings = Named('Bookings', {
  data: Type.Array(Booking),
  meta: Type.Object({
    count: Type.Integer(),
    bookedCount: Type.Integer(),
    maxCapacity: Type.Integer(),
    offset: Type.Integer(),
    limit: Type.Integer(),
  }),
})
const Returned = Nullable(
  Named('BookingRefund', { id: Uuid(), amountCents: Cents(), currency: Type.String(), status: OneOf(['pending', 'succeeded', 'failed']) }),
  { description: 'Null when nothing had been paid' },
)
const DeclineInput = Body('DeclineBookingInput', [{ reason: 'The chair is being repaired' }], {
  reason: Type.Optional(Nullable(Text(0, 500))),
})
const CancelInput = Body(
  'CancelBookingInput',
  [{ code: 'Vq3nK8sT1xYw5ZbR7cUe2g', email: 'ada@example.com', lineId: '01985d2c-7c00-7b42-8d1f-0242ac120002' }],
  {
    code: Text(1, 200, { description: 'The access code of the order' }),
    email: Text(1, 254, { description: 'The one that bought it' }),
    lineId: Uuid(),
  },
)
const Ended = (name: string) => Named(name, { orderId: Uuid(), lineId: Uuid(), status: OneOf(ORDER_STATUSES), refund: Returned })

/** The booking that an order holds in a slot, or 404. */
async function findBooking(tx: Db, { id, orderId }: { id: string; orderId: string }) {
  const slot = await findSlot(tx, id, everyone)
  const [booking] = await tx
    .select(columns)
    .from(bookings)
    .innerJoin(orders, eq(orders.id, bookings.orderId))
    .where(and(eq(bookings.orderId, orderId), eq(bookings.slotId, slot.id)))
  if (!booking) throw missing('booking')
  return booking
}

/**
 * Gives a booking's places and money back: by a refund of its line, or by cancelling an order that has nothing else and was not paid. The
 * places are free at once, also while a payment provider works on the refund.
 */
async function giveUp(
  tx: Db,
  call: Pick<Call, 'after' | 'clock' | 'now' | 'services' | 'session'>,
  orderId: string,
  lineId: string,
  reason: string | null,
) {
  const acting = actingOf(call)
  const order = await findOrder(tx, orderId)
  const lines = await readLines(tx, orderId)
  let row: RefundRow | null = null
  if (order.status === 'pending') {
    if (lines.some((line) => line.id !== lineId && line.openQuantity > 0))
      throw conflict('the order has not been paid and holds other things: cancel it as a whole', { orderId })
    await cancel(tx, acting, order, reason)
    giveUpIntents(call, order)
    const deposit = order.paidCents - order.refundedCents
    if (deposit > 0) row = await refund(tx, acting, order, { amountCents: deposit, reason })
  } else {
    const line = lines.find(({ id }) => id === lineId)!
    const quantity = line.quantity - line.refundedQuantity
    // None: a refund of them is on its way already.
    if (quantity) row = await refund(tx, acting, order, { lines: [{ lineId, quantity }], reason, isCapped: true })
    await freePlaces(tx, acting, order, lineId, line.quantity)
  }
  askForRefund(call, row)
  return { orderId, lineId, status: order.status, refund: row }
}

const tool = 'bookings'

export const bookingRoutes = resource('events', '')
  .get(
    '/booking-slots/{id}/bookings',
    {
      operationId: 'listBookings',
      summary: 'List the bookings of a slot',
      description: 'Those that hold places, oldest first. One that was cancelled or refunded holds none.',
      scope: 'orders:read',
      tool,
      query: Paging(LIST_MAX, LIST_MAX),
      responses: { 200: Bookings },
      stored: true,
    },
    async ({ db, params, query: { limit, offset } }) => {
      const { id, bookedCount, maxCapacity } = await findSlot(db, params.id, everyone)
      const rows = await db
        .select(columns)
        .from(bookings)
        .innerJoin(orders, eq(orders.id, bookings.orderId))
        .where(eq(bookings.slotId, id))
        .orderBy(asc(bookings.createdAt), asc(bookings.lineId))
        .limit(limit)
        .offset(offset)
      const count = await db.$count(bookings, eq(bookings.slotId, id))
      return { data: rows.map(shown), meta: { count, bookedCount, maxCapacity, offset, limit } }
    },
  )
  .post(
    '/booking-slots/{id}/bookings/{orderId}/confirm',
    {
      operationId: 'confirmBooking',
      summary: 'Confirm a booking',
      description: 'One that is confirmed already stays so.',
      scope: 'orders:write',
      tool,
      responses: { 200: Booking },
    },
    (call) =>
      call.write(async (tx) => {
        const booking = await findBooking(tx, call.params)
        await tx.update(bookings).set({ confirmed: true }).where(eq(bookings.lineId, booking.lineId))
        return shown({ ...booking, confirmed: true })
      }),
  )
  .post(
    '/booking-slots/{id}/bookings/{orderId}/decline',
    {
      operationId: 'declineBooking',
      summary: 'Decline a booking',
      description: 'Gives its places and its money back; an order that was not paid and has nothing else is cancelled.',
      scope: 'orders:write',
      tool,
      body: DeclineInput,
      bodyOptional: true,
      responses: { 200: Ended('DeclinedBooking') },
    },
    (call) =>
      call.write(async (tx) => {
        const { orderId, lineId } = await findBooking(tx, call.params)
        return giveUp(tx, call, orderId, lineId, call.body.reason ?? 'the booking was declined')
      }),
  )
  .post(
    '/bookings/cancel',
    {
      operationId: 'cancelBooking',
      summary: "Cancel a buyer's booking",
      description:
        'By the access code of its order and the address that bought it, as long before the slot as its `cancellationHours` say. All that is wrong gets one 404; after 20 wrong ones in a minute 429.',
      scope: ['storefront:write', 'orders:write'],
      tool,
      unaudited: true,
      body: CancelInput,
      responses: { 200: Ended('CancelledBooking') },
    },
    (call) =>
      call.write(async (tx) => {
        const { code, email, lineId } = call.body
        const rowsOf = (orderId: string) =>
          tx
            .select({ slot: bookingSlots })
            .from(bookings)
            .innerJoin(bookingSlots, eq(bookingSlots.id, bookings.slotId))
            .where(and(eq(bookings.lineId, lineId), eq(bookings.orderId, orderId)))
        const { order, rows } = await findBought(tx, call.guesses, { code, email, what: 'booking', rowsOf })
        const { slot } = rows[0]!
        const until = new Date(Date.parse(slot.startsAt) - effective(slot, await call.settings()).cancellationHours * HOUR_MS).toISOString()
        // What the store has called off can be given back as long as it likes.
        if (call.now > until && slot.status !== 'cancelled')
          throw conflict(`the booking could be cancelled until ${until}`, { cancellableUntil: until })
        return giveUp(tx, call, order.id, lineId, 'cancelled by the buyer')
      }),
  )
