/**
 * Drizzle on libSQL. Two kinds of connection (a file, a libSQL server) stand behind one asynchronous session; a file's
 * statements are prepared once, and rows are decoded by functions made once per query (Drizzle's own mapping of 20 products
 * costs more than reading them).
 */
import { createClient, type Client, type InArgs, type Transaction } from '@libsql/client'
import { Column, fillPlaceholders, getTableColumns, is, noopDecoder, Param, Placeholder, SQL, sql, type Query } from 'drizzle-orm'
import { BaseSQLiteDatabase, SQLiteAsyncDialect, SQLitePreparedQuery, SQLiteSession } from 'drizzle-orm/sqlite-core'
import type { PreparedQueryConfig, SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core'
import type { SelectedFieldsOrdered, SQLiteTable } from 'drizzle-orm/sqlite-core'
import LibsqlFile from 'libsql'

/** What a statement that returns no rows tells: how many rows it changed. */
export interface RunResult { changes: number }

/** One connection to one database: rows come back as arrays in column order. */
export interface Connection {
  rows(text: string, params: unknown[]): unknown[][] | Promise<unknown[][]>
  /** The first row, if there is one: a third cheaper than a list of one. */
  row(text: string, params: unknown[]): unknown[] | undefined | Promise<unknown[] | undefined>
  run(text: string, params: unknown[]): RunResult | Promise<RunResult>
  exec(text: string): void | Promise<void>
  close(): void
}

/** The interface of queries: a Drizzle database bound to a connection. */
export type Db = BaseSQLiteDatabase<'async', RunResult, Record<string, never>>

/** At most this many prepared statements are kept for a connection; the one unused for longest goes first. */
const STATEMENTS_MAX = 200

type Statement = ReturnType<InstanceType<typeof LibsqlFile>['prepare']> & { rowsOf?: boolean }

/** A connection to a database file. Every call is synchronous and answers in microseconds. */
export class FileConnection implements Connection {
  readonly #file: InstanceType<typeof LibsqlFile>
  readonly #statements = new Map<string, Statement>()

  constructor(path: string) {
    this.#file = new LibsqlFile(path)
    this.#file.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-2000')
  }

  #prepare(text: string): Statement {
    let statement = this.#statements.get(text)
    if (statement) return statement
    statement = this.#file.prepare(text) as Statement
    if (statement.reader) statement.raw(true)
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.delete(this.#statements.keys().next().value!)
    this.#statements.set(text, statement)
    return statement
  }

  rows(text: string, params: unknown[]): unknown[][] {
    return this.#prepare(text).all(params as never) as unknown[][]
  }

  row(text: string, params: unknown[]): unknown[] | undefined {
    return this.#prepare(text).get(params as never) as unknown[] | undefined
  }

  run(text: string, params: unknown[]): RunResult {
    return this.#prepare(text).run(params as never) as RunResult
  }

  exec(text: string): void { this.#file.exec(text) }

  close(): void {
    this.#statements.clear()
    this.#file.close()
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

  async exec(text: string): Promise<void> { await this.client.executeMultiple(text) }

  close(): void { this.client.close() }
}

/** Opens a client of a libSQL server; `url` is `http://…`, `https://…` or `libsql://…`. */
export function serverClient(url: string, authToken: string | undefined): Client {
  return createClient({ url, authToken, intMode: 'number' })
}

type Decode = (row: unknown[]) => unknown

/** Makes the function that turns one row (an array in column order) into the object that the query's fields describe. */
function decoder(fields: SelectedFieldsOrdered, nullable: Record<string, boolean> | undefined): Decode {
  const plans = fields.map(({ path, field }) => {
    const from = is(field, Column) ? field : is(field, SQL) ? (field as never as { decoder: Column }).decoder
      : (field as never as { sql: { decoder: Column } }).sql.decoder
    const identity = from.mapFromDriverValue === Column.prototype.mapFromDriverValue || (from as unknown) === noopDecoder
    return { path, decode: identity ? undefined : (value: unknown) => from.mapFromDriverValue(value) }
  })
  const shape: string[] = []
  const decodes = plans.map((plan) => plan.decode)
  const value = (i: number) => decodes[i] ? `(r[${i}] === null ? null : d[${i}](r[${i}]))` : `r[${i}]`
  const groups = new Map<string, string[]>()
  plans.forEach(({ path }, i) => {
    if (path.length === 1) shape.push(`${JSON.stringify(path[0])}: ${value(i)}`)
    else {
      const members = groups.get(path[0]!) ?? []
      if (!members.length) groups.set(path[0]!, members)
      members.push(`${JSON.stringify(path[1])}: ${value(i)}`)
    }
  })
  for (const [name, members] of groups) {
    const object = `{${members.join(', ')}}`
    const first = plans.map(({ path }, i) => [path[0], i] as const).filter(([group]) => group === name).map(([, i]) => `r[${i}] === null`)
    // A row that a LEFT JOIN did not find is null as a whole.
    shape.push(`${JSON.stringify(name)}: ${nullable && nullable[name] === false ? `(${first.join(' && ')}) ? null : ${object}` : object}`)
  }
  return new Function('d', `return (r) => ({${shape.join(', ')}})`)(decodes) as Decode
}

type Bind = (values: Record<string, unknown>) => unknown[]

/** Makes the function that lays named values into the parameters of a query; one without placeholders binds constants. */
function binder(params: unknown[]): Bind {
  if (!params.some((p) => is(p, Placeholder) || (is(p, Param) && is(p.value, Placeholder)))) return () => params
  const plans = params.map((p) => {
    if (is(p, Placeholder)) return { name: p.name }
    if (is(p, Param) && is(p.value, Placeholder)) {
      const { encoder } = p
      return { name: p.value.name, encode: (v: unknown) => (v === null || v === undefined ? null : encoder.mapToDriverValue(v)) }
    }
    return { constant: p }
  })
  return (values) => plans.map((plan) => plan.name === undefined ? plan.constant
    : plan.encode ? plan.encode(values[plan.name]) : (values[plan.name] ?? null))
}

class Prepared<T extends PreparedQueryConfig> extends SQLitePreparedQuery<T & { type: 'async' }> {
  joinsNotNullableMap?: Record<string, boolean>
  #decode: Decode | undefined
  #bind: Bind | undefined

  constructor(
    readonly connection: Connection | undefined,
    query: Query,
    readonly fields: SelectedFieldsOrdered | undefined,
    method: SQLiteExecuteMethod,
    readonly custom: ((rows: unknown[][]) => unknown) | undefined,
  ) { super('async', method, query) }

  #rows(connection: Connection, values: Record<string, unknown>): unknown[][] | Promise<unknown[][]> {
    this.#bind ??= binder(this.query.params)
    return connection.rows(this.query.sql, this.#bind(values))
  }

  #one(row: unknown[]): unknown {
    if (!this.fields) return row
    this.#decode ??= decoder(this.fields, this.joinsNotNullableMap)
    return this.#decode(row)
  }

  async allOn(connection: Connection, values: Record<string, unknown> = {}): Promise<T['all']> {
    const rows = await this.#rows(connection, values)
    return this.custom ? this.custom(rows) : rows.map((row) => this.#one(row))
  }

  async getOn(connection: Connection, values: Record<string, unknown> = {}): Promise<T['get']> {
    if (this.custom) return this.custom(await this.#rows(connection, values))
    this.#bind ??= binder(this.query.params)
    const row = await connection.row(this.query.sql, this.#bind(values))
    return row && this.#one(row)
  }

  async runOn(connection: Connection, values: Record<string, unknown> = {}): Promise<T['run']> {
    this.#bind ??= binder(this.query.params)
    return await connection.run(this.query.sql, this.#bind(values))
  }

  override all(values?: Record<string, unknown>) { return this.allOn(this.connection!, values) as never }
  override get(values?: Record<string, unknown>) { return this.getOn(this.connection!, values) as never }
  override run(values?: Record<string, unknown>) { return this.runOn(this.connection!, values) as never }
  override async values(values?: Record<string, unknown>) {
    return await this.connection!.rows(this.query.sql, fillPlaceholders(this.query.params, values ?? {})) as never
  }
  isResponseInArrayMode() { return true }
}

class Session extends SQLiteSession<'async', RunResult, Record<string, never>, Record<string, never>> {
  constructor(readonly connection: Connection | undefined, dialect: SQLiteAsyncDialect) { super(dialect as never) }

  prepareQuery(query: Query, fields: SelectedFieldsOrdered | undefined, method: SQLiteExecuteMethod, _array: boolean,
    custom?: (rows: unknown[][]) => unknown) {
    return new Prepared(this.connection, query, fields, method, custom) as never
  }

  transaction(): never { throw new Error('transactions are opened by store.write alone') }

  extractRawAllValueFromBatchResult(result: unknown) { return result }
}

const dialect = new SQLiteAsyncDialect({ casing: 'snake_case' })
const connectionOf = new WeakMap<Db, Connection>()

/** A Drizzle database over one connection. */
export function database(connection: Connection | undefined): Db {
  const db = new BaseSQLiteDatabase('async', dialect, new Session(connection, dialect) as never, undefined) as never as Db
  if (connection) connectionOf.set(db, connection)
  return db
}

const blank = database(undefined)

interface Buildable { prepare(): unknown }
type ConfigOf<B> = B extends { prepare(): SQLitePreparedQuery<infer C> } ? C : never

/** A query built once for all stores: run it on any store's database with named values. */
export interface Compiled<C extends PreparedQueryConfig> {
  all(db: Db, values?: Record<string, unknown>): Promise<C['all']>
  get(db: Db, values?: Record<string, unknown>): Promise<C['get']>
  run(db: Db, values?: Record<string, unknown>): Promise<RunResult>
}

/**
 * Compiles a Drizzle query with `sql.placeholder` values, at its first use. Building a query costs 75-145 µs, running a
 * compiled one about 7 µs: what every request needs is compiled, what a merchant does now and then is not.
 */
export function compile<B extends Buildable>(build: (db: Db) => B): Compiled<ConfigOf<B>> {
  let prepared: Prepared<PreparedQueryConfig> | undefined
  const ready = () => (prepared ??= build(blank).prepare() as Prepared<PreparedQueryConfig>)
  return {
    all: (db, values) => ready().allOn(connectionOf.get(db)!, values),
    get: (db, values) => ready().getOn(connectionOf.get(db)!, values),
    run: (db, values) => ready().runOn(connectionOf.get(db)!, values),
  } as Compiled<ConfigOf<B>>
}

/** The named value of a compiled query. */
export const named = (name: string) => sql.placeholder(name)

/** A compiled insert of whole rows into a table; columns left out are null. */
export function inserter<T extends SQLiteTable>(table: T): (tx: Db, row: T['$inferInsert']) => Promise<RunResult> {
  const query = compile((db) => db.insert(table).values(Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, named(name)])) as never))
  return (tx, row) => query.run(tx, row)
}
