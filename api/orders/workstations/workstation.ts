/** A workstation that an order may be given to. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { workstations } from '../../../db/store/workstations.ts'
import { requireIds } from '../../http/input/references.ts'
import { conflict } from '../../values/refusal.ts'

/** Whether it gets orders: one for picking does not. */
export const takesOrders = ({ active, type }: Pick<typeof workstations.$inferSelect, 'active' | 'type'>) => active && type !== 'picking'

/** Refuses a workstation that is not in the store, or takes no orders. */
export async function requireWorkstation(tx: Db, id: string): Promise<string> {
  await requireIds(tx, workstations, [id], 'workstationId')
  const [row] = await tx.select().from(workstations).where(eq(workstations.id, id))
  if (!takesOrders(row!)) throw conflict(`${row!.name} takes no orders`)
  return row!.id
}
