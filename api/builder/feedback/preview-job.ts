/**
 * The job that sees to the preview of a session: builds the workspace while it is being prepared, closes it when it has ended. It goes on
 * where a process that died has left it; a build that nobody waits for any more is ended and thrown away.
 */
import { eq } from 'drizzle-orm'
import { feedbackSessions } from '../../../db/store/builder.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import { readDeployment } from '../builds/build.ts'
import { BuildError } from '../builds/build-error.ts'
import { headOf } from '../project/project.ts'
import { ProjectError } from '../project/tree.ts'
import { closeDeployment, isElsewhere } from '../projects.ts'
import { makeVerified } from '../publishing/make.ts'
import { OWN_FAULT } from '../publishing/publish-job.ts'
import { ensureProject, projectFolder } from '../project/workspace.ts'
import { inTurn } from '../publishing/turn.ts'
import { etaOf, findSession, move, PREVIEW, stepOf, type SessionRow } from './session.ts'
import { isEnded } from './transitions.ts'

/** A build that was cut off, or that failed for a reason of this machine, is tried again after so long. */
const RETRIES_MS = [2_000, 30_000]
/** So often a build looks whether anybody still waits for it. */
const LOOK_MS = 500

/** Notes the step that a session's preview is at; throws when nobody waits for it any more. */
async function atStep(job: Running, done: number, eta: string | null) {
  const { store, subject, clock } = job
  await store.write(async (tx) => {
    await job.held(tx)
    if ((await findSession(tx, subject))?.status !== 'created') throw new BuildError('the session is not being prepared any more')
    const at = { progress: stepOf(done, eta), updatedAt: clock.now().toISOString() }
    await tx.update(feedbackSessions).set(at).where(eq(feedbackSessions.id, subject))
  })
}

/** Closes the preview of a session and, of one that nobody has seen, removes its files. */
async function close({ registry, storefronts, clock }: Services, storeId: string, { status, deploymentId }: SessionRow) {
  if (!deploymentId || (await isElsewhere(registry, { storeId, id: deploymentId }))) return
  await closeDeployment(registry, { storeId, id: deploymentId }, clock.now())
  if (status !== 'done') await storefronts.deployments.remove(storeId, deploymentId)
}

/** Closes what the session of a job has left, when it has ended. */
async function closeEnded(services: Services, { store, storeId, subject }: Running) {
  const row = await findSession(store.read, subject)
  if (row && isEnded(row.status)) await close(services, storeId, row)
}

/** Aborts a build when its session is not being prepared any more; returns how to stop looking. */
function watch({ store, subject }: Running, over: AbortController): () => void {
  const timer = setInterval(() => {
    void findSession(store.read, subject).then(
      (row) => row?.status === 'created' || over.abort(),
      () => {},
    )
  }, LOOK_MS)
  return () => clearInterval(timer)
}

async function prepare(services: Services, job: Running): Promise<'interrupted' | void> {
  const { store, storeId, subject, clock } = job
  const row = await findSession(store.read, subject)
  if (row?.status !== 'created') return closeEnded(services, job)
  const end = (name: 'open' | 'interrupt', more: Parameters<typeof move>[3]) =>
    store.write(async (tx) => {
      await job.held(tx)
      await move(tx, subject, name, more)
    })
  const now = () => clock.now().toISOString()
  const over = new AbortController()
  const stop = watch(job, over)
  const signal = AbortSignal.any([job.signal, over.signal])
  try {
    await inTurn(signal, async () => {
      const eta = await etaOf(store.read, now())
      await atStep(job, 1, eta)
      await ensureProject(services, storeId)
      const id = row.deploymentId!
      // What was built of the workspace by a process that died is the preview, whatever was committed since.
      const commitSha = readDeployment(services.storefronts, id)?.commitSha ?? (await headOf(projectFolder(services, storeId)))
      await makeVerified(services, job, { id, kind: 'preview', commitSha, previousId: null, signal, onMade: () => atStep(job, 2, eta) })
    })
    signal.throwIfAborted()
    await end('open', { now: now(), progress: stepOf(3, null) })
  } catch (error) {
    if (job.signal.aborted) return 'interrupted'
    if (!over.signal.aborted) {
      if (!(error instanceof BuildError || error instanceof ProjectError)) throw error
      await end('interrupt', { now: now(), errorMessage: error.message })
    }
  } finally {
    stop()
  }
  await closeEnded(services, job)
}

export const makePreview = (services: Services): JobKind => ({
  run: (job) => prepare(services, job),
  retriesMs: RETRIES_MS,
  mayEndProcess: true,
  concurrency: 1,
  async givenUp(tx, moment, subject, { told }) {
    const { now } = moment
    const ended = await move(tx, subject, 'interrupt', { now, errorMessage: `the preview could not be built here: ${told ?? OWN_FAULT}` })
    // What was built of it goes, too.
    if (ended) await enqueue(tx, moment, { kind: PREVIEW, subject, dueAt: now })
  },
})
