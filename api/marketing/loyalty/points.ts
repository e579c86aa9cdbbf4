/**
 * The one way in which points change: a balance and its ledger together. Nobody can use points that are not there, but those of an
 * order whose money went back are taken though they are spent: the balance is below zero then, and the next points fill it up first.
 * Points that expire are counted in the entry that gave them, and those that would expire first are used first; the rest of a
 * balance never expires.
 */
import { and, asc, eq, gt, gte, lte, sql } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../../db/driver.ts'
import { loyaltyLedger, loyaltyMembers, type LEDGER_KINDS, type Lot } from '../../../db/store/loyalty.ts'
import type { Moment } from '../../values/clock.ts'
import { enqueue } from '../../jobs/queue.ts'

interface Change {
  customerId: string
  /** Below zero when they are taken; never zero. */
  points: number
  kind: (typeof LEDGER_KINDS)[number]
  reason: string
  /** The points that are added to the lifetime points. */
  lifetime?: number
  orderId?: string
  /** The instant at which points that are given expire; null: never. */
  expiresAt?: string | null
  /** Where points that come back were before: they are counted there again. */
  from?: readonly Lot[]
}

/** Lifetime points that a member can have, and so the most of a balance: far under what is counted exactly. */
export const MEMBER_POINTS_MAX = 1_000_000_000_000

/** Entries with points that expire which are used up at a time. */
const LOTS_AT_ONCE = 200

const balances = compile((db) =>
  db
    .select({ balance: loyaltyMembers.balance })
    .from(loyaltyMembers)
    .where(eq(loyaltyMembers.customerId, named('customerId'))),
)
const overdue = compile((db) =>
  db
    .select({ points: sql<number>`coalesce(sum(${loyaltyLedger.expiring}), 0)` })
    .from(loyaltyLedger)
    .where(
      and(eq(loyaltyLedger.customerId, named('customerId')), gt(loyaltyLedger.expiring, 0), lte(loyaltyLedger.expiresAt, named('now'))),
    ),
)

/** The points that a customer can redeem now: the balance, without those that have expired. */
export async function availablePoints(db: Reader, customerId: string, now: string): Promise<number> {
  // Both are asked for anybody: how long it takes does not tell who is a member.
  const row = (await balances.get(db, { customerId })) as { balance: number } | undefined
  const over = (await overdue.get(db, { customerId, now })) as { points: number }
  return (row?.balance ?? 0) - over.points
}

const addEntry = (tx: Db, { clock, now }: Moment, { lifetime: _, from: __, ...entry }: Change, expiring: number, taken: Lot[] | null) =>
  tx.insert(loyaltyLedger).values({ id: clock.id(), ...entry, orderId: entry.orderId ?? null, expiring, taken, createdAt: now })

/** Changes a balance; null, with nothing changed, when there are too few points, or too many. What is taken back may leave it below zero. */
async function addTo(tx: Db, now: string, { customerId, points, kind, lifetime = 0 }: Change): Promise<number | null> {
  const [member] = await tx
    .update(loyaltyMembers)
    .set({
      balance: sql`${loyaltyMembers.balance} + ${points}`,
      lifetimePoints: sql`${loyaltyMembers.lifetimePoints} + ${lifetime}`,
      updatedAt: now,
    })
    .where(
      and(
        eq(loyaltyMembers.customerId, customerId),
        lifetime > 0 ? lte(loyaltyMembers.lifetimePoints, MEMBER_POINTS_MAX - lifetime) : undefined,
        points > 0 || kind === 'taken_back' ? undefined : gte(loyaltyMembers.balance, -points),
      ),
    )
    .returning({ balance: loyaltyMembers.balance })
  return member?.balance ?? null
}

