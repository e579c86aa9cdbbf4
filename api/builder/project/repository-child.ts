/**
 * Reads and writes the repository of a project, in a process of its own (repository.ts): any Git may have written it, and whoever may push
 * may have made it of anything. Told what to do in its last argument; says in JSON what came of it.
 */
import fs from 'node:fs'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import git, { Errors } from 'isomorphic-git'
import { NOT_PROJECT } from '../../../db/project-files.ts'
import { AUTHOR, copyFolder, counter, MAIN, ProjectError, walk } from './tree.ts'

export type Task =
  | { task: 'save'; folder: string; message: string }
  | { task: 'check-out'; folder: string; sha: string; into: string }
  | { task: 'copy'; folder: string; into: string }

const at = (folder: string) => ({ fs, dir: folder })

/** Refuses a repository whose parts lie elsewhere. */
async function requireOwn(folder: string) {
  for (const [name, isFolder] of [
    ['', true],
    ['objects', true],
    ['refs', true],
    ['refs/heads', true],
    ['HEAD', false],
    ['index', false],
    ['packed-refs', false],
    [`refs/heads/${MAIN}`, false],
  ] as const) {
    const stats = await lstat(join(folder, '.git', name)).catch(() => null)
    if (stats && !(isFolder ? stats.isDirectory() : stats.isFile())) throw new ProjectError(`.git/${name} is not what Git makes it`)
  }
  if (await lstat(join(folder, '.git/objects/info/alternates')).catch(() => null))
    throw new ProjectError('the repository keeps objects elsewhere (.git/objects/info/alternates)')
}

/** Counts the files and folders of a commit, and gives those of a project to `onFile` and `onFolder`; without the first, it counts alone. */
async function walkCommit(
  folder: string,
  sha: string,
  onFile?: (path: string, oid: string, count: (size: number) => void) => Promise<unknown>,
  onFolder: (path: string) => Promise<unknown> = async () => {},
) {
  const count = counter()
  const { commit } = await git.readCommit({ ...at(folder), oid: sha })
  const into = async (tree: string, below: string) => {
    count.folder(below)
    await onFolder(below)
    for (const { path, type, oid, mode } of (await git.readTree({ ...at(folder), oid: tree })).tree) {
      const name = join(below, path)
      // Git's own tools write no such names, and a tree made by hand could have them.
      if (path === '..' || path === '.' || path.includes('/') || path.includes('\0') || NOT_PROJECT.has(path)) continue
      if (type === 'tree') await into(oid, name)
      else if (!onFile) count.file(0)
      else if (type === 'blob' && (mode === '100644' || mode === '100755')) await onFile(name, oid, count.file)
      else throw new ProjectError(`${name} is ${mode === '120000' ? 'a symbolic link' : 'a submodule'}, which a project can not have`)
    }
  }
  await into(commit.tree, '')
}

/** Commits what was changed in the workspace to `main`; the commit that `main` is at then, and whether there was something to save. */
async function save({ folder, message }: Extract<Task, { task: 'save' }>) {
  const branch = await git.currentBranch(at(folder))
  if (branch !== MAIN) throw new ProjectError(`the workspace is on ${branch ? `the branch ${branch}` : 'no branch'}: check out ${MAIN}`)
  const head = await git.resolveRef({ ...at(folder), ref: `refs/heads/${MAIN}` })
  // Both are small enough to be compared.
  await walkCommit(folder, head)
  await walk(folder, {})
  let changed = 0
  for (const [filepath, inHead, inWork, inStage] of await git.statusMatrix(at(folder))) {
    if (inHead === 1 && inWork === 1 && inStage === 1) continue
    changed++
    if (inWork === 0) await git.remove({ ...at(folder), filepath })
    else await git.add({ ...at(folder), filepath })
  }
  return { sha: changed ? await git.commit({ ...at(folder), message, author: AUTHOR }) : head, saved: changed > 0 }
}

/** Writes the files of a commit into a folder. */
const checkOut = ({ folder, sha, into }: Extract<Task, { task: 'check-out' }>) =>
  walkCommit(
    folder,
    sha,
    async (path, oid, count) => {
      const { blob } = await git.readBlob({ ...at(folder), oid })
      count(blob.length)
      await writeFile(join(into, path), blob)
    },
    (path) => mkdir(join(into, path), { recursive: true }),
  )

async function run(task: Task): Promise<unknown> {
  if (task.task === 'copy') return copyFolder(task.folder, task.into)
  await requireOwn(task.folder)
  return task.task === 'save' ? save(task) : checkOut(task)
}

/** What came of it: the name of an error of Git's own is told, its words may be those of whoever wrote the repository. */
async function told(task: Task): Promise<object> {
  try {
    return { value: (await run(task)) ?? null }
  } catch (error) {
    if (error instanceof ProjectError) return { mistake: error.message }
    const { constructor, name, code } = error as Error & { code?: string }
    if ((Object.values(Errors) as unknown[]).includes(constructor)) return { mistake: `the repository can not be read (${code ?? name})` }
    return { error: code ?? name }
  }
}

process.stdout.write(JSON.stringify(await told(JSON.parse(process.argv.at(-1)!) as Task)))
