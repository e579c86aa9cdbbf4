/**
 * The runner: runs the jobs of all stores as they become due. Several processes may have one each: a job belongs to whoever holds
 * its lease, and a lease that is not renewed runs out.
 */
import type { Registry } from '../../db/control/registry.ts'
import type { Db } from '../../db/driver.ts'
import type { Handles } from '../../db/handles.ts'
import type { Environment, Handle } from '../../db/open.ts'
import type { Log } from '../server/log.ts'
import type { Metrics } from '../server/metrics.ts'
import type { Clock } from '../values/clock.ts'
import { holderToken } from './holder.ts'
import type { JobKind } from './kind.ts'
import { claim, nextDues, type ClaimedJob } from './queue.ts'
import { Presence } from './presence.ts'
import { keyOf, Slots, type StoreDatabase } from './slots.ts'
import { Tally } from './tally.ts'
import { runJob } from './work.ts'

interface RunnerNeeds {
  registry: Registry
  handles: Handles
  kinds: Readonly<Record<string, JobKind>>
  clock: Clock
  log: Log
  /** A lease lasts this long unless it is renewed: the work of a process that died waits for that long. */
  leaseMs?: number
  /** Counts runs, and the jobs of all stores at each look round; none: nobody asks. */
  metrics?: Pick<Metrics, 'add' | 'share'>
  /** Runs the jobs of `kinds` and leaves all others to whoever knows them: not what a server does. */
  isPartial?: boolean
}

const LEASE_MS = 15_000
const TICK_MS = 250
/**
 * Jobs that run at once: in this process, and in one store. A slot that is handed on may be one more. Those that wait for others' servers
 * take no place of those that work here, however long they wait.
 */
const POOLS = { here: { running: 8, perStore: 3 }, apart: { running: 128, perStore: 20 } }
type Pool = keyof typeof POOLS
/** The pause between two stores of the first look round. */
const LOOK_PAUSE_MS = 5

/** A store's turn to have one job of a pool run; `slot` is the kind whose slot it holds. */
interface Turn {
  database: StoreDatabase
  pool: Pool
  slot: string | null
}
const dueKey = (database: StoreDatabase, pool: Pool) => `${keyOf(database)} ${pool}`

export class Runner {
  readonly #needs: Required<Omit<RunnerNeeds, 'metrics'>> & Pick<RunnerNeeds, 'metrics'>
  /** When each store next has something to do in each pool, in ms; a store without an entry has nothing. */
  readonly #due = new Map<string, { database: StoreDatabase; pool: Pool; at: number }>()
  readonly #running = new Map<Promise<void>, Turn>()
  /** Stores that are being looked at because of news; true: there were more meanwhile. */
  readonly #woken = new Map<string, boolean>()
  readonly #slots: Slots
  readonly #presence: Presence
  readonly #stopping = new AbortController()
  readonly #timers: ReturnType<typeof setInterval>[] = []

  constructor(needs: RunnerNeeds) {
    this.#needs = { ...needs, leaseMs: needs.leaseMs ?? LEASE_MS, isPartial: needs.isPartial ?? false }
    this.#slots = new Slots(needs.kinds)
    this.#presence = new Presence(needs.registry.control, this.#needs.leaseMs)
  }

