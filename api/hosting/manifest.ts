/** The files of a build: each with its type, its ETags and its encodings. */
import type { Encoding } from '../values/accept.ts'

/** A file of the build, in all encodings that it has. */
export interface Entry {
  /** Below the folder of the build. */
  file: string
  type: string
  /** Strong, from the bytes, one for each encoding that was made. */
  etags: Partial<Record<Encoding, string>> & { identity: string }
  /** Its name changes with its bytes. */
  immutable: boolean
}

/** What a compressed file is called. */
export const SUFFIX: Record<Encoding, string> = { identity: '', br: '.br', zstd: '.zst', gzip: '.gz' }

/** The ETag of a body in one encoding. */
export function etagOf(bytes: Uint8Array): string {
  return `"${new Bun.CryptoHasher('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

const TYPES: Record<string, string> = {
  tgz: 'application/gzip',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  ico: 'image/x-icon',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  woff2: 'font/woff2',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  webmanifest: 'application/manifest+json',
}

/** The media type of a file, by its name. */
export function typeOf(file: string): string {
  const extension = file.slice(file.lastIndexOf('.') + 1)
  return Object.hasOwn(TYPES, extension) ? TYPES[extension]! : 'application/octet-stream'
}

/** Whether a body of this type gets smaller by compressing it. */
export const isText = (type: string) => /^(text\/|image\/svg|application\/(json|xml|rss|linkset|manifest))/.test(type)
