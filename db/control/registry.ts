/** The registry of stores and API keys, over the control database. */
import { and, eq, isNull, sql } from 'drizzle-orm'
import { createDatabase, databaseName, openDatabase, removeDatabase, type Environment, type Handle, type Location } from '../open.ts'
import { compile, named, type Db } from '../driver.ts'
import type { Handles } from '../handles.ts'
import { numbersAt } from '../numbers-at.ts'
import type { Numbers } from '../numbers.ts'
import { firstSettings, type NewStore } from './first-settings.ts'
import { settings } from '../store/store.ts'
import { adoptBuilder, type Builder } from './builder.ts'
import { begin, end, forgetEnd, historyOf, keyElsewhere, noteEnd, noteNumbers, type Phase } from './history.ts'
import { hasExpired, hashOf, newKey, type KeyInput, type KeyRow } from './keys.ts'
import { LastUse } from './last-use.ts'
import { Notice } from './notice.ts'
import { apiKeys, changes, stores } from './tables.ts'

export type StoreRow = typeof stores.$inferSelect
export type { KeyRow }

/** The caller of a request: the key, the store that it opens, and which of the store's two databases. */
export interface Session {
  store: StoreRow
  key: KeyRow
  scopes: ReadonlySet<string> | null
  environment: Environment
}

/** The scopes of a storefront key (document 1, Authentication 7). */
export const STOREFRONT_SCOPES = ['storefront:read', 'storefront:write', 'cart:write', 'order:lookup']

const keyByHash = compile((db) =>
  db
    .select({ key: apiKeys, store: stores })
    .from(apiKeys)
    .innerJoin(stores, eq(stores.id, apiKeys.storeId))
    .where(and(eq(apiKeys.hash, named('hash')), isNull(apiKeys.revokedAt))),
)

const changedRows = compile((db) => db.select({ count: sql<number>`total_changes()` }).from(sql`(select 1)`))
/** How many rows a connection has changed so far. */
const rowsChanged = async (tx: Db): Promise<number> => (await changedRows.get(tx))!.count

async function countChange(tx: Db) {
  await tx
    .insert(changes)
    .values({ id: 1, count: 1 })
    .onConflictDoUpdate({ target: changes.id, set: { count: sql`${changes.count} + 1` } })
}

/** Keys and stores looked up before are remembered until the control database changes; this many, then it starts over. */
const REMEMBERED_MAX = 20_000

/** The contents of a store from its first moment on: its keys, and the rows that `fill` writes. */
export interface FirstOfStore {
  keys?: (storeId: string) => KeyRow[]
  fill?: (live: Handle) => Promise<unknown>
}

export class Registry {
  readonly #sessions = new Map<string, Session>()
  /** Stores that were there when they were looked up, since the last change. */
  readonly #known = new Set<string>()
  /** When keys were used last. */
  readonly use: LastUse
  readonly #notice: Notice

  /** Called when any process has changed the registry: stores may have been deleted or restored. */
  onChange: () => void = () => {}

