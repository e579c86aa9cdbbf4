/** The queue of one store's jobs: enqueued in the transaction of what they follow from, run by whoever holds the lease. */
import { and, asc, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../db/driver.ts'
import { announce } from '../../db/writer.ts'
import { jobs } from '../../db/store/store.ts'
import type { Moment } from '../values/clock.ts'
import { isGone } from './holder.ts'
import type { Failure } from './kind.ts'

export type JobRow = typeof jobs.$inferSelect

/** A job that was claimed. */
export interface ClaimedJob extends JobRow {
  /** Its process ended, or lost its lease, while it ran. */
  isLeft: boolean
}

/** Runners look at each store every ten minutes (`maintenance-rounds.ts`): of what is due later nobody needs to be told. */
const TOLD_MS = 15 * 60_000

/** Has the runner of this process told, once the transaction is on disk, of a job that is due soon. */
function tell(tx: Db, now: string, dueAt: string) {
  if (Date.parse(dueAt) - Date.parse(now) < TOLD_MS) announce(tx)
}

/**
 * Enqueues a job about `subject` for an instant. One that is in the queue already runs at the earlier of both; one that was given up
 * is taken up again. A job that is enqueued while it runs, runs again afterwards.
 */
export async function enqueue(tx: Db, { clock, now }: Moment, { kind, subject, dueAt }: Job) {
  const row = { id: clock.id(), kind, subject, dueAt, attempts: 0, asked: 1, createdAt: now, updatedAt: now }
  tell(tx, now, dueAt)
  await tx
    .insert(jobs)
    .values(row)
    .onConflictDoUpdate({
      target: [jobs.kind, jobs.subject],
      set: {
        dueAt: sql`case when ${jobs.failedAt} is null then min(${jobs.dueAt}, ${dueAt}) else ${dueAt} end`,
        attempts: 0,
        asked: sql`${jobs.asked} + 1`,
        ...{ error: null, told: null, failedAt: null },
        updatedAt: now,
      },
    })
}

const later = sql`${jobs.dueAt} > excluded.due_at or ${jobs.leaseToken} is not null or ${jobs.failedAt} is not null`
const insertBy = compile((db) =>
  db
    .insert(jobs)
    .values({
      id: named('id'),
      kind: named('kind'),
      subject: named('subject'),
      dueAt: named('dueAt'),
      attempts: 0,
      asked: 1,
      createdAt: named('now'),
      updatedAt: named('now'),
    })
    .onConflictDoUpdate({
      target: [jobs.kind, jobs.subject],
      set: {
        dueAt: sql`case when ${jobs.failedAt} is null then min(${jobs.dueAt}, excluded.due_at) else excluded.due_at end`,
        asked: sql`${jobs.asked} + 1`,
        failedAt: null,
        updatedAt: sql`excluded.updated_at`,
      },
      setWhere: later,
    }),
)

/** Finds a job that is not given up and needs no asking. */
const waits = compile((db) =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.kind, named('kind')),
        eq(jobs.subject, named('subject')),
        isNull(jobs.failedAt),
        sql`${jobs.dueAt} <= ${named('dueAt')} and ${jobs.leaseToken} is null`,
      ),
    ),
)

/** Those of a list of subjects and instants of which a job neither waits nor runs. */
const idleOf = compile((db) =>
  db
    .select({ at: sql<number>`key` })
    .from(sql`json_each(${named('list')})`)
    .where(
      sql`not exists (select 1 from ${jobs} where ${jobs.kind} = ${named('kind')} and ${jobs.subject} = value ->> 0 and ${jobs.failedAt} is null
        and (${jobs.dueAt} <= value ->> 1 or ${jobs.leaseToken} is not null))`,
    ),
)

interface Job {
  kind: string
  subject: string
  dueAt: string
}

async function insert(tx: Db, { clock, now }: Moment, job: Job) {
  tell(tx, now, job.dueAt)
  await insertBy.run(tx, { id: clock.id(), ...job, now })
}

/** Enqueues a job that finds out itself what there is to do, for an instant at the latest: nothing is written when it is due before. */
export async function enqueueBy(tx: Db, moment: Moment, job: Job) {
  if (!(await waits.get(tx, { ...job }))) await insert(tx, moment, job)
}

/**
 * The same for jobs of a kind that look in the transaction in which they end for what came meanwhile (`next`): of one that runs nothing
 * is written either.
 */
export async function enqueueIdle(tx: Db, moment: Moment, kind: string, some: readonly Omit<Job, 'kind'>[]) {
  const list = JSON.stringify(some.map(({ subject, dueAt }) => [subject, dueAt]))
  for (const { at } of (await idleOf.all(tx, { kind, list })) as { at: number }[]) await insert(tx, moment, { kind, ...some[at]! })
}

/** Removes a job from the queue; whether there was one. */
export async function withdraw(tx: Db, kind: string, subject: string): Promise<boolean> {
  const gone = await tx
    .delete(jobs)
    .where(and(eq(jobs.kind, kind), eq(jobs.subject, subject)))
    .returning({ id: jobs.id })
  return gone.length > 0
}

/** Leased jobs of one store that are looked at: more are never run at once. */
const LEASED_MAX = 100

const waiting = isNull(jobs.failedAt)

/**
 * When each kind of job is due next that a store waits for: one that is free, or one whose lease runs out. The kinds are looked up
 * one after the other in their index, however many jobs there are.
 */
