/** Orders taken elsewhere (document 3, POST /orders): recorded with the prices that were agreed there. */
import { variants } from '../../db/store/catalog.ts'
import { shippingMethods, type CartItem } from '../../db/store/checkout.ts'
import { ORDER_SOURCES } from '../../db/store/orders.ts'
import type { Db } from '../../db/driver.ts'
import { requireIds } from '../http/input/references.ts'
import { AddressInput, addressOf, emailOf } from './address.ts'
import { requireSlot } from '../events/slot.ts'
import { quote } from '../pricing/quote.ts'
import { currencyOf } from '../store/currency.ts'
import { conflict, wrong } from '../values/refusal.ts'
import { ownerOf } from '../http/auth.ts'
import type { Call } from '../http/route.ts'
import { Body, Money, Nullable, OneOf, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { toMinor } from '../values/money.ts'
import { mailLangOf, MailLang } from './mails/lang.ts'
import { orderView } from './order.ts'
import { place } from './place.ts'

export const OrderInput = Body(
  'OrderInput',
  [
    {
      source: 'storefront',
      customer: { email: 'ada@example.com', name: 'Ada Lovelace', phone: '+1 503 555 0100' },
      items: [{ variantId: '01985d2c-7c00-7a07-8be3-e3af2ffefb45', quantity: 2, unitPrice: 19.99 }],
      paid: true,
      note: 'Made from European linen.',
    },
  ],
  {
    source: Type.Optional(OneOf(ORDER_SOURCES)),
    customer: Type.Object({
      email: Text(3, 254),
      name: Type.Optional(Nullable(Text(0, 200))),
      phone: Type.Optional(Nullable(Text(0, 40))),
    }),
    items: Type.Array(
      Type.Object({
        variantId: Uuid(),
        quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
        unitPrice: Type.Optional(Money()),
        bookingSlotId: Type.Optional(Nullable(Uuid({ description: 'The slot that is booked' }))),
      }),
      { minItems: 1, maxItems: 200 },
    ),
    currency: Type.Optional(Type.String({ pattern: '^[A-Za-z]{3}$' })),
    shippingAddress: Type.Optional(Nullable(AddressInput)),
    billingAddress: Type.Optional(Nullable(AddressInput)),
    shippingMethodId: Type.Optional(Nullable(Uuid())),
    paid: Type.Optional(Type.Boolean()),
    note: Type.Optional(Nullable(Text(0, 2000))),
    lang: MailLang,
  },
)
type Recording = Call<unknown, Static<typeof OrderInput>>

/** What is ordered, with the prices that were agreed, by item. */
async function itemsOf(tx: Db, { body, clock }: Recording, currency: string) {
  await requireIds(
    tx,
    variants,
    body.items.map((item) => item.variantId),
    (i) => `items.${i}.variantId`,
  )
  for (const [i, { bookingSlotId, variantId }] of body.items.entries())
    if (bookingSlotId) {
      await requireSlot(tx, bookingSlotId, variantId, `items.${i}.bookingSlotId`)
      if (body.items.findIndex((other) => other.bookingSlotId === bookingSlotId) !== i)
        throw wrong(`items.${i}.bookingSlotId`, 'stands in the list twice')
    }
  const unitPrices = new Map<string, number>()
  const items = body.items.map((item, i): CartItem => {
    const id = clock.id()
    if (item.unitPrice !== undefined) unitPrices.set(id, toMinor(item.unitPrice, currency, `items.${i}.unitPrice`))
    return { id, variantId: item.variantId, bundleId: null, bookingSlotId: item.bookingSlotId, quantity: item.quantity ?? 1 }
  })
  return { items, unitPrices }
}

/** Records an order, and gives it as it stands on the wire. */
export async function record(tx: Db, call: Recording) {
  const { body, clock, now } = call
  const settings = await call.settings()
  const currency = currencyOf(body.currency, settings)
  const email = emailOf(body.customer.email, 'customer.email')
  if (email === null) throw wrong('customer.email', 'must be an email address')
  const { items, unitPrices } = await itemsOf(tx, call, currency)
  await requireIds(tx, shippingMethods, [body.shippingMethodId], 'shippingMethodId')
  const shippingAddress = addressOf(body.shippingAddress)
  const billingAddress = addressOf(body.billingAddress)
  const quoted = await quote(
    tx,
    {
      currency,
      items,
      couponIds: [],
      shippingMethodId: body.shippingMethodId ?? null,
      shippingAddress,
      billingAddress,
      unitPrices,
    },
    settings,
    now,
  )
  const unslotted = quoted.lines.find(({ variant, slot }) => variant.bookable && !slot)
  if (unslotted) throw wrong(`items.${items.indexOf(unslotted.item)}.bookingSlotId`, 'is needed for a bookable variant')
  const stopped = quoted.warnings.find(({ code }) => code === 'no_price' || code === 'slot_closed' || code === 'unavailable')
  if (stopped) throw conflict(stopped.message, stopped.bookingSlotId ? { bookingSlotId: stopped.bookingSlotId } : {})
  if (quoted.knowsMethod && !quoted.method) throw conflict(`the shipping method has no price in ${currency.toUpperCase()}`)
  const placed = await place(tx, call, {
    id: clock.id(),
    quote: quoted,
    settings,
    source: body.source ?? 'admin',
    currency,
    email,
    name: body.customer.name?.trim() || null,
    phone: body.customer.phone?.trim() || null,
    shippingAddress,
    billingAddress,
    pickupPoint: null,
    pickupLocationId: null,
    note: body.note ?? null,
    locale: mailLangOf(body.lang),
    cartId: null,
    sealing: { secrets: call.services.secrets, owner: ownerOf(call) },
    payment: body.paid ? { method: 'manual', paid: true, reference: null, providerId: null } : null,
  })
  return orderView(placed.order, placed.lines)
}
