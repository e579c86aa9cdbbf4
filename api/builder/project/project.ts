/**
 * Projects: the source of a store's storefront, as a Git repository whose work tree is the design workspace. Whoever has git can clone it
 * by its path, and push to `main`, which moves the workspace, too; Stoa itself needs no git.
 */
import fs, { constants, existsSync } from 'node:fs'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { version } from '../../../package.json'
import { GIT_CONFIG } from '../../../db/project-files.ts'
import { AUTHOR, copyFolder, isSameTree, MAIN, ProjectError } from './tree.ts'

const STARTER = new URL('../../../site/storefront', import.meta.url).pathname

/** Whether the files of a folder are those of the starter, each as it is there. */
export const isStarter = (folder: string) => isSameTree(STARTER, folder)

/** Whether the project is there, whole. */
export const hasProject = (folder: string) => existsSync(join(folder, '.git', 'HEAD'))

/** Makes a project of the starter storefront: a folder that is whole, or not there at all. */
export async function makeProject(folder: string) {
  const unfinished = `${folder}.new-${crypto.randomUUID()}`
  const at = { fs, dir: unfinished }
  const { default: git } = await import('isomorphic-git')
  try {
    await copyFolder(STARTER, unfinished)
    await git.init({ ...at, defaultBranch: MAIN })
    await writeFile(join(unfinished, '.git', 'config'), GIT_CONFIG)
    await git.add({ ...at, filepath: '.' })
    await git.commit({ ...at, message: `Start from the storefront of Stoa ${version}`, author: AUTHOR })
    await mkdir(dirname(folder), { recursive: true })
    await rename(unfinished, folder)
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (!hasProject(folder)) throw error
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

const SHA = /^[0-9a-f]{40}$/
/** References are a line each; a project with more than these has thousands of branches. */
const REFS_MAX_BYTES = 1024 * 1024

/** A small plain file of a repository; null when there is none, or anything else. Whoever may push may have put it there. */
async function plain(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null)
  try {
    const stats = await file?.stat()
    return stats?.isFile() && stats.size <= REFS_MAX_BYTES ? await file!.readFile('utf8') : null
  } finally {
    await file?.close()
  }
}

/** The newest commit of `main`. It is read as a number and nothing else: what a reference leads to is nobody's business here. */
export async function headOf(folder: string): Promise<string> {
  const loose = (await plain(join(folder, '.git/refs/heads', MAIN)))?.trim()
  if (loose !== undefined && SHA.test(loose)) return loose
  const packed = await plain(join(folder, '.git/packed-refs'))
  const line = loose === undefined ? packed?.split('\n').find((each) => each.slice(41) === `refs/heads/${MAIN}`) : undefined
  if (line && SHA.test(line.slice(0, 40))) return line.slice(0, 40)
  throw new ProjectError(`the repository has no branch ${MAIN}`)
}
