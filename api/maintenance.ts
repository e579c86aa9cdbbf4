/** The maintenance of a store, done now and then: forgetting rows that have expired, and finishing work that a crash left open. */
import { and, asc, inArray, isNull, lt, lte, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader } from '../db/driver.ts'
import type { Environment, Handle } from '../db/open.ts'
import { carts } from '../db/store/checkout.ts'
import { providerEvents, refunds } from '../db/store/payments.ts'
import { auditLog, idempotencyKeys, outbox, teamInvitations, webhookDeliveries } from '../db/store/store.ts'
import { sentMails } from '../db/store/pages.ts'
import { availabilityNotifications, visitorTexts } from '../db/store/visitors.ts'
import { REPEAT_MS } from './content/visitors/submission.ts'
import type { Provider } from './outside/payment-provider.ts'
import { KEPT_MS } from './http/idempotency.ts'
import type { Clock } from './values/clock.ts'
import { requestRefund } from './orders/payments/refund.ts'

const DAY_MS = 86_400_000
/** What came of deliveries is kept for a week; their events for as long as one that is asked for again then may be tried. */
const DELIVERIES_MS = 7 * DAY_MS
const OUTBOX_MS = DELIVERIES_MS + 4 * DAY_MS
/** Stripe sends an event again for three days by itself, and by hand for thirty: after that it can't come a second time. */
const EVENTS_MS = 35 * DAY_MS
const AUDIT_MS = 400 * DAY_MS
/** A mail about an order is never sent later than 30 days after what it tells of. */
const MAILS_MS = 100 * DAY_MS
/** Nobody waits for a variant, or has a mail about it remembered, for longer. */
const WISHES_MS = 400 * DAY_MS
/** A pending refund that is older than this was left by a process that ended: it is asked for again. */
const REFUND_STALE_MS = 60_000
/** Rows that go in one transaction, so that no write waits long behind a sweep. */
const BATCH = 500

const before = (now: Date, ms: number) => new Date(now.getTime() - ms).toISOString()

/** Deletes a batch of rows whose instant lies before another; whether there may be more. */
async function expire(
  store: Handle,
  table: SQLiteTable,
  column: SQLiteColumn,
  instant: string,
  more?: ReturnType<typeof isNull>,
): Promise<boolean> {
  const due = (db: Reader) =>
    db
      .select({ row: sql<number>`rowid` })
      .from(table)
      .where(and(lt(column, instant), more))
      .limit(BATCH)
  if (!(await due(store.read)).length) return false
  return store.write(async (tx) => {
    const rows = (await due(tx)).map(({ row }) => row)
    if (rows.length) await tx.delete(table).where(inArray(sql`rowid`, rows))
    return rows.length === BATCH
  })
}

/** The same of deliveries, which are numbered in the order in which they were made. */
async function expireDeliveries(store: Handle, instant: string): Promise<boolean> {
  const { seq, createdAt } = webhookDeliveries
  const oldest = await store.read.select({ seq, createdAt }).from(webhookDeliveries).orderBy(asc(seq)).limit(BATCH)
  const due = oldest.filter((row) => row.createdAt < instant)
  if (due.length) await store.write(async (tx) => void (await tx.delete(webhookDeliveries).where(lte(seq, due.at(-1)!.seq))))
  return due.length === BATCH
}

/**
 * Sweeps one store: expired carts and answers, old events and audit rows; asks again for refunds that were left pending. Throws
 * once all is done when the provider did not take one of them: that one stays pending, the others have had their turn.
 */
export async function sweep(store: Handle, owner: { storeId: string; environment: Environment }, provider: Provider | null, clock: Clock) {
  const now = clock.now()
  const wire = now.toISOString()
  while (await expire(store, carts, carts.expiresAt, wire, isNull(carts.orderId))) await Bun.sleep(1)
  while (await expire(store, idempotencyKeys, idempotencyKeys.createdAt, before(now, KEPT_MS))) await Bun.sleep(1)
  while (await expireDeliveries(store, before(now, DELIVERIES_MS))) await Bun.sleep(1)
  while (await expire(store, outbox, outbox.createdAt, before(now, OUTBOX_MS))) await Bun.sleep(1)
  while (await expire(store, auditLog, auditLog.createdAt, before(now, AUDIT_MS))) await Bun.sleep(1)
  while (await expire(store, providerEvents, providerEvents.createdAt, before(now, EVENTS_MS))) await Bun.sleep(1)
  while (await expire(store, visitorTexts, visitorTexts.createdAt, before(now, REPEAT_MS))) await Bun.sleep(1)
  while (await expire(store, sentMails, sentMails.createdAt, before(now, MAILS_MS))) await Bun.sleep(1)
  while (await expire(store, availabilityNotifications, availabilityNotifications.createdAt, before(now, WISHES_MS))) await Bun.sleep(1)
  while (await expire(store, teamInvitations, teamInvitations.expiresAt, wire)) await Bun.sleep(1)
  if (!provider) return
  const stale = await store.read
    .select()
    .from(refunds)
    .where(and(sql`${refunds.status} = 'pending'`, lt(refunds.updatedAt, before(now, REFUND_STALE_MS))))
    .limit(100)
  const failures: unknown[] = []
  for (const row of stale) {
    await requestRefund(store, provider, row, { acting: { clock, now: wire, keyId: null }, owner, again: true }).catch((error) =>
      failures.push(error),
    )
  }
  if (failures.length)
    throw new AggregateError(failures, `${failures.length} of ${stale.length} pending refunds were not taken: ${failures[0]}`)
}
