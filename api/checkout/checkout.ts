/** Checkout (document 3): a cart becomes an order, in one transaction. */
import { eq } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../db/driver.ts'
import { carts } from '../../db/store/checkout.ts'
import { customers, orders } from '../../db/store/orders.ts'
import { conflict, invalid, Refusal, wrong } from '../values/refusal.ts'
import { ownerOf } from '../http/auth.ts'
import { resource, type Call, type Params, type Settings } from '../http/route.ts'
import { Named, Nullable, OneOf, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { Order, orderView, Payment } from '../orders/order.ts'
import { place } from '../orders/place.ts'
import { mailLangOf, MailLang } from '../orders/mails/lang.ts'
import { AddressInput, addressOf, requireAddress, emailOf } from '../orders/address.ts'
import { cartView, findCart, findOpenCart, requireOpen, type CartRow } from './cart.ts'
import { PAYMENT_METHODS, requireAccepted, requireCarried, requirePayable } from './payment.ts'
import type { Provider } from '../outside/payment-provider.ts'
import { pickupPointOf } from './pickup-point.ts'
import type { Warning } from '../pricing/quote-lines.ts'
import { quote, type Quote } from '../pricing/quote.ts'
import { toStripe } from '../outside/stripe-amount.ts'

const CheckoutInput = Named(
  'CheckOutCartInput',
  {
    email: Type.Optional(Nullable(Text(3, 254))),
    name: Type.Optional(Nullable(Text(0, 200))),
    phone: Type.Optional(Nullable(Text(0, 40))),
    shippingAddress: Type.Optional(Nullable(AddressInput)),
    billingAddress: Type.Optional(Nullable(AddressInput)),
    shippingMethodId: Type.Optional(Nullable(Uuid({ description: 'Required when something is shippable' }))),
    paymentMethod: OneOf(PAYMENT_METHODS),
    paymentToken: Type.Optional(Text(1, 200, { description: 'For `test`: ok, decline, insufficient_funds or expired_card' })),
    expectedTotalCents: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'What the buyer was shown; 409 when it is no longer the price',
      }),
    ),
    note: Type.Optional(Nullable(Text(0, 2000))),
    lang: MailLang,
  },
  {
    examples: [
      {
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        shippingAddress: { line1: '1000 SW Broadway', city: 'Portland', state: 'OR', postalCode: '97205', country: 'US' },
        shippingMethodId: '01985d2c-7c00-7b42-8d1f-0242ac120002',
        paymentMethod: 'manual',
      },
    ],
  },
)
type CheckoutCall = Call<unknown, Static<typeof CheckoutInput>, Params<'/{id}'>>

const convertCart = compile((db) =>
  db
    .update(carts)
    .set({ orderId: named('orderId'), placed: named('placed'), updatedAt: named('now') })
    .where(eq(carts.id, named('id'))),
)

/** The cart as this checkout completes it. */
function completed(cart: CartRow, body: Static<typeof CheckoutInput>): CartRow {
  return {
    ...cart,
    email: emailOf(body.email) ?? cart.email,
    note: body.note ?? cart.note,
    shippingMethodId: body.shippingMethodId ?? cart.shippingMethodId,
    shippingAddress: body.shippingAddress ? addressOf(body.shippingAddress) : cart.shippingAddress,
    billingAddress: body.billingAddress ? addressOf(body.billingAddress) : cart.billingAddress,
  }
}

const required = (path: string, message = 'is required') => invalid([{ code: 'required', message, path: [path] }])

/** Refuses a parcel that nobody would know where to bring. */
function requireDestination(cart: CartRow, method: Quote['method']) {
  if (cart.shippingMethodId === null) throw required('shippingMethodId', 'is required: something in the cart is shipped')
  if (method && method.type !== 'in_store') requireAddress(cart.shippingAddress, 'shippingAddress')
  if (method?.addonName && method.type === 'pickup_point' && !Object.keys(cart.pickupPoint ?? {}).length)
    throw required('pickupPoint', `is required for ${method.name}: choose a point first`)
}

