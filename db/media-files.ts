/** The files of a store's media and messages, which lie beside its databases: taken along by its backup, its restore and its end. */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  renameSync,
  rmSync,
  readFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of all stores' media. */
export const mediaFolder = (dataDir: string) => join(dataDir, 'media')

/** Where a backup keeps them, in the folder that its archive is made from. */
export const MEDIA = 'media'
const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const FILE = new RegExp(`^${MEDIA}/(live|sandbox)/${UUID}/((image|\\d{1,4})\\.(jpg|png|webp|gif)|attachment)$`)

/** Whether a path in an archive is that of such a file. */
export const isMediaFile = (path: string) => FILE.test(path)

/** How many files there are, their bytes together, and the SHA-256 of all their names and bytes. */
export interface MediaSum {
  files: number
  bytes: number
  sha256: string
}

/** The files below the folder that a backup is made from or unpacked to, as its archive calls them. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(join(folder, MEDIA))) return []
  const paths = readdirSync(join(folder, MEDIA), { recursive: true, encoding: 'utf8' }).map((path) => `${MEDIA}/${path}`)
  return paths.filter(isMediaFile).toSorted()
}

/** Sums up the files below such a folder. */
export function sumOfMedia(folder: string): MediaSum {
  const hash = createHash('sha256')
  let bytes = 0
  const paths = filesBelow(folder)
  for (const path of paths) {
    const content = readFileSync(join(folder, path))
    hash.update(path).update(content)
    bytes += content.length
  }
  return { files: paths.length, bytes, sha256: hash.digest('hex') }
}

/** Lays a store's files into a backup's folder. One that is removed meanwhile is left out; none of them ever changes. */
export function collectMedia(dataDir: string, storeId: string, folder: string) {
  const from = join(mediaFolder(dataDir), storeId)
  if (!existsSync(from)) return
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    const to = `${MEDIA}/${path}`
    if (!isMediaFile(to)) continue
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    unlessGone(() => linkOrCopy(join(from, path), join(folder, to)))
  }
}

function linkOrCopy(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') throw error
    // Another file system, or one without links.
    copyFileSync(from, to)
  }
}

function unlessGone(work: () => void) {
  try {
    work()
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
}

/** Gives a store the files of its unpacked backup, on the same file system. Those that it has already are the same. */
export function adoptMedia(folder: string, dataDir: string, storeId: string) {
  const target = join(mediaFolder(dataDir), storeId)
  const folders = new Set(filesBelow(folder).map((path) => dirname(path)))
  for (const path of folders) {
    const to = join(target, path.slice(MEDIA.length + 1))
    if (existsSync(to)) continue
    for (const name of readdirSync(join(folder, path))) {
      const descriptor = openSync(join(folder, path, name), 'r+')
      fsyncSync(descriptor)
      closeSync(descriptor)
    }
    mkdirSync(dirname(to), { recursive: true })
    renameSync(join(folder, path), to)
  }
}

/** Removes all of a store's files for good. */
export const removeMedia = (dataDir: string, storeId: string) =>
  rmSync(join(mediaFolder(dataDir), storeId), { recursive: true, force: true })
