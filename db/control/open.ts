/** Opens the control database, making it on the first run. */
import { createDatabase, openDatabase, type Location } from '../open.ts'
import { Unusable } from '../unusable.ts'
import { Registry } from './registry.ts'

/** The name of the control database. */
export const CONTROL = 'control'

/** The registry of stores and keys at `location`, with the current schema; `close` lets go of it. Throws with one clear line. */
export async function openRegistry(location: Location): Promise<{ registry: Registry; close(): void }> {
  try {
    await createDatabase(location, CONTROL, 'control')
    const control = await openDatabase(location, CONTROL, 'control')
    return { registry: new Registry(control, location), close: () => control.close() }
  } catch (error) {
    const [what, way] = error instanceof Unusable ? [error.what, `, or ${error.way}`] : [(error as Error).message, '']
    throw new Error(`the control database can't be opened (${what}): check DATA_DIR and DATABASE_URL${way}`, { cause: error })
  }
}
