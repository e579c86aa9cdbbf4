/**
 * The files of deployments, each a folder that never changes. With an S3 store they are kept there, an archive for each, and the data folder
 * has those that were served or built on this machine. What pages become when they are compressed is in no archive: of 10,000 products it
 * would have 620 MB, and has 9.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { create, extract } from 'tar'
import { Bucket, BucketError, type FilesPlace, type Stored } from './bucket.ts'

/** Says what a deployment is made of; the last file of it to be there, so that one with it is whole. */
export const MANIFEST = 'manifest.json'
const SUFFIX = '.tar.zst'
const prefixOf = (storeId: string) => `deployments/${storeId}/`
const keyOf = (storeId: string, id: string) => `${prefixOf(storeId)}${id}${SUFFIX}`

export class DeploymentFiles {
  /** The folder of all deployments, and that of what is on its way. */
  readonly folders: { deployments: string; builds: string }
  readonly #bucket: Bucket | null
  readonly #fetching = new Map<string, Promise<boolean>>()

  constructor({ dataDir, s3 }: FilesPlace) {
    this.folders = { deployments: join(dataDir, 'deployments'), builds: join(dataDir, 'builds') }
    this.#bucket = s3 && new Bucket(s3)
  }

  folderOf(id: string): string {
    return join(this.folders.deployments, id)
  }

  /** Whether a deployment is in the data folder, whole. */
  isHere(id: string): boolean {
    return existsSync(join(this.folderOf(id), MANIFEST))
  }

  /** Sees to it that a deployment is in the data folder; false when it is nowhere. Whoever asks meanwhile waits for the same. */
  async fetch(storeId: string, id: string): Promise<boolean> {
    if (this.isHere(id)) return true
    if (!this.#bucket) return false
    const underway = this.#fetching.get(id) ?? this.#fetch(this.#bucket, storeId, id).finally(() => this.#fetching.delete(id))
    this.#fetching.set(id, underway)
    return underway
  }

  async #fetch(bucket: Bucket, storeId: string, id: string): Promise<boolean> {
    const found = await bucket.get(keyOf(storeId, id))
    if (!found) return false
    const unfinished = `${this.folderOf(id)}.new-${crypto.randomUUID()}`
    try {
      await mkdir(unfinished, { recursive: true })
      await unpack(found, unfinished).catch((error) => {
        throw new BucketError(`the archive of ${id} can not be read: ${error.message}`, { cause: error })
      })
      const manifest = join(unfinished, MANIFEST)
      if (!existsSync(manifest)) throw new BucketError(`the archive of ${id} is not whole`)
      const about = JSON.parse(await readFile(manifest, 'utf8')) as object
      await writeFile(manifest, JSON.stringify({ ...about, isBare: true }))
      await rename(unfinished, this.folderOf(id)).catch((error) => {
        // Another process has fetched it meanwhile.
        if (!this.isHere(id)) throw error
      })
      return true
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }

  /** Keeps the files of a deployment that is here, named below its folder: with an S3 store, in that, whole or not at all. */
  async keep(storeId: string, id: string, files: Iterable<string>): Promise<void> {
    if (!this.#bucket) return
    const archive = join(this.folders.builds, `${id}-${crypto.randomUUID().slice(0, 8)}${SUFFIX}`)
    try {
      const names = [...new Set(files), MANIFEST].map((name) => `./${name}`)
      await create({ file: archive, cwd: this.folderOf(id), portable: true, zstd: true }, names)
      await this.#bucket.put(keyOf(storeId, id), Bun.file(archive), 'application/zstd')
    } finally {
      await rm(archive, { force: true })
    }
  }

  /** Removes a deployment, wherever it is. */
  async remove(storeId: string, id: string): Promise<void> {
    await rm(this.folderOf(id), { recursive: true, force: true })
    await this.#bucket?.remove(keyOf(storeId, id))
  }

  /** The deployments of a store in the S3 store that were kept before an instant. */
  async keptBefore(storeId: string, before: Date): Promise<string[]> {
    const prefix = prefixOf(storeId)
    const ids: string[] = []
    if (!this.#bucket) return ids
    for await (const { key, at } of this.#bucket.list(prefix))
      if (at < before && key.endsWith(SUFFIX)) ids.push(key.slice(prefix.length, -SUFFIX.length))
    return ids
  }
}

/** Unpacks an archive by way of a file, which takes a third of the time that a stream does. */
async function unpack({ body }: Stored, cwd: string) {
  const file = join(cwd, `archive${SUFFIX}`)
  await Bun.write(file, new Response(body))
  const filter = (_: string, entry: object) => 'type' in entry && (entry.type === 'File' || entry.type === 'Directory')
  await extract({ file, cwd, filter, strict: true, preserveOwner: false, noMtime: true })
  await rm(file)
}

/** Removes what is in the S3 store of a store's deployments. Their folders are cleared away by the next round, since no row names them. */
export async function removeDeployments({ s3 }: FilesPlace, storeId: string) {
  if (s3) await new Bucket(s3).removeAll(prefixOf(storeId))
}
