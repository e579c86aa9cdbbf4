/** An item of a cart: what a request says of one, and whether it can be sold. */
import type { Reader } from '../../db/driver.ts'
import type { CartItem } from '../../db/store/checkout.ts'
import { conflict, wrong } from '../values/refusal.ts'
import type { Call, Settings } from '../http/route.ts'
import { Body, Nullable, Type, Uuid, type Static } from '../http/schema.ts'
import { requireOpen, type CartRow } from './cart.ts'
import { SEATS_MAX } from '../events/seat.ts'
import { placesLeft, requireSlot } from '../events/slot.ts'
import { availableOf, canGive, demandOf, LINES_MAX, placesOf, ticketsIn } from '../pricing/quote-lines.ts'
import { quote } from '../pricing/quote.ts'

export const Quantity = (minimum: number) => Type.Integer({ minimum, maximum: 10_000 })
const slot = Type.Optional(Nullable(Uuid()))
/** An item of a new cart. */
export const NewItem = Type.Object({ variantId: Uuid(), quantity: Type.Optional(Quantity(1)), bookingSlotId: slot })
export const AnyItem = Body('AddCartItemInput', [{ variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002', quantity: 2 }], {
  variantId: Type.Optional(Nullable(Uuid())),
  bundleId: Type.Optional(Nullable(Uuid())),
  quantity: Type.Optional(Quantity(1)),
  bookingSlotId: slot,
})

/** Puts items into a cart (the same variant or bundle adds up), and refuses what can't be sold. */
export async function addItems(
  db: Reader,
  cart: CartRow,
  wanted: (Static<typeof AnyItem> & { path: string[] })[],
  call: Pick<Call, 'clock' | 'now'>,
  settings: Settings,
) {
  const touched = new Map<CartItem, string[]>()
  for (const { path, ...input } of wanted) {
    if ((input.variantId == null) === (input.bundleId == null)) throw wrong([...path, 'variantId'], 'give either variantId or bundleId')
    const variantId = input.variantId ?? null
    const bundleId = input.bundleId ?? null
    const bookingSlotId = input.bookingSlotId ?? null
    if (bookingSlotId) await requireSlot(db, bookingSlotId, variantId, [...path, 'bookingSlotId'])
    let item = cart.items.find(
      (candidate) =>
        candidate.variantId === variantId && candidate.bundleId === bundleId && (candidate.bookingSlotId ?? null) === bookingSlotId,
    )
    if (item) item.quantity += input.quantity ?? 1
    else cart.items.push((item = { id: call.clock.id(), variantId, bundleId, bookingSlotId, quantity: input.quantity ?? 1 }))
    touched.set(item, [...path, bundleId ? 'bundleId' : 'variantId'])
    if (item.quantity > 10_000) throw wrong([...path, 'quantity'], 'must be at most 10000 in all')
    if (cart.items.length > LINES_MAX)
      throw wrong([...path, bundleId ? 'bundleId' : 'variantId'], `a cart holds at most ${LINES_MAX} lines`)
  }
  return requireSellable(db, cart, touched, call.now, settings)
}

/**
 * Refuses what can't be bought: first 400 at the path of an item that names nothing of the store, then 409 for a cart that is an
 * order, and for an item that is no longer sold, or has no price, stock or place.
 */
export async function requireSellable(db: Reader, cart: CartRow, touched: Map<CartItem, string[] | null>, now: string, settings: Settings) {
  const quoted = await quote(db, cart, settings, now)
  const warningOf = (item: CartItem) => quoted.warnings.find((candidate) => candidate.itemId === item.id)
  const lines = Map.groupBy(quoted.lines, (line) => line.item)
  const linesOf = (item: CartItem) => lines.get(item) ?? []
  for (const [item, path] of touched) {
    if (!path) continue
    const warning = warningOf(item)
    if (warning?.code === 'unavailable') throw wrong(path, 'no such resource in this store')
    if (warning?.code === 'too_many_lines') throw wrong(path, warning.message)
    if (linesOf(item).some((line) => line.variant.bookable && !line.slot))
      throw wrong([...path.slice(0, -1), 'bookingSlotId'], 'is needed for a bookable variant')
  }
  requireOpen(cart)
  if (ticketsIn(quoted.lines) > SEATS_MAX && [...touched.keys()].some((item) => linesOf(item).some(({ variant }) => variant.isEvent)))
    throw conflict(`an order has at most ${SEATS_MAX} tickets`, { maximum: SEATS_MAX })
  const demand = demandOf(quoted.lines)
  const places = placesOf(quoted.lines)
  for (const item of touched.keys()) {
    const warning = warningOf(item)
    if (warning)
      throw conflict(warning.message, {
        code: warning.code,
        warning,
        ...(warning.bookingSlotId ? { bookingSlotId: warning.bookingSlotId } : {}),
      })
    for (const { variant, slot } of linesOf(item)) {
      if (slot && places.get(slot.id)!.places > placesLeft(slot))
        throw conflict('the slot is full', { code: 'slot_full', bookingSlotId: slot.id, available: placesLeft(slot) })
      if (slot) continue
      if (!canGive(variant, demand.get(variant.id)!.units))
        throw conflict('out of stock', { code: 'out_of_stock', variantId: variant.id, available: availableOf(variant) })
    }
  }
  return quoted
}
