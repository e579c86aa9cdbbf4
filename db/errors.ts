/** Errors of the database, told apart: the same words for a file and for a libSQL server. */

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

/** The write was ended, and undone: it had asked its database for nothing for so long that it held its store for good. */
export class Hung extends Error {
  constructor() {
    super('the write was ended: it did nothing any more, and nobody else could write')
  }
}

/** A refused constraint; `columns` are `table.column` names of a unique one. */
interface Constraint {
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

/** The trouble with the place where data are kept: no fault of a request, and nothing of it was changed. */
export interface Trouble {
  kind: 'full' | 'damaged' | 'failing'
  /** SQLite's or the system's name of it. */
  code: string
}

/** A file of shared memory that can't grow says so of a full disk, too: it is the first that needs room when a store is opened. */
const KINDS: [Trouble['kind'], RegExp][] = [
  ['full', /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)$/],
  ['damaged', /^(SQLITE_CORRUPT|SQLITE_NOTADB)/],
  ['failing', /^(SQLITE_IOERR|SQLITE_READONLY|SQLITE_CANTOPEN|EIO$|EROFS$|EFBIG$|EMFILE$|ENFILE$)/],
]
/** How an error may be wrapped in others. */
const CAUSES_MAX = 4

/** The trouble with the disk or the database file that an error tells of; null for any other error. */
export function troubleOf(error: unknown): Trouble | null {
  let cause = error as { code?: unknown; cause?: unknown } | null | undefined
  for (let depth = 0; cause && depth < CAUSES_MAX; depth++, cause = cause.cause as typeof cause) {
    const { code } = cause
    const known = typeof code === 'string' && KINDS.find(([, codes]) => codes.test(code))
    if (known) return { kind: known[0], code: code as string }
  }
  return null
}
