/** Backup of a whole installation while it is in use. */
import { chmodSync, copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { backupStore } from './backup.ts'
import type { FilesPlace } from './bucket.ts'
import { CONTROL } from './control/open.ts'
import type { Registry, StoreRow } from './control/registry.ts'
import { FileConnection } from './connection.ts'
import {
  alone,
  controlIn,
  keep,
  manifestOf,
  publish,
  requireFolder,
  secretIn,
  storeIn,
  sumOf,
  type Installation,
  type StoreBackup,
} from './installation.ts'
import { sweepFolder, temporaryFolder } from './leftovers.ts'
import { fileOf } from './open.ts'

/** A store that could not be backed up, and from when the backup is that is kept of it. */
interface NotBackedUp {
  id: string
  slug: string
  error: string
  kept: string | null
}

/** Where an installation's data is, and where its key is kept. */
export interface Place extends FilesPlace {
  secretFile: string
}

/**
 * Writes a backup of the registry, of all stores with their media, and of the key of their secrets into a folder, whose last backup
 * stays until the new one is whole. A store that can't be used keeps its last backup, and is told of.
 */
export async function backupInstallation(
  registry: Registry,
  folder: string,
  place: Place,
  tell: (text: string) => void = () => {},
): Promise<{ installation: Installation; failed: NotBackedUp[] }> {
  const control = fileOf(registry.location, CONTROL)
  if (!control) throw new Error('backup of an installation on a libSQL server is done there: this command copies files')
  const target = resolve(folder)
  requireFolder(target)
  return alone(target, async () => {
    sweepFolder(target)
    const before = manifestOf(target)
    const made = temporaryFolder(target)
    try {
      const createdAt = new Date().toISOString()
      copyDatabase(control, controlIn(made))
      const secretKey = copySecret(place.secretFile, secretIn(made))
      const backedUp: StoreBackup[] = []
      const failed: NotBackedUp[] = []
      const rows = await registry.listStores()
      for (const [i, row] of rows.entries()) {
        tell(`stores ${i + 1} of ${rows.length}`)
        const outcome = await backupOne(registry, row, made, place)
        if (outcome === null) continue
        if ('sha256' in outcome) backedUp.push(outcome)
        else {
          const kept = before && keep(target, before, row.id, made)
          if (kept) backedUp.push(kept)
          failed.push({ ...outcome, kept: kept?.createdAt ?? null })
        }
      }
      const sums = { control: await sumOf(controlIn(made)), secretKey: secretKey ? await sumOf(secretIn(made)) : null }
      return { installation: publish(target, made, { createdAt, ...sums, stores: backedUp }), failed }
    } finally {
      rmSync(made, { recursive: true, force: true })
    }
  })
}

/** Backs one store up; null when it was deleted meanwhile. */
async function backupOne(registry: Registry, { id, slug }: StoreRow, made: string, place: FilesPlace) {
  try {
    const { createdAt } = await backupStore(registry, id, storeIn(made, id), place)
    return { id, slug, createdAt, ...(await sumOf(storeIn(made, id))) }
  } catch (error) {
    if (!(await registry.store(id))) return null
    return { id, slug, error: (error as Error).message }
  }
}

function copyDatabase(path: string, to: string) {
  writeFileSync(to, '', { mode: 0o600 })
  const connection = new FileConnection(path)
  try {
    connection.run('VACUUM INTO ?', [to])
  } finally {
    connection.close()
  }
  const copy = new FileConnection(to)
  try {
    const damage = copy.row('PRAGMA quick_check(1)', [])![0]
    if (damage !== 'ok') throw new Error(`the control database is damaged (${damage}): its last backup stays`)
  } finally {
    copy.close()
    for (const suffix of ['-wal', '-shm']) rmSync(to + suffix, { force: true })
  }
}

/** Copies the key, for this user's eyes alone; whether there is one. */
function copySecret(from: string, to: string): boolean {
  if (!existsSync(from)) return false
  copyFileSync(from, to)
  chmodSync(to, 0o600)
  return true
}
