/** The files of a build, written with what they become when compressed. */
import { link, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants } from 'node:zlib'
import { etagOf, isText, SUFFIX, type Entry } from './manifest.ts'
import type { Encoding } from '../values/accept.ts'

/** Smaller bodies grow by their headers. */
const COMPRESS_LEAST_BYTES = 400
const AT_ONCE = 8

/** Astro and storefronts name these by what is in them. */
const isImmutable = (file: string) => /^_astro\/|^static\/.*\.[0-9a-f]{12}\.\w+$/.test(file)

const brotli = promisify(brotliCompress)
/** Level 9 makes it a hundredth smaller and takes a third longer; level 10 a tenth, and twenty times as long. */
const BROTLI_LEVEL = 5
/** What is smaller is done sooner than it would be given to another thread. */
const AWAY_LEAST_BYTES = 65_536
/** A window larger than the body costs time and changes nothing. */
const windowFor = (bytes: Uint8Array<ArrayBuffer>) =>
  Math.min(constants.BROTLI_MAX_WINDOW_BITS, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes.length))))

const COMPRESS: [
  encoding: Exclude<Encoding, 'identity'>,
  compress: (bytes: Uint8Array<ArrayBuffer>, level: number) => Uint8Array | Promise<Uint8Array>,
][] = [
  [
    'br',
    (bytes, level) => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: windowFor(bytes) }
      return bytes.length < AWAY_LEAST_BYTES ? brotliCompressSync(bytes, { params }) : brotli(bytes, { params })
    },
  ],
  // Who takes zstd mostly takes br, which goes before it: level 9 took four times as long, for a thirtieth less.
  ['zstd', (bytes) => Bun.zstdCompressSync(bytes, { level: 3 })],
  ['gzip', (bytes) => Bun.gzipSync(bytes, { level: 6, library: 'libdeflate' })],
]

/** Runs `work` on each item, some at once. The first that fails is thrown once the others are done with what they had begun. */
export async function each<T>(items: Iterable<T> | AsyncIterable<T>, work: (item: T) => Promise<void>) {
  const rest = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let failed: { error: unknown } | null = null
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      try {
        for (let next = await rest.next(); !next.done && !failed; next = await rest.next()) await work(next.value)
      } catch (error) {
        failed ??= { error }
      }
    }),
  )
  if (failed) throw (failed as { error: unknown }).error
}

/** The folder of one build: what is put in it is described in `Entry`s. */
export class Folder {
  readonly #made = new Set<string>()
  readonly #stored = new Map<string, Promise<Entry>>()

  constructor(
    readonly path: string,
    /** How hard Brotli tries, from 1 to 11. */
    readonly brotliLevel = BROTLI_LEVEL,
  ) {}

  /**
   * Takes over a file of another build, in all of its encodings, under a name of its own: of two with the same bytes that build serves one,
   * and here the other may have changed.
   */
  async adopt(from: string, entry: Entry, file: string): Promise<Entry> {
    const path = await this.#place(file)
    for (const encoding of Object.keys(entry.etags) as Encoding[])
      await link(join(from, entry.file + SUFFIX[encoding]), path + SUFFIX[encoding])
    return { ...entry, file }
  }

  /**
   * Stores a file in all encodings that make it smaller; `from` is a file that has these bytes already. Of the same bytes under two names,
   * the first is the one that is served.
   */
  async store(file: string, type: string, bytes: Uint8Array<ArrayBuffer>, from?: string): Promise<Entry> {
    const etag = etagOf(bytes)
    const key = `${type} ${isImmutable(file)} ${etag}`
    const known = this.#stored.get(key)
    if (!known) {
      const storing = this.#write(file, type, bytes, etag, from)
      this.#stored.set(key, storing)
      return storing
    }
    const entry = await known
    await link(join(this.path, entry.file), await this.#place(file))
    return entry
  }

  async #write(file: string, type: string, bytes: Uint8Array<ArrayBuffer>, identity: string, from?: string): Promise<Entry> {
    const etags: Entry['etags'] = { identity }
    const path = await this.#place(file)
    const forms: [path: string, bytes: Uint8Array][] = []
    if (from) await link(from, path)
    else forms.push([path, bytes])
    if (isText(type) && bytes.length >= COMPRESS_LEAST_BYTES) {
      for (const [encoding, compress] of COMPRESS) {
        const packed = await compress(bytes, this.brotliLevel)
        if (packed.length >= bytes.length) continue
        forms.push([path + SUFFIX[encoding], packed])
        etags[encoding] = etagOf(packed)
      }
    }
    await Promise.all(forms.map(([to, form]) => writeFile(to, form)))
    return { file, type, etags, immutable: isImmutable(file) }
  }

  /** Where a file goes; its folder is there. */
  async #place(file: string): Promise<string> {
    const path = join(this.path, file)
    const folder = dirname(path)
    if (!this.#made.has(folder)) {
      await mkdir(folder, { recursive: true })
      this.#made.add(folder)
    }
    return path
  }
}
