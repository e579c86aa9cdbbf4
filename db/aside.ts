/**
 * Reading beside the event loop. What a statement of a file has to compute is computed at once, and nobody else is answered until it
 * is: what reads a long table through is run on a thread of its own, by libSQL's asynchronous interface, over a second connection.
 */
import LibsqlFile from 'libsql/promise'
import type { Connection } from './connection.ts'
import { database, type Reader } from './driver.ts'
import { Busy } from './errors.ts'

/** A table with more rows than this is long: reading it through takes milliseconds. */
const LONG_ROWS = 2_000
/** How long it is, is looked up at most this often. */
const LOOK_MS = 1_000
/** Files that are open for it; the one unused for longest is closed first. */
const OPEN_MAX = 16
const STATEMENTS_MAX = 50

/** How many statements of a store may wait, for how long, and how long each may run; what takes longer is refused with `Busy`. */
interface Bounds {
  waitingMax: number
  waitMaxMs: number
  runMaxMs: number
}
const BOUNDS: Bounds = { waitingMax: 64, waitMaxMs: 10_000, runMaxMs: 10_000 }

interface Statement {
  raw(): Statement
  all(params: unknown[]): Promise<unknown[][]>
}
interface Job {
  text: string
  params: unknown[]
  until: number
  resolve(rows: unknown[][]): void
  reject(error: unknown): void
}

/** Readers with something waiting, in the order of their turns; so many have one at a time, each of another store. */
class Lane {
  readonly #line: AsideReader[] = []
  #running = 0

  constructor(readonly most: number) {}

  join(reader: AsideReader) {
    this.#line.push(reader)
  }

  pass() {
    while (this.#running < this.most && this.#line.length) {
      this.#running++
      void this.#line
        .shift()!
        .takeTurn()
        .finally(() => {
          this.#running--
          this.pass()
        })
    }
  }
}
/** Searches have a line of their own: they take a hundred times as long as pages, which would wait behind them. */
const LANES = { pages: new Lane(2), searches: new Lane(1) }
const opened = new Set<AsideReader>()

/** A connection to a file that reads beside the event loop: one statement at a time, each what is committed when it begins. */
export class AsideReader implements Connection {
  #file: LibsqlFile | undefined
  readonly #statements = new Map<string, Statement>()
  readonly #waiting: Job[] = []
  #busy = false
  #closed = false
  #interrupting: ReturnType<typeof setInterval> | undefined

  constructor(
    readonly path: string,
    readonly bounds: Bounds = BOUNDS,
    readonly lane: Lane = LANES.pages,
  ) {}

  rows(text: string, params: unknown[]): Promise<unknown[][]> {
    if (this.#closed || this.#waiting.length >= this.bounds.waitingMax)
      return Promise.reject(new Busy(1, 'too many long reads of this store are waiting'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, params, until: performance.now() + this.bounds.waitMaxMs, resolve, reject })
      if (this.#busy || this.#waiting.length > 1) return
      this.lane.join(this)
      this.lane.pass()
    })
  }

  async row(text: string, params: unknown[]): Promise<unknown[] | undefined> {
    return (await this.rows(text, params))[0]
  }

  run(): never {
    throw new Error('nothing is written beside the event loop')
  }

  exec(): never {
    return this.run()
  }

  /** Runs the statement that has waited for longest, and goes to the end of the line if there are more. */
  async takeTurn() {
    const job = this.#waiting.shift()
    if (!job) return
    this.#busy = true
    const overdue = setTimeout(() => this.#interrupt(), this.bounds.runMaxMs)
    try {
      if (performance.now() > job.until) throw new Busy(1, 'a long read has waited for too long')
      job.resolve(await this.#read(job))
    } catch (error) {
      job.reject(error)
    }
    clearTimeout(overdue)
    clearInterval(this.#interrupting)
    this.#interrupting = undefined
    this.#busy = false
    if (this.#closed) this.#shut()
    else if (this.#waiting.length) this.lane.join(this)
  }

  async #read({ text, params }: Job): Promise<unknown[][]> {
    try {
      return await (await this.#prepare(await this.#open(), text)).all(params)
    } catch (error) {
      this.#statements.delete(text)
      if ((error as { code?: string }).code === 'SQLITE_INTERRUPT') throw new Busy(1, 'a read took too long')
      throw error
    }
  }

  /** Ends what runs. An interrupt that comes before the statement has begun is lost, so it is repeated until the turn is over. */
  #interrupt() {
    this.#interrupting ??= setInterval(() => this.#file?.interrupt(), 10)
  }

  async #open(): Promise<LibsqlFile> {
    opened.delete(this)
    opened.add(this)
    if (this.#file) return this.#file
    for (const reader of opened) if (opened.size > OPEN_MAX && !reader.#busy) reader.#shut()
    const file = new LibsqlFile(this.path, {})
    await file.exec('PRAGMA query_only=ON; PRAGMA cache_size=-8000')
    return (this.#file = file)
  }

  /** A thread computes what comes before the first row; materialized, that is everything. Nothing is left to do for the event loop. */
  async #prepare(file: LibsqlFile, text: string): Promise<Statement> {
    let statement = this.#statements.get(text)
    if (statement) return statement
    statement = ((await file.prepare(`with answer as materialized (${text}) select * from answer`)) as Statement).raw()
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.delete(this.#statements.keys().next().value!)
    this.#statements.set(text, statement)
    return statement
  }

  #shut() {
    opened.delete(this)
    this.#statements.clear()
    this.#file?.close()
    this.#file = undefined
  }

  /** Interrupts the job that runs, and refuses those that wait. */
  close() {
    this.#closed = true
    for (const job of this.#waiting.splice(0)) job.reject(new Busy(1, 'the store is being closed'))
    if (this.#busy) this.#interrupt()
    else this.#shut()
  }
}

interface Source {
  near: Connection
  /** Beside the event loop: for pages, and for searches. */
  far: Record<keyof typeof LANES, Reader>
  /** When each table was looked at, and how many rows it had. */
  seen: Map<string, { at: number; rows: number }>
}
const sources = new WeakMap<Reader, Source>()

/** Lets long tables of a file be read beside the event loop: `near` is the connection of `db`. */
export function offerAside(db: Reader, near: Connection, path: string): { close(): void } {
  const [pages, searches] = [new AsideReader(path, BOUNDS, LANES.pages), new AsideReader(path, BOUNDS, LANES.searches)]
  sources.set(db, { near, far: { pages: database(pages), searches: database(searches) }, seen: new Map() })
  return {
    close() {
      pages.close()
      searches.close()
    },
  }
}

/**
 * Where to run a statement that may read a table through: `db` itself while the table is short, else a connection beside the event
 * loop. A transaction, and a database on a server, read where they are. `longRows`: of rows that cost more than most.
 * `search`: it looks for words.
 */
export function aside(db: Reader, table: string, { longRows = LONG_ROWS, search = false } = {}): Reader {
  const source = sources.get(db)
  if (!source) return db
  const now = performance.now()
  let seen = source.seen.get(table)
  if (!seen || now - seen.at > LOOK_MS) {
    const [last] = source.near.row(`select max(rowid) from "${table}"`, []) as [number | null]
    source.seen.set(table, (seen = { at: now, rows: last ?? 0 }))
  }
  return seen.rows > longRows ? source.far[search ? 'searches' : 'pages'] : db
}
