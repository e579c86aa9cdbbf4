/** Which stores are open now: a bounded set, the one unused for longest closed first. */
import { statSync } from 'node:fs'
import { databaseName, fileOf, openStore, type Environment, type Handle, type Location } from './open.ts'
import type { SlowWrite } from './watchdog.ts'

/** Open stores, at most `max` of them beside those in use; the one unused for longest is closed first. */
export class Handles {
  readonly #open = new Map<string, Handle>()
  /** Which file each of them is, as the file system numbers files, and in which round of suspicion that was last seen to hold. */
  readonly #files = new Map<string, { number: number | undefined; round: number }>()
  #round = 0
  /** Stores being opened, and how many wait for each. */
  readonly #opening = new Map<string, { store: Promise<Handle>; waiting: number }>()
  #closed = 0
  /** Called after each commit of a store in which something was announced (`announce`). */
  onNews: (storeId: string, environment: Environment) => void = () => {}

  /** Called when a write holds its store for long, and when one was ended. */
  onSlow: (slow: SlowWrite, storeId: string, environment: Environment) => void = () => {}

  constructor(
    readonly location: Location,
    readonly max: number,
  ) {}

  get size() {
    return this.#open.size
  }

  /** Runs `fn` with a store's handle, which stays open until `fn` has ended. */
  async use<T>(storeId: string, environment: Environment, fn: (store: Handle) => Promise<T>): Promise<T> {
    const name = databaseName(storeId, environment)
    let store = this.#ready(name)
    if (store) store.users++
    else store = await this.#load(name, () => this.#openOne(storeId, environment))
    try {
      return await fn(store)
    } finally {
      store.users--
      // Forgotten meanwhile, with its file: its last user closes it.
      if (store.idle && this.#open.get(name) !== store) store.close()
      this.#evict()
    }
  }

  /** The same, for a look now and then: a store that nobody had open is closed after it. */
  async visit<T>(storeId: string, environment: Environment, fn: (store: Handle) => Promise<T>): Promise<T> {
    const name = databaseName(storeId, environment)
    const wasOpen = this.#open.has(name) || this.#opening.has(name)
    try {
      return await this.use(storeId, environment, fn)
    } finally {
      const store = this.#open.get(name)
      if (!wasOpen && store?.idle) this.#shut(name, store)
    }
  }

  async #openOne(storeId: string, environment: Environment): Promise<Handle> {
    const store = await openStore(this.location, storeId, environment)
    store.onNews = () => this.onNews(storeId, environment)
    store.onSlow = (slow) => this.onSlow(slow, storeId, environment)
    return store
  }

  #ready(name: string): Handle | undefined {
    const store = this.#open.get(name)
    const file = this.#files.get(name)
    if (store && file?.round !== this.#round) {
      // Deleted, and perhaps restored, by another process: what is written to a file that has no name is lost.
      if (!file || this.#fileAt(name) !== file.number) {
        this.#forget(name)
        if (store.idle) store.close()
        return undefined
      }
      file.round = this.#round
    }
    if (store && this.#open.size > this.max / 2) {
      this.#open.delete(name)
      this.#open.set(name, store)
    }
    return store
  }

  /** Whether a handle still is the store's own: the store may have been deleted, and perhaps restored, since it was opened. */
  isCurrent(storeId: string, environment: Environment, store: Handle): boolean {
    return this.#ready(databaseName(storeId, environment)) === store
  }

  /** The registry has changed: each store is looked at once more, before its next use, for whether it still is the same file. */
  suspect() {
    this.#round++
  }

  /** The number of the file that has the database's name now; undefined when none has, or it lives on a server. */
  #fileAt(name: string): number | undefined {
    const path = fileOf(this.location, name)
    return path === null ? undefined : statSync(path, { throwIfNoEntry: false })?.ino
  }

  #forget(name: string) {
    this.#open.delete(name)
    this.#files.delete(name)
  }

  /** Opens a store once for all who wait for it. They are its users from the start: it may not be closed before they had their turn. */
  #load(name: string, open: () => Promise<Handle>): Promise<Handle> {
    let opening = this.#opening.get(name)
    if (!opening) {
      opening = { waiting: 0, store: this.#opened(name, open) }
      this.#opening.set(name, opening)
    }
    opening.waiting++
    return opening.store
  }

  async #opened(name: string, open: () => Promise<Handle>): Promise<Handle> {
    try {
      this.#files.set(name, { number: this.#fileAt(name), round: this.#round })
      const store = await open()
      store.users = this.#opening.get(name)!.waiting
      this.#open.set(name, store)
      this.#evict()
      return store
    } finally {
      this.#opening.delete(name)
    }
  }

  #evict() {
    if (this.#open.size <= this.max) return
    for (const [name, store] of this.#open) {
      if (this.#open.size <= this.max) break
      if (store.idle) this.#shut(name, store)
    }
  }

  #shut(name: string, store: Handle) {
    this.#forget(name)
    store.close()
    // libSQL frees descriptors when the closed connection is collected, and nothing else makes that happen soon.
    if (++this.#closed % 32 === 0) Bun.gc(true)
  }

  /** Forgets a store that is being deleted or restored. */
  drop(storeId: string) {
    for (const environment of ['live', 'sandbox'] as const) {
      const name = databaseName(storeId, environment)
      const store = this.#open.get(name)
      this.#forget(name)
      if (store?.idle) store.close()
    }
  }

  /** Whether a database is open in this process: nobody here has written to one that is not. */
  isOpen(storeId: string, environment: Environment): boolean {
    return this.#open.has(databaseName(storeId, environment))
  }

  /** The handles that are open now. */
  all(): Iterable<Handle> {
    return this.#open.values()
  }

  close() {
    for (const store of this.#open.values()) store.close()
    this.#open.clear()
  }
}
