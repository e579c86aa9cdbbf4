/** The lines of a cart: what each of its items consists of, or why it can't be sold. */
import type { Reader } from '../../db/driver.ts'
import type { CartItem } from '../../db/store/checkout.ts'
import type { Settings } from '../http/route.ts'
import type { PriceLine } from './lines.ts'
import { rateFor, type PriceRules, type TaxRate } from './price-rules.ts'
import { closedBecause, placesLeft, slotsByIds, type SlotRow } from '../events/slot.ts'
import { readParts, readSold, type Part, type Sold } from './quote-reads.ts'

/** Lines of a cart; the parts of a bundle are one each (document 3, Clarifications). */
export const LINES_MAX = 500

/** Why something in a cart no longer applies. */
export interface Warning {
  code:
    | 'unavailable'
    | 'too_many_lines'
    | 'no_price'
    | 'out_of_stock'
    | 'slot_closed'
    | 'slot_full'
    | 'coupon'
    | 'shipping_method'
    | 'pickup_location'
    | 'loyalty'
  message: string
  itemId?: string
  variantId?: string
  bookingSlotId?: string
  /** The units of that variant that can still be sold, or the places of that slot. */
  available?: number
  coupon?: string
}

/** One variant of a cart item, as it will stand in an order. */
export interface QuoteLine {
  item: CartItem
  variant: Sold
  /** The slot that it books: its places are taken, and nothing from the shelf. */
  slot: SlotRow | null
  quantity: number
  unitPrice: number
  taxRate: number
  bundle: PriceLine['bundle']
}

/** The part of a cart that its lines are read from. */
export interface Wanted {
  currency: string
  items: readonly CartItem[]
  shippingAddress: { country?: string | null } | null
  billingAddress?: { country?: string | null } | null
  /** Prices that replace the catalog's, by item id, in minor units. */
  unitPrices?: ReadonlyMap<string, number>
}

const nameOf = (variant: Sold) =>
  variant.variantName === variant.productName ? variant.productName : `${variant.productName} – ${variant.variantName}`

/** Where the buyer is taxed: where it goes, else (files, services) where the bill goes. */
export const taxCountry = (cart: Wanted) => cart.shippingAddress?.country ?? cart.billingAddress?.country ?? null

/** How many units of each variant these lines ask of the shelf together. */
export function demandOf(lines: readonly QuoteLine[]): Map<string, { variant: Sold; units: number }> {
  const demand = new Map<string, { variant: Sold; units: number }>()
  for (const { variant, slot, quantity } of lines)
    if (!slot) demand.set(variant.id, { variant, units: (demand.get(variant.id)?.units ?? 0) + quantity })
  return demand
}

/** How many tickets of events these lines are. */
export const ticketsIn = (lines: readonly QuoteLine[]) =>
  lines.reduce((sum, { variant, quantity }) => sum + (variant.isEvent ? quantity : 0), 0)

/** How many places of each slot these lines ask for together. */
export function placesOf(lines: readonly QuoteLine[]): Map<string, { slot: SlotRow; places: number }> {
  const demand = new Map<string, { slot: SlotRow; places: number }>()
  for (const { slot, quantity } of lines) if (slot) demand.set(slot.id, { slot, places: (demand.get(slot.id)?.places ?? 0) + quantity })
  return demand
}

/** How many units are left to be sold. */
export const availableOf = (variant: Sold) => Math.max(0, variant.quantity - variant.reserved)

/** Whether a variant can give so many units. */
export const canGive = (variant: Sold, units: number) =>
  !variant.tracked || variant.backorder || variant.quantity - variant.reserved >= units

/** The rows and settings from which the lines of a cart are made. */
interface Shelf {
  sold: ReadonlyMap<string, Sold>
  parts: ReadonlyMap<string, Part[]>
  slots: ReadonlyMap<string, SlotRow>
  rates: readonly TaxRate[]
  settings: Settings
  now: string
}

async function readShelf(db: Reader, { items }: Wanted, settings: Settings, now: string, { taxRates: rates }: PriceRules): Promise<Shelf> {
  const parts = await readParts(db, new Set(items.flatMap((item) => item.bundleId ?? [])))
  const variantIds = [...items.flatMap((item) => item.variantId ?? []), ...[...parts.values()].flat().map((part) => part.variantId)]
  const slots = await slotsByIds(db, new Set(items.flatMap((item) => item.bookingSlotId ?? [])))
  return { sold: await readSold(db, new Set(variantIds)), parts, slots, rates, settings, now }
}

/** The contents of an item: its variant, or the variants of its bundle. */
function contentsOf(
  item: CartItem,
  { sold, parts }: Shelf,
): { bundle: Part | null; wanted: { variant: Sold | undefined; units: number }[] } {
  if (!item.bundleId) return { bundle: null, wanted: [{ variant: sold.get(item.variantId!), units: 1 }] }
  const own = parts.get(item.bundleId) ?? []
  return { bundle: own[0] ?? null, wanted: own.map((part) => ({ variant: sold.get(part.variantId), units: part.quantity })) }
}

