/** Reading what a build has written: its authors may have put anything in its place. */
import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { BuildError } from './run.ts'

/** Refuses what is no folder of its own, such as a link to one. */
export async function requireFolder(path: string, name: string) {
  if (!(await lstat(path).catch(() => null))?.isDirectory()) throw new BuildError(`the build wrote ${name}, which is no folder`)
}

/** The text of a plain file of at most `maxBytes`; null when there is none. Follows no link, and waits for nobody at the other end of a pipe. */
export async function readPlain(path: string, name: string, maxBytes: number): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return null
    throw new BuildError(`the build wrote ${name}, which is no plain file`)
  })
  if (!file) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new BuildError(`the build wrote ${name}, which is no plain file`)
    if (stats.size > maxBytes) throw new BuildError(`the build wrote ${name}, which has more than ${maxBytes} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
