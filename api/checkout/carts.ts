/** Carts (document 3, Carts and checkout): what a buyer has chosen, priced anew at each reading. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { carts, pickupLocations, shippingMethods } from '../../db/store/checkout.ts'
import { currencyOf } from '../store/currency.ts'
import { requireIds } from '../http/input/references.ts'
import { conflict } from '../values/refusal.ts'
import { resource, type Settings } from '../http/route.ts'
import { Body, CurrencyCode, deleted, Deleted, Nullable, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { Currency } from '../catalog/shapes.ts'
import { AddressInput, addressOf, emailOf } from '../orders/address.ts'
import { COUPONS_MAX, couponOf, withCoupon } from './cart-coupon.ts'
import { addItems, NewItem } from './cart-item.ts'
import {
  Cart,
  cartView,
  changeCart,
  expiryOf,
  findCart,
  findOpenCart,
  insertCart,
  quotedCart,
  requireOpen,
  seenIn,
  visitor,
  type CartRow,
} from './cart.ts'
import { PickupPoint, pickupPointOf } from './pickup-point.ts'
import { LINES_MAX } from '../pricing/quote-lines.ts'
import { quote } from '../pricing/quote.ts'
import { readMethod, methodPrice } from '../pricing/shipping-method.ts'

const Email = Text(3, 254)
const changes = {
  email: Type.Optional(Nullable(Email)),
  shippingAddress: Type.Optional(Nullable(AddressInput)),
  billingAddress: Type.Optional(Nullable(AddressInput)),
  shippingMethodId: Type.Optional(Nullable(Uuid())),
  pickupPoint: Type.Optional(PickupPoint),
  pickupLocationId: Type.Optional(Nullable(Uuid())),
  currency: Type.Optional(CurrencyCode()),
  note: Type.Optional(Nullable(Text(0, 2000))),
}
const Code = Text(1, 200)
const CartInput = Body(
  'CartInput',
  [{ email: 'ada@example.com', items: [{ variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002', quantity: 2 }] }],
  {
    ...changes,
    items: Type.Optional(Type.Array(NewItem, { maxItems: LINES_MAX })),
    coupons: Type.Optional(
      Type.Array(Type.Union([Code, Type.Object({ code: Code })]), {
        maxItems: COUPONS_MAX,
        description: 'Codes, alone or as `code` of an object',
      }),
    ),
  },
)
const CartPatch = Body('CartPatch', [{ email: 'ada@example.com', note: 'Made from European linen.' }], changes)

/** The columns that a body changes. Refuses with 400 what names nothing of the store, unless the cart has it already and warns of it. */
async function columnsOf(
  tx: Db,
  body: Static<typeof CartPatch>,
  settings: Settings,
  cart: CartRow | null = null,
): Promise<Partial<CartRow>> {
  const columns: Partial<CartRow> = {}
  if (body.email !== undefined) columns.email = emailOf(body.email)
  if (body.shippingAddress !== undefined) columns.shippingAddress = addressOf(body.shippingAddress)
  if (body.billingAddress !== undefined) columns.billingAddress = addressOf(body.billingAddress)
  if (body.pickupPoint !== undefined) columns.pickupPoint = pickupPointOf(body.pickupPoint)
  if (body.pickupLocationId !== undefined) {
    columns.pickupLocationId = body.pickupLocationId ?? null
    if (columns.pickupLocationId !== cart?.pickupLocationId)
      await requireIds(tx, pickupLocations, [columns.pickupLocationId], 'pickupLocationId')
  }
  if (body.note !== undefined) columns.note = body.note
  if (body.currency !== undefined) columns.currency = currencyOf(body.currency, settings)
  if (body.shippingMethodId !== undefined) {
    columns.shippingMethodId = body.shippingMethodId ?? null
    if (columns.shippingMethodId !== cart?.shippingMethodId)
      await requireIds(tx, shippingMethods, [columns.shippingMethodId], 'shippingMethodId')
  }
  return columns
}

/** Refuses with 409 a method that has no price in the currency of the cart. */
async function requireMethodPrice(tx: Db, cart: CartRow, settings: Settings) {
  const method = await readMethod(tx, cart.shippingMethodId)
  if (method && !methodPrice(method, cart.currency, settings)) throw conflict(`${method.name} has no price in the currency of the cart`)
}

export const cartRoutes = resource('checkout', '/carts')
  .post(
    '',
    {
      operationId: 'createCart',
      summary: 'Start a cart',
      description:
        'Takes all that can be changed later, items and coupons, and refuses what the requests for each would refuse: then there is no cart.',
      ...visitor,
      query: { currency: Currency },
      body: CartInput,
      responses: { 201: Cart },
      refuses: [404],
    },
    (call) =>
      call.write(async (tx) => {
        const { body, query, now, clock } = call
        const settings = await call.settings()
        const couponIds = []
        for (const coupon of body.coupons ?? []) couponIds.push(await couponOf(tx, typeof coupon === 'string' ? coupon : coupon.code))
        const cart: CartRow = {
          id: clock.id(),
          currency: currencyOf(body.currency ?? query.currency, settings),
          email: null,
          items: [],
          couponIds: [],
          loyaltyPoints: 0,
          shippingMethodId: null,
          shippingAddress: null,
          billingAddress: null,
          pickupPoint: null,
          pickupLocationId: null,
          note: null,
          orderId: null,
          placed: null,
          expiresAt: expiryOf(now, settings),
          createdAt: now,
          updatedAt: now,
          ...(await columnsOf(tx, body, settings)),
        }
        const wanted = (body.items ?? []).map((item, i) => ({ ...item, path: ['items', String(i)] }))
        const quoted = await addItems(tx, cart, wanted, call, settings)
        await requireMethodPrice(tx, cart, settings)
        for (const id of couponIds) cart.couponIds = await withCoupon(tx, cart, id, settings, now)
        await insertCart(tx, cart)
        return cartView(cart, couponIds.length ? await quote(tx, cart, settings, now) : quoted)
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getCart',
      summary: 'Read a cart',
      description: 'One that became an order is what was bought.',
      ...visitor,
      query: { currency: Currency },
      responses: { 200: Cart },
    },
    async ({ db, params, query, now, settings: read }) => {
      const settings = await read()
      return quotedCart(db, seenIn(await findCart(db, params.id, now), query, settings), settings, now)
    },
  )
  .patch(
    '/{id}',
    { operationId: 'updateCart', summary: 'Change a cart', ...visitor, body: CartPatch, responses: { 200: Cart }, refuses: [409] },
    (call) =>
      call.write((tx) =>
        changeCart(call, tx, async (cart, settings) => {
          const columns = await columnsOf(tx, call.body, settings, cart)
          requireOpen(cart)
          if (columns.shippingMethodId) await requireMethodPrice(tx, { ...cart, ...columns }, settings)
          if (columns.currency && columns.currency !== cart.currency) {
            const { warnings } = await quote(tx, { ...cart, ...columns }, settings, call.now)
            const unpriced = warnings.find((warning) => warning.code === 'no_price')
            if (unpriced) throw conflict(unpriced.message)
          }
          return columns
        }),
      ),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteCart', summary: 'Discard a cart', ...visitor, responses: { 200: Deleted }, refuses: [409] },
    ({ params, write, now }) =>
      write(async (tx) => {
        const { id } = await findOpenCart(tx, params.id, now)
        await tx.delete(carts).where(eq(carts.id, id))
        return deleted
      }),
  )