export async function nextDues(db: Reader): Promise<Map<string, string>> {
  const free = await db.all<[string, string | null]>(sql`
    with recursive kinds(kind) as (
      select min(kind) from ${jobs} where failed_at is null
      union all
      select (select min(kind) from ${jobs} where failed_at is null and kind > kinds.kind) from kinds where kinds.kind is not null
    )
    select kind, (
      select due_at from ${jobs}
      where failed_at is null and lease_token is null and kind = kinds.kind order by due_at, id limit 1
    ) from kinds where kind is not null`)
  const leased = await db
    .select({ kind: jobs.kind, dueAt: jobs.dueAt, leaseToken: jobs.leaseToken, leaseUntil: jobs.leaseUntil })
    .from(jobs)
    .where(and(waiting, isNotNull(jobs.leaseToken)))
    .limit(LEASED_MAX)
  const dues = new Map<string, string>()
  const add = (kind: string, at: string) => dues.set(kind, at < (dues.get(kind) ?? at) ? at : (dues.get(kind) ?? at))
  for (const [kind, at] of free) if (at !== null) add(kind, at)
  for (const { kind, dueAt, leaseToken, leaseUntil } of leased) add(kind, isGone(leaseToken!) || dueAt > leaseUntil! ? dueAt : leaseUntil!)
  return dues
}

/** Claims the job of a kind that has been due for longest: takes its lease; null when none is due. */
export async function claim(
  tx: Db,
  { kind, now, until, token }: { kind: string; now: string; until: string; token: string },
): Promise<ClaimedJob | null> {
  const found = await tx
    .select()
    .from(jobs)
    .where(and(waiting, eq(jobs.kind, kind), lte(jobs.dueAt, now)))
    .orderBy(asc(jobs.dueAt), asc(jobs.id))
    .limit(LEASED_MAX)
  const due = found.find(({ leaseToken, leaseUntil }) => leaseToken === null || leaseUntil! <= now || isGone(leaseToken))
  if (!due) return null
  const lease = { leaseToken: token, leaseUntil: until, attempts: due.attempts + 1, updatedAt: now }
  await tx.update(jobs).set(lease).where(eq(jobs.id, due.id))
  return { ...due, ...lease, isLeft: due.leaseToken !== null }
}

const held = ({ id, leaseToken }: JobRow) => and(eq(jobs.id, id), eq(jobs.leaseToken, leaseToken!))

/** Whether the lease of a job is still held. */
export const holds = async (db: Reader, job: JobRow) => (await db.$count(jobs, held(job))) === 1

/** Renews a lease until an instant; false when it is lost. */
export async function renew(tx: Db, job: JobRow, until: string): Promise<boolean> {
  return (await tx.update(jobs).set({ leaseUntil: until }).where(held(job)).returning({ id: jobs.id })).length > 0
}

/** Sets the number of attempts to 0: the job got somewhere. */
export const resetAttempts = (tx: Db, job: JobRow) => tx.update(jobs).set({ attempts: 0 }).where(held(job))

const free = { leaseToken: null, leaseUntil: null }

/** Completes a job: it is removed, or due again at `again`; one that was enqueued meanwhile stays due. */
export async function complete(tx: Db, job: JobRow, again: string | null) {
  const same = and(held(job), eq(jobs.asked, job.asked))
  const left =
    again === null
      ? tx.delete(jobs).where(same)
      : tx
          .update(jobs)
          .set({ ...free, dueAt: again, attempts: 0, error: null, told: null })
          .where(same)
  await left
  await tx
    .update(jobs)
    .set({ ...free, attempts: 0, error: null, told: null })
    .where(held(job))
}

/** Releases the lease of a job that was interrupted: any process may take it from `dueAt` on, and the attempt does not count. */
export const release = (tx: Db, job: JobRow, dueAt: string) =>
  tx
    .update(jobs)
    .set({ ...free, dueAt, attempts: sql`max(0, ${jobs.attempts} - 1)` })
    .where(held(job))

/** Has a job that failed run again at `dueAt`. */
export const retry = (tx: Db, job: JobRow, dueAt: string, failure: Failure) =>
  tx
    .update(jobs)
    .set({ ...free, dueAt, ...failure })
    .where(held(job))

/**
 * Gives a job up, with the error that is kept for the operator. One that was enqueued meanwhile is due at once instead. Whoever asks for it
 * later, by a trigger too, finds all of its attempts before it. False when it is not given up, or its lease is lost.
 */
export async function giveUp(tx: Db, job: JobRow, now: string, failure: Failure): Promise<boolean> {
  const given = await tx
    .update(jobs)
    .set({ ...free, attempts: 0, failedAt: now, ...failure })
    .where(and(held(job), eq(jobs.asked, job.asked)))
    .returning({ id: jobs.id })
  if (given.length > 0) return true
  await tx
    .update(jobs)
    .set({ ...free, attempts: 0, dueAt: now, ...failure })
    .where(held(job))
  return false
}

/** Has a job that was given up run again, with all of its attempts before it; false when there is none of this id that was. */
export async function takeUp(tx: Db, { now }: Moment, id: string): Promise<boolean> {
  const again = { dueAt: now, attempts: 0, asked: sql`${jobs.asked} + 1`, error: null, told: null, failedAt: null, updatedAt: now }
  const taken = await tx
    .update(jobs)
    .set(again)
    .where(and(eq(jobs.id, id), isNotNull(jobs.failedAt)))
    .returning({ id: jobs.id })
  if (taken.length) tell(tx, now, now)
  return taken.length > 0
}

/** Removes a job that was given up; false when there is none of this id that was. */
export async function drop(tx: Db, id: string): Promise<boolean> {
  const gone = await tx
    .delete(jobs)
    .where(and(eq(jobs.id, id), isNotNull(jobs.failedAt)))
    .returning({ id: jobs.id })
  return gone.length > 0
}
