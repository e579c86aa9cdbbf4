/** Files that lie beside the databases of a store, as its backup takes them along: which there are, and what they come to. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'

/** A kind of such files. */
export interface Beside {
  /** The folder in which a backup keeps them. */
  folder: string
  /** Whether a path in an archive, which begins with that folder, is that of such a file. */
  isOne(path: string): boolean
}

/** How many files there are, their bytes together, and the SHA-256 of all their names and bytes. */
export interface FilesSum {
  files: number
  bytes: number
  sha256: string
}

/** The files of a kind below the folder that a backup is made from or unpacked to, as its archive calls them. */
export function filesBelow(made: string, { folder, isOne }: Beside): string[] {
  if (!existsSync(join(made, folder))) return []
  const found = readdirSync(join(made, folder), { recursive: true, withFileTypes: true })
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(made.length + 1))
  return paths.filter((path) => isOne(path)).toSorted()
}

/** Sums up the files of a kind below such a folder. */
export function sumOfFiles(made: string, beside: Beside): FilesSum {
  const hash = createHash('sha256')
  let bytes = 0
  const paths = filesBelow(made, beside)
  for (const path of paths) {
    const content = readFileSync(join(made, path))
    hash.update(path).update(content)
    bytes += content.length
  }
  return { files: paths.length, bytes, sha256: hash.digest('hex') }
}

/** Does something to a file that may be removed at the same time. */
export function unlessGone(work: () => void) {
  try {
    work()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
}
