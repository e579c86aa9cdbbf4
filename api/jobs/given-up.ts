/** The jobs of stores as somebody looks at them: those that were given up, wait or run, and what becomes of those that were given up. */
import { and, asc, count, desc, eq, isNotNull, isNull, type SQL } from 'drizzle-orm'
import type { Registry } from '../../db/control/registry.ts'
import type { Db, Reader } from '../../db/driver.ts'
import { peekStores } from '../../db/peek.ts'
import { jobs } from '../../db/store/store.ts'
import type { Moment } from '../values/clock.ts'
import { conflict, missing } from '../values/refusal.ts'
import { drop, takeUp, type JobRow } from './queue.ts'

export const JOB_STATES = ['given_up', 'waiting', 'running'] as const
export type JobState = (typeof JOB_STATES)[number]
/** Kinds of which a job that was given up has ended what it was for, each with what to do instead of asking for it again. */
export type Ended = Readonly<Record<string, string>>

/** As many of one store as anybody reads. */
const PER_STORE_MAX = 20

export const stateOf = ({ failedAt, leaseToken }: Pick<JobRow, 'failedAt' | 'leaseToken'>): JobState =>
  failedAt !== null ? 'given_up' : leaseToken !== null ? 'running' : 'waiting'

/** Nothing that was given up is leased. */
const leased = isNotNull(jobs.leaseToken)
const SUCH = {
  given_up: { where: isNotNull(jobs.failedAt), order: [desc(jobs.failedAt), desc(jobs.id)] },
  // In the order of their index: a store may have a hundred thousand that ask for reviews one day.
  waiting: { where: and(isNull(jobs.failedAt), isNull(jobs.leaseToken)), order: [asc(jobs.kind), asc(jobs.dueAt), asc(jobs.id)] },
  running: { where: leased, order: [asc(jobs.leaseToken)] },
}

/** Some of a store's jobs in a state: those given up with the newest first, those that wait by kind and when they are due. */
export const jobsIn = (db: Reader, state: JobState, { limit, offset = 0 }: { limit: number; offset?: number }): Promise<JobRow[]> =>
  db
    .select()
    .from(jobs)
    .where(SUCH[state].where)
    .orderBy(...SUCH[state].order)
    .limit(limit)
    .offset(offset)

/** How many jobs are in a state, counted in indexes alone. */
export async function countIn(db: Reader, state: JobState): Promise<number> {
  if (state !== 'waiting') return db.$count(jobs, SUCH[state].where)
  return (await db.$count(jobs)) - (await db.$count(jobs, SUCH.given_up.where)) - (await db.$count(jobs, leased))
}

/** How many jobs of each kind are in each state. */
export async function countByKind(db: Reader): Promise<{ kind: string; state: JobState; count: number }[]> {
  const by = (where?: SQL) => db.select({ kind: jobs.kind, count: count() }).from(jobs).where(where).groupBy(jobs.kind)
  const others = { given_up: await by(SUCH.given_up.where), running: await by(leased) }
  const counted = (['given_up', 'running'] as const).flatMap((state) => others[state].map((row) => ({ ...row, state })))
  const taken = (kind: string) => counted.reduce((sum, row) => sum + (row.kind === kind ? row.count : 0), 0)
  const waiting = (await by()).map(({ kind, count: all }) => ({ kind, state: 'waiting' as const, count: all - taken(kind) }))
  return [...counted, ...waiting.filter((row) => row.count > 0)]
}

/** The jobs that were given up, the newest of each store first; those of the stores that are named alone. */
export const givenUp = (registry: Registry, { limit = PER_STORE_MAX, ids }: { limit?: number; ids?: readonly string[] } = {}) =>
  peekStores(registry, (db) => jobsIn(db, 'given_up', { limit }), ids)

/** The job of this id. Throws 404 when there is none. */
export async function findJob(db: Reader, id: string): Promise<JobRow> {
  const [row] = await db.select().from(jobs).where(eq(jobs.id, id))
  if (!row) throw missing('job')
  return row
}

/** Has a job that was given up run again. 409 for one that was not, and for one that has ended what it was for. */
export async function retryJob(tx: Db, moment: Moment, { id, ended }: { id: string; ended: Ended }): Promise<JobRow> {
  const { kind } = await findJob(tx, id)
  const instead = Object.hasOwn(ended, kind) ? ended[kind] : undefined
  if (instead !== undefined) throw conflict(`this job can't be retried, only dropped: ${instead}`)
  if (!(await takeUp(tx, moment, id))) throw conflict('this job was not given up: it runs by itself')
  return findJob(tx, id)
}

/** Removes a job that was given up. 409 for one that was not. */
export async function dropJob(tx: Db, id: string) {
  await findJob(tx, id)
  if (!(await drop(tx, id))) throw conflict('this job was not given up: it can not be dropped')
}
