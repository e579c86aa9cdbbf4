/** Files that no row names: what a crash left between the two, and what could not be removed. */
import { inArray } from 'drizzle-orm'
import type { Handle } from '../../db/open.ts'
import { media } from '../../db/store/content.ts'
import type { Files, Owner } from './files.ts'

/** Younger files may be of a request that still runs. */
const YOUNG_MS = 60 * 60_000
const BATCH = 500

/** Removes a store's files that nothing refers to; returns how many ids that were. */
export async function removeOrphans(store: Handle, owner: Owner, files: Files, now: Date): Promise<number> {
  const old = (await files.list(owner)).filter(({ keptAt }) => now.getTime() - keptAt.getTime() > YOUNG_MS).map(({ id }) => id)
  let removed = 0
  for (let i = 0; i < old.length; i += BATCH) {
    const ids = old.slice(i, i + BATCH)
    const rows = await store.read.select({ id: media.id }).from(media).where(inArray(media.id, ids))
    const known = new Set(rows.map(({ id }) => id))
    for (const id of ids.filter((each) => !known.has(each))) {
      await files.remove(owner, id)
      removed++
    }
  }
  return removed
}
