/** Room "catalog": bundles, and the variants that they are made of. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json } from '../columns.ts'
import { variants, type RichText, type Seo } from './catalog.ts'

export const bundles = sqliteTable(
  'bundles',
  {
    id: id(),
    name: text().notNull(),
    slug: text().notNull().unique(),
    summary: text(),
    content: json<RichText>(),
    images: json<string[]>().notNull(),
    status: text({ enum: ['draft', 'published', 'hidden'] }).notNull(),
    discountPercentage: real().notNull(),
    seo: json<Seo>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('bundles_status', sql`${t.status} in ('draft', 'published', 'hidden')`),
    check('bundles_discount', sql`${t.discountPercentage} between 0 and 100`),
  ],
)

export const bundleVariants = sqliteTable(
  'bundle_variants',
  {
    bundleId: text()
      .notNull()
      .references(() => bundles.id, { onDelete: 'cascade' }),
    variantId: text()
      .notNull()
      .references(() => variants.id, { onDelete: 'cascade' }),
    quantity: integer().notNull(),
    position: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bundleId, t.variantId] }),
    index('bundle_variants_variant').on(t.variantId),
    check('bundle_variants_quantity', sql`${t.quantity} >= 1`),
  ],
)
