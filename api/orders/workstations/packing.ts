/** Orders on their way to workstations: placing them by the rules, and giving them back. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../../db/driver.ts'
import { orders } from '../../../db/store/orders.ts'
import { workstationRules, workstations } from '../../../db/store/workstations.ts'
import { queueFor, type Packable, type Queue, type Rule } from './assignment.ts'
import type { OrderRow } from '../order.ts'

/** Ready to pack: paid for, and not packed (the condition of the index `orders_waiting`). */
export const waiting = sql`${orders.packedAt} is null and ${orders.status} in ('paid', 'processing')`

/** How many orders wait at a workstation, in a query of workstations. */
export const waitingCount = sql<number>`(select count(*) from ${orders} where ${orders.workstationId} = ${sql.raw('"workstations"."id"')} and ${waiting})`

const allRules = compile((db) => db.select().from(workstationRules).orderBy(asc(workstationRules.position)))
const openQueues = compile((db) =>
  db
    .select({
      id: workstations.id,
      position: workstations.position,
      createdAt: workstations.createdAt,
      waiting: waitingCount,
    })
    .from(workstations)
    .where(and(eq(workstations.active, true), inArray(workstations.type, ['packing', 'both']))),
)
const placeMany = compile((db) =>
  db
    .update(orders)
    .set({ workstationId: named('workstationId') as never, workstationBy: 'rule', updatedAt: named('now') as never })
    .where(sql`${orders.id} in (select value from json_each(${named('ids')}))`),
)

async function readPlan(tx: Db): Promise<{ rules: Rule[]; queues: Map<string, Queue> }> {
  const rules = (await allRules.all(tx)) as Rule[]
  // Most stores have no rules: then nobody asks for the queues.
  const queues = rules.length ? ((await openQueues.all(tx)) as Queue[]) : []
  return { rules, queues: new Map(queues.map((queue) => [queue.id, queue])) }
}

type Placed = Pick<OrderRow, 'workstationId' | 'workstationBy'>

/** Where an order that becomes ready to pack goes: the columns that say so. One that was decided before stays where it is. */
export async function placementOf(tx: Db, order: Packable & Placed): Promise<Placed> {
  const decided = { workstationId: order.workstationId, workstationBy: order.workstationBy }
  if (decided.workstationId !== null || decided.workstationBy !== null) return decided
  const { rules, queues } = await readPlan(tx)
  const queue = queueFor(order, rules, queues)
  return queue ? { workstationId: queue.id, workstationBy: 'rule' } : decided
}

/** Places orders by the rules, oldest first, and returns how many found a workstation. */
async function placeAll(tx: Db, now: string, found: readonly (Packable & { id: string })[]): Promise<number> {
  if (!found.length) return 0
  const { rules, queues } = await readPlan(tx)
  const placed = new Map<string, string[]>()
  for (const order of found) {
    const queue = queueFor(order, rules, queues)
    if (!queue) continue
    queue.waiting++
    const here = placed.get(queue.id)
    if (here) here.push(order.id)
    else placed.set(queue.id, [order.id])
  }
  for (const [workstationId, ids] of placed) await placeMany.run(tx, { workstationId, ids: JSON.stringify(ids), now })
  return [...placed.values()].reduce((sum, { length }) => sum + length, 0)
}

const packable = { id: orders.id, source: orders.source, shippingMethodId: orders.shippingMethodId }

/** Places all that wait and that nobody has decided about. */
export async function placeUndecided(tx: Db, now: string): Promise<number> {
  const undecided = and(isNull(orders.workstationId), isNull(orders.workstationBy), waiting)
  return placeAll(tx, now, await tx.select(packable).from(orders).where(undecided).orderBy(asc(orders.createdAt), asc(orders.id)))
}

/**
 * Takes the waiting orders of a workstation that takes none any more: those that the rules had placed are placed again, those that were
 * assigned by hand wait unassigned. Returns how many left.
 */
export async function release(tx: Db, now: string, workstationId: string): Promise<number> {
  const here = and(eq(orders.workstationId, workstationId), waiting)
  const left = await tx
    .select({ ...packable, by: orders.workstationBy })
    .from(orders)
    .where(here)
    .orderBy(asc(orders.createdAt), asc(orders.id))
  // What a person decided about stays so: no rule moves it later either.
  const workstationBy = sql`case ${orders.workstationBy} when 'hand' then 'hand' end`
  await tx.update(orders).set({ workstationId: null, workstationBy, updatedAt: now }).where(here)
  await placeAll(
    tx,
    now,
    left.filter(({ by }) => by === 'rule'),
  )
  return left.length
}

/** Unassigns all orders of a workstation that goes; returns how many of them waited there. */
export async function abandon(tx: Db, now: string, workstationId: string): Promise<number> {
  const here = eq(orders.workstationId, workstationId)
  const left = await tx.$count(orders, and(here, waiting))
  await tx.update(orders).set({ workstationId: null, workstationBy: null, updatedAt: now }).where(here)
  return left
}
