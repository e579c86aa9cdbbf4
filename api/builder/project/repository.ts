/**
 * The repositories of projects, read and written by a process of its own that can reach nothing else: bounded in time and memory, whatever a
 * repository is made of.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { confinedBun, endGroup, groupOf } from '../builds/confined.ts'
import { ProjectError } from './tree.ts'
import type { Task } from './repository-child.ts'

const CHILD = new URL('./repository-child.ts', import.meta.url).pathname
const MEMORY_MAX_BYTES = 1024 ** 3
const TIME_MAX_MS = 60_000
const LOOK_MS = 200

interface Place {
  /** Where builds are made: the child's program is kept there. */
  builds: string
  signal?: AbortSignal
}

const programs = new Map<string, Promise<string>>()

/** The child as one file, in a folder of its own: it can read nothing else of this program. */
function programIn(builds: string): Promise<string> {
  const known = programs.get(builds)
  if (known) return known
  const making = (async () => {
    const { outputs } = await Bun.build({ entrypoints: [CHILD], target: 'bun' })
    const text = await outputs[0]!.text()
    const folder = join(builds, `git-${new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)}`)
    const path = join(folder, 'repository.mjs')
    if (!existsSync(path)) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${path}.${process.pid}`, text)
      renameSync(`${path}.${process.pid}`, path)
    }
    return path
  })()
  programs.set(builds, making)
  making.catch(() => programs.delete(builds))
  return making
}

interface Told {
  value?: unknown
  mistake?: string
  error?: string
}

async function run<T>(task: Task, write: string[], { builds, signal }: Place): Promise<T> {
  signal?.throwIfAborted()
  const program = await programIn(builds)
  const cwd = join(program, '..')
  // Housekeeping may have taken away what nobody has used for days.
  if (!existsSync(program)) {
    programs.delete(builds)
    return run(task, write, { builds, signal })
  }
  const env = { PATH: '/usr/bin:/bin', HOME: cwd, TMPDIR: cwd }
  const read = [cwd, ...(task.task === 'save' ? [] : [task.folder])]
  const child = Bun.spawn(confinedBun({ read, write, args: [program, JSON.stringify(task)], env }), {
    ...{ cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', detached: true },
  })
  let wrong: Error | null = null
  const end = (error: Error) => {
    wrong ??= error
    endGroup(child)
  }
  const stopped = () => end(signal!.reason as Error)
  signal?.addEventListener('abort', stopped)
  const overdue = setTimeout(() => end(new ProjectError(`the repository takes more than ${TIME_MAX_MS / 1_000} s to read`)), TIME_MAX_MS)
  const looking = setInterval(() => {
    if (process.platform === 'linux' && groupOf(child.pid).bytes > MEMORY_MAX_BYTES)
      end(new ProjectError('the repository takes more than 1 GB of memory to read'))
  }, LOOK_MS)
  try {
    const text = await new Response(child.stdout).text()
    await child.exited
    if (wrong) throw wrong
    const told = JSON.parse(text || '{}') as Told
    if (told.mistake !== undefined) throw new ProjectError(told.mistake)
    if (told.error !== undefined || told.value === undefined)
      throw new Error(`the repository could not be worked with: ${told.error ?? child.signalCode ?? child.exitCode}`)
    return told.value as T
  } finally {
    clearTimeout(overdue)
    clearInterval(looking)
    signal?.removeEventListener('abort', stopped)
    endGroup(child)
  }
}

/** Commits what was changed in the workspace to `main`; the commit that `main` is at then, and whether there was something to save. */
export const saveWorkspace = (folder: string, message: string, place: Place): Promise<{ sha: string; saved: boolean }> =>
  run({ task: 'save', folder, message }, [folder], place)

/** Writes the files of a commit into a folder that is there. Links are refused: they could lead anywhere. */
export const checkOut = (folder: string, sha: string, into: string, place: Place): Promise<void> =>
  run({ task: 'check-out', folder, sha, into }, [into], place)

/** Writes the files of the workspace as they are now into a folder that is there. */
export const copyWorkspace = (folder: string, into: string, place: Place): Promise<void> =>
  run({ task: 'copy', folder, into }, [into], place)
