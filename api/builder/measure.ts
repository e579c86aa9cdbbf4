/** How much room the built storefronts and the project of a store take: walked in the background, one folder after the other. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { deployments } from '../../db/control/tables.ts'
import type { Measured } from '../../db/control/room.ts'
import type { Services } from '../outside/services.ts'
import { projectFolder } from './project/workspace.ts'

/** Files that are counted of one folder; more than any build or project has. */
const FILES_MAX = 400_000
/** Folders of deployments that are walked in one round: a new one is counted within a few of them. */
const WALKED_MAX = 5
const AT_ONCE = 32

/** The bytes of all files below a folder; 0 where there is none. What goes meanwhile is not counted. */
async function bytesBelow(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  let bytes = 0
  for (let at = 0; at < Math.min(names.length, FILES_MAX); at += AT_ONCE) {
    const some = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => stat(join(folder, name)).catch(() => null)))
    for (const one of some) if (one?.isFile()) bytes += one.size
  }
  return bytes
}

/** What a store's deployments and project take: those that were walked before never change; the project is walked when it is told to be. */
export async function measureBuilt(
  { registry, storefronts }: Pick<Services, 'registry' | 'storefronts'>,
  storeId: string,
  { known, walksProject }: { known: Measured; walksProject: boolean },
): Promise<Pick<Measured, 'deployments' | 'project'>> {
  const rows = await registry.control.read.select({ id: deployments.id }).from(deployments).where(eq(deployments.storeId, storeId))
  const measured: Record<string, number> = {}
  let walked = 0
  for (const { id } of rows) {
    if (known.deployments[id] !== undefined) measured[id] = known.deployments[id]
    else if (walked++ < WALKED_MAX) measured[id] = await bytesBelow(storefronts.deployments.folderOf(id))
  }
  const project = walksProject ? await bytesBelow(projectFolder({ storefronts }, storeId)) : known.project
  return { deployments: measured, project }
}
