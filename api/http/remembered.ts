/**
 * Answers that depend on the stored data alone, remembered by the version of the data: whoever asks again before anything was committed
 * gets the same bytes, or 304 (RFC 9110, 13), without anything being read. They belong to one open database, so to one store and one
 * environment; within it, to what the key may see and to the query. Where the database can't tell its version cheaply, as on a libSQL
 * server, nothing is remembered.
 */
import { gzipSync } from 'bun'
import type { Session } from '../../db/control/registry.ts'
import type { Handle } from '../../db/open.ts'
import { encodingFor, type Encoding } from '../values/accept.ts'
import { matches, namedBy, zipped } from './etag.ts'
import { isStrict } from './input/notes.ts'
import { notModified } from './respond.ts'
import { searchOf, targetOf } from './url.ts'

/** The most bytes that all stores of a process may take together, unless told otherwise: with it a process stays under 180 MB. */
export const REMEMBERED_BYTES = 16 * 1_048_576
/** The part of all bytes that one store may take: a half. */
const STORE_PART = 2
/** Of an answer that takes more than this part of what its store may take, the ETag alone is kept. */
const ANSWER_PART = 8
/** The bytes that an answer takes beside its body and its key. */
const OVERHEAD_BYTES = 400
/** A longer target is worked out each time. */
const TARGET_MAX_LENGTH = 400
/** The size in bytes from which an answer gains from being compressed. */
const ZIP_LEAST_BYTES = 1_024
/** Compressing costs as much as making the answer again: it is for what is asked for often. */
const ZIP_AFTER = 2

/** An answer, or, of one that was asked for once only or is too heavy, its ETag alone. */
interface Kept {
  version: number
  etag: string
  bytes: Uint8Array | null
  zip: Uint8Array | null
  /** How often its bytes were given. */
  given: number
  /** Headers of its own. */
  headers: Record<string, string>
  weight: number
}

/** The answers of one store, the one unused for longest first. */
interface Shelf {
  kept: Map<string, Kept>
  bytes: number
}

/** The headers that a remembered answer keeps: those that do not belong to the one request. */
const OWN_HEADERS = ['content-type', 'cache-control', 'ignored-fields', 'vary'] as const

const views = new WeakMap<Session, string>()

/** The scopes of a key as text: keys with the same scopes get the same answers. */
function viewOf(session: Session): string {
  let view = views.get(session)
  if (view === undefined) views.set(session, (view = session.scopes === null ? '*' : [...session.scopes].sort().join(' ')))
  return view
}

/** Path and query with the parameters in one order; as they came when one is given twice, which means what its order says. */
function canonical(target: string): string {
  const search = searchOf(target)
  if (!search.includes('&')) return target
  const parts = search.split('&').sort()
  const nameOf = (part: string) => part.split('=', 1)[0]
  if (parts.some((part, i) => i > 0 && nameOf(part) === nameOf(parts[i - 1]!))) return target
  return `${target.slice(0, target.length - search.length)}${parts.join('&')}`
}

const ZIPPED: ReadonlySet<Encoding> = new Set(['gzip'])
const takesZip = (request: Request) => encodingFor(request.headers.get('accept-encoding'), ZIPPED) === 'gzip'

/** The answers that a process remembers, at most `maxBytes`; of all stores, the least used goes first. */
export class Remembered {
  /** The store unused for longest first. */
  readonly #shelves = new Map<Handle, Shelf>()
  /** The handles that say when they are closed. */
  readonly #known = new WeakSet<Handle>()
  #bytes = 0

  constructor(readonly maxBytes: number) {}

  /** Where the answer to a request is, or will be; null when it is not to be remembered. */
  of(handle: Handle, version: number, session: Session, request: Request): Memory | null {
    const target = targetOf(request.url)
    // What has to be refused can't be remembered.
    if (this.maxBytes === 0 || target.length > TARGET_MAX_LENGTH || isStrict(request.headers.get('prefer'))) return null
    return new Memory(this, handle, version, `${viewOf(session)} ${canonical(target)}`, request)
  }

  get(handle: Handle, key: string): Kept | undefined {
    const shelf = this.#shelves.get(handle)
    const kept = shelf?.kept.get(key)
    if (!kept) return undefined
    // Both are kept in the order of their use once room is getting scarce.
    if (shelf!.bytes > this.maxBytes / STORE_PART / 2) {
      shelf!.kept.delete(key)
      shelf!.kept.set(key, kept)
    }
    if (this.#bytes > this.maxBytes / 2) {
      this.#shelves.delete(handle)
      this.#shelves.set(handle, shelf!)
    }
    return kept
  }

