/** What the payment provider has to hear of an order, each time after the change is stored. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { payments } from '../../db/store/payments.ts'
import type { Provider } from '../checkout/payment.ts'
import type { Call } from '../http/route.ts'
import { aboutOf } from './change.ts'
import type { OrderRow } from './order.ts'
import { requestRefund, type RefundRow } from './refund.ts'

type AnyCall = Pick<Call, 'after' | 'outside' | 'now' | 'session'>

/** Asks for a refund that waits for the provider. */
export function askForRefund(provider: Provider | null, call: AnyCall, row: RefundRow | null) {
  if (row?.status !== 'pending' || !provider) return
  const owner = { storeId: call.session.store.id, environment: call.session.environment }
  call.after((store) => requestRefund(store, provider, row, { about: aboutOf(call), owner, again: false }))
}

/** Gives up the PaymentIntents of an order that is no longer pending, so that nobody pays for it any more. */
export function giveUpIntents(provider: Provider | null, call: AnyCall, order: OrderRow) {
  if (provider && order.status !== 'pending') call.after((store) => cancelIntents(store.read, order.id, provider))
}

async function cancelIntents(db: Db, orderId: string, provider: Provider) {
  for (const { providerId } of await db
    .select()
    .from(payments)
    .where(and(eq(payments.orderId, orderId), eq(payments.status, 'pending')))) {
    if (providerId) await provider.stripe.paymentIntents.cancel(providerId)
  }
}
