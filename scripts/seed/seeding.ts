/** What every part of the seed shares: choices, the store's settings, amounts, and times that lie in the past. */
import type { Clock } from '../../api/values/clock.ts'
import { decimalsOf } from '../../api/values/money.ts'
import { randomBytes } from 'node:crypto'
import { desc, gt, sql } from 'drizzle-orm'
import type { Settings } from '../../api/http/route.ts'
import type { Db, Reader } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { products } from '../../db/store/catalog.ts'
import { outbox } from '../../db/store/store.ts'
import type { Choose } from './choose.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Everything was there before the first order of the last 90 days. */
export const FOUNDED_DAYS_AGO = 120
const OPENED_DAYS_AGO = 91

export interface Seeding {
  choose: Choose
  settings: Settings
  nowMs: number
}

/** An amount of the store's currency that costs about as much as so many cents of a dollar: 2490 is 24.90 or, without decimals, 2490. */
export const amount = (cents: number, currency: string) => (decimalsOf(currency) === 3 ? cents * 10 : cents)

/** Who does something at a moment of the past, as the API's own functions ask for it: ids sort by that moment, too. */
export const actingAt = (atMs: number): { clock: Clock; now: string; keyId: null } => ({
  clock: { now: () => new Date(atMs), id: () => Bun.randomUUIDv7('hex', atMs), secret: () => randomBytes(20).toString('hex') },
  now: new Date(atMs).toISOString(),
  keyId: null,
})

/** Runs `work` and takes back the events that it recorded: an invented past is no news for anyone clock. */
export async function quietly<T>(tx: Db, work: () => Promise<T>): Promise<T> {
  const [last] = await tx.select({ rowid: sql<number>`coalesce(max(rowid), 0)` }).from(outbox)
  const result = await work()
  await tx.delete(outbox).where(gt(sql`rowid`, last!.rowid))
  return result
}

/**
 * Gives the writing connection of a file 64 MB of pages and a log of 64 MB, until it is closed: indexes are written in no order, and
 * with the 2 MB of a server each page would go to disk many times.
 */
export async function makeRoom(store: Handle) {
  if (!store.isFile) return
  await store.write(async (tx) => {
    await tx.all(sql`PRAGMA cache_size = -65536`)
    await tx.all(sql`PRAGMA wal_autocheckpoint = 16000`)
  })
}

/**
 * The weeks before the first order in which products are added: half of what is left of them after the newest product. Ids sort by time,
 * so what is added goes to the end of each index, and not between the rows of an earlier seed.
 */
export async function foundingWeeks(db: Reader, nowMs: number): Promise<{ fromMs: number; toMs: number }> {
  const [newest] = await db.select({ at: products.createdAt }).from(products).orderBy(desc(products.id)).limit(1)
  const [foundedMs, openedMs] = [nowMs - FOUNDED_DAYS_AGO * DAY_MS, nowMs - OPENED_DAYS_AGO * DAY_MS]
  const fromMs = Math.min(openedMs, Math.max(foundedMs, newest ? Date.parse(newest.at) : 0))
  return { fromMs, toMs: (fromMs + openedMs) / 2 }
}
