/** The files of a store's media and messages, which lie beside its databases: taken along by its backup, its restore and its end. */
import { copyFileSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, closeSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, unlessGone, type Beside } from './beside-files.ts'

/** The folder of all stores' media. */
export const mediaFolder = (dataDir: string) => join(dataDir, 'media')

const FOLDER = 'media'
const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const FILE = new RegExp(`^${FOLDER}/(live|sandbox)/${UUID}/((image|\\d{1,4})\\.(jpg|png|webp|gif)|attachment)$`)

/** How a backup keeps them. */
export const MEDIA: Beside = { folder: FOLDER, isOne: (path) => FILE.test(path) }

/** Links a file into a backup's folder, else copies it: to another file system, or one without links. */
function linkOrCopy(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') throw error
    copyFileSync(from, to)
  }
}

/** Lays a store's files into a backup's folder. One that is removed meanwhile is left out; none of them ever changes. */
export function collectMedia(dataDir: string, storeId: string, folder: string) {
  const from = join(mediaFolder(dataDir), storeId)
  if (!existsSync(from)) return
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    const to = `${FOLDER}/${path}`
    if (!MEDIA.isOne(to)) continue
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    unlessGone(() => linkOrCopy(join(from, path), join(folder, to)))
  }
}

/** Gives a store the files of its unpacked backup, on the same file system. Those that it has already are the same. */
export function adoptMedia(folder: string, dataDir: string, storeId: string) {
  const target = join(mediaFolder(dataDir), storeId)
  const folders = new Set(filesBelow(folder, MEDIA).map((path) => dirname(path)))
  for (const path of folders) {
    const to = join(target, path.slice(FOLDER.length + 1))
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
