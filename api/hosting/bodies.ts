/**
 * The bodies of a build. A build knows where it will be served only as far as its configuration
 * told: served elsewhere, the addresses in it are replaced, and what is compressed is compressed anew.
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
  ) {
    this.#replace = moves.filter(([from, to]) => from !== to)
  }

  /** The encodings that a file can be had in. */
  encodings(entry: Entry): ReadonlySet<Encoding> {
    if (!this.#isMoved(entry)) return new Set(Object.keys(entry.etags) as Encoding[])
    return new Set<Encoding>('br' in entry.etags ? ['identity', 'br', 'zstd', 'gzip'] : ['identity'])
  }

  /** A file in one of its encodings. */
  read(entry: Entry, encoding: Encoding): Body {
    return this.#isMoved(entry) ? this.#moved(entry, encoding) : this.#stored(entry, encoding)
  }

  #isMoved({ type, immutable }: Entry): boolean {
    return this.#replace.length > 0 && isText(type) && !immutable
  }

  #stored(entry: Entry, encoding: Encoding): Body {
    return { bytes: new Uint8Array(readFileSync(join(this.folder, entry.file + SUFFIX[encoding]))), etag: entry.etags[encoding]!, encoding }
  }

  #moved(entry: Entry, encoding: Encoding): Body {
    let text = readFileSync(join(this.folder, entry.file), 'utf8')
    for (const [from, to] of this.#replace) text = text.replaceAll(from, to)
    const plain = Buffer.from(text)
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
