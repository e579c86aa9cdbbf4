/**
 * Restore of a whole installation, also while servers run. Everything is checked before anything is changed; then a journal in the
 * data folder says how far it is, so that what a kill cuts off is done to its end by the next start, or command.
 */
import { copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { toDisk } from './archive.ts'
import { historyOf } from './control/history.ts'
import { CONTROL, openRegistry, type Opened } from './control/open.ts'
import type { Registry } from './control/registry.ts'
import { storeHistory, stores } from './control/tables.ts'
import { controlIn, manifestOf, secretIn, storeIn, sumOf, type FileSum, type Installation } from './installation.ts'
import type { Place } from './installation-backup.ts'
import { ownName, temporaryFolder } from './leftovers.ts'
import { fileOf, openDatabase, type Location } from './open.ts'
import { restoreStore, type Decided } from './restore.ts'
import { Unusable } from './unusable.ts'

const JOURNAL = 'restoring.json'

/** How far a restore is. */
interface Journal {
  from: string
  generation: string
  done: string[]
}

interface InstallationRestored {
  createdAt: string
  /** The ids of the stores that are as they were. */
  restored: string[]
  failed: { id: string; slug: string; error: string }[]
  /** The ids of stores that the backup does not know: they stay. */
  kept: string[]
  /** Files that were replaced, or could not be used, under the names that they have now. */
  setAside: string[]
  /** Whether the key of the secrets is another one than before: servers read it when they start. */
  hasNewSecret: boolean
}

/** Makes an installation what it was when the backup in `folder` was made, but for stores that were made since. */
export async function restoreInstallation(
  location: Location,
  place: Place,
  folder: string,
  tell: (text: string) => void = () => {},
): Promise<InstallationRestored> {
  if (!fileOf(location, CONTROL)) throw new Error('restore of an installation on a libSQL server is done there: this command copies files')
  const from = resolve(folder)
  const installation = manifestOf(from)
  if (!installation) throw new Error(`${from} is no backup of an installation: it has no installation.json`)
  await requireWhole(from, installation, tell)
  const { registry, close, setAside } = await openOrSetAside(location)
  try {
    await requireFreeSlugs(registry, installation)
    const journal = { from, generation: installation.generation, done: [] }
    return await apply(registry, place, { installation, journal, tell, setAside })
  } finally {
    close()
  }
}

/** Whether a restore was cut off, or runs now. */
export const isRestoring = (dataDir: string) => existsSync(join(dataDir, JOURNAL))

/** Ends a restore that was cut off, if one was; null when none was. Throws when its backup is not there any more. */
export async function resumeRestore(registry: Registry, place: Place): Promise<InstallationRestored | null> {
  const path = join(place.dataDir, JOURNAL)
  if (!existsSync(path)) return null
  const journal = JSON.parse(readFileSync(path, 'utf8')) as Journal
  const installation = manifestOf(journal.from)
  if (installation?.generation !== journal.generation)
    throw new Error(
      `a restore from ${journal.from} was cut off after ${journal.done.length} stores, and that backup is not there any more: restore another one (npm run -s stoa -- restore --from FOLDER --yes), or remove ${path} to keep what there is`,
    )
  return apply(registry, place, { installation, journal, tell: () => {}, setAside: [] })
}

async function requireWhole(from: string, { generation, control, secretKey, stores }: Installation, tell: (text: string) => void) {
  const files = join(from, generation)
  const all: [string, FileSum | null][] = [
    [controlIn(files), control],
    [secretIn(files), secretKey],
    ...stores.map((store): [string, FileSum] => [storeIn(files, store.id), store]),
  ]
  for (const [i, [path, sum]] of all.entries()) {
    tell(`files ${i + 1} of ${all.length}`)
    if (!sum) continue
    const is = existsSync(path) ? await sumOf(path) : null
    if (is?.bytes !== sum.bytes || is.sha256 !== sum.sha256) throw new Error(`${from} is damaged: ${path} is not what its manifest says`)
  }
}

/** Opens the registry. One that can't be used is set aside, and a new one takes the stores in. */
async function openOrSetAside(location: Location): Promise<Opened & { setAside: string[] }> {
  try {
    return { ...(await openRegistry(location, true)), setAside: [] }
  } catch (error) {
    const { cause } = error as { cause?: unknown }
    if (!(cause instanceof Unusable) || cause.fault === 'forbidden') throw error
    const path = fileOf(location, CONTROL)!
    const aside = `${path}.unusable-${stamp()}`
    for (const suffix of ['-wal', '']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    rmSync(`${path}-shm`, { force: true })
    return { ...(await openRegistry(location, true)), setAside: [aside] }
  }
}

const stamp = () => new Date().toISOString().replace(/[-:]|\.\d+/g, '')

async function requireFreeSlugs(registry: Registry, { stores }: Installation) {
  for (const { id, slug } of stores) {
    const other = await registry.storeBySlug(slug)
    if (other && other.id !== id)
      throw new Error(
        `the slug ${slug} of the backup belongs to the store ${other.id} now: remove that one first (store delete ${other.id} --yes)`,
      )
  }
}

interface Work {
  installation: Installation
  journal: Journal
  tell: (text: string) => void
  setAside: string[]
}

async function apply(registry: Registry, place: Place, { installation, journal, tell, setAside }: Work): Promise<InstallationRestored> {
  const files = join(journal.from, installation.generation)
  const failed: InstallationRestored['failed'] = []
  note(place.dataDir, journal)
  const decided = await rememberRegistry(registry, controlIn(files), place.dataDir)
  for (const [i, { id, slug }] of installation.stores.entries()) {
    tell(`stores ${i + 1} of ${installation.stores.length}`)
    if (journal.done.includes(id)) continue
    try {
      setAside.push(
        ...(await restoreStore(registry, id, { file: storeIn(files, id), place, decided: decided.get(id), isWhole: true })).setAside,
      )
    } catch (error) {
      failed.push({ id, slug, error: (error as Error).message })
    }
    journal.done.push(id)
    note(place.dataDir, journal)
  }
  const hasNewSecret = installation.secretKey !== null && takeSecret(secretIn(files), place.secretFile, setAside)
  rmSync(join(place.dataDir, JOURNAL), { force: true })
  const known = new Set(installation.stores.map(({ id }) => id))
  const lost = new Set(failed.map(({ id }) => id))
  return {
    createdAt: installation.createdAt,
    restored: [...known].filter((id) => !lost.has(id)),
    failed,
    kept: (await registry.listStores()).map(({ id }) => id).filter((id) => !known.has(id)),
    setAside,
    hasNewSecret,
  }
}

function note(dataDir: string, journal: Journal) {
  const path = join(dataDir, JOURNAL)
  writeFileSync(ownName(path, 'new'), JSON.stringify(journal), { flush: true })
  renameSync(ownName(path, 'new'), path)
  toDisk(dataDir)
}

/**
 * Takes in what the registry of the backup remembers of stores, also of those that are deleted; what was decided of those that this
 * registry does not know, which keeps what it has decided itself.
 */
async function rememberRegistry(registry: Registry, control: string, dataDir: string): Promise<Map<string, Decided>> {
  const folder = temporaryFolder(dataDir)
  try {
    copyFileSync(control, `${folder}/${CONTROL}.db`)
    const backup = await openDatabase({ url: `file:${folder}/{name}.db` }, CONTROL, 'control')
    const rows = await backup.read.select().from(storeHistory)
    const all = await backup.read.select().from(stores)
    backup.close()
    for (const { storeId, numbers } of rows) {
      const known = (await historyOf(registry.control.read, storeId))?.numbers
      if (JSON.stringify(known) !== JSON.stringify(numbers)) await registry.noteNumbers(storeId, numbers)
    }
    const here = new Set((await registry.listStores()).map(({ id }) => id))
    return new Map(all.filter(({ id }) => !here.has(id)).map(({ id, plan, aiBuilt }) => [id, { plan, aiBuilt }]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Puts the key of the backup in its place, for this user's eyes alone; whether it is another one. That one is set aside. */
function takeSecret(from: string, to: string, setAside: string[]): boolean {
  const text = readFileSync(from)
  if (existsSync(to)) {
    if (readFileSync(to).equals(text)) return false
    const aside = `${to}.replaced-${stamp()}`
    if (statSync(aside, { throwIfNoEntry: false })) rmSync(aside)
    linkSync(to, aside)
    setAside.push(aside)
  }
  const own = ownName(to, 'new')
  writeFileSync(own, text, { mode: 0o600, flush: true })
  renameSync(own, to)
  toDisk(dirname(to))
  return true
}