  constructor(
    readonly control: Handle,
    readonly location: Location,
  ) {
    this.use = new LastUse(control)
    this.#notice = new Notice(control, location, () => {
      this.#sessions.clear()
      this.#known.clear()
      this.onChange()
    })
  }

  /** The session of a bearer key, or null for one that is unknown, revoked or expired. */
  async session(secret: string, now = new Date()): Promise<Session | null> {
    await this.#notice.take()
    const session = this.#sessions.get(secret) ?? (await this.#find(secret))
    if (!session || hasExpired(session.key, now)) return null
    this.use.note(session.key, secret, now)
    return session
  }

  async #find(secret: string): Promise<Session | null> {
    const { epoch } = this.#notice
    const row = await keyByHash.get(this.control.read, { hash: hashOf(secret) })
    if (!row) return null
    const { key, store } = row
    const session: Session = { key, store, scopes: key.scopes && new Set(key.scopes), environment: key.environment }
    if (this.#sessions.size >= REMEMBERED_MAX) this.#sessions.clear()
    // Revoked while the server answered, it would be remembered for ever: that it was revoked has been noticed already.
    if (epoch === this.#notice.epoch) this.#sessions.set(secret, session)
    return session
  }

  /** A number that differs once any process has changed the registry: what was looked up under another one may be out of date. */
  async epoch(): Promise<number> {
    await this.#notice.take()
    return this.#notice.epoch
  }

  /** The same without looking, for what is asked thousands of times a second; null when it was not looked at just now. */
  epochSeen(): number | null {
    return this.#notice.isSame() ? this.#notice.epoch : null
  }

  /**
   * Runs a change that every process is to notice at once, as one transaction. One that has changed no row is none: all that processes
   * remember of all stores still holds.
   */
  change<T>(fn: (tx: Db) => Promise<T>): Promise<T> {
    const changed = this.control.write(async (tx) => {
      const before = await rowsChanged(tx)
      const result = await fn(tx)
      if ((await rowsChanged(tx)) === before) return result
      await countChange(tx)
      return result
    })
    return changed.finally(() => this.#notice.suspect())
  }

  /** Has every process look anew at what it knows, and at the files that it has open: a store was restored. */
  tellAll(): Promise<void> {
    return this.control.write(countChange).finally(() => this.#notice.suspect())
  }

  /**
   * Makes both databases of a store, has the live one filled, then makes the store itself with its keys: a failure in between leaves
   * nothing, and no store is there without its keys.
   */
  async createStore(input: NewStore, { keys, fill }: FirstOfStore = {}): Promise<StoreRow> {
    const row: StoreRow = {
      id: Bun.randomUUIDv7(),
      name: input.name,
      slug: input.slug,
      plan: input.plan,
      aiBuilt: input.aiBuilt,
      createdAt: new Date().toISOString(),
    }
    await this.begin(row.id, 'making')
    try {
      for (const environment of ['live', 'sandbox'] as const)
        await this.#makeDatabase(row, environment, input, environment === 'live' ? fill : undefined)
      await this.change(async (tx) => {
        await tx.insert(stores).values(row)
        for (const key of keys?.(row.id) ?? []) await tx.insert(apiKeys).values(key)
        await end(tx, row.id)
      })
    } catch (error) {
      for (const environment of ['live', 'sandbox'] as const) await removeDatabase(this.location, databaseName(row.id, environment))
      // What can't be noted now, on a full disk, is cleared away like what a crash leaves.
      await this.control.write((tx) => end(tx, row.id)).catch(() => {})
      throw error
    }
    return row
  }

  async #makeDatabase(row: StoreRow, environment: Environment, input: NewStore, fill: FirstOfStore['fill']) {
    const name = databaseName(row.id, environment)
    await createDatabase(this.location, name, 'store')
    const handle = await openDatabase(this.location, name, 'store')
    try {
      await handle.write(async (tx) => {
        await tx.insert(settings).values(firstSettings(row, input)).onConflictDoNothing()
      })
      await fill?.(handle)
    } finally {
      handle.close()
    }
  }

  /** Says that a store's databases are being made, or removed: what a crash leaves of that is cleared away. */
  begin(storeId: string, phase: Phase): Promise<void> {
    return this.control.write((tx) => begin(tx, storeId, phase, new Date()))
  }

  /** Remembers the highest numbers that a store has given. */
  noteNumbers(storeId: string, numbers: Numbers): Promise<void> {
    return this.control.write((tx) => noteNumbers(tx, storeId, numbers))
  }

  /** A key of another store that has the id or the secret of one of these. */
  keyElsewhere(storeId: string, keys: KeyRow[]) {
    return keyElsewhere(this.control.read, storeId, keys)
  }

  /** Takes in a store that another registry knew, or this one before it was deleted; its databases are there already. */
  async adoptStore(store: StoreRow, keys: KeyRow[], builder: Builder | null = null): Promise<void> {
    await this.change(async (tx) => {
      const usable = (await historyOf(tx, store.id))?.keyIds
      const now = new Date().toISOString()
      await tx.insert(stores).values(store)
      for (const key of keys) {
        const revokedAt = usable && !usable.includes(key.id) ? now : null
        await tx.insert(apiKeys).values({ ...key, storeId: store.id, revokedAt: key.revokedAt ?? revokedAt })
      }
      if (builder) await adoptBuilder(tx, store.id, builder)
      await forgetEnd(tx, store.id)
      await end(tx, store.id)
    })
  }

  async updateStore(id: string, change: Partial<Pick<StoreRow, 'plan' | 'aiBuilt' | 'name'>>): Promise<StoreRow | undefined> {
    return this.change(async (tx) => {
      const [row] = await tx.select().from(stores).where(eq(stores.id, id))
      const isSame = Object.entries(change).every(([name, value]) => row?.[name as keyof StoreRow] === value)
      return !row || isSame ? row : (await tx.update(stores).set(change).where(eq(stores.id, id)).returning())[0]
    })
  }

  async listStores(): Promise<StoreRow[]> {
    await this.#notice.take()
    return this.control.read.select().from(stores).orderBy(stores.id)
  }

  async store(id: string): Promise<StoreRow | undefined> {
    await this.#notice.take()
    return (await this.control.read.select().from(stores).where(eq(stores.id, id)))[0]
  }

  /** Whether there is a store of this id: cheap enough to be asked at each step of what is done for it. */
  async knows(id: string): Promise<boolean> {
    await this.#notice.take()
    if (this.#known.has(id)) return true
    const { epoch } = this.#notice
    if (!(await this.store(id))) return false
    if (this.#known.size < REMEMBERED_MAX && this.#notice.epoch === epoch) this.#known.add(id)
    return true
  }

  async storeBySlug(slug: string): Promise<StoreRow | undefined> {
    return (await this.control.read.select().from(stores).where(eq(stores.slug, slug)))[0]
  }

  /**
   * Revokes its keys and forgets the store, but for the numbers that it gave; then removes its databases, and with `removeMore` what
   * else is its own. Also takes up where a removal was cut off.
   */
  async deleteStore(id: string, handles?: Handles, removeMore: () => Promise<void> | void = () => {}): Promise<boolean> {
    const numbers = numbersAt(this.location, id)
    const removed = await this.change(async (tx) => {
      await begin(tx, id, 'removing', new Date())
      await noteNumbers(tx, id, numbers)
      const [store] = await tx.select().from(stores).where(eq(stores.id, id))
      if (store) await noteEnd(tx, store)
      return (await tx.delete(stores).where(eq(stores.id, id)).returning()).length
    })
    handles?.drop(id)
    for (const environment of ['live', 'sandbox'] as const) await removeDatabase(this.location, databaseName(id, environment))
    await removeMore()
    await this.control.write((tx) => end(tx, id))
    return removed > 0
  }

  /** Makes a key and returns its secret: the only time that it is known. */
  async createKey(input: KeyInput): Promise<{ row: KeyRow; secret: string }> {
    const made = newKey(input, new Date())
    await this.change(async (tx) => {
      await tx.insert(apiKeys).values(made.row)
    })
    return made
  }

  listKeys(storeId: string): Promise<KeyRow[]> {
    return this.control.read.select().from(apiKeys).where(eq(apiKeys.storeId, storeId)).orderBy(apiKeys.id)
  }

  /** Makes a key useless; one that is so already keeps the time at which it became so. */
  async revokeKey(id: string): Promise<KeyRow | undefined> {
    const revokedAt = sql`coalesce(${apiKeys.revokedAt}, ${new Date().toISOString()})`
    return this.change(async (tx) => (await tx.update(apiKeys).set({ revokedAt }).where(eq(apiKeys.id, id)).returning())[0])
  }
}
