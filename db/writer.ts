/**
 * One writer per store: writes wait in line, first come first served, and those that wait together share one commit.
 * A commit to disk costs as much as the statements of a checkout; sharing it is where write throughput comes from. Each write
 * runs inside its own savepoint, so that they share the commit without sharing their fate. Processes write by turns, a group each.
 */
import { LentConnection, ServerConnection, type Connection } from './connection.ts'
import { database, type Db } from './driver.ts'
import { Abandoned, Busy, Hung, isLocked } from './errors.ts'
import { SlicedConnection, turn } from './sliced.ts'
import { noTurns, type Turns } from './turns.ts'
import { WatchedGroup, type SlowWrite } from './watchdog.ts'
import type { Client } from '@libsql/client'

/** More waiting writes than this are refused with `Busy`. */
const QUEUE_MAX = 2_000
/** A commit waits for at most this many writes, and for no write that starts later than this after its begin. */
const GROUP_MAX = 64
const GROUP_MS = 25
/** Statements of a file are synchronous: after this long, the group lets the event loop answer those who read. */
const SLICE_MS = 1
/** A write waits for its turn no longer than this: for those before it, and for another process's lock. */
const WAIT_MAX_MS = 15_000
/** A process whose turn it is has this long to take it; then this one goes on. */
const YIELD_MS = 3
/** How long a server may take to undo what it was asked for. */
const UNDO_MS = 5_000
/** How often those that wait are looked through for whom it is too late. */
const LOOK_MS = 100

/** An open transaction: where its statements run, and how it ends. */
interface Transaction {
  connection: LentConnection
  /** Takes its connection away from a write that was ended, for those that follow. */
  renew(): void
  commit(): void | Promise<void>
  rollback(): void | Promise<void>
}
export type Begin = () => Transaction | Promise<Transaction>

/** Transactions of a file: one connection that only the writer uses. `beforeCommit` lets go of what would be read. */
export function fileTransactions(open: () => Connection, beforeCommit: () => void): Begin {
  let connection: SlicedConnection | undefined
  return () => {
    connection ??= new SlicedConnection(open())
    const { own } = connection
    own.run('BEGIN IMMEDIATE', [])
    connection.begin()
    const transaction: Transaction = {
      connection,
      renew() {
        transaction.connection.revoke()
        transaction.connection = connection = new SlicedConnection(own)
      },
      commit() {
        beforeCommit()
        own.run('COMMIT', [])
      },
      rollback: () => void own.run('ROLLBACK', []),
    }
    return transaction
  }
}

/** Transactions of a libSQL server. */
export function serverTransactions(client: Client): Begin {
  return async () => {
    const remote = await client.transaction('write')
    const own = new ServerConnection(remote)
    const transaction: Transaction = {
      connection: new LentConnection(own),
      renew() {
        transaction.connection.revoke()
        transaction.connection = new LentConnection(own)
      },
      commit: () => remote.commit(),
      rollback: () => remote.rollback(),
    }
    return transaction
  }
}

/** Transactions in which something was announced. */
const announced = new WeakSet<Db>()

/** Says inside a transaction that it leaves something to be done: the `onNews` of its database is called once it is on disk. */
export const announce = (tx: Db) => void announced.add(tx)

/** Who asks for a write. */
export interface Asking {
  /** Tells that nobody waits for it any more. */
  isAbandoned?: () => boolean
  /** What it is, for whoever is told that it holds the store. */
  name?: string
}

interface Job extends Asking {
  run(tx: Db): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  /** When it has waited for long enough, by the monotonic clock. */
  deadline: number
}

/** Undoes one write of a group. Throws what it failed of when all of the group is undone already, as on a full disk. */
async function undo(connection: Connection, error: unknown) {
  try {
    await connection.run('ROLLBACK TO one', [])
    await connection.run('RELEASE one', [])
  } catch {
    throw error
  }
}

/** Waits for something that a server does, but not for good; throws `error` when it has not done it by then. */
async function within(ms: number, done: Promise<unknown>, error: unknown): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(error), ms)
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a write that waits need not run any more; it has been refused then. */
function isTooLate({ deadline, isAbandoned, reject }: Job): boolean {
  if (isAbandoned?.()) reject(new Abandoned())
  else if (performance.now() > deadline) reject(new Busy(1, 'the write has waited for too long'))
  else return false
  return true
}

export class Writer {
  #queue: Job[] = []
  readonly #begin: Begin
  #running = false
  /** Whether it was another process's turn after the last group. */
  #gaveWay = false
  #look: ReturnType<typeof setInterval> | undefined
  /** Called after a commit in which something was announced. */
  onNews: () => void = () => {}
  /** Called when a write holds the store for long, and when one was ended. */
  onSlow: (slow: SlowWrite) => void = () => {}
  /** The Drizzle database of the last connection: a file has one for ever, a server one for each transaction. */
  #last: { connection: Connection; db: Db } | undefined

