/** A cart on the wire, and the finding and saving of it. */
import { currencyOf } from '../store/currency.ts'
import { eq } from 'drizzle-orm'
import { compile, inserter, named, type Db, type Reader } from '../../db/driver.ts'
import { carts } from '../../db/store/checkout.ts'
import { conflict, missing } from '../values/refusal.ts'
import { Cents, Named, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import type { Call, Params, Settings } from '../http/route.ts'
import { AddressShape } from '../orders/address.ts'
import { AppliedPromotions, appliedPromotions } from '../pricing/applied.ts'
import { quote, type Quote } from '../pricing/quote.ts'

export type CartRow = typeof carts.$inferSelect

/** The options that all cart routes share: buyers' own changes are no business of the audit log. */
export const visitor = { scope: 'cart:write', unaudited: true } as const

export const Cart = Named('Cart', {
  id: Uuid(),
  currency: Type.String(),
  email: Nullable(Type.String()),
  items: Type.Array(
    Type.Object({
      id: Uuid(),
      variantId: Nullable(Uuid()),
      productId: Nullable(Uuid()),
      name: Type.String(),
      image: Nullable(Type.String()),
      quantity: Type.Integer(),
      unitPriceCents: Cents(),
      discountCents: Cents(),
      totalCents: Cents(),
      bookingSlotId: Nullable(Uuid()),
      bundleId: Nullable(Uuid()),
    }),
  ),
  coupons: Type.Array(Type.Object({ code: Type.String(), discountCents: Cents() })),
  promotions: AppliedPromotions,
  loyaltyPoints: Type.Integer(),
  shippingMethodId: Nullable(Uuid()),
  shippingAddress: AddressShape,
  billingAddress: AddressShape,
  pickupPoint: Nullable(Type.Object({}, { additionalProperties: true })),
  pickupLocationId: Nullable(Uuid()),
  note: Nullable(Type.String()),
  subtotalCents: Cents(),
  discountCents: Cents(),
  shippingCents: Cents(),
  taxCents: Cents(),
  totalCents: Cents(),
  warnings: Type.Array(
    Type.Object({
      code: OneOf([
        'unavailable',
        'too_many_lines',
        'no_price',
        'out_of_stock',
        'coupon',
        'shipping_method',
        'pickup_location',
        'loyalty',
        'slot_closed',
        'slot_full',
      ]),
      message: Type.String(),
      itemId: Type.Optional(Uuid()),
      variantId: Type.Optional(Uuid()),
      bookingSlotId: Type.Optional(Uuid()),
      available: Type.Optional(Type.Integer({ description: 'Of the variant, for `out_of_stock`; of the slot, for `slot_full`' })),
      coupon: Type.Optional(Type.String()),
    }),
  ),
  orderId: Nullable(Uuid(), { description: 'The order that this cart became' }),
  expiresAt: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/** The answer of everything that reads or changes a cart. */
export function cartView(cart: CartRow, { price, lines, faces, warnings }: Quote) {
  const positions = Map.groupBy(lines.keys(), (i) => lines[i]!.item)
  const items = cart.items.map((item) => {
    let unit = 0,
      discount = 0,
      total = 0
    for (const i of positions.get(item) ?? []) {
      unit += lines[i]!.unitPrice * (lines[i]!.quantity / item.quantity)
      discount += price.lines[i]!.discount
      total += price.lines[i]!.total
    }
    return {
      id: item.id,
      variantId: item.variantId,
      ...faces.get(item.id)!,
      quantity: item.quantity,
      unitPriceCents: unit,
      discountCents: discount,
      totalCents: total,
      bookingSlotId: item.bookingSlotId ?? null,
      bundleId: item.bundleId,
    }
  })
  const { couponIds: _, placed: __, ...own } = cart
  return {
    ...own,
    items,
    coupons: [...price.coupons, ...price.refused.map(({ id, code }) => ({ id, code, discount: 0 }))]
      .sort((a, b) => cart.couponIds.indexOf(a.id) - cart.couponIds.indexOf(b.id))
      .map(({ code, discount }) => ({ code, discountCents: discount })),
    promotions: appliedPromotions(price),
    subtotalCents: price.subtotal,
    discountCents: price.discount,
    shippingCents: price.shipping,
    taxCents: price.tax,
    totalCents: price.total,
    warnings,
  }
}

type CartView = ReturnType<typeof cartView>
type PlacedCart = Omit<CartView, 'promotions'> & Partial<CartView>

const cartById = compile((db) =>
  db
    .select()
    .from(carts)
    .where(eq(carts.id, named('id'))),
)
const saveItems = compile((db) =>
  db
    .update(carts)
    .set({ items: named('items'), expiresAt: named('expiresAt'), updatedAt: named('now') })
    .where(eq(carts.id, named('id'))),
)
export const insertCart = inserter(carts)

/** A cart that has not expired. */
export async function findCart(db: Reader, id: string, now: string): Promise<CartRow> {
  const row = (await cartById.get(db, { id })) as CartRow | undefined
  if (!row || (row.orderId === null && row.expiresAt <= now)) throw missing('cart')
  return row
}

/** Refuses with 409 and `orderId` a cart that is an order already. */
export function requireOpen(cart: CartRow) {
  if (cart.orderId !== null) throw conflict('the cart is an order already', { orderId: cart.orderId })
}

/** A cart that may still be changed. */
export async function findOpenCart(db: Reader, id: string, now: string): Promise<CartRow> {
  const row = await findCart(db, id, now)
  requireOpen(row)
  return row
}

/** When a cart that is touched now expires. */
export const expiryOf = (now: string, settings: Settings) =>
  new Date(Date.parse(now) + settings.checkout.cartTtlDays * 86_400_000).toISOString()

/** Stores the items of a cart. */
export async function storeItems(tx: Db, cart: CartRow, now: string, settings: Settings) {
  cart.updatedAt = now
  cart.expiresAt = expiryOf(now, settings)
  await saveItems.run(tx, { id: cart.id, items: cart.items, expiresAt: cart.expiresAt, now })
}

/** A cart as it is worth now; one that became an order, as it was bought. */
export async function quotedCart(db: Reader, cart: CartRow, settings: Settings, now: string) {
  // What was bought before carts showed promotions has none.
  if (cart.placed) return { promotions: [], ...(cart.placed as PlacedCart) }
  return cartView(cart, await quote(db, cart, settings, now))
}

/** Changes the columns of an open cart and answers with what it is worth then. What `columns` finds missing comes before 409. */
export async function changeCart(
  call: Call<unknown, unknown, Params<'/{id}'>>,
  tx: Db,
  columns: (cart: CartRow, settings: Settings) => Promise<Partial<CartRow>> | Partial<CartRow>,
) {
  const settings = await call.settings()
  const cart = await findCart(tx, call.params.id, call.now)
  const changed = await columns(cart, settings)
  requireOpen(cart)
  const next = { ...cart, ...changed, updatedAt: call.now, expiresAt: expiryOf(call.now, settings) }
  await tx.update(carts).set(next).where(eq(carts.id, cart.id))
  return quotedCart(tx, next, settings, call.now)
}

/** The cart as a request wants to see it priced. */
export const seenIn = (cart: CartRow, { currency }: { currency?: string }, settings: Settings): CartRow =>
  currency === undefined ? cart : { ...cart, currency: currencyOf(currency, settings) }
