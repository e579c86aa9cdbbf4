/** A page of what is shown of a long list, newest first, found by the counts of its blocks: no walk to the middle of 50,000 rows. */
import { desc, eq } from 'drizzle-orm'
import { compile, named, type Reader } from '../../../db/driver.ts'
import { shownBlocks } from '../../../db/store/visitors.ts'

/** Numbers of a block, as the triggers count them. */
const BLOCK = 256

const blocksOf = compile((db) =>
  db
    .select({ block: shownBlocks.block, shown: shownBlocks.shown })
    .from(shownBlocks)
    .where(eq(shownBlocks.ownerId, named('owner')))
    .orderBy(desc(shownBlocks.block)),
)

/**
 * Where the page at an offset begins: below the number `before`, after `skip` more that are shown. Null when the list ends before it.
 */
export async function startOf(db: Reader, owner: string, offset: number): Promise<{ before: number; skip: number } | null> {
  if (offset < BLOCK) return { before: Number.MAX_SAFE_INTEGER, skip: offset }
  let skip = offset
  for (const { block, shown } of (await blocksOf.all(db, { owner })) as { block: number; shown: number }[]) {
    if (skip < shown) return { before: (block + 1) * BLOCK, skip }
    skip -= shown
  }
  return null
}
