/**
 * The files of deployments, each a folder that never changes. With an S3 store they are kept there, an archive for each, and the data folder
 * has those that were served or built on this machine. What pages become when they are compressed is in no archive: of 10,000 products it
 * would have 620 MB, and has 9.
 */
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { Bucket, BucketError, type FilesPlace } from './bucket.ts'

/** Says what a deployment is made of; the last file of it to be there, so that one with it is whole. */
export const MANIFEST = 'manifest.json'
const SUFFIX = '.tar.zst'
/** More than any build may write. */
const MOST = { files: 300_000, bytes: 8 * 1024 ** 3, manifest: 128 * 1024 ** 2 }
/** So much of an archive is unpacked at once. */
const READ_BYTES = 64 * 1024
/** An archive that could not be used is tried again after so long. */
const AGAIN_MS = 5_000
const FAILED_MAX = 1_000
const prefixOf = (storeId: string) => `deployments/${storeId}/`
const keyOf = (storeId: string, id: string) => `${prefixOf(storeId)}${id}${SUFFIX}`

/** Nothing else becomes a path. */
const ID = /^dpl_[a-z0-9]{1,40}$/
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** A new id: 24 characters that can stand in a host name, 124 random bits. */
export const newDeploymentId = () => `dpl_${Array.from({ length: 24 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`

/** An archive that is there and can't be used. */
class Spoiled extends BucketError {}

export class DeploymentFiles {
  /** The folder of all deployments, and that of what is on its way. */
  readonly folders: { deployments: string; builds: string }
  readonly #bucket: Bucket | null
  readonly #fetching = new Map<string, Promise<boolean>>()
  readonly #failed = new Map<string, { at: number; error: unknown }>()

  constructor({ dataDir, s3 }: FilesPlace) {
    this.folders = { deployments: join(dataDir, 'deployments'), builds: join(dataDir, 'builds') }
    this.#bucket = s3 && new Bucket(s3)
  }

  folderOf(id: string): string {
    if (!ID.test(id)) throw new Error(`${id} is no deployment`)
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
    const failed = this.#failed.get(id)
    if (failed && performance.now() - failed.at < AGAIN_MS) throw failed.error
    const unfinished = `${this.folderOf(id)}.new-${crypto.randomUUID()}`
    const archive = unfinished + SUFFIX
    try {
      await mkdir(unfinished, { recursive: true })
      if (!(await bucket.save(keyOf(storeId, id), archive))) return false
      await unpack(archive, unfinished)
      await requireManifest(join(unfinished, MANIFEST), { id, storeId })
      // What is left of one that was removed by halves is in the way.
      if (!this.isHere(id)) await rm(this.folderOf(id), { recursive: true, force: true })
      await rename(unfinished, this.folderOf(id)).catch((error) => {
        // Another process has fetched it meanwhile.
        if (!this.isHere(id)) throw error
      })
      this.#failed.delete(id)
      return true
    } catch (error) {
      if (this.#failed.size >= FAILED_MAX) this.#failed.clear()
      if (error instanceof Spoiled) this.#failed.set(id, { at: performance.now(), error })
      throw error
    } finally {
      for (const path of [unfinished, archive]) await rm(path, { recursive: true, force: true })
    }
  }

  /** Keeps the files of a deployment that is here, named below its folder: with an S3 store, in that, whole or not at all. */
  async keep(storeId: string, id: string, files: Iterable<string>): Promise<void> {
    if (!this.#bucket) return
    const archive = join(this.folders.builds, `${id}-${crypto.randomUUID().slice(0, 8)}${SUFFIX}`)
    try {
      const names = [...new Set(files), MANIFEST].map((name) => `./${name}`)
      const { create } = await import('tar')
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
    return ids.filter((id) => ID.test(id))
  }
}

/** Unpacks an archive, whose plain files alone are taken. A piece of it at a time: what is packed well becomes a thousand times as much. */
async function unpack(file: string, cwd: string) {
  let [files, bytes] = [0, 0]
  const filter = (path: string, entry: object) => {
    const { type, size } = entry as { type: string; size: number }
    if (type !== 'File' && type !== 'Directory') return false
    if (path.endsWith(MANIFEST) && size > MOST.manifest) bytes = Infinity
    bytes += size
    return ++files <= MOST.files && bytes <= MOST.bytes
  }
  const { extract } = await import('tar')
  try {
    await extract({ file, cwd, filter, strict: true, preserveOwner: false, noMtime: true, maxReadSize: READ_BYTES })
  } catch (error) {
    throw new Spoiled(`${basename(cwd)}: its archive can not be read: ${(error as Error).message}`, { cause: error })
  }
  if (files > MOST.files || bytes > MOST.bytes) throw new Spoiled(`${basename(cwd)}: its archive has more than a deployment may have`)
}

/** Of a script in a page, as the Content-Security-Policy names it, and of a media type. */
const [HASH, TYPE] = [/^'sha(256|384|512)-[\w+/=-]+'$/, /^[\w.+-]+\/[\w.+-]+(; charset=[\w-]+)?$/]
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isBelow = (path: unknown) => isText(path) && !isAbsolute(path) && !path.includes('\0') && !path.split(/[/\\]/).includes('..')
const rows = (value: unknown): any[] | null => (typeof value === 'object' && value !== null ? Object.values(value) : null)

/** Sees that the manifest of an archive is one of this deployment, whose files are all below its folder, and notes where it came from. */
async function requireManifest(path: string, { id, storeId }: { id: string; storeId: string }) {
  const text = await readFile(path, 'utf8').catch(() => 'null')
  let manifest: Record<string, unknown> = {}
  try {
    manifest = { ...(JSON.parse(text) as object | null) }
  } catch {
    // Told below.
  }
  const { files, pages, languages, currencies, scripts, base, hashes } = manifest
  const isOne =
    manifest.id === id &&
    manifest.storeId === storeId &&
    isText(base) &&
    rows(languages)?.[0] !== undefined &&
    rows(languages)!.every((one) => isText(one?.code) && typeof one.path === 'string') &&
    rows(currencies)?.[0] !== undefined &&
    rows(currencies)!.every(isText) &&
    rows(scripts)?.every((hash) => isText(hash) && HASH.test(hash)) &&
    rows(hashes) !== null &&
    rows(pages)?.every(
      (page) => typeof page?.title === 'string' && [page.view, page.markdown].every((name) => name === null || isText(name)),
    ) &&
    rows(files)?.every(
      (entry) => isBelow(entry?.file) && TYPE.test(entry.type) && isText(entry.etags?.identity) && rows(entry.etags)!.every(isText),
    )
  if (!isOne) throw new Spoiled(`the archive of ${id} is not whole: it has no manifest of this deployment`)
  await writeFile(path, JSON.stringify({ ...manifest, isBare: true }))
}

/** Removes what is in the S3 store of a store's deployments. Their folders are cleared away by the next round, since no row names them. */
export async function removeDeployments({ s3 }: FilesPlace, storeId: string) {
  if (s3) await new Bucket(s3).removeAll(prefixOf(storeId))
}
