/** A booking: the places of a slot that a line of an order holds, on the wire (document 2, Bookings). */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { bookings } from '../../db/store/events.ts'
import { ORDER_STATUSES, orders } from '../../db/store/orders.ts'
import { Named, OneOf, Type, Uuid, type Static } from '../http/schema.ts'
import { Teller } from '../store/outbox.ts'
import type { Moment } from '../values/clock.ts'

const entry = {
  orderId: Uuid(),
  orderLookup: Type.String({ description: 'The order number' }),
  lineId: Uuid({ description: 'The line of the order that holds the places' }),
  status: OneOf(ORDER_STATUSES, { description: "The order's" }),
  customer: Type.Object({ id: Uuid(), email: Type.String() }),
  quantity: Type.Integer({ description: 'Places that it holds' }),
  confirmed: Type.Boolean(),
  createdAt: Type.String(),
}
export const Booking = Named('Booking', entry)
/** What webhooks get of one: `quantity` are the places that were taken, or given back. */
const BookingTold = Named('BookingEvent', { ...entry, bookingSlotId: Uuid() })
export const bookingTold = new Teller('events', ['booking.created', 'booking.cancelled'], BookingTold)

/** The columns of a booking's entry. */
export const bookingColumns = {
  ...{ orderId: bookings.orderId, lookup: orders.lookup, lineId: bookings.lineId, status: orders.status },
  ...{ customerId: orders.customerId, email: orders.email },
  ...{ quantity: bookings.quantity, confirmed: bookings.confirmed, createdAt: bookings.createdAt },
}
type Row = Omit<Static<typeof Booking>, 'orderLookup' | 'customer'> & { lookup: number; customerId: string; email: string }
/** A row of these columns on the wire. */
export const shownBooking = ({ lookup, customerId, email, ...row }: Row) => ({
  ...row,
  orderLookup: String(lookup),
  customer: { id: customerId, email },
})

interface Told {
  lineId: string
  bookingSlotId: string
  order: { id: string; lookup: number }
  quantity: number
  confirmed?: boolean
}

/** Tells of places that a line holds now, or (before they go) that it gives back. */
export const tellBooking = (tx: Db, moment: Moment, type: (typeof bookingTold.types)[number], { order, ...told }: Told) =>
  bookingTold.tell(tx, moment, type, {
    about: order.id,
    payload: { orderId: order.id, orderNumber: String(order.lookup), ...told },
    async show() {
      const [row] = await tx
        .select(bookingColumns)
        .from(bookings)
        .innerJoin(orders, eq(orders.id, bookings.orderId))
        .where(eq(bookings.lineId, told.lineId))
      return { ...shownBooking(row!), ...told }
    },
  })
