/** The two kinds of connection: a database file, and a database on a libSQL server. */
import type { Client, InArgs, Transaction } from '@libsql/client'
import LibsqlFile from 'libsql'
import { Hung } from './errors.ts'

/** The result of a statement that returns no rows: how many rows it changed. */
export interface RunResult {
  changes: number
}

/** One connection to one database: rows come back as arrays in column order. */
export interface Connection {
  rows(text: string, params: unknown[]): unknown[][] | Promise<unknown[][]>
  /** The first row, if there is one: a third cheaper than a list of one. */
  row(text: string, params: unknown[]): unknown[] | undefined | Promise<unknown[] | undefined>
  run(text: string, params: unknown[]): RunResult | Promise<RunResult>
  exec(text: string): void | Promise<void>
  close(): void
}

/**
 * A connection as a write has it, lent for as long as the write runs: one that was ended can't use it any more, though its code may go on.
 */
export class LentConnection implements Connection {
  /** How often it was used. */
  used = 0
  #isOver = false

  constructor(readonly own: Connection) {}

  protected get lent(): Connection {
    if (this.#isOver) throw new Hung()
    this.used++
    return this.own
  }

  /** Takes it away from whoever has it. */
  revoke() {
    this.#isOver = true
  }

  rows(text: string, params: unknown[]) {
    return this.lent.rows(text, params)
  }

  row(text: string, params: unknown[]) {
    return this.lent.row(text, params)
  }

  run(text: string, params: unknown[]) {
    return this.lent.run(text, params)
  }

  exec(text: string) {
    return this.lent.exec(text)
  }

  close() {
    this.own.close()
  }
}

/** At most this many prepared statements are kept for a connection; the one unused for longest goes first. */
const STATEMENTS_MAX = 200

type Statement = ReturnType<InstanceType<typeof LibsqlFile>['prepare']> & { rowsOf?: boolean }

/** A connection to a database file. Every call is synchronous and answers in microseconds. */
export class FileConnection implements Connection {
  readonly #file: InstanceType<typeof LibsqlFile>
  readonly #statements = new Map<string, Statement>()
  /**
   * Statements for single rows, kept apart: libSQL's `get` binds nothing new to a statement that `all` has used or that has
   * failed. It would answer for the parameters before, and an UPDATE would change the row before.
   */
  readonly #singles = new Map<string, Statement>()

  constructor(path: string, more = '') {
    this.#file = new LibsqlFile(path)
    try {
      this.#file.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-2000;' + more)
    } catch (error) {
      this.#file.close()
      throw error
    }
  }

  #prepare(text: string, known = this.#statements): Statement {
    let statement = known.get(text)
    if (statement) return statement
    statement = this.#file.prepare(text) as Statement
    if (statement.reader) statement.raw(true)
    if (known.size >= STATEMENTS_MAX) known.delete(known.keys().next().value!)
    known.set(text, statement)
    return statement
  }

  rows(text: string, params: unknown[]): unknown[][] {
    return this.#prepare(text).all(params) as unknown[][]
  }

  row(text: string, params: unknown[]): unknown[] | undefined {
    try {
      return this.#prepare(text, this.#singles).get(params) as unknown[] | undefined
    } catch (error) {
      this.#singles.delete(text)
      throw error
    }
  }

  run(text: string, params: unknown[]): RunResult {
    return this.#prepare(text).run(params) as RunResult
  }

  exec(text: string): void {
    this.#file.exec(text)
  }

  close(): void {
    this.#statements.clear()
    this.#singles.clear()
    this.#file.close()
  }
}

/**
 * A connection to a file for those who read. What one turn of the event loop reads is one snapshot, begun once: locking the file
 * for each statement costs as much as a point query. It ends before the next turn brings in requests, so that nobody reads what
 * was before a change that they know of. It can't change the data; it can still move the log into the file.
 */
export class FileReader extends FileConnection {
  #isOpen = false
  /** The data version of the snapshot; null until somebody asks. */
  #version: number | null = null

  constructor(path: string) {
    super(path, 'PRAGMA query_only=ON')
  }

  #open() {
    if (this.#isOpen) return
    super.run('BEGIN', [])
    this.#isOpen = true
    setImmediate(() => this.renew())
  }

  /** Ends the snapshot: the next statement reads what is committed by then. */
  renew(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#version = null
    try {
      super.run('COMMIT', [])
    } catch {
      // In a damaged file not even this works. Whoever has read it has been told; nobody is there to be told here.
      this.#undo()
    }
  }

  /** A number that differs after any commit, by any process. One snapshot has one, so that a turn asks once. */
  version(): number {
    return (this.#version ??= (this.row('PRAGMA data_version', []) as [number])[0])
  }

  #undo() {
    try {
      super.run('ROLLBACK', [])
    } catch {
      /* it has ended already */
    }
  }

  override rows(text: string, params: unknown[]): unknown[][] {
    this.#open()
    return super.rows(text, params)
  }

  override row(text: string, params: unknown[]): unknown[] | undefined {
    this.#open()
    return super.row(text, params)
  }

  override run(text: string, params: unknown[]): RunResult {
    this.renew()
    return super.run(text, params)
  }

  override exec(text: string): void {
    this.renew()
    super.exec(text)
  }

  override close(): void {
    this.renew()
    super.close()
  }
}

/** A connection to a libSQL server: the client itself, or one of its interactive transactions. */
export class ServerConnection implements Connection {
  constructor(readonly client: Client | Transaction) {}

  async rows(text: string, params: unknown[]): Promise<unknown[][]> {
    const { rows, columns } = await this.client.execute({ sql: text, args: params as InArgs })
    return rows.map((row) => columns.map((_, i) => row[i]))
  }

  async row(text: string, params: unknown[]): Promise<unknown[] | undefined> {
    return (await this.rows(text, params))[0]
  }

  async run(text: string, params: unknown[]): Promise<RunResult> {
    return { changes: (await this.client.execute({ sql: text, args: params as InArgs })).rowsAffected }
  }

  async exec(text: string): Promise<void> {
    await this.client.executeMultiple(text)
  }

  close(): void {
    this.client.close()
  }
}

/** Opens a client of a database on a libSQL server: `url` is `http://…`, `https://…` or `libsql://…`, with `{name}` for the database's. */
export async function serverClient({ url, authToken }: { url: string; authToken?: string }, name: string): Promise<Client> {
  // Who has files need not wait for it.
  const { createClient } = await import('@libsql/client')
  return createClient({ url: url.replaceAll('{name}', name), authToken, intMode: 'number' })
}
