/** The effect of a PaymentIntent of Stripe's on its order: paid, given up, or an issue for a merchant to decide about. */
import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db } from '../../../db/driver.ts'
import { payments } from '../../../db/store/payments.ts'
import { fromStripe, toStripe } from '../../outside/stripe-amount.ts'
import { pay, type Acting } from '../change.ts'
import { findOrder, type PaymentRow } from '../order.ts'
import { raise, type Warning } from './payment-issue.ts'
import { cancelUnpaid } from './unpaid.ts'

const settled = (tx: Db, acting: Acting, { id }: PaymentRow, status: 'succeeded' | 'failed') =>
  tx.update(payments).set({ status, updatedAt: acting.now }).where(eq(payments.id, id))

/** The received amount in minor units as the merchant counts them, with its currency, as text for a message. */
function received({ amount_received: amount, currency }: Stripe.PaymentIntent): string {
  const cents = fromStripe(amount, currency)
  return cents === null ? `${amount} of Stripe's units of ${currency}` : `${cents} ${currency}`
}

/** Money has come. It pays the order when it is exactly what was asked for; anything else is left to the merchant, uncounted. */
async function receive(tx: Db, acting: Acting, payment: PaymentRow, intent: Stripe.PaymentIntent): Promise<Warning | null> {
  const order = await findOrder(tx, payment.orderId)
  const { id: reference, currency } = intent
  if (currency !== payment.currency || intent.amount_received !== toStripe(payment.amountCents, payment.currency)) {
    await settled(tx, acting, payment, 'failed')
    const message = `Stripe received ${received(intent)}, the order asked for ${payment.amountCents} ${payment.currency}: it is not counted as paid`
    return raise(tx, acting, order, { code: 'amount_mismatch', message, reference })
  }
  const { status } = order
  await settled(tx, acting, payment, 'succeeded')
  await pay(tx, acting, order, payment.amountCents, null)
  if (status === 'pending') return null
  const message = `${received(intent)} came at Stripe for an order that was ${status} already: refund it`
  return raise(tx, acting, order, { code: 'unexpected_payment', message, reference })
}

/** Takes in what Stripe says of a PaymentIntent, once; what stays to be decided, for the log. */
export async function takeIntent(tx: Db, acting: Acting, intent: Stripe.PaymentIntent): Promise<Warning | null> {
  const [payment] = await tx.select().from(payments).where(eq(payments.providerId, intent.id))
  if (!payment || payment.status === 'succeeded') return null
  if (intent.status === 'succeeded') return receive(tx, acting, payment, intent)
  if (intent.status === 'canceled') {
    await settled(tx, acting, payment, 'failed')
    await cancelUnpaid(tx, acting, payment.orderId)
  }
  return null
}
