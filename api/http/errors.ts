/** Errors that are no refusals yet: what the database would not take, and what nobody expected. */
import { BucketError } from '../../db/bucket.ts'
import { Abandoned, Busy, constraintOf, Hung, troubleOf, type Trouble } from '../../db/errors.ts'
import { Unusable } from '../../db/unusable.ts'
import { Refusal } from '../values/refusal.ts'

/** 409 for what a constraint of the database refused; null for any other error. */
export function constraintRefusal(error: unknown): Refusal | null {
  const constraint = constraintOf(error)
  return constraint && new Refusal(409, constraintMessage(constraint))
}

function constraintMessage({ kind, columns }: { kind: string; columns: string[] }): string {
  if (kind === 'unique') return `${columns.map((column) => column.split('.')[1] ?? column).join(' and ')} already exists`
  if (kind === 'foreign_key') return 'still referenced by, or refers to, another resource'
  return 'the change breaks a rule that the store keeps'
}

/** The refusal that a client gets for anything thrown; null for what it must not learn more of than that it happened. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  if (error instanceof Busy) return new Refusal(503, 'the store is busy, try again', {}, { 'retry-after': String(error.retryAfterSeconds) })
  if (error instanceof Hung)
    return new Refusal(503, 'the change took too long and was ended: nothing of it was made', {}, { 'retry-after': '10' })
  if (error instanceof Unusable)
    return new Refusal(503, "the store's database can't be used: whoever runs the server has to restore it", {}, { 'retry-after': '60' })
  if (isCutOff(error)) return new Refusal(408, 'the connection was closed before the whole request had come')
  if (error instanceof Abandoned) return new Refusal(408, 'the connection was closed before it was the turn of the request')
  const trouble = troubleOf(error)
  if (trouble) return troubleRefusal(trouble)
  if (error instanceof BucketError)
    return new Refusal(503, "the server's file store does not answer: nothing was changed", {}, { 'retry-after': '10' })
  return constraintRefusal(error)
}

/** The refusal that tells a client of a disk or a database that can't be used; its operator finds more in the log. */
function troubleRefusal({ kind, code }: Trouble): Refusal {
  if (kind === 'full') return new Refusal(507, "the server's disk is full: nothing was changed", {}, { 'retry-after': '30' })
  const message =
    kind === 'damaged'
      ? "the store's database is damaged: whoever runs the server has to restore it"
      : `the server's disk can't be read or written (${code}): nothing was changed`
  return new Refusal(503, message, {}, { 'retry-after': '60' })
}

/** Bun's error for a request whose rest will not come: its client has hung up, or was cut off. Nobody reads the answer, but the log. */
const isCutOff = (error: unknown) => error instanceof Error && error.name === 'AbortError' && error.message === 'The connection was closed.'
