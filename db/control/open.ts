/** Opens the control database, making it on the first run. */
import { createDatabase, openDatabase, type Location } from '../open.ts'
import { Registry } from './registry.ts'

/** The name of the control database. */
export const CONTROL = 'control'

/** The registry of stores and keys at `location`, with the current schema; `close` lets go of it. */
export async function openRegistry(location: Location): Promise<{ registry: Registry, close(): void }> {
  await createDatabase(location, CONTROL, 'control')
  const control = await openDatabase(location, CONTROL, 'control')
  return { registry: new Registry(control, location), close: () => control.close() }
}
