/** Databases that a store has and nobody can use: what is wrong with one, and what to do about it. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import type { Connection } from './connection.ts'

export type Fault = 'missing' | 'empty' | 'foreign' | 'damaged' | 'newer' | 'forbidden'

/** A database that can't be used as it is. The message is one line: what is wrong, and the way out. */
export class Unusable extends Error {
  constructor(
    readonly fault: Fault,
    /** The database's name: see `databaseName`. */
    readonly database: string,
    readonly what: string,
    readonly way = wayOut(fault, database),
  ) {
    super(`${what}; ${way}`)
  }
}

function wayOut(fault: Fault, database: string): string {
  const storeId = /^store-(.*?)(-sandbox)?$/.exec(database)?.[1]
  const restore = storeId ? `npm run -s stoa -- store restore ${storeId} --from FILE` : 'npm run -s stoa -- restore --from FOLDER --yes'
  if (fault === 'forbidden') return 'give it to the user that Stoa runs as'
  if (fault === 'newer') return `start that release again, or restore a backup of this one: ${restore}`
  return `restore it: ${restore}`
}

/** Refuses a file that is not there, or that this user may not read and write; of a store, one without a byte. */
export function requireFile(path: string, database: string, isStore: boolean) {
  if (!existsSync(path)) throw new Unusable('missing', database, `the database ${database} is missing`)
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw new Unusable('forbidden', database, `${path} can't be read and written (${(error as { code?: string }).code})`)
  }
  // Opening it would write a header into it.
  if (isStore && statSync(path).size === 0) requireSchema(0, 0, database)
}

/** An error of the database driver as what it says of the file; any other error is given back. */
export function explained(error: unknown, database: string): unknown {
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string }
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') return new Unusable('damaged', database, message)
  if (code === 'SQLITE_READONLY' || code === 'SQLITE_CANTOPEN' || /Unable to open connection to local database/.test(message))
    return new Unusable('forbidden', database, 'the file, or the folder that it is in, may not be written')
  return error
}

/** Refuses a database whose schema is not there, or is that of a later release. */
export function requireSchema(version: number, known: number, database: string) {
  if (version === 0) throw new Unusable('empty', database, 'the database is empty: it has no schema')
  if (version > known)
    throw new Unusable(
      'newer',
      database,
      `the database has schema version ${version}, this program knows ${known}: it was written by a newer release`,
    )
}

/** Refuses a store's database that lacks its settings, or has those of another store. */
export async function requireSettings(connection: Pick<Connection, 'row'>, storeId: string, database: string) {
  const row = (await connection.row('SELECT store_id FROM settings', [])) as [string] | undefined
  if (!row) throw new Unusable('empty', database, 'the database is empty: it has no settings')
  if (row[0] !== storeId) throw new Unusable('foreign', database, `the database is that of the store ${row[0]}`)
}
