/** `/feedback-sessions`: reviews of a preview of an AI-built store (documents 2, 3 and 7). */
import { desc, eq } from 'drizzle-orm'
import { feedbackSessions, SESSION_STATUSES } from '../../../db/store/builder.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type AnyCall } from '../../http/route.ts'
import { Counted, OneOf, Page, Paging, Type } from '../../http/schema.ts'
import { enqueue } from '../../jobs/queue.ts'
import { buildsPerDayOf, requireRoom, takeBuild } from '../../store/room.ts'
import { closeDeployment } from '../projects.ts'
import { requireBuilder } from '../publishing/publish.ts'
import { commentsOf, FeedbackComment, noteProcessed } from './comment.ts'
import {
  beginSession,
  FeedbackSession,
  FeedbackSessionDetail,
  moveOrRefuse,
  PREVIEW,
  PROCESS,
  progressOf,
  requireSession,
  view,
  type SessionRow,
} from './session.ts'

const SCOPE = 'store:admin'

const shown = ({ services, session }: Pick<AnyCall, 'services' | 'session'>, row: SessionRow) => view(services, session.store.id, row)

/** Ends a session, then its preview. The job sees to the preview when this process dies in between. */
async function end(call: AnyCall, name: 'cancel' | 'finalize', refusal: string) {
  const { clock, now, services } = call
  const row = await call.write(async (tx) => {
    const moved = await moveOrRefuse(tx, call.params.id, name, { now, refusal })
    await enqueue(tx, { clock, now }, { kind: PREVIEW, subject: moved.id, dueAt: now })
    return moved
  })
  await closeDeployment(services.registry, { storeId: call.session.store.id, id: row.deploymentId! }, clock.now())
  return shown(call, row)
}

export const feedbackSessionRoutes = resource('builder', '/feedback-sessions')
  .get(
    '',
    {
      operationId: 'listFeedbackSessions',
      summary: 'List feedback sessions',
      description: 'Newest first.',
      scope: SCOPE,
      query: { ...Paging(50), status: Type.Optional(OneOf(SESSION_STATUSES)) },
      responses: { 200: Page(FeedbackSession) },
    },
    async (call) => {
      const { limit, offset, status } = call.query
      const where = status === undefined ? undefined : eq(feedbackSessions.status, status)
      const { id } = feedbackSessions
      const rows = await call.db.select().from(feedbackSessions).where(where).orderBy(desc(id)).limit(limit).offset(offset)
      const count = await call.db.$count(feedbackSessions, where)
      return { data: rows.map((row) => shown(call, row)), meta: { count, offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createFeedbackSession',
      summary: 'Begin a feedback session',
      description:
        'Locks the design workspace and builds a preview of it in the background; it is `in_progress` once that is up, or `interrupted` with an `errorMessage`. 409 while another one is active, or a publish runs. 403 when the disk quota is used up, 429 when the builds of a day are: see `GET /usage`.',
      scope: SCOPE,
      responses: { 201: FeedbackSession },
    },
    async (call) => {
      const { session, services, clock, now } = call
      requireBuilder(session)
      await requireRoom({ registry: services.registry, db: call.db, owner: ownerOf(call) })
      const perDay = await buildsPerDayOf(services.registry, session.store)
      const row = await call.write(async (tx) => {
        const begun = await beginSession(tx, { clock, now }, session.store.id, services)
        await takeBuild(tx, { clock, now }, perDay)
        return begun
      })
      return shown(call, row)
    },
  )
  .get(
    '/{id}',
    {
      operationId: 'getFeedbackSession',
      summary: 'Read a feedback session',
      description: 'With its `progress`.',
      scope: SCOPE,
      responses: { 200: FeedbackSessionDetail },
    },
    async (call) => {
      const row = await requireSession(call.db, call.params.id)
      return { ...shown(call, row), progress: progressOf(row) }
    },
  )
  .get(
    '/{id}/comments',
    {
      operationId: 'listFeedbackComments',
      summary: 'List the comments of a feedback session',
      description: 'Oldest first, at most 500. Where each is pinned is shown in the review alone.',
      scope: SCOPE,
      responses: { 200: Counted(FeedbackComment) },
    },
    async ({ db, params }) => {
      const { id } = await requireSession(db, params.id)
      const data = await commentsOf(db, id)
      return { data, meta: { count: data.length } }
    },
  )
  .post(
    '/{id}/cancel',
    {
      operationId: 'cancelFeedbackSession',
      summary: 'Cancel a feedback session',
      description: 'While its preview is being made; the build is thrown away. 409 afterwards: finalize it instead.',
      scope: SCOPE,
      responses: { 200: FeedbackSession },
    },
    (call) => end(call, 'cancel', 'only a session that is being prepared can be canceled: to end this one, finalize it'),
  )
  .post(
    '/{id}/finalize',
    {
      operationId: 'finalizeFeedbackSession',
      summary: 'Finalize a feedback session',
      description:
        'Closes the review and its preview, and unlocks the design workspace. 409 while it is being prepared, or once it has ended.',
      scope: SCOPE,
      responses: { 200: FeedbackSession },
    },
    (call) => end(call, 'finalize', 'a session can be finalized from when its preview is up until it has ended'),
  )
  .post(
    '/{id}/process',
    {
      operationId: 'processFeedbackSession',
      summary: 'Process the comments of a feedback session',
      description:
        'Once reviewers have submitted it: each open comment gets its `taskInstruction` in the background, then the session is `in_review`.',
      scope: SCOPE,
      responses: { 200: FeedbackSession },
    },
    async (call) => {
      const { clock, now, params } = call
      const row = await call.write(async (tx) => {
        const moved = await moveOrRefuse(tx, params.id, 'process', { now, refusal: 'only a session that was submitted can be processed' })
        await enqueue(tx, { clock, now }, { kind: PROCESS, subject: moved.id, dueAt: now })
        return noteProcessed(tx, moved.id)
      })
      return shown(call, row)
    },
  )
