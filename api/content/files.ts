/** Where the files of media lie: one interface, and the folder that keeps them on this machine. */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../../db/open.ts'
import type { Call } from '../http/route.ts'

/** Whose files: a store's live data, or its sandbox. */
export interface Owner {
  storeId: string
  environment: Environment
}
/** Whose files a request is about. */
export const ownerOf = ({ session }: Pick<Call, 'session'>): Owner => ({ storeId: session.store.id, environment: session.environment })

export interface File {
  name: string
  bytes: Uint8Array
}

/** Keeps the files of each id together. Names and ids come from Stoa alone, never from a request. */
export interface Files {
  /** Keeps all files of an id, or none; they are on disk when it resolves. */
  keep(owner: Owner, id: string, files: readonly File[]): Promise<void>
  /** One file, to be read as it is sent; null when there is none. */
  read(owner: Owner, id: string, name: string): Promise<Blob | null>
  /** Removes all files of an id, if there are any. */
  remove(owner: Owner, id: string): Promise<void>
  /** The names that something is kept under, and since when. Those of writes that did not end are among them. */
  list(owner: Owner): Promise<{ id: string; keptAt: Date }[]>
}

/** Files in a folder: `{root}/{store}/{environment}/{id}/{name}`. */
export function filesIn(root: string): Files {
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
      return (await file.exists()) ? file : null
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
