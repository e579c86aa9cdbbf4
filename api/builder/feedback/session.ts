/** A feedback session: its row, how it moves on, and how it is shown (document 2, Feedback session; document 7, Feedback sessions). */
import { and, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import { newDeploymentId } from '../../../db/deployment-files.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { builds, feedbackSessions, SESSION_STATUSES } from '../../../db/store/builder.ts'
import { Instant, Named, Nullable, OneOf, Type, Uuid, type Static } from '../../http/schema.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import { newToken } from '../../store/links/link-token.ts'
import type { Moment } from '../../values/clock.ts'
import { conflict, missing } from '../../values/refusal.ts'
import { later } from '../../values/time.ts'
import { runningPublish } from '../publishing/publish.ts'
import { isEnded, isShown, MOVES, type Move, type SessionStatus } from './transitions.ts'

export type SessionRow = typeof feedbackSessions.$inferSelect
type Progress = SessionRow['progress']

/** The kinds of jobs: the preview of a session, by its id, made and closed; and the comments of one that become tasks. */
export const PREVIEW = 'builder.preview'
export const PROCESS = 'builder.process'
/** The page of reviewers, before the token. */
export const REVIEW_PATH = '/feedback/'

/** What is done before reviewers can begin; the first is a queue. */
const STEPS = ['Waiting for other builds', 'Building the preview', 'Looking at the preview'] as const
/** What goes on in the states in which nothing is counted. */
const LABELS: Readonly<Partial<Record<SessionStatus, string>>> = {
  in_progress: 'Reviewers comment on the preview',
  task_review: 'The comments wait to be processed',
  in_review: 'The comments are tasks now',
  done: 'Done',
  canceled: 'Canceled',
  interrupted: 'Interrupted',
}

const fields = {
  id: Uuid(),
  status: OneOf(SESSION_STATUSES, { examples: ['in_progress'] }),
  feedbackUrl: Nullable(Type.String({ examples: ['https://api.example.com/feedback/AZ3q…'] }), {
    description: 'The link for reviewers; null once the server has another `SECRET_KEY` than when the session began',
  }),
  deploymentUrl: Nullable(Type.String({ examples: ['http://dpl_8f3k2m9x1c7v5b4n6q0w2e3r.localhost:3000'] }), {
    description: 'The preview; null until it is up',
  }),
  errorMessage: Nullable(Type.String(), { description: 'Why it was interrupted, in plain language' }),
  createdAt: Instant(),
  updatedAt: Instant(),
}
export const FeedbackSession = Named('FeedbackSession', fields)
export const FeedbackSessionDetail = Named('FeedbackSessionDetail', {
  ...fields,
  progress: Type.Object({
    total: Type.Integer({ description: 'Steps while the preview is made, comments while they are processed' }),
    done: Type.Integer(),
    fillPct: Type.Number({ minimum: 0, maximum: 100 }),
    label: Type.String({ examples: ['Building the preview'] }),
    eta: Nullable(Instant(), { description: 'From the earlier builds of the store; null when there are none, or nothing is awaited' }),
  }),
})

/** What is stored of a token: who reads the database can't open the review. */
export const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
export const placeOf = (storeId: string) => `feedback link ${storeId}`

/** How far the making of a preview is: the step that is being done, counted from 0. */
export const stepOf = (done: number, eta: string | null): Progress => ({ total: STEPS.length, done, label: STEPS[done] ?? '', eta })

/** How long the builds of a store take: the median of its previews, else of all that are remembered; null when there were none. */
export async function usualMs(db: Reader): Promise<number | null> {
  const rows = await db.select({ kind: builds.kind, ms: builds.ms }).from(builds).orderBy(desc(builds.id)).limit(50)
  const previews = rows.filter(({ kind }) => kind === 'preview')
  const sorted = (previews.length ? previews : rows).map(({ ms }) => ms).toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

/** When a build that begins now will have ended, as far as that can be told. */
export async function etaOf(db: Reader, now: string): Promise<string | null> {
  const ms = await usualMs(db)
  return ms === null ? null : later(now, ms)
}

/** Begins a session: it locks the workspace, and its preview is made in the background. 409 while another one, or a publish, runs. */
export async function beginSession(tx: Db, moment: Moment, storeId: string, { secrets }: Pick<Services, 'secrets'>): Promise<SessionRow> {
  const { clock, now } = moment
  if (await tx.$count(feedbackSessions, isNotNull(feedbackSessions.active)))
    throw conflict('a feedback session is already in progress: finalize it, or cancel it while it is being prepared')
  if (await runningPublish(tx)) throw conflict('a publish is running: begin the review when it has ended')
  const token = newToken({ storeId, environment: 'live' })
  const row: SessionRow = {
    ...{ id: clock.id(), status: 'created', active: 1, tokenHash: hashOf(token), token: secrets.seal(token, placeOf(storeId)) },
    ...{ deploymentId: newDeploymentId(), errorMessage: null, progress: stepOf(0, await etaOf(tx, now)), createdAt: now, updatedAt: now },
  }
  await tx.insert(feedbackSessions).values(row)
  await enqueue(tx, moment, { kind: PREVIEW, subject: row.id, dueAt: now })
  return row
}

export const findSession = async (db: Reader, id: string): Promise<SessionRow | null> =>
  (await db.select().from(feedbackSessions).where(eq(feedbackSessions.id, id)))[0] ?? null

/** The session that a link opens; null when none does. */
export const sessionOfToken = async (db: Reader, token: string): Promise<SessionRow | null> =>
  (
    await db
      .select()
      .from(feedbackSessions)
      .where(eq(feedbackSessions.tokenHash, hashOf(token)))
  )[0] ?? null

export async function requireSession(db: Reader, id: string): Promise<SessionRow> {
  const row = await findSession(db, id)
  if (!row) throw missing('feedback session')
  return row
}

/** Moves a session on, if it is where the move starts from; null when it is not. */
export async function move(
  tx: Db,
  id: string,
  name: Move,
  more: { now: string } & Partial<Pick<SessionRow, 'errorMessage' | 'progress'>>,
): Promise<SessionRow | null> {
  const { now, ...set } = more
  const { from, to } = MOVES[name]
  const [moved] = await tx
    .update(feedbackSessions)
    .set({ ...set, status: to, active: isEnded(to) ? null : 1, updatedAt: now })
    .where(and(eq(feedbackSessions.id, id), inArray(feedbackSessions.status, [...from])))
    .returning()
  return moved ?? null
}

/** The same for whoever asks for it: 404 for a session that is not there, 409 with `refusal` where the move does not start. */
export async function moveOrRefuse(tx: Db, id: string, name: Move, { now, refusal }: { now: string; refusal: string }) {
  const { status } = await requireSession(tx, id)
  const moved = await move(tx, id, name, { now })
  if (!moved) throw conflict(`${refusal}: it is ${status}`, { status })
  return moved
}

/** The URL of a session's preview. */
export const previewUrl = ({ storefronts }: Pick<Services, 'storefronts'>, { deploymentId }: SessionRow): string =>
  storefronts.urlOf(storefronts.hostOf(deploymentId!))

/** A session as lists show it. */
export function view(
  services: Pick<Services, 'secrets' | 'storefronts'>,
  storeId: string,
  row: SessionRow,
): Static<typeof FeedbackSession> {
  const { id, status, errorMessage, createdAt, updatedAt } = row
  const token = services.secrets.open<string>(row.token, placeOf(storeId))
  const wasUp = isShown(status) || status === 'done'
  return {
    ...{ id, status, errorMessage, createdAt, updatedAt },
    feedbackUrl: token && `${services.storefronts.place.apiUrl}${REVIEW_PATH}${token}`,
    deploymentUrl: wasUp && row.deploymentId ? previewUrl(services, row) : null,
  }
}

/** How far a session is. */
export function progressOf({ status, progress }: SessionRow): Static<typeof FeedbackSessionDetail>['progress'] {
  const { total, done, label, eta } = progress
  const counts = status === 'created' || status === 'processing'
  const fillPct = total ? Math.min(100, Math.round((done / total) * 100)) : 100
  return { total, done, fillPct, label: LABELS[status] ?? label, eta: counts ? eta : null }
}
