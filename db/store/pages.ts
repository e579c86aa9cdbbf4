/** Room "content": what a store says of itself, and in its mails. */
import { sql } from 'drizzle-orm'
import { check, index, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json } from '../columns.ts'
import type { RichDocument } from './catalog.ts'

export const LEGAL_KINDS = ['terms', 'privacy', 'returns', 'shipping', 'imprint'] as const
export const legalPages = sqliteTable(
  'legal_pages',
  {
    kind: text({ enum: LEGAL_KINDS }).primaryKey(),
    title: text(),
    content: json<RichDocument>(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('legal_pages_kind', sql`${t.kind} in ('terms', 'privacy', 'returns', 'shipping', 'imprint')`)],
)

/** The profiles of a store, by network. */
export const socialLinks = sqliteTable('social_links', { network: text().primaryKey(), url: text().notNull() })

/** The one row of a store's looks. */
export const brandKit = sqliteTable(
  'brand_kit',
  {
    id: id(),
    logo: text(),
    colors: json<Record<string, string>>().notNull(),
    fonts: json<{ heading: string | null; body: string | null }>().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('brand_kit_one_row', sql`${t.id} = 'brand-kit'`)],
)

export const TEMPLATE_KINDS = ['order-confirmation', 'shipment', 'refund', 'ticket', 'back-in-stock', 'review-request'] as const
/** The words of a store for a kind of mail, by language; what is not there has those of Stoa. */
export const emailTemplates = sqliteTable(
  'email_templates',
  {
    kind: text({ enum: TEMPLATE_KINDS }).notNull(),
    /** Empty for the store's own language. */
    locale: text().notNull(),
    subject: text().notNull(),
    body: text().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.locale] }),
    check(
      'email_templates_kind',
      sql`${t.kind} in ('order-confirmation', 'shipment', 'refund', 'ticket', 'back-in-stock', 'review-request')`,
    ),
  ],
)

/** Who wants no more of a kind of mail: none asks for a review, and what is back in stock is told to who has confirmed it anew. */
export const unwantedMails = sqliteTable(
  'unwanted_mails',
  { email: text().notNull(), kind: text({ enum: ['review-request', 'back-in-stock'] }).notNull(), createdAt: instant().notNull() },
  (t) => [primaryKey({ columns: [t.email, t.kind] }), check('unwanted_mails_kind', sql`${t.kind} in ('review-request', 'back-in-stock')`)],
)

/** Mails that go out once: each is noted before it leaves, so that one which may have arrived is never sent again. */
export const sentMails = sqliteTable(
  'sent_mails',
  {
    /** The part of its Message-ID before the @. */
    id: id(),
    status: text({ enum: ['sending', 'sent', 'unknown', 'failed'] }).notNull(),
    error: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('sent_mails_status', sql`${t.status} in ('sending', 'sent', 'unknown', 'failed')`),
    index('sent_mails_created').on(t.createdAt),
  ],
)
