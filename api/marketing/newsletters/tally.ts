/** How many subscribers there are of each status: counted as they change, since counting 100,000 anew takes longer than a page of them. */
import { inArray, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { SUBSCRIBER_STATUSES } from '../../../db/store/newsletters.ts'
import { counters } from '../../../db/store/store.ts'

export type SubscriberStatus = (typeof SUBSCRIBER_STATUSES)[number]

const PREFIX = 'subscribers '
/** Counts the changes of the list: what was learnt of it before the last one no longer holds. */
const CHANGES = `${PREFIX}changes`

async function add(tx: Db, name: string, by: number) {
  await tx
    .insert(counters)
    .values({ name, value: by })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + ${by}` } })
}

/**
 * Counts a sign-up, whatever comes of it: so each one is a write, and how long it takes does not tell whether the address was there.
 */
export const countSignUp = (tx: Db) => add(tx, 'sign-ups', 1)

/** Counts a subscriber whose status changes; null: there was none before, or is none after. */
export async function recount(tx: Db, from: SubscriberStatus | null, to: SubscriberStatus | null) {
  if (from === to) return
  if (from) await add(tx, PREFIX + from, -1)
  if (to) await add(tx, PREFIX + to, 1)
  await add(tx, CHANGES, 1)
}

/** How many subscribers there are, of a status or in all, and how often the list has changed. */
export async function countOf(db: Reader, status?: SubscriberStatus): Promise<{ count: number; changes: number }> {
  const rows = await db
    .select()
    .from(counters)
    .where(inArray(counters.name, [CHANGES, ...SUBSCRIBER_STATUSES.map((own) => PREFIX + own)]))
  const of = (name: string) => rows.find((row) => row.name === PREFIX + name)?.value ?? 0
  const count = status ? of(status) : SUBSCRIBER_STATUSES.reduce((sum, own) => sum + of(own), 0)
  return { count, changes: of('changes') }
}
