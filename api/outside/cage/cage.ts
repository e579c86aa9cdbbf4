/**
 * Programs that run in a cage (become.ts): bounded in time and memory, ended with all that they began. On systems other than Linux nothing
 * but time holds them.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import type { Confinement } from './become.ts'
import { knowsCalls } from './calls.ts'
import { landlockVersion } from './kernel.ts'

const BECOME = new URL('./become.ts', import.meta.url).pathname
/** Programs and libraries of the system, which are read as by any program. */
const SYSTEM = [
  ...['/usr/bin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/share', '/lib', '/lib64', '/bin', '/nix/store', '/etc/ld.so.cache'],
  ...['/etc/localtime', '/sys/fs/cgroup', '/proc/cpuinfo', '/proc/meminfo'],
]
/** The most bytes of one file. */
const FILE_MAX_BYTES = 64 * 1024 ** 2
/** The engine reserves, and counts as its own, about three times what it uses. */
const DATA_PER_MEMORY = 3
const THREADS_MAX = 512
const LOOK_MS = 250

/** The environment and the folder in which a cage is made: what lies in the program's own folder is not read before it is closed. */
const OUTSIDE = { env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' }, cwd: '/' }
const PLAIN = ['--no-env-file', '--config=/dev/null']

/** Below this version of Landlock a program can't move files between folders of its own. */
const LANDLOCK_LEAST = 2
/** From this version on Landlock keeps signals in. */
const LANDLOCK_OF_SIGNALS = 6

/** How well this machine holds programs in cages. */
export interface CageStrength {
  /** The version of Landlock, which holds files; 0: none. */
  landlock: number
  /** System calls are looked at: their numbers are known for this kind of machine. */
  knowsCalls: boolean
  /** What keeps a program from other processes; null: nothing does. */
  apartBy: 'a user of its own' | 'namespaces of its own' | 'Landlock' | null
  /** Neither files nor processes nor the network can be reached. */
  isHeld: boolean
}

let strength: CageStrength | undefined

/** Finds out how well this machine holds programs; the first time by beginning one. */
export async function cageStrength(): Promise<CageStrength> {
  return (strength ??= await findStrength())
}

async function findStrength(): Promise<CageStrength> {
  const landlock = landlockVersion()
  const apartBy =
    freeUser() !== null
      ? 'a user of its own'
      : (await hasNamespaces())
        ? 'namespaces of its own'
        : landlock >= LANDLOCK_OF_SIGNALS
          ? 'Landlock'
          : null
  return { landlock, knowsCalls: knowsCalls(), apartBy, isHeld: landlock >= LANDLOCK_LEAST && knowsCalls() && apartBy !== null }
}

/** Whether a program gets namespaces: in one of its own it is the first process. */
async function hasNamespaces(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const error = () => new Error('a look at namespaces has not ended')
  let said = ''
  const caged = { read: [], write: [], args: ['-e', 'process.stdout.write(String(process.pid))'], env: {}, cwd: '/' }
  await runCaged({ ...caged, memoryMaxBytes: 1024 ** 3, timeMaxMs: 10_000, tooLarge: error, tooSlow: error }, async ({ stdout }) => {
    said = await new Response(stdout).text()
  }).catch(() => {})
  return said === '1'
}

/** Users that belong to nobody and no service has for good (systemd: `DynamicUser`). */
const [USERS_FROM, USERS_TO] = [61_184, 65_519]

/**
 * A user for one program alone: one that no process runs as. Null where the server is no root, and can become nobody else, or where it has
 * no such users, as in some containers.
 */
export function freeUser(): number | null {
  if (process.platform !== 'linux' || process.getuid!() !== 0) return null
  const last = readFileSync('/proc/self/uid_map', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .reduce((most, [first, , count]) => (count ? Math.max(most, first! + count - 1) : most), 0)
  if (last < USERS_TO) return null
  const taken = new Set(processes().flatMap(usersOf))
  for (;;) {
    const user = randomInt(USERS_FROM, USERS_TO + 1)
    if (!taken.has(user)) return user
  }
}

/** The same for a program in a cage: without Landlock it could read what only the server's user may, or nothing at all. */
export const cageUser = () => (landlockVersion() > 0 ? freeUser() : null)

/** The users that a process has, whoever its folder belongs to: root has those of processes that show nothing of themselves. */
function usersOf(pid: string): number[] {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .find((text) => text.startsWith('Uid:'))
    return line!.split('\t').slice(1).map(Number)
  } catch {
    // It has ended meanwhile.
    return []
  }
}

const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

interface Caged {
  /** What it may read beside programs and libraries. */
  read: string[]
  /** Folders in which it may do anything. */
  write: string[]
  /** Arguments of Bun. */
  args: string[]
  env: Record<string, string>
  cwd: string
  /** What it becomes, from `freeUser`; null: it stays who it is. */
  user?: number | null
  memoryMaxBytes: number
  timeMaxMs: number
  signal?: AbortSignal
  /** What is thrown when it takes too much. */
  tooLarge: () => Error
  tooSlow: () => Error
  /** Looks at what else it takes, while it runs; an error ends it. */
  look?(pids: readonly number[]): Promise<Error | null>
}

/** What it says, to be read to the end; `end` ends it at once, and its run with the error. */
type Listen = (
  said: { stdout: ReadableStream<Uint8Array>; stderr: ReadableStream<Uint8Array> },
  end: (error: Error) => void,
) => Promise<unknown>

interface Ended {
  code: number
  /** The most memory that it was seen to take. */
  peakBytes: number
}

/** Runs Bun in a cage to its end. Throws what `tooLarge`, `tooSlow`, `look` and `end` gave, or the reason of the signal. */
export async function runCaged(caged: Caged, listen: Listen): Promise<Ended> {
  const { env, cwd, timeMaxMs, signal, tooSlow } = caged
  signal?.throwIfAborted()
  const place = process.platform === 'linux' ? OUTSIDE : { env, cwd }
  const child = Bun.spawn(commandOf(caged), { ...place, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', detached: true })
  let wrong: Error | null = null
  const end = (error?: Error) => {
    wrong ??= error ?? null
    endGroup(child)
  }
  const stopped = () => end(signal!.reason as Error)
  signal?.addEventListener('abort', stopped)
  const overdue = setTimeout(() => end(tooSlow()), timeMaxMs)
  const taken = { peakBytes: 0 }
  const watching = setInterval(watch(caged, child.pid, taken, end), LOOK_MS)
  try {
    const [code] = await Promise.all([child.exited, listen({ stdout: child.stdout, stderr: child.stderr }, end)])
    if (wrong) throw wrong
    return { code, ...taken }
  } finally {
    clearTimeout(overdue)
    clearInterval(watching)
    signal?.removeEventListener('abort', stopped)
    // Nothing that it began outlives it.
    end()
  }
}

/** A machine that has less memory left ends what takes it. */
const MEMORY_LEAST_BYTES = 128 * 1024 ** 2
/** So many times its own limit may be missed since it began: others take memory, too. */
const MISSED_MAX = 3
/** The memory that the machine has left, in bytes. */
const memoryLeft = () => Number(/^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? Infinity) * 1024

/** A look at what a program takes. What can't be looked at is ended: whatever keeps us from it may be its own doing. */
function watch({ memoryMaxBytes, tooLarge, look }: Caged, leader: number, taken: { peakBytes: number }, end: (error: Error) => void) {
  let isLooking = false
  let before: number | undefined
  return () => {
    if (isLooking || process.platform !== 'linux') return
    isLooking = true
    void (async () => {
      try {
        const { pids, bytes } = groupOf(leader)
        taken.peakBytes = Math.max(taken.peakBytes, bytes)
        const left = memoryLeft()
        before ??= left
        // What the kernel keeps for it is no process's: it is missed all the same.
        const isMissed = left < MEMORY_LEAST_BYTES || before - left > MISSED_MAX * memoryMaxBytes
        const wrong = bytes > memoryMaxBytes || isMissed ? tooLarge() : await look?.(pids)
        if (wrong) end(wrong)
      } catch (error) {
        end(error as Error)
      } finally {
        isLooking = false
      }
    })()
  }
}

/** The command that runs Bun in a cage. */
function commandOf({ read, write, args, env, cwd, user = null, memoryMaxBytes }: Caged): string[] {
  const bun = realpathSync(process.execPath)
  const command = [bun, ...args]
  if (process.platform !== 'linux') return command
  const confinement: Confinement = {
    read: [...SYSTEM, ...read, bun],
    write,
    command,
    env,
    cwd,
    fileMaxBytes: FILE_MAX_BYTES,
    dataMaxBytes: memoryMaxBytes * DATA_PER_MEMORY,
    threadsMax: THREADS_MAX,
    user,
    parent: process.pid,
  }
  return [process.execPath, ...PLAIN, BECOME, JSON.stringify(confinement)]
}

/** The processes of a group, by their numbers, and the memory that they take. */
function groupOf(leader: number): { pids: number[]; bytes: number } {
  const pids: number[] = []
  let pages = 0
  for (const name of processes()) {
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8')
      // What stands in parentheses may have spaces and parentheses of its own.
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
      if (Number(fields[2]) !== leader) continue
      pids.push(Number(name))
      pages += Number(fields[21])
    } catch (error) {
      // One that has ended meanwhile, and nothing else.
      if (!['ENOENT', 'ESRCH'].includes((error as { code?: string }).code ?? '')) throw error
    }
  }
  return { pids, bytes: pages * 4_096 }
}

/** Ends a group of processes at once. */
function endGroup(child: Bun.Subprocess) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}
