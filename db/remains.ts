/** Files on the disk of a store beside its open databases: set aside, left by a removal that was cut off, or unknown to the registry. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BucketError, type FilesPlace } from './bucket.ts'
import { historyOf, unfinished } from './control/history.ts'
import type { Registry } from './control/registry.ts'
import { sweepFolder } from './leftovers.ts'
import { mediaFilesOf } from './media-files.ts'
import { removeDeployments } from './deployment-files.ts'
import { projectOn, removeProject } from './project-files.ts'
import { databaseName, fileOf, type Location } from './open.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** A store that was being made this long ago is not being made any more. */
const MAKING_MAX_MS = 3_600_000

/** The folder of the databases' files and a pattern of their names, the store's id its first group; null when they are not files. */
function filesOf(location: Location): { folder: string; pattern: RegExp } | null {
  const sample = fileOf(location, databaseName('{id}', 'live'))
  if (!sample || dirname(sample).includes('{id}')) return null
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const [before, after] = basename(sample).split('{id}') as [string, string]
  const pattern = new RegExp(`^${literal(before)}(${UUID})(?:-sandbox)?${literal(after)}(?:-wal|-shm|\\.(?:unusable|new|template)-.*)?$`)
  return { folder: dirname(sample), pattern }
}

/** The names of all files of stores, by the store's id. */
function filesByStore(location: Location): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const files = filesOf(location)
  if (!files) return found
  let names: string[] = []
  try {
    names = readdirSync(files.folder)
  } catch {
    /* where there is no folder there are no files; what may not be read is told of when it is opened */
  }
  for (const name of names) {
    const id = files.pattern.exec(name)?.[1]
    if (id) found.set(id, [...(found.get(id) ?? []), join(files.folder, name)])
  }
  return found
}

/** The ids of stores of which there are files, and of which the registry knows nothing. */
export async function strangers(registry: Registry): Promise<string[]> {
  const known = new Set((await registry.listStores()).map(({ id }) => id))
  for (const { storeId } of await unfinished(registry.control.read)) known.add(storeId)
  return [...filesByStore(registry.location).keys()].filter((id) => !known.has(id)).sort()
}

/** The ids of stores of which there are files, whoever knows them. */
export const storesOnDisk = (location: Location): string[] => [...filesByStore(location).keys()].sort()

/** Whether anything is left of a store that the registry does not know. */
export async function remainsOf(registry: Registry, storeId: string, place: FilesPlace): Promise<boolean> {
  if ((await historyOf(registry.control.read, storeId))?.phase) return true
  return (
    filesByStore(registry.location).has(storeId) || existsSync(projectOn(place.dataDir, storeId)) || mediaFilesOf(place).hasAny(storeId)
  )
}

/** Removes all files of a store for good. */
export async function removeRemains(location: Location, storeId: string, place: FilesPlace) {
  for (const path of filesByStore(location).get(storeId) ?? []) rmSync(path, { force: true })
  await mediaFilesOf(place).remove(storeId)
  // The source of its storefront, and the log of its last build; what was built of it is cleared away by the next round.
  await removeDeployments(place, storeId)
  removeProject(place.dataDir, storeId)
  rmSync(join(place.dataDir, 'builds', 'logs', `${storeId}.log`), { force: true })
}

/** Without its S3 store a server starts all the same: what is there of stores that are gone waits for the next start. */
function unlessAway(error: unknown) {
  if (!(error instanceof BucketError)) throw error
  console.error(error.message)
}

/** Ends what a crash cut off: removals, stores that were being made, files on their way. Returns how many stores it cleared away. */
export async function clearAway(registry: Registry, place: FilesPlace, now = new Date()): Promise<number> {
  const { dataDir } = place
  for (const folder of new Set([dataDir, filesOf(registry.location)?.folder ?? dataDir])) sweepFolder(folder)
  const old = new Date(now.getTime() - MAKING_MAX_MS).toISOString()
  const left = (await unfinished(registry.control.read)).filter(({ phase, since }) => phase === 'removing' || since! < old)
  let cleared = 0
  for (const { storeId } of left) {
    if (await registry.store(storeId)) continue
    await registry.deleteStore(storeId, undefined, () => removeRemains(registry.location, storeId, place)).then(() => cleared++, unlessAway)
  }
  return cleared
}
