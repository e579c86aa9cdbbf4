/**
 * The files of a store's media and messages, which lie beside its databases, or in an S3 store: taken along by its backup, its restore and its
 * end.
 */
import { copyFileSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, closeSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { filesBelow, unlessGone, type Beside } from './beside-files.ts'
import { Bucket, inParts, type FilesPlace } from './bucket.ts'

/** The folder of all stores' media. */
export const mediaFolder = (dataDir: string) => join(dataDir, 'media')

const FOLDER = 'media'
const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const FILE = new RegExp(`^${FOLDER}/(live|sandbox)/${UUID}/((image|\\d{1,4})\\.(jpg|png|webp|gif)|attachment)$`)

/** How a backup keeps them. */
export const MEDIA: Beside = { folder: FOLDER, isOne: (path) => FILE.test(path) }

/** The files of stores, wherever they are kept. */
interface MediaFiles {
  /** Lays a store's files into a backup's folder. One that is removed meanwhile is left out; none of them ever changes. */
  collect(storeId: string, folder: string): Promise<void>
  /** Gives a store the files of its unpacked backup. Those that it has already are the same. */
  adopt(folder: string, storeId: string): Promise<void>
  /** Removes all of a store's files for good. */
  remove(storeId: string): Promise<void>
  /** Whether a store has any. */
  hasAny(storeId: string): Promise<boolean>
}

export const mediaFilesOf = ({ dataDir, s3 }: FilesPlace): MediaFiles => (s3 ? inBucket(new Bucket(s3)) : inFolder(mediaFolder(dataDir)))

/** Where the files of a store are in an S3 store: the same paths as below the data folder. */
export const mediaPrefix = (storeId: string) => `media/${storeId}/`

/** Links a file into a backup's folder, else copies it: to another file system, or one without links. */
function linkOrCopy(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') throw error
    copyFileSync(from, to)
  }
}

function inFolder(root: string): MediaFiles {
  return {
    async collect(storeId, folder) {
      const from = join(root, storeId)
      if (!existsSync(from)) return
      for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
        const to = `${FOLDER}/${path}`
        if (!MEDIA.isOne(to)) continue
        mkdirSync(dirname(join(folder, to)), { recursive: true })
        unlessGone(() => linkOrCopy(join(from, path), join(folder, to)))
      }
    },
    async adopt(folder, storeId) {
      // The backup was unpacked on the same file system.
      const target = join(root, storeId)
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
    },
    async remove(storeId) {
      rmSync(join(root, storeId), { recursive: true, force: true })
    },
    hasAny: async (storeId) => existsSync(join(root, storeId)),
  }
}

function inBucket(bucket: Bucket): MediaFiles {
  return {
    async collect(storeId, folder) {
      const prefix = mediaPrefix(storeId)
      await inParts(bucket.list(prefix), async ({ key }) => {
        const to = `${FOLDER}/${key.slice(prefix.length)}`
        if (!MEDIA.isOne(to)) return
        await mkdir(dirname(join(folder, to)), { recursive: true })
        await bucket.save(key, join(folder, to))
      })
    },
    async adopt(folder, storeId) {
      const prefix = mediaPrefix(storeId)
      const known = new Set<string>()
      for await (const { key } of bucket.list(prefix)) known.add(key)
      await inParts(filesBelow(folder, MEDIA), async (path) => {
        const key = prefix + path.slice(FOLDER.length + 1)
        if (!known.has(key)) await bucket.put(key, Bun.file(join(folder, path)))
      })
    },
    remove: (storeId) => bucket.removeAll(mediaPrefix(storeId)),
    hasAny: (storeId) => bucket.has(mediaPrefix(storeId)),
  }
}

/** How many files of stores are in the data folder that an S3 store does not have. */
export async function forgottenMedia(dataDir: string, bucket: Bucket): Promise<number> {
  let forgotten = 0
  for (const storeId of existsSync(mediaFolder(dataDir)) ? readdirSync(mediaFolder(dataDir)) : []) {
    const paths = readdirSync(join(mediaFolder(dataDir), storeId), { recursive: true, encoding: 'utf8' })
    const here = new Set(paths.filter((path) => MEDIA.isOne(`${FOLDER}/${path}`)).map((path) => mediaPrefix(storeId) + path))
    if (here.size) for await (const { key } of bucket.list(mediaPrefix(storeId))) here.delete(key)
    forgotten += here.size
  }
  return forgotten
}