  constructor(
    begin: Begin,
    readonly waitMaxMs = WAIT_MAX_MS,
    readonly turns: Turns = noTurns,
  ) {
    this.#begin = begin
  }

  get idle() {
    return !this.#running && this.#queue.length === 0
  }

  /**
   * Runs `fn` in a transaction and resolves once it is on disk. Throws `Busy` when too many wait, at once, and when it has waited for
   * too long; `Abandoned` when nobody waits for it any more as its turn comes. What throws so has not run. `Hung`: it was ended, and undone.
   */
  write<T>(fn: (tx: Db) => Promise<T>, asking?: Asking): Promise<T> {
    if (this.#queue.length >= QUEUE_MAX) return Promise.reject(new Busy(1, 'too many writes are waiting'))
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + this.waitMaxMs
      this.#queue.push({ run: fn, resolve: resolve as (value: unknown) => void, reject, deadline, ...asking })
      this.#look ??= setInterval(() => this.#lookThrough(), Math.min(LOOK_MS, this.waitMaxMs))
      if (this.#running) return
      this.#running = true
      // The requests that this turn of the event loop brings in join the same commit.
      setImmediate(() => void this.#drain())
    })
  }

  /** Refuses at once all those for whom it is too late, whatever the first of them waits for. */
  #lookThrough() {
    this.#queue = this.#queue.filter((job) => !isTooLate(job))
    if (this.#queue.length) return
    clearInterval(this.#look)
    this.#look = undefined
  }

  async #drain() {
    while (this.#queue.length) {
      try {
        const transaction = await this.#lock()
        if (transaction) await this.#group(transaction)
      } catch (error) {
        this.#queue.shift()?.reject(error)
      }
      if (this.#queue.length && !this.#gaveWay) await turn()
    }
    this.#running = false
    this.#gaveWay = false
  }

  /** Begins a transaction, without holding up the event loop while another process has the lock; null once nobody waits for it. */
  async #lock(): Promise<Transaction | null> {
    try {
      if (this.#gaveWay && this.turns.join()) await this.turns.wait(YIELD_MS)
      this.#gaveWay = false
      for (let tries = 0; ; tries++) {
        try {
          return await this.#begin()
        } catch (error) {
          if (!isLocked(error)) throw error
        }
        // Whoever let go of the lock just now did not know yet that this one waits. And nobody wakes it while who wrote takes the log in.
        if (this.turns.join() && tries === 0) continue
        await this.turns.wait(Math.min(1 + tries / 8, 8) * (0.5 + Math.random()))
        if (!this.#queue.length) return null
      }
    } finally {
      this.turns.leave()
    }
  }

  #database(connection: Connection): Db {
    if (this.#last?.connection !== connection) this.#last = { connection, db: database(connection) }
    return this.#last.db
  }

  /**
   * Runs one write of a group, in a savepoint of its own. What it came to is told after the commit: what refused it may be a write of this
   * very group.
   */
  async #one(job: Job, transaction: Transaction, watched: WatchedGroup): Promise<{ tell(): void; isNews: boolean }> {
    const { connection } = transaction
    const tx = this.#database(connection)
    await connection.run('SAVEPOINT one', [])
    announced.delete(tx)
    try {
      const value = await watched.run(() => job.run(tx), { code: job.run, name: job.name, connection })
      await connection.run('RELEASE one', [])
      return { tell: () => job.resolve(value), isNews: announced.has(tx) }
    } catch (error) {
      if (error instanceof Hung) transaction.renew()
      await within(UNDO_MS, undo(transaction.connection, error), error)
      return { tell: () => job.reject(error), isNews: false }
    }
  }

  async #group(transaction: Transaction) {
    const taken: Job[] = []
    const outcomes: { tell(): void; isNews: boolean }[] = []
    const started = performance.now()
    let sliceStarted = started
    const watched = new WatchedGroup((slow) => this.onSlow(slow))
    try {
      while (this.#queue.length && taken.length < GROUP_MAX && performance.now() - started < GROUP_MS) {
        const job = this.#queue.shift()!
        if (isTooLate(job)) continue
        taken.push(job)
        if (performance.now() - sliceStarted > SLICE_MS) {
          await turn()
          sliceStarted = performance.now()
        }
        outcomes.push(await this.#one(job, transaction, watched))
      }
      watched.close()
      await transaction.commit()
      this.#gaveWay = this.turns.pass()
    } catch (error) {
      watched.close()
      try {
        await within(UNDO_MS, Promise.resolve(transaction.rollback()), error)
      } catch {
        /* the database has rolled back already */
      }
      this.#gaveWay = this.turns.pass()
      // A libSQL server takes the lock with the first statement.
      const reason = isLocked(error) ? new Busy(1) : error
      for (const job of taken) job.reject(reason)
      return
    }
    for (const { tell } of outcomes) tell()
    if (outcomes.some(({ isNews }) => isNews)) this.onNews()
  }
}
