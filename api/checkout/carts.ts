/** Carts (document 3, Carts and checkout): what a buyer has chosen, priced anew at each reading. */
import { asc, eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { shippingMethods, carts, type CartItem } from '../../db/store/checkout.ts'
import { coupons } from '../../db/store/marketing.ts'
import { isEmail, normalizeEmail } from '../email.ts'
import { conflict, missing, wrong } from '../http/refusal.ts'
import { resource, type Call, type Settings } from '../http/route.ts'
import { Counted, CurrencyCode, deleted, Deleted, Nullable, OneOf, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { codeOf } from '../marketing/coupon-code.ts'
import { AddressInput, addressOf } from './address.ts'
import { Cart, cartView, expiryOf, findCart, findOpenCart, insertCart, quotedCart, storeItems, type CartRow } from './cart.ts'
import { couponProblem } from './price.ts'
import { canGive, couponsFor, demandOf, quote } from './quote.ts'
import { methodPrice, SHIPPING_TYPES } from './shipping.ts'

const ITEMS_MAX = 200
const COUPONS_MAX = 10
const Quantity = (minimum: number) => Type.Integer({ minimum, maximum: 10_000 })
const Email = Text(3, 254)
const slot = Type.Optional(Nullable(Uuid()))
const NewItem = Type.Object({ variantId: Uuid(), quantity: Type.Optional(Quantity(1)), bookingSlotId: slot })
const AnyItem = Type.Object({ variantId: Type.Optional(Nullable(Uuid())), bundleId: Type.Optional(Nullable(Uuid())), quantity: Type.Optional(Quantity(1)), bookingSlotId: slot },
  { examples: [{ variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002', quantity: 2 }] })
const CartInput = Type.Object({ currency: Type.Optional(CurrencyCode()), email: Type.Optional(Nullable(Email)), items: Type.Optional(Type.Array(NewItem, { maxItems: ITEMS_MAX })) },
  { examples: [{ email: 'ada@example.com', items: [{ variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002', quantity: 2 }] }] })
const CartPatch = Type.Object({
  email: Type.Optional(Nullable(Email)), shippingAddress: Type.Optional(Nullable(AddressInput)), billingAddress: Type.Optional(Nullable(AddressInput)),
  shippingMethodId: Type.Optional(Nullable(Uuid())), pickupPoint: Type.Optional(Nullable(Type.Object({}, { additionalProperties: true, maxProperties: 50 }))),
  pickupLocationId: Type.Optional(Nullable(Uuid())), currency: Type.Optional(CurrencyCode()), note: Type.Optional(Nullable(Text(0, 2000))),
})
const Option = Type.Object({
  id: Uuid(), name: Type.String(), description: Nullable(Type.String()), type: OneOf(SHIPPING_TYPES), priceCents: Type.Integer(), currency: Type.String(),
  minShippingTime: Nullable(Type.Integer()), maxShippingTime: Nullable(Type.Integer()), addonName: Nullable(Type.String()),
})

/** The stored form of an address for mail; refuses what is none, at `path`. */
export function emailOf(text: string | null | undefined, path = 'email'): string | null {
  if (text == null || !text.trim()) return null
  if (!isEmail(text.trim())) throw wrong(path, 'must be an email address')
  return normalizeEmail(text)
}

function currencyOf(code: string | undefined, settings: Settings): string {
  const currency = code?.toLowerCase() ?? settings.currency
  if (currency !== settings.currency && !settings.enabledCurrencies.includes(currency)) throw wrong('currency', 'is not an enabled currency of the store')
  return currency
}

/** Puts items into a cart (the same variant or bundle adds up), and refuses what can't be sold. */
async function add(db: Db, cart: CartRow, wanted: (Static<typeof AnyItem> & { path: string[] })[], call: Pick<Call, 'outside' | 'now'>, settings: Settings) {
  const touched = new Map<CartItem, string[]>()
  for (const { path, ...input } of wanted) {
    if (input.bookingSlotId) throw wrong([...path, 'bookingSlotId'], 'no such resource in this store')
    if ((input.variantId == null) === (input.bundleId == null)) throw wrong([...path, 'variantId'], 'give either variantId or bundleId')
    const variantId = input.variantId?.toLowerCase() ?? null
    const bundleId = input.bundleId?.toLowerCase() ?? null
    let item = cart.items.find((candidate) => candidate.variantId === variantId && candidate.bundleId === bundleId)
    if (item) item.quantity += input.quantity ?? 1
    else cart.items.push(item = { id: call.outside.id(), variantId, bundleId, quantity: input.quantity ?? 1 })
    touched.set(item, [...path, bundleId ? 'bundleId' : 'variantId'])
    if (item.quantity > 10_000) throw wrong([...path, 'quantity'], 'must be at most 10000 in all')
    if (cart.items.length > ITEMS_MAX) throw wrong([...path, 'variantId'], `a cart holds at most ${ITEMS_MAX} different items`)
  }
  return requireSellable(db, cart, touched, call.now, settings)
}

/** Refuses when an item can't be bought: 400 at its path when the request names no such thing, 409 when it is no longer sold, or has no price or stock. */
async function requireSellable(db: Db, cart: CartRow, touched: Map<CartItem, string[] | null>, now: string, settings: Settings) {
  const quoted = await quote(db, cart, settings, now)
  for (const [item, path] of touched) {
    const warning = quoted.warnings.find((candidate) => candidate.itemId === item.id)
    if (warning?.code === 'unavailable' && path) throw wrong(path, 'no such resource in this store')
    if (warning) throw conflict(warning.message)
    const mine = quoted.lines.filter((line) => line.item === item)
    if (path && mine.some((line) => line.variant.bookable)) throw wrong([...path.slice(0, -1), 'bookingSlotId'], 'is needed for a bookable variant')
    const demand = demandOf(quoted.lines)
    for (const { variant } of mine) {
      const { units } = demand.get(variant.id)!
      if (!canGive(variant, units)) throw conflict('out of stock', { variantId: variant.id, available: Math.max(0, variant.quantity - variant.reserved) })
    }
  }
  return quoted
}

async function columnsOf(tx: Db, cart: CartRow, body: Static<typeof CartPatch>, settings: Settings): Promise<Partial<CartRow>> {
  const columns: Partial<CartRow> = {}
  if (body.email !== undefined) columns.email = emailOf(body.email)
  if (body.shippingAddress !== undefined) columns.shippingAddress = addressOf(body.shippingAddress)
  if (body.billingAddress !== undefined) columns.billingAddress = addressOf(body.billingAddress)
  if (body.pickupPoint !== undefined) columns.pickupPoint = body.pickupPoint as Record<string, unknown> | null
  if (body.pickupLocationId !== undefined) {
    if (body.pickupLocationId !== null) throw wrong('pickupLocationId', 'no such resource in this store')
    columns.pickupLocationId = null
  }
  if (body.note !== undefined) columns.note = body.note
  if (body.currency !== undefined) columns.currency = currencyOf(body.currency, settings)
  if (body.shippingMethodId !== undefined) {
    columns.shippingMethodId = body.shippingMethodId?.toLowerCase() ?? null
    if (columns.shippingMethodId !== null) {
      const [method] = await tx.select().from(shippingMethods).where(eq(shippingMethods.id, columns.shippingMethodId))
      if (!method) throw wrong('shippingMethodId', 'no such resource in this store')
      if (!methodPrice(method, columns.currency ?? cart.currency, settings)) throw conflict(`${method.name} has no price in the currency of the cart`)
    }
  }
  return columns
}

/** Changes the columns of an open cart and answers with what it is worth then. */
async function change(call: Call<never, never>, tx: Db, columns: (cart: CartRow, settings: Settings) => Promise<Partial<CartRow>> | Partial<CartRow>) {
  const settings = await call.settings()
  const cart = await findOpenCart(tx, call.params.id!, call.now)
  const next = { ...cart, ...await columns(cart, settings), updatedAt: call.now, expiresAt: expiryOf(call.now, settings) }
  await tx.update(carts).set(next).where(eq(carts.id, cart.id))
  return quotedCart(tx, next, settings, call.now)
}

const visitor = { scope: 'cart:write', unaudited: true } as const

export const cartRoutes = resource('checkout', '/carts')
  .post('', { op: 'createCart', summary: 'Start a cart', ...visitor, body: CartInput, answers: { 201: Cart }, refuses: [409] }, (call) => call.write(async (tx) => {
    const { body, now, outside } = call
    const settings = await call.settings()
    const cart: CartRow = {
      id: outside.id(), currency: currencyOf(body.currency, settings), email: emailOf(body.email), items: [], couponIds: [], loyaltyPoints: 0, shippingMethodId: null, shippingAddress: null,
      billingAddress: null, pickupPoint: null, pickupLocationId: null, note: null, orderId: null, expiresAt: expiryOf(now, settings), createdAt: now, updatedAt: now,
    }
    const quoted = await add(tx, cart, (body.items ?? []).map((item, i) => ({ ...item, path: ['items', String(i)] })), call, settings)
    await insertCart(tx, cart)
    return cartView(cart, quoted)
  }))
  .get('/{id}', { op: 'getCart', summary: 'Read a cart', ...visitor, answers: { 200: Cart }, refuses: [404] }, async ({ db, params, now, settings }) =>
    quotedCart(db, await findCart(db, params.id!, now), await settings(), now))
  .patch('/{id}', { op: 'updateCart', summary: 'Change a cart', ...visitor, body: CartPatch, answers: { 200: Cart }, refuses: [404, 409] }, (call) => call.write((tx) =>
    change(call as never, tx, async (cart, settings) => {
      const columns = await columnsOf(tx, cart, call.body, settings)
      if (columns.currency && columns.currency !== cart.currency) {
        const { warnings } = await quote(tx, { ...cart, ...columns }, settings, call.now)
        const unpriced = warnings.find((warning) => warning.code === 'no_price')
        if (unpriced) throw conflict(unpriced.message)
      }
      return columns
    })))
  .delete('/{id}', { op: 'deleteCart', summary: 'Discard a cart', ...visitor, answers: { 200: Deleted }, refuses: [404, 409] }, ({ params, write, now }) => write(async (tx) => {
    const { id } = await findOpenCart(tx, params.id!, now)
    await tx.delete(carts).where(eq(carts.id, id))
    return deleted
  }))
  .post('/{id}/items', { op: 'addCartItem', summary: 'Put something into a cart', description: 'The same variant adds up.', ...visitor, body: AnyItem, answers: { 201: Cart }, refuses: [404, 409] }, (call) => call.write(async (tx) => {
    const settings = await call.settings()
    const cart = await findOpenCart(tx, call.params.id!, call.now)
    const quoted = await add(tx, cart, [{ ...call.body, path: [] }], call, settings)
    await storeItems(tx, cart, call.now, settings)
    return cartView(cart, quoted)
  }))
  .patch('/{id}/items/{itemId}', { op: 'updateCartItem', summary: 'Change how many', description: '`quantity` 0 removes the item.', ...visitor, body: Type.Object({ quantity: Quantity(0) }), answers: { 200: Cart }, refuses: [404, 409] },
    (call) => call.write(async (tx) => {
      const settings = await call.settings()
      const cart = await findOpenCart(tx, call.params.id!, call.now)
      const item = cart.items.find((candidate) => candidate.id === call.params.itemId!.toLowerCase())
      if (!item) throw missing('item')
      const grows = call.body.quantity > item.quantity
      item.quantity = call.body.quantity
      if (item.quantity === 0) cart.items.splice(cart.items.indexOf(item), 1)
      const quoted = grows ? await requireSellable(tx, cart, new Map([[item, null]]), call.now, settings) : await quote(tx, cart, settings, call.now)
      await storeItems(tx, cart, call.now, settings)
      return cartView(cart, quoted)
    }))
  .delete('/{id}/items/{itemId}', { op: 'removeCartItem', summary: 'Take something out of a cart', ...visitor, answers: { 200: Cart }, refuses: [404, 409] }, (call) => call.write(async (tx) => {
    const settings = await call.settings()
    const cart = await findOpenCart(tx, call.params.id!, call.now)
    const at = cart.items.findIndex((candidate) => candidate.id === call.params.itemId!.toLowerCase())
    if (at < 0) throw missing('item')
    cart.items.splice(at, 1)
    await storeItems(tx, cart, call.now, settings)
    return quotedCart(tx, cart, settings, call.now)
  }))
  .post('/{id}/coupons', { op: 'addCartCoupon', summary: 'Use a coupon', ...visitor, body: Type.Object({ code: Text(1, 200) }), answers: { 201: Cart }, refuses: [404, 409] }, (call) => call.write((tx) =>
    change(call as never, tx, async (cart, settings) => {
      const [row] = await tx.select({ id: coupons.id }).from(coupons).where(eq(coupons.code, codeOf(call.body.code)))
      if (!row) throw missing('coupon')
      if (cart.couponIds.includes(row.id)) return {}
      if (cart.couponIds.length >= COUPONS_MAX) throw conflict(`a cart takes at most ${COUPONS_MAX} coupons`)
      const [coupon] = await couponsFor(tx, [row.id], cart.currency, settings)
      const { lines } = await quote(tx, cart, settings, call.now)
      const { price } = await quote(tx, { ...cart, couponIds: [...cart.couponIds, row.id] }, settings, call.now)
      const refusal = price.refused.find(({ id }) => id === row.id)
      if (refusal || !lines.length) throw conflict(refusal?.reason ?? couponProblem(coupon!, [], call.now)!)
      return { couponIds: [...cart.couponIds, row.id] }
    })))
  .delete('/{id}/coupons/{code}', { op: 'removeCartCoupon', summary: 'Take a coupon off a cart', ...visitor, answers: { 200: Cart }, refuses: [404, 409] }, (call) => call.write((tx) =>
    change(call as never, tx, async (cart) => {
      const [row] = await tx.select({ id: coupons.id }).from(coupons).where(eq(coupons.code, codeOf(call.params.code!)))
      if (!row || !cart.couponIds.includes(row.id)) throw missing('coupon')
      return { couponIds: cart.couponIds.filter((id) => id !== row.id) }
    })))
  .get('/{id}/shipping-options', { op: 'listShippingOptions', summary: 'Ways to ship a cart', description: "The methods that serve the cart's address, with what they cost for it.", ...visitor, answers: { 200: Counted(Option) }, refuses: [404] },
    async ({ db, params, now, settings: read }) => {
      const settings = await read()
      const cart = await findCart(db, params.id!, now)
      const country = cart.shippingAddress?.country ?? null
      const quoted = await quote(db, { ...cart, shippingMethodId: null }, settings, now)
      const rows = await db.select().from(shippingMethods).orderBy(asc(shippingMethods.position), asc(shippingMethods.id)).limit(500)
      const data = []
      for (const row of rows) {
        const cost = methodPrice(row, cart.currency, settings)
        if (!cost || (country !== null && row.countries.length && !row.countries.includes(country))) continue
        const free = quoted.price.freeShipping || (cost.freeShippingThreshold !== null && quoted.price.subtotal > cost.freeShippingThreshold)
        data.push({ id: row.id, name: row.name, description: row.description, type: row.type, priceCents: free ? 0 : cost.price, currency: cart.currency, minShippingTime: row.minShippingTime, maxShippingTime: row.maxShippingTime, addonName: null })
      }
      return { data, meta: { count: data.length } }
    })
