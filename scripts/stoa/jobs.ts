/** `stoa jobs …`: the work in the background of all stores, and what was given up of it. */
import { Option, type Command } from 'commander'
import { endedKinds } from '../../api/job-kinds.ts'
import { dropJob, JOB_STATES, jobsIn, retryJob, stateOf, type JobState } from '../../api/jobs/given-up.ts'
import { leaveWord } from '../../api/jobs/presence.ts'
import { realClock } from '../../api/values/clock.ts'
import { Refusal } from '../../api/values/refusal.ts'
import type { Registry } from '../../db/control/registry.ts'
import type { Db } from '../../db/driver.ts'
import { peekStores } from '../../db/peek.ts'
import { print, requireStore, table, withDatabase, withRegistry } from './context.ts'

/** Jobs of one database of a store that are shown, or retried or dropped together. */
const PER_STORE_MAX = 1_000
/** Columns of an error in a table. */
const ERROR_LENGTH = 80

interface Chosen {
  store?: string
  kind?: string
  all?: boolean
}

/** The jobs in a state of all stores, or of one. */
async function found(registry: Registry, { store, kind }: Chosen, state: JobState) {
  const ids = store === undefined ? undefined : [(await requireStore(registry, store)).id]
  const rows = await peekStores(registry, (db) => jobsIn(db, state, { limit: PER_STORE_MAX }), ids)
  return rows.filter((row) => kind === undefined || row.kind === kind)
}
type Found = Awaited<ReturnType<typeof found>>[number]

const view = ({ storeId, environment, id, kind, subject, attempts, error, dueAt, createdAt, failedAt, ...row }: Found) => ({
  ...{ storeId, environment, id, kind, subject, state: stateOf({ failedAt, ...row }), attempts, error },
  ...{ dueAt, createdAt, givenUpAt: failedAt },
})

async function list({ state, ...chosen }: Chosen & { state: JobState }, command: Command) {
  const data = (await withRegistry((registry) => found(registry, chosen, state))).map(view)
  const rows = data.map(({ storeId, environment, id, kind, subject, dueAt, givenUpAt, error }) => [
    ...[storeId, environment, id, kind, subject, givenUpAt ?? dueAt],
    (error ?? '').replace(/\s+/g, ' ').slice(0, ERROR_LENGTH),
  ])
  const head = ['STORE', 'DATA', 'ID', 'KIND', 'SUBJECT', state === 'given_up' ? 'GIVEN UP' : 'DUE', 'ERROR']
  print(command, { data, meta: { count: data.length } }, data.length ? table(head, rows) : 'none')
}

/** The given-up jobs that a command is about. Throws when there is none of an id, or several stores have one. */
async function meant(registry: Registry, id: string | undefined, chosen: Chosen): Promise<Found[]> {
  const rows = (await found(registry, chosen, 'given_up')).filter((row) => id === undefined || row.id === id.toLowerCase())
  if (id !== undefined && !rows.length) throw new Error(`no job ${id} was given up: see jobs list`)
  if (id !== undefined && new Set(rows.map(({ storeId }) => storeId)).size > 1)
    throw new Error(`several stores have a job ${id}: name one with --store`)
  return rows
}

type Change = (tx: Db, row: Found) => Promise<unknown>

/** Changes the jobs that are meant, each in its own database, and leaves word for the servers. */
async function each(id: string | undefined, chosen: Chosen, change: Change) {
  return withRegistry(async (registry) => {
    const done: Found[] = []
    const left: { id: string; error: string }[] = []
    const databases = Map.groupBy(await meant(registry, id, chosen), ({ storeId, environment }) => `${storeId} ${environment}`)
    for (const rows of databases.values()) {
      const { storeId, environment } = rows[0]!
      await withDatabase(registry, storeId, environment, async (store) => {
        for (const row of rows)
          await store
            .write((tx) => change(tx, row))
            .then(
              () => done.push(row),
              (error) => {
                if (!(error instanceof Refusal)) throw error
                left.push({ id: row.id, error: error.message })
              },
            )
      })
      await leaveWord(registry.control, { storeId, environment }, new Date())
    }
    return {
      jobs: done.map(({ storeId, environment, id: own, kind, subject }) => ({ storeId, environment, id: own, kind, subject })),
      left,
    }
  })
}

const acting = (word: 'retried' | 'dropped', change: Change) => async (id: string | undefined, chosen: Chosen, command: Command) => {
  if ((id === undefined) === (chosen.all === undefined)) command.error('error: name one job by its id, or give --all')
  const { jobs, left } = await each(id, chosen, change)
  if (id !== undefined && left.length) throw new Error(left[0]!.error)
  print(command, { [word]: jobs.length, jobs, left }, [
    `${jobs.length} ${word}`,
    ...left.map(({ id: own, error }) => `left as it is: ${own} (${error})`),
  ])
}

/** Adds `jobs` to the command line. */
export function jobCommands(program: Command) {
  const jobs = program.command('jobs').description('work in the background')
  const about = (command: Command) =>
    command.option('--store <id>', 'those of this store alone').option('--kind <kind>', 'those of this kind alone, such as order.mail')
  const all = ['--all', 'every one that was given up'] as const
  about(jobs.command('list').description('what was given up, waits or runs'))
    .addOption(new Option('--state <state>', 'which').choices(JOB_STATES).default('given_up'))
    .action(list)
  const now = () => ({ clock: realClock, now: new Date().toISOString() })
  about(jobs.command('retry [id]').description('have what was given up run again, by the servers'))
    .option(...all)
    .action(acting('retried', (tx, { id }) => retryJob(tx, now(), { id, ended: endedKinds })))
  about(jobs.command('drop [id]').description('remove what was given up: it is not done then'))
    .option(...all)
    .action(acting('dropped', (tx, { id }) => dropJob(tx, id)))
}
