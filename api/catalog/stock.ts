/**
 * Stock: what lies on the shelf (`quantity`), what orders hold of it (`reserved`), and the ledger of the first. Every change is a
 * conditional UPDATE, and the table's CHECKs stand behind it: it can't be sold twice.
 */
import { and, eq, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { inventoryMovements, variants } from '../../db/store/catalog.ts'
import { announce } from '../../db/writer.ts'

/** A row of the stock ledger, without the variant and the number of units. */
export interface Movement {
  id: string
  reason: string | null
  orderId: string | null
  keyId: string | null
  createdAt: string
}

const n = () => sql`${named('n')}`
const reserveUnits = compile((db) =>
  db
    .update(variants)
    .set({ reserved: sql`${variants.reserved} + ${n()}` })
    .where(
      and(
        eq(variants.id, named('id')),
        eq(variants.tracked, true),
        sql`(${variants.backorder} = 1 or ${variants.quantity} - ${variants.reserved} >= ${n()})`,
      ),
    ),
)
const releaseUnits = compile((db) =>
  db
    .update(variants)
    .set({ reserved: sql`${variants.reserved} - ${n()}` })
    .where(eq(variants.id, named('id'))),
)
const takeUnits = compile((db) =>
  db
    .update(variants)
    .set({ reserved: sql`${variants.reserved} - ${n()}`, quantity: sql`${variants.quantity} - ${n()}` })
    .where(and(eq(variants.id, named('id')), eq(variants.tracked, true), sql`${variants.quantity} >= ${n()}`)),
)
const addUnits = compile((db) =>
  db
    .update(variants)
    .set({ quantity: sql`${variants.quantity} + ${n()}` })
    .where(and(eq(variants.id, named('id')), eq(variants.tracked, true))),
)
const insertMovement = compile((db) =>
  db.insert(inventoryMovements).values({
    id: named('id'),
    variantId: named('variantId'),
    delta: named('delta'),
    reason: named('reason'),
    orderId: named('orderId'),
    keyId: named('keyId'),
    createdAt: named('createdAt'),
  }),
)

/** Whether a new quantity brings what is available of a tracked variant down to the threshold. */
export const fallsLow = (row: { tracked: boolean; quantity: number; reserved: number }, quantity: number, threshold: number) =>
  row.tracked && quantity - row.reserved <= threshold && row.quantity - row.reserved > threshold

/** Writes a ledger row; a delta of 0 is none. Where there is more now, a trigger asks for the mails to those who wait for it. */
export async function record(tx: Db, variantId: string, delta: number, movement: Movement) {
  if (delta > 0) announce(tx)
  if (delta !== 0) await insertMovement.run(tx, { ...movement, variantId, delta })
}

/** Holds units of a tracked variant for an order. False when there are not enough. */
export async function reserve(tx: Db, id: string, units: number): Promise<boolean> {
  return (await reserveUnits.run(tx, { id, n: units })).changes === 1
}

/** Gives held units back to the shelf's free part. */
export async function release(tx: Db, id: string, units: number) {
  if (units <= 0) return
  announce(tx)
  await releaseUnits.run(tx, { id, n: units })
}

/** Held units of a tracked variant leave the shelf (they are shipped, or written off). False when fewer lie there, or it isn't tracked any more. */
export async function takeReserved(tx: Db, id: string, units: number, movement: Movement): Promise<boolean> {
  if ((await takeUnits.run(tx, { id, n: units })).changes !== 1) return false
  await record(tx, id, -units, movement)
  return true
}

/** Units come back to the shelf, if the variant is still there and tracked. */
export async function putBack(tx: Db, id: string, units: number, movement: Movement) {
  if ((await addUnits.run(tx, { id, n: units })).changes === 1) await record(tx, id, units, movement)
}
