/** Points that orders earn: given when they are paid, taken back as money goes back. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { products } from '../../db/store/catalog.ts'
import { loyaltyCampaigns, loyaltyLedger, loyaltyMembers, loyaltySettings, loyaltyTiers } from '../../db/store/loyalty.ts'
import { orders } from '../../db/store/orders.ts'
import { settings } from '../../db/store/store.ts'
import { collectionIds } from '../catalog/read.ts'
import { readLineages } from '../pricing/quote-reads.ts'
import { conflict } from '../values/refusal.ts'
import type { Moment } from '../values/clock.ts'
import { monthsLater, partsFor, partsOfPoint, pointsKept, type Campaign, type EarningLine } from '../marketing/loyalty/earning.ts'
import { changePoints, expirePoints, lowerLifetime, MEMBER_POINTS_MAX } from '../marketing/loyalty/points.ts'
import { tierOf } from '../marketing/loyalty/tier.ts'
import { decimalsOf } from '../values/money.ts'
import type { LineRow, OrderRow } from './order.ts'

const loyalty = compile((db) => db.select().from(loyaltySettings))
const switchedOn = compile((db) => db.select({ tools: settings.tools }).from(settings))
/** The campaigns for which `isRunning` holds, so that those that are over are not read for each order. */
const runningCampaigns = compile((db) =>
  db
    .select()
    .from(loyaltyCampaigns)
    .where(
      and(
        eq(loyaltyCampaigns.active, true),
        sql`(${loyaltyCampaigns.startsAt} is null or ${loyaltyCampaigns.startsAt} <= ${named('now')})`,
        sql`(${loyaltyCampaigns.endsAt} is null or ${loyaltyCampaigns.endsAt} > ${named('now')})`,
      ),
    ),
)
const allTiers = compile((db) => db.select().from(loyaltyTiers))
const lifetimeOf = compile((db) =>
  db
    .select({ lifetimePoints: loyaltyMembers.lifetimePoints })
    .from(loyaltyMembers)
    .where(eq(loyaltyMembers.customerId, named('customerId'))),
)
const groupsOf = compile((db) =>
  db
    .select({ id: products.id, categoryId: products.categoryId, collectionIds: collectionIds.as('collection_ids') })
    .from(products)
    .where(sql`${products.id} in (select value from json_each(${named('ids')}))`),
)

/** Lines as campaigns see them; what products are in is asked only when a campaign is about it. */
async function earningLines(tx: Db, order: OrderRow, lines: readonly LineRow[], campaigns: readonly Campaign[]): Promise<EarningLine[]> {
  const asked = campaigns.some(({ scope }) => scope === 'CATEGORY_IDS' || scope === 'COLLECTION_IDS')
  const ids = JSON.stringify(asked ? [...new Set(lines.flatMap(({ productId }) => productId ?? []))] : [])
  const found = asked ? ((await groupsOf.all(tx, { ids })) as { id: string; categoryId: string | null; collectionIds: string[] }[]) : []
  const groups = new Map(found.map((row) => [row.id, row]))
  const above = await readLineages(tx, new Set(found.flatMap(({ categoryId }) => categoryId ?? [])))
  return lines.map(({ productId, totalCents, taxCents }) => {
    const group = productId === null ? undefined : groups.get(productId)
    return {
      netCents: totalCents - (order.taxesIncluded ? taxCents : 0),
      productId,
      categoryIds: group?.categoryId ? (above.get(group.categoryId) ?? [group.categoryId]) : [],
      collectionIds: group?.collectionIds ?? [],
    }
  })
}

const partsInPoint = ({ currency }: OrderRow) => partsOfPoint(10 ** decimalsOf(currency))

/** Stores what an order says of its points, in the row at hand too. */
async function note(tx: Db, order: OrderRow, columns: Partial<OrderRow>) {
  Object.assign(order, columns)
  await tx.update(orders).set(columns).where(eq(orders.id, order.id))
}

/**
 * Gives the points of an order that is paid now. A store that never set loyalty up, or has turned it off, gives none. More than a member
 * can have are refused while the order is placed; once it is, it can't fail to be paid for that: it earns as many as there is room for.
 */
