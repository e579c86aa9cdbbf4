/** A publish: its row, how it goes on, and what may stand in its way (document 2, Publish; document 7, Publishing). */
import { and, desc, eq, isNotNull, ne } from 'drizzle-orm'
import type { Session } from '../../../db/control/registry.ts'
import { newDeploymentId } from '../../../db/deployment-files.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { feedbackSessions, PUBLISH_STATUSES, publishes } from '../../../db/store/builder.ts'
import { jobs } from '../../../db/store/store.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import { Teller } from '../../store/outbox.ts'
import { takeBuild } from '../../store/room.ts'
import type { Moment } from '../../values/clock.ts'
import { conflict, Refusal } from '../../values/refusal.ts'
import { later } from '../../values/time.ts'
import { headOf } from '../project/project.ts'
import { ProjectError } from '../project/tree.ts'
import { saveWorkspace } from '../project/repository.ts'
import { projectFolder } from '../project/workspace.ts'

export type PublishRow = typeof publishes.$inferSelect
type Running = 'queued' | 'building' | 'verifying'
type Ended = Exclude<PublishRow['status'], Running>

export const READY_STATES = ['QUEUED', 'BUILDING', 'INITIALIZING', 'READY', 'ERROR', 'CANCELED'] as const
export const url = () => Nullable(Type.String({ examples: ['http://dpl_8f3k2m9x1c7v5b4n6q0w2e3r.localhost:3000'] }))
export const deploymentId = () => Nullable(Type.String({ examples: ['dpl_8f3k2m9x1c7v5b4n6q0w2e3r'] }))

/** A publish on the wire. */
export const Publish = Named('Publish', {
  publishId: Uuid(),
  status: OneOf(PUBLISH_STATUSES),
  readyState: Nullable(OneOf(READY_STATES), { description: '`READY` only means that the build has finished: `live` is what serves' }),
  deploymentId: deploymentId(),
  url: url(),
  commitSha: Nullable(Type.String()),
  reason: Nullable(Type.String(), { description: 'In plain language, with `domain_pending` and `failed`' }),
})
export const publishTold = new Teller('builder', ['publish.live', 'publish.failed'], Publish)

/** The kind of the jobs that publish; their subject is the publish's id. */
export const PUBLISH = 'builder.publish'
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
  /** As many builds as may be asked for in a day; none: for whom it counts not, such as the operator. */
  buildsPerDay?: number
}

/** Says what is wrong with a workspace that its owner can put right. */
function notUp(error: unknown): never {
  throw error instanceof ProjectError ? conflict(`the design workspace is not up: ${error.message}`) : error
}

/**
 * Begins a publish: claims the store's turn, saves what is unsaved in the workspace to `main`, and enqueues the build. 409 when a publish
 * is running already, or the workspace is not up.
 */
export async function beginPublish({ store, services, storeId, moment, buildsPerDay }: Publishing): Promise<PublishRow> {
  const folder = projectFolder(services, storeId)
  const { clock, now } = moment
  const row: PublishRow = {
    ...{ id: clock.id(), status: 'queued', running: 1, commitSha: await headOf(folder).catch(notUp), savedChanges: false },
    ...{ deploymentId: newDeploymentId(), reason: null, createdAt: now, updatedAt: now },
  }
  await store.write(async (tx) => {
    if (await tx.$count(publishes, isNotNull(publishes.running))) throw conflict('a publish is already running: wait until it has ended')
    await requireUnlocked(tx)
    if (buildsPerDay !== undefined) await takeBuild(tx, moment, buildsPerDay)
    // One that was given up is asked for again by this.
    await tx.delete(jobs).where(and(eq(jobs.kind, PUBLISH), isNotNull(jobs.failedAt)))
    await tx.insert(publishes).values(row)
    // Of what came before, the last verdict alone can be read; it goes when this one has its own.
    await enqueue(tx, moment, { kind: PUBLISH, subject: row.id, dueAt: later(now, TAKEN_UP_MS) })
  })
  try {
    const { sha, saved } = await saveWorkspace(folder, 'Save the workspace before publishing', {
      builds: services.storefronts.folders.builds,
    })
    return await store.write(async (tx) => {
      await enqueue(tx, moment, { kind: PUBLISH, subject: row.id, dueAt: now })
      const [changed] = await tx.update(publishes).set({ commitSha: sha, savedChanges: saved }).where(eq(publishes.id, row.id)).returning()
      return changed!
    })
  } catch (error) {
    if (error instanceof ProjectError)
      await store.write((tx) => endPublish(tx, moment, services, { id: row.id, status: 'failed', reason: error.message }))
    return notUp(error)
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

/** The address of a deployment's own host. */
export const urlOf = ({ storefronts }: Pick<Services, 'storefronts'>, id: string) => storefronts.urlOf(storefronts.hostOf(id))

/** A publish as the API shows it. */
export function publishView(services: Pick<Services, 'storefronts'>, row: PublishRow) {
  const { id, status, deploymentId: built, commitSha, reason } = row
  return {
    publishId: id,
    status,
    readyState: readyStateOf(row),
    deploymentId: built,
    url: built && urlOf(services, built),
    commitSha,
    reason,
  }
}

interface Verdict {
  status: Ended
  reason: string | null
}

/** Ends a publish with its verdict, once, and forgets those before it. */
export async function endPublish(
  tx: Db,
  moment: Moment,
  services: Pick<Services, 'storefronts'>,
  { id, status, reason }: Verdict & { id: string },
) {
  const [ended] = await tx
    .update(publishes)
    .set({ status, reason, running: null, updatedAt: moment.now })
    .where(and(eq(publishes.id, id), isNotNull(publishes.running)))
    .returning()
  if (!ended) return
  await tx.delete(publishes).where(ne(publishes.id, id))
  const isLive = status !== 'failed'
  const payload = isLive
    ? { publishId: id, deploymentId: ended.deploymentId, commitSha: ended.commitSha, status }
    : { publishId: id, reason }
  const show = () => publishView(services, ended)
  await publishTold.tell(tx, moment, isLive ? 'publish.live' : 'publish.failed', { about: id, payload, show })
}

/** What the state of a build is called in the look-up by deployment. */
export function readyStateOf({ status }: PublishRow): 'QUEUED' | 'BUILDING' | 'INITIALIZING' | 'READY' | 'ERROR' {
  if (status === 'queued') return 'QUEUED'
  if (status === 'building') return 'BUILDING'
  if (status === 'verifying') return 'INITIALIZING'
  return status === 'failed' ? 'ERROR' : 'READY'
}
