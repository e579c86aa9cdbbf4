/** Clears away what nobody serves any more: deployments a day after they were replaced, and what builds have left that were cut off. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inArray } from 'drizzle-orm'
import { deployments } from '../../../db/control/tables.ts'
import type { Services } from '../../outside/services.ts'
import { deploymentFolder } from '../builds/build.ts'
import { outlived, removeDeployment } from '../projects.ts'

const DAY_MS = 86_400_000
/** A build has ended, or its process has, long before this. */
const BUILD_MAX_MS = 2 * DAY_MS

/** One round. Rows go first: a host never serves what is being removed. */
export async function clearDeployments({ registry, storefronts, clock }: Services) {
  const now = clock.now().getTime()
  for (const { id } of await outlived(registry, new Date(now - DAY_MS).toISOString())) {
    await removeDeployment(registry, id)
    await rm(deploymentFolder(storefronts, id), { recursive: true, force: true })
  }
  const { deployments: built, builds } = storefronts.folders
  const names = await olderThan(built, now - DAY_MS)
  const known = names.length
    ? await registry.control.read.select({ id: deployments.id }).from(deployments).where(inArray(deployments.id, names))
    : []
  const kept = new Set(known.map(({ id }) => id))
  for (const name of names) if (!kept.has(name)) await rm(join(built, name), { recursive: true, force: true })
  for (const name of await olderThan(builds, now - BUILD_MAX_MS))
    if (name !== 'logs') await rm(join(builds, name), { recursive: true, force: true })
}

/** The names in a folder of what was changed last before an instant, at most a thousand. */
async function olderThan(folder: string, before: number): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    if (found.length >= 1_000) break
    const { mtimeMs } = (await stat(join(folder, name)).catch(() => null)) ?? { mtimeMs: Infinity }
    if (mtimeMs < before) found.push(name)
  }
  return found
}
