/** From what Astro wrote to a deployment: every file in its encodings, with a manifest from which hosts answer. */
import { pageOf } from '../../hosting/paths.ts'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { each, Folder } from '../../hosting/folder.ts'
import { inlineScripts } from '../../hosting/inline-scripts.ts'
import { typeOf, type Entry } from '../../hosting/manifest.ts'
import { MANIFEST } from '../../../db/deployment-files.ts'
import { BuildError } from './run.ts'
import type { Language } from './snapshot.ts'

export interface ShopPage {
  /** Its form as Markdown: a path; null when it has none. */
  markdown: string | null
  title: string
  /** What the host fills in; null: it is served as it is. */
  view: string | null
}

/** A deployment, as its folder has it in `manifest.json`. */
export interface Deployment {
  id: string
  storeId: string
  commitSha: string
  /** The count of changes that its data were read at. */
  changes: number
  /** Where it was to be when it was built, without a slash at the end. */
  base: string
  languages: Language[]
  currencies: string[]
  /** By path, as it is asked for. */
  files: Record<string, Entry>
  pages: Record<string, ShopPage>
  /** Of the scripts that stand in pages: what the Content-Security-Policy allows. */
  scripts: string[]
  /** Pages can be taken over by a build with the same key. */
  key: string
  /** What each page that can be taken over was made of. */
  hashes: Record<string, string>
  /** Its files came from an S3 store: they are compressed when somebody asks for them. */
  isBare?: true
}

/** Where a project's own manifest, of a web app, is kept beside ours. */
const OWN_MANIFEST = `.project.${MANIFEST}`
/** Files of a build that are another one's compressed form: ours take their place. */
const PACKED = /\.(br|zst|gz)$/
/** Above so many pages they are packed less tightly, which is several times as fast. */
const MANY = 400
const [TIGHT, QUICK] = [9, 5]

const VIEW = /<meta name="stoa:view" content="([a-z]{1,40})"\s*\/?>/
const textOf = (html: string, pattern: RegExp) => pattern.exec(html)?.[1] ?? null

/** All files below a folder. What is no plain file is refused: a link could lead anywhere. */
export async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = []
  const walk = async (below: string) => {
    for (const name of await readdir(join(folder, below))) {
      const path = below ? `${below}/${name}` : name
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await walk(path)
      else if (stats.isFile()) files.push(path)
      else throw new BuildError(`the build wrote ${path}, which is no plain file`)
    }
  }
  await walk('')
  return files
}

interface Parts {
  /** The folders that runs of Astro wrote. */
  outs: string[]
  /** The deployment before, of which unchanged pages are taken over. */
  before: { folder: string; manifest: Deployment } | null
  about: Pick<Deployment, 'id' | 'storeId' | 'commitSha' | 'changes' | 'base' | 'languages' | 'currencies' | 'key' | 'hashes'>
  signal: AbortSignal
}

/** Puts a deployment together in `folder`, which is there whole or not at all. Returns its manifest. */
export async function assemble(folder: string, { outs, before, about, signal }: Parts): Promise<Deployment> {
  const unfinished = `${folder}.new-${crypto.randomUUID()}`
  const manifest: Deployment = { ...about, files: {}, pages: {}, scripts: [] }
  const files = new Map<string, string>()
  for (const out of outs) for (const file of await filesBelow(out)) files.set(file, out)
  for (const file of files.keys()) {
    if (file === OWN_MANIFEST || file.startsWith(`${MANIFEST}/`))
      throw new BuildError(`the build wrote ${file}, which is a name of Stoa's own`)
    if (PACKED.test(file) && files.has(file.replace(PACKED, ''))) files.delete(file)
  }
  const target = new Folder(unfinished, files.size > MANY ? QUICK : TIGHT)
  const scripts = new Set<string>()
  try {
    await mkdir(unfinished, { recursive: true })
    await each(files, async ([file, out]) => {
      signal.throwIfAborted()
      const bytes = new Uint8Array(await readFile(join(out, file)))
      const path = pageOf(file)
      // A file of the project that is called like the manifest has another name here.
      manifest.files[path] = await target.store(file === MANIFEST ? OWN_MANIFEST : file, typeOf(file), bytes)
      if (!file.endsWith('.html')) return
      const html = Buffer.from(bytes)
      const head = html.toString('utf8', 0, Math.max(0, html.indexOf('</head>')))
      manifest.pages[path] = { markdown: null, title: textOf(head, /<title>([^<]*)/) ?? path, view: textOf(head, VIEW) }
      for (const hash of inlineScripts(html)) scripts.add(hash)
    })
    if (before) await takeOver(manifest, before, target)
    for (const [path, page] of Object.entries(manifest.pages)) {
      const markdown = path === '/' ? '/index.md' : `${path}.md`
      if (Object.hasOwn(manifest.files, markdown)) page.markdown = markdown
    }
    manifest.scripts = [...scripts, ...(before?.manifest.scripts ?? [])].filter((hash, at, all) => all.indexOf(hash) === at).toSorted()
    await writeFile(join(unfinished, MANIFEST), JSON.stringify(manifest), { flush: true })
    await rename(unfinished, folder)
    return manifest
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Pages that were not made again because what they are made of is the same, in both of their forms. */
async function takeOver(manifest: Deployment, { folder, manifest: old }: NonNullable<Parts['before']>, target: Folder) {
  const unchanged = Object.keys(manifest.hashes).filter((path) => old.hashes[path] === manifest.hashes[path] && !manifest.files[path])
  await each(unchanged, async (path) => {
    for (const form of [path, `${path}.md`]) {
      const entry = old.files[form]
      if (entry && !manifest.files[form]) manifest.files[form] = await target.adopt(folder, entry)
    }
    if (old.pages[path]) manifest.pages[path] = { ...old.pages[path], markdown: null }
  })
}
