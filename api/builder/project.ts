/**
 * Projects: the source of a store's storefront, as a Git repository whose work tree is the design workspace. Whoever has git can clone it
 * by its path, and push to `main`, which moves the workspace, too; Stoa itself needs no git.
 */
import fs, { existsSync } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import git, { Errors } from 'isomorphic-git'
import { NOT_PROJECT } from '../../db/project-files.ts'
import { version } from '../../package.json'

const STARTER = new URL('../../site/storefront', import.meta.url).pathname
const MAIN = 'main'
const AUTHOR = { name: 'Stoa', email: 'stoa@localhost' }
/** What a project may be: one that has more is no storefront. */
const FILES_MAX = 5_000
const BYTES_MAX = 100 * 1024 * 1024

/** Something about a project that its owner can put right. */
export class ProjectError extends Error {}

const at = (folder: string) => ({ fs, dir: folder })

/** Whether the project is there, whole. */
export const hasProject = (folder: string) => existsSync(join(folder, '.git', 'HEAD'))

/** Makes a project of the starter storefront: a folder that is whole, or not there at all. */
export async function makeProject(folder: string) {
  const unfinished = `${folder}.new-${crypto.randomUUID()}`
  try {
    await copyFolder(STARTER, unfinished)
    await git.init({ ...at(unfinished), defaultBranch: MAIN })
    // A push to `main` moves the workspace along, when nothing in it is unsaved.
    await git.setConfig({ ...at(unfinished), path: 'receive.denyCurrentBranch', value: 'updateInstead' })
    await git.add({ ...at(unfinished), filepath: '.' })
    await git.commit({ ...at(unfinished), message: `Start from the storefront of Stoa ${version}`, author: AUTHOR })
    await mkdir(dirname(folder), { recursive: true })
    await rename(unfinished, folder)
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (!hasProject(folder)) throw error
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Runs what reads or writes the repository; what is wrong with that, its owner can put right: any Git may have written it. */
async function inRepository<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(Object.values(Errors) as unknown[]).includes((error as Error).constructor)) throw error
    throw new ProjectError(`the repository can not be read: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** The newest commit of `main`. */
export const headOf = (folder: string): Promise<string> => inRepository(() => git.resolveRef({ ...at(folder), ref: `refs/heads/${MAIN}` }))

/** Commits what was changed in the workspace to `main`; the commit that `main` is at then, and whether there was something to save. */
export const saveWorkspace = (folder: string, message: string): Promise<{ sha: string; saved: boolean }> =>
  inRepository(() => save(folder, message))

async function save(folder: string, message: string) {
  const branch = await git.currentBranch(at(folder))
  if (branch !== MAIN) throw new ProjectError(`the workspace is on ${branch ? `the branch ${branch}` : 'no branch'}: check out ${MAIN}`)
  let changed = 0
  for (const [filepath, head, work, stage] of await git.statusMatrix(at(folder))) {
    if (head === 1 && work === 1 && stage === 1) continue
    changed++
    if (work === 0) await git.remove({ ...at(folder), filepath })
    else await git.add({ ...at(folder), filepath })
  }
  const sha = changed ? await git.commit({ ...at(folder), message, author: AUTHOR }) : await headOf(folder)
  return { sha, saved: changed > 0 }
}

/** Counts what is written, and refuses what is too much. */
function counter() {
  let [files, bytes] = [0, 0]
  return (size: number) => {
    files++
    bytes += size
    if (files > FILES_MAX) throw new ProjectError(`the project has more than ${FILES_MAX} files`)
    if (bytes > BYTES_MAX) throw new ProjectError(`the files of the project have more than ${BYTES_MAX / 1024 / 1024} MB`)
  }
}

const [FILE_MODE, PROGRAM_MODE, LINK_MODE] = ['100644', '100755', '120000']

/** Writes the files of a commit into a folder. Links are refused: they could lead anywhere. */
export const checkOut = (folder: string, sha: string, into: string): Promise<void> => inRepository(() => writeCommit(folder, sha, into))

async function writeCommit(folder: string, sha: string, into: string) {
  const count = counter()
  const { commit } = await git.readCommit({ ...at(folder), oid: sha })
  const write = async (tree: string, below: string) => {
    await mkdir(join(into, below), { recursive: true })
    for (const { path, type, oid, mode } of (await git.readTree({ ...at(folder), oid: tree })).tree) {
      const name = join(below, path)
      // Git's own tools write no such names, and a tree made by hand could have them.
      if (path === '..' || path === '.' || path.includes('/') || path.includes('\0') || NOT_PROJECT.has(path)) continue
      if (type === 'tree') await write(oid, name)
      else if (type === 'blob' && (mode === FILE_MODE || mode === PROGRAM_MODE)) {
        const { blob } = await git.readBlob({ ...at(folder), oid })
        count(blob.length)
        await writeFile(join(into, name), blob)
      } else throw new ProjectError(`${name} is ${mode === LINK_MODE ? 'a symbolic link' : 'a submodule'}, which a project can not have`)
    }
  }
  await write(commit.tree, '')
}

/** Writes the files of the workspace as they are now into a folder. */
export async function copyWorkspace(folder: string, into: string) {
  await copyFolder(folder, into)
}

async function copyFolder(from: string, to: string) {
  const count = counter()
  const copy = async (below: string) => {
    await mkdir(join(to, below), { recursive: true })
    for (const name of await readdir(join(from, below))) {
      if (NOT_PROJECT.has(name)) continue
      const path = join(below, name)
      const stats = await lstat(join(from, path))
      if (stats.isDirectory()) await copy(path)
      else if (stats.isFile()) {
        count(stats.size)
        await copyFile(join(from, path), join(to, path))
        await chmod(join(to, path), 0o644)
      } else throw new ProjectError(`${path} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'no file'}, which a project can not have`)
    }
  }
  await copy('')
}
