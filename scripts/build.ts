/**
 * `npm run build`: the content site. Astro prerenders the pages; the Markdown, JSON, feeds and sitemaps come from the same index; then
 * everything is compressed and listed in a manifest, from which the server answers. A build replaces the one before as a whole.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { readConfig } from '../api/config.ts'
import { readContent } from '../site/lib/content.ts'
import { etagOf, isText, SUFFIX, typeOf, type Entry, type Manifest } from '../site/lib/manifest.ts'
import type { Encoding } from '../site/lib/negotiate.ts'
import { markdownPath, outputsOf, pagePaths } from '../site/lib/outputs.ts'
import { readPricing } from '../site/lib/pricing.ts'
import type { Site } from '../site/lib/texts.ts'

const ROOT = new URL('..', import.meta.url).pathname
const DIST = join(ROOT, 'dist')
/** What a build is made from. */
const SOURCES = ['content', 'site', 'api', 'astro.config.mjs', 'package.json', 'scripts/build.ts']
/** Smaller bodies grow by their headers. */
const COMPRESS_LEAST_BYTES = 400
const AT_ONCE = 4
/** Of what Pagefind brings: the index and what reads it, without its search forms. */
const SEARCH_FILES = /^(pagefind\.js|pagefind-(entry\.json|worker\.js)|fragment\/.*|index\/.*|wasm\..*|.*\.pf_meta)$/

const compress: Record<Exclude<Encoding, 'identity'>, (bytes: Uint8Array) => Promise<Uint8Array>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  zstd: (bytes) => promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

/** When the newest of the files below a path was changed. */
function newest(path: string): number {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** Whether there is a build, and nothing that it was made from has changed since. */
export function isBuilt(): boolean {
  const manifest = join(DIST, 'manifest.json')
  if (!existsSync(manifest)) return false
  const built = statSync(manifest).mtimeMs
  return SOURCES.every((source) => newest(join(ROOT, source)) <= built)
}

/** Where the site and the store API will be, as far as that is known before they listen. */
function places() {
  const { host, apiPort, sitePort, baseUrl, contentBaseUrl } = readConfig(process.env)
  const local = (port: number, usual: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port || usual}`
  return { base: contentBaseUrl ?? local(sitePort, 4000), storeApi: baseUrl ?? local(apiPort, 3000) }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

/** Writes a file in all encodings that make it smaller, and describes it. */
async function store(folder: string, file: string, type: string, bytes: Uint8Array): Promise<Entry> {
  const etags: Entry['etags'] = { identity: etagOf(bytes) }
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  if (isText(type) && bytes.length >= COMPRESS_LEAST_BYTES) {
    for (const encoding of Object.keys(compress) as (keyof typeof compress)[]) {
      const packed = await compress[encoding](bytes)
      if (packed.length >= bytes.length) continue
      writeFileSync(path + SUFFIX[encoding], packed)
      etags[encoding] = etagOf(packed)
    }
  }
  return { file, type, etags, immutable: file.startsWith('_astro/') }
}

/** Runs `work` on each item, some at once. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>) {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

/** The path under which a file of the build is asked for: pages have no suffix. */
const pathOf = (file: string) => (file === 'index.html' ? '/' : `/${file.replace(/\.html$/, '')}`)

/** Runs Astro; throws with what it says when it fails. */
function prerender(folder: string, { base, storeApi }: ReturnType<typeof places>, quiet: boolean) {
  const env = { ...process.env, STOA_SITE: base, STOA_STORE_API: storeApi, ASTRO_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
  const astro = join(ROOT, 'node_modules/astro/bin/astro.mjs')
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, '--bun', astro, 'build', '--outDir', folder], {
    cwd: ROOT,
    env,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  if (exitCode !== 0) throw new Error(`the content site can't be built:\n${stdout}${stderr}`)
  if (!quiet) process.stdout.write(stdout)
}

/** Makes the search index of the prerendered pages, without the search forms that Pagefind brings. */
async function indexSearch(folder: string) {
  const { createIndex, close } = await import('pagefind')
  try {
    const { index, errors } = await createIndex({})
    if (!index) throw new Error(`the search index can't be made: ${errors.join(', ')}`)
    await index.addDirectory({ path: folder })
    // Written by this process: Pagefind's own writing has returned before its files were whole.
    const { files } = await index.getFiles()
    for (const { path, content } of files) {
      if (!SEARCH_FILES.test(path)) continue
      mkdirSync(dirname(join(folder, 'pagefind', path)), { recursive: true })
      writeFileSync(join(folder, 'pagefind', path), content)
    }
  } finally {
    await close()
  }
}

export interface Built {
  seconds: number
  pages: number
}

/** Builds the site into `dist/`. Throws, naming the file, when the content is not in order. */
export async function build({ quiet = false } = {}): Promise<Built> {
  const started = performance.now()
  const { base, storeApi } = places()
  const site: Site = { base, content: readContent(ROOT), pricing: readPricing(ROOT) }
  const folder = join(DIST, `new-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  try {
    prerender(folder, { base, storeApi }, quiet)
    await indexSearch(folder)
    const manifest: Manifest = { base, storeApi, files: {}, pages: {}, scripts: [] }
    const scripts = new Set<string>()
    await each(filesIn(folder), async (file) => {
      const bytes = readFileSync(join(folder, file))
      manifest.files[pathOf(file)] = await store(folder, file, typeOf(file), bytes)
      if (file.endsWith('.html')) for (const hash of inlineScripts(bytes.toString())) scripts.add(hash)
    })
    await each([...outputsOf(site, storeApi)], async ([path, { type, body }]) => {
      manifest.files[path] = await store(folder, path.slice(1), type, Buffer.from(body))
    })
    for (const path of pagePaths(site)) {
      const title = site.content.byPath.get(path)?.title ?? (path === '/' ? 'Stoa' : path.slice(1))
      if (!manifest.files[path]) throw new Error(`the page ${path} was not prerendered`)
      manifest.pages[path] = { html: path, markdown: markdownPath(path), title }
    }
    manifest.scripts = [...scripts].toSorted()
    publish(folder, manifest)
    return { seconds: (performance.now() - started) / 1000, pages: Object.keys(manifest.pages).length }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The hashes of the scripts that stand in a page; data blocks are no scripts. */
function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\bsrc=)(?![^>]*ld\+json)[^>]*>([^]*?)<\/script>/g)].map(
    ([, text]) => `'sha256-${new Bun.CryptoHasher('sha256').update(text!).digest('base64')}'`,
  )
}

/** Puts a finished build in the place of the one before; the manifest, which is looked for, comes last. */
function publish(folder: string, manifest: Manifest) {
  const [place, old, list] = [join(DIST, 'site'), join(DIST, `old-${process.pid}`), join(DIST, 'manifest.json')]
  rmSync(list, { force: true })
  if (existsSync(place)) renameSync(place, old)
  renameSync(folder, place)
  writeFileSync(`${list}.new`, JSON.stringify(manifest))
  renameSync(`${list}.new`, list)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) {
  build({ quiet: true })
    .then(({ seconds, pages }) => console.log(`${pages} pages in ${seconds.toFixed(1)} s`))
    .catch((error) => {
      console.error(error instanceof Error ? error.message : error)
      process.exit(1)
    })
}
