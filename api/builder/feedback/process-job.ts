/** The job that makes tasks of the comments of a session. It goes on where a process that died has left it. */
import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { feedbackComments } from '../../../db/store/builder.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { noteProcessed, type CommentRow } from './comment.ts'
import type { Instructor } from './instruction.ts'
import { findSession, move } from './session.ts'

/** So many are written in one transaction. */
const AT_ONCE = 50
const RETRIES_MS = [2_000, 30_000]

interface Task {
  id: string
  taskInstruction: string
}

async function keep(tx: Db, sessionId: string, tasks: readonly Task[]) {
  for (const { id, taskInstruction } of tasks)
    await tx
      .update(feedbackComments)
      .set({ taskInstruction, status: 'processed' })
      .where(and(eq(feedbackComments.id, id), eq(feedbackComments.status, 'open')))
  await noteProcessed(tx, sessionId)
}

async function process(instructor: Instructor, job: Running): Promise<'interrupted' | void> {
  const { store, subject, signal, clock } = job
  const open = (): Promise<CommentRow[]> =>
    store.read
      .select()
      .from(feedbackComments)
      .where(and(eq(feedbackComments.sessionId, subject), eq(feedbackComments.status, 'open')))
      .orderBy(asc(feedbackComments.id))
      .limit(AT_ONCE)
  for (;;) {
    if (signal.aborted) return 'interrupted'
    // Whoever finalizes it meanwhile wants no more of it.
    if ((await findSession(store.read, subject))?.status !== 'processing') return
    const comments = await open()
    const tasks: Task[] = []
    for (const comment of comments) tasks.push({ id: comment.id, taskInstruction: await instructor.instruct(comment) })
    await store.write(async (tx) => {
      await job.progress(tx)
      if (comments.length) await keep(tx, subject, tasks)
      else await move(tx, subject, 'present', { now: clock.now().toISOString() })
    })
  }
}

export const processComments = (instructor: Instructor): JobKind => ({
  run: (job) => process(instructor, job),
  retriesMs: RETRIES_MS,
  // Comments without a task can be read as they are: nobody has to wait for them.
  async givenUp(tx, { now }, subject, { error }) {
    await move(tx, subject, 'present', { now, errorMessage: `not every comment could be made a task: ${error}` })
  },
})
