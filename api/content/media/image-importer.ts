/**
 * Images given by URL (document 3, Catalog): taken into the media library, so that a store serves what it shows. What was taken in
 * once is not read again; what can't be read now is tried later; what is no image that can be served stays the URL that it was.
 */
import { asc, inArray } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { media } from '../../../db/store/content.ts'
import { NotFetched, TooLarge } from '../../outside/not-fetched.ts'
import type { Owner } from '../../outside/files.ts'
import type { Services } from '../../outside/services.ts'
import { hasRoom } from '../../store/room.ts'
import { Refusal } from '../../values/refusal.ts'
import { idIn } from './cdn.ts'
import { sourceOf } from './image-fields.ts'
import { fileOf, imagesWait, NoImage } from './image.ts'
import { FILE_MAX_BYTES, fetchImage, keepImage, rowOf, type StoredImage } from './keeping.ts'
import { removeUnlisted } from './orphans.ts'

/** A host that did not answer a store within the one is not asked again by it for the other. */
const SLOW_MS = 500
const REST_MS = 45_000
const RESTING_MAX = 10_000
/** Images that are read at once for those who don't wait: each may be in memory as a whole. */
const READS_MAX = 8

interface TakeLimits {
  /** A larger file is left for later. */
  maxBytes: number
  /** Whether it waits for its turn when other images are being made; the rest is left for later otherwise. */
  mayWait: boolean
  /** The longest time for reading one file, in ms. */
  maxMs: number
  /** When to leave the rest for later, in ms since 1970. */
  until: number
  signal?: AbortSignal
}

/** The result of importing the images at some addresses. */
export interface Taken {
  /** Stored images without a row yet. */
  kept: StoredImage[]
  /** The addresses whose images may be had later. */
  left: string[]
  /** Why the last of them could not be had now. */
  error: string | null
}

type Needs = Pick<Services, 'files' | 'fetchPublic' | 'registry'>

class ImageImporter {
  readonly #needs: Needs
  /** Hosts that did not answer a store, and until when it leaves them alone; for those who wait long another than for who don't. */
  readonly #resting = new Map<string, number>()
  #reads = 0

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** The address of an image of the library. */
  address(owner: Owner, { id, type }: Pick<typeof media.$inferInsert, 'id' | 'type'>): string {
    return this.#needs.files.urlOf(owner, id) + fileOf(type)
  }

  /** The sources of those addresses that are not on the store's CDN path, each once. */
  foreign(owner: Owner, addresses: readonly string[]): string[] {
    return [...new Set(addresses.filter((address) => idIn(owner, address) === null).map(sourceOf))]
  }

  /** The addresses in the library of the sources that were taken in before. */
  async known(db: Reader, owner: Owner, sources: readonly string[]): Promise<Map<string, string>> {
    if (!sources.length) return new Map()
    const { id, type, source } = media
    const rows = await db
      .select({ id, type, source })
      .from(media)
      .where(inArray(source, [...sources]))
      .orderBy(asc(id))
    return new Map(rows.map((row) => [row.source!, this.address(owner, row)]))
  }

  /** Reads and keeps those images that the library has not yet, one after the other. */
  async take(db: Reader, owner: Owner, sources: readonly string[], id: () => string, limits: TakeLimits): Promise<Taken> {
    const taken: Taken = { kept: [], left: [], error: null }
    const known = await this.known(db, owner, sources)
    // Without room they stay where they are: the addresses go on as they were given.
    if (known.size < sources.length && !(await hasRoom({ registry: this.#needs.registry, db, owner }))) return taken
    for (const source of sources) {
      if (known.has(source)) continue
      const began = Date.now()
      const left = limits.until - began
      const host = `${owner.storeId} ${new URL(source).host}`
      const isFull = !limits.mayWait && (imagesWait() || this.#reads >= READS_MAX)
      if (left <= 0 || limits.signal?.aborted || isFull || this.#rests(host, limits)) {
        taken.left.push(source)
        continue
      }
      try {
        const found = await this.#read(source, { ...limits, maxMs: Math.min(left, limits.maxMs) })
        taken.kept.push(await keepImage(this.#needs.files, owner, id(), found, limits.mayWait))
      } catch (error) {
        const isForLater = error instanceof TooLarge && limits.maxBytes < FILE_MAX_BYTES
        if (error instanceof NoImage || (error instanceof NotFetched && error.isFinal && !isForLater)) continue
        const isBusy = error instanceof Refusal && error.status === 503
        if (!isBusy && !(error instanceof NotFetched)) throw error
        taken.left.push(source)
        taken.error = `${source} can't be fetched: ${(error as Error).message}`
        if (!isBusy && !limits.signal?.aborted && Date.now() - began >= SLOW_MS) this.#rest(host, limits)
      }
    }
    return taken
  }

  async #read(source: string, { maxBytes, maxMs, signal }: TakeLimits) {
    this.#reads++
    try {
      return await fetchImage(this.#needs.fetchPublic, source, { maxBytes, maxMs, signal })
    } finally {
      this.#reads--
    }
  }

  /** Gives what is kept its rows, unless another was faster; returns the addresses in the library of all that is there. */
  async settle(tx: Db, owner: Owner, sources: readonly string[], kept: readonly StoredImage[], now: string): Promise<Map<string, string>> {
    const there = await this.known(tx, owner, sources)
    const own = kept.filter(({ source }) => sources.includes(source!) && !there.has(source!))
    if (own.length) await tx.insert(media).values(own.map((each) => rowOf(each, now)))
    return new Map([...there, ...own.map((each) => [each.source!, this.address(owner, { id: each.id, type: each.image.type })] as const)])
  }

  /** Removes the files of what got no row after all. */
  async drop(db: Reader, owner: Owner, kept: readonly StoredImage[]) {
    const ids = kept.map(({ id }) => id)
    await removeUnlisted(db, owner, this.#needs.files, ids)
  }

  #rests(host: string, { mayWait }: TakeLimits): boolean {
    return (this.#resting.get(`${mayWait} ${host}`) ?? 0) > Date.now()
  }

  #rest(host: string, { mayWait }: TakeLimits) {
    // Who has waited in vain knows it for those who would not wait, too.
    for (const each of mayWait ? [true, false] : [false]) this.#resting.set(`${each} ${host}`, Date.now() + REST_MS)
    for (const [oldest] of this.#resting) {
      if (this.#resting.size <= RESTING_MAX) break
      this.#resting.delete(oldest)
    }
  }
}

const importers = new WeakMap<Needs, ImageImporter>()

/** The importer of a process: its requests and its jobs share what they know of hosts that don't answer. */
export function importerOf(services: Needs): ImageImporter {
  const importer = importers.get(services) ?? new ImageImporter(services)
  importers.set(services, importer)
  return importer
}
