/** The media library (document 3, Catalog): images of the store, served from its CDN path. */
import { and, desc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { holds, type Reader } from '../../../db/driver.ts'
import { imageUses, media } from '../../../db/store/content.ts'
import type { FetchPublic } from '../../outside/fetch-public.ts'
import { NotFetched } from '../../outside/not-fetched.ts'
import { missing, wrong } from '../../values/refusal.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { deleted, Deleted, Page, Paging, Type } from '../../http/schema.ts'
import { fold } from '../../values/slug.ts'
import { requireRoom, requireWithin, type DiskRoom } from '../../store/room.ts'
import { handleKey } from './handle.ts'
import { NoImage } from './image.ts'
import { fetchImage, FILE_MAX_BYTES, keepImage, rowOf, type Found, type StoredImage } from './keeping.ts'
import { columns, Media, MediaForm, MediaInput, MediaPatch, shown, type Row } from './media-fields.ts'
import { removeUnlisted } from './orphans.ts'
import { requireUnused } from './usage.ts'

/** Another server has this long to send one. */
const FETCH_MAX_MS = 20_000

async function find(db: Reader, id: string): Promise<Row> {
  const [row] = await db.select().from(media).where(eq(media.id, id))
  if (!row) throw missing('media')
  return row
}

/** An image whose files are kept, and the room that its row is to find. */
interface Prepared {
  image: StoredImage
  room: DiskRoom
}

/** Keeps the image that comes at `path` of the body, where there is room; its files go again if no row follows. */
async function keep(call: Call, path: string, find: () => Promise<Found>): Promise<Prepared> {
  const { files } = call.services
  const id = call.clock.id()
  const owner = ownerOf(call)
  const room = await requireRoom({ registry: call.services.registry, db: call.db, owner })
  const found = await find()
  call.after(async ({ read }) => void (await removeUnlisted(read, owner, files, [id])), 'always')
  try {
    return { image: await keepImage(files, owner, id, found), room }
  } catch (error) {
    throw error instanceof NoImage ? wrong(path, error.message) : error
  }
}

/** The file at a URL. */
async function fetched(fetchPublic: FetchPublic, from: string) {
  try {
    return await fetchImage(fetchPublic, from, { maxBytes: FILE_MAX_BYTES, maxMs: FETCH_MAX_MS })
  } catch (error) {
    throw error instanceof NotFetched ? wrong('url', `can't be fetched: ${error.message}`) : error
  }
}

const base = (call: Pick<Call, 'services' | 'session'>, id: string) => call.services.files.urlOf(ownerOf(call), id)

/** Each may have 5,000 characters of texts. */
const LONG_TEXTS = 200

export const mediaRoutes = resource('content', '/media')
  .get(
    '',
    {
      operationId: 'listMedia',
      summary: 'List the media library',
      description: 'Newest first.',
      scope: 'content:read',
      query: {
        ...Paging(50),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of name, texts, account or code' })),
        feedAccount: Type.Optional(Type.String({ maxLength: 101, description: "Those in this account's photo feed" })),
      },
      responses: { 200: Page(Media) },
      stored: true,
    },
    async (call) => {
      const { limit, offset, query, feedAccount } = call.query
      const where = and(
        query === undefined ? undefined : holds(media.folded, fold(query)),
        feedAccount === undefined ? undefined : eq(media.feedKey, handleKey(feedAccount)),
      )
      const far = aside(call.db, 'media', { longRows: query === undefined ? undefined : LONG_TEXTS })
      const rows = await far.select().from(media).where(where).orderBy(desc(media.id)).limit(limit).offset(offset)
      return {
        data: rows.map((row) => shown(row, base(call, row.id))),
        meta: { count: await far.$count(media, where), offset, limit },
      }
    },
  )
  .post(
    '',
    {
      operationId: 'createMedia',
      summary: 'Add an image',
      description:
        'What is stored is encoded anew: upright, at most 4,096 pixels on a side, without what cameras note in files. An image with a `feedAccount` is in the photo feed of that account.',
      scope: 'content:write',
      body: MediaInput,
      upload: MediaForm,
      uploadMaxBytes: FILE_MAX_BYTES,
      responses: { 201: Media },
      prepare: async (call) =>
        call.file
          ? keep(call, 'file', async () => ({ ...call.file!, source: null }))
          : keep(call, 'url', () => fetched(call.services.fetchPublic, call.body.url)),
    },
    (call) =>
      call.write(async (tx) => {
        const { image: kept, room } = call.prepared as Prepared
        await tx.insert(media).values(rowOf(kept, call.now, call.body))
        await requireWithin(tx, room)
        return shown(await find(tx, kept.id), base(call, kept.id))
      }),
  )
  .get(
    '/{id}',
    { operationId: 'getMedia', summary: 'Read an image', scope: 'content:read', responses: { 200: Media }, stored: true },
    async (call) => {
      const row = await find(call.db, call.params.id)
      return shown(row, base(call, row.id))
    },
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateMedia',
      summary: 'Change what is said about an image',
      description: 'The image itself stays: another one is another file.',
      scope: 'content:write',
      body: MediaPatch,
      responses: { 200: Media },
    },
    (call) =>
      call.write(async (tx) => {
        const row = await find(tx, call.params.id)
        const next = { ...row, ...columns(call.body, row), updatedAt: call.now }
        await tx.update(media).set(next).where(eq(media.id, row.id))
        return shown(next, base(call, row.id))
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteMedia',
      summary: 'Remove an image',
      description: 'Its files go, too; caches may keep them. 409 while a product, bundle, category, collection or brand shows it.',
      scope: 'content:write',
      responses: { 200: Deleted },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { id } = await find(tx, call.params.id)
        await requireUnused(tx, ownerOf(call), id)
        await tx.delete(imageUses).where(eq(imageUses.mediaId, id))
        await tx.delete(media).where(eq(media.id, id))
        call.after(() => call.services.files.remove(ownerOf(call), id))
        return deleted
      }),
  )