/** Items of a cart that are not in its price. */
const GONE: ReadonlySet<Warning['code']> = new Set(['unavailable', 'too_many_lines', 'no_price', 'slot_closed'])

/** Refuses what can't be ordered as it stands: first what is missing (400), then what stands against it (409). */
async function requireComplete(
  db: Reader,
  cart: CartRow,
  quoted: Quote,
  body: Static<typeof CheckoutInput>,
  settings: Settings,
): Promise<string> {
  if (!cart.items.length) throw new Refusal(400, 'the cart is empty')
  if (cart.email === null) throw required('email')
  pickupPointOf(cart.pickupPoint)
  if (settings.checkout.requirePhone && !body.phone?.trim() && !cart.shippingAddress?.phone) throw required('phone')
  if (!settings.checkout.guestCheckout && !(await db.$count(customers, eq(customers.email, cart.email))))
    throw wrong('email', 'must belong to a customer: guests can not check out')
  if (body.shippingMethodId && !quoted.knowsMethod) throw wrong('shippingMethodId', 'no such resource in this store')
  if (quoted.shippable) requireDestination(cart, quoted.method)
  requireCarried(body.paymentMethod, quoted.price.total, cart.currency)
  if (cart.currency !== settings.currency && !settings.enabledCurrencies.includes(cart.currency))
    throw conflict(`the store no longer sells in ${cart.currency.toUpperCase()}`)
  const stopped =
    quoted.warnings.find(({ code }) => GONE.has(code)) ??
    quoted.warnings.find(({ code }) => code === 'out_of_stock' || code === 'slot_full')
  if (stopped) {
    const { code, message, variantId, bookingSlotId, available } = stopped
    throw conflict(code === 'out_of_stock' || code === 'slot_full' ? 'sold out' : message, {
      code,
      warning: stopped,
      ...(variantId ? { variantId, available } : {}),
      ...(bookingSlotId ? { bookingSlotId, available } : {}),
    })
  }
  // A coupon that was deleted has no code by which it could be taken off: it only shows in warnings, and in the total.
  const stands = {
    shipping_method: quoted.shippable,
    pickup_location: true,
    // Points that are more than the cart takes are redeemed as far as it does.
    loyalty: quoted.unredeemable,
  } as Partial<Record<Warning['code'], boolean>>
  const refused = quoted.warnings.find(({ code, coupon }) => stands[code] ?? (code === 'coupon' && coupon !== undefined))
  if (refused) throw conflict(refused.message, { code: refused.code, warning: refused })
  const { total } = quoted.price
  if (body.expectedTotalCents !== undefined && body.expectedTotalCents !== total) {
    throw conflict('the price has changed', { code: 'price_changed', expectedTotalCents: body.expectedTotalCents, totalCents: total })
  }
  return cart.email
}

/** A PaymentIntent that waits for its order: made before the transaction, because nothing in one may wait for a network. */
interface Intent {
  orderId: string
  amountCents: number
  currency: string
  providerId: string
  clientSecret: string
}

