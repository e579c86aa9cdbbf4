/** Where photo feeds come from (document 3, Decisions): one interface, and the provider that reads the media library. */
import { desc, sql } from 'drizzle-orm'
import { compile, named, type Reader } from '../../../db/driver.ts'
import { media } from '../../../db/store/content.ts'
import type { Files, Owner } from '../../outside/files.ts'
import type { Place } from '../../http/input/cursor.ts'
import { handleKey } from './handle.ts'
import { fileOf } from './image.ts'

/** A picture of a feed (document 1, Photo-feed image). */
interface FeedImage {
  id: string
  url: string
  description: string | null
  takenAt: string
  code: string | null
  mediaId: string
}

/** The store whose feeds are asked for. */
interface FeedStore {
  db: Reader
  owner: Owner
  files: Files
}

interface FeedProvider {
  /** At most `limit` images of an account, the newest first, behind `after`; null when there is no such account. */
  images(
    store: FeedStore,
    handle: string,
    page: { limit: number; after: Place | null },
  ): Promise<{ handle: string; images: FeedImage[] } | null>
}

const columns = {
  id: media.id,
  type: media.type,
  description: media.description,
  takenAt: media.takenAt,
  code: media.code,
}
const newest = compile((db) =>
  db
    .select({ feedAccount: media.feedAccount })
    .from(media)
    .where(sql`${media.feedKey} = ${named('key')}`)
    .orderBy(desc(media.takenAt), desc(media.id))
    .limit(1),
)
const page = compile((db) =>
  db
    .select(columns)
    .from(media)
    .where(sql`${media.feedKey} = ${named('key')} and (${media.takenAt}, ${media.id}) < (${named('at')}, ${named('id')})`)
    .orderBy(desc(media.takenAt), desc(media.id))
    .limit(named('limit')),
)
/** Behind every instant. */
const START: Place = { at: '~', id: '~' }

/** Images of the media library that have a `feedAccount` make the feed of that account. */
export const libraryFeeds: FeedProvider = {
  async images({ db, owner, files }, handle, { limit, after }) {
    const key = handleKey(handle)
    const first = await newest.get(db, { key })
    if (!first) return null
    const rows = await page.all(db, { key, ...(after ?? START), limit })
    return {
      handle: first.feedAccount!,
      images: rows.map(({ type, ...row }) => ({ ...row, url: files.urlOf(owner, row.id) + fileOf(type), mediaId: row.id })),
    }
  },
}
