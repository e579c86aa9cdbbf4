/** Messages to the payment provider about an order, each sent after the change is stored. */
import { and, eq, isNotNull } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Handle } from '../../../db/open.ts'
import { payments } from '../../../db/store/payments.ts'
import type { Provider } from '../../outside/payment-provider.ts'
import { ownerOf } from '../../http/auth.ts'
import type { Call } from '../../http/route.ts'
import { actingOf, type Acting } from '../change.ts'
import type { OrderRow } from '../order.ts'
import { requestRefund, type RefundRow } from './refund.ts'
import { takeIntent } from './stripe-payment.ts'

type AnyCall = Pick<Call, 'after' | 'clock' | 'now' | 'services' | 'session'>

/** Asks for a refund that waits for the provider. */
export function askForRefund(call: AnyCall, row: RefundRow | null) {
  const provider = call.services.payments
  if (row?.status !== 'pending' || !provider) return
  const owner = ownerOf(call)
  call.after((store) => requestRefund(store, provider, row, { acting: actingOf(call), owner, again: false }))
}

/** Gives up the PaymentIntents of an order that is no longer pending, so that nobody pays for it any more. */
export function giveUpIntents(call: AnyCall, order: OrderRow) {
  const provider = call.services.payments
  if (provider && order.status !== 'pending')
    call.after(async (store) => {
      await endIntents(store, provider, order.id, actingOf(call))
    })
}

/** Cancels a PaymentIntent; as it is there now when it can't be cancelled: paid, cancelled before, or on its way. */
async function endIntent({ stripe }: Provider, id: string): Promise<Stripe.PaymentIntent> {
  try {
    return await stripe.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' })
  } catch (error) {
    const { type, code } = error as { type?: string; code?: string }
    if (type !== 'StripeInvalidRequestError') throw error
    // One of another account: nobody can pay it here any more.
    if (code === 'resource_missing') return { id, status: 'canceled' } as Stripe.PaymentIntent
    return stripe.paymentIntents.retrieve(id)
  }
}

/** Ends what is open of an order at the provider, and takes in what it says; false when money may still be on its way. */
export async function endIntents(store: Handle, provider: Provider, orderId: string, acting: Acting): Promise<boolean> {
  const open = await store.read
    .select({ id: payments.providerId })
    .from(payments)
    .where(and(eq(payments.orderId, orderId), eq(payments.status, 'pending'), isNotNull(payments.providerId)))
  let ended = true
  for (const { id } of open) {
    const intent = await endIntent(provider, id!)
    ended &&= intent.status === 'canceled' || intent.status === 'succeeded'
    await store.write((tx) => takeIntent(tx, acting, intent))
  }
  return ended
}
