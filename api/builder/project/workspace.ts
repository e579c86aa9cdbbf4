/** Where the project of a store is, and that it is there. */
import { join } from 'node:path'
import type { Services } from '../../outside/services.ts'
import { hasProject, makeProject } from './project.ts'
import { addProject, projectOf } from '../projects.ts'

/** The folder of a store's project. */
export const projectFolder = ({ storefronts }: Pick<Services, 'storefronts'>, storeId: string) =>
  join(storefronts.folders.projects, storeId)

/** Whether a store's project is there, whole, and known. */
export const isUp = async (services: Pick<Services, 'storefronts' | 'registry'>, storeId: string) =>
  hasProject(projectFolder(services, storeId)) && (await projectOf(services.registry, storeId)) !== undefined

/** Makes what is missing of the project of a store that should have one. */
export async function ensureProject(services: Pick<Services, 'storefronts' | 'registry' | 'clock'>, storeId: string) {
  const folder = projectFolder(services, storeId)
  if (!hasProject(folder)) await makeProject(folder)
  await addProject(services.registry, storeId, services.clock.now())
}
