/** One run of Astro over a project, in a cage: bounded in time, memory, output and files. */
import { realpathSync, writeFileSync } from 'node:fs'
import { lstat, readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { runCaged } from '../../outside/cage/cage.ts'
import { BuildError } from './build-error.ts'
import type { BuildLog } from './log.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
export const MODULES = join(ROOT, 'node_modules')
export const LIMITS = {
  memoryBytes: 2 * 1024 ** 3,
  files: 20_000,
  bytes: 500 * 1024 ** 2,
  outputBytes: 20 * 1024 ** 2,
}
/** A build's files are counted so often, and sooner when the disk has lost so much since they were. */
const [COUNT_MS, COUNT_BYTES] = [2_000, 64 * 1024 ** 2]

interface Run {
  /** The folder of the build: `project/`, `data/`, `out/` and `tmp/` are in it. */
  folder: string
  out: string
  env: Record<string, string>
  /** Who it runs as; null: the server's own user. */
  user: number | null
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

/** Of one block, as `stat` counts what a file takes. */
const BLOCK_BYTES = 512
const SLASH = Buffer.from('/')

/** What lies in a folder, counted until it is more than there may be; links are not followed. Names are bytes, whatever they say. */
async function sizeOf(folder: string, most: Size): Promise<Size> {
  const size = { files: 0, bytes: 0 }
  const folders = [Buffer.from(folder)]
  const isGone = (error: { code?: string }) => error.code === 'ENOENT'
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const names = await readdir(next, { encoding: 'buffer' }).catch((error) => (isGone(error) ? [] : Promise.reject(error)))
    for (const name of names) {
      const path = Buffer.concat([next, SLASH, name])
      const stats = await lstat(path).catch((error) => (isGone(error) ? null : Promise.reject(error)))
      // A folder takes its place in the file system, too.
      size.files++
      if (stats?.isDirectory()) folders.push(path)
      else if (stats) size.bytes += Math.max(stats.size, stats.blocks * BLOCK_BYTES)
      if (tooLarge(size, most)) return size
    }
  }
  return size
}

/** The arguments with which Bun runs Astro over a folder. */
function argsOf({ folder, out }: Run): string[] {
  // Packages are looked up in the folder of the build, whose links lead to them: what lies above them can not be read.
  // A part of the build before this one may have put anything anywhere, but not where it can't know.
  const entry = join(folder, `build-${crypto.randomUUID()}.mjs`)
  writeFileSync(entry, "import './project/node_modules/astro/bin/astro.mjs'\n", { flag: 'wx' })
  return ['--preserve-symlinks', '--bun', entry, 'build', '--outDir', out, '--silent']
}

/** Builds the project of a folder. Throws a `BuildError` that says what went wrong, or the reason of `signal`. */
export async function runAstro(run: Run) {
  const { folder, log, signal, timeoutMs, user } = run
  signal.throwIfAborted()
  const tmp = join(folder, 'tmp')
  const { code, peakBytes } = await runCaged(
    {
      read: [realpathSync(MODULES)],
      write: [folder],
      args: argsOf(run),
      env: {
        ...{ PATH: '/usr/bin:/bin', HOME: tmp, TMPDIR: tmp, NODE_ENV: 'production', NO_COLOR: '1', ASTRO_TELEMETRY_DISABLED: '1' },
        ...run.env,
      },
      cwd: join(folder, 'project'),
      user,
      memoryMaxBytes: LIMITS.memoryBytes,
      timeMaxMs: timeoutMs,
      signal,
      tooLarge: () => new BuildError(`the build took more than ${LIMITS.memoryBytes / 1024 ** 3} GB of memory`),
      tooSlow: () => new BuildError(`the build took more than ${Math.round(timeoutMs / 1_000)} s`),
      look: counting(run),
    },
    ({ stdout, stderr }, end) => {
      const tooMuch = () => end(new BuildError(`the build wrote more than ${LIMITS.outputBytes / 1024 ** 2} MB of output`))
      return Promise.all([log.take(stdout, tooMuch), log.take(stderr, tooMuch)])
    },
  )
  if (peakBytes) log.say(`memory at its peak: ${Math.round(peakBytes / 1024 / 1024)} MB`)
  if (code !== 0) throw new BuildError(log.firstError() ?? `the build ended with ${endingOf(code)}`)
}

/** How a shell would name the end of a program. */
const endingOf = (code: number) => (code === 128 + 9 ? 'SIGKILL' : code > 128 ? `signal ${code - 128}` : `code ${code}`)

/** What the disk may lose beside what is counted: others write to it, too, and what is open without a name is counted nowhere. */
const [LOST_MAX, LOST_SLACK_BYTES, LOST_SLACK_FILES] = [2, 512 * 1024 ** 2, 50_000]
/** Of the whole disk, what a build leaves to others. */
const RESERVE_PART = 0.02

/** Counts now and then what a build has written; the error of one that has written too much. */
function counting({ folder, files, bytes }: Run): () => Promise<BuildError | null> {
  const room = async () => {
    const { bavail, bsize, blocks, ffree } = await statfs(folder)
    return { bytes: bavail * bsize, files: ffree, reserve: blocks * bsize * RESERVE_PART }
  }
  let counted = performance.now()
  let left: number | undefined
  let begun: Awaited<ReturnType<typeof room>> | undefined
  return async () => {
    const now = await room()
    begun ??= now
    left ??= now.bytes
    if (now.bytes < now.reserve && now.bytes < begun.bytes)
      return new BuildError(`the server's disk is full: ${Math.floor(now.bytes / 1024 ** 2)} MB were left`)
    const isLost =
      begun.bytes - now.bytes > LOST_MAX * bytes + LOST_SLACK_BYTES || begun.files - now.files > LOST_MAX * files + LOST_SLACK_FILES
    if (isLost) return new BuildError('the build took more of the disk than it may')
    if (performance.now() - counted < COUNT_MS && left - now.bytes < COUNT_BYTES) return null
    const size = await sizeOf(folder, { files, bytes }).catch((error: { code?: string }) => error)
    left = (await room()).bytes
    counted = performance.now()
    return 'bytes' in size ? tooLarge(size, { files, bytes }) : new BuildError(`what the build wrote can not be counted (${size.code})`)
  }
}

/** What is said of a build that has written too much; null for one that has not. */
function tooLarge(size: Size, most: Size): BuildError | null {
  if (size.files > most.files) return new BuildError(`the build wrote more than ${most.files} files`)
  return size.bytes > most.bytes ? new BuildError(`the build wrote more than ${Math.round(most.bytes / 1024 ** 2)} MB`) : null
}
