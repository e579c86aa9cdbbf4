/**
 * The source of a store's storefront: a Git repository with its work tree, which lies beside its databases. A backup has its commits and
 * the files as they are; what Git would run, or read elsewhere, is no part of it.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, unlessGone, type Beside } from './beside-files.ts'

/** The folder of a store's project. */
export const projectOn = (dataDir: string, storeId: string) => join(dataDir, 'builder', storeId)

const FOLDER = 'project'
/** What stands in the folder of a project and is no part of it. */
export const NOT_PROJECT: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', '.astro', '.cache'])
/** Of the repository: no hooks and no configuration, which name programs. */
const OF_GIT = /^(HEAD|index|packed-refs|refs\/(heads|tags)\/.+|objects\/([0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(pack|idx)))$/
/**
 * The configuration of every project. A push to `main` moves the workspace along, when nothing in it is unsaved; links are seen as what they
 * are, and refused by name: as plain files they would differ from what was pushed.
 */
export const GIT_CONFIG = `[core]
	repositoryformatversion = 0
	filemode = false
	bare = false
	logallrefupdates = true
	symlinks = true
[receive]
	denyCurrentBranch = updateInstead
`

function isOne(path: string): boolean {
  if (!path.startsWith(`${FOLDER}/`) || /[\0\\]/.test(path)) return false
  const [, first, ...rest] = path.split('/')
  if (first === '.git') return OF_GIT.test(rest.join('/')) && !rest.some((part) => part === '' || part.startsWith('.'))
  return [first!, ...rest].every((part) => part !== '' && part !== '.' && part !== '..' && !NOT_PROJECT.has(part.toLowerCase()))
}

/** How a backup keeps it. */
export const PROJECT: Beside = { folder: FOLDER, isOne }

/** Copies a store's project into a backup's folder, while it may be written to. */
export function collectProject(dataDir: string, storeId: string, folder: string) {
  const from = projectOn(dataDir, storeId)
  const take = (below: string) => {
    for (const entry of readdirSync(join(from, below), { withFileTypes: true })) {
      const path = join(below, entry.name)
      const to = `${FOLDER}/${path}`
      if (entry.isDirectory() && (path.startsWith('.git') || !NOT_PROJECT.has(entry.name))) unlessGone(() => take(path))
      if (!entry.isFile() || !isOne(to) || existsSync(join(folder, to))) continue
      mkdirSync(dirname(join(folder, to)), { recursive: true })
      unlessGone(() => copyFileSync(join(from, path), join(folder, to)))
    }
  }
  if (!existsSync(join(from, '.git', 'HEAD'))) return
  take('')
  // What the refs name that were copied is there by now, also where it was packed meanwhile.
  take(join('.git', 'objects'))
}

/** Gives a store that has no project the one of its unpacked backup, on the same file system; one that is there has its own history. */
export function adoptProject(folder: string, dataDir: string, storeId: string) {
  const to = projectOn(dataDir, storeId)
  const paths = filesBelow(folder, PROJECT)
  if (existsSync(to) || !paths.includes(`${FOLDER}/.git/HEAD`)) return
  for (const path of paths) chmodSync(join(folder, path), statSync(join(folder, path)).mode & 0o100 ? 0o755 : 0o644)
  const own = join(folder, FOLDER)
  // Git takes a folder without these for none of its own.
  for (const name of ['refs', 'objects']) mkdirSync(join(own, '.git', name), { recursive: true })
  writeFileSync(join(own, '.git', 'config'), GIT_CONFIG)
  mkdirSync(dirname(to), { recursive: true })
  renameSync(own, to)
}

/** Removes a store's project for good. */
export const removeProject = (dataDir: string, storeId: string) => rmSync(projectOn(dataDir, storeId), { recursive: true, force: true })
