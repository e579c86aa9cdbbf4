/** Making a deployment, for whatever it is wanted: built once, registered, and noted for estimates. */
import { join } from 'node:path'
import { desc, inArray } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { builds } from '../../../db/store/builder.ts'
import type { Running } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import type { Deployment } from '../builds/assemble.ts'
import { build, readDeployment } from '../builds/build.ts'
import { BuildLog } from '../builds/log.ts'
import { BuildError } from '../builds/build-error.ts'
import { LIMITS } from '../builds/run.ts'
import { domainOf } from '../domain/claims.ts'
import { addDeployment, isElsewhere, removeDeployment, storefrontSession } from '../projects.ts'
import { verify } from './verify.ts'

/** As many builds are remembered as estimates are made of. */
const BUILDS_KEPT = 20

type Kind = typeof builds.$inferSelect.kind

interface Making {
  id: string
  kind: Kind
  /** What it is to be made of; a preview: what its workspace is based on. */
  commitSha: string
  /** The deployment whose unchanged pages can be taken over; null: none. */
  previousId: string | null
  signal: AbortSignal
  /** Runs when it is there, before it is looked at. */
  onMade?(): Promise<void>
}

/** The log of a publish. */
export const logPath = ({ storefronts }: Pick<Services, 'storefronts'>, storeId: string) =>
  join(storefronts.folders.builds, 'logs', `${storeId}.log`)

/** Where a store's storefront is: on its custom domain once that was proven, else on its own host. */
async function baseOf(
  { registry, storefronts }: Pick<Services, 'registry' | 'storefronts'>,
  store: { id: string; slug: string },
  now: string,
) {
  const domain = await domainOf(registry, store.id, now)
  return storefronts.urlOf(domain?.verifiedAt ? domain.domain : storefronts.hostOf(store.slug))
}

/** Notes how long a build took, for estimates, and forgets the oldest. */
async function noteBuild(tx: Db, { clock }: Running, kind: Kind, ms: number, { changes, pages }: Deployment) {
  await tx
    .insert(builds)
    .values({ id: clock.id(), kind, changes, pages: Object.keys(pages).length, ms, createdAt: clock.now().toISOString() })
  const old = await tx.select({ id: builds.id }).from(builds).orderBy(desc(builds.id)).limit(BUILDS_KEPT).offset(BUILDS_KEPT)
  if (old.length)
    await tx.delete(builds).where(
      inArray(
        builds.id,
        old.map(({ id }) => id),
      ),
    )
}

/**
 * Builds a deployment and registers it, so that its own host serves it. What a process that died has built is taken as it is. Throws a
 * `BuildError` that says what is wrong with the project, or the reason of the signal.
 */
export async function makeDeployment(services: Services, job: Running, making: Making): Promise<Deployment> {
  const { registry, storefronts, clock } = services
  const { storeId, store } = job
  const { id, kind, commitSha, previousId, signal } = making
  const session = await storefrontSession(registry, storeId)
  if (!session) throw new BuildError('the store has no project')
  const register = async (deployment: Deployment) => {
    const files = Object.values(deployment.files).map(({ file }) => file)
    if (!deployment.isBare) await storefronts.deployments.keep(storeId, id, files)
    if (!(await registry.store(storeId))) {
      await storefronts.deployments.remove(storeId, id)
      throw new BuildError('the store was deleted')
    }
    const createdAt = clock.now().toISOString()
    const { changes } = deployment
    await addDeployment(registry, { id, storeId, kind: kind === 'preview' ? kind : 'production', commitSha, changes, createdAt })
    return deployment
  }
  const there = readDeployment(storefronts, id)
  // An id that came with a backup: neither its files nor its row are touched.
  if ((there && there.storeId !== storeId) || (await isElsewhere(registry, { storeId, id })))
    throw new BuildError('its deployment belongs to another store: publish again')
  if (there?.commitSha === commitSha) return register(there)
  // Of a commit that the workspace had before it was saved: its publish was taken up in the middle.
  if (there) await storefronts.deployments.remove(storeId, id)
  const isWorkspace = kind === 'preview'
  const base = isWorkspace ? storefronts.urlOf(storefronts.hostOf(id)) : await baseOf(services, session.store, clock.now().toISOString())
  const log = new BuildLog(logPath(services, storeId), LIMITS.outputBytes, () => clock.now())
  const started = performance.now()
  const count = (outcome: 'made' | 'failed' | 'interrupted') =>
    services.load.counts.observe('stoa_build_seconds', { kind, outcome }, (performance.now() - started) / 1_000)
  const made = await build({ storefronts, session, store, id, commitSha, isWorkspace, base, previousId, log, signal }).catch((error) => {
    count(signal.aborted ? 'interrupted' : 'failed')
    log.say(`failed: ${(error as Error).message}`)
    throw error
  })
  count('made')
  await register(made)
  const ms = Math.round(performance.now() - started)
  await store.write(async (tx) => {
    await job.held(tx)
    await noteBuild(tx, job, kind, ms, made)
  })
  return made
}

/** Makes a deployment and looks at it on its own host; one that is found wanting is served by nobody, and thrown away. */
export async function makeVerified(services: Services, job: Running, making: Making): Promise<Deployment> {
  const deployment = await makeDeployment(services, job, making)
  try {
    await making.onMade?.()
    await verify(services.storefronts, deployment, making.commitSha)
    return deployment
  } catch (error) {
    if (error instanceof BuildError) {
      await removeDeployment(services.registry, { storeId: job.storeId, id: making.id })
      await services.storefronts.deployments.remove(job.storeId, making.id)
    }
    throw error
  }
}
