/** What the database refuses, told apart: the same words for a file and for a libSQL server. */

/** No turn to write: the store's queue is full, or another process held the lock for too long. Worth trying again. */
export class Busy extends Error {
  constructor(
    readonly retryAfterSeconds: number,
    message = 'the store is busy',
  ) {
    super(message)
  }
}

/** The write was not run: whoever asked for it has gone meanwhile. */
export class Abandoned extends Error {
  constructor() {
    super('nobody waits for this write any more')
  }
}

/** A refused constraint; `columns` are `table.column` names of a unique one. */
export interface Constraint {
  kind: 'unique' | 'foreign_key' | 'check' | 'other'
  columns: string[]
}

/** Which constraint an error of the database names, or null when it is another error. */
export function constraintOf(error: unknown): Constraint | null {
  const message = error instanceof Error ? error.message : ''
  const unique = /UNIQUE constraint failed: ([\w., ]+)/.exec(message)
  if (unique) return { kind: 'unique', columns: unique[1]!.split(',').map((column) => column.trim()) }
  if (message.includes('FOREIGN KEY constraint failed')) return { kind: 'foreign_key', columns: [] }
  if (message.includes('CHECK constraint failed')) return { kind: 'check', columns: [] }
  return null
}

/** Whether another connection holds the lock: worth another try. */
export function isLocked(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  return /SQLITE_BUSY|TRANSACTION_ACTIVE/.test(code ?? '') || /database is locked|SQLITE_BUSY/.test(message ?? '')
}
