/** Room "orders", carriers: the addons that a store has connected. */
import { sql } from 'drizzle-orm'
import { check, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json } from '../columns.ts'
import type { Address } from './store.ts'

export const CARRIERS = ['carrier_a', 'carrier_b', 'carrier_c'] as const
export type Carrier = (typeof CARRIERS)[number]
/** Formats of carrier_a's labels. */
export const LABEL_MODES = [
  'one_label_on_a4_pdf',
  'four_labels_on_a4_pdf',
  'four_labels_on_a4_right_pdf',
  'roll_160x100_pdf',
  'roll_160x100_printer_a',
  'roll_160x100_printer_a_epl',
  'roll_160x100_printer_b',
] as const
export type LabelMode = (typeof LABEL_MODES)[number]
/** Parcel sizes of carrier_b, smallest first. */
export const TEMPLATES = ['small', 'medium', 'large'] as const
export type Template = (typeof TEMPLATES)[number]
/** The configuration of an addon that holds in both environments. */
export interface AddonConfig {
  labelMode?: LabelMode
  fallbackTemplate?: Template
}

/** The link of a shipment to its carrier, as it was when the shipment was made: a later change of the store changes no label. */
export interface ShipmentLabel {
  addonName: Carrier
  /** The environment whose credentials are used: only `live` is sent. */
  environment: 'live' | 'test'
  /** The text of the barcode. */
  number: string
  service: string
  template: Template | null
  sender: Address & { name: string }
  weightGrams: number | null
}

export const addons = sqliteTable(
  'addons',
  {
    id: id(),
    name: text({ enum: CARRIERS }).notNull().unique(),
    config: json<AddonConfig>().notNull(),
    /** Sealed credentials (api/outside/secrets.ts); null: none for that environment. */
    live: text(),
    test: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('addons_name', sql`${t.name} in ('carrier_a', 'carrier_b', 'carrier_c')`)],
)
