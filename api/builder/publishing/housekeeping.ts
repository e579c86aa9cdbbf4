/** Clears away what nobody serves any more: deployments that were replaced, and what builds have left that were cut off. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inArray } from 'drizzle-orm'
import { deployments } from '../../../db/control/tables.ts'
import { removeTree } from '../../outside/cage/removal.ts'
import type { Services } from '../../outside/services.ts'
import { outlived, removeDeployment } from '../projects.ts'

const DAY_MS = 86_400_000
/** A build has ended, or its process has, long before this. */
const BUILD_MAX_MS = 2 * DAY_MS
/** As many names are looked up at once. */
const CHUNK = 500

/** One round. Rows go first: a host never serves what is being removed. */
export async function clearDeployments({ registry, storefronts, clock }: Services) {
  const now = clock.now()
  const stores = new Set<string>()
  for (const { id, storeId } of await outlived(registry, now)) {
    await removeDeployment(registry, { storeId, id })
    await storefronts.deployments.remove(storeId, id)
    stores.add(storeId)
  }
  const { deployments: built, builds } = storefronts.folders
  const isKept = async (names: string[]) => {
    const rows = await registry.control.read.select({ id: deployments.id }).from(deployments).where(inArray(deployments.id, names))
    return new Set(rows.map(({ id }) => id))
  }
  await clearFolder(built, now.getTime() - DAY_MS, isKept)
  // What a crash has left in the S3 store goes with what the store publishes later: nothing lists all stores there.
  for (const storeId of stores) {
    const old = await storefronts.deployments.keptBefore(storeId, new Date(now.getTime() - DAY_MS))
    for (let at = 0; at < old.length; at += CHUNK) {
      const names = old.slice(at, at + CHUNK)
      const kept = await isKept(names)
      for (const id of names) if (!kept.has(id)) await storefronts.deployments.remove(storeId, id)
    }
  }
  await clearFolder(builds, now.getTime() - BUILD_MAX_MS, async () => new Set(['logs']))
}

/** Removes what stands in a folder, was changed last before an instant, and is not kept. */
async function clearFolder(folder: string, before: number, isKept: (names: string[]) => Promise<ReadonlySet<string>>) {
  const all = await readdir(folder).catch(() => [])
  for (let at = 0; at < all.length; at += CHUNK) {
    const old: string[] = []
    for (const name of all.slice(at, at + CHUNK)) {
      const { mtimeMs } = (await stat(join(folder, name)).catch(() => null)) ?? { mtimeMs: Infinity }
      if (mtimeMs < before) old.push(name)
    }
    const kept = old.length ? await isKept(old) : new Set()
    for (const name of old) if (!kept.has(name)) await (await removeTree(join(folder, name))).gone
  }
}
