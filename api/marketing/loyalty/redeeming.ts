/** The worth of points in a cart (document 1, Loyalty settings): pure rules, exact in integers. */
import { millionths } from '../../values/money.ts'

/** The terms on which a store lets its members redeem points. */
interface Redemption {
  /** Points that pay one unit of currency. */
  redemptionRate: number
  /** Points that a member must hold. */
  minRedemption: number
  /** The most of an order that points may pay. */
  maxRedeemPercent: number
}

const SCALE = 1_000_000n
const scaled = (rate: number) => BigInt(Math.max(1, Math.round(rate * Number(SCALE))))

/** The amount that points pay, in minor units, rounded down. */
export const worthOf = (points: number, { redemptionRate }: Pick<Redemption, 'redemptionRate'>, minorPerUnit: number): number =>
  Number((BigInt(points) * BigInt(minorPerUnit) * SCALE) / scaled(redemptionRate))

/** The fewest points that pay an amount. */
export function pointsToPay(cents: number, { redemptionRate }: Pick<Redemption, 'redemptionRate'>, minorPerUnit: number): number {
  const unit = BigInt(minorPerUnit) * SCALE
  return Number((BigInt(cents) * scaled(redemptionRate) + unit - 1n) / unit)
}

/** The most that points may pay of what is left of a cart after its discounts, rounded down. */
export const mostPayable = (cents: number, { maxRedeemPercent }: Pick<Redemption, 'maxRedeemPercent'>): number =>
  Number((BigInt(cents) * BigInt(millionths(maxRedeemPercent))) / SCALE)

/** Why a member can't redeem so many points, or null. */
export function redemptionProblem(points: number, available: number, { minRedemption }: Pick<Redemption, 'minRedemption'>): string | null {
  if (available < minRedemption) return `redeeming takes a balance of at least ${minRedemption} points; there are ${available}`
  return points > available ? `the balance is ${available} points` : null
}
