/** Room "orders": the money of orders: payments, refunds, and what payment providers told of them. */
import { sql } from 'drizzle-orm'
import { check, index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json, minor } from '../columns.ts'
import { orders, type RefundLine } from './orders.ts'

export const payments = sqliteTable(
  'payments',
  {
    id: id(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    method: text().notNull(),
    status: text({ enum: ['pending', 'succeeded', 'failed'] }).notNull(),
    amountCents: minor().notNull(),
    currency: text().notNull(),
    reference: text(),
    /** The provider's own id (a Stripe PaymentIntent). */
    providerId: text().unique(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('payments_amount', sql`${t.amountCents} >= 0`),
    check('payments_status', sql`${t.status} in ('pending', 'succeeded', 'failed')`),
    index('payments_order').on(t.orderId, t.id),
  ],
)

export const refunds = sqliteTable(
  'refunds',
  {
    id: id(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    status: text({ enum: ['pending', 'succeeded', 'failed'] }).notNull(),
    amountCents: minor().notNull(),
    currency: text().notNull(),
    reason: text(),
    restock: flag().notNull(),
    lines: json<RefundLine[]>().notNull(),
    /** The payment at the provider that it goes back to; null for money that is handed over. */
    providerPaymentId: text(),
    providerId: text().unique(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('refunds_amount', sql`${t.amountCents} >= 0`),
    check('refunds_status', sql`${t.status} in ('pending', 'succeeded', 'failed')`),
    index('refunds_order').on(t.orderId, t.id),
    index('refunds_pending')
      .on(t.status, t.updatedAt)
      .where(sql`${t.status} = 'pending'`),
  ],
)

/** Events of payment providers that took effect: each one does so once. */
export const providerEvents = sqliteTable('provider_events', { id: text().primaryKey(), createdAt: instant().notNull() }, (t) => [
  index('provider_events_created').on(t.createdAt),
])
