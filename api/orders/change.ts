/** The changes of an order after it is placed: paying, shipping, cancelling, giving back. Rules and their effects in one place. */
import { and, eq, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { variants } from '../../db/store/catalog.ts'
import { couponRedemptions, coupons } from '../../db/store/marketing.ts'
import { orderLines, orders } from '../../db/store/orders.ts'
import { refunds } from '../../db/store/payments.ts'
import { putBack, release, takeReserved, type Movement } from '../catalog/stock.ts'
import { conflict } from '../values/refusal.ts'
import type { Call } from '../http/route.ts'
import type { Moment } from '../values/clock.ts'
import { insertPayment } from './place.ts'
import { earn, takeBack } from './earn.ts'
import { askForMail } from './mails/ask.ts'
import { assignmentOf } from './workstations/packing.ts'
import { returnPoints } from './redeem.ts'
import { askForTickets } from '../events/ticket-mail.ts'
import { voidSeats } from '../events/seat.ts'
import { freePlaces } from '../events/slot.ts'
import { MOVES, readLines, tellOrder, type LineRow, type OrderRow, type OrderStatus } from './order.ts'

/** The moment of a change to an order, and the key that makes it; `keyId` is null when a payment provider or a job does. */
export interface Acting extends Moment {
  keyId: string | null
}

/** The moment and the key of a request. */
export const actingOf = ({ clock, now, session }: Pick<Call, 'clock' | 'now' | 'session'>): Acting => ({
  clock,
  now,
  keyId: session.key.id,
})

const setLine = compile((db) =>
  db
    .update(orderLines)
    .set({
      openQuantity: named('openQuantity'),
      shippedQuantity: named('shippedQuantity'),
      refundedQuantity: named('refundedQuantity'),
    })
    .where(eq(orderLines.id, named('id'))),
)

/** Stores some columns of an order, in the row at hand too. */
export async function setOrder(tx: Db, order: OrderRow, acting: Acting, columns: Partial<OrderRow>) {
  Object.assign(order, columns, { updatedAt: acting.now })
  await tx
    .update(orders)
    .set({ ...columns, updatedAt: acting.now })
    .where(eq(orders.id, order.id))
}

const saveLine = (tx: Db, { id, openQuantity, shippedQuantity, refundedQuantity }: LineRow) =>
  setLine.run(tx, { id, openQuantity, shippedQuantity, refundedQuantity })
const movement = (acting: Acting, order: OrderRow, reason: string): Movement => ({
  id: acting.clock.id(),
  reason,
  orderId: order.id,
  keyId: acting.keyId,
  createdAt: acting.now,
})

/** Refuses a move that the table does not have. */
export function requireMove(order: OrderRow, to: OrderStatus) {
  if (!MOVES[order.status].includes(to))
    throw conflict(`an order that is ${order.status} can't become ${to}`, { status: order.status, allowed: MOVES[order.status] })
}

/** Units of a line leave: off the shelf, if it is tracked. */
export async function shipUnits(tx: Db, acting: Acting, order: OrderRow, line: LineRow, units: number) {
  // A seat that is sold stays where it is, and so does a place.
  if (line.ticket || line.bookingSlotId) return
  if (line.held && line.variantId && !(await takeReserved(tx, line.variantId, units, movement(acting, order, `order ${order.lookup}`)))) {
    const [variant] = await tx.select({ tracked: variants.tracked }).from(variants).where(eq(variants.id, line.variantId))
    if (variant?.tracked) throw conflict(`${line.name} is not on the shelf: raise its quantity first`, { lineId: line.id })
    await release(tx, line.variantId, units)
  }
  line.openQuantity -= units
  line.shippedQuantity += units
  await saveLine(tx, line)
}

/** Held units are gone. Those that were sold before they were there are held no longer: there is nothing of them to write off. */
async function writeOff(tx: Db, acting: Acting, order: OrderRow, variantId: string, units: number) {
  const [variant] = await tx.select({ quantity: variants.quantity }).from(variants).where(eq(variants.id, variantId))
  const there = Math.min(units, variant?.quantity ?? 0)
  const taken = await takeReserved(tx, variantId, there, movement(acting, order, `written off from order ${order.lookup}`))
  await release(tx, variantId, taken ? units - there : units)
}

/**
 * Units of a line come back: held ones are free again, shipped ones return to the shelf; without restock they are written off. Units
 * that neither are held nor have shipped were given back before, by a cancellation.
 */
async function giveBack(tx: Db, acting: Acting, order: OrderRow, line: LineRow, units: number, restock: boolean) {
  const open = Math.min(units, line.openQuantity)
  const shipped = Math.min(units - open, line.shippedQuantity)
  if (line.held && line.variantId) {
    if (restock) {
      await release(tx, line.variantId, open)
      if (shipped) await putBack(tx, line.variantId, shipped, movement(acting, order, `returned from order ${order.lookup}`))
    } else if (open) await writeOff(tx, acting, order, line.variantId, open)
  }
  line.openQuantity -= open
  if (line.ticket && open) await voidSeats(tx, line.id, order.id, open)
  if (line.bookingSlotId && open) await freePlaces(tx, acting, order, line.id, open)
}

/** Gives the coupons of an order back; once, because the redemptions go with it. */
async function returnCoupons(tx: Db, orderId: string) {
  for (const { couponId } of await tx
    .delete(couponRedemptions)
    .where(eq(couponRedemptions.orderId, orderId))
    .returning({ couponId: couponRedemptions.couponId })) {
    await tx
      .update(coupons)
      .set({ timesRedeemed: sql`${coupons.timesRedeemed} - 1` })
      .where(eq(coupons.id, couponId))
  }
}

/** The amount still to be paid of an order, in minor units: a deposit that was given back is due again. */
export const dueCents = ({ totalCents, paidCents, refundedCents }: OrderRow) => totalCents - paidCents + refundedCents

/** The money is there: records it (unless a payment row does so already) and moves a pending order to paid. */
export async function pay(
  tx: Db,
  acting: Acting,
  order: OrderRow,
  amountCents: number,
  record: { method: string; reference: string | null } | null,
) {
  if (record) {
    await insertPayment(tx, {
      id: acting.clock.id(),
      orderId: order.id,
      ...record,
      status: 'succeeded',
      amountCents,
      currency: order.currency,
      providerId: null,
      createdAt: acting.now,
      updatedAt: acting.now,
    })
  }
  const paidCents = order.paidCents + amountCents
  const complete = dueCents(order) <= amountCents
  // Money that comes for a cancelled order, or twice, is there to be refunded: the order is not paid by it.
  const becomesPaid = complete && order.status === 'pending'
  await setOrder(tx, order, acting, {
    paidCents,
    ...(complete && order.paymentStatus === 'unpaid' ? { paymentStatus: 'paid' as const, paidAt: acting.now } : {}),
    ...(becomesPaid ? { status: 'paid' as const, ...(await assignmentOf(tx, order)) } : {}),
  })
  if (!becomesPaid) return
  const lines = await readLines(tx, order.id)
  await earn(tx, acting, order, lines)
  if (lines.some(({ ticket }) => ticket)) await askForTickets(tx, acting, order.id)
  await tellOrder(tx, acting, 'order.paid', order)
  if (order.awaiting === 'stripe') await askForMail(tx, acting, order, 'order-confirmation')
}

/** Everything that is still open leaves. */
async function fulfil(tx: Db, acting: Acting, order: OrderRow) {
  for (const line of await readLines(tx, order.id)) if (line.openQuantity > 0) await shipUnits(tx, acting, order, line, line.openQuantity)
}

/** Cancels: what the order holds is free again, its coupons too. Money that was paid is refunded separately. */
export async function cancel(tx: Db, acting: Acting, order: OrderRow, reason: string | null) {
  requireMove(order, 'cancelled')
  const lines = await readLines(tx, order.id)
  if (lines.some((line) => line.shippedQuantity > 0)) throw conflict('a part of the order has shipped: refund it instead')
  for (const line of lines) {
    await giveBack(tx, acting, order, line, line.openQuantity, true)
    await saveLine(tx, line)
  }
  await returnCoupons(tx, order.id)
  await returnPoints(tx, acting, order)
  await setOrder(tx, order, acting, { status: 'cancelled', cancelReason: reason })
  await tellOrder(tx, acting, 'order.cancelled', order)
}

/** The sum of an order's refunds that are promised but have not gone through, in minor units; they may still fail. */
export async function pendingCents(tx: Db, orderId: string): Promise<number> {
  const [row] = await tx
    .select({ sum: sql<number>`coalesce(sum(${refunds.amountCents}), 0)` })
    .from(refunds)
    .where(and(eq(refunds.orderId, orderId), eq(refunds.status, 'pending')))
  return row!.sum
}

/**
 * Applies a refund that has gone through: the units it names come back; a full one brings back everything, coupons too. A pending
 * order has no more than a deposit to give back: it goes on waiting to be paid. One that cost nothing is refunded with its last unit.
 */
export async function applyRefund(
  tx: Db,
  acting: Acting,
  order: OrderRow,
  named: readonly { lineId: string; quantity: number }[],
  restock: boolean,
) {
  const lines = await readLines(tx, order.id)
  const waiting = order.status === 'pending'
  const backCents = order.refundedCents - (await pendingCents(tx, order.id))
  const isFree = order.paidCents === 0 && named.length > 0
  // Who names lines gives back those: what cost nothing beside them, or was paid back before, stays.
  const isOther = (line: LineRow) =>
    named.length > 0 && named.every(({ lineId }) => lineId !== line.id) && line.refundedQuantity < line.quantity
  const isAll = isFree ? lines.every((line) => line.refundedQuantity === line.quantity) : backCents >= order.paidCents
  const full = !waiting && isAll && !lines.some(isOther)
  for (const line of lines) {
    const units = named.find((entry) => entry.lineId === line.id)?.quantity ?? 0
    const back = full ? line.quantity - line.refundedQuantity + units : units
    if (back > 0) await giveBack(tx, acting, order, line, back, restock)
    if (full) line.refundedQuantity = line.quantity
    await saveLine(tx, line)
  }
  const moves = full && MOVES[order.status].includes('refunded')
  if (moves) await returnCoupons(tx, order.id)
  await setOrder(tx, order, acting, {
    paymentStatus: waiting
      ? 'unpaid'
      : full || (backCents > 0 && backCents >= order.paidCents)
        ? 'refunded'
        : backCents > 0
          ? 'partially_refunded'
          : 'paid',
    ...(moves ? { status: 'refunded' as const } : {}),
  })
  if (moves) await returnPoints(tx, acting, order)
  await takeBack(tx, acting, order, backCents)
  // What was still to be shipped will not be: the order may have shipped as a whole by that.
  if (order.status === 'processing' && lines.some((line) => line.shippedQuantity > 0)) await noteShipment(tx, acting, order, lines)
  await tellOrder(tx, acting, 'order.refunded', order)
}

/** Moves an order to a status by hand, with all that belongs to the move. Refunds are made by their own resource. */
export async function move(tx: Db, acting: Acting, order: OrderRow, to: Exclude<OrderStatus, 'refunded'>) {
  requireMove(order, to)
  const from = order.status
  if (to === 'cancelled') return cancel(tx, acting, order, null)
  if (to === 'paid') return pay(tx, acting, order, dueCents(order), { method: 'manual', reference: null })
  if (to === 'shipped' || (to === 'completed' && (order.status === 'paid' || order.status === 'processing')))
    await fulfil(tx, acting, order)
  await setOrder(tx, order, acting, { status: to })
  if (to === 'delivered' || (to === 'completed' && from !== 'delivered')) await askForMail(tx, acting, order, 'review-request')
  if (to !== 'shipped') return
  await tellOrder(tx, acting, 'order.shipped', order)
  if (order.shippingMethodId !== null) await askForMail(tx, acting, order, 'shipped')
}

/** Called after units have shipped: shipped when nothing shippable is open, else processing. */
export async function noteShipment(tx: Db, acting: Acting, order: OrderRow, lines: readonly LineRow[]) {
  if (lines.some((line) => line.shippable && line.openQuantity > 0)) {
    if (order.status === 'paid') await setOrder(tx, order, acting, { status: 'processing' })
    return
  }
  // What is not shipped (files, tickets) leaves with the last parcel: an order that has shipped holds nothing.
  for (const line of lines) if (line.openQuantity > 0) await shipUnits(tx, acting, order, line, line.openQuantity)
  await setOrder(tx, order, acting, { status: 'shipped' })
  await tellOrder(tx, acting, 'order.shipped', order)
}
