/** One run of Astro over a project, in a process of its own that can do nothing else: bounded in time, memory, output and files. */
import { readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Confinement } from './confine.ts'
import type { BuildLog } from './log.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const CONFINE = new URL('./confine.ts', import.meta.url).pathname
export const MODULES = join(ROOT, 'node_modules')
/** Programs and libraries of the system, which a build reads as any program does. */
const SYSTEM = [
  '/usr/bin',
  '/usr/lib',
  '/usr/lib64',
  '/usr/libexec',
  '/usr/share',
  '/lib',
  '/lib64',
  '/bin',
  '/nix/store',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/sys/fs/cgroup',
  '/proc/cpuinfo',
  '/proc/meminfo',
]

export const LIMITS = {
  memoryBytes: 2 * 1024 ** 3,
  files: 20_000,
  bytes: 500 * 1024 ** 2,
  fileBytes: 64 * 1024 ** 2,
  outputBytes: 20 * 1024 ** 2,
}
const LOOK_MS = 500
const LOOK_AT_FILES_MS = 2_000

/** A build that did not succeed, in a line for whoever asked for it. */
export class BuildError extends Error {}

interface Run {
  /** The folder of the build: `project/`, `data/`, `out/` and `tmp/` are in it. */
  folder: string
  out: string
  env: Record<string, string>
  log: BuildLog
  /** Aborted when the build is to end at once. */
  signal: AbortSignal
  timeoutMs: number
  /** The most files and bytes that it may write. */
  files: number
  bytes: number
}

/** The processes of a group, by their numbers, and the memory that they take. */
function groupOf(leader: number): { pids: number[]; bytes: number } {
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

interface Size {
  files: number
  bytes: number
}

/** What lies in a folder, counted until it is more than there may be; links are not followed. */
async function sizeOf(folder: string, most: Size): Promise<Size> {
  const size = { files: 0, bytes: 0 }
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop())
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      // A folder takes its place in the file system, too.
      size.files++
      if (entry.isDirectory()) folders.push(path)
      else size.bytes += (await lstat(path).catch(() => null))?.size ?? 0
      if (tooLarge(size, most)) return size
    }
  return size
}

/** What the child reads and writes; on systems other than Linux nothing holds it to that. */
function commandOf({ folder, out }: Run, env: Record<string, string>): string[] {
  const bun = realpathSync(process.execPath)
  // Packages are looked up in the folder of the build, whose links lead to them: what lies above them can not be read.
  const entry = join(folder, 'build.mjs')
  // A part of the build before this one may have put a link there.
  rmSync(entry, { recursive: true, force: true })
  writeFileSync(entry, "import './project/node_modules/astro/bin/astro.mjs'\n", { flag: 'wx' })
  const astro = [bun, '--preserve-symlinks', '--bun', entry, 'build', '--outDir', out, '--silent']
  if (process.platform !== 'linux') return astro
  const confinement: Confinement = {
    read: [...SYSTEM, realpathSync(MODULES), bun],
    write: [folder],
    command: astro,
    env,
    fileMaxBytes: LIMITS.fileBytes,
    parent: process.pid,
  }
  return [process.execPath, CONFINE, JSON.stringify(confinement)]
}

/** Builds the project of a folder. Throws a `BuildError` that says what went wrong, or the reason of `signal`. */
export async function runAstro(run: Run) {
  const { folder, log, signal, timeoutMs } = run
  signal.throwIfAborted()
  const tmp = join(folder, 'tmp')
  const env = {
    ...{ PATH: '/usr/bin:/bin', HOME: tmp, TMPDIR: tmp, NODE_ENV: 'production', NO_COLOR: '1', ASTRO_TELEMETRY_DISABLED: '1' },
    ...run.env,
  }
  const child = Bun.spawn(commandOf(run, env), {
    cwd: join(folder, 'project'),
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  })
  let wrong: Error | null = null
  const end = (error?: Error) => {
    wrong ??= error ?? null
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      child.kill('SIGKILL')
    }
  }
  const stopped = () => end(signal.reason as Error)
  signal.addEventListener('abort', stopped)
  const watching = watch(run, child.pid, end)
  const overdue = setTimeout(() => end(new BuildError(`the build took more than ${Math.round(timeoutMs / 1_000)} s`)), timeoutMs)
  const tooMuch = () => end(new BuildError(`the build wrote more than ${LIMITS.outputBytes / 1024 ** 2} MB of output`))
  try {
    const [code] = await Promise.all([child.exited, log.take(child.stdout, tooMuch), log.take(child.stderr, tooMuch)])
    log.say(`memory at its peak: ${Math.round((child.resourceUsage()?.maxRSS ?? 0) / 1024 / 1024)} MB`)
    if (wrong) throw wrong
    if (code !== 0) throw new BuildError(log.firstError() ?? `the build ended with ${child.signalCode ?? `code ${code}`}`)
  } finally {
    clearTimeout(overdue)
    clearInterval(watching)
    signal.removeEventListener('abort', stopped)
    // Nothing that it began outlives it.
    end()
  }
}

/** Looks at what a build takes, and ends one that takes too much. */
function watch({ folder, files, bytes }: Run, pid: number, end: (error: Error) => void) {
  let lookedAt = performance.now()
  let isLooking = false
  return setInterval(() => {
    if (process.platform === 'linux' && groupOf(pid).bytes > LIMITS.memoryBytes)
      end(new BuildError(`the build took more than ${LIMITS.memoryBytes / 1024 ** 3} GB of memory`))
    if (isLooking || performance.now() - lookedAt < LOOK_AT_FILES_MS) return
    isLooking = true
    void sizeOf(folder, { files, bytes }).then((size) => {
      isLooking = false
      lookedAt = performance.now()
      const over = tooLarge(size, { files, bytes })
      if (over) end(over)
    })
  }, LOOK_MS)
}

/** What is said of a build that has written too much; null for one that has not. */
export function tooLarge(size: Size, most: Size): BuildError | null {
  if (size.files > most.files) return new BuildError(`the build wrote more than ${most.files} files`)
  return size.bytes > most.bytes ? new BuildError(`the build wrote more than ${Math.round(most.bytes / 1024 ** 2)} MB`) : null
}
