/** The state machine of newsletters (document 1): what sending needs, and how one begins, ends, fails and becomes a draft again. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { newsletterDeliveries, type DELIVERY_STATUSES, newsletters } from '../../../db/store/newsletters.ts'
import { type Plan, LIMITS } from '../../values/plans.ts'
import { Refusal, type Detail } from '../../values/refusal.ts'
import type { Settings } from '../../http/route.ts'
import type { Moment } from '../../values/clock.ts'
import type { Reach } from './audience.ts'
import { newsletterTold, type NewsletterRow } from './newsletter.ts'
import { monthOf, reserveMails, returnMails, usedIn } from './quota.ts'

/** The name of the job that sends a newsletter. */
export const DELIVER = 'newsletter.deliver'

interface Launch {
  newsletter: NewsletterRow
  settings: Settings
  plan: Plan
  reached: Reach
  now: string
}

const unmet = (path: string, message: string): Detail => ({ code: 'custom', message, path: path.split('.') })

/** The reasons against sending, from the settings and the people in the audience; they stand in the order of document 1. */
function blocking({ settings, reached }: Launch): Detail[] {
  const { email, emailDomainVerified, address } = settings
  const found: Detail[] = []
  if (!emailDomainVerified)
    found.push(unmet('settings.email.domain', 'the email domain is not verified: set email.domain, publish its DNS record, verify it'))
  if (!email.outboundEnabled) found.push(unmet('settings.email.outboundEnabled', 'outbound email is turned off: set email.outboundEnabled'))
  if (!address.line1 || !address.city)
    found.push(unmet('settings.address', 'the store has no address, which every newsletter names: set address with line1 and city'))
  if (!reached.active) found.push(unmet('audience', 'there are no active subscribers'))
  else if (!reached.recipients) found.push(unmet('audience', 'there are no active subscribers in the audience who have not been sent it'))
  return found
}

const exceeded = (plan: Plan, used: number, recipients: number) => {
  const limit = LIMITS[plan].monthlyEmails
  const message = `the monthly email quota would be exceeded: ${used} of ${limit} are used, this takes ${recipients}`
  return new Refusal(403, message, { details: [unmet('plan', message)], limit, used, recipients })
}

/** The refusal by the quota of the month of `now`, which reserves nothing; null when it is enough. */
async function overQuota(db: Reader, { plan, reached: { recipients }, now }: Launch): Promise<Refusal | null> {
  const used = await usedIn(db, monthOf(now))
  return used + recipients > LIMITS[plan].monthlyEmails ? exceeded(plan, used, recipients) : null
}

/**
 * Refuses what can't be sent, in the order of document 1: mail domain and outbound mail, address, somebody to send to (400), the quota
 * (403). The first is `error`; `details` names all, so that nobody has to find them out one by one.
 */
export async function requireSendable(db: Reader, launch: Launch) {
  const found = blocking(launch)
  const quota = await overQuota(db, launch)
  if (!found.length && quota) throw quota
  if (found.length) throw new Refusal(400, found[0]!.message, { details: [...found, ...(quota ? (quota.extra.details as Detail[]) : [])] })
}

async function set(tx: Db, row: NewsletterRow, columns: Partial<NewsletterRow>): Promise<NewsletterRow> {
  await tx.update(newsletters).set(columns).where(eq(newsletters.id, row.id))
  return { ...row, ...columns }
}

/** Begins to send: reserves the quota. Throws, with nothing changed, what stands against it. */
export async function begin(tx: Db, launch: Launch): Promise<NewsletterRow> {
  await requireSendable(tx, launch)
  const { newsletter, plan, reached, now } = launch
  const month = monthOf(now)
  if (!(await reserveMails(tx, month, reached.recipients, LIMITS[plan].monthlyEmails)))
    throw exceeded(plan, await usedIn(tx, month), reached.recipients)
  return set(tx, newsletter, {
    ...{ status: 'sending', quotaMonth: month, reserved: reached.recipients, updatedAt: now },
    ...{ lastSubscriberId: reached.lastSubscriberId, passedSubscriberId: null, errorMessage: null },
    triedBefore: tried(await countDeliveries(tx, newsletter.id)),
  })
}

