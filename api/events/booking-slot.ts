/** What may be written of a booking slot (document 2): its fields, its rules, and the slots beside which it may stand. */
import { and, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { bookingSlots, SLOT_STATUSES, type SlotSettings } from '../../db/store/events.ts'
import type { Settings } from '../http/route.ts'
import { Instant, Line, Nullable, OneOf, Text, Type, Uuid, WebUrl, type Static } from '../http/schema.ts'
import { conflict, missing, wrong } from '../values/refusal.ts'
import { dayIn, later, timeZoneOf, utc } from '../values/time.ts'
import { effective, type SlotRow } from './slot.ts'

const CAPACITY_MAX = 100_000
/** The longest gap that can be held after a slot: a week. */
const BUFFER_MAX_MINUTES = 10_080
const MINUTE_MS = 60_000

const settings = Type.Object({
  location: Type.Optional(Nullable(Line(0, 300))),
  onlineUrl: Type.Optional(Nullable(WebUrl())),
  instructor: Type.Optional(Nullable(Line(0, 200))),
  materials: Type.Optional(Nullable(Type.Array(Line(0, 200), { maxItems: 50 }))),
  requirements: Type.Optional(Nullable(Text(0, 2000))),
  cancellationHours: Type.Optional(
    Nullable(Type.Number({ minimum: 0, maximum: 8_760 }), {
      description: 'So long before it starts buyers can cancel; null is what the settings of the store say',
    }),
  ),
  bufferMinutes: Type.Optional(
    Nullable(Type.Number({ minimum: 0, maximum: BUFFER_MAX_MINUTES }), {
      description: 'No other slot of the variant so soon after it ends; null is what the settings of the store say',
    }),
  ),
  autoConfirm: Type.Optional(
    Nullable(Type.Boolean(), { description: 'False: each booking waits to be confirmed; null is what the settings of the store say' }),
  ),
})
const required = {
  productVariantId: Uuid({ description: 'The variant that is booked; its price is what a place costs' }),
  startsAt: Instant(),
  endsAt: Instant(),
  maxCapacity: Type.Integer({ minimum: 1, maximum: CAPACITY_MAX }),
}
const optional = {
  timezone: Type.Optional(Text(1, 64, { description: 'IANA name; `UTC` when left out' })),
  status: Type.Optional(OneOf(SLOT_STATUSES, { description: '`draft` when left out' })),
  settings: Type.Optional(settings),
}
export const slotFields = { ...required, ...optional }
export const slotChanges = { ...Type.Partial(Type.Object(required)).properties, ...optional }
type SlotChanges = { [Field in keyof typeof slotFields]?: Static<(typeof slotFields)[Field]> }

const NO_SETTINGS: SlotSettings = {
  ...{ location: null, onlineUrl: null, instructor: null, materials: [], requirements: null },
  ...{ cancellationHours: null, bufferMinutes: null, autoConfirm: null },
}

/** Settings merged field by field; null clears one. */
function merged(before: SlotSettings, given: SlotChanges['settings'] = {}): SlotSettings {
  const { materials = before.materials, ...rest } = given
  return { ...before, ...rest, materials: materials ?? [] }
}

/** Everything of a slot that is written down. */
export type Written = Omit<SlotRow, 'id' | 'bookedCount' | 'createdAt' | 'updatedAt'>

/** A slot as a body makes or changes it; 400 for what contradicts itself. */
export function written(before: SlotRow | null, given: SlotChanges): Written {
  const timezone = given.timezone === undefined ? (before?.timezone ?? 'UTC') : timeZoneOf(given.timezone)
  if (timezone === null) throw wrong('timezone', 'must be an IANA time zone, such as Europe/Warsaw')
  const startsAt = utc(given.startsAt) ?? before!.startsAt
  const endsAt = utc(given.endsAt) ?? before!.endsAt
  if (endsAt <= startsAt) throw wrong('endsAt', 'must be after startsAt')
  const maxCapacity = given.maxCapacity ?? before!.maxCapacity
  if (before && maxCapacity < before.bookedCount) throw wrong('maxCapacity', `must be at least ${before.bookedCount}: so many are booked`)
  return {
    productVariantId: given.productVariantId ?? before!.productVariantId,
    ...{ startsAt, endsAt, timezone, startsOn: dayIn(timezone, startsAt), maxCapacity },
    status: given.status ?? before?.status ?? 'draft',
    settings: merged(before?.settings ?? NO_SETTINGS, given.settings),
  }
}

/** Whether a change of a slot can bring it into another one's way. */
export const isMoved = (before: SlotRow, { productVariantId, startsAt, endsAt, status, settings: { bufferMinutes } }: Written) =>
  productVariantId !== before.productVariantId ||
  startsAt !== before.startsAt ||
  endsAt !== before.endsAt ||
  (status !== 'cancelled' && before.status === 'cancelled') ||
  bufferMinutes !== before.settings.bufferMinutes

/** Refuses with 404 a variant that is not in this store, and with 400 the ticket of an event, which has a time of its own. */
export async function requireVariant(tx: Db, id: string) {
  const [variant] = await tx
    .select({ isEvent: products.isEvent })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(eq(variants.id, id))
  if (!variant) throw missing('variant')
  if (variant.isEvent) throw wrong('productVariantId', 'a ticket is no booking')
}

/** The time that a slot keeps others of its variant from starting in: with a gap after it, from its start to the end of the gap. */
interface Hold {
  startsAt: string
  start: number
  end: number
  hasGap: boolean
}

function holdOf(slot: Pick<SlotRow, 'startsAt' | 'endsAt' | 'settings'>, store: Settings): Hold {
  const gap = effective(slot, store).bufferMinutes * MINUTE_MS
  return { startsAt: slot.startsAt, start: Date.parse(slot.startsAt), end: Date.parse(slot.endsAt) + gap, hasGap: gap > 0 }
}

/** Whether two slots of one variant can't both be: they start at once, or one is in the way of the other's gap. */
const clash = (a: Hold, b: Hold) => a.start === b.start || ((a.hasGap || b.hasGap) && a.start < b.end && b.start < a.end)

/** Slots of a variant in the order of their start, among which one that clashes is found without looking at all. */
class Calendar {
  readonly #holds: Hold[] = []
  #longest = 0

  /** The first place whose slot does not start before `start`. */
  #from(start: number): number {
    let low = 0
    let high = this.#holds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#holds[middle]!.start < start) low = middle + 1
      else high = middle
    }
    return low
  }

  clashing(hold: Hold): Hold | undefined {
    for (let i = this.#from(hold.start - this.#longest); i < this.#holds.length; i++) {
      const other = this.#holds[i]!
      if (other.start >= hold.end && other.start > hold.start) return undefined
      if (clash(hold, other)) return other
    }
    return undefined
  }

  add(hold: Hold) {
    this.#holds.splice(this.#from(hold.start), 0, hold)
    this.#longest = Math.max(this.#longest, hold.end - hold.start)
  }
}

