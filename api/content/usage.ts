/** Where the catalog shows an image of the media library. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { conflict } from '../http/refusal.ts'
import { PLACES } from './places.ts'

/** Refuses to remove what a product or another resource of the catalog still shows. */
export async function requireUnused(tx: Db, path: string) {
  for (const [what, { table, column }] of Object.entries(PLACES)) {
    const [user] = await tx
      .select({ id: table.id })
      .from(table)
      .where(sql`instr(${column}, ${path}) > 0`)
      .limit(1)
    if (user) throw conflict(`a ${what} still shows this image`, { [`${what}Id`]: user.id })
  }
}
