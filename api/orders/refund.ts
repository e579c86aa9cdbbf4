/** Making refunds: how much a unit is worth, never more than was paid, and the way through the payment provider. */
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { payments, refunds } from '../../db/store/orders.ts'
import type { Provider } from '../checkout/payment.ts'
import { conflict, wrong } from '../http/refusal.ts'
import { Cents, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import { applyRefund, requireMove, setOrder, type About } from './change.ts'
import { findOrder, readLines, type LineRow, type OrderRow } from './order.ts'

export type RefundRow = typeof refunds.$inferSelect

export const Refund = Type.Object({
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

/** A refund on the wire. */
export function refundView({ providerPaymentId: _, providerId: __, ...row }: RefundRow) {
  return row
}

/**
 * What the next `units` of a line were paid with. The parts of all units add up to what was paid for the line; odd cents go to the
 * first ones, so that a unit that was paid with nothing never stands before one that was not.
 */
export function unitsWorth(
  line: Pick<LineRow, 'quantity' | 'refundedQuantity' | 'totalCents' | 'taxCents'>,
  units: number,
  taxesIncluded: boolean,
): number {
  const paid = line.totalCents + (taxesIncluded ? 0 : line.taxCents)
  const odd = paid % line.quantity
  const first = (n: number) => ((paid - odd) / line.quantity) * n + Math.min(n, odd)
  return first(line.refundedQuantity + units) - first(line.refundedQuantity)
}

export interface RefundInput {
  amountCents?: number
  lines?: { lineId: string; quantity: number }[]
  reason?: string | null
  restock?: boolean
}

async function takeLines(tx: Db, order: OrderRow, wanted: { lineId: string; quantity: number }[]): Promise<number> {
  const lines = await readLines(tx, order.id)
  const asked = new Map<string, number>()
  let amount = 0
  for (const [i, { lineId, quantity }] of wanted.entries()) {
    const line = lines.find((candidate) => candidate.id === lineId)
    if (!line) throw wrong(['lines', String(i), 'lineId'], 'is not a line of the order')
    if (asked.has(lineId)) throw wrong(['lines', String(i), 'lineId'], 'stands in the list twice')
    if (line.refundedQuantity + quantity > line.quantity)
      throw conflict(`only ${line.quantity - line.refundedQuantity} of this line can still be refunded`, { lineId })
    asked.set(lineId, quantity)
    amount += unitsWorth(line, quantity, order.taxesIncluded)
  }
  for (const [lineId, quantity] of asked)
    await tx.run(sql`update order_lines set refunded_quantity = refunded_quantity + ${quantity} where id = ${lineId}`)
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
export async function refund(tx: Db, about: About, order: OrderRow, input: RefundInput): Promise<RefundRow> {
  if ((input.amountCents === undefined) === (input.lines === undefined)) throw wrong('amountCents', 'give either amountCents or lines')
  const left = order.paidCents - order.refundedCents
  if (left <= 0) throw conflict(order.paidCents ? 'everything that was paid has been refunded' : 'the order has not been paid')
  const lines = input.lines ?? []
  const amountCents = input.amountCents ?? (await takeLines(tx, order, lines))
  if (amountCents > left) throw conflict(`at most ${left} can still be refunded`, { refundableCents: left })
  if (amountCents === 0) throw conflict('what is refunded was paid with nothing')
  const providerPaymentId = await paymentFor(tx, order, amountCents)
  const row: RefundRow = {
    id: about.outside.id(),
    orderId: order.id,
    status: providerPaymentId ? 'pending' : 'succeeded',
    amountCents,
    currency: order.currency,
    reason: input.reason ?? null,
    restock: input.restock ?? true,
    lines,
    providerPaymentId,
    providerId: null,
    createdAt: about.now,
    updatedAt: about.now,
  }
  await tx.insert(refunds).values(row)
  await setOrder(tx, order, about, { refundedCents: order.refundedCents + amountCents })
  if (!providerPaymentId) await applyRefund(tx, about, order, lines, row.restock)
  return row
}

/** Refunds all that is left, because the order moves to `refunded`. One that was paid with nothing has no refund: null. */
export async function refundRest(tx: Db, about: About, order: OrderRow): Promise<RefundRow | null> {
  requireMove(order, 'refunded')
  if (order.paidCents > 0) return refund(tx, about, order, { amountCents: order.paidCents - order.refundedCents })
  await applyRefund(tx, about, order, [], true)
  return null
}

/** The provider's word on a refund: effects on success, the amount free again on failure. Says once what it says. */
export async function settleRefund(tx: Db, about: About, id: string, outcome: 'succeeded' | 'failed', providerId: string | null) {
  const [row] = await tx.select().from(refunds).where(eq(refunds.id, id))
  if (!row || row.status !== 'pending') return
  const order = await findOrder(tx, row.orderId)
  await tx.update(refunds).set({ status: outcome, providerId, updatedAt: about.now }).where(eq(refunds.id, id))
  if (outcome === 'succeeded') return applyRefund(tx, about, order, row.lines, row.restock)
  await setOrder(tx, order, about, { refundedCents: order.refundedCents - row.amountCents })
  for (const { lineId, quantity } of row.lines)
    await tx.run(sql`update order_lines set refunded_quantity = refunded_quantity - ${quantity} where id = ${lineId}`)
}

/** What a provider's state of a refund comes to; null while it works on it. */
export const outcomeOf = (status: string | null) =>
  status === 'succeeded' ? ('succeeded' as const) : status === 'failed' || status === 'canceled' ? ('failed' as const) : null

/**
 * Asks the provider for a pending refund, or what became of it. The refund's id makes asking twice the same as once, but the
 * provider forgets such keys after a day, and a bank can take longer: once it has an id there, it is only read.
 */
export async function requestRefund(
  store: Handle,
  provider: Provider,
  row: Pick<RefundRow, 'id' | 'providerPaymentId' | 'providerId' | 'amountCents'>,
  about: About,
  owner: { storeId: string; environment: string },
) {
  const { refunds: there } = provider.stripe
  try {
    const made = row.providerId
      ? await there.retrieve(row.providerId)
      : await there.create(
          { payment_intent: row.providerPaymentId!, amount: row.amountCents, metadata: { ...owner, refundId: row.id } },
          { idempotencyKey: row.id },
        )
    const outcome = outcomeOf(made.status)
    if (outcome) await store.write((tx) => settleRefund(tx, about, row.id, outcome, made.id))
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
      await store.write((tx) => settleRefund(tx, about, row.id, 'failed', null))
    else throw error
  }
}
