/** Newsletters, of the room "marketing": the subscribers who want mail, the newsletters, and each delivery of one. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json } from '../columns.ts'

export const SUBSCRIBER_STATUSES = ['pending', 'active', 'unsubscribed'] as const

export const subscribers = sqliteTable(
  'subscribers',
  {
    id: id(),
    /** Lowercase, NFC, host in ASCII: one address is one subscriber. */
    email: text().notNull().unique(),
    name: text(),
    source: text(),
    status: text({ enum: SUBSCRIBER_STATUSES }).notNull(),
    /** Capability of whoever reads the mails: the way out. */
    token: text().notNull().unique(),
    /** When they last became active. */
    subscribedAt: instant(),
    unsubscribedAt: instant(),
    /** When they were last asked to confirm. */
    askedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** Capability of whoever reads the mail that asks to confirm: the way in. */
    confirmToken: text().unique(),
  },
  (t) => [
    check('subscribers_status', sql`${t.status} in ('pending', 'active', 'unsubscribed')`),
    index('subscribers_by_status').on(t.status, t.id),
  ],
)

export const NEWSLETTER_STATUSES = ['draft', 'scheduled', 'sending', 'sent', 'failed'] as const
export const AUDIENCES = ['all_active', 'customers', 'repeat_customers', 'never_purchased', 'recent_signups'] as const

/** A product as a newsletter features it. */
export interface Featured {
  productId: string
  /** Null: the cheapest. */
  variantId: string | null
}

export const newsletters = sqliteTable(
  'newsletters',
  {
    id: id(),
    subject: text().notNull(),
    content: text().notNull(),
    status: text({ enum: NEWSLETTER_STATUSES }).notNull(),
    audience: text({ enum: AUDIENCES }).notNull(),
    products: json<Featured[]>().notNull(),
    scheduledAt: instant(),
    recipientCount: integer().notNull(),
    sentAt: instant(),
    failedAt: instant(),
    errorMessage: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** While it is sent: the last subscriber who is looked at, and the last one who has been. */
    lastSubscriberId: text(),
    passedSubscriberId: text(),
    /** The month whose quota it draws on, and the number of mails that are reserved in it. */
    quotaMonth: text(),
    reserved: integer().notNull(),
    /** Deliveries that earlier attempts to send it had made. */
    triedBefore: integer().notNull(),
  },
  (t) => [
    check('newsletters_status', sql`${t.status} in ('draft', 'scheduled', 'sending', 'sent', 'failed')`),
    check(
      'newsletters_audience',
      sql`${t.audience} in ('all_active', 'customers', 'repeat_customers', 'never_purchased', 'recent_signups')`,
    ),
    check('newsletters_counts', sql`${t.recipientCount} >= 0 and ${t.reserved} >= 0`),
    index('newsletters_by_status').on(t.status, t.id),
  ],
)

export const DELIVERY_STATUSES = ['pending', 'sending', 'sent', 'unknown', 'refused', 'skipped'] as const

/** One mail of one newsletter to one subscriber. */
export const newsletterDeliveries = sqliteTable(
  'newsletter_deliveries',
  {
    newsletterId: text()
      .notNull()
      .references(() => newsletters.id, { onDelete: 'cascade' }),
    /** Not a foreign key: that somebody was sent something outlives the subscriber. */
    subscriberId: text().notNull(),
    status: text({ enum: DELIVERY_STATUSES }).notNull(),
    /** How often the mail server asked to try again later. */
    deferrals: integer().notNull(),
    /** Not tried before; null: at once. */
    notBefore: instant(),
    error: text(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.newsletterId, t.subscriberId] }),
    check('newsletter_deliveries_status', sql`${t.status} in ('pending', 'sending', 'sent', 'unknown', 'refused', 'skipped')`),
    index('newsletter_deliveries_by_status').on(t.newsletterId, t.status, t.notBefore, t.subscriberId),
  ],
)

/** Mails to newsletter recipients in a calendar month (UTC). */
export const emailQuota = sqliteTable('email_quota', { month: text().primaryKey(), used: integer().notNull() }, (t) => [
  check('email_quota_used', sql`${t.used} >= 0`),
])
