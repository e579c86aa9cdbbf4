/** How many subscribers there are of each status: counted as they change, since counting 100,000 anew takes longer than a page of them. */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import type { SUBSCRIBER_STATUSES } from '../../db/store/newsletters.ts'
import { counters } from '../../db/store/store.ts'

export type SubscriberStatus = (typeof SUBSCRIBER_STATUSES)[number]

const name = (status: SubscriberStatus) => `subscribers ${status}`

async function add(tx: Db, status: SubscriberStatus, by: number) {
  await tx
    .insert(counters)
    .values({ name: name(status), value: by })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + ${by}` } })
}

/** Counts a subscriber whose status changes; null: there was none before, or is none after. */
export async function recount(tx: Db, from: SubscriberStatus | null, to: SubscriberStatus | null) {
  if (from === to) return
  if (from) await add(tx, from, -1)
  if (to) await add(tx, to, 1)
}

/** How many subscribers there are: of a status, or in all. */
export async function countOf(db: Db, status?: SubscriberStatus): Promise<number> {
  const where = status
    ? eq(counters.name, name(status))
    : sql`${counters.name} in ('subscribers pending', 'subscribers active', 'subscribers unsubscribed')`
  const [row] = await db
    .select({ count: sql<number>`coalesce(sum(${counters.value}), 0)` })
    .from(counters)
    .where(where)
  return row!.count
}
