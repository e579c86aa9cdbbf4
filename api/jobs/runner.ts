/**
 * The runner: does the jobs of all stores as they become due. Several processes may run one each: a job belongs to whoever holds
 * its lease, and a lease that is not prolonged runs out.
 */
import type { Registry } from '../../db/control/registry.ts'
import type { Db } from '../../db/driver.ts'
import type { Handles } from '../../db/handles.ts'
import type { Environment, Handle } from '../../db/open.ts'
import type { Log } from '../http/log.ts'
import type { Outside } from '../http/route.ts'
import { holderToken } from './holder.ts'
import { claim, finish, giveUp, gotOn, holds, interrupt, nextDue, postpone, prolong, type JobRow } from './queue.ts'
import { Slots } from './slots.ts'

/** What a job gets to work with. */
export interface Running {
  store: Handle
  storeId: string
  environment: Environment
  /** What the job is about. */
  subject: string
  outside: Outside
  /** Aborted when the process stops, or the lease is lost: the job returns `'interrupted'` as soon as it can. */
  signal: AbortSignal
  /** Throws inside a transaction when another process has taken the job over. */
  held(tx: Db): Promise<void>
  /** The same, and forgets the attempts so far: the job got somewhere. */
  progress(tx: Db): Promise<void>
}

/** One kind of job. */
export interface JobKind {
  /** Resolves when the job is done, with the instant at which it is due again, or `'interrupted'`; throws when it went wrong. */
  run(job: Running): Promise<string | 'interrupted' | void>
  /** How long after each failed attempt it is tried again, in ms; after the last of these it is given up. */
  retriesMs: readonly number[]
  /** So many of it run at the same time in a process, for all stores; as many as a runner takes when not given. */
  concurrency?: number
  /** Runs in the transaction in which it is given up. */
  givenUp?(tx: Db, about: { outside: Outside; now: string }, subject: string, error: string): Promise<void>
}

export interface RunnerNeeds {
  registry: Registry
  handles: Handles
  kinds: Readonly<Record<string, JobKind>>
  outside: Outside
  log: Log
  /** A lease lasts this long unless it is prolonged: so long does the work of a process that died wait. */
  leaseMs?: number
}

const LEASE_MS = 15_000
const TICK_MS = 250
/** Jobs that run at once: in this process, and in one store. */
const RUNNING_MAX = 8
const PER_STORE_MAX = 3
/** The pause between two stores of the first look round. */
const LOOK_PAUSE_MS = 5

/** The lease was lost: whoever has it now goes on. */
class LeaseLost extends Error {}

