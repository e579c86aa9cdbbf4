/** Making refunds: how much a unit is worth, never more than was paid, and the way through the payment provider. */
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import type { Handle } from '../../../db/open.ts'
import { payments, refunds } from '../../../db/store/payments.ts'
import type { Provider } from '../../outside/payment-provider.ts'
import { stepOf, toStripe } from '../../outside/stripe-amount.ts'
import { conflict, wrong } from '../../values/refusal.ts'
import { Cents, Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import { applyRefund, pendingCents, requireMove, setOrder, type Acting } from '../change.ts'
import { takeBack } from '../earn.ts'
import { askForMail } from '../mails/ask.ts'
import { findOrder, readLines, unitsOf, type LineRow, type OrderRow, type Units } from '../order.ts'
import { raise, type Warning } from './payment-issue.ts'

export type RefundRow = typeof refunds.$inferSelect

export const Refund = Named('Refund', {
  id: Uuid(),
  orderId: Uuid(),
  status: OneOf(['pending', 'succeeded', 'failed'], { description: 'pending while the payment provider works on it' }),
  amountCents: Cents(),
  currency: Type.String(),
  reason: Nullable(Type.String()),
  restock: Type.Boolean(),
  lines: Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer() })),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/**
 * What the next `units` of a line were paid with. The parts of all units add up to what was paid for the line; odd cents go to the
 * first ones, so that a unit that was paid with nothing never stands before one that was not.
 */
function unitsWorth(
  line: Pick<LineRow, 'quantity' | 'refundedQuantity' | 'totalCents' | 'taxCents'>,
  units: number,
  taxesIncluded: boolean,
): number {
  const paid = line.totalCents + (taxesIncluded ? 0 : line.taxCents)
  const odd = paid % line.quantity
  const first = (n: number) => ((paid - odd) / line.quantity) * n + Math.min(n, odd)
  return first(line.refundedQuantity + units) - first(line.refundedQuantity)
}

interface RefundInput {
  amountCents?: number
  lines?: { lineId: string; quantity: number }[]
  reason?: string | null
  restock?: boolean
  /** Gives back what is left where a part of the lines' price was given back before. */
  isCapped?: boolean
}

/** Counts units as refunded, and gives what they were paid with. */
async function takeUnits(tx: Db, order: OrderRow, wanted: readonly Units[]): Promise<number> {
  let amount = 0
  for (const { line, quantity } of wanted) {
    if (line.refundedQuantity + quantity > line.quantity)
      throw conflict(`only ${line.quantity - line.refundedQuantity} of this line can still be refunded`, { lineId: line.id })
    amount += unitsWorth(line, quantity, order.taxesIncluded)
    await tx.run(sql`update order_lines set refunded_quantity = refunded_quantity + ${quantity} where id = ${line.id}`)
  }
  return amount
}

/** The payment at the provider that an amount goes back to; null when nothing came through it, or all of that has gone back. */
async function paymentFor(tx: Db, order: OrderRow, amountCents: number): Promise<string | null> {
  const [paid] = await tx
    .select()
    .from(payments)
    .where(and(eq(payments.orderId, order.id), isNotNull(payments.providerId), eq(payments.status, 'succeeded')))
    .limit(1)
  if (!paid) return null
  const [row] = await tx
    .select({ sum: sql<number>`coalesce(sum(${refunds.amountCents}), 0)` })
    .from(refunds)
    .where(and(eq(refunds.providerPaymentId, paid.providerId!), ne(refunds.status, 'failed')))
  const left = paid.amountCents - row!.sum
  if (left > 0 && amountCents > left)
    throw conflict(`only ${left} of it came through the payment provider: refund that, then the rest`, { refundableCents: left })
  return left > 0 ? paid.providerId : null
}

/** Records a refund. Money that came through the provider goes back through it, after the commit; the rest is settled here. */
export async function refund(tx: Db, acting: Acting, order: OrderRow, input: RefundInput): Promise<RefundRow> {
  if ((input.amountCents === undefined) === (input.lines === undefined)) throw wrong('amountCents', 'give either amountCents or lines')
  const lines = input.lines ?? []
  const units = unitsOf(await readLines(tx, order.id), lines)
  const left = order.paidCents - order.refundedCents
  if (order.paymentStatus === 'unpaid' && left <= 0) throw conflict('the order has not been paid')
  if (order.status === 'pending' && input.lines)
    throw conflict('the order has not been paid in full: refund an amount of what was paid, or cancel it')
  if (left <= 0 && !input.lines) throw conflict('everything that was paid has been refunded')
  const worth = input.amountCents ?? (await takeUnits(tx, order, units))
  const amountCents = input.isCapped ? Math.min(worth, left) : worth
  if (amountCents > left) throw conflict(`at most ${left} can still be refunded`, { refundableCents: left })
  // Units that were paid with nothing come back, too; no provider has to hear of that.
  const providerPaymentId = amountCents ? await paymentFor(tx, order, amountCents) : null
  if (providerPaymentId && toStripe(amountCents, order.currency) === null) {
    if (input.amountCents !== undefined) throw wrong('amountCents', stepOf(order.currency))
    throw conflict(`${stepOf(order.currency)}, and these lines come to ${amountCents}: refund an amount instead`, { amountCents })
  }
  const row: RefundRow = {
    id: acting.clock.id(),
    orderId: order.id,
    status: providerPaymentId ? 'pending' : 'succeeded',
    amountCents,
    currency: order.currency,
    reason: input.reason ?? null,
    restock: input.restock ?? true,
    lines,
    providerPaymentId,
    providerId: null,
    createdAt: acting.now,
    updatedAt: acting.now,
  }
  await tx.insert(refunds).values(row)
  await setOrder(tx, order, acting, { refundedCents: order.refundedCents + amountCents })
  if (!providerPaymentId) await applyRefund(tx, acting, order, lines, row.restock)
  if (!providerPaymentId && amountCents > 0) await askForMail(tx, acting, order, 'refund', row.id)
  return row
}

