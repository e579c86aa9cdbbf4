/** Commands that run confined (confine.ts), and what a group of processes takes. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import type { Confinement } from './confine.ts'

const CONFINE = new URL('./confine.ts', import.meta.url).pathname
/** Programs and libraries of the system, which are read as by any program. */
const SYSTEM = [
  ...['/usr/bin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/share', '/lib', '/lib64', '/bin', '/nix/store', '/etc/ld.so.cache'],
  ...['/etc/localtime', '/sys/fs/cgroup', '/proc/cpuinfo', '/proc/meminfo'],
]
/** The most bytes of one file. */
const FILE_MAX_BYTES = 64 * 1024 ** 2

interface Confined {
  /** What it may read beside programs and libraries. */
  read: string[]
  /** Folders in which it may do anything. */
  write: string[]
  /** Arguments of Bun. */
  args: string[]
  env: Record<string, string>
}

/** The command that runs Bun confined; on systems other than Linux nothing holds it to that. */
export function confinedBun({ read, write, args, env }: Confined): string[] {
  const bun = realpathSync(process.execPath)
  const command = [bun, ...args]
  if (process.platform !== 'linux') return command
  const confinement: Confinement = {
    ...{ read: [...SYSTEM, ...read, bun], write, command, env, fileMaxBytes: FILE_MAX_BYTES, parent: process.pid },
  }
  return [process.execPath, CONFINE, JSON.stringify(confinement)]
}

/** The processes of a group, by their numbers, and the memory that they take. */
export function groupOf(leader: number): { pids: number[]; bytes: number } {
  const pids: number[] = []
  let pages = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8')
      // What stands in parentheses may have spaces and parentheses of its own.
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
      if (Number(fields[2]) !== leader) continue
      pids.push(Number(name))
      pages += Number(fields[21])
    } catch {
      /* ended meanwhile */
    }
  }
  return { pids, bytes: pages * 4_096 }
}

/** Ends a group of processes at once. */
export function endGroup(child: Bun.Subprocess) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}
