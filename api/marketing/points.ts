/** The one way in which points change: a balance and its ledger together, never below zero. */
import { and, eq, gte, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { loyaltyLedger, loyaltyMembers } from '../../db/store/loyalty.ts'
import type { Outside } from '../http/route.ts'

export interface Change {
  customerId: string
  /** Below zero when they are taken; never zero. */
  points: number
  reason: string
  /** What is added to the lifetime points. */
  lifetime: number
  orderId?: string
  expiresAt?: string | null
}

/** Changes the points of a customer, and returns the new balance; null, with nothing changed, when there are too few. */
export async function changePoints(
  tx: Db,
  { outside, now }: { outside: Outside; now: string },
  { customerId, points, reason, lifetime, orderId = undefined, expiresAt = null }: Change,
): Promise<number | null> {
  await tx
    .insert(loyaltyMembers)
    .values({ customerId, balance: 0, lifetimePoints: 0, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
  const [member] = await tx
    .update(loyaltyMembers)
    .set({
      balance: sql`${loyaltyMembers.balance} + ${points}`,
      lifetimePoints: sql`${loyaltyMembers.lifetimePoints} + ${lifetime}`,
      updatedAt: now,
    })
    .where(and(eq(loyaltyMembers.customerId, customerId), gte(loyaltyMembers.balance, -points)))
    .returning({ balance: loyaltyMembers.balance })
  if (!member) return null
  await tx
    .insert(loyaltyLedger)
    .values({ id: outside.id(), customerId, points, reason, orderId: orderId ?? null, expiresAt, createdAt: now })
  return member.balance
}
