/**
 * Drizzle over a connection. Rows are decoded by functions made once per query: Drizzle's own mapping of 20 products costs more
 * than reading them. What every request needs is compiled once for all stores.
 */
import { Column, fillPlaceholders, getTableColumns, is, noopDecoder, Param, Placeholder, SQL, sql, type Query } from 'drizzle-orm'
import { BaseSQLiteDatabase, SQLiteAsyncDialect, SQLitePreparedQuery, SQLiteSession } from 'drizzle-orm/sqlite-core'
import type { PreparedQueryConfig, SQLiteExecuteMethod } from 'drizzle-orm/sqlite-core'
import type { SelectedFieldsOrdered, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Connection, RunResult } from './connection.ts'

/** The interface of queries: a Drizzle database bound to a connection. */
export type Db = BaseSQLiteDatabase<'async', RunResult, Record<string, never>>
/** A database to read from, inside a transaction or outside of any. It can't change anything: that is what `write` of a store is for. */
export type Reader = Pick<Db, 'select' | 'selectDistinct' | '$count' | 'all'>

type Decode = (row: unknown[]) => unknown
type Field = SelectedFieldsOrdered[number]['field']

/** Decodes a selected JSON text, as a column of that kind is decoded. */
export const fromJson = { mapFromDriverValue: (text: string) => JSON.parse(text) as unknown }

const decoderOf = (field: Field): Column | typeof fromJson =>
  is(field, Column)
    ? field
    : is(field, SQL)
      ? (field as unknown as { decoder: Column }).decoder
      : (field as never as { sql: { decoder: Column } }).sql.decoder
const isJson = (field: Field) => decoderOf(field) === fromJson || (is(field, Column) && field.dataType === 'json')
/** Whether a JSON text that SQLite makes has a field as it is: its real numbers have 15 digits, not all. */
function isExact(field: Field): boolean {
  const from = decoderOf(field)
  return isJson(field) || (is(from, Column) && from.getSQLType() !== 'real' && from.dataType !== 'buffer')
}

/** Makes the function that turns one row (an array in column order) into the object that the query's fields describe. */
function decoder(fields: SelectedFieldsOrdered, nullable: Record<string, boolean> | undefined, isPacked = false): Decode {
  const plans = fields.map(({ path, field }) => {
    const from = decoderOf(field)
    const identity = from.mapFromDriverValue === Column.prototype.mapFromDriverValue || (from as unknown) === noopDecoder
    return {
      path,
      decode: identity || (isPacked && isJson(field)) ? undefined : (value: unknown) => from.mapFromDriverValue(value as string),
    }
  })
  const shape: string[] = []
  const decodes = plans.map((plan) => plan.decode)
  const value = (i: number) => (decodes[i] ? `(r[${i}] === null ? null : d[${i}](r[${i}]))` : `r[${i}]`)
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
    const first = plans
      .map(({ path }, i) => [path[0], i] as const)
      .filter(([group]) => group === name)
      .map(([, i]) => `r[${i}] === null`)
    // A row that a LEFT JOIN did not find is null as a whole.
    shape.push(`${JSON.stringify(name)}: ${nullable && nullable[name] === false ? `(${first.join(' && ')}) ? null : ${object}` : object}`)
  }
  return new Function('d', `return (r) => ({${shape.join(', ')}})`)(decodes) as Decode
}

/**
 * The same rows as one JSON text, in the same order; null where that could be something else. libSQL hands over a value in 60 ns and a
 * row in more, which is most of the time that a list takes: 65 rows of 20 columns come a quarter sooner as one text, parsing it
 * included, and one row a third sooner.
 */
function packed(text: string, fields: SelectedFieldsOrdered): string | null {
  if (!text.startsWith('select ') || !fields.every(({ field }) => isExact(field))) return null
  const names = fields.map((_, i) => `c${i}`)
  const values = fields.map(({ field }, i) => (isJson(field) ? `json(c${i})` : `c${i}`))
  return `with t(${names.join()}) as (${text}) select json_group_array(json_array(${values.join()})) from t`
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
  return (values) =>
    plans.map((plan) =>
      plan.name === undefined ? plan.constant : plan.encode ? plan.encode(values[plan.name]) : (values[plan.name] ?? null),
    )
}

class Prepared<T extends PreparedQueryConfig> extends SQLitePreparedQuery<T & { type: 'async' }> {
  joinsNotNullableMap?: Record<string, boolean>
  #decode: Decode | undefined
  /** How rows are read as one text; null where they are not. */
  #packed: { text: string; decode: Decode } | null | undefined
  #bind: Bind | undefined

