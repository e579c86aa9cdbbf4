/** Points that orders are paid with: taken when they are placed, given back when they are cancelled or refunded as a whole. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { loyaltyLedger, loyaltySettings } from '../../db/store/loyalty.ts'
import { conflict } from '../values/refusal.ts'
import type { Moment } from '../values/clock.ts'
import { monthsLater } from '../marketing/loyalty/earning.ts'
import { changePoints, expirePoints } from '../marketing/loyalty/points.ts'
import type { OrderRow } from './order.ts'

/** Takes the points that an order is paid with; 409 when the customer no longer has them. */
export async function redeem(tx: Db, moment: Moment, { id: orderId, customerId, pointsRedeemed, lookup }: OrderRow) {
  if (!pointsRedeemed) return
  const reason = `redeemed for order ${lookup}`
  const balance = await changePoints(tx, moment, { customerId, points: -pointsRedeemed, kind: 'redeemed', reason, orderId })
  if (balance === null) throw conflict('the customer no longer has the points')
}

/** Gives back what an order was paid with, once. Points keep their expiry; those whose time has passed meanwhile get a new one. */
export async function returnPoints(tx: Db, moment: Moment, { id: orderId, customerId, pointsRedeemed, lookup }: OrderRow) {
  if (!pointsRedeemed) return
  const entries = await tx
    .select({ kind: loyaltyLedger.kind, taken: loyaltyLedger.taken })
    .from(loyaltyLedger)
    .where(eq(loyaltyLedger.orderId, orderId))
  const redeemed = entries.find(({ kind }) => kind === 'redeemed')
  if (!redeemed || entries.some(({ kind }) => kind === 'returned')) return
  const { now } = moment
  await expirePoints(tx, moment, customerId)
  const [rules] = await tx.select({ months: loyaltySettings.pointsExpiryMonths }).from(loyaltySettings)
  const renewed = rules?.months ? monthsLater(now, rules.months) : null
  const lots = Map.groupBy(redeemed.taken!, ({ expiresAt }) => (expiresAt !== null && expiresAt <= now ? renewed : expiresAt))
  const reason = `returned from order ${lookup}`
  for (const [expiresAt, parts] of lots) {
    const points = parts.reduce((sum, part) => sum + part.points, 0)
    // Points with a new expiry are new ones: the entries that gave them have expired.
    const from = parts.filter((part) => part.expiresAt === expiresAt)
    await changePoints(tx, moment, { customerId, points, kind: 'returned', reason, orderId, expiresAt, from })
  }
}
