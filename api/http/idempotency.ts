/** `Idempotency-Key` (document 3): the first answer is stored in the transaction of its effect, so a crash leaves both or none. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { idempotencyKeys } from '../../db/store/store.ts'
import { askedBy } from './call.ts'
import type { Asking } from '../../db/writer.ts'
import { isSealed, type Secrets } from '../outside/secrets.ts'
import { invalid, Refusal } from '../values/refusal.ts'
import { jsonResponse } from './respond.ts'
import { hasSecret, oneSpelling, pathOf } from './url.ts'

/** How long a first answer is kept. */
export const KEPT_MS = 24 * 60 * 60 * 1000

/** An answer, the first one or the same again. */
interface Outcome {
  status: number
  body: string
  replayed: boolean
}

/** The answer as it is sent. */
export const answered = ({ status, body, replayed }: Outcome, headers: Record<string, string>) =>
  jsonResponse(status, body, replayed ? { ...headers, 'idempotent-replayed': 'true' } : headers)

/** A request as its key knows it. */
export interface Attempt {
  keyId: string
  path: string
  /** The `Idempotency-Key`. */
  key: string
  bodyHash: string
  asking: Asking
  about: { requestId: string; now: string }
}

/** The attempt of a request under its `Idempotency-Key`; null without a key, or for no POST. Refuses with 400 what can't be a key. */
export function attemptOf(request: Request, pattern: string, keyId: string, text: string, about: Attempt['about']): Attempt | null {
  const key = request.method === 'POST' ? request.headers.get('idempotency-key') : null
  if (key === null) return null
  if (key.length < 1 || key.length > 255)
    throw invalid([
      {
        code: key.length ? 'too_big' : 'too_small',
        message: 'must have 1 to 255 characters',
        path: ['Idempotency-Key'],
        minimum: 1,
        maximum: 255,
      },
    ])
  const bodyHash = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const path = oneSpelling(pathOf(request.url))
  // A secret is not kept in clear.
  const known = hasSecret(pattern) ? `${pattern} ${new Bun.CryptoHasher('sha256').update(path).digest('hex')}` : path
  return { keyId, path: known, key, bodyHash, asking: askedBy(request, { method: 'POST', path: pattern }), about }
}

const PRIMARY = [idempotencyKeys.keyId, idempotencyKeys.path, idempotencyKeys.idempotencyKey]
const rowOf = ({ keyId, path, key }: Attempt) =>
  and(eq(idempotencyKeys.keyId, keyId), eq(idempotencyKeys.path, path), eq(idempotencyKeys.idempotencyKey, key))

export const placeOf = ({ keyId, path, key }: Pick<Attempt, 'keyId' | 'path' | 'key'>) => `idempotency ${keyId} ${path} ${key}`

/** An answer may hold what is shown once (a key, a token, a client secret): it is kept sealed. One of an earlier release is not. */
function opened(body: string, attempt: Attempt, secrets: Secrets): string {
  if (!isSealed(body)) return body
  const text = secrets.open<string>(body, placeOf(attempt))
  if (text === null) throw new Refusal(409, 'the first answer to this Idempotency-Key was sealed with another SECRET_KEY: send a new key')
  return text
}

/** The first answer, while it is kept; refuses with 422 when it was to another body. */
export async function replayed(db: Reader, attempt: Attempt, secrets: Secrets): Promise<Outcome | null> {
  const { bodyHash, about } = attempt
  const [first] = await db.select().from(idempotencyKeys).where(rowOf(attempt))
  if (!first || first.createdAt <= new Date(Date.parse(about.now) - KEPT_MS).toISOString()) return null
  if (first.bodyHash !== bodyHash) throw new Refusal(422, 'this Idempotency-Key was used with another body', { requestId: about.requestId })
  return { status: first.status, body: opened(first.body, attempt, secrets), replayed: true }
}

/**
 * Runs `effect` once for this key, path and body. A refusal is an answer too: it undoes the effect, is stored and comes again.
 * Failures of the server are not stored, so that they can be tried again.
 */
export async function once(
  handle: Handle,
  attempt: Attempt,
  secrets: Secrets,
  effect: (tx: Db) => Promise<{ status: number; body: string }>,
): Promise<Outcome> {
  const { keyId, path, key, bodyHash, about } = attempt
  return handle.write(async (tx) => {
    const first = await replayed(tx, attempt, secrets)
    if (first) return first
    await tx.run(sql.raw('SAVEPOINT effect'))
    let outcome: { status: number; body: string }
    try {
      outcome = await effect(tx)
    } catch (error) {
      // What says when to try again is no answer to this request for a day.
      if (!(error instanceof Refusal) || error.status >= 500 || error.headers['retry-after'] !== undefined) throw error
      await tx.run(sql.raw('ROLLBACK TO effect'))
      outcome = { status: error.status, body: JSON.stringify(error.body) }
    }
    await tx.run(sql.raw('RELEASE effect'))
    const sealed = secrets.seal(outcome.body, placeOf(attempt))
    const row = { keyId, path, idempotencyKey: key, bodyHash, status: outcome.status, body: sealed, createdAt: about.now }
    // One that is kept no longer may still be there.
    await tx.insert(idempotencyKeys).values(row).onConflictDoUpdate({ target: PRIMARY, set: row })
    return { ...outcome, replayed: false }
  }, attempt.asking)
}
