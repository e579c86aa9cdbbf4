/** What a project may be made of, counted while it is read: one that has more is no storefront. */
import { lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Told } from '../../values/refusal.ts'
import { NOT_PROJECT } from '../../../db/project-files.ts'

export const MAIN = 'main'
export const AUTHOR = { name: 'Stoa', email: 'stoa@localhost' }
const FILES_MAX = 5_000
const FOLDERS_MAX = 2_000
const DEPTH_MAX = 40
const BYTES_MAX = 100 * 1024 * 1024

/** Something about a project that its owner can put right. */
export class ProjectError extends Told {}

/** Counts what a project is made of, and refuses what is too much. */
export function counter() {
  let [files, folders, bytes] = [0, 0, 0]
  return {
    file(size: number) {
      bytes += size
      if (++files > FILES_MAX) throw new ProjectError(`the project has more than ${FILES_MAX} files`)
      if (bytes > BYTES_MAX) throw new ProjectError(`the files of the project have more than ${BYTES_MAX / 1024 / 1024} MB`)
    },
    folder(path: string) {
      if (++folders > FOLDERS_MAX) throw new ProjectError(`the project has more than ${FOLDERS_MAX} folders`)
      if (path.split('/').length > DEPTH_MAX) throw new ProjectError(`the folders of the project are more than ${DEPTH_MAX} deep`)
    },
  }
}

interface Walk {
  onFile?(path: string): Promise<unknown>
  onFolder?(path: string): Promise<unknown>
  /** Refuses links and whatever else is no file; left out: passes them over. */
  isStrict?: boolean
}

/** Walks the files of a folder that belong to a project. */
export async function walk(folder: string, { onFile, onFolder, isStrict = false }: Walk) {
  const count = counter()
  const into = async (below: string) => {
    count.folder(below)
    await onFolder?.(below)
    for (const name of await readdir(join(folder, below))) {
      if (NOT_PROJECT.has(name)) continue
      const path = join(below, name)
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await into(path)
      else if (stats.isFile()) {
        count.file(stats.size)
        await onFile?.(path)
      } else if (isStrict)
        throw new ProjectError(`${path} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'no file'}, which a project can not have`)
    }
  }
  await into('')
}

/** Copies the files of a project, which are nobody's programs then. */
export const copyFolder = (from: string, to: string) =>
  walk(from, {
    isStrict: true,
    // Not copied as the system does it, which takes their rights along.
    onFile: async (path) => writeFile(join(to, path), await readFile(join(from, path)), { mode: 0o644 }),
    onFolder: (path) => mkdir(join(to, path), { recursive: true }),
  })

/** Whether two folders have the same files of a project. */
export async function isSameTree(one: string, other: string): Promise<boolean> {
  const files: string[] = []
  const missing = new Set<string>()
  await walk(one, { onFile: async (path) => void files.push(path) })
  await walk(other, { onFile: async (path) => void missing.add(path) })
  if (files.length !== missing.size) return false
  for (const path of files) {
    if (!missing.has(path) || (await stat(join(one, path))).size !== (await stat(join(other, path))).size) return false
    if (!(await readFile(join(one, path))).equals(await readFile(join(other, path)))) return false
  }
  return true
}
