/** Workstations, of the room "orders": where orders are packed, and the rules that assign them. */
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import type { OrderSource } from './orders.ts'

export const WORKSTATION_TYPES = ['packing', 'both', 'picking'] as const

/** Where orders are packed. */
export const workstations = sqliteTable(
  'workstations',
  {
    id: id(),
    name: text().notNull().unique(),
    type: text({ enum: WORKSTATION_TYPES }).notNull(),
    active: flag().notNull(),
    position: integer().notNull(),
    memberIds: json<string[]>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('workstations_type', sql`${t.type} in ('packing', 'both', 'picking')`)],
)

/** Which workstation an order goes to; the first that matches counts. */
export const workstationRules = sqliteTable('workstation_rules', {
  position: integer().primaryKey(),
  sources: json<OrderSource[]>().notNull(),
  shippingIds: json<string[]>().notNull(),
  workstationIds: json<string[]>().notNull(),
})
