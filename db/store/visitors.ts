/** Room "content": what visitors of a store write. Nothing of it is shown before somebody has approved it. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import { posts } from './blog.ts'
import { products, variants } from './catalog.ts'
import { customers } from './orders.ts'

/** What speaks for or against a visitor's text; a moderator decides. */
export interface Signals {
  /** The number of links in it. */
  links: number
  /** The field that people do not see was filled in. */
  honeypot: boolean
  /** The same text came from another address within an hour. */
  repeated: boolean
  /** What became of the form's token: `none` was sent, it was `valid`, too `old`, `wrong`, or the form was sent `fast`er than one can write. */
  form: 'none' | 'valid' | 'old' | 'wrong' | 'fast'
}
const NO_SIGNALS: Signals = { links: 0, honeypot: false, repeated: false, form: 'none' }

/** Reviews of products; triggers keep the sum and the number of those that are approved in their product. */
export const reviews = sqliteTable(
  'reviews',
  {
    id: id(),
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    author: text().notNull(),
    email: text().notNull(),
    content: text().notNull(),
    rating: integer().notNull(),
    approved: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** Its number among the reviews of its product, from 1. */
    seq: integer().notNull().default(0),
    signals: json<Signals>().notNull().default(NO_SIGNALS),
  },
  (t) => [
    check('reviews_rating', sql`${t.rating} between 1 and 5`),
    index('reviews_created').on(t.createdAt, t.id),
    index('reviews_approved').on(t.approved, t.createdAt, t.id),
    index('reviews_rating').on(t.rating, t.createdAt, t.id),
    index('reviews_product').on(t.productId, t.createdAt, t.id),
    index('reviews_product_queue').on(t.productId, t.approved, t.createdAt, t.id),
    uniqueIndex('reviews_seq').on(t.productId, t.seq),
    /** What visitors see of a product. */
    index('reviews_shown')
      .on(t.productId, t.seq)
      .where(sql`${t.approved} = 1`),
  ],
)

/** Comments on posts; triggers keep the number of those that are approved in their post. */
export const postComments = sqliteTable(
  'post_comments',
  {
    id: id(),
    postId: text()
      .notNull()
      .references(() => posts.id, { onDelete: 'cascade' }),
    author: text().notNull(),
    email: text().notNull(),
    content: text().notNull(),
    approved: flag().notNull(),
    userId: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** Its number among the comments on its post, from 1. */
    seq: integer().notNull(),
    signals: json<Signals>().notNull(),
  },
  (t) => [
    index('post_comments_created').on(t.createdAt, t.id),
    index('post_comments_approved').on(t.approved, t.createdAt, t.id),
    uniqueIndex('post_comments_seq').on(t.postId, t.seq),
    /** What visitors see of a post. */
    index('post_comments_shown')
      .on(t.postId, t.seq)
      .where(sql`${t.approved} = 1`),
  ],
)

/**
 * How many of each 256 reviews of a product, or comments on a post, are approved: kept by triggers, so that the page at any offset of a
 * long list is found without walking there.
 */
export const shownBlocks = sqliteTable(
  'shown_blocks',
  { ownerId: text().notNull(), block: integer().notNull(), shown: integer().notNull() },
  (t) => [primaryKey({ columns: [t.ownerId, t.block] }), check('shown_blocks_shown', sql`${t.shown} between 0 and 256`)],
)

/** Texts of the last hour, by their hash: the same one from the same address is refused, from another it is told. */
export const visitorTexts = sqliteTable(
  'visitor_texts',
  { hash: text().primaryKey(), textHash: text().notNull(), createdAt: instant().notNull() },
  (t) => [index('visitor_texts_text').on(t.textHash, t.createdAt), index('visitor_texts_created').on(t.createdAt)],
)

export const MESSAGE_STATUSES = ['new', 'read', 'answered', 'spam'] as const
export const contactMessages = sqliteTable(
  'contact_messages',
  {
    id: id(),
    name: text(),
    email: text().notNull(),
    subject: text(),
    message: text().notNull(),
    status: text({ enum: MESSAGE_STATUSES }).notNull(),
    signals: json<Signals>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('contact_messages_status', sql`${t.status} in ('new', 'read', 'answered', 'spam')`),
    index('contact_messages_created').on(t.createdAt, t.id),
    index('contact_messages_status').on(t.status, t.createdAt, t.id),
  ],
)

