/**
 * Restore of a store from its backup, also while servers run. What was given out since the backup stays given out: keys that were
 * revoked stay so, numbers go on, mails that have left leave no second time, and who has unsubscribed gets none.
 */
import { rmSync } from 'node:fs'
import { and, eq, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { partFile, PARTS, unpack, type Manifest } from './archive.ts'
import type { FilesPlace } from './bucket.ts'
import { deploymentsOf } from './control/builder.ts'
import { historyOf } from './control/history.ts'
import { PLANS } from '../api/values/plans.ts'
import type { Registry, StoreRow } from './control/registry.ts'
import { newDeploymentId } from './deployment-files.ts'
import type { Db } from './driver.ts'
import { temporaryFolder } from './leftovers.ts'
import { mediaFilesOf } from './media-files.ts'
import { adoptProject } from './project-files.ts'
import { migrations } from './migrate.ts'
import { databaseName, fileOf, openDatabase, openStore, type Environment, type Location } from './open.ts'
import { requireOwnSchema } from './own-schema.ts'
import { replaceAll, type Target } from './replace.ts'
import { feedbackSessions, publishes } from './store/builder.ts'
import { newsletters } from './store/newsletters.ts'
import { jobs } from './store/store.ts'
import { supportMessages } from './store/visitors.ts'
import { requireSettings, Unusable, type Fault } from './unusable.ts'

/** What the platform, not the merchant, decides of a store. No backup says it: whoever has the file could have changed it. */
export type Decided = Pick<StoreRow, 'plan' | 'aiBuilt'>
const LEAST: Decided = { plan: PLANS[0], aiBuilt: false }

interface Restoring {
  file: string
  place: FilesPlace
  /** What whoever restores it says of it. */
  decided?: Partial<Decided>
  /** It is a part of a whole installation's backup, whose registry says the same. */
  isWhole?: boolean
}

interface Restored {
  manifest: Manifest
  /** The store as it is now. */
  store: StoreRow
  /** Files that could not be used, under the names that they have now. */
  setAside: string[]
}

/**
 * Makes the store what it was when `file` was written. A store that the registry does not know comes back with its id, slug and
 * keys, and the least that a store may have; one that it knows keeps its keys and plan, one that was deleted gets its plan again. A
 * database that can't be used is set aside.
 */
export async function restoreStore(
  registry: Registry,
  storeId: string,
  { file, place, decided = {}, isWhole = false }: Restoring,
): Promise<Restored> {
  const { location } = registry
  if (!fileOf(location, storeId)) throw new Error('restore of a store on a libSQL server is done there: this command copies files')
  const folder = temporaryFolder(place.dataDir)
  try {
    const manifest = await unpack(file, folder)
    await requireFitting(registry, storeId, file, manifest)
    const own = await deploymentsOf(registry.control.read, storeId)
    for (const part of PARTS) await makeReady(folder, part, { storeId, own })
    const isKnown = (await registry.store(storeId)) !== undefined
    const history = await historyOf(registry.control.read, storeId)
    if (!isKnown) await registry.begin(storeId, 'making')
    const targets: Target[] = []
    for (const part of PARTS) {
      const fault = await faultOf(location, storeId, part)
      const path = fileOf(location, databaseName(storeId, part))!
      const least = history?.numbers[part] ?? {}
      targets.push({ path, from: `${folder}/${part}.db`, fault, least, isNew: !isKnown && fault === 'missing', isProof: isWhole })
    }
    await mediaFilesOf(place).adopt(folder, storeId)
    adoptProject(folder, place.dataDir, storeId)
    const setAside = await replaceAll(targets, new Date())
    const { plan, aiBuilt } = {
      ...LEAST,
      ...(history?.plan && { plan: history.plan }),
      ...(history?.aiBuilt && { aiBuilt: true }),
      ...decided,
    }
    if (isKnown) {
      await registry.updateStore(storeId, { name: manifest.store.name, ...decided })
      // Files that could not be used have others in their place, which who has them open has to find out.
      await registry.tellAll()
    } else await registry.adoptStore({ ...manifest.store, plan, aiBuilt }, manifest.keys, manifest.builder ?? null)
    return { manifest, store: (await registry.store(storeId))!, setAside }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Brings a part of a backup to the current schema, and sees that it is a part of this store. */
async function makeReady(folder: string, part: Environment, { storeId, own }: { storeId: string; own: readonly string[] }) {
  await requireOwnSchema(partFile(folder, part), part, 'store')
  const backup = await openDatabase({ url: `file:${folder}/{name}.db` }, part, 'store')
  try {
    await requireSettings(backup.connection, storeId, part)
    await backup.write(async (tx) => {
      await parkMail(tx, new Date().toISOString())
      await forgetDeployments(tx, own)
    })
    await backup.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    backup.close()
  }
}

/** Why a store's database can't be used; null when it can. Throws when this user may not touch it, or it is locked for too long. */
async function faultOf(location: Location, storeId: string, part: Environment): Promise<Fault | null> {
  try {
    const store = await openStore(location, storeId, part)
    try {
      return (await store.connection.row('PRAGMA quick_check(1)', []))![0] === 'ok' ? null : 'damaged'
    } finally {
      store.close()
    }
  } catch (error) {
    if (error instanceof Unusable && error.fault !== 'forbidden') return error.fault
    throw error
  }
}

/** Whether a restore would replace live data that can be used, and of which nothing is set aside. */
export async function wouldReplace(registry: Registry, storeId: string): Promise<boolean> {
  if (!fileOf(registry.location, storeId)) return false
  const isBeingMade = (await historyOf(registry.control.read, storeId))?.phase != null
  return !isBeingMade && (await faultOf(registry.location, storeId, 'live')) === null
}

/** The error message of a newsletter that was under way, or has had its time, when the store was restored. */
const PARKED = 'the store was restored from a backup: who has got it since then is not known; retry it to send it to the others'

/** Jobs that send mails: those that ask somebody to confirm, and those that tell of something at its time. */
const ASKED = ['subscriber.confirm', 'availability.ask']
const TOLD = ['order.mail', 'order.tickets', 'support.mail', 'availability.notify']

/** Newsletters that may have gone out since the backup wait for a person; nobody holds the jobs of the backup. */
async function parkMail(tx: Db, now: string) {
  const parked = await tx
    .update(newsletters)
    .set({ status: 'failed', failedAt: now, errorMessage: PARKED, updatedAt: now })
    .where(or(eq(newsletters.status, 'sending'), and(eq(newsletters.status, 'scheduled'), lte(newsletters.scheduledAt, now))))
    .returning({ id: newsletters.id })
  for (const { id } of parked) await tx.delete(jobs).where(eq(jobs.subject, id))
  // Who was to be asked to confirm has been, or can ask again; what was to be told by now has been.
  await tx.delete(jobs).where(inArray(jobs.kind, ASKED))
  const told = and(inArray(jobs.kind, TOLD), lte(jobs.dueAt, now))
  const left = await tx.delete(jobs).where(told).returning({ kind: jobs.kind, subject: jobs.subject })
  for (const { subject } of left.filter(({ kind }) => kind === 'support.mail'))
    await tx.update(supportMessages).set({ delivery: 'unknown' }).where(eq(supportMessages.id, subject))
  await tx.update(jobs).set({ leaseToken: null, leaseUntil: null })
}

/**
 * Forgets all deployments but those that the registry has of this store: what a backup names may be another's. What is still being made gets
 * a new one.
 */
async function forgetDeployments(tx: Db, own: readonly string[]) {
  const kept = sql`(select value from json_each(${JSON.stringify(own)}))`
  for (const { table, open } of [
    { table: publishes, open: publishes.running },
    { table: feedbackSessions, open: feedbackSessions.active },
  ] as const) {
    const isForeign = and(isNotNull(table.deploymentId), sql`${table.deploymentId} not in ${kept}`)
    await tx
      .update(table)
      .set({ deploymentId: null })
      .where(and(isForeign, isNull(open)))
    // A store makes one at a time.
    await tx
      .update(table)
      .set({ deploymentId: newDeploymentId() })
      .where(and(isForeign, isNotNull(open)))
  }
}

async function requireFitting(registry: Registry, storeId: string, file: string, { store, keys, schemaVersion }: Manifest) {
  if (store.id !== storeId)
    throw new Error(
      `${file} is a backup of the store ${store.id} (${store.slug}), not of ${storeId}: a store that is not there is named by its id`,
    )
  if (schemaVersion > migrations('store').length)
    throw new Error(
      `${file} has schema version ${schemaVersion}, this program knows ${migrations('store').length}: it was written by a newer release`,
    )
  const other = await registry.storeBySlug(store.slug)
  if (other && other.id !== storeId) throw new Error(`the slug ${store.slug} of the backup belongs to the store ${other.id} now`)
  const stranger = keys.find((key) => key.storeId !== storeId)
  if (stranger)
    throw new Error(`${file} carries a key of another store (${stranger.id} of ${stranger.storeId}): it is damaged, or was changed`)
  const taken = await registry.keyElsewhere(storeId, keys)
  if (taken) throw new Error(`the key ${taken.id} of the backup opens the store ${taken.storeId} now`)
}
