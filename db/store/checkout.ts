/** Room "checkout": carts and the ways to ship or collect what is in them. */
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json, minor } from '../columns.ts'
import { addons, CARRIERS } from './addons.ts'
import { taxRates } from './catalog.ts'
import type { Address } from './store.ts'

/** One line of a cart: a variant, or a bundle. */
export interface CartItem {
  id: string
  variantId: string | null
  bundleId: string | null
  /** The slot that a variant is booked for; carts from before there were slots lack it. */
  bookingSlotId?: string | null
  quantity: number
}

/** A cart is read and written as a whole, so that it is one row. */
export const carts = sqliteTable(
  'carts',
  {
    id: id(),
    currency: text().notNull(),
    email: text(),
    items: json<CartItem[]>().notNull(),
    couponIds: json<string[]>().notNull(),
    loyaltyPoints: integer().notNull(),
    shippingMethodId: text(),
    shippingAddress: json<Address>(),
    billingAddress: json<Address>(),
    pickupPoint: json<Record<string, unknown>>(),
    pickupLocationId: text(),
    note: text(),
    /** The order that this cart became. */
    orderId: text(),
    expiresAt: instant().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The cart as it was answered when it became an order. */
    placed: json<Record<string, unknown>>(),
  },
  (t) => [index('carts_expires').on(t.expiresAt)],
)

export const shippingMethods = sqliteTable(
  'shipping_methods',
  {
    id: id(),
    name: text().notNull(),
    description: text(),
    type: text({ enum: ['courier', 'parcel', 'pickup_point', 'in_store'] }).notNull(),
    price: minor().notNull(),
    freeShippingThreshold: minor(),
    minShippingTime: integer(),
    maxShippingTime: integer(),
    countries: json<string[]>().notNull(),
    taxRateId: text().references(() => taxRates.id),
    position: integer().notNull(),
    currencyPrices: json<Record<string, { price: number; freeShippingThreshold: number | null }>>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The texts that `query` searches: transliterated, lowercase. */
    folded: text().notNull().default(''),
    /** The carrier that it is linked to: one that is linked can't be disconnected. */
    addonId: text().references(() => addons.id),
    addonName: text({ enum: CARRIERS }),
    addonData: json<Record<string, unknown>>(),
  },
  (t) => [
    check('shipping_methods_type', sql`${t.type} in ('courier', 'parcel', 'pickup_point', 'in_store')`),
    check('shipping_methods_price', sql`${t.price} >= 0`),
    index('shipping_methods_position').on(t.position, t.id),
    index('shipping_methods_tax_rate').on(t.taxRateId),
    index('shipping_methods_addon').on(t.addonId),
  ],
)

/**
 * One row: a random version of what all prices of a store depend on beside its catalog (promotions, tax rates, shipping methods). Triggers
 * make it anew with each change of one of them.
 */
export const priceRules = sqliteTable('price_rules', { id: integer().primaryKey(), version: text().notNull() }, (t) => [
  check('price_rules_one_row', sql`${t.id} = 1`),
])

export const pickupLocations = sqliteTable('pickup_locations', {
  id: id(),
  label: text().notNull(),
  name: text().notNull(),
  company: text(),
  line1: text().notNull(),
  line2: text(),
  city: text().notNull(),
  state: text(),
  postalCode: text().notNull(),
  country: text().notNull(),
  phone: text().notNull(),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
})
