/** The rules that send orders to workstations: their shape, and keeping them true to the workstations that there are. */
import { asc, eq } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { shippingMethods } from '../../../db/store/checkout.ts'
import { ORDER_SOURCES } from '../../../db/store/orders.ts'
import { workstationRules, workstations } from '../../../db/store/workstations.ts'
import { wrong } from '../../values/refusal.ts'
import { Body, Named, OneOf, Type, Uuid, type Static } from '../../http/schema.ts'
import { requireIds } from '../../http/input/references.ts'

/** The list is given whole. */
const RULES_MAX = 200
const IDS_MAX = 500

const rule = {
  sources: Type.Array(OneOf(ORDER_SOURCES), { description: 'Sales channels; empty matches any' }),
  shippingIds: Type.Array(Uuid(), { description: 'Shipping methods; empty matches any' }),
  workstationIds: Type.Array(Uuid(), { description: 'Of several, the active one with the fewest waiting orders gets the order' }),
}
export const Rule = Named('WorkstationRule', { position: Type.Integer(), ...rule })
export const RulesInput = Body(
  'ReplaceWorkstationRulesInput',
  [{ rules: [{ workstationIds: ['01985d2c-7c00-7368-80fa-fa6231ef254e'] }] }],
  {
    rules: Type.Array(
      Type.Object({
        sources: Type.Optional(Type.Array(OneOf(ORDER_SOURCES), { maxItems: ORDER_SOURCES.length, uniqueItems: true })),
        shippingIds: Type.Optional(Type.Array(Uuid(), { maxItems: IDS_MAX })),
        workstationIds: Type.Array(Type.String({ maxLength: 100 }), { maxItems: IDS_MAX }),
      }),
      { maxItems: RULES_MAX, 'x-also': 'data' },
    ),
  },
)

/** Ids as they are stored, each once. */
export const lower = (ids: readonly string[]) => [...new Set(ids.map((id) => id.toLowerCase()))]

/** In the order in which they are tried. */
export const readRules = async (db: Reader) =>
  (await db.select().from(workstationRules).orderBy(asc(workstationRules.position))).map((row, position) => ({ ...row, position }))

/** The rules of a body as rows: workstations that are not in the store are left out, and a rule that has none left is refused. */
export async function rulesOf(tx: Db, { rules }: Static<typeof RulesInput>) {
  const methods = rules.flatMap(({ shippingIds = [] }, i) =>
    shippingIds.map((id, j) => ({ id: id.toLowerCase(), path: `rules.${i}.shippingIds.${j}` })),
  )
  // One that was deleted since it was put in may stay, and matches nothing: it never widens a rule.
  const kept = new Set((await tx.select({ ids: workstationRules.shippingIds }).from(workstationRules)).flatMap(({ ids }) => ids))
  const known = new Set((await tx.select({ id: workstations.id }).from(workstations)).map(({ id }) => id))
  const rows = rules.map(({ sources = [], shippingIds = [], workstationIds }, position) => {
    const own = lower(workstationIds).filter((id) => known.has(id))
    if (!own.length) throw wrong(`rules.${position}.workstationIds`, 'must name a workstation of this store')
    return { position, sources: [...sources], shippingIds: lower(shippingIds), workstationIds: own }
  })
  await requireIds(
    tx,
    shippingMethods,
    methods.map(({ id }) => (kept.has(id) ? null : id)),
    (i) => methods[i]!.path,
  )
  return rows
}

/** Takes a workstation out of every rule; a rule without one goes. */
export async function forget(tx: Db, id: string) {
  for (const { position, workstationIds } of await tx.select().from(workstationRules)) {
    const left = workstationIds.filter((other) => other !== id)
    const row = eq(workstationRules.position, position)
    if (!left.length) await tx.delete(workstationRules).where(row)
    else if (left.length < workstationIds.length) await tx.update(workstationRules).set({ workstationIds: left }).where(row)
  }
}
