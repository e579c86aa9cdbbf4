/**
 * The job that publishes: builds the commit, looks at the deployment on its own host, and has the store's hosts serve it. It goes on where a
 * process that died has left it; until the switch, and whatever fails, the hosts serve what they served.
 */
import { desc, inArray } from 'drizzle-orm'
import { join } from 'node:path'
import type { Db } from '../../../db/driver.ts'
import { builds } from '../../../db/store/builder.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { build, readDeployment, type Built } from '../builds/build.ts'
import { BuildLog } from '../builds/log.ts'
import { BuildError, LIMITS } from '../builds/run.ts'
import { checkDomain } from '../domain/check.ts'
import { domainOf } from '../domain/claims.ts'
import { hasProject, makeProject, ProjectError } from '../project.ts'
import { addDeployment, addProject, pin, projectOf, storefrontSession } from '../projects.ts'
import { endPublish, findPublish, moveOn, projectFolder, type PublishRow } from './publish.ts'
import { inTurn } from './turn.ts'
import { verify } from './verify.ts'

/** A build that was cut off, or that failed for a reason of this machine, is tried again after so long. */
const RETRIES_MS = [2_000, 30_000]
/** As many builds are remembered as estimates are made of. */
const BUILDS_KEPT = 20

/** The log of a publish. */
export const logPath = ({ storefronts }: Pick<Services, 'storefronts'>, storeId: string) =>
  join(storefronts.folders.builds, 'logs', `${storeId}.log`)

/** Where a store's storefront is: on its custom domain once that was proven, else on its own host. */
export async function baseOf(
  { registry, storefronts }: Pick<Services, 'registry' | 'storefronts'>,
  store: { id: string; slug: string },
  now: string,
) {
  const domain = await domainOf(registry, store.id, now)
  return storefronts.urlOf(domain?.verifiedAt ? domain.domain : storefronts.hostOf(store.slug))
}

/** Notes how long a build took, for estimates, and forgets the oldest. */
export async function noteBuild(
  tx: Db,
  { clock, kind, ms, built }: { clock: Running['clock']; kind: 'publish' | 'refresh' | 'preview'; ms: number; built: Built },
) {
  await tx
    .insert(builds)
    .values({ id: clock.id(), kind, changes: built.changes, pages: built.pages, ms, createdAt: clock.now().toISOString() })
  const old = await tx.select({ id: builds.id }).from(builds).orderBy(desc(builds.id)).limit(BUILDS_KEPT).offset(BUILDS_KEPT)
  if (old.length)
    await tx.delete(builds).where(
      inArray(
        builds.id,
        old.map(({ id }) => id),
      ),
    )
}

/** Builds the deployment of a publish, unless its files are there already, and registers it. */
async function built(services: Services, job: Running, publish: PublishRow) {
  const { registry, storefronts } = services
  const session = await storefrontSession(registry, job.storeId)
  if (!session) throw new BuildError('the store has no project')
  const id = publish.deploymentId!
  const there = readDeployment(storefronts, id)
  const project = await projectOf(registry, job.storeId)
  if (there && there.commitSha === publish.commitSha) return there
  const started = performance.now()
  const log = new BuildLog(logPath(services, job.storeId), LIMITS.outputBytes, () => services.clock.now())
  const base = await baseOf(services, session.store, services.clock.now().toISOString())
  const made = await build({
    ...{ storefronts, session, store: job.store, id, commitSha: publish.commitSha, isWorkspace: false, base, log },
    previousId: project?.liveId ?? null,
    signal: job.signal,
  })
  await addDeployment(registry, {
    ...{ id, storeId: job.storeId, kind: 'production', commitSha: publish.commitSha, changes: made.changes },
    createdAt: services.clock.now().toISOString(),
  })
  await job.store.write((tx) =>
    noteBuild(tx, { clock: job.clock, kind: 'publish', ms: Math.round(performance.now() - started), built: made }),
  )
  return made.deployment
}

/** The verdict over a build that the store's hosts serve: live, or pending while a custom domain leads elsewhere. */
async function verdict(services: Services, storeId: string): Promise<{ status: 'live' | 'domain_pending'; reason: string | null }> {
  const domain = await domainOf(services.registry, storeId, services.clock.now().toISOString())
  if (!domain || (domain.verifiedAt && domain.status === 'Valid Configuration')) return { status: 'live', reason: null }
  const { status, reason } = await checkDomain(services, domain)
  if (status === 'Valid Configuration' && domain.verifiedAt) return { status: 'live', reason: null }
  return { status: 'domain_pending', reason: reason ?? `${domain.domain} is not verified yet: POST /domain/verify` }
}

async function publish(services: Services, job: Running): Promise<'interrupted' | void> {
  const { store, storeId, subject, signal, clock } = job
  const row = await findPublish(store.read, subject)
  if (!row || row.running === null) return
  const now = () => clock.now().toISOString()
  const step = (status: 'building' | 'verifying') =>
    store.write(async (tx) => {
      await job.held(tx)
      if (!(await moveOn(tx, subject, status, now()))) throw new Error('the publish has ended')
    })
  const end = (verdict: Parameters<typeof endPublish>[3]) =>
    store.write(async (tx) => {
      await job.held(tx)
      await endPublish(tx, { clock, now: now() }, subject, verdict)
    })
  try {
    await inTurn(signal, async () => {
      await step('building')
      const deployment = await built(services, job, row)
      await step('verifying')
      await verify(services.storefronts, deployment, row.commitSha)
    })
    signal.throwIfAborted()
    if (!(await pin(services.registry, { storeId, id: row.deploymentId!, now: clock.now() }))) return
    await end(await verdict(services, storeId))
  } catch (error) {
    if (signal.aborted) return 'interrupted'
    if (!(error instanceof BuildError || error instanceof ProjectError)) throw error
    await end({ status: 'failed', reason: error.message })
  }
}

export const publishStorefront = (services: Services): JobKind => ({
  run: (job) => publish(services, job),
  retriesMs: RETRIES_MS,
  async givenUp(tx, moment, subject, error) {
    await endPublish(tx, moment, subject, { status: 'failed', reason: `the build could not be done here: ${error}` })
  },
})

/** Makes the project of a store that should have one. */
export async function ensureProject(services: Pick<Services, 'storefronts' | 'registry' | 'clock'>, storeId: string) {
  const folder = projectFolder(services, storeId)
  if (!hasProject(folder)) await makeProject(folder)
  await addProject(services.registry, storeId, services.clock.now())
}

/** The job that makes a project which is not there, or was cut off while it was made. */
export const makeMissingProject = (services: Services): JobKind => ({
  run: ({ storeId }) => ensureProject(services, storeId),
  retriesMs: [5_000, 60_000],
})
