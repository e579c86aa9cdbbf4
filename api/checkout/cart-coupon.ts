/** A coupon in a cart: found by its code, and taken while it takes something off. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { coupons } from '../../db/store/marketing.ts'
import { conflict, missing } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import { codeOf } from '../marketing/discounts/coupon-code.ts'
import type { CartRow } from './cart.ts'
import { Lines } from '../pricing/lines.ts'
import { couponProblem } from '../pricing/price.ts'
import { couponsFor } from '../pricing/quote-reads.ts'
import { quote } from '../pricing/quote.ts'

export const COUPONS_MAX = 10

/** The coupons of a cart that have not been deleted: those have no code any more by which they could be taken off. */
export const knownCoupons = async (tx: Db, cart: CartRow, settings: Settings) =>
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
