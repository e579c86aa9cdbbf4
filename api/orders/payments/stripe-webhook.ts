/** Stripe's signed events (document 3): no key, a signature; each event id takes effect once. */
import type Stripe from 'stripe'
import type { Db } from '../../../db/driver.ts'
import { providerEvents } from '../../../db/store/payments.ts'
import type { Owner } from '../../outside/files.ts'
import { readText, STRANGER_MAX_BYTES } from '../../http/input/body.ts'
import { STRANGERS } from '../../http/input/bytes.ts'
import { Refusal } from '../../values/refusal.ts'
import { Reply, resource, type Call } from '../../http/route.ts'
import { Named, Type } from '../../http/schema.ts'
import { isUuid } from '../../values/uuid.ts'
import type { Acting } from '../change.ts'
import type { Warning } from './payment-issue.ts'
import { outcomeOf, settleRefund } from './refund.ts'
import { takeIntent } from './stripe-payment.ts'

const Received = Named('StripeEvent', { received: Type.Literal(true) })

/** Which store an object of Stripe's belongs to: what we wrote into its metadata. */
function ownerOf(object: { metadata?: Stripe.Metadata | null }): Owner | null {
  const { storeId, environment } = object.metadata ?? {}
  return storeId && isUuid(storeId) && (environment === 'live' || environment === 'sandbox') ? { storeId, environment } : null
}

/** Stripe sends the last one for some payment methods beside the others, and to old endpoints instead of them. */
const REFUND_EVENTS: ReadonlySet<string> = new Set(['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'])

/** Takes an event in, once; what stays to be decided about it, for the log. */
async function take(tx: Db, acting: Acting, event: Stripe.Event): Promise<Warning | null> {
  const fresh = await tx
    .insert(providerEvents)
    .values({ id: event.id, createdAt: acting.now })
    .onConflictDoNothing()
    .returning({ id: providerEvents.id })
  if (!fresh.length) return null
  if (event.type === 'payment_intent.succeeded' || event.type === 'payment_intent.canceled')
    return takeIntent(tx, acting, event.data.object)
  if (!REFUND_EVENTS.has(event.type)) return null
  const made = event.data.object as Stripe.Refund
  const outcome = outcomeOf(made.status)
  return outcome && made.metadata?.refundId ? settleRefund(tx, acting, made.metadata.refundId, outcome, made.id) : null
}

/** The event of a request whose signature matches. */
async function signed({ request, services: { payments } }: Pick<Call, 'request' | 'services'>): Promise<Stripe.Event> {
  if (!payments?.webhookSecret) throw new Refusal(404, 'stripe is not configured: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET')
  const text = await readText(request, { share: STRANGERS, maxBytes: STRANGER_MAX_BYTES })
  try {
    return await payments.stripe.webhooks.constructEventAsync(text, request.headers.get('stripe-signature') ?? '', payments.webhookSecret)
  } catch {
    throw new Refusal(400, 'the signature does not match')
  }
}

export const stripeWebhook = resource('orders', '/payments/stripe/webhook').post(
  '',
  {
    operationId: 'receiveStripeEvent',
    summary: "Receive Stripe's signed events",
    scope: 'public',
    limited: 'refusals',
    responses: { 200: Received },
    refuses: [404],
    async owner(call) {
      const event = await signed(call)
      const owner = ownerOf(event.data.object as { metadata?: Stripe.Metadata | null })
      // An event about something that no store here made is not ours: it is taken, so that Stripe stops sending it.
      if (!owner || !(await call.services.registry.store(owner.storeId))) return new Reply(200, { received: true })
      return { ...owner, prepared: { owner, event } }
    },
  },
  async ({ prepared, write, clock, now, log }) => {
    const { owner, event } = prepared as { owner: Owner; event: Stripe.Event }
    const warning = await write((tx) => take(tx, { clock, now, keyId: null }, event))
    if (warning) log.write('warn', warning.message, { ...owner, orderId: warning.orderId, reference: warning.reference })
    return { received: true as const }
  },
)
