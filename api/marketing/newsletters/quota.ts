/** The monthly quota of newsletter recipients (document 3, Decisions): reserved in one statement, so that two can't both take the rest. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { emailQuota } from '../../../db/store/newsletters.ts'

/** The calendar month (UTC) of an instant. */
export const monthOf = (now: string) => now.slice(0, 7)

/** How many mails of a month have been reserved. */
export async function usedIn(db: Reader, month: string): Promise<number> {
  const [row] = await db.select({ used: emailQuota.used }).from(emailQuota).where(eq(emailQuota.month, month))
  return row?.used ?? 0
}

/** Reserves mails of a month; false, with nothing reserved, when they would go over the limit. */
export async function reserveMails(tx: Db, month: string, count: number, limit: number): Promise<boolean> {
  await tx.insert(emailQuota).values({ month, used: 0 }).onConflictDoNothing()
  const taken = await tx
    .update(emailQuota)
    .set({ used: sql`${emailQuota.used} + ${count}` })
    .where(and(eq(emailQuota.month, month), sql`${emailQuota.used} + ${count} <= ${limit}`))
    .returning({ used: emailQuota.used })
  return taken.length > 0
}

/** Gives back reserved mails that were not sent. */
export const returnMails = (tx: Db, month: string, count: number) =>
  tx
    .update(emailQuota)
    .set({ used: sql`max(0, ${emailQuota.used} - ${count})` })
    .where(eq(emailQuota.month, month))
