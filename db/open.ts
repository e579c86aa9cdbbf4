/**
 * Where the databases are and how they are opened: one control database, and for each store one database for its live data
 * and one for its sandbox. A handle sees one of them and nothing else.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { offerAside } from './aside.ts'
import { FileConnection, FileReader, serverClient, ServerConnection, type Connection } from './connection.ts'
import { database, type Db, type Reader } from './driver.ts'
import { Busy, isLocked } from './errors.ts'
import { ownName } from './leftovers.ts'
import { migrate, migrations, versionOf, type Kind } from './migrate.ts'
import { explained, requireFile, requireSchema, requireSettings } from './unusable.ts'
import { noTurns, turnsAt, type Turns } from './turns.ts'
import type { SlowWrite } from './watchdog.ts'
import { fileTransactions, serverTransactions, Writer, type Asking, type Begin } from './writer.ts'

export type Environment = 'live' | 'sandbox'

/** Where databases are: `url` has `{name}` in it, `file:` for files. */
export interface Location {
  url: string
  adminUrl?: string
  authToken?: string
}

/** The name of a store's database: a file's stem, a server's namespace. */
export const databaseName = (storeId: string, environment: Environment) =>
  environment === 'live' ? `store-${storeId}` : `store-${storeId}-sandbox`

/** The file of a database, or null when it lives on a server. */
export function fileOf(location: Location, name: string): string | null {
  return location.url.startsWith('file:') ? location.url.slice('file:'.length).replaceAll('{name}', name) : null
}

/** One open database: `read` for queries, `write` for everything that changes it. */
export class Handle {
  readonly read: Reader
  readonly #connection: Connection
  readonly #writer: Writer
  readonly #closers: (() => void)[] = []
  /** Requests that use it now; it is not closed under them. */
  users = 0

  constructor(
    connection: Connection,
    begin: Begin,
    close: () => void,
    readonly isFile: boolean,
    turns: Turns = noTurns,
  ) {
    this.#connection = connection
    this.read = database(connection)
    this.#writer = new Writer(begin, undefined, turns)
    this.#closers.push(close)
  }

  /**
   * Runs `fn` as one transaction, durable when it resolves. Nothing in it may wait for a network. It is not run when `isAbandoned`
   * tells that nobody waits for it any more.
   */
  write<T>(fn: (tx: Db) => Promise<T>, asking?: Asking): Promise<T> {
    return this.#writer.write(fn, asking)
  }

  /** Has `fn` called after each commit in which something was announced (`announce`). */
  set onNews(fn: () => void) {
    this.#writer.onNews = fn
  }

  /** Has `fn` called when a write holds the store for long, and when one was ended. */
  set onSlow(fn: (slow: SlowWrite) => void) {
    this.#writer.onSlow = fn
  }

  get idle() {
    return this.users === 0 && this.#writer.idle
  }

  /** A number that differs after any commit, by any process; null where the database can't tell cheaply. */
  version(): number | null {
    return this.#connection instanceof FileReader ? this.#connection.version() : null
  }

  /** The connection for reading, for what is not a query (backup, checks). */
  get connection() {
    return this.#connection
  }

  /** Something that is closed with it. */
  closeWith(other: { close(): void }) {
    this.#closers.push(() => other.close())
  }

