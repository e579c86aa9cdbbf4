/** The outcomes of the mails of a newsletter, one delivery for each reader. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { newsletterDeliveries, type DELIVERY_STATUSES } from '../../../db/store/newsletters.ts'

type Status = (typeof DELIVERY_STATUSES)[number]

/** A mail server may ask so often to try a recipient later; the pauses between. */
const DEFERRALS_MS = [60_000, 300_000, 1_800_000]

const own = (newsletterId: string, subscriberId: string) =>
  and(eq(newsletterDeliveries.newsletterId, newsletterId), eq(newsletterDeliveries.subscriberId, subscriberId))

/** The outcome of one mail. */
export interface Outcome {
  subscriberId: string
  status: Status
  error: string | null
}

/** Stores what came of a mail, or that it is on its way. */
export async function note(tx: Db, newsletterId: string, { subscriberId, status, error }: Outcome, now: string) {
  await tx.update(newsletterDeliveries).set({ status, error, updatedAt: now }).where(own(newsletterId, subscriberId))
}

/** Puts a delivery off; the last time it is refused instead. */
export async function defer(tx: Db, newsletterId: string, { subscriberId, error }: Outcome, now: string) {
  const [row] = await tx.select().from(newsletterDeliveries).where(own(newsletterId, subscriberId))
  const wait = DEFERRALS_MS[row!.deferrals]
  if (wait === undefined) return note(tx, newsletterId, { subscriberId, status: 'refused', error }, now)
  const notBefore = new Date(Date.parse(now) + wait).toISOString()
  await tx
    .update(newsletterDeliveries)
    .set({ status: 'pending', deferrals: row!.deferrals + 1, notBefore, error, updatedAt: now })
    .where(own(newsletterId, subscriberId))
}
