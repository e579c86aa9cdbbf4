/** `/jobs`: the store's work in the background, and what was given up of it. */
import { resource } from '../http/route.ts'
import { deleted, Deleted, Named, Nullable, OneOf, Page, Paging, Type } from '../http/schema.ts'
import { countIn, dropJob, findJob, JOB_STATES, jobsIn, retryJob, stateOf, type Ended } from '../jobs/given-up.ts'
import type { JobRow } from '../jobs/queue.ts'

const ADMIN = 'store:admin'
/** What a merchant reads of an error that tells of the server. */
const HERE = 'it failed for a reason of this server, which its operator reads with stoa jobs list'

const Job = Named('Job', {
  id: Type.String({ description: 'What `retry` and `DELETE` take', examples: ['01a1febd-c757-742a-9837-d30cff22392e'] }),
  kind: Type.String({ description: 'What it does', examples: ['order.mail'] }),
  subject: Type.String({ description: 'What it is about: mostly an id', examples: ['refund 01a1febd-c757-742a-9837-d30cff22392e'] }),
  state: OneOf(JOB_STATES, { description: '`given_up`: nothing happens to it by itself any more' }),
  attempts: Type.Integer({
    description: 'Attempts since it last got anywhere; 0 once it was given up, since a retry has all of them again',
  }),
  error: Nullable(Type.String(), { description: 'What went wrong the last time; null when nothing did' }),
  dueAt: Type.String({ description: 'When it runs, or was to run' }),
  createdAt: Type.String(),
  givenUpAt: Nullable(Type.String(), { description: 'Null unless it was given up' }),
  retriable: Type.Boolean({ description: 'False: it can only be dropped, since what it was for has ended' }),
})

/** The routes; `ended` are the kinds of which nothing is left to be done once they were given up. */
export function jobRoutes(ended: Ended) {
  const view = (row: JobRow) => ({
    ...row,
    state: stateOf(row),
    error: row.error === null ? null : (row.told ?? HERE),
    givenUpAt: row.failedAt,
    retriable: row.failedAt !== null && !Object.hasOwn(ended, row.kind),
  })
  return resource('store', '/jobs')
    .get(
      '',
      {
        operationId: 'listJobs',
        summary: 'List work in the background',
        description:
          'What was given up, the newest first, unless `state` says otherwise. What waits stands by kind, and then by when it is due; what is done is no job any more.',
        scope: ADMIN,
        query: { ...Paging(50), state: OneOf(JOB_STATES, { default: 'given_up' }) },
        responses: { 200: Page(Job) },
      },
      async ({ db, query: { limit, offset, state } }) => ({
        data: (await jobsIn(db, state, { limit, offset })).map(view),
        meta: { count: await countIn(db, state), offset, limit },
      }),
    )
    .get('/{id}', { operationId: 'getJob', summary: 'Read a job', scope: ADMIN, responses: { 200: Job } }, async ({ db, params }) =>
      view(await findJob(db, params.id)),
    )
    .delete(
      '/{id}',
      {
        operationId: 'deleteJob',
        summary: 'Drop a job that was given up',
        description: 'What it was for is not done then. 409 for one that was not given up.',
        scope: ADMIN,
        responses: { 200: Deleted },
        refuses: [409],
      },
      ({ params, write }) =>
        write(async (tx) => {
          await dropJob(tx, params.id)
          return deleted
        }),
    )
    .post(
      '/{id}/retry',
      {
        operationId: 'retryJob',
        summary: 'Have a job that was given up run again',
        description:
          'With all of its attempts before it. 409 for one that was not given up, and for one of which nothing is left to be done: the error says what to do instead.',
        scope: ADMIN,
        responses: { 202: Job },
      },
      (call) => call.write(async (tx) => view(await retryJob(tx, call, { id: call.params.id, ended }))),
    )
}
