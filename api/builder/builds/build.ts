/** Building a storefront: the files of its project and the data of its store become a deployment. */
import { readFileSync } from 'node:fs'
import { chown, mkdir, readdir, statfs, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../../package.json'
import type { Session } from '../../../db/control/registry.ts'
import { MANIFEST } from '../../../db/deployment-files.ts'
import { troubleOf } from '../../../db/errors.ts'
import type { Handle } from '../../../db/open.ts'
import { cageStrength, cageUser } from '../../outside/cage/cage.ts'
import { removeTree } from '../../outside/cage/removal.ts'
import type { Storefronts } from '../../outside/storefronts.ts'
import { checkOut, copyWorkspace } from '../project/repository.ts'
import { assemble, type Deployment } from './assemble.ts'
import { BuildError } from './build-error.ts'
import { writeFonts } from './fonts.ts'
import { requireHeld } from './held.ts'
import type { BuildLog } from './log.ts'
import { LIMITS, MODULES, runAstro } from './run.ts'
import { writeSnapshot, type Snapshot } from './snapshot.ts'
import { Turns } from './turns.ts'

/** Entries of a catalog that one process makes the pages of: its memory grows with them. */
const ENTRIES_PER_RUN = 2_500
/** Files and bytes that an entry may need beside what every storefront may: its page and its Markdown. */
const [FILES_PER_ENTRY, BYTES_PER_ENTRY] = [4, 100 * 1024]

interface Building {
  storefronts: Storefronts
  session: Session
  store: Handle
  /** The deployment that it is to be. */
  id: string
  /** A commit of the project; null: the workspace as it stands. */
  commitSha: string
  isWorkspace: boolean
  /** Where it will be, without a slash at the end. */
  base: string
  /** The deployment whose unchanged pages can be taken over; null: none. */
  previousId: string | null
  log: BuildLog
  signal: AbortSignal
}

/** The manifest of a deployment whose files are in the data folder; null when they are not, or not whole. */
export const readDeployment = ({ deployments }: Storefronts, id: string): Deployment | null =>
  deployments.isHere(id) ? (JSON.parse(readFileSync(join(deployments.folderOf(id), MANIFEST), 'utf8')) as Deployment) : null

/** Builds a deployment. Throws a `BuildError` that says what is wrong with the project, or the reason of `signal`. */
export async function build(building: Building): Promise<Deployment> {
  const { storefronts, session, id, log, signal } = building
  const folder = join(storefronts.folders.builds, `${id}-${crypto.randomUUID().slice(0, 8)}`)
  const user = cageUser()
  const started = performance.now()
  await clearBefore(storefronts.folders.builds, id)
  try {
    await makeFolders(folder, user)
    await writeProject(building, join(folder, 'project'), user)
    await requireHeld(await cageStrength(), join(folder, 'project'), storefronts.place.buildsTrusted)
    log.say('reading the data of the store')
    const snapshot = await writeSnapshot(
      join(folder, 'data'),
      { storefronts, session, db: building.store.read, signal, turns: new Turns() },
      { base: building.base },
    )
    await writeFonts(join(folder, 'data/fonts'), building.store.read)
    const key = `${version} ${building.isWorkspace ? id : building.commitSha}`
    const before = await readBefore(building, key, join(folder, 'data/before.json'))
    const most = mostOf(snapshot)
    const outs = await runAll(building, { folder, snapshot, key, user })
    log.say('putting the deployment together')
    const { languages, currencies, changes } = snapshot
    const deployment = await assemble(storefronts.deployments.folderOf(id), {
      ...{ outs, before, ...most, builds: storefronts.folders.builds, user, timeoutMs: storefronts.place.buildTimeoutMs, signal },
      about: {
        ...{ id, storeId: session.store.id, commitSha: building.commitSha, changes, base: building.base, languages },
        ...{ currencies, key },
      },
    })
    log.say(`${Object.keys(deployment.pages).length} pages in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    return deployment
  } catch (error) {
    throw (await fullDisk(error, storefronts.folders.builds)) ?? error
  } finally {
    await removeBuild(folder, log)
  }
}

/** How long a build waits until its folder is gone: its verdict may need the room, and others their turn. */
const GONE_MAX_MS = 5_000

/** Has the folder of a build go; that it can't be is no failure of the build. */
async function removeBuild(folder: string, log: BuildLog) {
  try {
    const { gone } = await removeTree(folder)
    await Promise.race([gone, Bun.sleep(GONE_MAX_MS)])
  } catch (error) {
    log.say(`the folder of the build stays: ${(error as Error).message}`)
  }
}

/** What a build needs at least to say why it fails; one that ends with less has had no room. */
const ROOM_LEAST_BYTES = 16 * 1024 ** 2

/** The failure of a build that is that of a full disk, whatever its programs say of it; null for any other, and for one that was ended. */
async function fullDisk(error: unknown, folder: string): Promise<BuildError | null> {
  const isSaid = troubleOf(error)?.kind === 'full'
  if (!isSaid && !(error instanceof BuildError)) return null
  const room = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  )
  if (!isSaid && (room === null || room >= ROOM_LEAST_BYTES)) return null
  const left = room === null ? '' : `: ${Math.floor(room / 1024 ** 2)} MB were left`
  return new BuildError(`the server's disk is full${left}`, { cause: error })
}

/** Removes what a build of the same deployment has left that was cut off: its process is gone, or has lost its lease. */
async function clearBefore(builds: string, id: string) {
  for (const name of await readdir(builds).catch(() => [])) if (name.startsWith(`${id}-`)) await removeTree(join(builds, name))
}

/** The folders in which a build may write, which belong to whoever it runs as. */
async function makeFolders(folder: string, user: number | null) {
  const all = [folder, ...['tmp', 'project'].map((name) => join(folder, name))]
  for (const path of all) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user !== null) await chown(path, user, user)
  }
}

async function writeProject({ storefronts, session, commitSha, isWorkspace, log, signal }: Building, project: string, user: number | null) {
  const source = join(storefronts.folders.projects, session.store.id)
  log.say(isWorkspace ? 'copying the workspace' : `checking out ${commitSha}`)
  const place = { builds: storefronts.folders.builds, user, signal }
  await (isWorkspace ? copyWorkspace(source, project, place) : checkOut(source, commitSha, project, place))
  // Packages are those of Stoa, and these alone: what is installed in a project's own folder is not looked at.
  await mkdir(join(project, 'node_modules'), { recursive: true })
  if (user !== null) await chown(join(project, 'node_modules'), user, user)
  for (const name of await readdir(MODULES))
    if (!name.startsWith('.')) await symlink(join(MODULES, name), join(project, 'node_modules', name))
}

/** The deployment before, when pages of it can be taken over: it was made of the same code. */
async function readBefore({ storefronts, previousId }: Building, key: string, path: string) {
  const manifest = previousId ? readDeployment(storefronts, previousId) : null
  if (!manifest || manifest.key !== key || manifest.isBare) return null
  await writeFile(path, JSON.stringify(manifest.hashes))
  return { folder: storefronts.deployments.folderOf(previousId!), manifest }
}

/** The most files and bytes that a build may write. */
const mostOf = ({ entries }: Snapshot) => ({
  files: LIMITS.files + entries * FILES_PER_ENTRY,
  bytes: LIMITS.bytes + entries * BYTES_PER_ENTRY,
})

interface Prepared {
  folder: string
  snapshot: Snapshot
  key: string
  user: number | null
}

/** Runs Astro, once for each part of a large catalog, so that the memory of a build has a bound. Returns where the parts wrote. */
async function runAll(building: Building, { folder, snapshot, key, user }: Prepared) {
  const { storefronts, log, signal, base } = building
  const { entries, languages } = snapshot
  const parts = Math.max(1, Math.ceil(entries / ENTRIES_PER_RUN))
  const until = performance.now() + storefronts.place.buildTimeoutMs
  const outs: { folder: string; hashes: string }[] = []
  log.say(`${entries} entries in ${languages.length} languages${parts > 1 ? `, in ${parts} parts` : ''}`)
  for (let part = 0; part < parts; part++) {
    const out = join(folder, `out-${part}`)
    const after = join(folder, `after-${part}.json`)
    await runAstro({
      folder,
      out,
      env: { STOA_BASE: base, STOA_DATA: join(folder, 'data'), STOA_PART: `${part}/${parts}`, STOA_CODE: key, STOA_AFTER: after },
      user,
      log,
      signal,
      timeoutMs: Math.max(0, until - performance.now()),
      ...mostOf(snapshot),
    })
    outs.push({ folder: out, hashes: after })
  }
  return outs
}
