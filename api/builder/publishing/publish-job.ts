/**
 * The job that publishes: builds the commit, looks at the deployment on its own host, and has the store's hosts serve it. It goes on where a
 * process that died has left it; until the switch, and whatever fails, the hosts serve what they served.
 */
import type { JobKind, Running } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { BuildError } from '../builds/build-error.ts'
import { checkDomain } from '../domain/check.ts'
import { domainOf } from '../domain/claims.ts'
import { ProjectError } from '../project/tree.ts'
import { pin, projectOf } from '../projects.ts'
import { makeVerified } from './make.ts'
import { endPublish, findPublish, moveOn } from './publish.ts'
import { inTurn } from './turn.ts'

/** What is no fault of the project is the operator's: its words may name paths of the server. */
export const OWN_FAULT = 'something is wrong with the server, whose log says what'

/** A build that was cut off, or that failed for a reason of this machine, is tried again after so long. */
const RETRIES_MS = [2_000, 30_000]

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
  const end = (verdict: Omit<Parameters<typeof endPublish>[3], 'id'>) =>
    store.write(async (tx) => {
      await job.held(tx)
      await endPublish(tx, { clock, now: now() }, services, { id: subject, ...verdict })
    })
  try {
    await inTurn(signal, async () => {
      const liveId = (await projectOf(services.registry, storeId))?.liveId ?? null
      // The hosts serve it already: the process that switched them has died before it could say so.
      if (liveId === row.deploymentId) return
      await step('building')
      await makeVerified(services, job, {
        ...{ id: row.deploymentId!, kind: 'publish', commitSha: row.commitSha, previousId: liveId, signal },
        onMade: () => step('verifying'),
      })
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
  mayEndProcess: true,
  // Those that wait for their turn leave the other places to mails, and to whatever else there is to do.
  concurrency: 1,
  async givenUp(tx, moment, subject, { told }) {
    await endPublish(tx, moment, services, {
      id: subject,
      status: 'failed',
      reason: `the build could not be done here: ${told ?? OWN_FAULT}`,
    })
  },
})
