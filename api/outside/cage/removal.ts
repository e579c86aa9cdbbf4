/**
 * Removing what a caged program left: it may have made folders of any depth, and taken its own rights to them. Done by the system's tools in a
 * process of its own, so that it takes nobody's time; what is to go is out of the way at once.
 */
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Names of what is going begin so; whoever clears the folder takes what a server has left of them. */
const GOING = '.going-'
const TIME_MAX_MS = 10 * 60_000
/** Not ours to give back where they were taken: by root they are not needed. */
const SCRIPT = 'chmod -R u+rwX -- "$1" 2> /dev/null; exec rm -rf -- "$1"'

/** Has a folder go. Resolves when it is out of the way, not when it is gone; `gone` does then. */
export async function removeTree(path: string): Promise<{ gone: Promise<void> }> {
  const going = join(dirname(path), `${GOING}${crypto.randomUUID()}`)
  try {
    await rename(path, going)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return { gone: Promise.resolve() }
    throw error
  }
  return { gone: remove(going) }
}

async function remove(going: string) {
  const child = Bun.spawn(['/bin/sh', '-c', SCRIPT, 'sh', going], { stdio: ['ignore', 'ignore', 'ignore'], timeout: TIME_MAX_MS })
  child.unref()
  await child.exited
  if (existsSync(going)) console.error(`${going} could not be removed`)
}