/** How many deliveries of a newsletter there are of each status. */
async function countDeliveries(db: Reader, newsletterId: string): Promise<Partial<Record<string, number>>> {
  const { status } = newsletterDeliveries
  const rows = await db
    .select({ status, count: sql<number>`count(*)` })
    .from(newsletterDeliveries)
    .where(eq(newsletterDeliveries.newsletterId, newsletterId))
    .groupBy(status)
  return Object.fromEntries(rows.map((row) => [row.status, row.count]))
}

const mails = (count: number) => `${count} ${count === 1 ? 'mail' : 'mails'}`

/** The remark for a merchant about deliveries that were not simply taken; null when there are none. */
function remark({ unknown = 0, refused = 0 }: Partial<Record<string, number>>): string | null {
  const parts = [
    unknown && `${mails(unknown)} may or may not have arrived: the connection or the process ended meanwhile`,
    refused && `the mail server refused ${mails(refused)}`,
  ]
  return parts.filter(Boolean).join('; ') || null
}

const tried = ({ sent = 0, unknown = 0, refused = 0 }: Partial<Record<string, number>>) => sent + unknown + refused

/** Gives back what was reserved for mails that no server has been given. */
async function returnRest(tx: Db, { quotaMonth, reserved, triedBefore }: NewsletterRow, counts: Partial<Record<string, number>>) {
  const rest = reserved - (tried(counts) - triedBefore)
  if (quotaMonth !== null && rest > 0) await returnMails(tx, quotaMonth, rest)
}

/** The mail server's words about a mail that it refused. */
async function firstError(tx: Db, id: string): Promise<string> {
  const { newsletterId, status, error } = newsletterDeliveries
  const [row] = await tx
    .select({ error })
    .from(newsletterDeliveries)
    .where(and(eq(newsletterId, id), eq(status, 'refused')))
    .limit(1)
  return row?.error ?? 'refused'
}

/** All deliveries are done. A mail server that refused every one of them has sent nothing: that has failed. */
export async function end(tx: Db, moment: Moment, row: NewsletterRow) {
  const { now } = moment
  const counts = await countDeliveries(tx, row.id)
  if (!counts.sent && !counts.unknown && counts.refused) return fail(tx, moment, row, await firstError(tx, row.id))
  await returnRest(tx, row, counts)
  const recipientCount = counts.sent ?? 0
  const sent = await set(tx, row, {
    status: 'sent',
    sentAt: now,
    recipientCount,
    errorMessage: remark(counts),
    reserved: 0,
    updatedAt: now,
  })
  const payload = { newsletterId: row.id, recipientCount }
  await newsletterTold.tell(tx, moment, 'newsletter.sent', { about: row.id, payload, show: () => sent })
}

/** It can't be sent, or not to its end: those who have it keep it, the others get it when it is sent again. */
export async function fail(tx: Db, moment: Moment, row: NewsletterRow, error: string) {
  const { now } = moment
  const counts = await countDeliveries(tx, row.id)
  // Where nobody has got it, those who were refused are tried again as well.
  const isNone = !counts.sent && !counts.unknown
  const again: (typeof DELIVERY_STATUSES)[number][] = isNone ? ['pending', 'skipped', 'refused'] : ['pending', 'skipped']
  await returnRest(tx, row, isNone ? {} : counts)
  const { newsletterId, status } = newsletterDeliveries
  await tx.delete(newsletterDeliveries).where(and(eq(newsletterId, row.id), inArray(status, again)))
  const errorMessage = [error, remark(counts)].filter(Boolean).join('; ')
  const failed = await set(tx, row, {
    status: 'failed',
    failedAt: now,
    errorMessage,
    recipientCount: counts.sent ?? 0,
    reserved: 0,
    updatedAt: now,
  })
  const payload = { newsletterId: row.id, errorMessage }
  await newsletterTold.tell(tx, moment, 'newsletter.failed', { about: row.id, payload, show: () => failed })
}

/** A failed or scheduled one is a draft again. */
export const redraft = (tx: Db, row: NewsletterRow, now: string) =>
  set(tx, row, {
    status: 'draft',
    scheduledAt: null,
    failedAt: null,
    errorMessage: null,
    recipientCount: 0,
    quotaMonth: null,
    updatedAt: now,
  })
