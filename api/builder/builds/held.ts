/** Whether a project may be built here: what its authors wrote runs, and this machine has to hold it. */
import type { CageStrength } from '../../outside/cage/cage.ts'
import { isStarter } from '../project/project.ts'
import { BuildError } from './build-error.ts'

/** What keeps a machine from holding projects, in words; null: it holds them. */
export function notHeld({ landlock, knowsCalls, apartBy, isHeld }: CageStrength): string | null {
  if (isHeld) return null
  if (landlock < 1) return 'its system has no Landlock'
  if (!knowsCalls) return 'the system calls of its processor are not known'
  return apartBy === null ? 'it gives a build neither a user nor namespaces of its own' : `version ${landlock} of Landlock is too old`
}

/** Refuses a project that this machine can't hold, unless it is the starter as it is, or the operator answers for it. */
export async function requireHeld(strength: CageStrength, project: string, isTrusted: boolean) {
  const why = notHeld(strength)
  if (why === null || isTrusted || (await isStarter(project))) return
  throw new BuildError(
    `this server can not hold what the project's authors wrote: ${why}. Whoever runs it can answer for them with BUILDS_TRUSTED=1`,
  )
}
