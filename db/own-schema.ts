/** Whether a file has the schema that Stoa gives its databases: what else stands in it would run as part of Stoa's own writes. */
import LibsqlFile from 'libsql'
import { FileConnection } from './connection.ts'
import { migrations, versionOf, type Kind } from './migrate.ts'
import { explained, requireFile, requireSchema, Unusable } from './unusable.ts'

const OBJECTS = "SELECT type || ' ' || name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
/** Objects whose text is compared, too. The text of a table depends on the release of SQLite that has altered it. */
const PROGRAMS = /^(trigger|view) /

/** The objects of a new database of this version, each with its text. */
function objectsOf(kind: Kind, version: number): Map<string, string> {
  const fresh = new LibsqlFile(':memory:')
  try {
    for (const statements of migrations(kind).slice(0, version)) for (const statement of statements) fresh.exec(statement)
    return new Map(fresh.prepare(OBJECTS).raw(true).all() as [string, string][])
  } finally {
    fresh.close()
  }
}

/** Refuses a file with tables, triggers, views or indexes that are not Stoa's, or without some that are. */
export async function requireOwnSchema(path: string, database: string, kind: Kind) {
  requireFile(path, database, true)
  let connection: FileConnection | undefined
  try {
    connection = new FileConnection(path)
    const version = await versionOf(connection)
    requireSchema(Math.max(version, 0), migrations(kind).length, database)
    const own = objectsOf(kind, version)
    const found = new Map(connection.rows(OBJECTS, []) as [string, string][])
    const strange = [...found].find(([name, text]) => !own.has(name) || (PROGRAMS.test(name) && own.get(name) !== text))?.[0]
    const lost = [...own.keys()].find((name) => !found.has(name))
    if (strange) throw new Unusable('foreign', database, `the database has the ${inWords(strange)}, which is not Stoa's: it was changed`)
    if (lost) throw new Unusable('foreign', database, `the database lacks the ${inWords(lost)}: it was changed`)
  } catch (error) {
    throw explained(error, database)
  } finally {
    connection?.close()
  }
}

/** A name comes from the file: it may be anything, and the message is one line. */
const inWords = (name: string) => JSON.stringify(name).slice(1, 100).replace(/"$/, '')
