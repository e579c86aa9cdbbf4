/** The coupons of a cart (document 3, Carts and checkout): put in by their code, or refused with the reason. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { coupons } from '../../db/store/marketing.ts'
import { conflict, missing } from '../http/refusal.ts'
import { resource, type Settings } from '../http/route.ts'
import { Text, Type } from '../http/schema.ts'
import { codeOf } from '../marketing/coupon-code.ts'
import { Cart, changeCart, requireOpen, visitor, type CartRow } from './cart.ts'
import { Lines } from './lines.ts'
import { couponProblem } from './price.ts'
import { couponsFor } from './quote-reads.ts'
import { quote } from './quote.ts'

export const COUPONS_MAX = 10

/** The coupons of a cart that have not been deleted: those have no code any more by which they could be taken off. */
const knownCoupons = async (tx: Db, cart: CartRow, settings: Settings) =>
  (await couponsFor(tx, cart.couponIds, cart.currency, settings)).map(({ id }) => id)

/** The id of the coupon with a code; 404 when there is none. */
export async function couponOf(tx: Db, code: string): Promise<string> {
  const [row] = await tx
    .select({ id: coupons.id })
    .from(coupons)
    .where(eq(coupons.code, codeOf(code)))
  if (!row) throw missing('coupon')
  return row.id
}

/** The coupons of a cart with one more; 409 with the reason when it takes nothing off this cart now. */
export async function withCoupon(tx: Db, cart: CartRow, id: string, settings: Settings, now: string): Promise<string[]> {
  const couponIds = await knownCoupons(tx, cart, settings)
  if (couponIds.includes(id)) return couponIds
  if (couponIds.length >= COUPONS_MAX) throw conflict(`a cart takes at most ${COUPONS_MAX} coupons`)
  const [coupon] = await couponsFor(tx, [id], cart.currency, settings)
  const { price, lines } = await quote(tx, { ...cart, couponIds: [...couponIds, id] }, settings, now)
  const refusal = price.refused.find((refused) => refused.id === id)
  if (refusal || !lines.length) throw conflict(refusal?.reason ?? couponProblem(coupon!, new Lines([]), now)!)
  return [...couponIds, id]
}

export const cartCouponRoutes = resource('checkout', '/carts')
  .post(
    '/{id}/coupons',
    {
      op: 'addCartCoupon',
      summary: 'Use a coupon',
      ...visitor,
      body: Type.Object({ code: Text(1, 200) }),
      answers: { 201: Cart },
      refuses: [404, 409],
    },
    (call) =>
      call.write((tx) =>
        changeCart(call as never, tx, async (cart, settings) => {
          const id = await couponOf(tx, call.body.code)
          requireOpen(cart)
          return { couponIds: await withCoupon(tx, cart, id, settings, call.now) }
        }),
      ),
  )
  .delete(
    '/{id}/coupons/{code}',
    { op: 'removeCartCoupon', summary: 'Take a coupon off a cart', ...visitor, answers: { 200: Cart }, refuses: [404, 409] },
    (call) =>
      call.write((tx) =>
        changeCart(call as never, tx, async (cart, settings) => {
          const [row] = await tx
            .select({ id: coupons.id })
            .from(coupons)
            .where(eq(coupons.code, codeOf(call.params.code!)))
          const couponIds = await knownCoupons(tx, cart, settings)
          const kept = couponIds.filter((id) => id !== row?.id)
          if (kept.length === cart.couponIds.length) throw missing('coupon')
          return { couponIds: kept }
        }),
      ),
  )
