/** Kinds of jobs, and what a running job gets to work with. */
import type { Db } from '../../db/driver.ts'
import type { Environment, Handle } from '../../db/open.ts'
import type { Clock, Moment } from '../values/clock.ts'

/** What went wrong with a job: for the operator, and what the merchant may read of it. */
export interface Failure {
  error: string
  told: string | null
}

/** A running job: its store, its subject, and how it keeps its lease. */
export interface Running {
  store: Handle
  storeId: string
  environment: Environment
  /** The thing that the job is about, mostly an id: there is one job of a kind about it. */
  subject: string
  clock: Clock
  /**
   * Aborted when the process stops, the lease is lost, the store is deleted, or its time is up: the job returns `'interrupted'` as
   * soon as it can.
   */
  signal: AbortSignal
  /** The same, but not because its time is up: what is on its way has to end, too. */
  ending: AbortSignal
  /** Throws inside a transaction when another process has taken the job over, or the store is gone. */
  held(tx: Db): Promise<void>
  /** The same, and forgets the attempts so far: the job got somewhere. */
  progress(tx: Db): Promise<void>
}

/** A kind of job: how it is run, retried and given up. */
export interface JobKind {
  /** Resolves when the job is done, with the instant at which it is due again, or `'interrupted'`; throws when it went wrong. */
  run(job: Running): Promise<string | 'interrupted' | void>
  /** How long after each failed attempt it is tried again, in ms; after the last of these it is given up. */
  retriesMs: readonly number[]
  /** It waits for servers of others most of the time: its runs take no place of those that work here. */
  isApart?: true
  /** It runs what others wrote, which may end the process: what a process that ended has left is begun again once, not as often as it is tried. */
  mayEndProcess?: true
  /** So many of it run at the same time in a process, for all stores; as many as a runner takes when not given. */
  concurrency?: number
  /** A run may take this long, then it is interrupted and waits for its turn again, behind others: for what can take hours. */
  budgetMs?: number
  /**
   * When it is due again, as the transaction sees it that ends a run; undefined: not at all. A kind that has it is asked for by `enqueueIdle`,
   * and finds what came meanwhile here.
   */
  next?(tx: Db, job: { subject: string; now: string }): Promise<string | undefined>
  /** Runs in the transaction in which it is given up. */
  givenUp?(tx: Db, moment: Moment, subject: string, failure: Failure): Promise<void>
}
