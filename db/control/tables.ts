/** The control database: which stores there are and whose keys open them. It knows nothing of what is inside a store. */
import { PLANS } from '../../api/values/plans.ts'
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import type { Numbers } from '../numbers.ts'
import type { Measured } from './room.ts'

export const stores = sqliteTable('stores', {
  id: id(),
  name: text().notNull(),
  slug: text().notNull().unique(),
  plan: text({ enum: PLANS }).notNull(),
  aiBuilt: flag().notNull(),
  createdAt: instant().notNull(),
})

/** What the platform allows a store beside its plan, and what it took when it was last measured. */
export const storeRoom = sqliteTable(
  'store_room',
  {
    storeId: text()
      .primaryKey()
      .references(() => stores.id, { onDelete: 'cascade' }),
    /** Null, as of builds: what the plan has. */
    diskQuotaMb: integer(),
    buildsPerDay: integer(),
    measured: json<Measured>(),
    measuredAt: instant(),
  },
  (t) => [check('store_room_quotas', sql`${t.diskQuotaMb} >= 0 and ${t.buildsPerDay} >= 0`)],
)

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
    /** What the platform had decided of it when it was deleted; null: it was not. */
    plan: text({ enum: PLANS }),
    aiBuilt: flag(),
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

/** Stores that have a storefront of their own: a repository, and what their hosts serve. */
export const projects = sqliteTable('projects', {
  storeId: text()
    .primaryKey()
    .references(() => stores.id, { onDelete: 'cascade' }),
  /** The key that its storefront works with; its secret is known to nobody. */
  keyId: text().notNull(),
  /** What the store's hosts serve; null before the first publish. */
  liveId: text(),
  createdAt: instant().notNull(),
})

/** Built storefronts: each is a folder that is never changed. */
export const deployments = sqliteTable(
  'deployments',
  {
    /** `dpl_…` */
    id: id(),
    storeId: text()
      .notNull()
      .references(() => stores.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['production', 'preview'] }).notNull(),
    /** What it was made of; of a preview, what its workspace was based on. */
    commitSha: text().notNull(),
    /** The count of changes that its data were read at. */
    changes: integer().notNull(),
    createdAt: instant().notNull(),
    /** When something else took its place, or its review ended; null: it is in use. */
    replacedAt: instant(),
    /** Its host answers 410. */
    closed: flag().notNull(),
  },
  (t) => [
    check('deployments_kind', sql`${t.kind} in ('production', 'preview')`),
    index('deployments_store').on(t.storeId, t.createdAt),
    index('deployments_replaced').on(t.replacedAt),
  ],
)

export const DOMAIN_STATUSES = [
  'Pending Verification',
  'Valid Configuration',
  'Invalid Configuration',
  'Domain Not Found',
  'Unknown Error',
] as const

/** Custom domains: one for a store, and each for one store. */
export const domains = sqliteTable(
  'domains',
  {
    domain: text().primaryKey(),
    storeId: text()
      .notNull()
      .unique()
      .references(() => stores.id, { onDelete: 'cascade' }),
    /** What the TXT record has to carry. */
    token: text().notNull(),
    status: text({ enum: DOMAIN_STATUSES }).notNull(),
    /** When it was proven to be the store's; its host serves the store since then. */
    verifiedAt: instant(),
    checkedAt: instant(),
    createdAt: instant().notNull(),
  },
  (t) => [
    check(
      'domains_status',
      sql`${t.status} in ('Pending Verification', 'Valid Configuration', 'Invalid Configuration', 'Domain Not Found', 'Unknown Error')`,
    ),
    index('domains_checked').on(t.checkedAt),
    index('domains_pending')
      .on(t.createdAt)
      .where(sql`${t.verifiedAt} is null`),
  ],
)