/** The name and the picture of an item, and its product. */
export type Face = { name: string; image: string | null; productId: string | null }

function faceOf(item: CartItem, bundle: Part | null, first: Sold | undefined): Face {
  if (item.bundleId) return { name: bundle?.name ?? 'unavailable bundle', image: bundle?.images[0] ?? null, productId: null }
  return { name: first ? nameOf(first) : 'unavailable product', image: first?.images[0] ?? null, productId: first?.productId ?? null }
}

/** Whether a variant is for sale: tickets are not while their tool is off, since nobody could see them. */
const isOffered = ({ active, status, isEvent }: Sold, { tools }: Settings) => active && status === 'published' && (!isEvent || tools.events)

/** The slot of an item, null when it books none; why it can't be booked. */
function slotOf({ bookingSlotId, variantId }: CartItem, { slots, settings, now }: Shelf): SlotRow | string | null {
  if (!bookingSlotId) return null
  const slot = slots.get(bookingSlotId)
  if (!slot || slot.productVariantId !== variantId || !settings.tools.bookings) return 'the slot is no longer offered'
  return closedBecause(slot, now) ?? slot
}

/** The lines of one item, or why it has none. */
function linesOf(item: CartItem, cart: Wanted, shelf: Shelf): { face: Face; lines: QuoteLine[]; warning?: Warning } {
  const { currency, unitPrices } = cart
  const { settings, rates } = shelf
  const { bundle, wanted } = contentsOf(item, shelf)
  const face = faceOf(item, bundle, wanted[0]?.variant)
  const gone =
    !wanted.length ||
    wanted.some(({ variant }) => !variant || !isOffered(variant, settings)) ||
    (bundle !== null && bundle.status !== 'published')
  const isClosed = wanted.some(({ variant }) => variant?.isEvent && !settings.tools.events)
  // What was agreed elsewhere is recorded, even when it is no longer sold here; but nobody could see a ticket.
  if (isClosed || (gone && !unitPrices))
    return { face, lines: [], warning: { code: 'unavailable', message: `${face.name} is no longer sold`, itemId: item.id } }
  const slot = slotOf(item, shelf)
  if (typeof slot === 'string')
    return {
      face,
      lines: [],
      warning: { code: 'slot_closed', message: `${face.name}: ${slot}`, itemId: item.id, bookingSlotId: item.bookingSlotId! },
    }
  const lines: QuoteLine[] = []
  for (const { variant: found, units } of wanted) {
    const variant = found!
    const unitPrice = unitPrices?.get(item.id) ?? (currency === settings.currency ? variant.price : variant.prices[currency])
    if (unitPrice === undefined)
      return {
        face,
        lines: [],
        warning: { code: 'no_price', message: `${face.name} has no price in ${currency.toUpperCase()}`, itemId: item.id },
      }
    const taxRate = rateFor(rates, variant.taxRateId, taxCountry(cart))
    lines.push({
      item,
      variant,
      slot,
      quantity: units * item.quantity,
      unitPrice,
      taxRate,
      bundle: bundle && { id: bundle.bundleId, discountPercentage: bundle.discountPercentage },
    })
  }
  return { face, lines }
}

/** Units that the stock can't give, and places that a slot has not. */
function shortages(lines: readonly QuoteLine[]): Warning[] {
  const full = [...placesOf(lines).values()]
    .filter(({ slot, places }) => places > placesLeft(slot))
    .map(({ slot }): Warning => ({
      code: 'slot_full',
      message: `the slot has ${placesLeft(slot) || 'no'} places left`,
      bookingSlotId: slot.id,
      available: placesLeft(slot),
    }))
  const short = [...demandOf(lines).values()]
    .filter(({ variant, units }) => !canGive(variant, units))
    .map(({ variant }): Warning => ({
      code: 'out_of_stock',
      message: `${nameOf(variant)}: ${availableOf(variant)} left`,
      variantId: variant.id,
      available: availableOf(variant),
    }))
  return [...full, ...short]
}

/** The lines of a cart, with warnings about its items that can't be sold. */
export async function readLines(db: Reader, cart: Wanted, settings: Settings, now: string, rules: PriceRules) {
  const shelf = await readShelf(db, cart, settings, now, rules)
  const warnings: Warning[] = []
  const lines: QuoteLine[] = []
  const faces = new Map<string, Face>()
  for (const item of cart.items) {
    const own = linesOf(item, cart, shelf)
    faces.set(item.id, own.face)
    if (own.warning) warnings.push(own.warning)
    // A bundle may have grown since it was put in.
    if (lines.length + own.lines.length <= LINES_MAX) lines.push(...own.lines)
    else
      warnings.push({
        code: 'too_many_lines',
        message: `a cart holds at most ${LINES_MAX} lines, the parts of bundles counted`,
        itemId: item.id,
      })
  }
  return { lines, faces, warnings: [...warnings, ...shortages(lines)] }
}