/** Refuses with 409 slots of one variant that clash with one that is there (but for `ownId`) or with each other; cancelled ones clash with none. */
export async function requireFree(tx: Db, slots: readonly Written[], store: Settings, ownId: string | null) {
  const [first] = slots
  if (!first || first.status === 'cancelled') return
  const others = and(
    eq(bookingSlots.productVariantId, first.productVariantId),
    sql`${bookingSlots.status} <> 'cancelled'`,
    ownId === null ? undefined : ne(bookingSlots.id, ownId),
  )
  const select = () =>
    tx.select({ startsAt: bookingSlots.startsAt, endsAt: bookingSlots.endsAt, settings: bookingSlots.settings }).from(bookingSlots)
  const starts = slots.map(({ startsAt }) => startsAt).sort()
  const atOnce = await select().where(
    and(others, sql`${bookingSlots.startsAt} in (select value from json_each(${JSON.stringify(starts)}))`),
  )
  const gap = BUFFER_MAX_MINUTES * MINUTE_MS
  const keepsGap = effective(first, store).bufferMinutes > 0 || (store.booking.bufferMinutes ?? 0) > 0
  const near = await select().where(
    and(
      others,
      sql`${bookingSlots.endsAt} > ${later(starts[0]!, -gap)}`,
      sql`${bookingSlots.startsAt} < ${later(
        slots
          .map(({ endsAt }) => endsAt)
          .sort()
          .at(-1)!,
        gap,
      )}`,
      // Where nobody keeps a gap by default, few do, and they have an index of their own.
      keepsGap ? undefined : sql`${bookingSlots.settings} ->> 'bufferMinutes' > 0`,
    ),
  )
  const there = [...new Map([...atOnce, ...near].map((slot) => [slot.startsAt, slot])).values()]
  const calendar = new Calendar()
  for (const slot of there.sort((a, b) => (a.startsAt < b.startsAt ? -1 : 1))) calendar.add(holdOf(slot, store))
  for (const slot of slots) {
    const hold = holdOf(slot, store)
    const other = calendar.clashing(hold)
    if (other)
      throw conflict(
        other.start === hold.start
          ? `the variant has a slot at ${hold.startsAt} already`
          : `a slot of the variant at ${other.startsAt} leaves no room for one at ${hold.startsAt}`,
        { startsAt: hold.startsAt, conflictsWith: other.startsAt },
      )
    calendar.add(hold)
  }
}
