/**
 * The repositories of projects, read and written by a process of its own that can reach nothing else: bounded in time and memory, whatever a
 * repository is made of.
 */
import { chown } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runCaged } from '../../outside/cage/cage.ts'
import { programFile } from '../../outside/cage/program.ts'
import { ProjectError } from './tree.ts'
import type { Task } from './repository-child.ts'

const CHILD = new URL('./repository-child.ts', import.meta.url).pathname
const MEMORY_MAX_BYTES = 1024 ** 3
const TIME_MAX_MS = 60_000

interface Place {
  /** Where builds are made: the child's program is kept there. */
  builds: string
  /** Who the files that are written belong to, and who writes them; null: the server's own user. */
  user?: number | null
  signal?: AbortSignal
}

interface Told {
  value?: unknown
  mistake?: string
  error?: string
}

async function run<T>(task: Task, write: string[], { builds, user = null, signal }: Place): Promise<T> {
  const program = await programFile(builds, CHILD)
  const cwd = dirname(program)
  if (user !== null) for (const folder of write) await chown(folder, user, user)
  let text = ''
  const { code } = await runCaged(
    {
      read: [cwd, ...(task.task === 'save' ? [] : [task.folder])],
      write,
      args: [program, JSON.stringify(task)],
      env: { PATH: '/usr/bin:/bin', HOME: cwd, TMPDIR: cwd },
      cwd,
      user,
      memoryMaxBytes: MEMORY_MAX_BYTES,
      timeMaxMs: TIME_MAX_MS,
      signal,
      tooLarge: () => new ProjectError('the repository takes more than 1 GB of memory to read'),
      tooSlow: () => new ProjectError(`the repository takes more than ${TIME_MAX_MS / 1_000} s to read`),
    },
    async ({ stdout, stderr }) => {
      ;[text] = await Promise.all([new Response(stdout).text(), stderr.pipeTo(new WritableStream())])
    },
  )
  const told = JSON.parse(text || '{}') as Told
  if (told.mistake !== undefined) throw new ProjectError(told.mistake)
  if (told.error !== undefined || told.value === undefined)
    throw new Error(`the repository could not be worked with: ${told.error ?? `the program ended with code ${code}`}`)
  return told.value as T
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
