/**
 * Putting a backup in the place of a store's database. Rows of one that servers may have open are replaced in a transaction:
 * replacing the file would leave them writing into one that nobody reads any more. A file that can't be used is set aside, whole.
 */
import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { toDisk } from './archive.ts'
import { carriedOver, carryOver, keepProof, NOTHING, type Carried } from './carried.ts'
import { FileConnection } from './connection.ts'
import { Busy, isLocked } from './errors.ts'
import { ownName } from './leftovers.ts'
import type { Given } from './numbers.ts'
import type { Fault } from './unusable.ts'

/** How long to wait for a moment in which no server writes. */
const LOCK_WAIT_MS = 60_000

/** One of a store's databases. */
export interface Target {
  path: string
  /** The file of the backup, of the current schema and checked. */
  from: string
  /** Null: it can be used, and its rows are replaced; else the file is. */
  fault: Fault | null
  /** Numbers that were given, whatever the file says. */
  least: Given
  /** Whether nobody can have been given a number by this installation: there is no file because there was no store. */
  isNew: boolean
  /** Whether what it says of proven email domains is taken from it. */
  isProof: boolean
}

/** Replaces several databases; nothing is changed before all are ready. Tells which files were set aside. */
export async function replaceAll(targets: Target[], now: Date): Promise<string[]> {
  const open: FileConnection[] = []
  const [broken, usable] = [targets.filter(({ fault }) => fault), targets.filter(({ fault }) => !fault)]
  try {
    for (const target of broken) prepare(target, now)
    for (const target of usable) {
      const connection = new FileConnection(target.path)
      open.push(connection)
      // Rows of one table come before those that they refer to; the backup was whole, and so will this be.
      connection.exec('PRAGMA foreign_keys=OFF')
      connection.run('ATTACH ? AS backup', [target.from])
      await begin(connection)
      const before = carriedOver(connection)
      replaceRows(connection)
      carryOver(connection, before, target.least, now)
      if (!target.isProof) keepProof(connection, before.provenDomain)
    }
    const setAside = broken.flatMap(({ path }) => exchange(path, now))
    for (const connection of open) connection.exec('COMMIT')
    return setAside
  } finally {
    for (const connection of open) connection.close()
    for (const { path } of broken) for (const suffix of ['', '-wal', '-shm']) rmSync(ownName(path, 'new') + suffix, { force: true })
  }
}

/** Lays the backup beside a file that can't be used, with what can still be read of that. */
function prepare({ path, from, fault, least, isNew, isProof }: Target, now: Date) {
  const own = ownName(path, 'new')
  copyFileSync(from, own, constants.COPYFILE_FICLONE)
  const connection = new FileConnection(own)
  try {
    const before = fault === 'damaged' || fault === 'newer' ? rescued(path) : NOTHING
    carryOver(connection, isNew ? { ...before, numbers: {} } : before, least, now)
    if (!isProof) keepProof(connection, before.provenDomain)
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    connection.close()
  }
  toDisk(own)
}

/** The data that can be read of a damaged file, or of one of a newer release. */
function rescued(path: string): Carried {
  let connection: FileConnection | undefined
  try {
    connection = new FileConnection(path)
    return carriedOver(connection, true)
  } catch {
    return NOTHING
  } finally {
    connection?.close()
  }
}

/** Puts the prepared file in the place of the one that can't be used, which gets a name of its own. */
function exchange(path: string, now: Date): string[] {
  const aside = `${path}.unusable-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`
  const wasThere = existsSync(path)
  if (wasThere) {
    rmSync(aside, { force: true })
    linkSync(path, aside)
    // The log of the old file would be read as that of the new one.
    if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(ownName(path, 'new'), path)
  toDisk(dirname(path))
  return wasThere ? [aside] : []
}

async function begin(connection: FileConnection) {
  for (const deadline = performance.now() + LOCK_WAIT_MS; ;) {
    try {
      return connection.exec('BEGIN IMMEDIATE')
    } catch (error) {
      if (!isLocked(error)) throw error
      if (performance.now() > deadline) throw new Busy(1, 'the store is being written to without a pause: try again')
      await Bun.sleep(1)
    }
  }
}

/**
 * Replaces all rows by those of the attached backup. Triggers stand aside meanwhile (they would write what the backup has
 * already), and the full-text index is built anew from its content.
 */
function replaceRows(connection: FileConnection) {
  const names = (text: string) => connection.rows(text, []) as [string, string][]
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const triggers = names("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")
  for (const [name] of triggers) connection.exec(`DROP TRIGGER main.${quoted(name)}`)
  for (const [table] of names(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
  )) {
    const columns = names(`SELECT name, type FROM pragma_table_info('${table.replaceAll("'", "''")}')`)
      .map(([name]) => quoted(name))
      .join(', ')
    connection.exec(
      `DELETE FROM main.${quoted(table)}; INSERT INTO main.${quoted(table)} (${columns}) SELECT ${columns} FROM backup.${quoted(table)}`,
    )
  }
  for (const [table] of names("SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")) {
    connection.exec(`INSERT INTO main.${quoted(table)} (${quoted(table)}) VALUES ('rebuild')`)
  }
  for (const [, text] of triggers) connection.exec(text)
}
