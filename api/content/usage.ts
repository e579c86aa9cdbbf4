/** Where the catalog shows images of the media library. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { imageUses } from '../../db/store/content.ts'
import { conflict } from '../http/refusal.ts'
import { idIn, pathIn } from './cdn.ts'
import type { Owner } from './files.ts'
import { listed, PLACES, type Addresses, type Place } from './places.ts'

/** Notes what something shows from now on: to look through the whole catalog for an image would take a third of a second. */
export async function noteUses(tx: Db, owner: Owner, place: Place, subjectId: string, addresses: Addresses) {
  const ids = new Set(listed(addresses).flatMap((address) => idIn(owner, address) ?? []))
  const rows = [...ids].map((mediaId) => ({ mediaId, place, subjectId }))
  if (rows.length) await tx.insert(imageUses).values(rows).onConflictDoNothing()
}

/** Refuses to remove what a product or another resource of the catalog still shows; else forgets what has shown it. */
export async function forgetUses(tx: Db, owner: Owner, mediaId: string) {
  const path = pathIn(owner, mediaId)
  for (const [place, { table, column }] of Object.entries(PLACES)) {
    const [user] = await tx
      .select({ id: table.id })
      .from(imageUses)
      .innerJoin(table, eq(table.id, imageUses.subjectId))
      .where(and(eq(imageUses.mediaId, mediaId), eq(imageUses.place, place), sql`instr(${column}, ${path}) > 0`))
      .limit(1)
    if (user) throw conflict(`a ${place} still shows this image`, { [`${place}Id`]: user.id })
  }
  await tx.delete(imageUses).where(eq(imageUses.mediaId, mediaId))
}
