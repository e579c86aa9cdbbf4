/** Room "content": the posts of a store's blog, and what they are about. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant, json } from '../columns.ts'
import type { RichDocument, Seo } from './catalog.ts'

export const POST_STATUSES = ['draft', 'published'] as const
export const posts = sqliteTable(
  'posts',
  {
    id: id(),
    title: text().notNull(),
    slug: text().notNull().unique(),
    content: json<RichDocument>(),
    excerpt: text(),
    image: text(),
    status: text({ enum: POST_STATUSES }).notNull(),
    /** From when it is public, once it is published. */
    publishedAt: instant(),
    seo: json<Seo>().notNull(),
    /** The approved comments: kept by triggers. */
    commentCount: integer().notNull(),
    /** Lists are newest first by this: when it is public, else when it was written. */
    sortedAt: instant().notNull(),
    /** Whether searches show it to visitors: set by its changes, and by a job at `publishedAt`. */
    visible: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('posts_status', sql`${t.status} in ('draft', 'published')`),
    check('posts_published', sql`${t.status} = 'draft' or ${t.publishedAt} is not null`),
    check('posts_comments', sql`${t.commentCount} >= 0`),
    index('posts_sorted').on(t.sortedAt, t.id),
    index('posts_status').on(t.status, t.sortedAt, t.id),
    index('posts_hidden')
      .on(t.id)
      .where(sql`${t.visible} = 0`),
  ],
)

export const blogCategories = sqliteTable(
  'blog_categories',
  {
    id: id(),
    name: text().notNull(),
    slug: text().notNull().unique(),
    description: text(),
    image: text(),
    /** A fractional index: sorts by code unit between those of its neighbours. */
    position: text().notNull(),
    active: flag().notNull(),
    seo: json<Seo>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [index('blog_categories_position').on(t.position, t.id)],
)

/** The categories of posts, with what their lists sort and filter by, as it stands in the post: triggers keep it. */
export const postCategories = sqliteTable(
  'post_categories',
  {
    postId: text()
      .notNull()
      .references(() => posts.id, { onDelete: 'cascade' }),
    categoryId: text()
      .notNull()
      .references(() => blogCategories.id, { onDelete: 'cascade' }),
    /** The place of the category among those of the post. */
    position: integer().notNull(),
    status: text({ enum: POST_STATUSES }).notNull(),
    sortedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.postId, t.categoryId] }),
    index('post_categories_status').on(t.categoryId, t.status, t.sortedAt, t.postId),
    index('post_categories_sorted').on(t.categoryId, t.sortedAt, t.postId),
  ],
)
