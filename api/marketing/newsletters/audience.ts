/** The readers of a newsletter (document 3, Clarifications): active subscribers, read in windows, so that no statement takes long. */
import { and, eq, gt, lte, max, sql, type SQL } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import type { Handle } from '../../../db/open.ts'
import { newsletterDeliveries, subscribers, type AUDIENCES } from '../../../db/store/newsletters.ts'

type Audience = (typeof AUDIENCES)[number]

/** Active subscribers that one statement looks at. */
const WINDOW = 1_000
const RECENT_MS = 30 * 86_400_000

/** Paid orders of a subscriber, at most `most` counted. */
const paidOrders = (most: number) => sql`(select count(*) from (select 1 from customers c join orders o on o.customer_id = c.id
  where c.email = ${subscribers.email} and o.paid_at is not null limit ${most}))`

/** Whether an active subscriber is in an audience. */
function isIn(audience: Audience, now: string): SQL {
  switch (audience) {
    case 'all_active':
      return sql`1`
    case 'customers':
      return sql`${paidOrders(1)} >= 1`
    case 'repeat_customers':
      return sql`${paidOrders(2)} >= 2`
    case 'never_purchased':
      return sql`${paidOrders(1)} = 0`
    case 'recent_signups':
      return sql`${subscribers.subscribedAt} >= ${new Date(Date.parse(now) - RECENT_MS).toISOString()}`
  }
}

interface Asked {
  newsletterId: string
  audience: Audience
  now: string
}

/** The subscribers whom a newsletter still has to reach: whoever has a delivery of it has got it, or may have. */
const wanted = ({ newsletterId, audience, now }: Asked) =>
  and(
    isIn(audience, now),
    sql`not exists (select 1 from ${newsletterDeliveries} d where d.newsletter_id = ${newsletterId} and d.subscriber_id = ${subscribers.id})`,
  )

/** The active subscribers after one of them, up to another, in a window: the last of them, null when there is none. */
async function windowEnd(db: Reader, after: string, last: string): Promise<string | null> {
  const window = db
    .select({ id: subscribers.id })
    .from(subscribers)
    .where(and(eq(subscribers.status, 'active'), gt(subscribers.id, after), lte(subscribers.id, last)))
    .orderBy(subscribers.id)
    .limit(WINDOW)
    .as('window')
  const [row] = await db.select({ end: max(window.id) }).from(window)
  return row?.end ?? null
}

const between = (after: string, end: string) => and(eq(subscribers.status, 'active'), gt(subscribers.id, after), lte(subscribers.id, end))

/** The reach that a newsletter would have if it were sent now. */
export interface Reach {
  /** Active subscribers of the store, whoever they are: at least this many. */
  active: number
  /** The number of people in the audience who have not been sent it. */
  recipients: number
  /** The newest subscriber that was looked at: those who come later are not sent to. */
  lastSubscriberId: string
}

/** Counts an audience, one window after another, letting others have their turn in between. */
export async function reach({ read }: Pick<Handle, 'read'>, asked: Asked): Promise<Reach> {
  const [newest] = await read
    .select({ id: max(subscribers.id) })
    .from(subscribers)
    .where(eq(subscribers.status, 'active'))
  const last = newest?.id ?? ''
  let recipients = 0
  for (let after = '', end; (end = await windowEnd(read, after, last)) !== null; after = end) {
    recipients += await read.$count(subscribers, and(between(after, end), wanted(asked)))
    await Bun.sleep(0)
  }
  return { active: last ? 1 : 0, recipients, lastSubscriberId: last }
}

/** Makes the deliveries of the next window, at most `most`; the last subscriber that was looked at, null at the end. */
export async function addDeliveries(tx: Db, asked: Asked, { after, last, most }: { after: string; last: string; most: number }) {
  const end = await windowEnd(tx, after, last)
  if (end === null) return null
  const rows = tx
    .select({
      newsletterId: sql<string>`${asked.newsletterId}`.as('newsletter_id'),
      subscriberId: subscribers.id,
      status: sql<'pending'>`'pending'`.as('status'),
      deferrals: sql<number>`0`.as('deferrals'),
      notBefore: sql<null>`null`.as('not_before'),
      error: sql<null>`null`.as('error'),
      updatedAt: sql<string>`${asked.now}`.as('updated_at'),
    })
    .from(subscribers)
    .where(and(between(after, end), wanted(asked)))
    .orderBy(subscribers.id)
    .limit(most)
  await tx.insert(newsletterDeliveries).select(rows as never)
  return end
}
