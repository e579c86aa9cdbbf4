/** Paying an order at Stripe, in the shop: what Stripe's element is opened with, and what Stripe says became of it. */
import { and, desc, eq } from 'drizzle-orm'
import { orders } from '../../../db/store/orders.ts'
import { payments } from '../../../db/store/payments.ts'
import type { Reader } from '../../../db/driver.ts'
import { takeIntent } from '../../orders/payments/stripe-payment.ts'
import type { OrderLink } from '../../store/mails/shop-links.ts'
import type { Form } from './cart-actions.ts'
import type { Outcome } from './outcome.ts'
import type { Visit } from './visit.ts'

/** Whether orders of this shop can be paid at Stripe: the server has both of its keys. */
export const takesStripe = ({ app }: Visit) => app.stripeKey !== null && app.services.payments !== null

/** The id at Stripe of the payment that an order waits for; null when it waits for none. */
export async function awaitedAtStripe(db: Reader, orderId: string): Promise<string | null> {
  const [row] = await db
    .select({ providerId: payments.providerId })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(and(eq(payments.orderId, orderId), eq(payments.status, 'pending'), eq(orders.status, 'pending'), eq(orders.awaiting, 'stripe')))
    .orderBy(desc(payments.id))
    .limit(1)
  return row?.providerId ?? null
}

const [PAY, WAIT, DONE] = ['pay', 'wait', 'done']

/**
 * Answers what is to be done about an order: `pay`, with the secret that opens Stripe's element, `wait` while Stripe is at it, or `done`. What
 * has been paid counts at once, whenever Stripe's own word of it comes.
 */
export async function payOrder(visit: Visit, form: Form): Promise<Outcome> {
  const token = form.get('token') ?? ''
  const link = visit.opened<OrderLink>('order', token)
  const { payments: provider, clock } = visit.app.services
  if (!link || !provider || !takesStripe(visit)) return { notice: { code: 'not_found', text: 'there is no such order' }, status: 404 }
  const location = visit.at(`/order/${token}`)
  const storeId = visit.session.store.id
  const answer = (step: string, more: object = {}): Outcome => ({ location, data: { step, ...more } })
  const id = await visit.app.store(storeId, ({ read }) => awaitedAtStripe(read, link.id))
  if (id === null) return answer(DONE)
  if (!visit.app.mayPay(visit.request)) return { notice: { code: 'many', text: 'too many payments from this address' }, status: 429 }
  const intent = await provider.stripe.paymentIntents.retrieve(id)
  if (intent.status === 'processing') return answer(WAIT)
  if (intent.status !== 'succeeded' && intent.status !== 'canceled') return answer(PAY, { clientSecret: intent.client_secret })
  const acting = { clock, now: clock.now().toISOString(), keyId: null }
  await visit.app.store(storeId, (store) => store.write((tx) => takeIntent(tx, acting, intent)))
  return answer(DONE)
}
