/** What became of an order's mails that did not arrive: noted on the order, where its merchant sees it. */
import { and, eq, isNotNull } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { orders, type MailIssue } from '../../../db/store/orders.ts'
import type { Failure, Running } from '../../jobs/kind.ts'
import type { Moment } from '../../values/clock.ts'
import type { Sending } from './sent.ts'

/** As many as an order keeps, the newest. */
const KEPT = 20

/** A mail about an order: its kind, and the shipment or refund that it tells of; null: the order itself. */
type OrderMail = Pick<MailIssue, 'kind' | 'about'> & { orderId: string }

/** Notes that a mail did not arrive, in the place of what was noted of it before; null: it did. */
async function noteIssue(tx: Db, { orderId, kind, about }: OrderMail, issue: Pick<MailIssue, 'status' | 'reason' | 'at'> | null) {
  const [known] = await tx
    .select({ mailIssues: orders.mailIssues })
    .from(orders)
    .where(issue ? eq(orders.id, orderId) : and(eq(orders.id, orderId), isNotNull(orders.mailIssues)))
  if (!known) return
  const others = (known.mailIssues ?? []).filter((other) => other.kind !== kind || other.about !== about)
  const all = issue ? [...others, { kind, about, ...issue }].slice(-KEPT) : others
  if (!issue && all.length === known.mailIssues?.length) return
  await tx
    .update(orders)
    .set({ mailIssues: all.length ? all : null })
    .where(eq(orders.id, orderId))
}

const REASON_LENGTH = 500
const issueOf = (status: MailIssue['status'], reason: string | null, at: string) => ({
  status,
  reason: (reason ?? 'it failed for a reason of this server').slice(0, REASON_LENGTH),
  at,
})

/** What is noted on the order when a mail has left, was refused for good, or may have been lost. */
export const noting =
  ({ clock }: Pick<Running, 'clock'>, mail: OrderMail): Sending['note'] =>
  (tx, outcome, told) =>
    noteIssue(tx, mail, outcome === 'sent' ? null : issueOf(outcome === 'failed' ? 'refused' : 'unknown', told, clock.now().toISOString()))

/** The same when it was tried for long enough. */
export const noteGivenUp = (tx: Db, { now }: Moment, mail: OrderMail, { told }: Failure) =>
  noteIssue(tx, mail, issueOf('given_up', told, now))