  constructor(
    readonly connection: Connection | undefined,
    query: Query,
    readonly fields: SelectedFieldsOrdered | undefined,
    method: SQLiteExecuteMethod,
    readonly custom: ((rows: unknown[][]) => unknown) | undefined,
  ) {
    super('async', method, query)
  }

  #rows(connection: Connection, values: Record<string, unknown>): unknown[][] | Promise<unknown[][]> {
    this.#bind ??= binder(this.query.params)
    return connection.rows(this.query.sql, this.#bind(values))
  }

  #one(row: unknown[]): unknown {
    if (!this.fields) return row
    this.#decode ??= decoder(this.fields, this.joinsNotNullableMap)
    return this.#decode(row)
  }

  #packing() {
    const text = this.fields && !this.custom ? packed(this.query.sql, this.fields) : null
    return text === null ? null : { text, decode: decoder(this.fields!, this.joinsNotNullableMap, true) }
  }

  async allOn(connection: Connection, values: Record<string, unknown> = {}): Promise<T['all']> {
    const packing = this.#packed === undefined ? (this.#packed = this.#packing()) : this.#packed
    if (packing) {
      this.#bind ??= binder(this.query.params)
      const [rows] = (await connection.row(packing.text, this.#bind(values))) as [string]
      return (JSON.parse(rows) as unknown[][]).map(packing.decode)
    }
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

  override all(values?: Record<string, unknown>) {
    return this.allOn(this.connection!, values)
  }
  override get(values?: Record<string, unknown>) {
    return this.getOn(this.connection!, values)
  }
  override run(values?: Record<string, unknown>) {
    return this.runOn(this.connection!, values)
  }
  override async values(values?: Record<string, unknown>) {
    return await this.connection!.rows(this.query.sql, fillPlaceholders(this.query.params, values ?? {}))
  }
  isResponseInArrayMode() {
    return true
  }
}

class Session extends SQLiteSession<'async', RunResult, Record<string, never>, Record<string, never>> {
  constructor(
    readonly connection: Connection | undefined,
    dialect: SQLiteAsyncDialect,
  ) {
    super(dialect)
  }

  prepareQuery(
    query: Query,
    fields: SelectedFieldsOrdered | undefined,
    method: SQLiteExecuteMethod,
    _array: boolean,
    custom?: (rows: unknown[][]) => unknown,
  ) {
    return new Prepared(this.connection, query, fields, method, custom)
  }

  transaction(): never {
    throw new Error('transactions are opened by store.write alone')
  }

  extractRawAllValueFromBatchResult(result: unknown) {
    return result
  }
}

const dialect = new SQLiteAsyncDialect({ casing: 'snake_case' })
const connectionOf = new WeakMap<Reader, Connection>()

/** A Drizzle database over one connection. */
export function database(connection: Connection | undefined): Db {
  const db = new BaseSQLiteDatabase('async', dialect, new Session(connection, dialect), undefined) as unknown as Db
  if (connection) connectionOf.set(db, connection)
  return db
}

const blank = database(undefined)

interface Buildable {
  prepare(): unknown
}
type ConfigOf<B> = B extends { prepare(): SQLitePreparedQuery<infer C> } ? C : never

/** A query built once for all stores: run it on any store's database with named values. */
export interface Compiled<C extends PreparedQueryConfig> {
  all(db: Reader, values?: Record<string, unknown>): Promise<C['all']>
  get(db: Reader, values?: Record<string, unknown>): Promise<C['get']>
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

/** The named value of a compiled query. It is no SQL, but Drizzle's types let `set` and `eq` of an enum take nothing else. */
export const named = (name: string) => sql.placeholder(name) as Placeholder & SQL<never>

/**
 * Condition: a text has a part, ASCII letters of either case. For texts that may be long: `like` begins anew at each place where the part
 * may begin, which takes fifty times as long where it nearly does everywhere.
 */
export const holds = (text: unknown, part: unknown) => sql`instr(lower(${text}), lower(${part})) > 0`

/** A compiled insert of whole rows into a table; columns left out are null. */
export function inserter<T extends SQLiteTable>(table: T): (tx: Db, row: T['$inferInsert']) => Promise<RunResult> {
  const query = compile((db) =>
    db.insert(table).values(Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, named(name)])) as never),
  )
  return (tx, row) => query.run(tx, row)
}
