/**
 * Reads what a build has written and makes the files of a deployment of it, in a cage: authors of projects may have put anything there, of
 * any size and shape. Told what to do in its last argument; says in JSON what came of it.
 */
import { constants } from 'node:fs'
import { lstat, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MANIFEST } from '../../../db/deployment-files.ts'
import { each, Folder } from '../../hosting/folder.ts'
import { inlineScripts } from '../../hosting/inline-scripts.ts'
import { typeOf, type Entry } from '../../hosting/manifest.ts'
import { pageOf } from '../../hosting/paths.ts'
import { mistakeIn } from '../shop/rendering/templates.ts'
import { BuildError } from './build-error.ts'

/** What is to be read, and where to. */
export interface Reading {
  /** The folders that runs of Astro wrote, and the hashes of their pages beside them. */
  outs: { folder: string; hashes: string }[]
  into: string
  /** The most files and bytes that there may be. */
  files: number
  bytes: number
}

/** A page as it was found. */
interface FoundPage {
  title: string
  view: string | null
  /** Which of the scripts stand in it; left out: none. */
  scripts?: number[]
}

/** What was read. */
export interface Found {
  files: Record<string, Entry>
  pages: Record<string, FoundPage>
  /** The hashes of all scripts that stand in pages. */
  scripts: string[]
  /** What each page that can be taken over was made of. */
  hashes: Record<string, string>
}

export interface Told {
  found?: Found
  /** What is wrong with the build. */
  mistake?: string
  /** What went wrong here: the system's name of it. */
  error?: string
}

/** Where a project's own manifest, of a web app, is kept beside ours. */
const OWN_MANIFEST = `.project.${MANIFEST}`
/** Files of a build that are another one's compressed form: ours take their place. */
const PACKED = /\.(br|zst|gz)$/
/** Above so many pages they are packed less tightly, which is several times as fast. */
const MANY = 400
const [TIGHT, QUICK] = [9, 5]

const PATH_MAX = 500
/** Of all paths together, in characters: the manifest has each. */
const PATHS_MAX = 4 * 1024 ** 2
const PAGE_MAX_BYTES = 2 * 1024 ** 2
const TITLE_MAX = 300
/** Of all pages together: each is named in the policy of every page. */
const SCRIPTS_MAX = 100
/** Templates are read once more whenever they are not remembered: a page of the starter takes some milliseconds. */
const TEMPLATES_MAX_MS = 20_000
/** A path and a hash for each page. */
const HASHES_MAX_BYTES = 32 * 1024 ** 2
const HASH_MAX = 200
/** Of all of them together, in characters: the manifest has each. */
const HASHES_MAX = 8 * 1024 ** 2

const VIEW = /<meta name="stoa:view" content="([a-z]{1,40})"\s*\/?>/
const textOf = (html: string, pattern: RegExp) => pattern.exec(html)?.[1] ?? null

/** All files below a folder. What is no plain file is refused: a link could lead anywhere. */
async function filesBelow(folder: string, add: (path: string, bytes: number) => void) {
  const walk = async (below: string) => {
    for (const name of await readdir(join(folder, below))) {
      const path = below ? `${below}/${name}` : name
      if (path.length > PATH_MAX)
        throw new BuildError(`the build wrote ${path.slice(0, 100)}…, whose name has more than ${PATH_MAX} characters`)
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await walk(path)
      else if (stats.isFile()) add(path, stats.size)
      else throw new BuildError(`the build wrote ${path}, which is no plain file`)
    }
  }
  if (!(await lstat(folder).catch(() => null))?.isDirectory()) throw new BuildError('the build wrote its output, which is no folder')
  await walk('')
}

/** The files of all runs, each with the folder that it is in. */
async function filesOf({ outs, files: most, bytes: bytesMost }: Reading): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  let bytes = 0
  let count = 0
  let chars = 0
  for (const { folder } of outs)
    await filesBelow(folder, (path, size) => {
      bytes += size
      if (++count > most) throw new BuildError(`the build wrote more than ${most} files`)
      if (bytes > bytesMost) throw new BuildError(`the build wrote more than ${Math.round(bytesMost / 1024 ** 2)} MB`)
      if ((chars += path.length) > PATHS_MAX) throw new BuildError('the names of what the build wrote are too long together')
      files.set(path, folder)
    })
  for (const file of files.keys()) {
    if (file === OWN_MANIFEST || file.startsWith(`${MANIFEST}/`))
      throw new BuildError(`the build wrote ${file}, which is a name of Stoa's own`)
    if (PACKED.test(file) && files.has(file.replace(PACKED, ''))) files.delete(file)
  }
  return files
}

