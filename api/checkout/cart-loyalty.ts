/** The points that a cart is paid with (document 3, Carts and checkout): set, or refused with the reason. */
import { conflict } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, Count } from '../http/schema.ts'
import { Cart, changeCart, requireOpen, visitor } from './cart.ts'
import { quote } from '../pricing/quote.ts'

export const cartLoyaltyRoutes = resource('checkout', '/carts').put(
  '/{id}/loyalty',
  {
    operationId: 'setCartLoyalty',
    summary: 'Pay with points',
    description:
      "The cart needs an email. 409 with the reason when the balance of its customer (an email that is no customer's has none), the store's minimum or the most of an order that points may pay stand against it. 0 pays with none.",
    ...visitor,
    tool: 'loyalty',
    body: Body('SetCartLoyaltyInput', [{ points: 500 }], { points: Count() }),
    responses: { 200: Cart },
    refuses: [409],
  },
  (call) =>
    call.write((tx) =>
      changeCart(call, tx, async (cart, settings) => {
        requireOpen(cart)
        const { points: loyaltyPoints } = call.body
        const { warnings } = await quote(tx, { ...cart, loyaltyPoints }, settings, call.now)
        const refused = warnings.find(({ code }) => code === 'loyalty')
        if (refused) throw conflict(refused.message)
        return { loyaltyPoints }
      }),
    ),
)
