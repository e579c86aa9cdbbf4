/** Stripe's signed events (document 3): no key, a signature; each event id takes effect once. */
import type Stripe from 'stripe'
import type { Db } from '../../../db/driver.ts'
import type { Registry } from '../../../db/control/registry.ts'
import type { Handles } from '../../../db/handles.ts'
import type { Environment } from '../../../db/open.ts'
import { providerEvents } from '../../../db/store/payments.ts'
import type { Provider } from '../../outside/payment-provider.ts'
import { readText } from '../../http/input/body.ts'
import { STRANGERS } from '../../http/input/bytes.ts'
import type { Log } from '../../server/log.ts'
import { Refusal } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import type { Clock } from '../../values/clock.ts'
import { Named, Type } from '../../http/schema.ts'
import { isUuid } from '../../values/uuid.ts'
import type { About } from '../change.ts'
import type { Warning } from './payment-issue.ts'
import { outcomeOf, settleRefund } from './refund.ts'
import { takeIntent } from './stripe-payment.ts'

const Received = Named('StripeEvent', { received: Type.Literal(true) })

/** Which store an object of Stripe's belongs to: what we wrote into its metadata. */
function ownerOf(object: { metadata?: Stripe.Metadata | null }): { storeId: string; environment: Environment } | null {
  const { storeId, environment } = object.metadata ?? {}
  return storeId && isUuid(storeId) && (environment === 'live' || environment === 'sandbox') ? { storeId, environment } : null
}

/** Stripe sends the last one for some payment methods beside the others, and to old endpoints instead of them. */
const REFUND_EVENTS: ReadonlySet<string> = new Set(['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'])

/** Takes an event in, once; what stays to be decided about it, for the log. */
async function take(tx: Db, about: About, event: Stripe.Event): Promise<Warning | null> {
  const fresh = await tx
    .insert(providerEvents)
    .values({ id: event.id, createdAt: about.now })
    .onConflictDoNothing()
    .returning({ id: providerEvents.id })
  if (!fresh.length) return null
  if (event.type === 'payment_intent.succeeded' || event.type === 'payment_intent.canceled') return takeIntent(tx, about, event.data.object)
  if (!REFUND_EVENTS.has(event.type)) return null
  const made = event.data.object as Stripe.Refund
  const outcome = outcomeOf(made.status)
  return outcome && made.metadata?.refundId ? settleRefund(tx, about, made.metadata.refundId, outcome, made.id) : null
}

export interface WebhookNeeds {
  registry: Registry
  handles: Handles
  clock: Clock
  log?: Log
}

/** The webhook of a service whose payments go through `provider`. */
export const stripeWebhook = (provider: Provider | null, { registry, handles, clock, log }: WebhookNeeds) =>
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
        const about = { clock, now, keyId: null }
        const warning = await handles.use(owner.storeId, owner.environment, (store) => store.write((tx) => take(tx, about, event)))
        if (warning) log?.write('warn', warning.message, { ...owner, orderId: warning.orderId, reference: warning.reference })
      }
      return { received: true as const }
    },
  )
