/** Stripe's signed events (document 3): no key, a signature; each event id takes effect once. */
import { eq } from 'drizzle-orm'
import type Stripe from 'stripe'
import type { Db } from '../../db/driver.ts'
import type { Registry } from '../../db/control/registry.ts'
import type { Handles } from '../../db/handles.ts'
import type { Environment } from '../../db/open.ts'
import { payments, providerEvents } from '../../db/store/orders.ts'
import type { Provider } from '../checkout/payment.ts'
import { readText } from '../http/body.ts'
import { STRANGERS } from '../http/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { resource, type Outside } from '../http/route.ts'
import { isUuid, Type } from '../http/schema.ts'
import { pay, type About } from './change.ts'
import { findOrder } from './order.ts'
import { outcomeOf, settleRefund } from './refund.ts'

const Received = Type.Object({ received: Type.Literal(true) })

/** Which store an object of Stripe's belongs to: what we wrote into its metadata. */
function ownerOf(object: { metadata?: Stripe.Metadata | null }): { storeId: string; environment: Environment } | null {
  const { storeId, environment } = object.metadata ?? {}
  return storeId && isUuid(storeId) && (environment === 'live' || environment === 'sandbox') ? { storeId, environment } : null
}

async function take(tx: Db, about: About, event: Stripe.Event) {
  const fresh = await tx
    .insert(providerEvents)
    .values({ id: event.id, createdAt: about.now })
    .onConflictDoNothing()
    .returning({ id: providerEvents.id })
  if (!fresh.length) return
  if (event.type.startsWith('payment_intent.')) {
    const intent = event.data.object as Stripe.PaymentIntent
    const [payment] = await tx.select().from(payments).where(eq(payments.providerId, intent.id))
    if (!payment || payment.status === 'succeeded') return
    if (event.type === 'payment_intent.succeeded') {
      await tx.update(payments).set({ status: 'succeeded', updatedAt: about.now }).where(eq(payments.id, payment.id))
      await pay(tx, about, await findOrder(tx, payment.orderId), payment.amountCents, null)
    } else if (event.type === 'payment_intent.canceled') {
      await tx.update(payments).set({ status: 'failed', updatedAt: about.now }).where(eq(payments.id, payment.id))
    }
    return
  }
  if (event.type === 'refund.updated' || event.type === 'refund.created' || event.type === 'refund.failed') {
    const made = event.data.object as Stripe.Refund
    const outcome = outcomeOf(made.status)
    if (outcome && made.metadata?.refundId) await settleRefund(tx, about, made.metadata.refundId, outcome, made.id)
  }
}

export interface WebhookNeeds {
  registry: Registry
  handles: Handles
  outside: Outside
}

/** The webhook of a service whose payments go through `provider`. */
export const stripeWebhook = (provider: Provider | null, { registry, handles, outside }: WebhookNeeds) =>
  resource('orders', '/payments/stripe/webhook').post(
    '',
    {
      op: 'receiveStripeEvent',
      summary: "Receive Stripe's signed events",
      scope: 'public',
      limited: 'refusals',
      answers: { 200: Received },
      refuses: [400, 404],
    },
    async ({ request, now }) => {
      if (!provider?.webhookSecret) throw new Refusal(404, 'stripe is not configured: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET')
      let event: Stripe.Event
      try {
        event = await provider.stripe.webhooks.constructEventAsync(
          await readText(request, STRANGERS),
          request.headers.get('stripe-signature') ?? '',
          provider.webhookSecret,
        )
      } catch {
        throw new Refusal(400, 'the signature does not match')
      }
      const owner = ownerOf(event.data.object as { metadata?: Stripe.Metadata | null })
      // An event about something that no store here made is not ours: it is taken, so that Stripe stops sending it.
      if (owner && (await registry.store(owner.storeId))) {
        await handles.use(owner.storeId, owner.environment, (store) => store.write((tx) => take(tx, { outside, now, keyId: null }, event)))
      }
      return { received: true as const }
    },
  )
