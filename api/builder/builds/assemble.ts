/** From what Astro wrote to a deployment: every file in its encodings, with a manifest from which hosts answer. */
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { each, Folder } from '../../hosting/folder.ts'
import type { Entry } from '../../hosting/manifest.ts'
import { fileOfPage } from '../../hosting/paths.ts'
import { MANIFEST } from '../../../db/deployment-files.ts'
import { runCaged } from '../../outside/cage/cage.ts'
import { programFile } from '../../outside/cage/program.ts'
import { BuildError } from './build-error.ts'
import type { Found, Reading, Told } from './output-child.ts'
import { LIMITS } from './run.ts'
import type { Language } from './snapshot.ts'

export interface ShopPage {
  /** Its form as Markdown: a path; null when it has none. */
  markdown: string | null
  title: string
  /** What the host fills in; null: it is served as it is. */
  view: string | null
  /** Which of the deployment's scripts stand in it; left out: none. */
  scripts?: number[]
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

/** The system's names of what its author alone can have done to a file. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP', 'ENOTDIR', 'EISDIR'])

const CHILD = new URL('./output-child.ts', import.meta.url).pathname

interface Parts extends Omit<Reading, 'into'> {
  /** The deployment before, of which unchanged pages are taken over. */
  before: { folder: string; manifest: Deployment } | null
  about: Pick<Deployment, 'id' | 'storeId' | 'commitSha' | 'changes' | 'base' | 'languages' | 'currencies' | 'key'>
  /** Where builds are made: the child's program is kept there. */
  builds: string
  /** Who reads the output; null: the server's own user. */
  user: number | null
  timeoutMs: number
  signal: AbortSignal
}

/** Puts a deployment together in `folder`, which is there whole or not at all. Returns its manifest. */
export async function assemble(folder: string, parts: Parts): Promise<Deployment> {
  const { before, about } = parts
  const unfinished = `${folder}.new-${crypto.randomUUID()}`
  try {
    await mkdir(unfinished, { recursive: true })
    const { files, pages, scripts, hashes } = await readOutput(unfinished, parts)
    const manifest: Deployment = { ...about, hashes, files, pages: {}, scripts }
    for (const [path, page] of Object.entries(pages)) manifest.pages[path] = { markdown: null, ...page }
    if (before) await takeOver(manifest, before, new Folder(unfinished))
    for (const [path, page] of Object.entries(manifest.pages)) {
      const markdown = path === '/' ? '/index.md' : `${path}.md`
      if (Object.hasOwn(manifest.files, markdown)) page.markdown = markdown
    }
    await writeFile(join(unfinished, MANIFEST), JSON.stringify(manifest), { flush: true })
    await rename(unfinished, folder)
    return manifest
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Has the output of a build read, in a cage, and its files written to a folder of a deployment. */
async function readOutput(into: string, { outs, files, bytes, builds, user, timeoutMs, signal }: Parts): Promise<Found> {
  const program = await programFile(builds, CHILD)
  const cwd = dirname(program)
  if (user !== null) await chown(into, user, user)
  let text = ''
  const { code } = await runCaged(
    {
      read: [cwd, ...outs.flatMap((out) => [out.folder, out.hashes])],
      write: [into],
      args: [program, JSON.stringify({ outs, files, bytes, into } satisfies Reading)],
      env: { PATH: '/usr/bin:/bin', HOME: cwd, TMPDIR: cwd },
      cwd,
      user,
      memoryMaxBytes: LIMITS.memoryBytes,
      timeMaxMs: timeoutMs,
      signal,
      tooLarge: () => new BuildError(`what the build wrote takes more than ${LIMITS.memoryBytes / 1024 ** 3} GB of memory to be read`),
      tooSlow: () => new BuildError(`what the build wrote takes more than ${Math.round(timeoutMs / 1_000)} s to be read`),
    },
    async ({ stdout, stderr }) => {
      ;[text] = await Promise.all([new Response(stdout).text(), stderr.pipeTo(new WritableStream())])
    },
  )
  // From now on nobody but the server gets there, whoever may be given that number later.
  if (user !== null) await chown(into, process.getuid!(), process.getgid!())
  await chmod(into, 0o700)
  const { found, mistake, error } = JSON.parse(text || '{}') as Told
  if (mistake !== undefined) throw new BuildError(mistake)
  // What can not be read was made so: another try reads no more.
  if (error && UNREADABLE.has(error)) throw new BuildError(`what the build wrote can not be read (${error})`)
  if (error !== undefined) throw Object.assign(new Error(`the build could not be read: ${error}`), { code: error })
  // What ends its reader will end the next one, too.
  if (!found) throw new BuildError(`what the build wrote could not be read: its reader ended with code ${code}`)
  return found
}

/** Pages that were not made again because what they are made of is the same, in both of their forms. */
async function takeOver(manifest: Deployment, { folder, manifest: old }: NonNullable<Parts['before']>, target: Folder) {
  const unchanged = Object.keys(manifest.hashes).filter((path) => old.hashes[path] === manifest.hashes[path] && !manifest.files[path])
  const places = new Map(manifest.scripts.map((hash, at) => [hash, at]))
  const placeOf = (hash: string): number => {
    const known = places.get(hash)
    if (known !== undefined) return known
    places.set(hash, manifest.scripts.push(hash) - 1)
    return manifest.scripts.length - 1
  }
  await each(unchanged, async (path) => {
    const markdown = `${path}.md`
    for (const [form, file] of [
      [path, fileOfPage(path)],
      [markdown, markdown.slice(1)],
    ] as const) {
      const entry = old.files[form]
      if (entry && !manifest.files[form]) manifest.files[form] = await target.adopt(folder, entry, file)
    }
    const page = old.pages[path]
    if (!page) return
    const scripts = page.scripts?.map((at) => placeOf(old.scripts[at]!))
    manifest.pages[path] = { title: page.title, view: page.view, markdown: null, ...(scripts ? { scripts } : {}) }
  })
}
