/** Places with little room, real ones: a file system of a few megabytes, and a limit of the system on the size of a process's files. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { folder, run, type Env, type Running } from './processes.ts'

export interface Place {
  path: string
  /** Starts a command whose files are there. */
  start(command: string[], env: Env): Running
  /** Takes all the room that there is. */
  fill(): Promise<void>
  /** Makes room again. */
  free(): Promise<void>
  remove(): void
}

const sh = (...command: string[]) => Bun.spawnSync(command, { stdout: 'pipe', stderr: 'pipe' })

/** A file system in memory, of so many bytes; null where this user may not mount one. */
export function smallFileSystem(bytes: number): Place | null {
  const path = join(folder(), 'disk')
  mkdirSync(path)
  if (sh('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'none', path).exitCode !== 0) return null
  const ballast = join(path, 'ballast')
  return {
    path,
    start: run,
    async fill() {
      const file = openSync(ballast, 'w')
      try {
        for (const size of [65_536, 4_096]) for (const piece = Buffer.alloc(size); writeSync(file, piece) === size;);
      } catch (error) {
        if ((error as { code?: string }).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    async free() {
      rmSync(ballast, { force: true })
    },
    remove: () => void sh('umount', '-l', path),
  }
}

/** A limit on how large the files of a process may become, which it takes for a disk that fails. */
export function limitedFiles(): Place {
  const path = folder()
  let running: Running
  const limit = async (bytes: number | 'unlimited') => {
    const { exitCode, stderr } = sh('prlimit', '--pid', String(running.child.pid), `--fsize=${bytes}:unlimited`)
    if (exitCode !== 0) throw new Error(`prlimit: ${stderr}`)
  }
  return {
    path,
    start: (command, env) => (running = run(command, env)),
    fill: () => limit(4_096),
    free: () => limit('unlimited'),
    remove() {},
  }
}
