/** Orders on their way to workstations: assigning them by the rules, and unassigning them. */
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../../db/driver.ts'
import { orders } from '../../../db/store/orders.ts'
import { workstationRules, workstations } from '../../../db/store/workstations.ts'
import { firstOf, isForRules, matches, queueFor, type Packable, type Queue, type Rule } from './assignment.ts'
import type { OrderRow } from '../order.ts'

/** Ready to pack: paid for, and not packed (the condition of the index `orders_waiting`). */
const waiting = sql`${orders.packedAt} is null and ${orders.status} in ('paid', 'processing')`

/** Orders that one statement moves: a move costs about 30 µs. */
const AT_ONCE = 200

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
    .where(
      and(
        eq(workstations.active, true),
        inArray(workstations.type, ['packing', 'both']),
        sql`${workstations.id} in (select value from json_each(${named('ids')}))`,
      ),
    ),
)
const assignMany = compile((db) =>
  db
    .update(orders)
    .set({ workstationId: named('workstationId'), workstationBy: 'rule', updatedAt: named('now') })
    .where(sql`${orders.id} in (select value from json_each(${named('ids')}))`),
)

const readRules = async (tx: Db) => (await allRules.all(tx)) as Rule[]
/** The queues of those workstations, of the ids given, that take orders. To know one's queue is to count it: about 0.2 µs for each order that waits there. */
const readQueues = async (tx: Db, ids: readonly string[]) => (await openQueues.all(tx, { ids: JSON.stringify(ids) })) as Queue[]

type Assigned = Pick<OrderRow, 'workstationId' | 'workstationBy'>

/** The columns that assign an order that becomes ready to pack to a workstation. One that was decided about before keeps its own. */
export async function assignmentOf(tx: Db, order: Packable & Assigned): Promise<Assigned> {
  const decided = { workstationId: order.workstationId, workstationBy: order.workstationBy }
  if (decided.workstationId !== null || decided.workstationBy !== null || !isForRules(order)) return decided
  for (const rule of await readRules(tx)) {
    const queue = matches(rule, order) && firstOf(await readQueues(tx, rule.workstationIds))
    if (queue) return { workstationId: queue.id, workstationBy: 'rule' }
  }
  return decided
}

type Ready = Packable & { id: string }
interface Plan {
  rules: readonly Rule[]
  queues: ReadonlyMap<string, Queue>
}

async function readPlan(tx: Db): Promise<Plan> {
  const rules = await readRules(tx)
  const ids = new Set(rules.flatMap(({ workstationIds }) => workstationIds))
  // Most stores have no rules: then nobody asks for the queues.
  const queues = ids.size ? await readQueues(tx, [...ids]) : []
  return { rules, queues: new Map(queues.map((queue) => [queue.id, queue])) }
}

/** Assigns orders by a plan, the first ones first, and returns how many found a workstation. */
async function assign(tx: Db, now: string, { rules, queues }: Plan, found: readonly Ready[]): Promise<number> {
  const assigned = new Map<string, string[]>()
  for (const order of found) {
    const queue = queueFor(order, rules, queues)
    if (!queue) continue
    queue.waiting++
    const here = assigned.get(queue.id)
    if (here) here.push(order.id)
    else assigned.set(queue.id, [order.id])
  }
  for (const [workstationId, ids] of assigned) await assignMany.run(tx, { workstationId, ids: JSON.stringify(ids), now })
  return [...assigned.values()].reduce((sum, { length }) => sum + length, 0)
}

const packable = { id: orders.id, source: orders.source, shippingMethodId: orders.shippingMethodId }
const undecidedAfter = compile((db) =>
  db
    .select({ ...packable, createdAt: orders.createdAt })
    .from(orders)
    .where(
      and(
        isNull(orders.workstationId),
        isNull(orders.workstationBy),
        waiting,
        sql`(${orders.createdAt}, ${orders.id}) > (${named('at')}, ${named('id')})`,
      ),
    )
    .orderBy(asc(orders.createdAt), asc(orders.id))
    .limit(AT_ONCE),
)

/** Assigns all orders that wait and that nobody has decided about, oldest first, and returns how many found a workstation. */
export async function assignUndecided(tx: Db, now: string): Promise<number> {
  const plan = await readPlan(tx)
  if (!plan.rules.length) return 0
  let count = 0
  let last = { at: '', id: '' }
  for (;;) {
    const part = await undecidedAfter.all(tx, last)
    count += await assign(tx, now, plan, part)
    const end = part.at(-1)
    if (!end || part.length < AT_ONCE) return count
    last = { at: end.createdAt, id: end.id }
  }
}

const ids = () => sql`${orders.id} in (select value from json_each(${named('ids')}))`
const waitingAt = compile((db) =>
  db
    .select({ ...packable, by: orders.workstationBy })
    .from(orders)
    .where(and(eq(orders.workstationId, named('workstationId')), waiting))
    .orderBy(asc(orders.createdAt), asc(orders.id))
    .limit(AT_ONCE),
)
/** Takes orders off their workstation. One that a person decided about stays marked so: no rule moves it later either. */
const unassign = compile((db) =>
  db
    .update(orders)
    .set({
      workstationId: null,
      workstationBy: sql`case ${orders.workstationBy} when 'hand' then 'hand' end`,
      updatedAt: named('now'),
    })
    .where(ids()),
)

/**
 * Takes the waiting orders of a workstation that takes none any more: those that the rules had assigned are assigned again, those that
 * were assigned by hand wait unassigned. Returns how many left.
 */
export async function release(tx: Db, now: string, workstationId: string): Promise<number> {
  let count = 0
  let plan: Plan | undefined
  for (let part = await waitingAt.all(tx, { workstationId }); part.length; part = await waitingAt.all(tx, { workstationId })) {
    plan ??= await readPlan(tx)
    await unassign.run(tx, { ids: JSON.stringify(part.map(({ id }) => id)), now })
    const byRule = part.filter(({ by }) => by === 'rule')
    await assign(tx, now, plan, byRule)
    count += part.length
  }
  return count
}

const abandonSome = compile((db) => {
  const here = db
    .select({ id: orders.id })
    .from(orders)
    .where(eq(orders.workstationId, named('workstationId')))
    .limit(AT_ONCE)
  return db
    .update(orders)
    .set({ workstationId: null, workstationBy: null, updatedAt: named('now') })
    .where(inArray(orders.id, here))
})

/** Unassigns all orders of a workstation that goes; returns how many of them waited there. */
export async function abandon(tx: Db, now: string, workstationId: string): Promise<number> {
  const left = await tx.$count(orders, and(eq(orders.workstationId, workstationId), waiting))
  while ((await abandonSome.run(tx, { workstationId, now })).changes === AT_ONCE);
  return left
}
