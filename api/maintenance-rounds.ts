/** Rounds over all stores: of all processes one sweeps, by a lease; each looks for jobs that another one left. */
import { sql } from 'drizzle-orm'
import { noteGiven } from '../db/control/history.ts'
import { takeLease } from '../db/control/lease.ts'
import { roomOf, setRoom, type Measured } from '../db/control/room.ts'
import type { Handles } from '../db/handles.ts'
import { numbersOf, type Numbers } from '../db/numbers.ts'
import type { Handle } from '../db/open.ts'
import type { Services } from './outside/services.ts'
import { lookAfterDomains } from './builder/domain/look-after.ts'
import { measureBuilt } from './builder/measure.ts'
import { clearDeployments } from './builder/publishing/housekeeping.ts'
import { removeOrphans } from './content/media/orphans.ts'
import type { Log } from './server/log.ts'
import type { Runner } from './jobs/runner.ts'
import { pruneMails } from './outside/mail-folder.ts'
import { mediaBytes } from './store/room.ts'
import { sweep } from './maintenance.ts'

const DAY_MS = 86_400_000
/** The pause between two rounds. */
const ROUND_MS = 10 * 60_000
/** A process that dies in a round holds the next one up for this long at most. */
const LEASE_MS = 2 * 60_000
/** Stores whose numbers the registry notes in one transaction. */
const NOTED_AT_ONCE = 100
/** After a round nobody begins another one for this long: a little less than the pause, so that the same process may. */
const REST_MS = ROUND_MS - 30_000

interface MaintenanceNeeds {
  services: Services
  handles: Handles
  /** Looks at each store for jobs that another process left, and counts them. */
  runner: Pick<Runner, 'look'> & Partial<Pick<Runner, 'tally' | 'tell'>>
  /** Where mails are written that are not sent. */
  mailFolder: string
  log: Log
}

/** The bytes of a database's pages. */
async function databaseBytes({ read }: Handle): Promise<number> {
  const [row] = await read.all<[number]>(sql`select page_count * page_size from pragma_page_count(), pragma_page_size()`)
  return row?.[0] ?? 0
}

/** Notes what a store takes of the disk, where that is not what was noted. */
async function measure(
  services: Services,
  storeId: string,
  { sizes, isDaily }: { sizes: Pick<Measured, 'databases' | 'media'>; isDaily: boolean },
) {
  const { control } = services.registry
  const { measured: known, measuredAt } = await roomOf(control.read, storeId)
  const built = await measureBuilt(services, storeId, { known, walksProject: isDaily || measuredAt === null })
  // A database that could not be looked at takes what it took.
  const of = (name: 'databases' | 'media') => ({ ...known[name], ...sizes[name] })
  const measured = { databases: of('databases'), media: of('media'), ...built }
  if (measuredAt !== null && JSON.stringify(measured) === JSON.stringify(known)) return
  if (!(await services.registry.knows(storeId))) return
  await control.write(async (tx) => void (await setRoom(tx, storeId, { measured, measuredAt: services.clock.now().toISOString() })))
}

/** One round over all stores, one at a time and without haste; whether it was this process that swept. */
export async function goRound({ services, handles, runner, mailFolder, log }: MaintenanceNeeds, signal: AbortSignal) {
  const { registry, payments, files, clock } = services
  const token = clock.secret()
  const take = (name: string, ms: number) => takeLease(registry.control, { name, token, now: clock.now(), ms })
  let sweeps = await take('maintenance', LEASE_MS)
  const swept = sweeps
  // The files of media are looked through once a day: a store may have a hundred thousand.
  const isDaily = sweeps && (await take('orphans', DAY_MS))
  let takenAt = clock.now().getTime()
  const given = new Map<string, Numbers>()
  const tally = runner.tally?.() ?? null
  for (const { id: storeId } of await registry.listStores()) {
    const sizes: Pick<Measured, 'databases' | 'media'> = { databases: {}, media: {} }
    for (const environment of ['live', 'sandbox'] as const) {
      if (signal.aborted) return swept
      if (sweeps && clock.now().getTime() - takenAt > LEASE_MS / 4) {
        sweeps = await take('maintenance', LEASE_MS)
        takenAt = clock.now().getTime()
      }
      try {
        if (sweeps)
          await handles.visit(storeId, environment, async (store) => {
            if (isDaily) await removeOrphans(store, { storeId, environment }, files, clock.now())
            given.set(storeId, { ...given.get(storeId), [environment]: await numbersOf(store.read) })
            sizes.databases[environment] = await databaseBytes(store)
            sizes.media[environment] = await mediaBytes(store.read)
            await sweep(store, { storeId, environment }, payments, clock)
          })
      } catch (error) {
        log.write('warn', 'maintenance of a store failed', { storeId, environment, error: String(error) })
      }
      await runner.look(storeId, environment, tally)
      await Bun.sleep(20)
    }
    if (sweeps)
      await measure(services, storeId, { sizes, isDaily }).catch((error) =>
        log.write('warn', 'a store could not be measured', { storeId, error: String(error) }),
      )
    if (given.size >= NOTED_AT_ONCE) {
      await noteGiven(registry.control, given)
      given.clear()
    }
  }
  runner.tell?.(tally)
  await noteGiven(registry.control, given)
  if (sweeps) {
    await pruneMails(mailFolder, clock.now(), isDaily)
    await lookAfterDomains(services, signal).catch((error) => log.write('warn', 'looking after domains failed', { error: String(error) }))
    await clearDeployments(services).catch((error) => log.write('warn', 'clearing deployments failed', { error: String(error) }))
    await take('maintenance', REST_MS)
  }
  return swept
}

/** Goes round all stores now and then; the first round begins after a pause. Returns how to stop. */
export function maintain(needs: MaintenanceNeeds): () => Promise<void> {
  const stopping = new AbortController()
  let wake = () => {}
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ROUND_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      if (!stopping.signal.aborted)
        await goRound(needs, stopping.signal).catch((error) => needs.log.write('warn', 'maintenance failed', { error: String(error) }))
    }
  }
  const running = loop()
  return async () => {
    stopping.abort()
    wake()
    await running
  }
}
