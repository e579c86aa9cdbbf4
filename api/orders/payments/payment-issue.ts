/** A payment issue: money of an order about which a merchant has to decide, kept with the order and told to the log. */
import type { Db } from '../../../db/driver.ts'
import type { PaymentIssue } from '../../../db/store/orders.ts'
import { setOrder, type Acting } from '../change.ts'
import type { OrderRow } from '../order.ts'

/** The same, for the log. */
export type Warning = PaymentIssue & { orderId: string }

/** Notes an issue with its order, in place of an older one. */
export async function raise(tx: Db, acting: Acting, order: OrderRow, issue: Omit<PaymentIssue, 'at'>): Promise<Warning> {
  const paymentIssue = { ...issue, at: acting.now }
  await setOrder(tx, order, acting, { paymentIssue })
  return { ...paymentIssue, orderId: order.id }
}