/** The cart that an intent is made for; null when there is nothing to pay, or when the checkout will be refused: where it can be remembered. */
async function payableCart(call: CheckoutCall, provider: Provider): Promise<{ cart: CartRow; total: number } | null> {
  try {
    const settings = await call.settings()
    requirePayable('stripe', undefined, settings, call.session, provider)
    const cart = completed(await findOpenCart(call.db, call.params.id, call.now), call.body)
    const quoted = await quote(call.db, cart, settings, call.now)
    await requireComplete(call.db, cart, quoted, call.body, settings)
    return quoted.price.total ? { cart, total: quoted.price.total } : null
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

async function prepareIntent(call: CheckoutCall): Promise<Intent | undefined> {
  const provider = call.services.payments
  const payable = provider && call.body.paymentMethod === 'stripe' ? await payableCart(call, provider) : null
  if (!payable) return undefined
  const { cart, total } = payable
  const orderId = call.clock.id()
  const { store, environment } = call.session
  try {
    const intent = await provider!.stripe.paymentIntents.create(
      {
        amount: toStripe(total, cart.currency)!,
        currency: cart.currency,
        automatic_payment_methods: { enabled: true },
        receipt_email: cart.email ?? undefined,
        metadata: { storeId: store.id, environment, orderId, cartId: cart.id },
      },
      { idempotencyKey: `${cart.id}-${orderId}` },
    )
    // No order came of it: it was refused, or an earlier answer was repeated. Unconfirmed, the intent costs nobody anything.
    call.after(async ({ read }) => {
      if (!(await read.$count(orders, eq(orders.id, orderId)))) await provider!.stripe.paymentIntents.cancel(intent.id)
    }, 'always')
    return { orderId, amountCents: total, currency: cart.currency, providerId: intent.id, clientSecret: intent.client_secret! }
  } catch (error) {
    throw new Refusal(502, 'the payment provider did not accept the payment', { code: (error as { code?: string }).code })
  }
}

/** Refuses when what was prepared at the provider is not what the order comes to. */
function requireIntent(intent: Intent | undefined, method: string, { currency }: CartRow, totalCents: number) {
  if (!intent && method === 'stripe' && totalCents > 0) throw conflict('the cart has changed while its payment was prepared: try again')
  if (intent && (intent.amountCents !== totalCents || intent.currency !== currency))
    throw conflict('the price has changed', { code: 'price_changed', expectedTotalCents: intent.amountCents, totalCents })
}

async function checkOut(tx: Db, call: CheckoutCall) {
  const { body, now, clock } = call
  const settings = await call.settings()
  const found = await findCart(tx, call.params.id, now)
  requirePayable(body.paymentMethod, body.paymentToken, settings, call.session, call.services.payments)
  requireOpen(found)
  const cart = completed(found, body)
  const quoted = await quote(tx, cart, settings, now)
  const email = await requireComplete(tx, cart, quoted, body, settings)
  const intent = call.prepared as Intent | undefined
  requireIntent(intent, body.paymentMethod, cart, quoted.price.total)
  requireAccepted(body.paymentMethod, body.paymentToken)
  const free = quoted.price.total === 0
  const placed = await place(tx, call, {
    id: intent?.orderId ?? clock.id(),
    quote: quoted,
    settings,
    source: 'storefront',
    currency: cart.currency,
    email,
    name: body.name?.trim() || cart.shippingAddress?.name || null,
    phone: body.phone?.trim() || cart.shippingAddress?.phone || null,
    shippingAddress: cart.shippingAddress,
    billingAddress: cart.billingAddress,
    pickupPoint: cart.pickupPoint,
    pickupLocationId: cart.pickupLocationId,
    note: cart.note,
    locale: mailLangOf(body.lang),
    cartId: cart.id,
    sealing: { secrets: call.services.secrets, owner: ownerOf(call) },
    payment: {
      method: body.paymentMethod,
      paid: free || body.paymentMethod === 'test',
      reference: null,
      providerId: intent?.providerId ?? null,
    },
  })
  const bought = cartView({ ...cart, email, orderId: placed.order.id, updatedAt: now }, quoted)
  await convertCart.run(tx, { id: cart.id, orderId: placed.order.id, placed: bought, now })
  return {
    order: orderView(placed.order, placed.lines),
    payment: { ...placed.payment!, ...(intent ? { clientSecret: intent.clientSecret } : {}) },
  }
}

export const checkoutRoutes = resource('checkout', '/carts').post(
  '/{id}/checkout',
  {
    operationId: 'checkOutCart',
    summary: 'Buy what is in a cart',
    scope: 'cart:write',
    unaudited: true,
    body: CheckoutInput,
    responses: { 201: Named('CheckOutCartAnswer', { order: Order, payment: Payment }) },
    refuses: [402, 502],
    description:
      'Takes the stock, redeems the coupons and places the order in one transaction, or does nothing. `manual` leaves the order pending, `test` pays at once, `stripe` answers with a client secret.',
    prepare: (call) => prepareIntent(call),
  },
  (call) => call.write((tx) => checkOut(tx, call)),
)