  /** Notes an answer that was made. Its bytes are kept when it was asked for before. */
  put(handle: Handle, key: string, made: Pick<Kept, 'version' | 'etag' | 'headers'>, body: string | Uint8Array) {
    const shelf = this.#shelf(handle)
    const before = shelf.kept.get(key)
    if (before?.etag === made.etag && before.bytes) {
      before.version = made.version
      return
    }
    this.#drop(shelf, key)
    const isKept = before && body.length <= this.maxBytes / STORE_PART / ANSWER_PART
    const bytes = isKept ? (typeof body === 'string' ? new TextEncoder().encode(body) : body) : null
    const weight = OVERHEAD_BYTES + 2 * key.length + (bytes?.byteLength ?? 0)
    shelf.kept.set(key, { ...made, bytes, zip: null, given: 0, weight })
    this.#grow(shelf, weight)
  }

  /** Keeps the compressed form of an answer, too. */
  zip(handle: Handle, kept: Kept): Uint8Array {
    const zip = gzipSync(kept.bytes as Uint8Array<ArrayBuffer>)
    kept.zip = zip
    kept.weight += zip.byteLength
    this.#grow(this.#shelf(handle), zip.byteLength)
    return zip
  }

  #shelf(handle: Handle): Shelf {
    let shelf = this.#shelves.get(handle)
    if (shelf) this.#shelves.delete(handle)
    else shelf = { kept: new Map(), bytes: 0 }
    this.#shelves.set(handle, shelf)
    if (!this.#known.has(handle)) {
      this.#known.add(handle)
      handle.closeWith({ close: () => this.#clear(handle) })
    }
    return shelf
  }

  #grow(shelf: Shelf, bytes: number) {
    shelf.bytes += bytes
    this.#bytes += bytes
    while (shelf.bytes > this.maxBytes / STORE_PART) this.#drop(shelf, shelf.kept.keys().next().value!)
    for (const [handle, oldest] of this.#shelves) {
      if (this.#bytes <= this.maxBytes) break
      if (oldest !== shelf) this.#clear(handle)
    }
  }

  #drop(shelf: Shelf, key: string) {
    const weight = shelf.kept.get(key)?.weight ?? 0
    shelf.kept.delete(key)
    shelf.bytes -= weight
    this.#bytes -= weight
  }

  #clear(handle: Handle) {
    this.#bytes -= this.#shelves.get(handle)?.bytes ?? 0
    this.#shelves.delete(handle)
  }
}

/** Where the answer to one request is remembered. */
export class Memory {
  constructor(
    readonly remembered: Remembered,
    readonly handle: Handle,
    readonly version: number,
    readonly key: string,
    readonly request: Request,
  ) {}

  /** The answer, when it is known and nothing was committed since; `headers` are those that it has so far. */
  recall(headers: Record<string, string>): Response | null {
    const kept = this.remembered.get(this.handle, this.key)
    if (!kept || kept.version !== this.version) return null
    const condition = this.request.headers.get('if-none-match')
    const isKnown = condition !== null && matches(condition, kept.etag)
    if (!isKnown && !kept.bytes) return null
    const isZipped = (kept.bytes?.byteLength ?? 0) >= ZIP_LEAST_BYTES && takesZip(this.request)
    Object.assign(headers, kept.headers)
    if (isKnown) return notModified(namedBy(condition, kept.etag), headers)
    const zip = isZipped && ++kept.given > ZIP_AFTER ? (kept.zip ?? this.remembered.zip(this.handle, kept)) : null
    headers.etag = zip ? zipped(kept.etag) : kept.etag
    if (zip) headers['content-encoding'] = 'gzip'
    return new Response((zip ?? kept.bytes) as BodyInit, { headers })
  }

  /** Remembers an answer that was made from the data of this version. */
  keep(etag: string, body: string | Uint8Array, all: Record<string, string>) {
    const headers: Record<string, string> = {}
    for (const name of OWN_HEADERS) if (all[name] !== undefined) headers[name] = all[name]
    this.remembered.put(this.handle, this.key, { version: this.version, etag, headers }, body)
  }
}
