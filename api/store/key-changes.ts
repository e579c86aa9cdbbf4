/**
 * Changes of keys. They are in the control database, and what is done to them stands in the store's audit log: two files, which no
 * commit spans. The keys are committed first, within the store's transaction, and what that fails of undoes them.
 */
import { and, eq } from 'drizzle-orm'
import { newKey, type KeyRow } from '../../db/control/keys.ts'
import type { Registry, Session } from '../../db/control/registry.ts'
import { apiKeys } from '../../db/control/tables.ts'
import type { Db } from '../../db/driver.ts'
import { auditLog } from '../../db/store/store.ts'
import { conflict } from '../values/refusal.ts'
import type { Call } from '../http/route.ts'
import { endWithin, refuseWider } from './key-grants.ts'
import { add, keyOf } from './key-rows.ts'

interface Changed<T> {
  result: T
  undo(tx: Db): Promise<unknown>
}
type Changing = Pick<Call, 'services' | 'session' | 'write' | 'undo' | 'now'>

/** On a full disk the log of the registry has no room for more: what is in it is taken into the database, and it begins anew. */
async function undone(registry: Registry, undo: (tx: Db) => Promise<unknown>) {
  await registry.change(undo).catch(async () => {
    if (registry.control.isFile) await registry.control.connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
    await registry.change(undo)
  })
}

/** Changes keys within a write of the store. */
export const change = <T>(call: Changing, fn: (tx: Db, store: Db) => Promise<Changed<T>>): Promise<T> =>
  call.write(async (store) => {
    const { registry } = call.services
    const { result, undo } = await registry.change((tx) => fn(tx, store))
    call.undo(() => undone(registry, undo))
    return result
  })

export const revoke = (tx: Db, { id }: KeyRow, now: string) => tx.update(apiKeys).set({ revokedAt: now }).where(eq(apiKeys.id, id))

/** Undoes that: what somebody else has revoked meanwhile stays so. */
export const unrevoke = (tx: Db, { id, revokedAt }: KeyRow, now: string) =>
  tx
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.id, id), eq(apiKeys.revokedAt, now)))

/** Takes a key back that nobody has been given. */
export const forget = (tx: Db, { id }: KeyRow) => tx.delete(apiKeys).where(eq(apiKeys.id, id))

/** The key that took another's place, if it has never opened anything: then nobody may have been told of it. */
async function unusedSuccessor(tx: Db, { use }: Registry, { replacedBy, storeId }: KeyRow): Promise<KeyRow | undefined> {
  if (!replacedBy) return undefined
  const [next] = await tx
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.id, replacedBy), eq(apiKeys.storeId, storeId)))
  if (!next || next.lastUsedAt !== null || use.at(next.id) || next.replacedBy)
    throw conflict(`this key is replaced already, by ${replacedBy}: rotate that one`)
  return next
}

/**
 * Until when the calling key may give. One that replaces itself again, because that was cut off, has only the grace left: it may what
 * it might before. What was not cut off stands in the audit log. Only live keys rotate live ones, so theirs is the log to look at.
 */
async function endOfGiver(store: Db, { key, environment }: Session, old: KeyRow, unused: KeyRow | undefined): Promise<string | null> {
  if (!unused || key.id !== old.id || environment !== 'live') return key.expiresAt
  const done = and(eq(auditLog.createdAt, unused.createdAt), eq(auditLog.resource, 'api-keys'))
  return (await store.$count(auditLog, done)) ? key.expiresAt : unused.expiresAt
}

/** Replaces a key by one that opens the same; a successor that nobody has used is ended. */
export async function rotate(
  tx: Db,
  store: Db,
  { services, session, now }: Changing,
  id: string,
  asked: { graceMinutes?: number; expiresAt?: string | null },
) {
  const old = await keyOf(tx, session, id)
  refuseWider(session, old.scopes, old.environment)
  const unused = await unusedSuccessor(tx, services.registry, old)
  if (old.expiresAt !== null && old.expiresAt <= now) throw conflict('this key has expired: make another one')
  const usual = unused ? unused.expiresAt : old.expiresAt
  const expiresAt = endWithin(await endOfGiver(store, session, old, unused), asked.expiresAt, usual, now)
  const { row, secret } = newKey({ ...old, expiresAt }, new Date(now))
  const graceEnds = new Date(Date.parse(now) + asked.graceMinutes! * 60_000).toISOString()
  const ends = old.expiresAt !== null && old.expiresAt < graceEnds ? old.expiresAt : graceEnds
  await tx.update(apiKeys).set({ expiresAt: ends, replacedBy: row.id }).where(eq(apiKeys.id, old.id))
  if (unused?.revokedAt === null) await revoke(tx, unused, now)
  await add(tx, row, now)
  const undo = async (again: Db) => {
    const { expiresAt, replacedBy } = old
    await again
      .update(apiKeys)
      .set({ expiresAt, replacedBy })
      .where(and(eq(apiKeys.id, old.id), eq(apiKeys.replacedBy, row.id)))
    if (unused) await unrevoke(again, unused, now)
    await forget(again, row)
  }
  return { result: { row, secret }, undo }
}
