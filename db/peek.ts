/** Looking into databases from outside, as they are: nothing is opened for good, made or migrated. */
import type { Registry } from './control/registry.ts'
import { FileReader, serverClient, ServerConnection, type Connection } from './connection.ts'
import { database, type Reader } from './driver.ts'
import { migrations, versionOf, type Kind } from './migrate.ts'
import { databaseName, fileOf, type Environment, type Location } from './open.ts'
import { requireFile } from './unusable.ts'

/**
 * Looks into a database as it is, without bringing it to the current schema; `look` is not called, and null is returned, when it has
 * another one, is missing, or can't be read.
 */
async function peek<T>(location: Location, name: string, kind: Kind, look: (db: Reader) => Promise<T>): Promise<T | null> {
  const path = fileOf(location, name)
  let connection: Connection | undefined
  try {
    if (path) requireFile(path, name, kind === 'store')
    connection = path ? new FileReader(path) : new ServerConnection(await serverClient(location, name))
    return (await versionOf(connection)) === migrations(kind).length ? await look(database(connection)) : null
  } catch {
    return null
  } finally {
    connection?.close()
  }
}

interface Place {
  storeId: string
  environment: Environment
}

/**
 * The rows that `look` finds in the databases of all stores, or of those that are named, read one after the other; those that can't be read
 * have none.
 */
export async function peekStores<T>(
  registry: Registry,
  look: (db: Reader, place: Place) => Promise<T[]>,
  ids?: readonly string[],
): Promise<(T & Place)[]> {
  const found: (T & Place)[] = []
  for (const storeId of ids ?? (await registry.listStores()).map(({ id }) => id))
    for (const environment of ['live', 'sandbox'] as const) {
      const rows = await peek(registry.location, databaseName(storeId, environment), 'store', (db) => look(db, { storeId, environment }))
      found.push(...(rows ?? []).map((row) => ({ ...row, storeId, environment })))
    }
  return found
}
