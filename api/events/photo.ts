/** Photos of guests: images of the library that were uploaded for a seat, and which a profile may show. */
import { and, desc, eq, notExists, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { imageUses, media, type ImageType } from '../../db/store/content.ts'
import { seatPhotos } from '../../db/store/events.ts'
import { fileOf, NoImage } from '../content/media/image.ts'
import { keepImage, rowOf, type StoredImage } from '../content/media/keeping.ts'
import { ownerOf } from '../http/auth.ts'
import type { Call } from '../http/route.ts'
import { requireRoom } from '../store/room.ts'
import { wrong } from '../values/refusal.ts'
import { findActiveSeat } from './ticket.ts'

const PHOTO_MAX_BYTES = 2 * 1_048_576
/** A file that is larger is told so (400), up to here; beyond, nobody reads it (413). */
export const UPLOAD_MAX_BYTES = 4 * PHOTO_MAX_BYTES
/** Photos of a seat that no profile shows yet: one that was tried before may still be sent. */
const UNSHOWN_MAX = 3

type SeatCall = Call<unknown, unknown, { token: string }>
/** A photo of a seat; null, null for none. */
interface Photo {
  photoId: string | null
  photoType: ImageType | null
}

/** Where a photo is; null for none. */
export const photoUrlOf = (call: Pick<Call, 'services' | 'session'>, { photoId, photoType }: Photo) =>
  photoId && photoType && call.services.files.urlOf(ownerOf(call), photoId) + fileOf(photoType)

/** Keeps the files of an upload, before there is a row for it. */
export async function keepPhoto(call: SeatCall): Promise<StoredImage> {
  await findActiveSeat(call.db, call)
  const { file, services, clock } = call
  if (!file?.bytes.length) throw wrong('file', file ? 'is empty' : 'is required')
  if (file.bytes.length > PHOTO_MAX_BYTES) throw wrong('file', 'must be at most 2 MB')
  await requireRoom({ registry: services.registry, db: call.db, owner: ownerOf(call) })
  const id = clock.id()
  try {
    const kept = await keepImage(services.files, ownerOf(call), id, { bytes: file.bytes, name: 'guest', source: null })
    call.undo(() => services.files.remove(ownerOf(call), id))
    if (kept.image.type === 'image/gif') throw new NoImage('must be a JPEG, PNG or WebP image')
    return kept
  } catch (error) {
    if (error instanceof NoImage) throw wrong('file', error.message.replace('PNG, WebP or GIF', 'PNG or WebP'))
    throw error
  }
}

/** Adds an upload to the photos of its seat, in place of the oldest that none of its profiles has shown. */
export async function addPhoto(tx: Db, call: SeatCall): Promise<string> {
  const kept = call.prepared as StoredImage
  const { seat } = await findActiveSeat(tx, call)
  await tx.insert(media).values(rowOf(kept, call.now))
  await tx.insert(seatPhotos).values({ mediaId: kept.id, seatId: seat.id })
  const unshown = await tx
    .select({ id: seatPhotos.mediaId })
    .from(seatPhotos)
    .where(and(eq(seatPhotos.seatId, seat.id), sql`${seatPhotos.mediaId} is not ${seat.photoId}`))
    .orderBy(desc(seatPhotos.mediaId))
  for (const { id } of unshown.slice(UNSHOWN_MAX)) await removePhoto(tx, call, id)
  return photoUrlOf(call, { photoId: kept.id, photoType: kept.image.type })!
}

/** The photo that a profile asks for: the one there is, none, or one that was uploaded for this seat. */
export async function choosePhoto(
  tx: Db,
  call: SeatCall,
  current: Photo & { id: string },
  asked: string | null | undefined,
): Promise<Photo> {
  const shown = { photoId: current.photoId, photoType: current.photoType }
  const url = asked?.trim() || null
  if (asked === undefined || url === photoUrlOf(call, shown)) return shown
  const uploaded = await tx
    .select({ photoId: media.id, photoType: media.type })
    .from(seatPhotos)
    .innerJoin(media, eq(media.id, seatPhotos.mediaId))
    .where(eq(seatPhotos.seatId, current.id))
  const chosen = url === null ? { photoId: null, photoType: null } : uploaded.find((photo) => photoUrlOf(call, photo) === url)
  if (!chosen) throw wrong('photoUrl', 'must be a URL that the upload of a photo has answered')
  if (shown.photoId) await removePhoto(tx, call, shown.photoId)
  return chosen
}

/** Removes a photo that its seat no longer shows; one that the catalog was given stays in the library. */
async function removePhoto(tx: Db, call: SeatCall, id: string) {
  const uses = tx.select({ id: imageUses.mediaId }).from(imageUses).where(eq(imageUses.mediaId, id))
  const removed = await tx
    .delete(media)
    .where(and(eq(media.id, id), notExists(uses)))
    .returning({ id: media.id })
  if (removed.length) call.after(() => call.services.files.remove(ownerOf(call), id))
}
