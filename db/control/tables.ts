/** The control database: which stores there are and whose keys open them. It knows nothing of what is inside a store. */
import { PLANS } from '../../api/values/plans.ts'
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import type { Numbers } from '../numbers.ts'

export const stores = sqliteTable('stores', {
  id: id(),
  name: text().notNull(),
  slug: text().notNull().unique(),
  plan: text({ enum: PLANS }).notNull(),
  aiBuilt: flag().notNull(),
  createdAt: instant().notNull(),
})

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: id(),
    storeId: text()
      .notNull()
      .references(() => stores.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    environment: text({ enum: ['live', 'sandbox'] }).notNull(),
    scopes: json<string[]>(),
    hash: text().notNull().unique(),
    createdAt: instant().notNull(),
    revokedAt: instant(),
    /** How the key begins; null for one of an older release that has not been used since. */
    prefix: text(),
    /** To the hour. */
    lastUsedAt: instant(),
    /** Null: never. */
    expiresAt: instant(),
    /** The key that took its place when it was rotated. */
    replacedBy: text(),
  },
  (t) => [index('api_keys_store').on(t.storeId, t.id)],
)

/** Counts the changes of this database that processes must notice at once (revoked keys, changed plans). */
export const changes = sqliteTable('changes', { id: integer().primaryKey(), count: integer().notNull() })

/** The history of a store beside its databases: also before they are whole, and after they are gone. */
export const storeHistory = sqliteTable(
  'store_history',
  {
    storeId: text().primaryKey(),
    /** Not null: its databases are being made, or removed, since then; what was cut off is cleared away later. */
    phase: text({ enum: ['making', 'removing'] }),
    since: instant(),
    /** The highest numbers that are known to have been given, by environment and counter. */
    numbers: json<Numbers>().notNull(),
    /** The keys that opened it when it was deleted; null: it was not. */
    keyIds: json<string[]>(),
  },
  (t) => [
    check('store_history_phase', sql`${t.phase} in ('making', 'removing')`),
    index('store_history_unfinished')
      .on(t.phase)
      .where(sql`${t.phase} is not null`),
  ],
)

/** Tasks that one process at a time does for the whole installation: the holder of the token does, until then. */
export const leases = sqliteTable('leases', { name: text().primaryKey(), token: text().notNull(), until: instant().notNull() })
