/** The room of each store: what the platform allows it, and what it took when it was last measured. */
import { eq } from 'drizzle-orm'
import type { Db, Reader } from '../driver.ts'
import type { Environment } from '../open.ts'
import { storeRoom } from './tables.ts'

/** Bytes that a store takes, as they were measured. */
export interface Measured {
  /** The databases and the files of media and messages, of the live data and of the sandbox. */
  databases: Partial<Record<Environment, number>>
  media: Partial<Record<Environment, number>>
  /** The deployments that this machine has, each of which never changes. */
  deployments: Record<string, number>
  project: number
}

const NOTHING: Measured = { databases: {}, media: {}, deployments: {}, project: 0 }

/** What the platform has set for a store; null: what its plan has. */
export interface Allowance {
  diskQuotaMb: number | null
  buildsPerDay: number | null
}

interface Room extends Allowance {
  measured: Measured
  measuredAt: string | null
}

const NONE: Room = { diskQuotaMb: null, buildsPerDay: null, measured: NOTHING, measuredAt: null }

export async function roomOf(db: Reader, storeId: string): Promise<Room> {
  const [row] = await db.select().from(storeRoom).where(eq(storeRoom.storeId, storeId))
  return row ? { ...row, measured: row.measured ?? NOTHING } : NONE
}

type Change = Partial<Omit<typeof storeRoom.$inferInsert, 'storeId'>>

/** Sets what the platform allows, or notes what was measured. */
export const setRoom = (tx: Db, storeId: string, change: Change) =>
  tx
    .insert(storeRoom)
    .values({ storeId, ...change })
    .onConflictDoUpdate({ target: storeRoom.storeId, set: change })
