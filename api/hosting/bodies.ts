/**
 * The bodies of a build. A build knows where it will be served only as far as its configuration
 * told: served elsewhere, the addresses in it are replaced. What is compressed then, or was not yet, is compressed when it is asked for.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { etagOf, isText, SUFFIX, type Entry } from './manifest.ts'
import type { Encoding } from '../values/accept.ts'

export interface Body {
  bytes: Uint8Array<ArrayBuffer>
  etag: string
  encoding: Encoding
}

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
    return new Set<Encoding>('br' in entry.etags ? ['identity', 'br', 'zstd', 'gzip'] : ['identity'])
  }

  /** A file in one of its encodings. */
  read(entry: Entry, encoding: Encoding): Body {
    return this.#isStored(entry, encoding) ? this.#stored(entry, encoding) : this.#made(entry, encoding)
  }

  /** Whether what is sent is a file: of those that are bare, only what is not compressed. */
  #isStored(entry: Entry, encoding?: Encoding): boolean {
    return !this.#isMoved(entry) && (!this.isBare || encoding === 'identity')
  }

  #isMoved({ type, immutable }: Entry): boolean {
    return this.#replace.length > 0 && isText(type) && !immutable
  }

  #stored(entry: Entry, encoding: Encoding): Body {
    return { bytes: new Uint8Array(readFileSync(join(this.folder, entry.file + SUFFIX[encoding]))), etag: entry.etags[encoding]!, encoding }
  }

  #made(entry: Entry, encoding: Encoding): Body {
    let plain: Buffer = readFileSync(join(this.folder, entry.file))
    if (this.#isMoved(entry)) {
      let text = plain.toString('utf8')
      for (const [from, to] of this.#replace) text = text.replaceAll(from, to)
      plain = Buffer.from(text)
    }
    const bytes =
      encoding === 'br'
        ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: QUICK_BROTLI } })
        : encoding === 'zstd'
          ? Bun.zstdCompressSync(plain)
          : encoding === 'gzip'
            ? gzipSync(plain)
            : plain
    return { bytes: new Uint8Array(bytes), etag: etagOf(bytes), encoding }
  }
}
