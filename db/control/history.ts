/** The registry's memory of a store beside its entry: numbers it gave, keys it ended with, and work on its files that is under way. */
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db, Reader } from '../driver.ts'
import { higher, type Numbers } from '../numbers.ts'
import type { Handle } from '../open.ts'
import { isUsable } from './keys.ts'
import { apiKeys, storeHistory, type stores } from './tables.ts'

/** What is remembered of a store that was not deleted. */
const NOTHING = { numbers: {}, keyIds: null, plan: null, aiBuilt: null }

type HistoryRow = typeof storeHistory.$inferSelect
type StoreRow = typeof stores.$inferSelect
export type Phase = NonNullable<HistoryRow['phase']>

/** The history of a store; undefined when nothing is remembered of it. */
export const historyOf = async (db: Reader, storeId: string): Promise<HistoryRow | undefined> =>
  (await db.select().from(storeHistory).where(eq(storeHistory.storeId, storeId)))[0]

/** The stores whose databases were being made or removed when somebody looked last, or still are. */
export const unfinished = (db: Reader): Promise<HistoryRow[]> =>
  db.select().from(storeHistory).where(isNotNull(storeHistory.phase)).orderBy(storeHistory.storeId).limit(UNFINISHED_MAX)
const UNFINISHED_MAX = 1_000

/** Says that the store's databases are being made or removed. */
export async function begin(tx: Db, storeId: string, phase: Phase, now: Date) {
  const change = { phase, since: now.toISOString() }
  await tx
    .insert(storeHistory)
    .values({ storeId, ...NOTHING, ...change })
    .onConflictDoUpdate({ target: storeHistory.storeId, set: change })
}

/** Says that this is done. What there is nothing to remember of is forgotten. */
export async function end(tx: Db, storeId: string) {
  await tx.update(storeHistory).set({ phase: null, since: null }).where(eq(storeHistory.storeId, storeId))
  await tx.delete(storeHistory).where(sql`store_id = ${storeId} and numbers = '{}' and key_ids is null`)
}

/** Remembers the highest numbers that a store has given. */
export async function noteNumbers(tx: Db, storeId: string, { live, sandbox }: Numbers) {
  const known = (await historyOf(tx, storeId))?.numbers
  const numbers = { live: higher(known?.live, live), sandbox: higher(known?.sandbox, sandbox) }
  await tx
    .insert(storeHistory)
    .values({ storeId, phase: null, since: null, ...NOTHING, numbers })
    .onConflictDoUpdate({ target: storeHistory.storeId, set: { numbers } })
}

/** Remembers what several stores have given, where that is more than is known: a damaged file can't tell it when it is restored. */
export async function noteGiven(control: Handle, given: Map<string, Numbers>) {
  const known = new Map<string, Numbers>()
  for (const storeId of given.keys()) known.set(storeId, (await historyOf(control.read, storeId))?.numbers ?? {})
  const more = [...given].filter(([storeId, numbers]) =>
    (['live', 'sandbox'] as const).some((environment) =>
      Object.entries(numbers[environment] ?? {}).some(([name, value]) => value > (known.get(storeId)![environment]?.[name] ?? 0)),
    ),
  )
  if (!more.length) return
  await control.write(async (tx) => {
    for (const [storeId, numbers] of more) await noteNumbers(tx, storeId, numbers)
  })
}

/**
 * Remembers what the platform has decided of a store that is being deleted, and which keys open it: no other one does when it is restored.
 * One that is replaced already is none of them: a backup may be from a time at which it had no end.
 */
export async function noteEnd(tx: Db, { id: storeId, plan, aiBuilt }: Pick<StoreRow, 'id' | 'plan' | 'aiBuilt'>) {
  const usable = await tx
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.storeId, storeId), isUsable(new Date().toISOString()), isNull(apiKeys.replacedBy)))
  await tx
    .update(storeHistory)
    .set({ keyIds: usable.map(({ id }) => id), plan, aiBuilt })
    .where(eq(storeHistory.storeId, storeId))
}

/** Forgets what was remembered of a store that was deleted: it is there again. */
export const forgetEnd = (tx: Db, storeId: string) =>
  tx.update(storeHistory).set({ keyIds: null, plan: null, aiBuilt: null }).where(eq(storeHistory.storeId, storeId))

/** The first key of another store that has one of these ids or hashes; undefined when none has. */
export const keyElsewhere = async (db: Reader, storeId: string, keys: { id: string; hash: string }[]) => {
  for (const column of ['id', 'hash'] as const) {
    const values = keys.map((key) => key[column])
    const [taken] = await db
      .select({ id: apiKeys.id, storeId: apiKeys.storeId })
      .from(apiKeys)
      .where(
        sql`${inArray(apiKeys[column], sql`(select value from json_each(${JSON.stringify(values)}))` as never)} and ${apiKeys.storeId} <> ${storeId}`,
      )
      .limit(1)
    if (taken) return taken
  }
  return undefined
}