/** Uses points of the entries that have any: those of `first` (an order), then what expires soonest. Returns what was used of them. */
async function useUp(tx: Db, customerId: string, points: number, first: string | undefined): Promise<Lot[]> {
  const used: Lot[] = []
  for (let left = points; left > 0;) {
    const lots = await tx
      .select({ id: loyaltyLedger.id, expiring: loyaltyLedger.expiring, expiresAt: loyaltyLedger.expiresAt })
      .from(loyaltyLedger)
      .where(and(eq(loyaltyLedger.customerId, customerId), gt(loyaltyLedger.expiring, 0)))
      .orderBy(sql`${loyaltyLedger.orderId} is not ${first ?? null}`, asc(loyaltyLedger.expiresAt), asc(loyaltyLedger.id))
      .limit(LOTS_AT_ONCE)
    if (!lots.length) return [...used, { expiresAt: null, points: left }]
    for (const { id, expiring, expiresAt } of lots) {
      const part = Math.min(left, expiring)
      if (!part) break
      await tx
        .update(loyaltyLedger)
        .set({ expiring: expiring - part })
        .where(eq(loyaltyLedger.id, id))
      used.push({ expiresAt, points: part, entryId: id })
      left -= part
    }
  }
  return used
}

/** Counts points that come back in the entries that they were taken from, as far as they expire again; returns how many that are. */
async function putBackLots(tx: Db, from: readonly Lot[], expiring: number): Promise<number> {
  let put = 0
  for (const { entryId, points } of from) {
    const part = entryId === undefined ? 0 : Math.min(points, expiring - put)
    if (part <= 0) continue
    await tx
      .update(loyaltyLedger)
      .set({ expiring: sql`${loyaltyLedger.expiring} + ${part}` })
      .where(eq(loyaltyLedger.id, entryId!))
    put += part
  }
  return put
}

/** Changes the points of a customer, and returns the new balance; null when there are too few, or too many: the balance is as it was. */
export async function changePoints(tx: Db, moment: Moment, change: Change): Promise<number | null> {
  const { customerId, points, kind, orderId, expiresAt = null, from = [] } = change
  const { now } = moment
  if (points < 0) await expirePoints(tx, moment, customerId)
  else
    await tx
      .insert(loyaltyMembers)
      .values({ customerId, balance: 0, lifetimePoints: 0, createdAt: now, updatedAt: now })
      .onConflictDoNothing()
  const balance = await addTo(tx, now, change)
  if (balance === null) return null
  const taken = points < 0 ? await useUp(tx, customerId, -points, kind === 'taken_back' ? orderId : undefined) : []
  if (points > 0 && expiresAt !== null) await enqueue(tx, moment, { kind: 'loyalty.expire', subject: 'points', dueAt: expiresAt })
  // What fills up a balance below zero is used by that: only the rest can expire.
  const expiring = points > 0 && expiresAt !== null ? Math.max(0, Math.min(points, balance)) : 0
  await addEntry(tx, moment, change, expiring - (await putBackLots(tx, from, expiring)), kind === 'redeemed' ? taken : null)
  return balance
}

/** Lowers the lifetime points, which a balance says nothing of, as far as there are any; raises them when `by` is below zero. */
export async function lowerLifetime(tx: Db, now: string, customerId: string, by: number) {
  await tx
    .update(loyaltyMembers)
    .set({ lifetimePoints: sql`max(0, ${loyaltyMembers.lifetimePoints} - ${by})`, updatedAt: now })
    .where(eq(loyaltyMembers.customerId, customerId))
}

/** Takes what has expired of a customer's points, as one entry. */
export async function expirePoints(tx: Db, moment: Moment, customerId: string) {
  const { now } = moment
  const { points } = (await overdue.get(tx, { customerId, now })) as { points: number }
  if (!points) return
  const change: Change = { customerId, points: -points, kind: 'expired', reason: 'expired' }
  await addTo(tx, now, change)
  await tx
    .update(loyaltyLedger)
    .set({ expiring: 0, expired: sql`${loyaltyLedger.expired} + ${loyaltyLedger.expiring}` })
    .where(and(eq(loyaltyLedger.customerId, customerId), gt(loyaltyLedger.expiring, 0), lte(loyaltyLedger.expiresAt, now)))
  await addEntry(tx, moment, change, 0, null)
}
