/**
 * Images given by URL (document 3, Catalog): taken into the media library, so that a store serves what it shows. What was taken in
 * once is not read again; what can't be read now is tried later; what is no image that can be served stays the URL that it was.
 */
import { asc, inArray } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { media } from '../../db/store/content.ts'
import { NotFetched } from '../fetch-public.ts'
import { Refusal } from '../http/refusal.ts'
import { idIn, pathIn } from './cdn.ts'
import type { Owner } from './files.ts'
import { fileOf, imagesWait, NoImage } from './image.ts'
import { FILE_MAX_BYTES, fetchImage, keepImage, rowOf, type Kept, type MediaNeeds } from './keeping.ts'

/** A host that did not answer within the one is not asked again for the other by those who can't wait. */
const SLOW_MS = 500
const REST_MS = 60_000
const RESTING_MAX = 1_000

export interface TakeLimits {
  /** A larger file is left for later. */
  maxBytes: number
  /** Whether it waits for its turn when other images are being made; the rest is left for later otherwise. */
  mayWait: boolean
  /** For the reading of one file. */
  maxMs: number
  /** When to leave the rest for later, in ms since 1970. */
  until: number
  /** Hosts that did not answer; they are not asked again. */
  silent: Set<string>
  signal?: AbortSignal
}

/** What came of addresses. */
export interface Taken {
  /** Kept, without a row yet. */
  kept: Kept[]
  /** Those that may be had later. */
  left: string[]
  /** Why the last of them could not be had now. */
  error: string | null
}

export class Intake {
  readonly #needs: MediaNeeds
  /** Hosts that did not answer, and until when they are left alone. */
  readonly #resting = new Map<string, number>()

  constructor(needs: MediaNeeds) {
    this.#needs = needs
  }

  /** The address of an image of the library. */
  address(owner: Owner, { id, type }: Pick<typeof media.$inferInsert, 'id' | 'type'>): string {
    return this.#needs.baseUrl + pathIn(owner, id) + fileOf(type)
  }

  /** Those of the addresses that are not on the store's CDN path, each once. */
  foreign(owner: Owner, addresses: readonly string[]): string[] {
    return [...new Set(addresses)].filter((address) => idIn(owner, address) === null)
  }

  /** The addresses in the library of those that were taken in before. */
  async known(db: Db, owner: Owner, addresses: readonly string[]): Promise<Map<string, string>> {
    if (!addresses.length) return new Map()
    const { id, type, source } = media
    const rows = await db
      .select({ id, type, source })
      .from(media)
      .where(inArray(source, [...addresses]))
      .orderBy(asc(id))
    return new Map(rows.map((row) => [row.source!, this.address(owner, row)]))
  }

  /** Whether the host of an address did not answer just now. */
  rests(address: string): boolean {
    return (this.#resting.get(new URL(address).host) ?? 0) > Date.now()
  }

  /** Reads and keeps images one after the other. */
  async take(owner: Owner, addresses: readonly string[], id: () => string, limits: TakeLimits): Promise<Taken> {
    const taken: Taken = { kept: [], left: [], error: null }
    for (const address of addresses) {
      const began = Date.now()
      const left = limits.until - began
      const { host } = new URL(address)
      const isOver = left <= 0 || limits.signal?.aborted || (!limits.mayWait && imagesWait())
      if (isOver || limits.silent.has(host)) {
        taken.left.push(address)
        continue
      }
      try {
        const maxMs = Math.min(left, limits.maxMs)
        const found = await fetchImage(this.#needs.fetchPublic, address, { maxBytes: FILE_MAX_BYTES, maxMs })
        if (found.bytes.length > limits.maxBytes) taken.left.push(address)
        else taken.kept.push(await keepImage(this.#needs.files, owner, id(), found, limits.mayWait))
      } catch (error) {
        if (error instanceof NoImage || (error instanceof NotFetched && error.isFinal)) continue
        const isBusy = error instanceof Refusal && error.status === 503
        if (!isBusy && !(error instanceof NotFetched)) throw error
        taken.left.push(address)
        taken.error = `${address} can't be fetched: ${(error as Error).message}`
        if (isBusy || Date.now() - began < SLOW_MS) continue
        limits.silent.add(host)
        this.#rest(host)
      }
    }
    return taken
  }

  /** Gives what is kept its rows; returns the addresses in the library of all that were taken in, now or before. */
  async settle(tx: Db, owner: Owner, addresses: readonly string[], kept: readonly Kept[], now: string): Promise<Map<string, string>> {
    if (kept.length) await tx.insert(media).values(kept.map((each) => rowOf(each, now)))
    return this.known(tx, owner, addresses)
  }

  /** Removes the files of what got no row after all. */
  async drop(db: Db, owner: Owner, kept: readonly Kept[]) {
    if (!kept.length) return
    const ids = kept.map(({ id }) => id)
    const rows = await db.select({ id: media.id }).from(media).where(inArray(media.id, ids))
    const there = new Set(rows.map(({ id }) => id))
    for (const id of ids) if (!there.has(id)) await this.#needs.files.remove(owner, id)
  }

  #rest(host: string) {
    if (this.#resting.size >= RESTING_MAX) this.#resting.delete(this.#resting.keys().next().value!)
    this.#resting.set(host, Date.now() + REST_MS)
  }
}
