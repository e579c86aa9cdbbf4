/** Booking slots (document 2): the times in which variants can be booked, one by one or repeated by a rule. */
import { and, asc, eq, or, sql, type SQL } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import { inserter } from '../../db/driver.ts'
import { bookingSlots } from '../../db/store/events.ts'
import { viewOf } from '../catalog/read.ts'
import { Lang } from '../catalog/shapes.ts'
import { Reply, resource } from '../http/route.ts'
import { Body, Counted, DayOrInstant, OneOf, Text, Type, Uuid } from '../http/schema.ts'
import { conflict, invalid } from '../values/refusal.ts'
import { isDay, later, parseInstant, utc } from '../values/time.ts'
import { isMoved, requireFree, requireVariant, slotChanges, slotFields, written, type Written } from './booking-slot.ts'
import { everyone } from './event.ts'
import { repeated, SLOTS_MAX } from './repetition.ts'
import { BookingSlot, findSlot, readSlots, SEEN_STATUSES, shownSlots, type SlotRow } from './slot.ts'

/** Local days are at most so far from those of UTC. */
const DAY_MS = 86_400_000

const example = {
  productVariantId: '01985d2c-7c00-7a31-8c4e-0242ac120002',
  startsAt: '2027-12-05T10:00:00+01:00',
  endsAt: '2027-12-05T11:00:00+01:00',
  timezone: 'Europe/Warsaw',
  maxCapacity: 1,
  status: 'published',
  settings: { location: 'Chair 2', instructor: 'Maria' },
}
const SlotInput = Body('BookingSlotInput', [example], slotFields)
const SlotPatch = Body('BookingSlotPatch', [{ maxCapacity: 2, settings: { instructor: null } }], slotChanges)
const RepeatInput = Body('RepeatBookingSlotInput', [{ ...example, rrule: 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20280301' }], {
  ...slotFields,
  rrule: Text(1, 300, { description: `A rule of RFC 5545, daily or weekly, with an end; at most ${SLOTS_MAX} slots` }),
})

const scope = { read: 'storefront:read', write: 'catalog:write' } as const
const tool = 'bookings'
const insertSlot = inserter(bookingSlots)

/** From (or to) an instant, or a day as it is where the slot is. */
function bound(field: 'startDate' | 'endDate', given: string | undefined): SQL | undefined {
  if (given === undefined) return undefined
  const isFrom = field === 'startDate'
  if (isDay(given)) {
    // The instants beside it let the list be read along its index.
    const near = later(`${given}T00:00:00.000Z`, isFrom ? -DAY_MS : 2 * DAY_MS)
    const { startsAt, startsOn } = bookingSlots
    return isFrom ? sql`${startsAt} >= ${near} and ${startsOn} >= ${given}` : sql`${startsAt} <= ${near} and ${startsOn} <= ${given}`
  }
  // Whatever else reads formats in this process: a day that no month has finds nothing, and is no day.
  if (parseInstant(given) === null)
    throw invalid([{ code: 'invalid_string', message: 'must be a date, or a date and time with offset (+ as %2B)', path: [field] }])
  const instant = utc(given)
  return isFrom ? sql`${bookingSlots.startsAt} >= ${instant}` : sql`${bookingSlots.startsAt} <= ${instant}`
}

/** The slots that read so now. */
function having(status: (typeof SEEN_STATUSES)[number] | undefined, now: string): SQL | undefined {
  const { status: stored, endsAt, bookedCount, maxCapacity } = bookingSlots
  const running = and(eq(stored, 'published'), sql`${endsAt} > ${now}`)
  if (status === 'published') return and(running, sql`${bookedCount} < ${maxCapacity}`)
  if (status === 'full') return and(running, sql`${bookedCount} >= ${maxCapacity}`)
  if (status === 'completed') return or(eq(stored, status), and(eq(stored, 'published'), sql`${endsAt} <= ${now}`))
  return status && eq(stored, status)
}

export const bookingSlotRoutes = resource('events', '/booking-slots')
  .get(
    '',
    {
      operationId: 'listBookingSlots',
      summary: 'List booking slots',
      description:
        'Those that start first come first. A date without a time is the day where the slot is; visitors see what is published alone.',
      scope: scope.read,
      tool,
      query: {
        startDate: Type.Optional(DayOrInstant({ description: 'Starting then or later' })),
        endDate: Type.Optional(DayOrInstant({ description: 'Starting then or earlier' })),
        status: Type.Optional(OneOf(SEEN_STATUSES)),
        productVariantId: Type.Optional(Uuid()),
        limit: Type.Integer({ minimum: 1, maximum: 200, default: 100, description: 'Page size' }),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'How many to skip' }),
        lang: Lang,
      },
      responses: { 200: Counted(BookingSlot) },
    },
    async (call) => {
      const { startDate, endDate, status, productVariantId, limit, offset } = call.query
      const view = await viewOf(call)
      const where = and(
        view.storefront ? await shownSlots(call.db) : undefined,
        bound('startDate', startDate),
        bound('endDate', endDate),
        having(status, call.now),
        productVariantId === undefined ? undefined : eq(bookingSlots.productVariantId, productVariantId),
      )
      const far = aside(call.db, 'booking_slots')
      const found = await far
        .select({ id: bookingSlots.id })
        .from(bookingSlots)
        .where(where)
        .orderBy(asc(bookingSlots.startsAt), asc(bookingSlots.id))
        .limit(limit)
        .offset(offset)
      const ids = found.map(({ id }) => id)
      return { data: await readSlots(call.db, ids, view, call.now), meta: { count: await far.$count(bookingSlots, where) } }
    },
  )
  .post(
    '',
    {
      operationId: 'createBookingSlot',
      summary: 'Add a booking slot',
      scope: scope.write,
      tool,
      body: SlotInput,
      responses: { 201: BookingSlot },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, clock, now } = call
        const slot = written(null, body)
        await requireVariant(tx, slot.productVariantId)
        await requireFree(tx, [slot], await call.settings(), null)
        const row: SlotRow = { id: clock.id(), ...slot, bookedCount: 0, createdAt: now, updatedAt: now }
        await insertSlot(tx, row)
        return (await readSlots(tx, [row.id], everyone, now))[0]!
      }),
  )
  .post(
    '/repeat',
    {
      operationId: 'repeatBookingSlot',
      summary: 'Add booking slots by a rule',
      description:
        'The first is the first that the rule gives from `startsAt` on; each starts at the same time of the day where it is, also when the clocks change, and is as long as the first. All of them, or none.',
      scope: scope.write,
      tool,
      body: RepeatInput,
      responses: { 201: Counted(BookingSlot) },
      prepare: ({ body: { rrule, ...slot } }) => repeated(written(null, slot), rrule),
    },
    (call) =>
      call.write(async (tx) => {
        const { clock, now } = call
        const slots = call.prepared as Written[]
        await requireVariant(tx, slots[0]!.productVariantId)
        await requireFree(tx, slots, await call.settings(), null)
        const rows = slots.map((slot): SlotRow => ({ id: clock.id(), ...slot, bookedCount: 0, createdAt: now, updatedAt: now }))
        for (const row of rows) await insertSlot(tx, row)
        const ids = rows.map(({ id }) => id)
        return { data: await readSlots(tx, ids, everyone, now), meta: { count: ids.length } }
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getBookingSlot',
      summary: 'Read a booking slot',
      scope: scope.read,
      tool,
      query: { lang: Lang },
      responses: { 200: BookingSlot },
    },
    async (call) => {
      const view = await viewOf(call)
      const { id } = await findSlot(call.db, call.params.id, view)
      return (await readSlots(call.db, [id], view, call.now))[0]!
    },
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateBookingSlot',
      summary: 'Change a booking slot',
      description: 'Settings are merged field by field, null clears one. `cancelled` keeps the orders and takes no new ones.',
      scope: scope.write,
      tool,
      body: SlotPatch,
      responses: { 200: BookingSlot },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body, params, now } = call
        const before = await findSlot(tx, params.id, everyone)
        const slot = written(before, body)
        if (body.productVariantId !== undefined) await requireVariant(tx, slot.productVariantId)
        if (isMoved(before, slot)) await requireFree(tx, [slot], await call.settings(), before.id)
        await tx
          .update(bookingSlots)
          .set({ ...slot, updatedAt: now })
          .where(eq(bookingSlots.id, before.id))
        return (await readSlots(tx, [before.id], everyone, now))[0]!
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteBookingSlot',
      summary: 'Delete a booking slot',
      description: 'One with bookings stays: cancel it instead.',
      scope: scope.write,
      tool,
      responses: { 204: Type.Null() },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const slot = await findSlot(tx, call.params.id, everyone)
        if (slot.bookedCount) throw conflict('the slot has bookings: cancel it instead', { bookedCount: slot.bookedCount })
        await tx.delete(bookingSlots).where(eq(bookingSlots.id, slot.id))
        return new Reply(204, null)
      }),
  )