/** Refunds all that is left, because the order moves to `refunded`. One that was paid with nothing has no refund: null. */
export async function refundRest(tx: Db, acting: Acting, order: OrderRow): Promise<RefundRow | null> {
  requireMove(order, 'refunded')
  if (order.paidCents > 0) return refund(tx, acting, order, { amountCents: order.paidCents - order.refundedCents })
  await applyRefund(tx, acting, order, [], true)
  return null
}

/** The bank has sent back what the provider had refunded: the money is the merchant's again. What came back for it stays back. */
async function undoRefund(tx: Db, acting: Acting, order: OrderRow, amountCents: number) {
  const refundedCents = order.refundedCents - amountCents
  const backCents = refundedCents - (await pendingCents(tx, order.id))
  const whole = order.paidAt === null ? ('unpaid' as const) : ('paid' as const)
  const paymentStatus = order.status === 'pending' ? 'unpaid' : backCents > 0 ? 'partially_refunded' : whole
  await setOrder(tx, order, acting, { refundedCents, paymentStatus })
  await takeBack(tx, acting, order, backCents)
}

/**
 * The provider's word on a refund: effects on success, the amount free again on failure, also when that comes days after the success.
 * Says once what it says; a failure is what the merchant has to decide about.
 */
export async function settleRefund(
  tx: Db,
  acting: Acting,
  id: string,
  outcome: 'succeeded' | 'failed',
  providerId: string | null,
): Promise<Warning | null> {
  const [row] = await tx.select().from(refunds).where(eq(refunds.id, id))
  if (!row || row.status === 'failed' || row.status === outcome) return null
  const order = await findOrder(tx, row.orderId)
  await tx.update(refunds).set({ status: outcome, providerId, updatedAt: acting.now }).where(eq(refunds.id, id))
  if (outcome === 'succeeded') {
    await applyRefund(tx, acting, order, row.lines, row.restock)
    await askForMail(tx, acting, order, 'refund', row.id)
    return null
  }
  if (row.status === 'succeeded') await undoRefund(tx, acting, order, row.amountCents)
  else {
    await setOrder(tx, order, acting, { refundedCents: order.refundedCents - row.amountCents })
    for (const { lineId, quantity } of row.lines)
      await tx.run(sql`update order_lines set refunded_quantity = refunded_quantity - ${quantity} where id = ${lineId}`)
  }
  const message = `a refund of ${row.amountCents} ${row.currency} did not reach the buyer: the amount can be refunded again`
  return raise(tx, acting, order, { code: 'refund_failed', message, reference: providerId ?? row.providerPaymentId! })
}

/** The outcome of a refund by its status at the provider; null while the provider works on it. */
export const outcomeOf = (status: string | null) =>
  status === 'succeeded' ? ('succeeded' as const) : status === 'failed' || status === 'canceled' ? ('failed' as const) : null

/** Refunds of one payment that are looked through for one that an earlier attempt made. */
const LOOKED_THROUGH_MAX = 1_000

/** The refund that an earlier attempt has made, though nobody heard of it. */
async function madeBefore({ stripe }: Provider, { id, providerPaymentId }: Pick<RefundRow, 'id' | 'providerPaymentId'>) {
  const there = stripe.refunds.list({ payment_intent: providerPaymentId!, limit: 100 })
  return (await there.autoPagingToArray({ limit: LOOKED_THROUGH_MAX })).find(({ metadata }) => metadata?.refundId === id)
}

/** The circumstances of asking the provider for a refund; `again` when it may have been asked for before. */
interface Asking {
  acting: Acting
  owner: { storeId: string; environment: string }
  again: boolean
}

/**
 * Asks the provider for a pending refund, or what became of it. The refund's id makes asking twice the same as once, but the
 * provider forgets such keys after a day: before it is asked again, its list is looked through; once it has an id there, it is only read.
 */
export async function requestRefund(
  store: Handle,
  provider: Provider,
  row: Pick<RefundRow, 'id' | 'providerPaymentId' | 'providerId' | 'amountCents' | 'currency'>,
  { acting, owner, again }: Asking,
) {
  const { refunds: there } = provider.stripe
  try {
    const made = row.providerId
      ? await there.retrieve(row.providerId)
      : (again && (await madeBefore(provider, row))) ||
        (await there.create(
          {
            payment_intent: row.providerPaymentId!,
            amount: toStripe(row.amountCents, row.currency)!,
            metadata: { ...owner, refundId: row.id },
          },
          { idempotencyKey: row.id },
        ))
    const outcome = outcomeOf(made.status)
    if (outcome) await store.write((tx) => settleRefund(tx, acting, row.id, outcome, made.id))
    else if (!row.providerId)
      await store.write(
        async (tx) =>
          void (await tx
            .update(refunds)
            .set({ providerId: made.id })
            .where(and(eq(refunds.id, row.id), eq(refunds.status, 'pending')))),
      )
  } catch (error) {
    // Refused for good is failed; anything else stays pending and is asked again.
    if (!row.providerId && (error as { type?: string }).type === 'StripeInvalidRequestError')
      await store.write((tx) => settleRefund(tx, acting, row.id, 'failed', null))
    else throw error
  }
}
