/** Opens the control database, making it on the first run. */
import { statSync } from 'node:fs'
import { createDatabase, fileOf, openDatabase, type Location } from '../open.ts'
import { storesOnDisk, strangers } from '../remains.ts'
import { Unusable } from '../unusable.ts'
import { Registry } from './registry.ts'

/** The name of the control database. */
export const CONTROL = 'control'

export interface Opened {
  registry: Registry
  close(): void
}

/**
 * The registry of stores and keys at `location`, with the current schema; `close` lets go of it. Throws with one clear line, also when
 * it knows no store while there are files of some, unless this is to put that right (`isMending`).
 */
export async function openRegistry(location: Location, isMending = false): Promise<Opened> {
  const path = fileOf(location, CONTROL)
  const isNew = path !== null && !statSync(path, { throwIfNoEntry: false })?.size
  if (isNew && !isMending) requireNone(location, storesOnDisk(location))
  const { registry, close } = await open(location)
  try {
    if (!isMending && !(await registry.listStores()).length) requireNone(location, await strangers(registry))
    return { registry, close }
  } catch (error) {
    close()
    throw error
  }
}

/** A registry that is lost looks like one that is new: a new shop would open beside the files of the old ones. */
function requireNone(location: Location, storeIds: string[]) {
  const [first] = storeIds
  if (!first) return
  const path = fileOf(location, CONTROL)!
  throw new Error(
    `there are files of ${storeIds.length} stores (such as store-${first}.db), but ${path} knows none: put back a copy of it, restore all (npm run -s stoa -- restore --from FOLDER --yes) or one (store restore ID --from FILE), or remove what nobody needs (store delete ID --yes)`,
  )
}

async function open(location: Location): Promise<Opened> {
  try {
    await createDatabase(location, CONTROL, 'control')
    const control = await openDatabase(location, CONTROL, 'control')
    return { registry: new Registry(control, location), close: () => control.close() }
  } catch (error) {
    const [what, way] = error instanceof Unusable ? [error.what, `, or ${error.way}`] : [(error as Error).message, '']
    throw new Error(`the control database can't be opened (${what}): check DATA_DIR and DATABASE_URL${way}`, { cause: error })
  }
}
