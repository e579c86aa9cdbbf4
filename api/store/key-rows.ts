/** The keys of a store as rows of the registry: which of them a session sees, how many there may be, and how one takes another's place. */
import { and, desc, eq, inArray, isNull, ne, not, or, sql } from 'drizzle-orm'
import { isUsable, type KeyRow } from '../../db/control/keys.ts'
import type { Session } from '../../db/control/registry.ts'
import { apiKeys } from '../../db/control/tables.ts'
import type { Db } from '../../db/driver.ts'
import { conflict, missing } from '../values/refusal.ts'

export const ADMIN = 'store:admin'
/** Keys of a store and environment that open something, and ended ones that are kept to look up. */
export const KEYS_MAX = 100
const ENDED_MAX = 1_000

/** The keys that a session may know of: a sandbox key knows nothing of the live ones. */
export const visibleTo = ({ store, environment }: Session) =>
  and(eq(apiKeys.storeId, store.id), isNull(apiKeys.revokedAt), environment === 'sandbox' ? eq(apiKeys.environment, 'sandbox') : undefined)

export async function keyOf(tx: Db, session: Session, id: string): Promise<KeyRow> {
  const [row] = await tx
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), visibleTo(session)))
  if (!row) throw missing('API key')
  return row
}

/** Adds a key to those of its store and environment (the sandbox can't crowd out the live ones), and forgets ended ones beyond those that are kept. */
export async function add(tx: Db, row: KeyRow, now: string) {
  const likeIt = and(eq(apiKeys.storeId, row.storeId), eq(apiKeys.environment, row.environment))
  if ((await tx.$count(apiKeys, and(likeIt, isUsable(now)))) >= KEYS_MAX)
    throw conflict(`a store has at most ${KEYS_MAX} ${row.environment} keys: delete one that is used no more`)
  const ended = tx
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(likeIt, not(isUsable(now)!)))
    .orderBy(desc(apiKeys.id))
    .limit(ENDED_MAX)
    .offset(ENDED_MAX)
  await tx.delete(apiKeys).where(inArray(apiKeys.id, ended))
  await tx.insert(apiKeys).values(row)
}

/** Whether a key is the last with which the same could be administrated: a live one can make sandbox keys, but not the other way round. */
export async function isLastAdmin(tx: Db, { id, storeId, environment }: KeyRow, now: string): Promise<boolean> {
  const others = and(
    eq(apiKeys.storeId, storeId),
    ne(apiKeys.id, id),
    isUsable(now),
    environment === 'live' ? eq(apiKeys.environment, 'live') : undefined,
    or(isNull(apiKeys.scopes), sql`exists (select 1 from json_each(${apiKeys.scopes}) where value = ${ADMIN})`),
  )
  return (await tx.$count(apiKeys, others)) === 0
}
