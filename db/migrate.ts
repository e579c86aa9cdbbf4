/** Brings a database to the current schema. The version is SQLite's `user_version`: how many migrations have been applied. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Connection } from './connection.ts'
import { isLocked } from './errors.ts'

/** The two kinds of database, each with its own list of migrations. */
export type Kind = 'control' | 'store'

const loaded = new Map<Kind, string[][]>()

/** The migrations of a kind, oldest first, each as its statements. */
export function migrations(kind: Kind): string[][] {
  const known = loaded.get(kind)
  if (known) return known
  const folder = new URL(`./migrations/${kind}/`, import.meta.url)
  const list = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) =>
      readFileSync(new URL(file, folder), 'utf8')
        .split('--> statement-breakpoint')
        .map((part) => part.trim())
        .filter(Boolean),
    )
  loaded.set(kind, list)
  return list
}

/** The version that a database has. */
export async function versionOf(connection: Connection): Promise<number> {
  return Number((await connection.rows('PRAGMA user_version', []))[0]![0])
}

/**
 * Applies what is missing, each migration in a transaction of its own, an empty database's all in one, and tells how many that were.
 * Two processes may do so at once: the second waits for the lock and finds nothing left. Throws when the database is newer than this
 * program.
 */
export async function migrate(
  connection: Connection,
  kind: Kind,
  begin: () => Promise<{ connection: Connection; commit(): unknown; rollback(): unknown }>,
): Promise<number> {
  const list = migrations(kind)
  let applied = 0
  for (let version = await versionOf(connection); version < list.length; version = await versionOf(connection)) {
    const transaction = await begin()
    try {
      if ((await versionOf(transaction.connection)) === version) {
        const next = version === 0 ? list.length : version + 1
        // As one text: a server is asked once, not for each of some hundred statements.
        const statements = list
          .slice(version, next)
          .flat()
          .map((statement) => statement.replace(/;\s*$/, ''))
        await transaction.connection.exec([...statements, `PRAGMA user_version = ${next}`, ''].join(';\n'))
        applied += next - version
      }
      await transaction.commit()
    } catch (error) {
      await transaction.rollback()
      if (!isLocked(error)) throw error
    }
  }
  if ((await versionOf(connection)) > list.length)
    throw new Error(
      `the database has schema version ${await versionOf(connection)}, this program knows ${list.length}: it was written by a newer release`,
    )
  return applied
}
