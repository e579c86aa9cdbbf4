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
import { hasRoom } from '../../store/room.ts'
import { liveProjects, pin, projectOf } from '../projects.ts'
import { makeVerified } from './make.ts'
import { runningPublish } from './publish.ts'
import { inTurn } from './turn.ts'

export const REFRESH = 'builder.refresh'
/** The pause between the beginnings of two builds of one store. */
const PAUSE_MS = 60_000
const LOOK_MS = 1_000
/** A store whose disk quota is used up is looked at again after so long. */
const NO_ROOM_MS = 3_600_000
/** Where a database can't tell cheaply whether it was written, it is asked this seldom. */
const ASK_MS = 10_000
/** Stores that are opened in one round to be looked at: a server of a thousand has looked at them all within a minute. */
const OPENED_MAX = 25
/** The pause before a store is looked at again that could not be. */
const REST_MS = 60_000

const countIn = async ({ read }: Handle): Promise<number> => (await read.select().from(storefrontChanges))[0]?.count ?? 0

async function refresh(services: Services, job: Running): Promise<string | 'interrupted' | void> {
  const { registry, clock } = services
  const { store, storeId, signal } = job
  // What is live stays so until there is room again: `GET /usage` says why.
  if (!(await hasRoom({ registry, db: store.read, owner: job }))) return new Date(clock.now().getTime() + NO_ROOM_MS).toISOString()
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
  mayEndProcess: true,
  concurrency: 1,
})

interface RefresherNeeds {
  services: Services
  handles: Handles
  log: Log
  /** The pause between two looks, in milliseconds. */
  pauseMs?: number
}

/** A store that is live, and the deployment that it is live with. */
type Live = Awaited<ReturnType<typeof liveProjects>>[number]
const isSame = (one: Live, other: Live | undefined) =>
  one.liveId === other?.liveId && one.changes === other.changes && one.createdAt === other.createdAt

/** What a watcher knows of a store that is live. */
interface Watched {
  row: Live
  /** The version of its database that was looked at last, and when; null: it is to be looked at. */
  seen: { version: number | null; at: number } | null
  /** The count of changes that a refresh was asked for at last. */
  asked: number | null
  /** It could not be looked at, and is left alone until then. */
  restsUntil: number
}

/** What is known of the stores that are live now: of those whose row is what it was, all that was. */
function watched(rows: readonly Live[], before: ReadonlyMap<string, Watched>): Map<string, Watched> {
  return new Map(
    rows.map((row) => {
      const known = before.get(row.storeId)
      return [row.storeId, isSame(row, known?.row) ? known! : { row, seen: null, asked: null, restsUntil: 0 }]
    }),
  )
}

/** Asks for a refresh of a store when it was changed since what is live was made. */
async function lookAt(watch: Watched, store: Handle, clock: Services['clock']) {
  const { row, seen, asked } = watch
  const version = store.version()
  const now = clock.now().getTime()
  if (seen && (version === null ? now - seen.at < ASK_MS : seen.version === version)) return
  watch.seen = { version, at: now }
  const count = await countIn(store)
  if (count <= row.changes || asked === count) return
  const moment = { clock, now: new Date(now).toISOString() }
  const dueAt = new Date(Math.max(now, Date.parse(row.createdAt) + PAUSE_MS)).toISOString()
  await store.write((tx) => enqueueBy(tx, moment, { kind: REFRESH, subject: 'live', dueAt }))
  watch.asked = count
  // The commit of this very job is nothing new.
  watch.seen = { version: store.version(), at: now }
}

/**
 * Looks at the stores that are live for changes that their storefronts do not show, and asks for refreshes. Returns how to stop. A store that
 * nobody has open in this process was not changed by it: each is looked at once, for what came before, and again when something else is live.
 */
export function watchStores({ services, handles, log, pauseMs = LOOK_MS }: RefresherNeeds): () => Promise<void> {
  const { registry, clock } = services
  let live = new Map<string, Watched>()
  let epoch = -1
  let stopped = false

  async function round() {
    const current = await registry.epoch()
    if (current !== epoch) {
      live = watched(await liveProjects(registry), live)
      epoch = current
    }
    let left = OPENED_MAX
    for (const [storeId, watch] of live) {
      if (stopped) return
      if (watch.restsUntil > clock.now().getTime()) continue
      const isOpen = handles.isOpen(storeId, 'live')
      if (!isOpen && (watch.seen || left-- <= 0)) continue
      const look = (store: Handle) => lookAt(watch, store, clock)
      await (isOpen ? handles.use(storeId, 'live', look) : handles.visit(storeId, 'live', look)).catch((error) => {
        watch.restsUntil = clock.now().getTime() + REST_MS
        log.write('warn', 'a storefront can not be looked after', { storeId, error: String(error) })
      })
      // Opening one holds everybody up for a moment: they have their turn in between.
      if (!isOpen) await Bun.sleep(0)
    }
  }

  const loop = (async () => {
    while (!stopped) {
      await Bun.sleep(pauseMs)
      if (!stopped) await round().catch((error) => log.write('warn', 'storefronts can not be looked after', { error: String(error) }))
    }
  })()
  return async () => {
    stopped = true
    await loop
  }
}
