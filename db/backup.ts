/** Backup of a store while it is in use: one file with all of its data, its keys' hashes and its entry in the control database. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pack, PARTS, partFile, type Manifest } from './archive.ts'
import type { FilesPlace } from './bucket.ts'
import type { Registry } from './control/registry.ts'
import { FileConnection } from './connection.ts'
import { sweepFolder, temporaryFolder } from './leftovers.ts'
import { builderOf } from './control/builder.ts'
import { mediaFilesOf } from './media-files.ts'
import { migrations } from './migrate.ts'
import { collectProject } from './project-files.ts'
import { numbersAt } from './numbers-at.ts'
import { databaseName, fileOf, openStore, type Environment, type Location } from './open.ts'
import { explained, Unusable } from './unusable.ts'

/** Writes a store's backup to `file`; its files come from `place`. What was committed before this call is in it; writers are not held up. */
export async function backupStore(registry: Registry, storeId: string, file: string, place: FilesPlace): Promise<Manifest> {
  const store = await registry.store(storeId)
  if (!store) throw new Error(`there is no store ${storeId}`)
  const target = resolve(file)
  if (existsSync(target) && statSync(target).isDirectory()) throw new Error(`${target} is a folder: name the file to write`)
  sweepFolder(dirname(target))
  const folder = temporaryFolder(dirname(target))
  try {
    // Keys first: one that is made meanwhile may be missing, but none can be there whose store is older than it.
    const keys = await registry.listKeys(storeId)
    for (const part of PARTS) await snapshot(registry.location, storeId, part, partFile(folder, part))
    // After the rows: what is named there is here, unless it was removed meanwhile.
    await mediaFilesOf(place).collect(storeId, folder)
    collectProject(place.dataDir, storeId, folder)
    const builder = await builderOf(registry.control.read, storeId)
    const about = {
      createdAt: new Date().toISOString(),
      schemaVersion: migrations('store').length,
      store,
      keys,
      ...(builder && { builder }),
    }
    const manifest = await pack(folder, target, about)
    await registry.noteNumbers(storeId, numbersAt(registry.location, storeId))
    return manifest
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies a database as it is at one moment. Throws when it can't be used, or its copy is not whole. */
async function snapshot(location: Location, storeId: string, part: Environment, to: string): Promise<void> {
  const name = databaseName(storeId, part)
  const path = fileOf(location, name)
  if (!path)
    throw new Error(
      'backup of a store on a libSQL server is done there (its own snapshots, or `turso db export`): this command copies files',
    )
  // Brings it to the current schema, which the manifest names.
  const store = await openStore(location, storeId, part)
  store.close()
  const connection = new FileConnection(path)
  try {
    connection.run('VACUUM INTO ?', [to])
  } catch (error) {
    throw explained(error, name)
  } finally {
    connection.close()
  }
  const copy = new FileConnection(to)
  try {
    const damage = copy.row('PRAGMA quick_check(1)', [])![0]
    if (damage !== 'ok') throw new Unusable('damaged', name, `its copy is damaged (${damage})`)
  } finally {
    copy.close()
  }
}
