/** A booking slot (document 2): a time in which a variant can be booked, and the places of it that orders hold. */
import { and, eq, sql, type SQL } from 'drizzle-orm'
import { compile, inserter, named, type Db, type Reader } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { bookings, bookingSlots } from '../../db/store/events.ts'
import { translationsFor } from '../catalog/translated.ts'
import type { View } from '../catalog/read.ts'
import type { Settings } from '../http/route.ts'
import { tellBooking } from './booking.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import type { Moment } from '../values/clock.ts'
import { missing, wrong } from '../values/refusal.ts'

export type SlotRow = typeof bookingSlots.$inferSelect
export const SEEN_STATUSES = ['draft', 'published', 'full', 'cancelled', 'completed'] as const

export const BookingSlot = Named('BookingSlot', {
  id: Uuid(),
  productVariantId: Uuid(),
  product: Type.Object({ id: Uuid(), name: Type.String(), slug: Type.String() }),
  startsAt: Type.String({ examples: ['2027-12-05T09:00:00.000Z'] }),
  endsAt: Type.String({ examples: ['2027-12-05T10:00:00.000Z'] }),
  timezone: Type.String({ examples: ['Europe/Warsaw'] }),
  maxCapacity: Type.Integer(),
  bookedCount: Type.Integer({ description: 'Places that orders hold' }),
  spotsRemaining: Type.Integer(),
  status: OneOf(SEEN_STATUSES, { description: '`full` while no place is left, `completed` once it has ended' }),
  settings: Named('BookingSlotSettings', {
    location: Nullable(Type.String()),
    onlineUrl: Nullable(Type.String(), { description: 'Null for a key that sees no more than visitors' }),
    instructor: Nullable(Type.String()),
    materials: Type.Array(Type.String()),
    requirements: Nullable(Type.String()),
    cancellationHours: Nullable(Type.Number()),
    bufferMinutes: Nullable(Type.Number()),
    autoConfirm: Nullable(Type.Boolean()),
  }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/** The status that a slot has now: nothing has to happen for it to be full, or over. */
function statusOf({ status, endsAt, bookedCount, maxCapacity }: SlotRow, now: string): (typeof SEEN_STATUSES)[number] {
  if (status !== 'published') return status
  if (endsAt <= now) return 'completed'
  return bookedCount >= maxCapacity ? 'full' : 'published'
}

/** Why nobody can book a slot now, whatever is left of it; null when one can. */
export function closedBecause({ status, startsAt }: SlotRow, now: string): string | null {
  if (status !== 'published') return `the slot is ${status === 'draft' ? 'not open' : status}`
  return startsAt <= now ? 'the slot has begun' : null
}

/** How many places are left. */
export const placesLeft = ({ maxCapacity, bookedCount }: SlotRow) => maxCapacity - bookedCount

/** The settings that hold for a slot: its own, or the store's. */
export const effective = ({ settings: own }: Pick<SlotRow, 'settings'>, { booking }: Settings) => ({
  cancellationHours: own.cancellationHours ?? booking.cancellationHours ?? 0,
  bufferMinutes: own.bufferMinutes ?? booking.bufferMinutes ?? 0,
  autoConfirm: own.autoConfirm ?? booking.autoConfirm ?? true,
})

const rowsByIds = compile((db) =>
  db
    .select()
    .from(bookingSlots)
    .where(sql`${bookingSlots.id} in (select value from json_each(${named('ids')}))`),
)
const shownByIds = compile((db) =>
  db
    .select({ slot: bookingSlots, productId: products.id, name: products.name, slug: products.slug })
    .from(bookingSlots)
    .innerJoin(variants, eq(variants.id, bookingSlots.productVariantId))
    .innerJoin(products, eq(products.id, variants.productId))
    .where(sql`${bookingSlots.id} in (select value from json_each(${named('ids')}))`),
)

/** Slots by their ids. */
export async function slotsByIds(db: Reader, ids: ReadonlySet<string>): Promise<Map<string, SlotRow>> {
  if (!ids.size) return new Map()
  return new Map((await rowsByIds.all(db, { ids: JSON.stringify([...ids]) })).map((row) => [row.id, row]))
}

/** Refuses with 400 at `path` a slot that is not of this store, or not of this variant. */
export async function requireSlot(db: Reader, id: string, variantId: string | null, path: string | string[]) {
  const slot = (await slotsByIds(db, new Set([id]))).get(id)
  if (!slot) throw wrong(path, 'no such resource in this store')
  if (slot.productVariantId !== variantId) throw wrong(path, 'is a slot of another variant')
}

const STANDING = sql`${bookingSlots.status} in ('published', 'cancelled', 'completed')`
const isForSale = (variantId: SQL) =>
  sql`exists (select 1 from variants v join products p on p.id = v.product_id where v.id = ${variantId} and v.active and p.status = 'published')`

/** A slot that visitors see: no draft, and of a variant that is for sale. */
const isShown = and(STANDING, isForSale(sql`${bookingSlots.productVariantId}`))!

/**
 * The slots that visitors see, for a list: those of variants that are not for sale are named, since there are few of them or none; to ask of
 * each slot whether it is one costs a hundred times as much.
 */
export async function shownSlots(db: Reader): Promise<SQL> {
  const hidden = await db.all<[string]>(sql`
    with recursive booked(id) as (
      select min(product_variant_id) from ${bookingSlots}
      union all
      select (select min(product_variant_id) from ${bookingSlots} where product_variant_id > booked.id) from booked where booked.id is not null
    ) select id from booked where id is not null and not ${isForSale(sql`booked.id`)}`)
  if (!hidden.length) return STANDING
  return and(
    STANDING,
    sql`${bookingSlots.productVariantId} not in (select value from json_each(${JSON.stringify(hidden.map(([id]) => id))}))`,
  )!
}

type SlotView = Pick<View, 'lang' | 'storefront'>

/** Slots as the view sees them, in the order of the ids. */
export async function readSlots(db: Reader, ids: readonly string[], { lang, storefront }: SlotView, now: string) {
  if (!ids.length) return []
  const rows = new Map((await shownByIds.all(db, { ids: JSON.stringify(ids) })).map((row) => [row.slot.id, row]))
  const translated = await translationsFor(db, 'product', lang, [...new Set([...rows.values()].map(({ productId }) => productId))])
  return ids.flatMap((id) => {
    const row = rows.get(id)
    if (!row) return []
    const { slot, productId, name, slug } = row
    const t = translated.get(productId)
    return [
      {
        ...slot,
        product: { id: productId, name: t?.name ?? name, slug: t?.slug ?? slug },
        spotsRemaining: placesLeft(slot),
        status: statusOf(slot, now),
        settings: storefront ? { ...slot.settings, onlineUrl: null } : slot.settings,
      },
    ]
  })
}

/** A slot by its id; 404 for one of another store, and for one that a storefront may not see. */
export async function findSlot(db: Reader, id: string, { storefront }: Pick<SlotView, 'storefront'>): Promise<SlotRow> {
  const [slot] = await db
    .select()
    .from(bookingSlots)
    .where(and(eq(bookingSlots.id, id), storefront ? isShown : undefined))
  if (!slot) throw missing('booking slot')
  return slot
}

const insertBooking = inserter(bookings)

/** The order whose places are taken, and those of its lines that book a slot. */
interface Booked {
  order: { id: string; lookup: number }
  lines: readonly { id: string; quantity: number; bookingSlotId: string | null }[]
  slots: ReadonlyMap<string, SlotRow>
}

/** Takes the places of an order, in its transaction; the table refuses more than there are. */
export async function takePlaces(tx: Db, { clock, now }: Moment, settings: Settings, { order, lines, slots }: Booked) {
  for (const { id: lineId, quantity, bookingSlotId } of lines) {
    if (!bookingSlotId) continue
    const confirmed = effective(slots.get(bookingSlotId)!, settings).autoConfirm
    await insertBooking(tx, { lineId, slotId: bookingSlotId, orderId: order.id, quantity, confirmed, createdAt: now })
    await tellBooking(tx, { clock, now }, 'booking.created', { lineId, bookingSlotId, order, quantity, confirmed })
  }
}

/** Units of a line were given back: so many places of its slot are free again. */
export async function freePlaces(tx: Db, moment: Moment, order: { id: string; lookup: number }, lineId: string, units: number) {
  const [booking] = await tx.select().from(bookings).where(eq(bookings.lineId, lineId))
  if (!booking) return
  const quantity = Math.min(units, booking.quantity)
  await tellBooking(tx, moment, 'booking.cancelled', { lineId, bookingSlotId: booking.slotId, order, quantity })
  if (quantity === booking.quantity) await tx.delete(bookings).where(eq(bookings.lineId, lineId))
  else
    await tx
      .update(bookings)
      .set({ quantity: booking.quantity - quantity })
      .where(eq(bookings.lineId, lineId))
}