/** The text of a plain file; null when there is none. Follows no link, and waits for nobody at the other end of a pipe. */
async function readPlain(path: string, name: string, maxBytes: number): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return null
    throw new BuildError(`the build wrote ${name}, which is no plain file`)
  })
  if (!file) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new BuildError(`the build wrote ${name}, which is no plain file`)
    if (stats.size > maxBytes) throw new BuildError(`the build wrote ${name}, which has more than ${maxBytes} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The hashes that a project has written, whatever it wrote. */
function textsIn(json: string): [path: string, hash: string][] {
  try {
    const value = JSON.parse(json) as unknown
    return Object.entries(value ?? {}).filter(
      ([path, hash]) => typeof hash === 'string' && hash.length <= HASH_MAX && path.length <= PATH_MAX,
    ) as [string, string][]
  } catch {
    throw new BuildError('the hashes of the pages, STOA_AFTER, are no JSON')
  }
}

class Pages {
  readonly all: Record<string, FoundPage> = {}
  readonly #scripts = new Map<string, number>()
  #templatesMs = 0

  get scripts(): string[] {
    return [...this.#scripts.keys()]
  }

  add(path: string, bytes: Uint8Array) {
    if (bytes.length > PAGE_MAX_BYTES) throw new BuildError(`the page ${path} has more than ${PAGE_MAX_BYTES / 1024 ** 2} MB`)
    const html = new TextDecoder().decode(bytes)
    const head = html.slice(0, Math.max(0, html.indexOf('</head>')))
    const view = textOf(head, VIEW)
    if (view) this.#requireTemplate(path, html)
    const scripts = inlineScripts(html).map((hash) => this.#indexOf(hash))
    this.all[path] = {
      title: (textOf(head, /<title>([^<]*)/) ?? path).slice(0, TITLE_MAX),
      view,
      ...(scripts.length ? { scripts } : {}),
    }
  }

  #indexOf(hash: string): number {
    const known = this.#scripts.get(hash)
    if (known !== undefined) return known
    if (this.#scripts.size >= SCRIPTS_MAX)
      throw new BuildError(
        `the pages have more than ${SCRIPTS_MAX} different scripts in them: what differs belongs into a data block or a file`,
      )
    this.#scripts.set(hash, this.#scripts.size)
    return this.#scripts.size - 1
  }

  #requireTemplate(path: string, html: string) {
    const started = performance.now()
    const mistake = mistakeIn(html)
    if (mistake) throw new BuildError(`${path} is no template that can be read: ${mistake.slice(0, TITLE_MAX)}`)
    this.#templatesMs += performance.now() - started
    if (this.#templatesMs > TEMPLATES_MAX_MS) throw new BuildError(`the templates take more than ${TEMPLATES_MAX_MS / 1_000} s to be read`)
  }
}

async function read(reading: Reading): Promise<Found> {
  const files = await filesOf(reading)
  const hashes: Record<string, string> = {}
  let [count, chars] = [0, 0]
  for (const { hashes: path } of reading.outs) {
    const written = await readPlain(path, 'STOA_AFTER', HASHES_MAX_BYTES)
    if (written === null) continue
    const texts = textsIn(written)
    count += texts.length
    for (const [page, hash] of texts) {
      chars += page.length + hash.length
      hashes[page] = hash
    }
    if (count > reading.files || chars > HASHES_MAX) throw new BuildError('the hashes of the pages, STOA_AFTER, are more than pages can be')
  }
  const [target, pages] = [new Folder(reading.into, files.size > MANY ? QUICK : TIGHT), new Pages()]
  const stored: Record<string, Entry> = {}
  const named = new Set<string>()
  await each(files, async ([file, folder]) => {
    const bytes = new Uint8Array(await readFile(join(folder, file)))
    const path = pageOf(file)
    if (named.has(path)) throw new BuildError(`the build wrote two files that are both ${path}`)
    named.add(path)
    // A file of the project that is called like the manifest has another name here.
    stored[path] = await target.store(file === MANIFEST ? OWN_MANIFEST : file, typeOf(file), bytes)
    if (file.endsWith('.html')) pages.add(path, bytes)
  })
  return { files: stored, pages: pages.all, scripts: pages.scripts, hashes }
}

async function told(reading: Reading): Promise<Told> {
  try {
    return { found: await read(reading) }
  } catch (error) {
    if (error instanceof BuildError) return { mistake: error.message }
    return { error: (error as { code?: string }).code ?? String(error) }
  }
}

await Bun.write(Bun.stdout, JSON.stringify(await told(JSON.parse(process.argv.at(-1)!) as Reading)))
