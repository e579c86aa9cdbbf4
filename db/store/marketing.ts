/** Room "marketing": coupons and promotions. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json, minor } from '../columns.ts'
import { orders } from './orders.ts'

export const coupons = sqliteTable(
  'coupons',
  {
    id: id(),
    /** Trimmed and NFC; compared exactly. */
    code: text().notNull().unique(),
    type: text({ enum: ['percentage', 'fixed'] }).notNull(),
    /** Percent of a percentage coupon. */
    percentage: real(),
    /** Amount of a fixed coupon, in the store's currency. */
    amount: minor(),
    timesRedeemed: integer().notNull(),
    maxUses: integer(),
    startDate: instant(),
    endDate: instant(),
    minProductCount: integer(),
    maxProductCount: integer(),
    productIds: json<string[]>().notNull(),
    collectionIds: json<string[]>().notNull(),
    categoryIds: json<string[]>().notNull(),
    brandIds: json<string[]>().notNull(),
    /** Amounts of a fixed coupon in further currencies. */
    currencyAmounts: json<Record<string, number>>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The texts that `query` searches: transliterated, lowercase. */
    folded: text().notNull().default(''),
  },
  (t) => [
    check(
      'coupons_kind',
      sql`(${t.type} = 'percentage' and ${t.percentage} between 0 and 100 and ${t.amount} is null) or (${t.type} = 'fixed' and ${t.amount} > 0 and ${t.percentage} is null)`,
    ),
    check('coupons_uses', sql`${t.timesRedeemed} >= 0`),
  ],
)

export const couponRedemptions = sqliteTable(
  'coupon_redemptions',
  {
    couponId: text().notNull(),
    orderId: text()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.couponId, t.orderId] }), index('coupon_redemptions_order').on(t.orderId)],
)

export const promotions = sqliteTable(
  'promotions',
  {
    id: id(),
    name: text().notNull(),
    type: text({ enum: ['percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping'] }).notNull(),
    percentage: real(),
    amount: minor(),
    currencyAmounts: json<Record<string, number>>().notNull(),
    buyQuantity: integer(),
    getQuantity: integer(),
    getDiscountPercentage: real(),
    tiers: json<{ minQuantity: number; percentage: number }[]>().notNull(),
    productIds: json<string[]>().notNull(),
    collectionIds: json<string[]>().notNull(),
    categoryIds: json<string[]>().notNull(),
    brandIds: json<string[]>().notNull(),
    startsAt: instant(),
    endsAt: instant(),
    active: flag().notNull(),
    priority: integer().notNull(),
    stackable: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('promotions_type', sql`${t.type} in ('percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping')`),
    index('promotions_active').on(t.active, t.priority),
  ],
)
