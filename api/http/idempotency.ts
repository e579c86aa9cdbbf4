/** `Idempotency-Key` (document 3): the first answer is stored in the transaction of its effect, so a crash leaves both or none. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { idempotencyKeys } from '../../db/store/store.ts'
import { invalid, Refusal } from './refusal.ts'

/** How long a first answer is kept. */
export const KEPT_MS = 24 * 60 * 60 * 1000

interface Outcome {
  status: number
  body: string
  replayed: boolean
}

/**
 * Runs `effect` once for this key, path and body. A refusal is an answer too: it undoes the effect, is stored and comes again.
 * Failures of the server are not stored, so that they can be tried again.
 */
export async function once(
  handle: Handle,
  keyId: string,
  path: string,
  key: string,
  text: string,
  about: { requestId: string; now: string },
  effect: (tx: Db) => Promise<{ status: number; body: string }>,
): Promise<Outcome> {
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
  const where = and(eq(idempotencyKeys.keyId, keyId), eq(idempotencyKeys.path, path), eq(idempotencyKeys.idempotencyKey, key))
  const kept = new Date(Date.parse(about.now) - KEPT_MS).toISOString()
  return handle.write(async (tx) => {
    const [first] = await tx.select().from(idempotencyKeys).where(where)
    if (first && first.createdAt > kept) {
      if (first.bodyHash !== bodyHash)
        throw new Refusal(422, 'this Idempotency-Key was used with another body', { requestId: about.requestId })
      return { status: first.status, body: first.body, replayed: true }
    }
    if (first) await tx.delete(idempotencyKeys).where(where)
    await tx.run(sql.raw('SAVEPOINT effect'))
    let outcome: { status: number; body: string }
    try {
      outcome = await effect(tx)
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500) throw error
      await tx.run(sql.raw('ROLLBACK TO effect'))
      outcome = { status: error.status, body: JSON.stringify(error.body) }
    }
    await tx.run(sql.raw('RELEASE effect'))
    await tx.insert(idempotencyKeys).values({ keyId, path, idempotencyKey: key, bodyHash, ...outcome, createdAt: about.now })
    return { ...outcome, replayed: false }
  })
}