export async function earn(tx: Db, moment: Moment, order: OrderRow, lines: readonly LineRow[], isPlaced = true) {
  const rules = (await loyalty.get(tx)) as typeof loyaltySettings.$inferSelect | undefined
  if (!rules) return
  const { tools } = (await switchedOn.get(tx)) as { tools: { loyalty: boolean } }
  if (!tools.loyalty) return
  const { now } = moment
  const campaigns = (await runningCampaigns.all(tx, { now })) as Campaign[]
  const member = (await lifetimeOf.get(tx, { customerId: order.customerId })) as { lifetimePoints: number } | undefined
  const tier = tierOf(member?.lifetimePoints ?? 0, (await allTiers.all(tx)) as (typeof loyaltyTiers.$inferSelect)[])
  const { pointsPerUnit } = rules
  const parts = partsFor(await earningLines(tx, order, lines, campaigns), {
    pointsPerUnit,
    tierMultiplier: tier?.multiplier ?? null,
    campaigns,
    now,
  })
  const whole = parts / partsInPoint(order)
  const room = MEMBER_POINTS_MAX - (member?.lifetimePoints ?? 0)
  if (whole > room && !isPlaced) throw conflict(`the order would earn more points than a member can have: ${MEMBER_POINTS_MAX}`)
  const points = Math.min(Number(whole), room)
  if (points <= 0) return
  const { pointsExpiryMonths: months } = rules
  const reason = `order ${order.lookup}`
  const expiresAt = months === null ? null : monthsLater(now, months)
  const change = { customerId: order.customerId, points, kind: 'earned', reason, lifetime: points, orderId: order.id, expiresAt } as const
  await changePoints(tx, moment, change)
  await note(tx, order, { pointsEarned: points, earnedParts: whole > room ? null : String(parts) })
}

/** The number of points that an order no longer earns once so much of its money, in minor units, has gone back. */
function pointsLost(order: OrderRow, backCents: number): number {
  const { pointsEarned, earnedParts, paidCents, totalCents } = order
  const whole = partsInPoint(order)
  const parts = earnedParts === null ? BigInt(pointsEarned) * whole : BigInt(earnedParts)
  // More than the total may have been paid: what is over it has earned nothing.
  return pointsEarned - pointsKept(parts, whole, paidCents - backCents, totalCents)
}

/**
 * Takes back what an order does not earn any more, once `backCents` of its money have gone back: in full from the lifetime points, so that
 * nobody keeps a tier for what was refunded, and from the balance, but for what has expired. Gives it again when a refund fails later.
 */
export async function takeBack(tx: Db, moment: Moment, order: OrderRow, backCents: number) {
  if (!order.pointsEarned) return
  const { customerId, id: orderId, pointsTakenBack } = order
  const lost = pointsLost(order, backCents)
  if (lost !== pointsTakenBack) {
    await lowerLifetime(tx, moment.now, customerId, lost - pointsTakenBack)
    await note(tx, order, { pointsTakenBack: lost })
  }
  await expirePoints(tx, moment, customerId)
  const entries = await tx
    .select({ kind: loyaltyLedger.kind, points: loyaltyLedger.points, expired: loyaltyLedger.expired, expiresAt: loyaltyLedger.expiresAt })
    .from(loyaltyLedger)
    .where(and(eq(loyaltyLedger.orderId, orderId), inArray(loyaltyLedger.kind, ['earned', 'taken_back'])))
  // What was given and has expired is gone already.
  const left = entries.reduce((sum, { points, expired }) => sum + points - expired, 0)
  const taken = -entries.reduce((sum, { kind, points }) => sum + (kind === 'taken_back' ? points : 0), 0)
  const owed = lost - taken
  const points = owed > 0 ? Math.min(owed, Math.max(0, left)) : owed
  if (points === 0) return
  const reason = points > 0 ? `refund of order ${order.lookup}` : `refund of order ${order.lookup} failed`
  const expiresAt = points > 0 ? null : (entries.find(({ kind }) => kind === 'earned')?.expiresAt ?? null)
  await changePoints(tx, moment, { customerId, points: -points, kind: 'taken_back', reason, orderId, expiresAt })
}
