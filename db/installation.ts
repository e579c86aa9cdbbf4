/**
 * The folder that a backup of a whole installation is: a manifest, and beside it one generation of files, which are the registry, a
 * backup of each store with its media, and the key of its secrets. The manifest names the generation: renaming it is what makes a backup.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of, toDisk } from './archive.ts'
import { ownerIsGone, ownerOf } from './leftovers.ts'

const MANIFEST = 'installation.json'
const LOCK = '.lock'
const FORMAT = 1
const GENERATION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface FileSum {
  bytes: number
  sha256: string
}
export interface StoreBackup extends FileSum {
  id: string
  slug: string
  createdAt: string
}

/** The description of an installation's backup, which stands in it. */
export interface Installation {
  format: typeof FORMAT
  createdAt: string
  /** The folder, beside the manifest, in which its files are. */
  generation: string
  control: FileSum
  /** Secret: it opens the credentials of third parties. Null: the installation had no `secret.key`. */
  secretKey: FileSum | null
  stores: StoreBackup[]
}

/** Where the files of a generation are. */
export const controlIn = (generation: string) => join(generation, 'control.db')
export const secretIn = (generation: string) => join(generation, 'secret.key')
export const storeIn = (generation: string, storeId: string) => join(generation, `store-${storeId}.tar`)

export const sumOf = async (path: string): Promise<FileSum> => ({ bytes: statSync(path).size, sha256: await sha256Of(path) })

/** The manifest of a folder; null when it has none. Throws when it can't be read, or is of a newer release. */
export function manifestOf(folder: string): Installation | null {
  const path = join(folder, MANIFEST)
  if (!existsSync(path)) return null
  let manifest: Partial<Installation> | null = null
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    /* told below */
  }
  if (manifest?.format !== undefined && manifest.format !== FORMAT) throw new Error(`${path} was written by a newer release`)
  if (!GENERATION.test(manifest?.generation ?? '') || !manifest?.control || !Array.isArray(manifest.stores))
    throw new Error(`${path} is damaged`)
  return manifest as Installation
}

/** Makes the folder for this user's eyes alone, or sees that it is a backup's. */
export function requireFolder(folder: string) {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
  else if (!statSync(folder).isDirectory()) throw new Error(`${folder} is a file: name a folder`)
  else if (!manifestOf(folder) && readdirSync(folder).some((name) => !name.startsWith('.') && !GENERATION.test(name)))
    throw new Error(`${folder} has other files in it: name a folder that is empty, not there, or a backup of an installation`)
}

/** Runs `work` while no other backup is written to the folder. */
export async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, LOCK)
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(lock, ownerOf(), { flag: 'wx' })
      break
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      if (tries > 0 || !ownerIsGone(readFileSync(lock, 'utf8')))
        throw new Error(`another backup is being written to ${folder}: wait for it, or remove ${lock}`)
      rmSync(lock, { force: true })
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Makes the files in `made` the folder's backup, on disk, and removes those of the one before. */
export function publish(folder: string, made: string, manifest: Omit<Installation, 'format' | 'generation'>): Installation {
  const whole: Installation = { format: FORMAT, generation: crypto.randomUUID(), ...manifest }
  for (const name of readdirSync(made)) toDisk(join(made, name))
  toDisk(made)
  renameSync(made, join(folder, whole.generation))
  toDisk(folder)
  const own = join(folder, `.${MANIFEST}`)
  writeFileSync(own, `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(own, join(folder, MANIFEST))
  toDisk(folder)
  for (const name of readdirSync(folder))
    if (GENERATION.test(name) && name !== whole.generation) rmSync(join(folder, name), { recursive: true, force: true })
  return whole
}

/** Lays a store's backup of the generation before beside the new ones. */
export function keep(folder: string, before: Installation, storeId: string, made: string): StoreBackup | null {
  const kept = before.stores.find(({ id }) => id === storeId)
  if (!kept) return null
  linkSync(storeIn(join(folder, before.generation), storeId), storeIn(made, storeId))
  return kept
}
