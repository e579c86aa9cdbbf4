/** The states of a feedback session, and what leads from one to the next (documents 2, 3 and 7). */
import type { SESSION_STATUSES } from '../../../db/store/builder.ts'

export type SessionStatus = (typeof SESSION_STATUSES)[number]
export type Move = 'open' | 'interrupt' | 'cancel' | 'submit' | 'process' | 'present' | 'finalize'

/** Each move: the states that it starts from, and the one that it leads to. */
export const MOVES: Readonly<Record<Move, { from: readonly SessionStatus[]; to: SessionStatus }>> = {
  /** The preview is up. */
  open: { from: ['created'], to: 'in_progress' },
  /** The preview can't be made. */
  interrupt: { from: ['created'], to: 'interrupted' },
  cancel: { from: ['created'], to: 'canceled' },
  /** By the reviewers' link. */
  submit: { from: ['in_progress'], to: 'task_review' },
  process: { from: ['task_review'], to: 'processing' },
  /** Every comment has its task. */
  present: { from: ['processing'], to: 'in_review' },
  finalize: { from: ['in_progress', 'task_review', 'processing', 'in_review'], to: 'done' },
}

/** Whether a session in this state has ended: it locks nothing any more, and nothing leads on from it. */
export const isEnded = (status: SessionStatus): boolean => !Object.values(MOVES).some(({ from }) => from.includes(status))

/** Whether the preview of a session in this state is up: there was one, and it is not closed. */
export const isShown = (status: SessionStatus): boolean => status !== 'created' && !isEnded(status)
