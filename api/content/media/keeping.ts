/** How an image gets into the media library: its files first, then the row that names them. */
import { media } from '../../../db/store/content.ts'
import type { FetchLimits, FetchPublic } from '../../outside/fetch-public.ts'
import type { Files, Owner } from '../../outside/files.ts'
import type { Static } from '../../http/schema.ts'
import { sourceOf } from './image-fields.ts'
import { fileOf, imageOf, type Image } from './image.ts'
import { columns, type MediaPatch } from './media-fields.ts'

/** The largest image file, in bytes. */
export const FILE_MAX_BYTES = 20 * 1_048_576

/** The bytes of an image, where they are from, and what they are called there. */
export interface Found {
  bytes: Uint8Array
  name: string | null
  source: string | null
}

/** An image whose files are kept, before there is a row for it. */
export interface StoredImage {
  id: string
  name: string
  source: string | null
  image: Omit<Image, 'files'>
}

/** Makes an image, and keeps its files under `id`; they have to go again if no row follows. Throws as `imageOf`. */
export async function keepImage(
  files: Files,
  owner: Owner,
  id: string,
  { bytes, name, source }: Found,
  mayWait?: boolean,
): Promise<StoredImage> {
  const { files: own, ...image } = await imageOf(bytes, mayWait)
  await files.keep(owner, id, own)
  return { id, name: nameOf(name, image), source, image }
}

/** The image at an address, as its server sends it. Throws `NotFetched`. */
export async function fetchImage(fetchPublic: FetchPublic, address: string, limits: Omit<FetchLimits, 'accept'>): Promise<Found> {
  const source = sourceOf(address)
  const { bytes, url } = await fetchPublic(source, { ...limits, accept: 'image/*' })
  return { bytes, name: unescaped(url.pathname), source }
}

/** The row of an image that is kept. */
export function rowOf(
  { id, name, source, image }: StoredImage,
  now: string,
  about: Static<typeof MediaPatch> = {},
): typeof media.$inferInsert {
  const { type, width, height, size, renditions } = image
  const own = { id, type, size, width, height, renditions, source }
  return { ...own, ...columns(about, { name, createdAt: now }), createdAt: now, updatedAt: now }
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The last part of a path, in one line; the name of the stored file when that leaves nothing. */
function nameOf(given: string | null, { type }: Pick<Image, 'type'>): string {
  const last = (given ?? '').split(/[/\\]/).at(-1)!
  const line = last.replace(/\p{Cc}/gu, ' ').trim()
  return [...line].slice(0, 200).join('') || fileOf(type)
}
