/**
 * One writer per store: writes wait in line, first come first served, and those that wait together share one commit.
 * A commit to disk costs as much as the statements of a checkout; sharing it is where write throughput comes from. Each write
 * runs inside its own savepoint, so that they share the commit without sharing their fate.
 */
import { ServerConnection, type Connection } from './connection.ts'
import { database, type Db } from './driver.ts'
import { Busy, isLocked } from './errors.ts'
import type { Client } from '@libsql/client'

/** More waiting writes than this are refused with `Busy`. */
const QUEUE_MAX = 2_000
/** A commit waits for at most this many writes, and for no write that starts later than this after its begin. */
const GROUP_MAX = 64
const GROUP_MS = 25
/** Statements of a file are synchronous: after this long, the group lets the event loop answer those who read. */
const SLICE_MS = 1
/** How long a write waits for another process's lock. */
const LOCK_WAIT_MS = 15_000

/** An open transaction: where its statements run, and how it ends. */
interface Transaction {
  connection: Connection
  commit(): void | Promise<void>
  rollback(): void | Promise<void>
}
export type Begin = () => Transaction | Promise<Transaction>

/** Transactions of a file: one connection that only the writer uses. `beforeCommit` lets go of what would be read. */
export function fileTransactions(open: () => Connection, beforeCommit: () => void): Begin {
  let connection: Connection | undefined
  return () => {
    connection ??= open()
    const own = connection
    own.run('BEGIN IMMEDIATE', [])
    return {
      connection: own,
      commit() {
        beforeCommit()
        own.run('COMMIT', [])
      },
      rollback: () => void own.run('ROLLBACK', []),
    }
  }
}

/** Transactions of a libSQL server. */
export function serverTransactions(client: Client): Begin {
  return async () => {
    const transaction = await client.transaction('write')
    return { connection: new ServerConnection(transaction), commit: () => transaction.commit(), rollback: () => transaction.rollback() }
  }
}

/** One turn of the event loop: whatever has arrived is answered, and what it writes joins the queue. */
const turn = () => new Promise<void>((next) => setImmediate(next))

interface Job {
  run(tx: Db): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

export class Writer {
  readonly #queue: Job[] = []
  readonly #begin: Begin
  #running = false
  /** The Drizzle database of the last connection: a file has one for ever, a server one for each transaction. */
  #last: { connection: Connection; db: Db } | undefined

  constructor(begin: Begin) {
    this.#begin = begin
  }

  get idle() {
    return !this.#running && this.#queue.length === 0
  }

  /** Runs `fn` in a transaction and resolves once it is on disk. Throws `Busy` at once when too many wait. */
  write<T>(fn: (tx: Db) => Promise<T>): Promise<T> {
    if (this.#queue.length >= QUEUE_MAX) return Promise.reject(new Busy(1, 'too many writes are waiting'))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: fn, resolve: resolve as (value: unknown) => void, reject })
      if (this.#running) return
      this.#running = true
      // The requests that this turn of the event loop brings in join the same commit.
      setImmediate(() => void this.#drain())
    })
  }

  async #drain() {
    while (this.#queue.length) {
      try {
        await this.#group(await this.#lock())
      } catch (error) {
        this.#queue.shift()?.reject(error)
      }
      if (this.#queue.length) await turn()
    }
    this.#running = false
  }

  /** Begins a transaction; waits, without holding up the event loop, while another process has the lock. */
  async #lock(): Promise<Transaction> {
    const started = performance.now()
    for (let tries = 0; ; tries++) {
      try {
        return await this.#begin()
      } catch (error) {
        if (!isLocked(error)) throw error
        if (performance.now() - started > LOCK_WAIT_MS) throw new Busy(1)
        await Bun.sleep(Math.min(1 + tries, 8) * (0.5 + Math.random()))
      }
    }
  }

  #database(connection: Connection): Db {
    if (this.#last?.connection !== connection) this.#last = { connection, db: database(connection) }
    return this.#last.db
  }

  async #group(transaction: Transaction) {
    const { connection } = transaction
    const tx = this.#database(connection)
    const taken: Job[] = []
    const outcomes: (() => void)[] = []
    const started = performance.now()
    let sliceStarted = started
    try {
      while (this.#queue.length && taken.length < GROUP_MAX && performance.now() - started < GROUP_MS) {
        const job = this.#queue.shift()!
        taken.push(job)
        if (performance.now() - sliceStarted > SLICE_MS) {
          await turn()
          sliceStarted = performance.now()
        }
        await connection.run('SAVEPOINT one', [])
        try {
          const value = await job.run(tx)
          await connection.run('RELEASE one', [])
          outcomes.push(() => job.resolve(value))
        } catch (error) {
          await connection.run('ROLLBACK TO one', [])
          await connection.run('RELEASE one', [])
          // Told after the commit: what refused it may be a write of this very group.
          outcomes.push(() => job.reject(error))
        }
      }
      await transaction.commit()
    } catch (error) {
      try {
        await transaction.rollback()
      } catch {
        /* the database has rolled back already */
      }
      for (const job of taken) job.reject(error)
      return
    }
    for (const tell of outcomes) tell()
  }
}
