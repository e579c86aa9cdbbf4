/** Where the files of media lie: one interface, and what keeps them: a folder on this machine, or an S3 store. */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParts, type Bucket, type Stored } from '../../db/bucket.ts'
import { mediaPrefix } from '../../db/media-files.ts'
import type { Environment } from '../../db/open.ts'

/** The owner of files: a store's live data, or its sandbox. */
export interface Owner {
  storeId: string
  environment: Environment
}

/** Files are served below this path. */
export const CDN = '/cdn/'
/** The path below which the files of one id are served. */
export const pathIn = ({ storeId, environment }: Owner, id: string) => `${CDN}${storeId}/${environment}/${id}/`

export interface File {
  name: string
  bytes: Uint8Array
}

/** A file that is kept: its size in bytes, and its bytes to be sent. */
interface Kept {
  size: number
  body: Blob | Stored['body']
}

/** Keeps the files of each id together. Names and ids come from Stoa alone, never from a request. */
export interface Files {
  /** Keeps all files of an id, or none; they are there to stay when it resolves. */
  keep(owner: Owner, id: string, files: readonly File[]): Promise<void>
  /** One file, to be read as it is sent; null when there is none. */
  read(owner: Owner, id: string, name: string): Promise<Kept | null>
  /** The size of a file in bytes; null when there is none. */
  size(owner: Owner, id: string, name: string): Promise<number | null>
  /** Removes all files of an id, if there are any. */
  remove(owner: Owner, id: string): Promise<void>
  /** The names that something is kept under, and since when. Those of writes that did not end are among them. */
  list(owner: Owner): Promise<{ id: string; keptAt: Date }[]>
  /** The public URL below which the files of an id are, with a slash at the end. */
  urlOf(owner: Owner, id: string): string
}

/** Files in a folder, `{root}/{store}/{environment}/{id}/{name}`, served by a server whose public URL is `baseUrl`. */
export function filesIn(root: string, baseUrl: string): Files {
  const folderOf = ({ storeId, environment }: Owner) => join(root, storeId, environment)
  return {
    async keep(owner, id, files) {
      const folder = folderOf(owner)
      await mkdir(folder, { recursive: true })
      // Written elsewhere and renamed: whoever finds the id finds all of its files, whole.
      const unfinished = join(folder, `${id}.new`)
      await mkdir(unfinished)
      try {
        for (const { name, bytes } of files) await durably(join(unfinished, name), bytes)
        await synced(unfinished)
        await rename(unfinished, join(folder, id))
        await synced(folder)
      } catch (error) {
        await rm(unfinished, { recursive: true, force: true })
        throw error
      }
    },
    async read(owner, id, name) {
      const file = Bun.file(join(folderOf(owner), id, name))
      return (await file.exists()) ? { size: file.size, body: file } : null
    },
    async size(owner, id, name) {
      const file = Bun.file(join(folderOf(owner), id, name))
      return (await file.exists()) ? file.size : null
    },
    remove: (owner, id) => rm(join(folderOf(owner), id), { recursive: true, force: true }),
    async list(owner) {
      const folder = folderOf(owner)
      const found: { id: string; keptAt: Date }[] = []
      for (const id of await readdir(folder).catch(() => [])) {
        const entry = await stat(join(folder, id)).catch(() => null)
        if (entry) found.push({ id, keptAt: entry.mtime })
      }
      return found
    },
    urlOf: (owner, id) => baseUrl + pathIn(owner, id),
  }
}

/** Files in an S3 store, at the same paths as below the data folder. */
export function filesInBucket(bucket: Bucket, baseUrl: string): Files {
  const folderOf = ({ storeId, environment }: Owner) => `${mediaPrefix(storeId)}${environment}/`
  const keyOf = (owner: Owner, id: string, name: string) => `${folderOf(owner)}${id}/${name}`
  const remove = (owner: Owner, id: string) => bucket.removeAll(keyOf(owner, id, ''))
  return {
    async keep(owner, id, files) {
      const put = ({ name, bytes }: File) => bucket.put(keyOf(owner, id, name), new Uint8Array(bytes))
      try {
        await inParts(files, put)
      } catch (error) {
        // What can't be removed now is found by the daily look for files that no row names.
        await remove(owner, id).catch(() => {})
        throw error
      }
    },
    read: (owner, id, name) => bucket.get(keyOf(owner, id, name)),
    size: (owner, id, name) => bucket.size(keyOf(owner, id, name)),
    remove,
    async list(owner) {
      const found = new Map<string, Date>()
      const prefix = folderOf(owner)
      for await (const { key, at } of bucket.list(prefix)) {
        const id = key.slice(prefix.length).split('/', 1)[0]!
        if (!(found.get(id)! > at)) found.set(id, at)
      }
      return [...found].map(([id, keptAt]) => ({ id, keptAt }))
    },
    urlOf: (owner, id) => baseUrl + pathIn(owner, id),
  }
}

async function durably(path: string, bytes: Uint8Array) {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the names in a folder durable, too. */
async function synced(folder: string) {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
