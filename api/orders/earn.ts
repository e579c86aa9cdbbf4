/** Points that orders earn: given when they are paid, taken back as money goes back. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { products } from '../../db/store/catalog.ts'
import { loyaltyCampaigns, loyaltyLedger, loyaltyMembers, loyaltySettings, loyaltyTiers } from '../../db/store/loyalty.ts'
import { orders } from '../../db/store/orders.ts'
import { settings } from '../../db/store/store.ts'
import { collectionIds } from '../catalog/read.ts'
import { readLineages } from '../checkout/quote-reads.ts'
import type { Outside } from '../http/route.ts'
import { monthsLater, pointsFor, pointsLost, type Campaign, type EarningLine } from '../marketing/points/earning.ts'
import { changePoints, expirePoints, lowerLifetime } from '../marketing/points/points.ts'
import { tierOf } from '../marketing/points/tier.ts'
import { decimalsOf } from '../money.ts'
import type { LineRow, OrderRow } from './order.ts'

type About = { outside: Outside; now: string }

const loyalty = compile((db) => db.select().from(loyaltySettings))
const switchedOn = compile((db) => db.select({ tools: settings.tools }).from(settings))
/** What `isRunning` says, so that those that are over are not read for each order. */
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

/** Gives the points of an order that is paid now. A store that never set loyalty up, or has turned it off, gives none. */
export async function earn(tx: Db, about: About, order: OrderRow, lines: readonly LineRow[]) {
  const rules = (await loyalty.get(tx)) as typeof loyaltySettings.$inferSelect | undefined
  if (!rules) return
  const { tools } = (await switchedOn.get(tx)) as { tools: { loyalty: boolean } }
  if (!tools.loyalty) return
  const { now } = about
  const campaigns = (await runningCampaigns.all(tx, { now })) as Campaign[]
  const member = (await lifetimeOf.get(tx, { customerId: order.customerId })) as { lifetimePoints: number } | undefined
  const tier = tierOf(member?.lifetimePoints ?? 0, (await allTiers.all(tx)) as (typeof loyaltyTiers.$inferSelect)[])
  const points = pointsFor(await earningLines(tx, order, lines, campaigns), {
    pointsPerUnit: rules.pointsPerUnit,
    tierMultiplier: tier?.multiplier ?? null,
    campaigns,
    minorPerUnit: 10 ** decimalsOf(order.currency),
    now,
  })
  if (points <= 0) return
  const { pointsExpiryMonths: months } = rules
  const reason = `order ${order.lookup}`
  const expiresAt = months === null ? null : monthsLater(now, months)
  const change = { customerId: order.customerId, points, kind: 'earned', reason, lifetime: points, orderId: order.id, expiresAt } as const
  await changePoints(tx, about, change)
  order.pointsEarned = points
  await tx.update(orders).set({ pointsEarned: points }).where(eq(orders.id, order.id))
}

/**
 * Takes back what an order does not earn any more, once `backCents` of it have gone back: of the balance as far as the member has it and
 * it has not expired, of the lifetime points in full, so that nobody keeps a tier for what was refunded.
 */
export async function takeBack(tx: Db, about: About, order: OrderRow, backCents: number) {
  if (!order.pointsEarned) return
  const { customerId, id: orderId } = order
  const lost = pointsLost(order.pointsEarned, backCents, order.paidCents)
  if (lost > order.pointsTakenBack) {
    await lowerLifetime(tx, about.now, customerId, lost - order.pointsTakenBack)
    order.pointsTakenBack = lost
    await tx.update(orders).set({ pointsTakenBack: lost }).where(eq(orders.id, orderId))
  }
  await expirePoints(tx, about, customerId)
  const entries = await tx
    .select({ kind: loyaltyLedger.kind, points: loyaltyLedger.points, expired: loyaltyLedger.expired })
    .from(loyaltyLedger)
    .where(and(eq(loyaltyLedger.orderId, orderId), inArray(loyaltyLedger.kind, ['earned', 'taken_back'])))
  // What was given and has expired is gone already.
  const left = entries.reduce((sum, { points, expired }) => sum + points - expired, 0)
  const taken = -entries.reduce((sum, { points }) => sum + Math.min(0, points), 0)
  const [member] = await tx.select().from(loyaltyMembers).where(eq(loyaltyMembers.customerId, customerId))
  const points = Math.min(lost - taken, left, member?.balance ?? 0)
  if (points <= 0) return
  const reason = `refund of order ${order.lookup}`
  await changePoints(tx, about, { customerId, points: -points, kind: 'taken_back', reason, orderId })
}
