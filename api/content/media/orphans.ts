/** Files that no row names: what a crash left between the two, and what could not be removed. */
import { inArray } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import type { Handle } from '../../../db/open.ts'
import { media } from '../../../db/store/content.ts'
import { attachedFiles } from '../../../db/store/visitors.ts'
import type { Files, Owner } from '../../outside/files.ts'

/** Younger files may be of a request that still runs. */
const YOUNG_MS = 60 * 60_000
const BATCH = 500

/** Removes a store's files that nothing refers to; returns how many ids that were. */
export async function removeOrphans(store: Handle, owner: Owner, files: Files, now: Date): Promise<number> {
  const old = (await files.list(owner)).filter(({ keptAt }) => now.getTime() - keptAt.getTime() > YOUNG_MS).map(({ id }) => id)
  let removed = 0
  for (let i = 0; i < old.length; i += BATCH) removed += await removeUnlisted(store.read, owner, files, old.slice(i, i + BATCH))
  return removed
}

/** Removes the files of those ids that have no row; returns how many that were. */
export async function removeUnlisted(db: Reader, owner: Owner, files: Files, ids: readonly string[]): Promise<number> {
  if (!ids.length) return 0
  const rows = await db
    .select({ id: media.id })
    .from(media)
    .where(inArray(media.id, [...ids]))
  const attached = await db
    .select({ id: attachedFiles.id })
    .from(attachedFiles)
    .where(inArray(attachedFiles.id, [...ids]))
  const listed = new Set([...rows, ...attached].map(({ id }) => id))
  const unlisted = ids.filter((id) => !listed.has(id))
  for (const id of unlisted) await files.remove(owner, id)
  return unlisted.length
}