export const CASE_STATUSES = ['open', 'pending', 'resolved'] as const
/** Conversations with customers. */
export const supportCases = sqliteTable(
  'support_cases',
  {
    id: id(),
    name: text(),
    email: text().notNull(),
    subject: text().notNull(),
    status: text({ enum: CASE_STATUSES }).notNull(),
    /** The customer has written since the merchant last looked. */
    unread: flag().notNull(),
    /** The one in the customer's link. */
    token: text().notNull().unique(),
    messageCount: integer().notNull(),
    lastMessageAt: instant().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('support_cases_status', sql`${t.status} in ('open', 'pending', 'resolved')`),
    index('support_cases_last').on(t.lastMessageAt, t.id),
    index('support_cases_status').on(t.status, t.lastMessageAt, t.id),
    index('support_cases_unread')
      .on(t.unread)
      .where(sql`${t.unread} = 1`),
  ],
)

/** A file that goes with a message; it lies beside the images, and is served to those alone who may read the message. */
export interface AttachedFile {
  id: string
  name: string
  type: string
  size: number
}
export const DELIVERIES = ['none', 'queued', 'sent', 'unknown', 'failed'] as const
export const supportMessages = sqliteTable(
  'support_messages',
  {
    id: id(),
    caseId: text()
      .notNull()
      .references(() => supportCases.id, { onDelete: 'cascade' }),
    author: text({ enum: ['customer', 'merchant'] }).notNull(),
    message: text().notNull(),
    attachments: json<AttachedFile[]>().notNull(),
    /** What became of the mail with it; `none` for what the customer wrote, and for a store that sends none. */
    delivery: text({ enum: DELIVERIES }).notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    check('support_messages_author', sql`${t.author} in ('customer', 'merchant')`),
    check('support_messages_delivery', sql`${t.delivery} in ('none', 'queued', 'sent', 'unknown', 'failed')`),
    index('support_messages_case').on(t.caseId, t.createdAt, t.id),
  ],
)

/** The files that messages have, by their id: so that nobody takes them for what a crash has left. */
export const attachedFiles = sqliteTable(
  'attached_files',
  {
    id: id(),
    messageId: text()
      .notNull()
      .references(() => supportMessages.id, { onDelete: 'cascade' }),
    bytes: integer().notNull().default(0),
  },
  (t) => [index('attached_files_message').on(t.messageId)],
)

export const wishlistItems = sqliteTable(
  'wishlist_items',
  {
    customerId: text()
      .notNull()
      .references(() => customers.id, { onDelete: 'cascade' }),
    variantId: text()
      .notNull()
      .references(() => variants.id, { onDelete: 'cascade' }),
    createdAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.variantId] }),
    index('wishlist_items_added').on(t.customerId, t.createdAt, t.variantId),
    index('wishlist_items_variant').on(t.variantId),
  ],
)

export const NOTIFICATION_STATUSES = ['pending', 'waiting', 'sending', 'sent', 'unknown', 'failed', 'stopped'] as const
/** Who waits for a variant; a trigger on `variants` enqueues the mails when it can be bought again. */
export const availabilityNotifications = sqliteTable(
  'availability_notifications',
  {
    id: id(),
    variantId: text()
      .notNull()
      .references(() => variants.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    locale: text(),
    status: text({ enum: NOTIFICATION_STATUSES }).notNull(),
    /** The one in the links of its mails. */
    token: text().notNull().unique(),
    /** A mail server asked to be tried again then, for so many times. */
    notBefore: instant(),
    deferrals: integer().notNull(),
    error: text(),
    askedAt: instant(),
    notifiedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check(
      'availability_notifications_status',
      sql`${t.status} in ('pending', 'waiting', 'sending', 'sent', 'unknown', 'failed', 'stopped')`,
    ),
    /** An address waits for a variant once. */
    uniqueIndex('availability_notifications_open')
      .on(t.variantId, t.email)
      .where(sql`${t.status} in ('pending', 'waiting', 'sending')`),
    index('availability_notifications_status').on(t.variantId, t.status, t.id),
    index('availability_notifications_variant').on(t.variantId, t.id),
    /** Those who wait, in the order in which they are told. */
    index('availability_notifications_turn')
      .on(t.variantId, sql`coalesce(${t.notBefore}, '')`, t.id)
      .where(sql`${t.status} = 'waiting'`),
    index('availability_notifications_asked').on(t.email, t.askedAt),
    index('availability_notifications_created').on(t.createdAt, t.id),
    index('availability_notifications_by_status').on(t.status, t.createdAt, t.id),
  ],
)
