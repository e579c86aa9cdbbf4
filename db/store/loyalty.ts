/** Loyalty, of the room "marketing": the worth of points in a store, its tiers and campaigns, and the points of its members. */
import { sql } from 'drizzle-orm'
import { check, index, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import { customers } from './orders.ts'

/** The one row of a store's loyalty settings; none before they are set. */
export const loyaltySettings = sqliteTable(
  'loyalty_settings',
  {
    id: integer().primaryKey(),
    /** Points for each unit of currency spent. */
    pointsPerUnit: real().notNull(),
    /** Points that pay one unit of currency. */
    redemptionRate: real().notNull(),
    minRedemption: real().notNull(),
    maxRedeemPercent: real().notNull(),
    pointsExpiryMonths: integer(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('loyalty_settings_one_row', sql`${t.id} = 1`)],
)

export const loyaltyTiers = sqliteTable(
  'loyalty_tiers',
  {
    id: id(),
    name: text().notNull(),
    /** Members are in the tier once their lifetime points exceed it. */
    threshold: integer().notNull(),
    multiplier: real().notNull(),
    color: text().notNull(),
    sortOrder: integer().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('loyalty_tiers_values', sql`${t.threshold} >= 0 and ${t.multiplier} > 0 and ${t.sortOrder} >= 0`),
    index('loyalty_tiers_order').on(t.sortOrder, t.threshold, t.id),
  ],
)

export const CAMPAIGN_SCOPES = ['ALL_PRODUCTS', 'PRODUCT_IDS', 'CATEGORY_IDS', 'COLLECTION_IDS'] as const

export const loyaltyCampaigns = sqliteTable(
  'loyalty_campaigns',
  {
    id: id(),
    name: text().notNull(),
    earnMultiplier: real().notNull(),
    scope: text({ enum: CAMPAIGN_SCOPES }).notNull(),
    scopeIds: json<string[]>().notNull(),
    startsAt: instant(),
    endsAt: instant(),
    active: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('loyalty_campaigns_scope', sql`${t.scope} in ('ALL_PRODUCTS', 'PRODUCT_IDS', 'CATEGORY_IDS', 'COLLECTION_IDS')`),
    check('loyalty_campaigns_multiplier', sql`${t.earnMultiplier} > 0`),
    index('loyalty_campaigns_active').on(t.active, t.id),
  ],
)

/** The points of a customer: `balance` is the sum of the ledger. It is below zero when points were taken back that had been spent. */
export const loyaltyMembers = sqliteTable(
  'loyalty_members',
  {
    customerId: text()
      .primaryKey()
      .references(() => customers.id, { onDelete: 'cascade' }),
    balance: integer().notNull(),
    lifetimePoints: integer().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('loyalty_members_points', sql`${t.lifetimePoints} >= 0`)],
)

/** Points that expire together; null: never. */
export interface Lot {
  expiresAt: string | null
  points: number
  /** The entry that counts them while nobody has used them. */
  entryId?: string
}

/** Why points changed. */
export const LEDGER_KINDS = ['earned', 'taken_back', 'redeemed', 'returned', 'adjusted', 'expired'] as const

/** Every change of a balance, for good. */
export const loyaltyLedger = sqliteTable(
  'loyalty_ledger',
  {
    id: id(),
    customerId: text()
      .notNull()
      .references(() => loyaltyMembers.customerId, { onDelete: 'cascade' }),
    points: integer().notNull(),
    reason: text().notNull(),
    orderId: text(),
    expiresAt: instant(),
    createdAt: instant().notNull(),
    kind: text({ enum: LEDGER_KINDS }).notNull().default('adjusted'),
    /** The points of this entry that expire and are neither used nor expired. Points that never expire are the rest of the balance. */
    expiring: integer().notNull().default(0),
    /** The lots that a redemption has taken, with the instants at which they would have expired. */
    taken: json<Lot[]>(),
    /** The points of this entry that have expired. */
    expired: integer().notNull().default(0),
  },
  (t) => [
    check('loyalty_ledger_points', sql`${t.points} <> 0`),
    check('loyalty_ledger_kind', sql`${t.kind} in ('earned', 'taken_back', 'redeemed', 'returned', 'adjusted', 'expired')`),
    check('loyalty_ledger_expiring', sql`${t.expiring} = 0 or (${t.expiring} between 0 and ${t.points} and ${t.expiresAt} is not null)`),
    index('loyalty_ledger_customer').on(t.customerId, t.id),
    index('loyalty_ledger_order').on(t.orderId, t.kind),
    index('loyalty_ledger_expiring')
      .on(t.customerId, t.expiresAt, t.id)
      .where(sql`${t.expiring} > 0`),
    index('loyalty_ledger_due')
      .on(t.expiresAt, t.customerId)
      .where(sql`${t.expiring} > 0`),
  ],
)
