/** Translations of what the rooms "catalog" and "content" hold, one row for each entity and locale. */
import { primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { instant, json } from '../columns.ts'
import type { RichDocument, RichText } from './catalog.ts'

/** The fields of one translation; absent ones fall back to the base language. */
export interface TranslationFields {
  name?: string
  slug?: string
  title?: string
  summary?: string
  badgeContent?: string
  content?: RichDocument
  description?: RichText
  longDescription?: RichText
  seoTitle?: string
  seoDescription?: string
}

export const translations = sqliteTable(
  'translations',
  {
    entity: text({ enum: ['product', 'collection', 'category', 'brand', 'post'] }).notNull(),
    entityId: text().notNull(),
    locale: text().notNull(),
    slug: text(),
    fields: json<TranslationFields>().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.entity, t.entityId, t.locale] }), uniqueIndex('translations_slug').on(t.entity, t.locale, t.slug)],
)
