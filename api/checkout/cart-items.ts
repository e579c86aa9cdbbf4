/** The items of a cart (document 3, Carts and checkout): put in, changed, taken out, never more than can be sold. */
import { missing } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body } from '../http/schema.ts'
import { Cart, cartView, findCart, quotedCart, requireOpen, storeItems, visitor } from './cart.ts'
import { quote } from '../pricing/quote.ts'

import { addItems, AnyItem, Quantity, requireSellable } from './cart-item.ts'
export const cartItemRoutes = resource('checkout', '/carts')
  .post(
    '/{id}/items',
    {
      operationId: 'addCartItem',
      summary: 'Put something into a cart',
      description: 'The same variant adds up.',
      ...visitor,
      body: AnyItem,
      responses: { 201: Cart },
    },
    (call) =>
      call.write(async (tx) => {
        const settings = await call.settings()
        const cart = await findCart(tx, call.params.id, call.now)
        const quoted = await addItems(tx, cart, [{ ...call.body, path: [] }], call, settings)
        await storeItems(tx, cart, call.now, settings)
        return cartView(cart, quoted)
      }),
  )
  .patch(
    '/{id}/items/{itemId}',
    {
      operationId: 'updateCartItem',
      summary: 'Change how many',
      description: '`quantity` 0 removes the item.',
      ...visitor,
      body: Body('CartItemPatch', [{ quantity: 2 }], { quantity: Quantity(0) }),
      responses: { 200: Cart },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const settings = await call.settings()
        const cart = await findCart(tx, call.params.id, call.now)
        const item = cart.items.find((candidate) => candidate.id === call.params.itemId)
        if (!item) throw missing('item')
        requireOpen(cart)
        const grows = call.body.quantity > item.quantity
        item.quantity = call.body.quantity
        if (item.quantity === 0) cart.items.splice(cart.items.indexOf(item), 1)
        const quoted = grows
          ? await requireSellable(tx, cart, new Map([[item, null]]), call.now, settings)
          : await quote(tx, cart, settings, call.now)
        await storeItems(tx, cart, call.now, settings)
        return cartView(cart, quoted)
      }),
  )
  .delete(
    '/{id}/items/{itemId}',
    { operationId: 'removeCartItem', summary: 'Take something out of a cart', ...visitor, responses: { 200: Cart }, refuses: [409] },
    (call) =>
      call.write(async (tx) => {
        const settings = await call.settings()
        const cart = await findCart(tx, call.params.id, call.now)
        const at = cart.items.findIndex((candidate) => candidate.id === call.params.itemId)
        if (at < 0) throw missing('item')
        requireOpen(cart)
        cart.items.splice(at, 1)
        await storeItems(tx, cart, call.now, settings)
        return quotedCart(tx, cart, settings, call.now)
      }),
  )