  close() {
    for (const close of this.#closers.splice(0)) close()
  }
}

/** Tries again while another process has the lock, for a while; then throws `Busy`. */
export async function untilUnlocked<T>(fn: () => T | Promise<T>): Promise<T> {
  for (const deadline = performance.now() + 15_000; ;) {
    try {
      return await fn()
    } catch (error) {
      if (!isLocked(error)) throw error
      if (performance.now() > deadline) throw new Busy(1)
      await Bun.sleep(2 + Math.random() * 8)
    }
  }
}

async function openFile(path: string, kind: Kind, fits?: (version: number) => void): Promise<Handle> {
  const connection = await untilUnlocked(() => new FileReader(path))
  let writing: FileConnection | undefined
  const close = () => {
    writing?.close()
    // What is closed can be copied without its log. Of several processes the last one succeeds; SQLite takes up what none did.
    try {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      /* locked, or damaged */
    }
    connection.close()
  }
  // A snapshot older than the commit would be read after it, and would keep the checkpoint that may follow from emptying the log.
  const begin = fileTransactions(
    // Each write has a savepoint, and what undoes one is a list in memory that SQLite walks through after every statement that has a trigger
    // or a foreign key: a long write would take the square of its statements. In a temporary file it is cut off where it ends.
    () => (writing = new FileConnection(path, 'PRAGMA temp_store=FILE;')),
    () => connection.renew(),
  )
  try {
    fits?.(await versionOf(connection))
    await migrate(connection, kind, () => untilUnlocked(begin) as Promise<never>)
  } catch (error) {
    close()
    throw error
  }
  const handle = new Handle(connection, begin, close, true, turnsAt(path))
  if (kind === 'store') handle.closeWith(offerAside(handle.read, connection, path))
  return handle
}

async function openServer(location: Location, name: string, kind: Kind): Promise<Handle> {
  const client = await serverClient(location, name)
  const begin = serverTransactions(client)
  const connection = new ServerConnection(client)
  await migrate(connection, kind, () => untilUnlocked(begin) as Promise<never>)
  return new Handle(connection, begin, () => client.close(), false)
}

/** Opens a database that exists and brings it to the current schema. Throws `Unusable` for a file that can't be used. */
export async function openDatabase(location: Location, name: string, kind: Kind): Promise<Handle> {
  const path = fileOf(location, name)
  if (!path) return openServer(location, name, kind)
  const isStore = kind === 'store'
  requireFile(path, name, isStore)
  try {
    return await openFile(path, kind, (version) => (isStore || version > 0) && requireSchema(version, migrations(kind).length, name))
  } catch (error) {
    throw explained(error, name)
  }
}

/** Opens one of a registered store's databases. Throws `Unusable` when it has not the settings of that store. */
export async function openStore(location: Location, storeId: string, environment: Environment): Promise<Handle> {
  const name = databaseName(storeId, environment)
  const store = await openDatabase(location, name, 'store')
  try {
    await requireSettings(store.connection, storeId, name)
    return store
  } catch (error) {
    store.close()
    throw explained(error, name)
  }
}

let template: Promise<Uint8Array> | undefined

/** The bytes of an empty store database: copying them takes 2 ms, running the migrations 50. */
async function templateBytes(path: string): Promise<Uint8Array> {
  try {
    const handle = await openFile(path, 'store')
    handle.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    handle.close()
    return readFileSync(path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  }
}

/** Makes a database that is not there yet, with the current schema. */
export async function createDatabase(location: Location, name: string, kind: Kind): Promise<void> {
  const path = fileOf(location, name)
  if (!path) {
    await createNamespace(location, name)
    ;(await openServer(location, name, kind)).close()
    return
  }
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) return
  if (kind === 'control') return (await openFile(path, kind)).close()
  template ??= templateBytes(ownName(path, 'template')).catch((error) => {
    template = undefined
    throw error
  })
  const bytes = await template
  const made = ownName(path, 'new')
  try {
    writeFileSync(made, bytes, { flush: true })
    renameSync(made, path)
  } finally {
    rmSync(made, { force: true })
  }
}

async function createNamespace(location: Location, name: string) {
  if (!location.adminUrl) return
  const response = await fetch(new URL(`/v1/namespaces/${name}/create`, location.adminUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok && response.status !== 409 && !/already exists/i.test(await response.clone().text()))
    throw new Error(`the libSQL server refused to make the namespace ${name}: ${response.status} ${await response.text()}`)
}

/** Removes a database for good. */
export async function removeDatabase(location: Location, name: string): Promise<void> {
  const path = fileOf(location, name)
  if (path) for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  else if (location.adminUrl)
    await fetch(new URL(`/v1/namespaces/${name}`, location.adminUrl), { method: 'DELETE', signal: AbortSignal.timeout(10_000) })
}
