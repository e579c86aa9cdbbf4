/** Points that expire (document 1, Loyalty settings): taken as their time comes. */
import { and, gt, lte, sql } from 'drizzle-orm'
import { loyaltyLedger } from '../../../db/store/loyalty.ts'
import type { JobKind } from '../../jobs/kind.ts'
import { expirePoints } from './points.ts'

/** Members whose points are taken in one transaction. */
const BATCH = 200

/** Takes what has expired, and is due again when the next points do. */
export const expireLoyaltyPoints: JobKind = {
  retriesMs: [1_000, 60_000, 3_600_000, 3_600_000, 3_600_000],
  async run({ store, clock, signal, progress }) {
    for (;;) {
      if (signal.aborted) return 'interrupted'
      const now = clock.now().toISOString()
      const members = await store.read
        .selectDistinct({ customerId: loyaltyLedger.customerId })
        .from(loyaltyLedger)
        .where(and(gt(loyaltyLedger.expiring, 0), lte(loyaltyLedger.expiresAt, now)))
        .limit(BATCH)
      if (!members.length) break
      await store.write(async (tx) => {
        await progress(tx)
        for (const { customerId } of members) await expirePoints(tx, { clock, now }, customerId)
      })
    }
    const [next] = await store.read
      .select({ at: sql<string | null>`min(${loyaltyLedger.expiresAt})` })
      .from(loyaltyLedger)
      .where(gt(loyaltyLedger.expiring, 0))
    return next?.at ?? undefined
  },
}
