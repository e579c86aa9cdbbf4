/** A comment of a reviewer: what comes in, what goes out, and how it is kept. */
import { and, asc, count, eq, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { feedbackComments, feedbackSessions } from '../../../db/store/builder.ts'
import { parser } from '../../http/input/check.ts'
import { Instant, Named, Nullable, OneOf, ONE_LINE, Text, Type, Uuid, type Static } from '../../http/schema.ts'
import type { Moment } from '../../values/clock.ts'
import { conflict, invalid, missing, wrong } from '../../values/refusal.ts'
import type { SessionRow } from './session.ts'

export type CommentRow = typeof feedbackComments.$inferSelect

/** Comments that a session takes: they are shown on one page. */
const PER_SESSION_MAX = 500
const VIEWPORT_MAX = 20_000

export const FeedbackComment = Named('FeedbackComment', {
  id: Uuid(),
  content: Type.String({ examples: ['The price should stand beside the name.'] }),
  author: Nullable(Type.String(), { description: 'The name that the reviewer gave' }),
  pagePath: Type.String({ examples: ['/products/linen-shirt'] }),
  status: OneOf(['open', 'processed']),
  taskInstruction: Nullable(Type.String(), { description: 'One sentence of page, element and wish; null until it is processed' }),
  createdAt: Instant(),
})

const share = () => Type.Number({ minimum: 0, maximum: 1 })
/** What a reviewer's page sends. */
const CommentInput = Type.Object(
  {
    content: Text(1, 2_000),
    author: Type.Optional(Nullable(Text(0, 100, { pattern: ONE_LINE }))),
    pagePath: Text(1, 2_048, { pattern: '^/[^\\u0000-\\u0020\\u007f\\\\]*$' }),
    pin: Type.Optional(
      Nullable(
        Type.Object(
          {
            selector: Text(1, 500, { pattern: ONE_LINE }),
            x: share(),
            y: share(),
            viewportWidth: Type.Integer({ minimum: 1, maximum: VIEWPORT_MAX }),
            element: Text(1, 200, { pattern: ONE_LINE }),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
)
const input = parser(CommentInput)

/** What is wrong with a text that is no Unicode: it could not be shown, nor sent on. */
const isWhole = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The comment in a body; refuses with 400 and details. */
export function commentIn(body: unknown): Static<typeof CommentInput> {
  const details = input.problems(body)
  if (details.length) throw invalid(details)
  const comment = body as Static<typeof CommentInput>
  const content = comment.content.trim()
  if (!content) throw wrong('content', 'must not be blank')
  for (const [field, text] of [
    ['content', content],
    ['author', comment.author ?? ''],
    ['pagePath', comment.pagePath],
    ['pin', `${comment.pin?.selector}${comment.pin?.element}`],
  ] as const)
    if (!isWhole(text)) throw wrong(field, 'has characters that are none')
  if (comment.pagePath.startsWith('//')) throw wrong('pagePath', 'must be the path of a page')
  return { ...comment, content, author: comment.author?.trim() || null }
}

/** Keeps a comment while the review is open; 409 when it is not, or has as many as it takes. */
export async function addComment(
  tx: Db,
  { clock, now }: Moment,
  { sessionId, visitor, comment }: { sessionId: string; visitor: string; comment: Static<typeof CommentInput> },
): Promise<CommentRow> {
  await requireOpen(tx, sessionId)
  if ((await tx.$count(feedbackComments, eq(feedbackComments.sessionId, sessionId))) >= PER_SESSION_MAX)
    throw conflict(`a review takes at most ${PER_SESSION_MAX} comments`)
  const { content, author = null, pagePath, pin = null } = comment
  const row: CommentRow = {
    ...{ id: clock.id(), sessionId, content, author, pagePath, pin, visitor },
    ...{ status: 'open', taskInstruction: null, createdAt: now },
  }
  await tx.insert(feedbackComments).values(row)
  return row
}

/** Takes a comment back, which is its writer's alone to do: 404 for one of anybody else. */
export async function removeComment(tx: Db, { sessionId, visitor, id }: { sessionId: string; visitor: string; id: string }) {
  await requireOpen(tx, sessionId)
  const gone = await tx.delete(feedbackComments).where(own({ sessionId, visitor, id })).returning({ id: feedbackComments.id })
  if (!gone.length) throw missing('comment')
}

/** Whether a comment is the visitor's: asked before anything waits for the turn to write. */
export const isOwn = async (db: Reader, of: { sessionId: string; visitor: string; id: string }) =>
  (await db.$count(feedbackComments, own(of))) > 0

const own = ({ sessionId, visitor, id }: { sessionId: string; visitor: string; id: string }) =>
  and(eq(feedbackComments.id, id), eq(feedbackComments.sessionId, sessionId), eq(feedbackComments.visitor, visitor))

/** Refuses, with 409, what can be done while reviewers comment alone. */
export async function requireOpen(db: Reader, sessionId: string) {
  const [row] = await db.select({ status: feedbackSessions.status }).from(feedbackSessions).where(eq(feedbackSessions.id, sessionId))
  if (row?.status !== 'in_progress') throw conflict('this review is not open for comments')
}

/** The comments of a session, oldest first. */
export const commentsOf = (db: Reader, sessionId: string): Promise<CommentRow[]> =>
  db
    .select()
    .from(feedbackComments)
    .where(eq(feedbackComments.sessionId, sessionId))
    .orderBy(asc(feedbackComments.id))
    .limit(PER_SESSION_MAX)

/** Notes how many comments of a session are processed. */
export async function noteProcessed(tx: Db, sessionId: string): Promise<SessionRow> {
  const [{ total, done } = { total: 0, done: 0 }] = await tx
    .select({ total: count(), done: sql<number>`coalesce(sum(${feedbackComments.status} = 'processed'), 0)` })
    .from(feedbackComments)
    .where(eq(feedbackComments.sessionId, sessionId))
  const progress = { total, done, label: `${done} of ${total} comments are tasks`, eta: null }
  const [row] = await tx.update(feedbackSessions).set({ progress }).where(eq(feedbackSessions.id, sessionId)).returning()
  return row!
}
