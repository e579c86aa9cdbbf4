/** The folder of the peers: each has its own in it, which says what was set up there, and that it was set up to the end. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isAlive } from '../../db/leftovers.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const MARK = 'bench-peer.json'
const LOCK = 'bench-peers.pid'

/** What a folder holds, and whether its set-up came to an end. */
interface Mark {
  about: string
  ready: boolean
}

const markOf = (path: string): Mark | null => {
  try {
    return JSON.parse(readFileSync(join(path, MARK), 'utf8')) as Mark
  } catch {
    return null
  }
}

/** Where a path leads to, links on the way to it followed; it need not be there yet. */
const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : join(realOf(dirname(path)), basename(path)))

/** Makes the folder and takes it for this run. Throws when it is in the repository, or another run has it. */
export function takeFolder(path: string): string {
  const folder = realOf(path)
  if (!relative(realpathSync(ROOT), folder).startsWith('..')) throw new Error(`${folder} is in the repository: choose a folder outside`)
  mkdirSync(folder, { recursive: true })
  const lock = join(folder, LOCK)
  if (existsSync(lock) && !isAlive(Number(readFileSync(lock, 'utf8')))) rmSync(lock)
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    throw new Error(`another run (process ${readFileSync(lock, 'utf8')}) uses ${folder}: wait for it, or choose another --folder`)
  }
  return folder
}

/** Gives the folder back: with what was set up in it, or without; itself where nothing is left in it. */
export function leaveFolder(folder: string, keep: boolean) {
  if (!keep)
    for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      if (markOf(join(folder, name))) rmSync(join(folder, name), { recursive: true, force: true })
  rmSync(join(folder, LOCK), { force: true })
  if (!readdirSync(folder).length) rmdirSync(folder)
}

/**
 * The folder of one peer, set up by `make` unless it holds just this already. What was begun and not ended, or is of another version, is
 * made anew; what is somebody else's is left alone.
 */
export async function prepared(folder: string, name: string, about: unknown, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(folder, name)
  const said = JSON.stringify(about)
  const mark = markOf(path)
  if (mark?.ready && mark.about === said) return path
  if (existsSync(path) && !mark) throw new Error(`${path} is not of this bench: choose another --folder`)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path)
  writeFileSync(join(path, MARK), JSON.stringify({ about: said, ready: false } satisfies Mark))
  await make(path)
  writeFileSync(join(path, MARK), JSON.stringify({ about: said, ready: true } satisfies Mark))
  return path
}

/** A folder of one run, under the mark that has it removed at its end. */
export function ownFolder(folder: string, name: string): string {
  const path = join(folder, name)
  if (existsSync(path) && !markOf(path)) throw new Error(`${path} is not of this bench: choose another --folder`)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path)
  writeFileSync(join(path, MARK), JSON.stringify({ about: name, ready: false } satisfies Mark))
  return path
}
