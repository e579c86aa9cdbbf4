/** One run of Astro over a project, in a process of its own that can do nothing else: bounded in time, memory, output and files. */
import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Told } from '../../values/refusal.ts'
import { confinedBun, endGroup, groupOf } from './confined.ts'
import type { BuildLog } from './log.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
export const MODULES = join(ROOT, 'node_modules')
export const LIMITS = {
  memoryBytes: 2 * 1024 ** 3,
  files: 20_000,
  bytes: 500 * 1024 ** 2,
  outputBytes: 20 * 1024 ** 2,
}
const LOOK_MS = 500
const LOOK_AT_FILES_MS = 2_000

/** A build that did not succeed, in a line for whoever asked for it. */
export class BuildError extends Told {}

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

/** How Astro is run over a folder. */
function commandOf({ folder, out }: Run, env: Record<string, string>): string[] {
  // Packages are looked up in the folder of the build, whose links lead to them: what lies above them can not be read.
  const entry = join(folder, 'build.mjs')
  // A part of the build before this one may have put a link there.
  rmSync(entry, { recursive: true, force: true })
  writeFileSync(entry, "import './project/node_modules/astro/bin/astro.mjs'\n", { flag: 'wx' })
  const args = ['--preserve-symlinks', '--bun', entry, 'build', '--outDir', out, '--silent']
  return confinedBun({ read: [realpathSync(MODULES)], write: [folder], args, env })
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
    endGroup(child)
  }
  const stopped = () => end(signal.reason as Error)
  signal.addEventListener('abort', stopped)
  const taken = { peak: 0 }
  const watching = watch(run, child.pid, taken, end)
  const overdue = setTimeout(() => end(new BuildError(`the build took more than ${Math.round(timeoutMs / 1_000)} s`)), timeoutMs)
  const tooMuch = () => end(new BuildError(`the build wrote more than ${LIMITS.outputBytes / 1024 ** 2} MB of output`))
  try {
    const [code] = await Promise.all([child.exited, log.take(child.stdout, tooMuch), log.take(child.stderr, tooMuch)])
    if (taken.peak) log.say(`memory at its peak: ${Math.round(taken.peak / 1024 / 1024)} MB`)
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
function watch({ folder, files, bytes }: Run, pid: number, taken: { peak: number }, end: (error: Error) => void) {
  let lookedAt = performance.now()
  let isLooking = false
  return setInterval(() => {
    if (process.platform === 'linux') taken.peak = Math.max(taken.peak, groupOf(pid).bytes)
    if (taken.peak > LIMITS.memoryBytes) end(new BuildError(`the build took more than ${LIMITS.memoryBytes / 1024 ** 3} GB of memory`))
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