export class Runner {
  readonly #needs: Required<RunnerNeeds>
  /** When each store next has something to do, in ms; a store without an entry has nothing. */
  readonly #due = new Map<string, { storeId: string; environment: Environment; at: number }>()
  readonly #running = new Map<Promise<void>, string>()
  readonly #slots: Slots
  /** Stores that were looked at while a kind had no slot free: they may have a job of it. */
  readonly #passedOver = new Map<string, { storeId: string; environment: Environment }>()
  readonly #stopping = new AbortController()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(needs: RunnerNeeds) {
    this.#needs = { ...needs, leaseMs: needs.leaseMs ?? LEASE_MS }
    this.#slots = new Slots(needs.kinds)
  }

  /** Begins to do what is due: at once what stores wait for from before, then what is asked for. */
  start() {
    this.#timer = setInterval(() => this.#begin(), TICK_MS)
    void this.lookRound().catch((error) => this.#needs.log.write('warn', 'looking for jobs failed', { error: String(error) }))
  }

  /** Looks at all stores for what they wait for, one at a time and without haste. */
  async lookRound(pauseMs = LOOK_PAUSE_MS) {
    for (const { id } of await this.#needs.registry.listStores())
      for (const environment of ['live', 'sandbox'] as const) {
        if (this.#stopping.signal.aborted) return
        await this.look(id, environment)
        if (pauseMs) await Bun.sleep(pauseMs)
      }
  }

  /** Looks at what a store waits for. */
  async look(storeId: string, environment: Environment) {
    try {
      await this.#needs.handles.visit(storeId, environment, (store) => this.#note(store, storeId, environment))
    } catch (error) {
      this.#due.delete(`${storeId} ${environment}`)
      this.#needs.log.write('warn', 'the jobs of a store can not be read', { storeId, environment, error: String(error) })
    }
  }

  async #note(store: Handle, storeId: string, environment: Environment) {
    const key = `${storeId} ${environment}`
    const full = this.#slots.full()
    const next = await nextDue(store.read, full)
    if (full.length) this.#passedOver.set(key, { storeId, environment })
    // A kind that has got a slot meanwhile may be what is due.
    const at = full.some((kind) => this.#slots.isFree(kind)) ? 0 : next === null ? null : Date.parse(next)
    if (at === null) this.#due.delete(key)
    else this.#due.set(key, { storeId, environment, at })
  }

  /** Counts a job that ends; if its kind has had no slot free, whoever was passed over has another turn. */
  #leave(kind: string) {
    if (!this.#slots.release(kind)) return
    for (const [key, about] of this.#passedOver) this.#due.set(key, { ...about, at: 0 })
    this.#passedOver.clear()
  }

  /** Says that a store may have something to do: called once it is committed. */
  wake(storeId: string, environment: Environment) {
    if (this.#stopping.signal.aborted) return
    void this.look(storeId, environment).then(() => this.#begin())
  }

  /** Does everything that is due now, and returns when it is done. */
  async settle() {
    await this.lookRound(0)
    while (this.#begin() || this.#running.size) await Promise.race(this.#running.keys())
  }

  /** Starts what is due, as far as there is room; whether it started anything. */
  #begin(): boolean {
    let began = false
    const now = this.#needs.outside.now().getTime()
    for (const [key, { storeId, environment, at }] of this.#due) {
      if (this.#stopping.signal.aborted || this.#running.size >= RUNNING_MAX) break
      if (at > now || [...this.#running.values()].filter((running) => running === key).length >= PER_STORE_MAX) continue
      // Until its next job is known, a store has none: it is looked at again as soon as this one is claimed.
      this.#due.delete(key)
      const work: Promise<void> = this.#needs.handles
        .use(storeId, environment, (store) => this.#next(store, storeId, environment))
        .catch((error) => this.#needs.log.write('warn', 'a job could not be run', { storeId, environment, error: String(error) }))
        .finally(() => {
          this.#running.delete(work)
          this.#begin()
        })
      this.#running.set(work, key)
      began = true
    }
    return began
  }

  async #next(store: Handle, storeId: string, environment: Environment) {
    const { outside, leaseMs } = this.#needs
    const job = await store.write((tx) => {
      const now = outside.now()
      return claim(tx, {
        now: now.toISOString(),
        until: new Date(now.getTime() + leaseMs).toISOString(),
        token: holderToken(outside.secret()),
        except: this.#slots.full(),
      })
    })
    // Others of its kind may have begun meanwhile.
    const mayRun = job !== null && this.#slots.take(job.kind)
    if (job && !mayRun) await store.write((tx) => interrupt(tx, job))
    try {
      await this.#note(store, storeId, environment)
      if (!mayRun) return
      queueMicrotask(() => this.#begin())
      await this.#run(store, job, storeId, environment)
    } finally {
      if (mayRun) this.#leave(job.kind)
    }
    await this.#note(store, storeId, environment)
  }

  /** Runs a job under its lease, and stores what came of it. */
  async #run(store: Handle, job: JobRow, storeId: string, environment: Environment) {
    const { kinds, outside, log } = this.#needs
    const kind = kinds[job.kind]
    const lost = new AbortController()
    const stop = this.#keep(store, job, lost)
    const held = async (tx: Db) => {
      if (!(await holds(tx, job))) throw new LeaseLost('the lease was lost')
    }
    const progress = async (tx: Db) => {
      await held(tx)
      if (job.attempts) await gotOn(tx, job)
      job.attempts = 0
    }
    try {
      if (!kind) throw new Error(`this release knows no job ${job.kind}`)
      // A process that dies leaves its attempt counted: a job that kills whoever runs it is given up, too.
      if (job.attempts > kind.retriesMs.length + 1)
        throw new Error(`the process ended ${job.attempts - 1} times while it ran: ${job.error ?? 'no error'}`)
      const signal = AbortSignal.any([this.#stopping.signal, lost.signal])
      // The process may have begun to stop since the job was claimed.
      const outcome = signal.aborted
        ? 'interrupted'
        : await kind.run({ store, storeId, environment, subject: job.subject, outside, signal, held, progress })
      await store.write<unknown>((tx) => (outcome === 'interrupted' ? interrupt(tx, job) : finish(tx, job, outcome ?? null)))
    } catch (error) {
      if (error instanceof LeaseLost) return
      const message = (error instanceof Error ? error.message : String(error)).slice(0, 500)
      const { subject, attempts } = job
      log.write('warn', 'a job failed', { storeId, environment, kind: job.kind, subject, attempts, error: message })
      await store.write((tx) => this.#failed(tx, job, kind, message))
    } finally {
      stop()
    }
  }

  async #failed(tx: Db, job: JobRow, kind: JobKind | undefined, error: string) {
    const { outside } = this.#needs
    const now = outside.now()
    const wait = kind?.retriesMs[Math.max(0, job.attempts - 1)]
    if (wait !== undefined) return void (await postpone(tx, job, new Date(now.getTime() + wait).toISOString(), error))
    const wire = now.toISOString()
    if (await giveUp(tx, job, wire, error)) await kind?.givenUp?.(tx, { outside, now: wire }, job.subject, error)
  }

  /** Prolongs a lease while its job runs; returns how to stop. */
  #keep(store: Handle, job: JobRow, lost: AbortController): () => void {
    const { outside, leaseMs, log } = this.#needs
    const timer = setInterval(() => {
      const until = new Date(outside.now().getTime() + leaseMs).toISOString()
      store
        .write((tx) => prolong(tx, job, until))
        .then((held) => held || lost.abort())
        .catch((error) => log.write('warn', 'a lease could not be prolonged', { kind: job.kind, error: String(error) }))
    }, leaseMs / 3)
    return () => clearInterval(timer)
  }

  /** Starts nothing more; resolves when what runs has stopped. */
  async stop() {
    clearInterval(this.#timer)
    this.#stopping.abort()
    while (this.#running.size) await Promise.all(this.#running.keys())
  }
}
