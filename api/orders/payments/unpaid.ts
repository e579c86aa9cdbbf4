/** Cancelling an order that nobody has paid (document 3, Orders): by the job that looks, or because its provider gave the payment up. */
import type { Db } from '../../../db/driver.ts'
import { cancel, setOrder, type Acting } from '../change.ts'
import { findOrder } from '../order.ts'

/**
 * Cancels an order that still waits for its money, once. One with a deposit, or with money that a merchant has to decide about, is left
 * to the merchant: it is not awaited any more.
 */
export async function cancelUnpaid(tx: Db, acting: Acting, orderId: string) {
  const order = await findOrder(tx, orderId)
  if (order.status !== 'pending' || order.awaiting === null) return
  const hasMoney = order.paidCents > order.refundedCents || order.paymentIssue !== null
  if (hasMoney) await setOrder(tx, order, acting, { awaiting: null })
  else await cancel(tx, acting, order, 'unpaid')
}
