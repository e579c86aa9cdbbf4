/** Brings every database to the current schema: the control database, and both databases of each store. */
import LibsqlFile from 'libsql'
import { CONTROL } from './control/open.ts'
import type { Registry } from './control/registry.ts'
import { serverClient, ServerConnection } from './connection.ts'
import { migrations, versionOf, type Kind } from './migrate.ts'
import { databaseName, fileOf, openDatabase, openStore, untilUnlocked, type Environment, type Location } from './open.ts'
import { explained, requireFile, requireSchema, requireSettings } from './unusable.ts'

/** How many databases were brought up to date, were so already, and could not be; each of those with its reason. */
interface Migrated {
  migrated: number
  current: number
  failed: number
  failures: Failure[]
}

/** A libSQL server is asked about this many databases at once; files are read one after the other, which is as fast. */
const AT_ONCE_SERVER = 8
/** libSQL frees the descriptors of a closed file when it is collected, in a turn of the event loop: every so many files. */
const COLLECT_EVERY = 32

/** How many databases have an older schema, have the current one, and can't be used; each of those with its reason. */
interface Surveyed {
  behind: number
  current: number
  failed: number
  failures: Failure[]
}
export interface Failure {
  database: string
  error: string
}

/** A database that the registry knows: the control database, or one of a store's. */
interface Known {
  name: string
  kind: Kind
  owner: { storeId: string; environment: Environment } | null
}

/**
 * Migrates all that the registry knows. A database that fails stops no other one. Safe to run again, to break off, and beside
 * servers: a migration is one transaction, and what has it already is passed over.
 */
export async function migrateAll(registry: Registry): Promise<Migrated> {
  let migrated = 0
  const { behind, ...rest } = await survey(registry, async (location, { name, kind, owner }) => {
    const { storeId, environment } = owner ?? {}
    ;(await (storeId ? openStore(location, storeId, environment!) : openDatabase(location, name, kind))).close()
    migrated++
  })
  return { migrated, ...rest }
}

/** Looks at all databases that the registry knows and hands those with an older schema to `each`. */
export async function survey(registry: Registry, each?: (location: Location, known: Known) => Promise<void>): Promise<Surveyed> {
  const { location } = registry
  const result: Surveyed = { behind: 0, current: 0, failed: 0, failures: [] }
  // The control database was brought up to date when the registry was opened: it is listed, so that the counts are complete.
  const waiting: Known[] = [{ name: CONTROL, kind: 'control', owner: null }]
  for (const { id: storeId } of await registry.listStores())
    for (const environment of ['live', 'sandbox'] as const)
      waiting.push({ name: databaseName(storeId, environment), kind: 'store', owner: { storeId, environment } })
  let next = 0
  const work = async () => {
    while (next < waiting.length) {
      const known = waiting[next++]!
      try {
        const isCurrent = (await versionAt(location, known)) === migrations(known.kind).length
        if (!isCurrent) await each?.(location, known)
        result[isCurrent ? 'current' : 'behind']++
      } catch (error) {
        result.failed++
        result.failures.push({ database: known.name, error: error instanceof Error ? error.message : String(error) })
      }
      if (next % COLLECT_EVERY === 0) await collect()
    }
  }
  await Promise.all(Array.from({ length: location.url.startsWith('file:') ? 1 : AT_ONCE_SERVER }, work))
  return result
}

/** Lets go of the descriptors of databases that are closed. */
async function collect() {
  Bun.gc(true)
  await Bun.sleep(0)
}

/** The schema version of a database. Throws when it can't be used, or is locked for too long. */
async function versionAt(location: Location, { name, owner }: Known): Promise<number> {
  const path = fileOf(location, name)
  if (!path) return serverVersion(location, name)
  requireFile(path, name, owner !== null)
  try {
    return await untilUnlocked(() => fileVersion(path, name, owner?.storeId ?? null))
  } catch (error) {
    throw explained(error, name)
  }
}

/** The version of a file. Opening it for reading alone takes 0.3 ms, for writing (and putting its log away again) 1.2 ms. */
async function fileVersion(path: string, name: string, storeId: string | null): Promise<number> {
  const file = new LibsqlFile(path, { readonly: true })
  try {
    const { user_version: version } = file.prepare('PRAGMA user_version').get() as { user_version: number }
    if (storeId) {
      requireSchema(version, migrations('store').length, name)
      await requireSettings({ row: (text) => file.prepare(text).raw(true).get() as unknown[] | undefined }, storeId, name)
    }
    return version
  } finally {
    file.close()
  }
}

async function serverVersion(location: Location, name: string): Promise<number> {
  const connection = new ServerConnection(await serverClient(location, name))
  try {
    return await versionOf(connection)
  } finally {
    connection.close()
  }
}
