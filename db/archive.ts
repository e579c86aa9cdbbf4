/** The file that a backup is: a tar of a manifest, one SQLite database for each part of the store, and the files beside them. */
import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  openSync,
  closeSync,
  fsyncSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { KeyRow, StoreRow } from './control/registry.ts'
import { troubleOf } from './errors.ts'
import { wrongField } from './manifest-form.ts'
import { filesBelow, sumOfFiles, type Beside, type FilesSum } from './beside-files.ts'
import type { Builder } from './control/builder.ts'
import { MEDIA } from './media-files.ts'
import { PROJECT } from './project-files.ts'
import type { Environment } from './open.ts'

/** The parts of a store, each a database of its own. */
export const PARTS: readonly Environment[] = ['live', 'sandbox']
const FORMAT = 1
const MANIFEST = 'manifest.json'
/** Larger than any manifest: a store with 10,000 keys has one of 4 MB. */
const MANIFEST_MAX_BYTES = 64 * 1024 * 1024

/** The description of a backup, which stands in it. Keys are there as their hashes: nobody can read a secret from it. */
export interface Manifest {
  format: typeof FORMAT
  createdAt: string
  schemaVersion: number
  store: StoreRow
  keys: KeyRow[]
  parts: Record<Environment, { bytes: number; sha256: string }>
  /** None in a backup of an older release. */
  media?: FilesSum
  /** The source of its storefront; none in a backup of an older release. */
  project?: FilesSum
  /** What the registry knows of its storefront. */
  builder?: Builder
}

/** The files that are packed beside the databases, each kind with its sum in the manifest. */
const BESIDE: Readonly<Record<'media' | 'project', Beside>> = { media: MEDIA, project: PROJECT }
const KINDS = ['media', 'project'] as const

/** Where a part lies in the folder that an archive is made from or unpacked to. */
export const partFile = (folder: string, part: Environment) => join(folder, `${part}.db`)

/** SHA-256 of a file, read in pieces. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk)
  return hash.digest('hex')
}

/** Packs the parts in `folder` into `file`, which appears whole, read again and on disk, or not at all: what it was stays until then. */
export async function pack(
  folder: string,
  file: string,
  about: Omit<Manifest, 'format' | 'parts' | keyof typeof BESIDE>,
): Promise<Manifest> {
  const parts = {} as Manifest['parts']
  for (const part of PARTS) parts[part] = { bytes: statSync(partFile(folder, part)).size, sha256: await sha256Of(partFile(folder, part)) }
  const sums = { media: sumOfFiles(folder, MEDIA), project: sumOfFiles(folder, PROJECT) }
  const manifest: Manifest = { format: FORMAT, ...about, parts, ...sums }
  writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest, null, 2))
  const partial = join(folder, 'archive.partial')
  const { create } = await import('tar')
  try {
    // Customers' data: for the eyes of this user alone.
    closeSync(openSync(partial, 'w', 0o600))
    await create({ file: partial, cwd: folder, portable: true }, [
      MANIFEST,
      ...PARTS.map((part) => `${part}.db`),
      ...KINDS.filter((kind) => sums[kind].files).map((kind) => BESIDE[kind].folder),
    ])
    const beside = KINDS.flatMap((kind) => filesBelow(folder, BESIDE[kind]))
    await requireSame(partial, folder, [MANIFEST, ...PARTS.map((part) => `${part}.db`), ...beside])
    toDisk(partial)
    renameSync(partial, file)
    toDisk(dirname(file))
  } finally {
    rmSync(partial, { force: true })
  }
  return manifest
}

/** Waits until a file, or the names in a folder, are on disk. */
export function toDisk(path: string) {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads an archive again and compares it with what it was made from. */
async function requireSame(file: string, folder: string, paths: string[]) {
  const packed = new Map<string, string>()
  const { list } = await import('tar')
  await list({
    file,
    strict: true,
    onReadEntry(entry) {
      const hash = createHash('sha256')
      entry.on('data', (chunk) => hash.update(chunk))
      entry.on('end', () => packed.set(entry.path, hash.digest('hex')))
    },
  })
  for (const path of paths)
    if (packed.get(path) !== (await sha256Of(join(folder, path))))
      throw new Error(`the backup was not written as it should be (${path}): check the disk that ${file} is on`)
}

/** Unpacks a backup into `folder` and checks every part against the manifest. Throws when it is no backup, or damaged. */
export async function unpack(file: string, folder: string): Promise<Manifest> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  const names = new Set([MANIFEST, ...PARTS.map((part) => `${part}.db`)])
  const { extract } = await import('tar')
  try {
    await extract({
      file,
      cwd: folder,
      strict: true,
      filter: (path, entry) =>
        (names.has(path) || KINDS.some((kind) => BESIDE[kind].isOne(path))) && 'type' in entry && entry.type === 'File',
    })
  } catch (error) {
    throw noRoom(error, file, folder) ?? new Error(`${file} is no backup of a store, or is damaged: ${(error as Error).message}`)
  }
  const manifest = readManifest(file, join(folder, MANIFEST))
  for (const part of PARTS) {
    const path = partFile(folder, part)
    const is = existsSync(path) ? { bytes: statSync(path).size, sha256: await sha256Of(path) } : null
    const { bytes, sha256 } = manifest.parts[part]
    if (is && is.bytes < bytes) requireRoom(bytes, file, folder, path)
    if (is?.bytes !== bytes || is.sha256 !== sha256) throw new Error(`${file} is damaged: its part ${part} is not what its manifest says`)
  }
  for (const kind of KINDS)
    if (manifest[kind] && JSON.stringify(sumOfFiles(folder, BESIDE[kind])) !== JSON.stringify(manifest[kind]))
      throw new Error(`${file} is damaged: its ${kind} is not what its manifest says`)
  return manifest
}

const noRoom = (error: unknown, file: string, folder: string): Error | null => {
  const trouble = troubleOf(error)
  return trouble && new Error(`there is no room to unpack ${file} in ${dirname(folder)} (${trouble.code})`)
}

/** Refuses when a part is short for want of room: whoever unpacks is not told of a write that ends in the middle. */
function requireRoom(bytes: number, file: string, folder: string, path: string) {
  const descriptor = openSync(path, 'w')
  try {
    const piece = new Uint8Array(65_536)
    for (let written = 0; written < bytes;) written += writeSync(descriptor, piece, 0, Math.min(piece.length, bytes - written))
  } catch (error) {
    throw noRoom(error, file, folder) ?? error
  } finally {
    closeSync(descriptor)
  }
}

function readManifest(file: string, path: string): Manifest {
  let manifest: Manifest | null = null
  try {
    if (statSync(path).size <= MANIFEST_MAX_BYTES) manifest = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    /* told below */
  }
  if (!manifest || typeof manifest !== 'object' || !('format' in manifest))
    throw new Error(`${file} is no backup of a store, or is damaged: it has no readable manifest`)
  if (manifest.format !== FORMAT) throw new Error(`${file} was written by a newer release`)
  const wrong = wrongField(manifest)
  if (wrong) throw new Error(`${file} is damaged, or was changed: its manifest has no usable ${wrong}`)
  return manifest
}
