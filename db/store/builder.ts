/** Room "builder": publishing, and what reviewers say of a preview. */
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'

export const PUBLISH_STATUSES = ['queued', 'building', 'verifying', 'live', 'domain_pending', 'failed'] as const

export const publishes = sqliteTable(
  'publishes',
  {
    id: id(),
    status: text({ enum: PUBLISH_STATUSES }).notNull(),
    /** 1 until it has ended: a store has one at a time. */
    running: integer().unique(),
    /** What the build is to be made of: a commit of `main`. */
    commitSha: text().notNull(),
    savedChanges: flag().notNull(),
    /** Its deployment, once the build has one. */
    deploymentId: text(),
    /** In plain language. */
    reason: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('publishes_status', sql`${t.status} in ('queued', 'building', 'verifying', 'live', 'domain_pending', 'failed')`),
    check('publishes_running', sql`(${t.running} is not null) = (${t.status} in ('queued', 'building', 'verifying'))`),
  ],
)

/** How long the builds of a store took, the newest last: what estimates are made of. */
export const builds = sqliteTable(
  'builds',
  {
    id: id(),
    kind: text({ enum: ['publish', 'refresh', 'preview'] }).notNull(),
    /** The count of `storefrontChanges` when its data were read. */
    changes: integer().notNull(),
    pages: integer().notNull(),
    ms: integer().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [check('builds_kind', sql`${t.kind} in ('publish', 'refresh', 'preview')`), index('builds_created').on(t.createdAt)],
)

/** The publishes and previews that were asked for in the last day. */
export const buildStarts = sqliteTable('build_starts', { id: id(), createdAt: instant().notNull() }, (t) => [
  index('build_starts_created').on(t.createdAt),
])

/** Counts the changes of what a storefront shows: by triggers, on the audit log and on what is sold out or back. */
export const storefrontChanges = sqliteTable('storefront_changes', { id: integer().primaryKey(), count: integer().notNull() }, (t) => [
  check('storefront_changes_one_row', sql`${t.id} = 1`),
])

export const SESSION_STATUSES = [
  'created',
  'in_progress',
  'task_review',
  'processing',
  'in_review',
  'done',
  'canceled',
  'interrupted',
] as const

export const feedbackSessions = sqliteTable(
  'feedback_sessions',
  {
    id: id(),
    status: text({ enum: SESSION_STATUSES }).notNull(),
    /** 1 while it locks the workspace: a store has one at a time. */
    active: integer().unique(),
    /** Of the token in its link. */
    tokenHash: text().notNull().unique(),
    /** The token, sealed: the link is shown to whoever may read the session. */
    token: text().notNull(),
    deploymentId: text(),
    errorMessage: text(),
    progress: json<{ total: number; done: number; label: string; eta: string | null }>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check(
      'feedback_sessions_status',
      sql`${t.status} in ('created', 'in_progress', 'task_review', 'processing', 'in_review', 'done', 'canceled', 'interrupted')`,
    ),
    check('feedback_sessions_active', sql`(${t.active} is null) = (${t.status} in ('done', 'canceled', 'interrupted'))`),
    index('feedback_sessions_by_status').on(t.status, t.id),
  ],
)

/** Where a comment is pinned: the element, the point in it (0 to 1), and how wide the page was. */
export interface Pin {
  selector: string
  x: number
  y: number
  viewportWidth: number
  /** What the element is, in words: its role and text. */
  element: string
}

export const feedbackComments = sqliteTable(
  'feedback_comments',
  {
    id: id(),
    sessionId: text()
      .notNull()
      .references(() => feedbackSessions.id, { onDelete: 'cascade' }),
    content: text().notNull(),
    author: text(),
    pagePath: text().notNull(),
    pin: json<Pin>(),
    /** The SHA-256 of the cookie of whoever wrote it. */
    visitor: text().notNull(),
    status: text({ enum: ['open', 'processed'] }).notNull(),
    taskInstruction: text(),
    createdAt: instant().notNull(),
  },
  (t) => [
    check('feedback_comments_status', sql`${t.status} in ('open', 'processed')`),
    index('feedback_comments_session').on(t.sessionId, t.id),
  ],
)
