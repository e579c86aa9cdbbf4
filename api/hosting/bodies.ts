/**
 * The bodies of a build. A build knows where it will be served only as far as its configuration
 * told: served elsewhere, the addresses in it are replaced. What is compressed then, or was not yet, is compressed when it is asked for.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { etagOf, isText, SUFFIX, type Entry } from './manifest.ts'
import type { Encoding } from '../values/accept.ts'

export interface Body {
  /** A large file is not read before it is sent. */
  content: Uint8Array<ArrayBuffer> | Blob
  /** In bytes. */
  size: number
  etag: string
  encoding: Encoding
}

/** Larger files are sent as they are read: reading one takes milliseconds of everybody's time. */
const READ_MAX_BYTES = 1024 ** 2
/** Larger texts are sent as they were built, whatever addresses are in them. */
const MADE_MAX_BYTES = 4 * 1024 ** 2
/** Up to so many bytes, compressing by Brotli and gzip takes few milliseconds. */
const PACKED_MAX_BYTES = 256 * 1024
const [QUICK, LARGE, AS_BUILT]: ReadonlySet<Encoding>[] = [
  new Set<Encoding>(['identity', 'br', 'zstd', 'gzip']),
  new Set<Encoding>(['identity', 'zstd']),
  new Set<Encoding>(['identity']),
]

/** A body that is made of bytes. */
export const bodyOf = (content: Uint8Array<ArrayBuffer>, encoding: Encoding, etag = etagOf(content)): Body => ({
  content,
  size: content.length,
  etag,
  encoding,
})

/** Of bodies that are compressed while somebody waits. */
const QUICK_BROTLI = 5

export class Bodies {
  readonly #replace: readonly (readonly [from: string, to: string])[]

  constructor(
    readonly folder: string,
    /** Addresses that the build has, each with the one that stands there as it is served. */
    moves: readonly (readonly [built: string, served: string])[],
    /** Files are there as they are, without their compressed forms. */
    readonly isBare = false,
  ) {
    this.#replace = moves.filter(([from, to]) => from !== to)
  }

  /** The encodings that a file can be had in. */
  encodings(entry: Entry): ReadonlySet<Encoding> {
    if (this.#isStored(entry)) return new Set(Object.keys(entry.etags) as Encoding[])
    const size = this.#sizeOf(entry, 'identity')
    if (!('br' in entry.etags) || size > MADE_MAX_BYTES) return AS_BUILT!
    return size > PACKED_MAX_BYTES ? LARGE! : QUICK!
  }

  /** A file in one of its encodings. */
  read(entry: Entry, encoding: Encoding): Body {
    if (this.#isStored(entry, encoding) || this.#sizeOf(entry, 'identity') > MADE_MAX_BYTES) return this.#stored(entry, encoding)
    const bytes = compressed(this.#moved(entry), encoding)
    return bodyOf(bytes, encoding)
  }

  /** The text of a page. */
  text(entry: Entry): string {
    if (this.#sizeOf(entry, 'identity') > MADE_MAX_BYTES) throw new Error(`${entry.file} is too large for a page`)
    return this.#moved(entry).toString('utf8')
  }

  /** Whether what is sent is a file: of those that are bare, only what is not compressed. */
  #isStored(entry: Entry, encoding?: Encoding): boolean {
    return !this.#isMoved(entry) && (!this.isBare || encoding === 'identity')
  }

  #isMoved({ type, immutable }: Entry): boolean {
    return this.#replace.length > 0 && isText(type) && !immutable
  }

  #pathOf(entry: Entry, encoding: Encoding): string {
    return join(this.folder, entry.file + SUFFIX[encoding])
  }

  #sizeOf(entry: Entry, encoding: Encoding): number {
    return statSync(this.#pathOf(entry, encoding)).size
  }

  #stored(entry: Entry, encoding: Encoding): Body {
    const etag = entry.etags[encoding]!
    const size = this.#sizeOf(entry, encoding)
    if (size > READ_MAX_BYTES) return { content: Bun.file(this.#pathOf(entry, encoding)), size, etag, encoding }
    return bodyOf(new Uint8Array(readFileSync(this.#pathOf(entry, encoding))), encoding, etag)
  }

  /** The bytes of a file with the addresses that hold here. */
  #moved(entry: Entry): Buffer {
    const plain = readFileSync(this.#pathOf(entry, 'identity'))
    if (!this.#isMoved(entry)) return plain
    let text = plain.toString('utf8')
    for (const [from, to] of this.#replace) text = text.replaceAll(from, to)
    return Buffer.from(text)
  }
}

function compressed(plain: Buffer, encoding: Encoding): Uint8Array<ArrayBuffer> {
  if (encoding === 'br') return new Uint8Array(brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: QUICK_BROTLI } }))
  if (encoding === 'zstd') return new Uint8Array(Bun.zstdCompressSync(plain))
  return new Uint8Array(encoding === 'gzip' ? gzipSync(plain) : plain)
}
