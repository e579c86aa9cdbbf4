/**
 * Refreshes: what changes in a store is built into its storefront by itself, with the commit that is live, at most once a minute. Which
 * commits matter is counted in the store's database (`storefrontChanges`), in their own transactions.
 */
import { eq } from 'drizzle-orm'
import { deployments } from '../../../db/control/tables.ts'
import { newDeploymentId } from '../../../db/deployment-files.ts'
import type { Handles } from '../../../db/handles.ts'
import type { Handle } from '../../../db/open.ts'
import { storefrontChanges } from '../../../db/store/builder.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { enqueueBy } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import type { Log } from '../../server/log.ts'
import { liveProjects, pin, projectOf } from '../projects.ts'
import { makeVerified } from './make.ts'
import { runningPublish } from './publish.ts'
import { inTurn } from './turn.ts'

export const REFRESH = 'builder.refresh'
/** The pause between the beginnings of two builds of one store. */
const PAUSE_MS = 60_000
const LOOK_MS = 1_000
/** Where a database can't tell cheaply whether it was written, it is asked this seldom. */
const ASK_MS = 10_000

const countIn = async ({ read }: Handle): Promise<number> => (await read.select().from(storefrontChanges))[0]?.count ?? 0

async function refresh(services: Services, job: Running): Promise<'interrupted' | void> {
  const { registry, clock } = services
  const { store, storeId, signal } = job
  try {
    await inTurn(signal, async () => {
      const project = await projectOf(registry, storeId)
      const liveId = project?.liveId
      // What is published meanwhile has the new data, too.
      if (!liveId || (await runningPublish(store.read))) return
      const [live] = await registry.control.read.select().from(deployments).where(eq(deployments.id, liveId))
      if (!live || live.changes >= (await countIn(store))) return
      const { commitSha } = live
      const id = newDeploymentId()
      await makeVerified(services, job, { id, kind: 'refresh', commitSha, previousId: liveId, signal })
      await pin(registry, { storeId, id, now: clock.now(), instead: liveId })
    })
  } catch (error) {
    if (signal.aborted) return 'interrupted'
    // What is live stays live. It is tried again, and told of in the server's log: nobody waits for an answer.
    throw error
  }
}

export const refreshStorefront = (services: Services): JobKind => ({
  run: (job) => refresh(services, job),
  retriesMs: [60_000, 600_000],
  concurrency: 1,
})

interface RefresherNeeds {
  services: Services
  handles: Handles
  log: Log
}

/** Looks at the stores that are live for changes that their storefronts do not show, and asks for refreshes. Returns how to stop. */
export function watchStores({ services, handles, log }: RefresherNeeds): () => Promise<void> {
  const { registry, clock } = services
  /** The version of each store's database that was looked at last, and when. */
  const seen = new Map<string, { version: number | null; at: number }>()
  const asked = new Map<string, number>()
  let live: Awaited<ReturnType<typeof liveProjects>> = []
  let epoch = -1
  let stopped = false

  async function look(storeId: string, changes: number, builtAt: string, store: Handle) {
    const version = store.version()
    const before = seen.get(storeId)
    const now = clock.now().getTime()
    if (before && (version === null ? now - before.at < ASK_MS : before.version === version)) return
    seen.set(storeId, { version, at: now })
    const count = await countIn(store)
    if (count <= changes || asked.get(storeId) === count) return
    const moment = { clock, now: new Date(now).toISOString() }
    const dueAt = new Date(Math.max(now, Date.parse(builtAt) + PAUSE_MS)).toISOString()
    await store.write((tx) => enqueueBy(tx, moment, { kind: REFRESH, subject: 'live', dueAt }))
    asked.set(storeId, count)
    // The commit of this very job is nothing new.
    seen.set(storeId, { version: store.version(), at: now })
  }

  async function round() {
    const current = await registry.epoch()
    const isNew = current !== epoch
    if (isNew) {
      live = await liveProjects(registry)
      epoch = current
      for (const storeId of seen.keys()) if (!live.some((row) => row.storeId === storeId)) seen.delete(storeId)
    }
    for (const { storeId, changes, createdAt } of live) {
      if (stopped) return
      // A store that nobody has open in this process was not changed by it; each is looked at once, for what came before.
      if (!seen.has(storeId) || isNew) {
        seen.delete(storeId)
        await handles.visit(storeId, 'live', (store) => look(storeId, changes, createdAt, store))
      } else if (handles.isOpen(storeId, 'live')) await handles.use(storeId, 'live', (store) => look(storeId, changes, createdAt, store))
    }
  }

  const loop = (async () => {
    while (!stopped) {
      await Bun.sleep(LOOK_MS)
      if (!stopped) await round().catch((error) => log.write('warn', 'storefronts can not be looked after', { error: String(error) }))
    }
  })()
  return async () => {
    stopped = true
    await loop
  }
}
