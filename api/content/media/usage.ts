/** What shows images of the media library. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { imageUses } from '../../../db/store/content.ts'
import type { ImageEntity } from '../../http/route.ts'
import { conflict } from '../../values/refusal.ts'
import { pathIn, type Owner } from '../../outside/files.ts'
import { idIn } from './cdn.ts'
import { IMAGE_FIELDS, listed, LOGO_FIELDS, type Addresses } from './image-fields.ts'

/** Notes what something shows from now on: to look through the whole catalog for an image would take a third of a second. */
export async function noteUses(
  tx: Db,
  owner: Owner,
  entity: ImageEntity | keyof typeof LOGO_FIELDS,
  entityId: string,
  addresses: Addresses,
) {
  const ids = new Set(listed(addresses).flatMap((address) => idIn(owner, address) ?? []))
  const rows = [...ids].map((mediaId) => ({ mediaId, entity, entityId }))
  if (rows.length) await tx.insert(imageUses).values(rows).onConflictDoNothing()
}

/** Refuses to remove what a product or another resource of the catalog still shows. */
export async function requireUnused(tx: Db, owner: Owner, mediaId: string) {
  const path = pathIn(owner, mediaId)
  for (const [entity, { table, column }] of Object.entries({ ...IMAGE_FIELDS, ...LOGO_FIELDS })) {
    const [user] = await tx
      .select({ id: table.id })
      .from(imageUses)
      .innerJoin(table, eq(table.id, imageUses.entityId))
      .where(and(eq(imageUses.mediaId, mediaId), eq(imageUses.entity, entity), sql`instr(${column}, ${path}) > 0`))
      .limit(1)
    if (user)
      throw conflict(`a ${entity.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`)} still shows this image`, {
        [`${entity}Id`]: user.id,
      })
  }
}
