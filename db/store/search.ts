/** Room "catalog": what full-text search reads. `search_fts` (FTS5) indexes these rows by triggers; see the migration. */
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const searchDocuments = sqliteTable(
  'search_documents',
  {
    id: integer().primaryKey(),
    entity: text({ enum: ['product', 'category', 'collection', 'brand', 'post'] }).notNull(),
    entityId: text().notNull(),
    /** Empty for the base language. */
    locale: text().notNull(),
    name: text().notNull(),
    body: text().notNull(),
    /** Both, transliterated: "lodz" finds "Łódź". */
    folded: text().notNull(),
  },
  (t) => [
    uniqueIndex('search_documents_entity').on(t.entity, t.entityId, t.locale),
    /** Whose a document is, without its texts. */
    index('search_documents_owner').on(t.id, t.locale, t.entity, t.entityId),
  ],
)

/** How often what can be found has changed: one row, counted up by triggers. */
export const searchChanges = sqliteTable('search_changes', { id: integer().primaryKey(), n: integer().notNull() })
