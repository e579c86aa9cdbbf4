/** One job run under its lease: the lease is renewed meanwhile, and the outcome is stored. */
import type { Db } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { MailError } from '../outside/mail.ts'
import type { Log } from '../server/log.ts'
import type { Clock } from '../values/clock.ts'
import { Told, toldOf } from '../values/refusal.ts'
import type { Failure, JobKind } from './kind.ts'
import { complete, giveUp, holds, release, renew, resetAttempts, retry, type ClaimedJob } from './queue.ts'
import type { StoreDatabase } from './slots.ts'

interface Work {
  store: Handle
  database: StoreDatabase
  job: ClaimedJob
  kind: JobKind | undefined
  clock: Clock
  log: Log
  leaseMs: number
  /** Aborted when the process stops. */
  stopping: AbortSignal
  /** Whether the store is what it was when the job was claimed: it may be deleted meanwhile, by any process. */
  isThere(): Promise<boolean>
}

/** The lease was lost, or its store is gone: nothing of the job is this process's any more. */
class LeaseLost extends Error {}

/** So often a job is begun that may end its process, when it did so the last time. */
const LEFT_MAX = 2

/** What came of a run; `lost`: it was no more this process's to say. */
type RunOutcome = 'done' | 'interrupted' | 'failed' | 'given_up' | 'lost'

/** Runs a claimed job, then completes it, has it run again later, or gives it up. */
export async function runJob(work: Work): Promise<RunOutcome> {
  const { store, database, job, kind, clock, log, isThere } = work
  const [lost, over] = [new AbortController(), new AbortController()]
  const stops = [renewing(work, lost), budget(kind, over)]
  const held = async (tx: Db) => {
    if (!(await isThere()) || !(await holds(tx, job))) throw new LeaseLost('the lease was lost')
  }
  const progress = async (tx: Db) => {
    await held(tx)
    if (job.attempts) await resetAttempts(tx, job)
    job.attempts = 0
  }
  try {
    if (!kind) throw new Error(`this release knows no job ${job.kind}`)
    // A process that dies leaves its attempt counted: a job that kills whoever runs it is given up, too.
    if (job.attempts > kind.retriesMs.length + 1 || (kind.mayEndProcess && job.isLeft && job.attempts > LEFT_MAX))
      throw new Told(`the process ended ${job.attempts - 1} times while it ran`)
    const ending = AbortSignal.any([work.stopping, lost.signal])
    const signal = AbortSignal.any([ending, over.signal])
    // The process may have begun to stop since the job was claimed.
    const outcome = signal.aborted
      ? 'interrupted'
      : await kind.run({ store, ...database, subject: job.subject, clock, signal, ending, held, progress })
    if (!(await isThere())) return 'lost'
    // One whose time is up stands behind the others of its store from now on.
    const dueAt = over.signal.aborted ? clock.now().toISOString() : job.dueAt
    await store.write<unknown>(async (tx) => {
      if (outcome === 'interrupted') return release(tx, job, dueAt)
      const next = kind.next ? await kind.next(tx, { subject: job.subject, now: clock.now().toISOString() }) : outcome
      return complete(tx, job, next ?? null)
    })
    return outcome === 'interrupted' ? 'interrupted' : 'done'
  } catch (error) {
    if (error instanceof LeaseLost || !(await isThere())) return 'lost'
    const message = shortened(error instanceof Error ? error.message : String(error))
    const { subject, attempts } = job
    log.write('warn', 'a job failed', { ...database, kind: job.kind, subject, attempts, error: message })
    const told = error instanceof MailError ? error.told : toldOf(error)
    return await store.write((tx) => failed(tx, work, { error: message, told: told && shortened(told) }))
  } finally {
    for (const stop of stops) stop()
  }
}

const shortened = (text: string) => text.slice(0, 500)

async function failed(tx: Db, { job, kind, clock }: Work, failure: Failure): Promise<RunOutcome> {
  const now = clock.now()
  const wait = kind?.retriesMs[Math.max(0, job.attempts - 1)]
  if (wait !== undefined) {
    await retry(tx, job, new Date(now.getTime() + wait).toISOString(), failure)
    return 'failed'
  }
  const wire = now.toISOString()
  if (!(await giveUp(tx, job, wire, failure))) return 'failed'
  await kind?.givenUp?.(tx, { clock, now: wire }, job.subject, failure)
  return 'given_up'
}

/** Renews a lease while its job runs; returns how to stop. */
function renewing({ store, job, clock, log, leaseMs, isThere }: Work, lost: AbortController): () => void {
  const once = async () => {
    const until = new Date(clock.now().getTime() + leaseMs).toISOString()
    if (!(await isThere()) || !(await store.write((tx) => renew(tx, job, until)))) lost.abort()
  }
  const timer = setInterval(() => {
    once().catch((error) => log.write('warn', 'a lease could not be renewed', { kind: job.kind, error: String(error) }))
  }, leaseMs / 3)
  return () => clearInterval(timer)
}

function budget(kind: JobKind | undefined, over: AbortController): () => void {
  if (kind?.budgetMs === undefined) return () => {}
  const timer = setTimeout(() => over.abort(), kind.budgetMs)
  return () => clearTimeout(timer)
}
