/**
 * Images from strangers, made safe to serve: each is decoded and encoded anew, upright, without what cameras and programs note in
 * it (place, device, thumbnails) and without anything that another program could take for its own format.
 */
import type { Sharp, SharpOptions } from 'sharp'
import { IMAGE_TYPES, type ImageType, type Rendition } from '../../../db/store/content.ts'
import { Refusal } from '../../values/refusal.ts'
import { loadSharp, type SharpLibrary } from '../../outside/sharp.ts'
import type { File } from '../../outside/files.ts'

/** The longest side of an image as it is served, in pixels. */
const SIDE_MAX = 4_096
/** Pixels that are decoded at most: 64 million are 192 MB. Frames of an animation count each, and cost more to encode. */
const PIXELS_MAX = 64_000_000
const ANIMATED_PIXELS_MAX = 16_000_000
/** Widths of the WebP renditions, as far as the image is that wide. */
const RENDITION_WIDTHS = [320, 640, 1280, 1920]
/** One step of making one file may take this long. */
const STEP_MAX_SECONDS = 30
/** Images made at the same time: the decoders take all cores for each, and memory for its pixels. */
const AT_ONCE = 2
const WAITING_MAX = 16

/** An image as it will be served; `files` holds the image itself and its renditions. */
export interface Image {
  type: ImageType
  width: number
  height: number
  size: number
  renditions: Rendition[]
  files: File[]
}

/** Bytes that are no image that can be served; the message is for whoever sent them. */
export class NoImage extends Error {}

const EXTENSIONS: Record<ImageType, string> = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp', 'image/gif': 'gif' }
/** The name of an image's own file. */
export const fileOf = (type: ImageType) => `image.${EXTENSIONS[type]}`
/** The name of the file of a rendition. */
export const renditionFile = (width: number) => `${width}.webp`

let running = 0
const waiting: (() => void)[] = []

/** Whether an image would have to wait for its turn now. */
export const imagesWait = () => running >= AT_ONCE

/** Waits for a turn; refuses with 503 when it may not wait, or too many do already. */
async function inTurn<T>(mayWait: boolean, work: () => Promise<T>): Promise<T> {
  if (!imagesWait()) running++
  else if (mayWait && waiting.length < WAITING_MAX) await new Promise<void>((resolve) => waiting.push(resolve))
  else throw new Refusal(503, 'too many images are being made at the moment, try again', {}, { 'retry-after': '5' })
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** Makes what is served of an image's bytes. Throws `NoImage`, or 503 when it would have to wait for its turn and may not. */
export async function imageOf(bytes: Uint8Array, mayWait = true): Promise<Image> {
  if (!bytes.length) throw new NoImage('is empty')
  // The file's own word for it: names and headers can say anything.
  const { fileTypeFromBuffer } = await import('file-type')
  const type = (await fileTypeFromBuffer(bytes))?.mime as ImageType | undefined
  if (!type || !IMAGE_TYPES.includes(type)) throw new NoImage('must be a JPEG, PNG, WebP or GIF image')
  const sharp = await loadSharp()
  return inTurn(mayWait, async () => {
    try {
      return await made(sharp, bytes, type)
    } catch (error) {
      throw error instanceof NoImage ? error : new NoImage(reasonOf(error))
    }
  })
}

const reasonOf = (error: unknown) =>
  /pixel limit/.test(String(error))
    ? `has more than ${PIXELS_MAX / 1e6} million pixels`
    : /timeout/i.test(String(error))
      ? `takes longer than ${STEP_MAX_SECONDS} seconds to decode`
      : 'is broken, or breaks off'

async function made(sharp: SharpLibrary, bytes: Uint8Array, type: ImageType): Promise<Image> {
  const about = await sharp(bytes, { limitInputPixels: PIXELS_MAX }).metadata()
  if (about.format !== type.slice('image/'.length)) throw new NoImage('is two formats at once')
  const isAnimated = (about.pages ?? 1) > 1
  const pixels = isAnimated ? ANIMATED_PIXELS_MAX : PIXELS_MAX
  if (isAnimated && about.width * (about.pageHeight ?? about.height) * about.pages! > pixels)
    throw new NoImage(`has more than ${pixels / 1e6} million pixels in all of its frames`)
  const options: SharpOptions = { animated: isAnimated, limitInputPixels: pixels, failOn: 'error' }
  const opened = () => sharp(bytes, options).timeout({ seconds: STEP_MAX_SECONDS }).autoOrient()

  const own = await encoded(
    opened()
      .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside', withoutEnlargement: true })
      [type.slice('image/'.length) as 'jpeg'](OWN[type]),
  )
  const renditions: (Rendition & { bytes: Uint8Array })[] = []
  for (const width of new Set(RENDITION_WIDTHS.map((wanted) => Math.min(wanted, own.width))))
    renditions.push(
      await encoded(
        opened()
          .resize({ width })
          .webp({ quality: 80, effort: isAnimated ? 2 : 4 }),
      ),
    )
  return {
    type,
    width: own.width,
    height: own.height,
    size: own.size,
    renditions: renditions.map(({ width, height, size }) => ({ width, height, size })),
    files: [
      { name: fileOf(type), bytes: own.bytes },
      ...renditions.map((rendition) => ({ name: renditionFile(rendition.width), bytes: rendition.bytes })),
    ],
  }
}

/** How an image's own format is written: near to what came in, and done in about a second. */
const OWN: Record<ImageType, object> = {
  'image/jpeg': { quality: 90 },
  'image/png': {},
  'image/webp': { quality: 90, effort: 2 },
  'image/gif': { effort: 1 },
}

async function encoded(image: Sharp) {
  const { data, info } = await image.toBuffer({ resolveWithObject: true })
  // Of an animation, `height` is that of all frames below each other.
  return { bytes: data, width: info.width, height: info.pageHeight ?? info.height, size: data.length }
}
