/** Files on their way: named after the process that makes them, so that those of one that was killed can be told and removed. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Containers have numbers of processes of their own: they are compared on the same host alone. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
const OWNED = /^(?:\.stoa|.+\.(?:new|template))-([0-9a-f]{8})-(\d+)(?:-\w+)?(?:-wal|-shm)?$/
/** The age in ms at which a file that another host has begun is taken for left behind. */
const FOREIGN_MS = 86_400_000

/** A name of this process's own beside `path`. */
export const ownName = (path: string, purpose: 'new' | 'template') => `${path}.${purpose}-${HOST}-${process.pid}`

/** A folder of one's own beside what is being written or read, so that there is room and a rename is possible. */
export function temporaryFolder(beside: string): string {
  try {
    return mkdtempSync(`${beside}/.stoa-${HOST}-${process.pid}-`)
  } catch (error) {
    throw new Error(`${beside} can't be written (${(error as { code?: string }).code})`)
  }
}

/** The process that this is, for others on this disk. */
export const ownerOf = () => `${HOST}-${process.pid}`

/** Whether a process that called itself so has ended; of one on another host that is not known. */
export function ownerIsGone(owner: string): boolean {
  const [host, pid] = owner.trim().split('-')
  return host === HOST && /^\d+$/.test(pid ?? '') && !isAlive(Number(pid))
}

/** Whether a process of this host is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

/** The paths of files in a folder that processes which are gone have left there; none when the folder can't be read. */
export function leftIn(folder: string): string[] {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .filter((name) => {
      const [, host, pid] = OWNED.exec(name) ?? []
      if (!host) return false
      if (host === HOST && !isAlive(Number(pid))) return true
      const made = statSync(join(folder, name), { throwIfNoEntry: false })
      return made !== undefined && Date.now() - made.mtimeMs > FOREIGN_MS
    })
    .map((name) => join(folder, name))
}

/** Removes what processes that are gone have left in a folder, and tells how much that was. */
export function sweepFolder(folder: string): number {
  const left = leftIn(folder)
  for (const path of left) rmSync(path, { recursive: true, force: true })
  return left.length
}
