/** Room "events": what makes a product an event, the seats that are sold of it, and the slots that are booked. */
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import { products, variants } from './catalog.ts'
import { media } from './content.ts'
import { orders } from './orders.ts'

/** Whether an event has no date yet: those come last in lists. */
const undatedOf = (table: { startsAt: AnySQLiteColumn }) => sql`${table.startsAt} is null`

/** The event of a product whose `isEvent` is set. Its capacity is the stock of its ticket, which no order takes off the shelf. */
export const events = sqliteTable(
  'events',
  {
    productId: text()
      .primaryKey()
      .references(() => products.id, { onDelete: 'cascade' }),
    /** The variant that is sold. */
    variantId: text().notNull().unique(),
    startsAt: instant(),
    location: text(),
    /** Who is to be met there, and as what: "Ada Lovelace", "Speaker". */
    guest: text(),
    guestLabel: text(),
    /** Seats of orders that are paid: kept by triggers on `seats`. */
    sold: integer().notNull().default(0),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('events_sold', sql`${t.sold} >= 0`), index('events_starts').on(undatedOf(t), t.startsAt, t.productId)],
)

/** The same, as the index has it. */
export const isUndated = undatedOf(events)

const SEAT_STATES = ['held', 'valid', 'void'] as const

/** A seat: one for each unit of a ticket that was bought. What may be done with it follows the order, by triggers on `orders`. */
export const seats = sqliteTable(
  'seats',
  {
    id: id(),
    productId: text().notNull(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    /** Not a foreign key: lines are made and removed with their orders. */
    lineId: text().notNull(),
    position: integer().notNull(),
    /** `held` while its order is not paid, `void` once it was cancelled or refunded. */
    state: text({ enum: SEAT_STATES }).notNull(),
    /** The SHA-256 of its token, by which it is found. */
    tokenHash: text().notNull(),
    /** The token itself, sealed. */
    token: text().notNull(),
    /** The address that bought it. */
    buyerEmail: text().notNull(),
    name: text(),
    /** The name as rosters sort it: transliterated, lowercase; the buyer's while it has none. */
    foldedName: text().notNull(),
    email: text(),
    bio: text(),
    socialProfileUrl: text(),
    /** Its photo, one of `seatPhotos`. */
    photoId: text().references(() => media.id, { onDelete: 'set null' }),
    listed: flag().notNull(),
    checkedInAt: instant(),
    checkedInBy: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('seats_state', sql`${t.state} in ('held', 'valid', 'void')`),
    uniqueIndex('seats_token').on(t.tokenHash),
    index('seats_order').on(t.orderId, t.lineId, t.position),
    /** A roster: those who came last first, then by name. */
    index('seats_roster')
      .on(t.productId, sql`${t.checkedInAt} desc`, t.foldedName, t.id)
      .where(sql`${t.state} <> 'void'`),
    index('seats_directory')
      .on(t.productId, t.foldedName, t.id)
      .where(sql`${t.state} = 'valid' and ${t.listed} = 1`),
    index('seats_attendees')
      .on(t.productId, t.buyerEmail, t.orderId)
      .where(sql`${t.state} = 'valid'`),
    index('seats_photo')
      .on(t.photoId)
      .where(sql`${t.photoId} is not null`),
  ],
)

/** Photos that guests have uploaded: what a seat may show. */
export const seatPhotos = sqliteTable(
  'seat_photos',
  {
    mediaId: text()
      .primaryKey()
      .references(() => media.id, { onDelete: 'cascade' }),
    seatId: text().notNull(),
  },
  (t) => [index('seat_photos_seat').on(t.seatId)],
)

/** The details of a session; null where nothing was said, or where the store's own settings hold. */
export interface SlotSettings {
  location: string | null
  onlineUrl: string | null
  instructor: string | null
  materials: string[]
  requirements: string | null
  cancellationHours: number | null
  bufferMinutes: number | null
  autoConfirm: boolean | null
}

export const SLOT_STATUSES = ['draft', 'published', 'cancelled', 'completed'] as const

/** A time in which a variant can be booked, by so many. */
export const bookingSlots = sqliteTable(
  'booking_slots',
  {
    id: id(),
    productVariantId: text()
      .notNull()
      .references(() => variants.id, { onDelete: 'cascade' }),
    startsAt: instant().notNull(),
    endsAt: instant().notNull(),
    timezone: text().notNull(),
    /** The day on which it starts, where it is: `2026-03-29`. */
    startsOn: text().notNull(),
    maxCapacity: integer().notNull(),
    /** Places that orders hold: kept by triggers on `bookings`. */
    bookedCount: integer().notNull().default(0),
    /** As it was set; `full`, and `completed` once it has ended, are read from the rest. */
    status: text({ enum: SLOT_STATUSES }).notNull(),
    settings: json<SlotSettings>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('booking_slots_status', sql`${t.status} in ('draft', 'published', 'cancelled', 'completed')`),
    check('booking_slots_times', sql`${t.endsAt} > ${t.startsAt}`),
    check('booking_slots_places', sql`${t.bookedCount} between 0 and ${t.maxCapacity}`),
    uniqueIndex('booking_slots_at')
      .on(t.productVariantId, t.startsAt)
      .where(sql`${t.status} <> 'cancelled'`),
    index('booking_slots_starts').on(t.startsAt, t.id),
    /** Enough to tell what a slot reads as now, so that lists count in it alone. */
    index('booking_slots_status_starts').on(t.status, t.startsAt, t.id, t.endsAt, t.bookedCount, t.maxCapacity),
    index('booking_slots_variant').on(t.productVariantId, t.startsAt, t.id),
    index('booking_slots_variant_ends').on(t.productVariantId, t.endsAt),
    /** Those that keep a gap of their own. */
    index('booking_slots_gaps')
      .on(t.productVariantId, t.endsAt)
      .where(sql`${t.settings} ->> 'bufferMinutes' > 0`),
  ],
)

/** The places that a line of an order holds in a slot; there is none once all of them were given back. */
export const bookings = sqliteTable(
  'bookings',
  {
    /** Not a foreign key: lines are made and removed with their orders. */
    lineId: text().primaryKey(),
    slotId: text()
      .notNull()
      .references(() => bookingSlots.id, { onDelete: 'cascade' }),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    quantity: integer().notNull(),
    /** Nobody has to look at it any more. */
    confirmed: flag().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    check('bookings_quantity', sql`${t.quantity} >= 1`),
    index('bookings_slot').on(t.slotId, t.createdAt, t.lineId),
    index('bookings_order').on(t.orderId),
  ],
)
