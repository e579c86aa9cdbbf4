/** Placing an order: one transaction takes the stock, redeems the coupons, numbers the order and records it, or nothing happens. */
import { and, eq, sql } from 'drizzle-orm'
import { compile, inserter, named, type Db } from '../../db/driver.ts'
import { type Address, counters } from '../../db/store/store.ts'
import { couponRedemptions, coupons } from '../../db/store/marketing.ts'
import { customers, orderLines, orders } from '../../db/store/orders.ts'
import { payments } from '../../db/store/payments.ts'
import { appliedPromotions } from '../pricing/applied.ts'
import { availableOf, canGive, demandOf, placesOf, ticketsIn } from '../pricing/quote-lines.ts'
import type { Quote } from '../pricing/quote.ts'
import { reserve } from '../catalog/stock.ts'
import { tellLow } from '../catalog/told.ts'
import { conflict } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import type { Moment } from '../values/clock.ts'
import { askForTickets } from '../events/ticket-mail.ts'
import { issueSeats, SEATS_MAX, type Sealing } from '../events/seat.ts'
import { placesLeft, takePlaces, type SlotRow } from '../events/slot.ts'
import { fold } from '../values/slug.ts'
import { askForLook, awaitingOf } from './payments/awaiting.ts'
import { tellCustomer } from './customer.ts'
import { tellOrder, type LineRow, type OrderRow, type PaymentRow } from './order.ts'
import { earn } from './earn.ts'
import { askForMail } from './mails/ask.ts'
import { redeem } from './redeem.ts'
import { assignmentOf } from './workstations/packing.ts'

/** An order to be placed: the quote, who buys, and where it goes. */
interface Placing {
  id: string
  quote: Quote
  settings: Settings
  source: OrderRow['source']
  currency: string
  email: string
  name: string | null
  phone: string | null
  shippingAddress: Address | null
  billingAddress: Address | null
  pickupPoint: Record<string, unknown> | null
  pickupLocationId: string | null
  note: string | null
  /** The language of its mails. */
  locale?: string | null
  cartId: string | null
  /** For the tokens of seats; a seed sells none. */
  sealing: Sealing | null
  /** How it is paid; `paid` when the money is there already. */
  payment: { method: string; paid: boolean; reference: string | null; providerId: string | null } | null
}

function requireSealing(sealing: Sealing | null): Sealing {
  if (!sealing) throw new Error('seats are sold where their tokens can be sealed')
  return sealing
}

/** Nobody has decided where it is packed. */
const unassigned = { workstationId: null, workstationBy: null }

const insertOrder = inserter(orders)
const insertLine = inserter(orderLines)
export const insertPayment = inserter(payments)
const insertCustomer = inserter(customers)
const customerByEmail = compile((db) =>
  db
    .select({ id: customers.id, name: customers.name, phone: customers.phone })
    .from(customers)
    .where(eq(customers.email, named('email'))),
)
const completeCustomer = compile((db) =>
  db
    .update(customers)
    .set({ name: named('name'), phone: named('phone'), updatedAt: named('now') })
    .where(eq(customers.id, named('id'))),
)
const nextNumber = compile((db) =>
  db
    .insert(counters)
    .values({ name: named('name'), value: 1001 })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
    .returning({ value: counters.value }),
)
const redeemCoupon = compile((db) =>
  db
    .update(coupons)
    .set({ timesRedeemed: sql`${coupons.timesRedeemed} + 1` })
    .where(and(eq(coupons.id, named('id')), sql`(${coupons.maxUses} is null or ${coupons.timesRedeemed} < ${coupons.maxUses})`)),
)
const insertRedemption = inserter(couponRedemptions)

/** The customer of an address for mail: the one there is (completed by what is new), or a new one. */
async function customerOf(tx: Db, moment: Moment, email: string, name: string | null, phone: string | null): Promise<string> {
  const known = (await customerByEmail.get(tx, { email })) as { id: string; name: string | null; phone: string | null } | undefined
  if (known) {
    if ((name && !known.name) || (phone && !known.phone))
      await completeCustomer.run(tx, { id: known.id, name: known.name ?? name, phone: known.phone ?? phone, now: moment.now })
    return known.id
  }
  const id = moment.clock.id()
  await insertCustomer(tx, { id, email, name, phone, createdAt: moment.now, updatedAt: moment.now })
  await tellCustomer(tx, moment, id)
  return id
}

/** Holds the stock of all lines: the same variant in two lines, or alone and in a bundle, is asked for once, as a whole. */
async function reserveAll(tx: Db, moment: Moment, { lines }: Quote, { lowStockThreshold }: Settings) {
  for (const { variant, units } of demandOf(lines).values()) {
    if (!variant.tracked) continue
    if (!canGive(variant, units) || !(await reserve(tx, variant.id, units))) {
      throw conflict('sold out', { code: 'out_of_stock', variantId: variant.id, available: availableOf(variant) })
    }
    const before = variant.quantity - variant.reserved
    if (before > lowStockThreshold && before - units <= lowStockThreshold) await tellLow(tx, moment, variant.id)
  }
}

/** Refuses places that a slot has not; they are taken with the order. */
function requirePlaces({ lines }: Quote): Map<string, SlotRow> {
  const wanted = placesOf(lines)
  for (const { slot, places } of wanted.values())
    if (places > placesLeft(slot)) throw conflict('sold out', { code: 'slot_full', bookingSlotId: slot.id, available: placesLeft(slot) })
  return new Map([...wanted].map(([id, { slot }]) => [id, slot]))
}

async function redeemAll(tx: Db, { price }: Quote) {
  for (const { id, code } of price.coupons) {
    if ((await redeemCoupon.run(tx, { id })).changes !== 1) throw conflict('the coupon is used up', { code: 'coupon', coupon: code })
  }
}

