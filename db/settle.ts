/** Putting logs away: what is in a `-wal` file is taken into its database, so that the `.db` files are all that has to be copied. */
import { existsSync, statSync } from 'node:fs'
import { CONTROL, openRegistry } from './control/open.ts'
import { FileConnection } from './connection.ts'
import { databaseName, fileOf, type Location } from './open.ts'

/** Takes the log of every database of an installation that nobody has open any more into its file. What is locked is left as it is. */
export async function settle(location: Location): Promise<void> {
  const control = fileOf(location, CONTROL)
  if (control === null || !existsSync(control)) return
  const { registry, close } = await openRegistry(location, true)
  const ids = (await registry.listStores().finally(close)).map(({ id }) => id)
  for (const name of [CONTROL, ...ids.flatMap((id) => [databaseName(id, 'live'), databaseName(id, 'sandbox')])]) {
    const path = fileOf(location, name)!
    if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size || !statSync(path, { throwIfNoEntry: false })?.size) continue
    try {
      const connection = new FileConnection(path)
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      connection.close()
    } catch {
      /* a file that can't be used was told of at the start */
    }
  }
}
