/** The coupons of a cart (document 3, Carts and checkout): put in by their code, or refused with the reason. */
import { eq } from 'drizzle-orm'
import { coupons } from '../../db/store/marketing.ts'
import { missing } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, Text } from '../http/schema.ts'
import { codeOf } from '../marketing/discounts/coupon-code.ts'
import { Cart, changeCart, requireOpen, visitor } from './cart.ts'

import { couponOf, knownCoupons, withCoupon } from './cart-coupon.ts'
export const cartCouponRoutes = resource('checkout', '/carts')
  .post(
    '/{id}/coupons',
    {
      operationId: 'addCartCoupon',
      summary: 'Use a coupon',
      ...visitor,
      body: Body('AddCartCouponInput', [{ code: 'SPRING10' }], { code: Text(1, 200) }),
      responses: { 201: Cart },
    },
    (call) =>
      call.write((tx) =>
        changeCart(call, tx, async (cart, settings) => {
          const id = await couponOf(tx, call.body.code)
          requireOpen(cart)
          return { couponIds: await withCoupon(tx, cart, id, settings, call.now) }
        }),
      ),
  )
  .delete(
    '/{id}/coupons/{code}',
    { operationId: 'removeCartCoupon', summary: 'Take a coupon off a cart', ...visitor, responses: { 200: Cart }, refuses: [409] },
    (call) =>
      call.write((tx) =>
        changeCart(call, tx, async (cart, settings) => {
          const [row] = await tx
            .select({ id: coupons.id })
            .from(coupons)
            .where(eq(coupons.code, codeOf(call.params.code)))
          const couponIds = await knownCoupons(tx, cart, settings)
          const kept = couponIds.filter((id) => id !== row?.id)
          if (kept.length === cart.couponIds.length) throw missing('coupon')
          return { couponIds: kept }
        }),
      ),
  )