/** The customer of a new order, its number, and the workstation that packs it. */
interface Assigned {
  customerId: string
  lookup: number
  assignment: Pick<OrderRow, keyof typeof unassigned>
}

function orderRow({ clock, now }: Moment, order: Placing, { customerId, lookup, assignment }: Assigned): OrderRow {
  const { quote, settings, currency, email, payment } = order
  const { price, method } = quote
  const paid = payment?.paid ?? false
  return {
    id: order.id,
    lookup,
    source: order.source,
    status: paid ? 'paid' : 'pending',
    paymentStatus: paid ? 'paid' : 'unpaid',
    customerId,
    email,
    name: order.name,
    foldedName: fold(order.name ?? ''),
    phone: order.phone,
    currency,
    taxesIncluded: settings.taxesIncluded,
    subtotalCents: price.subtotal,
    discountCents: price.discount,
    shippingCents: price.shipping,
    taxCents: price.tax,
    totalCents: price.total,
    paidCents: paid ? price.total : 0,
    refundedCents: 0,
    shippingAddress: order.shippingAddress,
    billingAddress: order.billingAddress ?? order.shippingAddress,
    shippingMethodId: method?.id ?? null,
    shippingName: method?.name ?? null,
    shippingTaxCents: price.shippingTax,
    pickupPoint: order.pickupPoint,
    pickupLocationId: order.pickupLocationId,
    coupons: price.coupons.map(({ code, discount }) => ({ code, discountCents: discount })),
    promotions: appliedPromotions(price),
    pointsEarned: 0,
    pointsRedeemed: price.pointsRedeemed,
    pointsTakenBack: 0,
    earnedParts: null,
    accessCode: clock.secret(),
    ...assignment,
    packedAt: null,
    paidAt: paid ? now : null,
    note: order.note,
    cancelReason: null,
    paymentIssue: null,
    mailIssues: null,
    ...awaitingOf(order, now),
    locale: order.locale ?? null,
    cartId: order.cartId,
    createdAt: now,
    updatedAt: now,
  }
}

const lineRows = ({ clock }: Moment, orderId: string, { lines, price }: Quote): LineRow[] =>
  lines.map(({ variant, slot, item, quantity, unitPrice }, position): LineRow => ({
    id: clock.id(),
    orderId,
    position,
    variantId: variant.id,
    productId: variant.productId,
    bundleId: item.bundleId,
    name: variant.variantName === variant.productName ? variant.productName : `${variant.productName} – ${variant.variantName}`,
    sku: variant.sku,
    quantity,
    unitPriceCents: unitPrice,
    discountCents: price.lines[position]!.discount,
    taxCents: price.lines[position]!.tax,
    totalCents: price.lines[position]!.total,
    shippable: variant.shippable && !slot,
    openQuantity: quantity,
    held: variant.tracked && !slot,
    shippedQuantity: 0,
    refundedQuantity: 0,
    bookingSlotId: slot?.id ?? null,
    ticket: variant.isEvent,
  }))

function paymentRow({ clock, now }: Moment, { payment, quote, currency }: Placing, orderId: string): PaymentRow | null {
  if (!payment) return null
  return {
    id: clock.id(),
    orderId,
    method: payment.method,
    status: payment.paid ? 'succeeded' : 'pending',
    amountCents: quote.price.total,
    currency,
    reference: payment.reference,
    providerId: payment.providerId,
    createdAt: now,
    updatedAt: now,
  }
}

/** Places an order and returns its rows. Throws a 409 refusal, and leaves nothing behind, when something is sold out or used up. */
export async function place(
  tx: Db,
  moment: Moment,
  order: Placing,
): Promise<{ order: OrderRow; lines: LineRow[]; payment: PaymentRow | null }> {
  const { now } = moment
  const { quote, settings } = order
  if (ticketsIn(quote.lines) > SEATS_MAX) throw conflict(`an order has at most ${SEATS_MAX} tickets`, { maximum: SEATS_MAX })
  await reserveAll(tx, moment, quote, settings)
  const slots = requirePlaces(quote)
  await redeemAll(tx, quote)
  const customerId = await customerOf(tx, moment, order.email, order.name, order.phone)
  const { value: lookup } = (await nextNumber.get(tx, { name: 'order' })) as { value: number }
  const paid = order.payment?.paid ?? false
  const where = { ...unassigned, source: order.source, shippingMethodId: quote.method?.id ?? null }
  const row = orderRow(moment, order, { customerId, lookup, assignment: paid ? await assignmentOf(tx, where) : unassigned })
  await insertOrder(tx, row)
  for (const { id } of quote.price.coupons) await insertRedemption(tx, { couponId: id, orderId: row.id, createdAt: now })
  const lines = lineRows(moment, row.id, quote)
  for (const line of lines) await insertLine(tx, line)
  if (lines.some(({ ticket }) => ticket)) {
    await issueSeats(tx, moment, requireSealing(order.sealing), { order: row, lines })
    if (paid) await askForTickets(tx, moment, row.id)
  }
  const payment = paymentRow(moment, order, row.id)
  if (payment) await insertPayment(tx, payment)
  await askForLook(tx, moment, row, settings)
  await redeem(tx, moment, row)
  if (paid) await earn(tx, moment, row, lines, false)
  await tellOrder(tx, moment, paid ? ['order.created', 'order.paid'] : 'order.created', row, lines)
  if (slots.size) await takePlaces(tx, moment, settings, { order: row, lines, slots })
  // Who is at the till of a provider has not bought yet.
  if (row.cartId !== null && row.awaiting !== 'stripe' && settings.email.outboundEnabled)
    await askForMail(tx, moment, row, 'order-confirmation')
  return { order: row, lines, payment }
}
