/** A publish: its row, how it goes on, and what may stand in its way (document 2, Publish; document 7, Publishing). */
import { and, desc, eq, isNotNull, ne } from 'drizzle-orm'
import { join } from 'node:path'
import type { Session } from '../../../db/control/registry.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { feedbackSessions, publishes } from '../../../db/store/builder.ts'
import { enqueue, enqueueBy } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import { emit } from '../../store/outbox.ts'
import type { Moment } from '../../values/clock.ts'
import { conflict, Refusal } from '../../values/refusal.ts'
import { later } from '../../values/time.ts'
import { headOf, hasProject, ProjectError, saveWorkspace } from '../project.ts'
import { newDeploymentId, projectOf } from '../projects.ts'

export type PublishRow = typeof publishes.$inferSelect
type Running = 'queued' | 'building' | 'verifying'
type Ended = Exclude<PublishRow['status'], Running>

/** The kinds of jobs: a publish, by its id; and making a project that is not there. */
export const PUBLISH = 'builder.publish'
export const PROJECT = 'builder.project'
/** A publish whose request did not come to its end is taken up after this long. */
const TAKEN_UP_MS = 30_000

/** Refuses, with 400, what belongs to stores that a site builder made: their sandboxes have no storefront either. */
export function requireBuilder({ store, environment }: Pick<Session, 'store' | 'environment'>) {
  if (!store.aiBuilt)
    throw new Refusal(
      400,
      'this store has no platform-managed deployment: it is not AI-built (npm run -s stoa -- store update ID --ai-built)',
    )
  if (environment !== 'live') throw new Refusal(400, 'a sandbox has no platform-managed deployment: use a live key')
}

/** The folder of a store's project. */
export const projectFolder = ({ storefronts }: Pick<Services, 'storefronts'>, storeId: string) =>
  join(storefronts.folders.projects, storeId)

/** Refuses while the workspace is locked: by a review, whose preview was made of it. */
async function requireUnlocked(db: Reader) {
  if (await db.$count(feedbackSessions, isNotNull(feedbackSessions.active)))
    throw conflict('a feedback session has locked the workspace: finalize or cancel it, then publish')
}

interface Publishing {
  store: { write<T>(fn: (tx: Db) => Promise<T>): Promise<T> }
  services: Services
  storeId: string
  moment: Moment
}

/** The sentence for a workspace that is being made: in the background, by a job. */
async function makeWorkspace({ store, moment }: Publishing): Promise<never> {
  await store.write((tx) => enqueueBy(tx, moment, { kind: PROJECT, subject: 'project', dueAt: moment.now }))
  throw new Refusal(409, 'the design workspace is being made: try again in a moment', {}, { 'retry-after': '5' })
}

/**
 * Begins a publish: claims the store's turn, saves what is unsaved in the workspace to `main`, and enqueues the build. 409 when a publish
 * is running already, or the workspace is not up.
 */
export async function beginPublish(publishing: Publishing): Promise<PublishRow> {
  const { store, services, storeId, moment } = publishing
  const folder = projectFolder(services, storeId)
  if (!hasProject(folder) || !(await projectOf(services.registry, storeId))) return makeWorkspace(publishing)
  const { clock, now } = moment
  const row: PublishRow = {
    ...{ id: clock.id(), status: 'queued', running: 1, commitSha: await headOf(folder), savedChanges: false },
    ...{ deploymentId: newDeploymentId(), reason: null, createdAt: now, updatedAt: now },
  }
  await store.write(async (tx) => {
    if (await tx.$count(publishes, isNotNull(publishes.running))) throw conflict('a publish is already running: wait until it has ended')
    await requireUnlocked(tx)
    await tx.insert(publishes).values(row)
    // Of what came before, the last verdict alone can be read; it goes when this one has its own.
    await enqueue(tx, moment, { kind: PUBLISH, subject: row.id, dueAt: later(now, TAKEN_UP_MS) })
  })
  try {
    const { sha, saved } = await saveWorkspace(folder, 'Save the workspace before publishing')
    return await store.write(async (tx) => {
      await enqueue(tx, moment, { kind: PUBLISH, subject: row.id, dueAt: now })
      const [changed] = await tx.update(publishes).set({ commitSha: sha, savedChanges: saved }).where(eq(publishes.id, row.id)).returning()
      return changed!
    })
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error
    await store.write((tx) => endPublish(tx, moment, row.id, { status: 'failed', reason: error.message }))
    throw conflict(`the design workspace is not up: ${error.message}`)
  }
}

/** The publish that runs; null when none does. */
export const runningPublish = async (db: Reader): Promise<PublishRow | null> =>
  (await db.select().from(publishes).where(isNotNull(publishes.running)).limit(1))[0] ?? null

/** The publish of this id, when it can be read: the one that runs, and the last verdict. */
export async function findPublish(db: Reader, id: string): Promise<PublishRow | null> {
  const [row] = await db.select().from(publishes).where(eq(publishes.id, id))
  if (!row || row.running !== null) return row ?? null
  const newest = await db.select({ id: publishes.id, running: publishes.running }).from(publishes).orderBy(desc(publishes.id)).limit(2)
  return newest.find(({ running }) => running === null)?.id === id ? row : null
}

/** Moves a running publish on; false when it has ended meanwhile. */
export async function moveOn(tx: Db, id: string, status: Running, now: string): Promise<boolean> {
  const moved = await tx
    .update(publishes)
    .set({ status, updatedAt: now })
    .where(and(eq(publishes.id, id), isNotNull(publishes.running)))
    .returning({ id: publishes.id })
  return moved.length > 0
}

/** Ends a publish with its verdict, once, and forgets those before it. */
export async function endPublish(tx: Db, { clock, now }: Moment, id: string, { status, reason }: { status: Ended; reason: string | null }) {
  const [ended] = await tx
    .update(publishes)
    .set({ status, reason, running: null, updatedAt: now })
    .where(and(eq(publishes.id, id), isNotNull(publishes.running)))
    .returning()
  if (!ended) return
  await tx.delete(publishes).where(ne(publishes.id, id))
  const { deploymentId, commitSha } = ended
  if (status === 'failed') await emit(tx, clock, now, 'publish.failed', { publishId: id, reason })
  else await emit(tx, clock, now, 'publish.live', { publishId: id, deploymentId, commitSha, status })
}

/** What the state of a build is called in the look-up by deployment. */
export function readyStateOf({ status }: PublishRow): 'QUEUED' | 'BUILDING' | 'INITIALIZING' | 'READY' | 'ERROR' {
  if (status === 'queued') return 'QUEUED'
  if (status === 'building') return 'BUILDING'
  if (status === 'verifying') return 'INITIALIZING'
  return status === 'failed' ? 'ERROR' : 'READY'
}
