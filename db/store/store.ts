/** Room "store": settings, team, audit log, and what every write shares (counters, idempotency keys, outbox). */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'

export interface Address {
  name?: string | null
  company?: string | null
  line1?: string | null
  line2?: string | null
  city?: string | null
  state?: string | null
  postalCode?: string | null
  country?: string | null
  phone?: string | null
}
type Tools = Record<'events' | 'bookings' | 'reviews' | 'blog' | 'loyalty' | 'wishlist', boolean>

/** The one row of a store's settings. */
export const settings = sqliteTable(
  'settings',
  {
    id: integer().primaryKey(),
    storeId: text().notNull(),
    name: text().notNull(),
    slug: text().notNull(),
    currency: text().notNull(),
    locale: text().notNull(),
    contactEmail: text(),
    address: json<Address>().notNull(),
    defaultLanguage: text().notNull(),
    enabledLanguages: json<Record<string, boolean>>().notNull(),
    enabledCurrencies: json<string[]>().notNull(),
    taxesIncluded: flag().notNull(),
    tools: json<Tools>().notNull(),
    checkout: json<{ requirePhone: boolean; guestCheckout: boolean; cartTtlDays: number; unpaidHours: number }>().notNull(),
    payments: json<{ testMode: boolean }>().notNull(),
    email: json<{
      fromName: string | null
      fromAddress: string | null
      outboundEnabled: boolean
      domain: string | null
      doubleOptIn?: boolean
    }>().notNull(),
    emailDomainVerified: flag().notNull(),
    emailDomainToken: text().notNull(),
    booking: json<{ cancellationHours: number | null; bufferMinutes: number | null; autoConfirm: boolean | null }>().notNull(),
    welcomeOffer: json<{ enabled: boolean; couponId: string | null }>().notNull(),
    lowStockThreshold: integer().notNull(),
    updatedAt: instant().notNull(),
    /** The secret from which the links of subscribers are made; made with the first one. */
    mailSecret: text(),
    /** The time zone that says when a day of the store begins. */
    timezone: text().notNull().default('UTC'),
    /** The result of the last look-up of the email domain's record; null when there was none, or the domain is another since. */
    /** Whether buyers are asked for reviews, and so many days after their orders arrived; null: they are not. */
    emailDomainCheck: json<{ name: string; expected: string; found: string[]; result: string; at: string }>(),
    reviewRequest: json<{ enabled: boolean; afterDays: number }>(),
  },
  (t) => [check('settings_one_row', sql`${t.id} = 1`), check('settings_low_stock', sql`${t.lowStockThreshold} >= 0`)],
)