  /** Starts running jobs: those that are due from before at once, others as they are enqueued. */
  start() {
    this.#timers.push(
      setInterval(() => this.#begin(), TICK_MS),
      setInterval(() => void this.#lookAround(), this.#needs.leaseMs / 3),
    )
    void this.lookRound().catch((error) => this.#needs.log.write('warn', 'looking for jobs failed', { error: String(error) }))
  }

  /** Reads the queues of all stores, one at a time, with a pause in between. */
  async lookRound(pauseMs = LOOK_PAUSE_MS) {
    const tally = this.tally()
    for (const { id } of await this.#needs.registry.listStores())
      for (const environment of ['live', 'sandbox'] as const) {
        if (this.#stopping.signal.aborted) return
        await this.look(id, environment, tally)
        if (pauseMs) await Bun.sleep(pauseMs)
      }
    this.tell(tally)
  }

  /** A count of jobs to be handed to each look of a round; null where nobody asks for it. */
  tally(): Tally | null {
    return this.#needs.metrics ? new Tally() : null
  }

  /** Tells what was counted in a whole round. */
  tell(tally: Tally | null) {
    if (this.#needs.metrics) tally?.tell(this.#needs.metrics, this.#needs.clock.now())
  }

  /** Tells in which stores this process runs jobs, and looks for jobs that a process which has ended left. */
  async #lookAround() {
    try {
      const now = this.#needs.clock.now()
      for (const database of new Map([...this.#running.values()].map(({ database }) => [keyOf(database), database])).values())
        await this.#presence.tell(database, now)
      for (const { storeId, environment } of await this.#presence.left(now)) await this.look(storeId, environment)
    } catch (error) {
      this.#needs.log.write('warn', 'other processes can not be looked after', { error: String(error) })
    }
  }

  /** Reads when the next job of a store is due, and counts its jobs into a tally. */
  async look(storeId: string, environment: Environment, tally: Tally | null = null) {
    const database = { storeId, environment }
    try {
      await this.#needs.handles.visit(storeId, environment, async (store) => {
        await this.#note(store, database)
        await tally?.add(store.read, this.#needs.kinds)
      })
    } catch (error) {
      this.#needs.log.write('warn', 'the jobs of a store can not be read', { ...database, error: String(error) })
      await this.#lookLater(database)
    }
  }

  /** A store that could not be looked at, on a full disk perhaps, is looked at again after a while, unless it is gone. */
  async #lookLater(database: StoreDatabase) {
    for (const pool of ['here', 'apart'] as const) this.#due.delete(dueKey(database, pool))
    if (!(await this.#needs.registry.knows(database.storeId).catch(() => true))) return
    const at = this.#needs.clock.now().getTime() + this.#needs.leaseMs
    for (const pool of ['here', 'apart'] as const) this.#due.set(dueKey(database, pool), { database, pool, at })
  }

  async #note(store: Handle, database: StoreDatabase) {
    const now = this.#needs.clock.now().getTime()
    const next = { here: Infinity, apart: Infinity }
    for (const [kind, instant] of await nextDues(store.read)) {
      if (this.#isOthers(kind)) continue
      const at = Date.parse(instant)
      const pool = this.#poolOf(kind)
      // A kind that has no slot free calls the store when it has one.
      if (at <= now && !this.#slots.isFree(kind)) this.#slots.wait(kind, database)
      else next[pool] = Math.min(next[pool], at)
    }
    for (const pool of ['here', 'apart'] as const)
      if (next[pool] === Infinity) this.#due.delete(dueKey(database, pool))
      else this.#due.set(dueKey(database, pool), { database, pool, at: next[pool] })
  }

  #poolOf(kind: string): Pool {
    return this.#needs.kinds[kind]?.isApart ? 'apart' : 'here'
  }

  #isOthers(kind: string): boolean {
    return this.#needs.isPartial && !Object.hasOwn(this.#needs.kinds, kind)
  }

  /** Looks at a store that may have a new job, once that is committed. */
  wake(storeId: string, environment: Environment) {
    const key = keyOf({ storeId, environment })
    if (this.#stopping.signal.aborted) return
    const isLooking = this.#woken.has(key)
    this.#woken.set(key, isLooking)
    if (isLooking) return
    void this.look(storeId, environment).then(() => {
      const hasMore = this.#woken.get(key)
      this.#woken.delete(key)
      this.#begin()
      if (hasMore) this.wake(storeId, environment)
    })
  }

  /** Runs the jobs of one store that are due now, and returns when all are done. */
  async settleStore(storeId: string, environment: Environment) {
    await this.look(storeId, environment)
    while (this.#begin() || this.#running.size) await Promise.race(this.#running.keys())
  }

  /** Runs every job that is due now, and returns when all are done. */
  async settle() {
    await this.lookRound(0)
    while (this.#begin() || this.#running.size) await Promise.race(this.#running.keys())
  }

  /** Starts jobs that are due, as far as there is room; whether it started any. */
  #begin(): boolean {
    let began = false
    const now = this.#needs.clock.now().getTime()
    for (const [key, { database, pool, at }] of this.#due) {
      if (this.#stopping.signal.aborted) break
      if (at > now || !this.#hasRoom(database, pool)) continue
      // Until its next job is known, a store has none: it is looked at again as soon as this one is claimed.
      this.#due.delete(key)
      this.#start({ database, pool, slot: null })
      began = true
    }
    return began
  }

  #hasRoom(database: StoreDatabase, pool: Pool): boolean {
    const [limits, key] = [POOLS[pool], keyOf(database)]
    let [all, own] = [0, 0]
    for (const running of this.#running.values()) {
      if (running.pool !== pool) continue
      all++
      if (keyOf(running.database) === key) own++
    }
    // The last places are for stores that have few.
    return all < limits.running && own < (all < limits.running / 2 ? limits.perStore : Math.ceil(limits.perStore / 4))
  }

  #start(turn: Turn) {
    const { database } = turn
    const work: Promise<void> = this.#needs.handles
      .use(database.storeId, database.environment, (store) => this.#take(store, turn))
      .catch((error) => this.#failed(database, error))
      .finally(() => {
        this.#running.delete(work)
        this.#giveBack(turn)
        this.#begin()
      })
    this.#running.set(work, turn)
  }

  /** Notes that a store's jobs could not be looked at, and looks again later. One that was deleted just now has none: nothing failed. */
  async #failed(database: StoreDatabase, error: unknown) {
    const isThere = await this.#needs.registry.store(database.storeId).catch(() => true)
    if (!isThere) return
    this.#needs.log.write('warn', 'a job could not be run', { ...database, error: String(error) })
    await this.#lookLater(database)
  }

  /** Gives a turn's slot back; the store that has waited for it for longest has its turn then. */
  #giveBack(turn: Turn) {
    const { slot, pool } = turn
    if (slot === null) return
    turn.slot = null
    const next = this.#slots.release(slot)
    if (next && !this.#stopping.signal.aborted) this.#start({ database: next, pool, slot })
  }

  /** A store's turn: its next job, if it still has one. */
  async #take(store: Handle, turn: Turn) {
    const { database } = turn
    const { kinds, registry, handles, clock, log, leaseMs, metrics } = this.#needs
    const isThere = async () => (await registry.knows(database.storeId)) && handles.isCurrent(database.storeId, database.environment, store)
    if (!(await isThere())) return
    // Told before: a process that dies right after it has claimed a job has told where.
    await this.#presence.tell(database, clock.now())
    const job = await store.write((tx) => this.#claim(tx, turn))
    await this.#note(store, database)
    if (!job) return
    queueMicrotask(() => this.#begin())
    const kind = kinds[job.kind]
    const outcome = await runJob({ store, database, job, kind, clock, log, leaseMs, stopping: this.#stopping.signal, isThere })
    metrics?.add('stoa_job_runs_total', { kind: kind ? job.kind : 'unknown', outcome })
    if (await isThere()) await this.#note(store, database)
  }

  /** Claims the job that has been due for longest, of a kind with a free slot, or of the kind whose slot the turn holds already. */
  async #claim(tx: Db, turn: Turn): Promise<ClaimedJob | null> {
    const { clock, leaseMs } = this.#needs
    const now = clock.now()
    const [wire, until] = [now.toISOString(), new Date(now.getTime() + leaseMs).toISOString()]
    const due = turn.slot === null ? [...(await nextDues(tx))].filter(([, at]) => at <= wire) : [[turn.slot, wire] as const]
    for (const [kind] of due.toSorted(([, a], [, b]) => (a < b ? -1 : 1))) {
      if (this.#isOthers(kind) || this.#poolOf(kind) !== turn.pool) continue
      if (turn.slot === null && !this.#slots.take(kind)) continue
      turn.slot = kind
      const job = await claim(tx, { kind, now: wire, until, token: holderToken(clock.secret()) })
      if (job) return job
      this.#giveBack(turn)
    }
    return null
  }

  /** Starts no more jobs; resolves when those that run have stopped. */
  async stop() {
    for (const timer of this.#timers) clearInterval(timer)
    this.#stopping.abort()
    while (this.#running.size) await Promise.all(this.#running.keys())
    await this.#presence.leave().catch(() => {})
  }
}
