/** Room "content": the media library. */
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id, instant, json } from '../columns.ts'

export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** One WebP of an image; its file is called after its width. */
export interface Rendition {
  width: number
  height: number
  size: number
}

/** Images of the store; their files lie beside the database, under the id. */
export const media = sqliteTable(
  'media',
  {
    id: id(),
    name: text().notNull(),
    type: text({ enum: IMAGE_TYPES }).notNull(),
    /** Bytes. */
    size: integer().notNull(),
    width: integer().notNull(),
    height: integer().notNull(),
    renditions: json<Rendition[]>().notNull(),
    alt: text(),
    description: text(),
    feedAccount: text(),
    /** The account's handle as handles are compared. */
    feedKey: text(),
    takenAt: instant().notNull(),
    code: text(),
    /** The texts that searches look into. */
    folded: text().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The URL that it was taken from. */
    source: text(),
  },
  (t) => [
    check('media_type', sql`${t.type} in ('image/jpeg', 'image/png', 'image/webp', 'image/gif')`),
    check('media_dimensions', sql`${t.size} > 0 and ${t.width} > 0 and ${t.height} > 0`),
    check('media_feed', sql`(${t.feedAccount} is null) = (${t.feedKey} is null)`),
    index('media_feed_taken').on(t.feedKey, t.takenAt, t.id),
    index('media_source')
      .on(t.source)
      .where(sql`${t.source} is not null`),
  ],
)

/** Things that have shown an image of the library; whether one still does, its own row tells. */
export const imageUses = sqliteTable(
  'image_uses',
  { mediaId: text().notNull(), entity: text().notNull(), entityId: text().notNull() },
  (t) => [primaryKey({ columns: [t.mediaId, t.entity, t.entityId] })],
)

/** The bytes of all media and files of messages: counted by triggers, as they come and go. */
export const diskUse = sqliteTable('disk_use', { id: integer().primaryKey(), mediaBytes: integer().notNull() }, (t) => [
  check('disk_use_one_row', sql`${t.id} = 1`),
])