export const teamMembers = sqliteTable(
  'team_members',
  {
    id: id(),
    email: text().notNull().unique(),
    name: text(),
    role: text({ enum: ['owner', 'admin', 'staff'] }).notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [check('team_members_role', sql`${t.role} in ('owner', 'admin', 'staff')`)],
)

export const teamInvitations = sqliteTable(
  'team_invitations',
  {
    id: id(),
    email: text().notNull().unique(),
    role: text({ enum: ['owner', 'admin', 'staff'] }).notNull(),
    tokenHash: text().notNull().unique(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [check('team_invitations_role', sql`${t.role} in ('owner', 'admin', 'staff')`)],
)

export const auditLog = sqliteTable(
  'audit_log',
  {
    id: id(),
    keyId: text().notNull(),
    keyName: text().notNull(),
    method: text().notNull(),
    path: text().notNull(),
    resource: text().notNull(),
    requestId: text().notNull(),
    createdAt: instant().notNull(),
    /** `mcp`: by a tool. */
    via: text().$type<'http' | 'mcp'>().notNull().default('http'),
  },
  (t) => [index('audit_log_created').on(t.createdAt)],
)

/** First answers of POSTs that carried an `Idempotency-Key`, stored in the transaction of their effect. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    keyId: text().notNull(),
    path: text().notNull(),
    idempotencyKey: text().notNull(),
    bodyHash: text().notNull(),
    status: integer().notNull(),
    body: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.path, t.idempotencyKey] }), index('idempotency_keys_created').on(t.createdAt)],
)

/** Gapless numbers: taken in the transaction that uses them. */
export const counters = sqliteTable('counters', { name: text().primaryKey(), value: integer().notNull() })

/** Events for those outside, each written in the transaction of the change itself. */
export const outbox = sqliteTable(
  'outbox',
  {
    id: id(),
    event: text().notNull(),
    payload: json<Record<string, unknown>>().notNull(),
    createdAt: instant().notNull(),
    /** What webhooks get, byte for byte; null when none of them asked for it. */
    body: text(),
  },
  (t) => [index('outbox_created').on(t.createdAt)],
)

/** Addresses that get events as signed POSTs. */
export const webhooks = sqliteTable(
  'webhooks',
  {
    id: id(),
    url: text().notNull(),
    description: text(),
    events: json<string[]>().notNull(),
    active: flag().notNull(),
    /** Why it was turned off: by the merchant (null), because it answered 410, or took nothing for days. */
    disabledReason: text({ enum: ['gone', 'failing'] }),
    disabledAt: instant(),
    /** Sealed, as is the one before it, which signs beside it until then. */
    secret: text().notNull(),
    previousSecret: text(),
    previousUntil: instant(),
    /** Tries that failed since the last one that did not. */
    failures: integer().notNull(),
    /** Nothing is tried before. */
    restUntil: instant(),
    lastDeliveredAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('webhooks_failures', sql`${t.failures} >= 0`), check('webhooks_reason', sql`${t.disabledReason} in ('gone', 'failing')`)],
)

/** What each webhook gets, in the order in which it happened. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull().unique(),
    webhookId: text()
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** In the outbox, and the `webhook-id` of each try. */
    eventId: text().notNull(),
    event: text().notNull(),
    /** The thing that it is about: what happens to it is told in its order. */
    about: text().notNull(),
    status: text({ enum: ['pending', 'delivered', 'failed'] }).notNull(),
    tries: integer().notNull(),
    /** The first try since it was asked for. */
    firstTryAt: instant(),
    /** When it is tried next, the first time at once; null when it has ended. */
    dueAt: instant(),
    lastStatus: integer(),
    lastBody: text(),
    lastError: text(),
    createdAt: instant().notNull(),
    deliveredAt: instant(),
  },
  (t) => [
    check('webhook_deliveries_tries', sql`${t.tries} >= 0`),
    check('webhook_deliveries_status', sql`${t.status} in ('pending', 'delivered', 'failed')`),
    // A new one is in one of them alone: a change writes one for each webhook that asked.
    index('webhook_deliveries_status').on(t.webhookId, t.status, t.seq),
    index('webhook_deliveries_again')
      .on(t.webhookId, t.dueAt)
      .where(sql`${t.tries} > 0 and ${t.dueAt} is not null`),
  ],
)

/** Work for later, or for the background: done by whoever holds the lease (`api/jobs/`). */
export const jobs = sqliteTable(
  'jobs',
  {
    id: id(),
    kind: text().notNull(),
    /** The thing that the job is about, mostly an id: there is one job of a kind about it. */
    subject: text().notNull(),
    dueAt: instant().notNull(),
    /** Attempts since it last got anywhere. */
    attempts: integer().notNull(),
    leaseToken: text(),
    leaseUntil: instant(),
    /** Counts how often it was asked for: what is asked for while it runs is done after it. */
    asked: integer().notNull(),
    /** What went wrong, for the operator. */
    error: text(),
    /** When it was given up. */
    failedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** What the merchant may read of the error; null: nothing. */
    told: text(),
  },
  (t) => [
    check('jobs_attempts', sql`${t.attempts} >= 0`),
    uniqueIndex('jobs_subject').on(t.kind, t.subject),
    index('jobs_kind')
      .on(t.kind, t.dueAt, t.id)
      .where(sql`${t.failedAt} is null`),
    index('jobs_leased')
      .on(t.leaseToken)
      .where(sql`${t.leaseToken} is not null`),
    index('jobs_failed')
      .on(t.failedAt)
      .where(sql`${t.failedAt} is not null`),
  ],
)
