/** Room "orders": customers, orders and what happens to them: payments, refunds, shipments. */
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json, minor } from '../columns.ts'
import type { ShipmentLabel } from './addons.ts'
import type { Address } from './store.ts'

export const customers = sqliteTable('customers', {
  id: id(),
  /** Lowercase, NFC, host in ASCII: one address is one customer. */
  email: text().notNull().unique(),
  name: text(),
  phone: text(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
})

export const customerAddresses = sqliteTable(
  'customer_addresses',
  {
    id: id(),
    customerId: text()
      .notNull()
      .references(() => customers.id, { onDelete: 'cascade' }),
    line1: text().notNull(),
    line2: text(),
    city: text().notNull(),
    state: text(),
    postalCode: text().notNull(),
    country: text(),
    name: text(),
    company: text(),
    phone: text(),
    createdAt: instant().notNull(),
  },
  (t) => [index('customer_addresses_customer').on(t.customerId, t.id)],
)

export const ORDER_SOURCES = [
  'storefront',
  'integration_a',
  'marketplace_a',
  'locker_marketplace',
  'wholesale',
  'admin',
  'counter',
] as const
export type OrderSource = (typeof ORDER_SOURCES)[number]
export const ORDER_STATUSES = ['pending', 'paid', 'processing', 'shipped', 'delivered', 'completed', 'cancelled', 'refunded'] as const
export const PAYMENT_STATUSES = ['unpaid', 'paid', 'partially_refunded', 'refunded'] as const

export const MAIL_ISSUES = ['refused', 'given_up', 'unknown'] as const
/** A mail about an order that did not arrive, or may not have. */
export interface MailIssue {
  /** The kind of its template. */
  kind: string
  /** The shipment or refund that it tells of; null: the order itself. */
  about: string | null
  status: (typeof MAIL_ISSUES)[number]
  reason: string
  at: string
}

type DueColumns = Record<'status' | 'paidCents' | 'refundedCents' | 'totalCents', AnySQLiteColumn>
/** 1 for what is not cancelled, and paid less than its total; a deposit that was given back is due again. */
const dueOf = ({ status, paidCents, refundedCents, totalCents }: DueColumns) =>
  sql`(case ${status} when 'pending' then ${paidCents} - ${refundedCents} when 'cancelled' then ${totalCents} else ${paidCents} end < ${totalCents})`

export const orders = sqliteTable(
  'orders',
  {
    id: id(),
    /** The order number as a number: gapless within the store. */
    lookup: integer().notNull().unique(),
    source: text({ enum: ORDER_SOURCES }).notNull(),
    status: text({ enum: ORDER_STATUSES }).notNull(),
    paymentStatus: text({ enum: PAYMENT_STATUSES }).notNull(),
    customerId: text()
      .notNull()
      .references(() => customers.id),
    email: text().notNull(),
    name: text(),
    phone: text(),
    currency: text().notNull(),
    taxesIncluded: flag().notNull(),
    subtotalCents: minor().notNull(),
    discountCents: minor().notNull(),
    shippingCents: minor().notNull(),
    taxCents: minor().notNull(),
    totalCents: minor().notNull(),
    paidCents: minor().notNull(),
    refundedCents: minor().notNull(),
    shippingAddress: json<Address>(),
    billingAddress: json<Address>(),
    shippingMethodId: text(),
    shippingName: text(),
    shippingTaxCents: minor().notNull(),
    pickupPoint: json<Record<string, unknown>>(),
    pickupLocationId: text(),
    coupons: json<{ code: string; discountCents: number }[]>().notNull(),
    pointsEarned: integer().notNull(),
    pointsRedeemed: integer().notNull(),
    /** Capability of the buyer: 128 random bits. */
    accessCode: text().notNull().unique(),
    workstationId: text(),
    packedAt: instant(),
    paidAt: instant(),
    note: text(),
    cancelReason: text(),
    cartId: text().unique(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The name as it is searched: transliterated, lowercase. */
    foldedName: text().notNull().default(''),
    /** The one who decided which workstation packs the order, or that none does: a rule or a person; null when nobody has. */
    workstationBy: text({ enum: ['rule', 'hand'] }),
    /** The points of this order that refunds have taken back. */
    pointsTakenBack: integer().notNull().default(0),
    /** The points that it earned before rounding down: parts of a point, in digits, because they may pass 2^53. */
    earnedParts: text(),
    /** The last thing about its money that asks for a decision. */
    paymentIssue: json<PaymentIssue>(),
    /** How the money of a checkout's order is awaited; null for an order that is never cancelled because nobody pays it. */
    awaiting: text({ enum: ['hand', 'stripe'] }),
    /** From when on the waiting is counted. */
    awaitingSince: instant(),
    /** Those that applied when it was placed. */
    promotions: json<{ id: string; name: string; discountCents: number }[]>().notNull().default([]),
    /** The language of its mails; null for the store's own. */
    locale: text(),
    /** Mails about it that did not arrive; null when there is none. */
    mailIssues: json<MailIssue[]>(),
  },
  (t) => [
    check(
      'orders_source',
      sql`${t.source} in ('storefront', 'integration_a', 'marketplace_a', 'locker_marketplace', 'wholesale', 'admin', 'counter')`,
    ),
    check(
      'orders_status',
      sql`${t.status} in ('pending', 'paid', 'processing', 'shipped', 'delivered', 'completed', 'cancelled', 'refunded')`,
    ),
    check('orders_payment_status', sql`${t.paymentStatus} in ('unpaid', 'paid', 'partially_refunded', 'refunded')`),
    check('orders_total', sql`${t.totalCents} >= 0`),
    check('orders_refunded', sql`${t.refundedCents} >= 0 and ${t.refundedCents} <= ${t.paidCents}`),
    index('orders_created').on(t.createdAt, t.id),
    index('orders_customer').on(t.customerId, t.createdAt, t.id),
    index('orders_status').on(t.status, t.createdAt, t.id),
    index('orders_source').on(t.source, t.createdAt, t.id),
    index('orders_payment_status').on(t.paymentStatus, t.createdAt, t.id),
    index('orders_workstation').on(t.workstationId, t.createdAt, t.id),
    index('orders_waiting')
      .on(t.workstationId, t.workstationBy, t.createdAt, t.id)
      .where(sql`${t.packedAt} is null and ${t.status} in ('paid', 'processing')`),
    index('orders_total').on(t.totalCents, t.createdAt, t.id),
    index('orders_due')
      .on(dueOf(t), t.createdAt, t.id)
      .where(sql`${dueOf(t)} = 1`),
    index('orders_mail_issues')
      .on(t.createdAt, t.id)
      .where(sql`${t.mailIssues} is not null`),
    index('orders_awaiting')
      .on(t.awaiting, t.awaitingSince, t.id)
      .where(sql`${t.status} = 'pending' and ${t.awaiting} is not null`),
  ],
)

/** 1 where something is still to be paid of an order, in the words of the index of those. */
export const isDue = dueOf(orders)

export const orderLines = sqliteTable(
  'order_lines',
  {
    id: id(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
    /** Not a foreign key: a line outlives the variant that it sold. */
    variantId: text(),
    productId: text(),
    bundleId: text(),
    name: text().notNull(),
    sku: text(),
    quantity: integer().notNull(),
    unitPriceCents: minor().notNull(),
    discountCents: minor().notNull(),
    taxCents: minor().notNull(),
    totalCents: minor().notNull(),
    shippable: flag().notNull(),
    /** Units that have neither left nor been given back. */
    openQuantity: integer().notNull(),
    /** The variant's stock holds the open units (it is tracked). */
    held: flag().notNull(),
    shippedQuantity: integer().notNull(),
    refundedQuantity: integer().notNull(),
    bookingSlotId: text(),
    /** Its units are seats of an event: they stay sold, and never leave the shelf. */
    ticket: flag().notNull().default(false),
  },
  (t) => [
    check('order_lines_quantity', sql`${t.quantity} >= 1`),
    check(
      'order_lines_units',
      sql`${t.openQuantity} >= 0 and ${t.openQuantity} + ${t.shippedQuantity} <= ${t.quantity} and ${t.shippedQuantity} between 0 and ${t.quantity} and ${t.refundedQuantity} between 0 and ${t.quantity}`,
    ),
    check('order_lines_total', sql`${t.totalCents} = ${t.quantity} * ${t.unitPriceCents} - ${t.discountCents} and ${t.totalCents} >= 0`),
    index('order_lines_order').on(t.orderId, t.position),
    index('order_lines_variant').on(t.variantId),
    index('order_lines_product').on(t.productId),
  ],
)

/** The kinds of payment issues: money of an order about which nobody but the merchant can decide. */
export const PAYMENT_ISSUES = ['amount_mismatch', 'unexpected_payment', 'refund_failed'] as const
export interface PaymentIssue {
  code: (typeof PAYMENT_ISSUES)[number]
  message: string
  /** The provider's own id of the payment. */
  reference: string
  at: string
}

/** The units of one line that a refund gives back. */
export interface RefundLine {
  lineId: string
  quantity: number
}

export const shipments = sqliteTable(
  'shipments',
  {
    id: id(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    lines: json<RefundLine[]>().notNull(),
    carrier: text(),
    trackingNumber: text(),
    trackingUrl: text(),
    createdAt: instant().notNull(),
    /** The contents of its label; null: the order was not linked to a carrier when it left. */
    label: json<ShipmentLabel>(),
  },
  (t) => [index('shipments_order').on(t.orderId, t.id)],
)
