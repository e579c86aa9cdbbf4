/** Writes of many statements, run so that those who read get their turns in between. */
import { sql, type SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LentConnection, type RunResult } from './connection.ts'
import type { Db } from './driver.ts'

/** Statements of one write hold the event loop for about this long at a time; a checkout is over before. */
const SLICE_MS = 5

/** One turn of the event loop: whatever has arrived is answered, and what it writes joins the queue. */
export const turn = () => new Promise<void>((next) => setImmediate(next))

/** Rows that one statement deletes. */
const DELETED_AT_ONCE = 500

/**
 * Deletes rows, a few with each statement, so that others get their turns: before the row goes to which they belong, whose cascade would
 * delete all of them in one.
 */
export async function deleteInTurns(tx: Db, table: SQLiteTable, where: SQL) {
  const some = sql`delete from ${table} where rowid in (select rowid from ${table} where ${where} limit ${DELETED_AT_ONCE})`
  while ((await tx.run(some)).changes === DELETED_AT_ONCE);
}

/**
 * A file's connection as writes have it. A statement runs when it is asked for, so that none overtakes another; after a slice it is the
 * answer that waits for a turn of the event loop.
 */
export class SlicedConnection extends LentConnection {
  #turned = performance.now()

  /** The event loop has just had a turn. */
  begin() {
    this.#turned = performance.now()
  }

  #told<T>(answer: T): T | Promise<T> {
    if (performance.now() - this.#turned <= SLICE_MS) return answer
    return turn().then(() => {
      this.begin()
      return answer
    })
  }

  override rows(text: string, params: unknown[]) {
    return this.#told(this.lent.rows(text, params) as unknown[][])
  }

  override row(text: string, params: unknown[]) {
    return this.#told(this.lent.row(text, params) as unknown[] | undefined)
  }

  override run(text: string, params: unknown[]) {
    return this.#told(this.lent.run(text, params) as RunResult)
  }
}
