/**
 * `npm run build`: the content site. Astro prerenders the pages; meanwhile the Markdown, JSON, feeds, sitemaps and the search index are
 * made from the same content. All is compressed and listed in a manifest, from which the server answers. A build replaces the one
 * before as a whole.
 */
import { pageOf } from '../api/hosting/paths.ts'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../api/server/config.ts'
import { DIST } from './built.ts'
import { ownName, sweepFolder } from '../db/leftovers.ts'
import { readContent, type Content } from '../site/lib/content.ts'
import { each, Folder } from '../api/hosting/folder.ts'
import { inlineScripts } from '../api/hosting/inline-scripts.ts'
import { typeOf } from '../api/hosting/manifest.ts'
import type { Manifest } from '../site/lib/manifest.ts'
import { SCAN } from '../site/analyses/operations.ts'
import { markdownPath, outputsOf, pagePaths } from '../site/lib/outputs.ts'
import { readPricing } from '../site/lib/pricing.ts'
import { INDEX, IndexWriter } from '../site/lib/search.ts'
import searchWords from '../content/search-words.json'
import { pastedAt } from '../site/lib/pasted.ts'
import type { Site } from '../site/lib/texts.ts'

const ROOT = new URL('..', import.meta.url).pathname

/** Where the site and the store API will be, as far as that is known before they listen. */
function places() {
  const { host, apiPort, sitePort, baseUrl, contentBaseUrl } = readConfig(process.env)
  const local = (port: number, usual: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port || usual}`
  return { base: contentBaseUrl ?? local(sitePort, 4000), storeApi: baseUrl ?? local(apiPort, 3000) }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

/** The engine's last compiler works beside what it is to make faster, and on two cores takes a tenth of the time from it. */
const WITHOUT_LAST_COMPILER = { BUN_JSC_useFTLJIT: '0' }

/**
 * Starts Astro, which waits for the content before it renders. `rendered` are the files of its pages, each as soon as it is written, and
 * then all others; it throws what Astro says when it fails.
 */
function prerender(folder: string, { base, storeApi }: ReturnType<typeof places>) {
  const given = { STOA_SITE: base, STOA_STORE_API: storeApi, STOA_CONTENT: 'stdin' }
  // A build may take what memory there is, whatever the server that began it keeps to.
  const { BUN_JSC_forceRAMSize: _, ...inherited } = process.env
  const env = { ...inherited, ...given, ...WITHOUT_LAST_COMPILER, ASTRO_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
  const command = [process.execPath, '--bun', join(ROOT, 'node_modules/astro/bin/astro.mjs'), 'build', '--outDir', folder]
  const begun: string[] = []
  let isOver = false
  let wake = () => {}
  const child = Bun.spawn([...command, '--silent'], {
    cwd: ROOT,
    env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    ipc: (path: string) => {
      begun.push(path)
      wake()
    },
  })
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  void child.exited.then(() => {
    isOver = true
    wake()
  })
  const pages = join(folder, 'client')
  async function* rendered(): AsyncGenerator<string> {
    const seen = new Set<string>()
    for (let next = 0; ;) {
      // The last that has begun is not written yet.
      if (next < begun.length - 1) {
        const file = begun[next++]!.slice(1)
        if (seen.has(file) || !existsSync(join(pages, file))) continue
        seen.add(file)
        yield file
      } else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    const at = begun.length ? `, at ${begun.at(-1)}` : ''
    if (child.exitCode !== 0) throw new Error(`the content site can't be built${at}:\n${(await said).join('')}`)
    for (const file of filesIn(pages)) if (!seen.has(file)) yield file
  }
  return {
    pages,
    rendered,
    give: (content: Content) => {
      child.stdin.write(JSON.stringify({ ...content, byPath: undefined }))
      return child.stdin.end()
    },
    stop: () => child.kill(),
  }
}

/** Where a build has what it makes, so that what one has left that was killed can be told. */
const own = (name: string) => ownName(join(DIST, name), 'new')

export interface Built {
  seconds: number
  pages: number
}

/** Builds the site into `dist/`. Throws, naming the file, when the content is not in order. */
export async function build(): Promise<Built> {
  const started = performance.now()
  const { base, storeApi } = places()
  const [prerendered, folder, search] = [own('pages'), new Folder(own('site')), own(INDEX)]
  mkdirSync(DIST, { recursive: true })
  sweepFolder(DIST)
  const index = new IndexWriter(search)
  const astro = prerender(prerendered, { base, storeApi })
  try {
    const site: Site = { base, content: pastedAt(readContent(ROOT), { base, storeApi }), pricing: readPricing(ROOT) }
    const manifest: Manifest = { base, storeApi, files: {}, pages: {}, scripts: [] }
    const scripts = new Set<string>()
    // None is left at work when another has failed, and what Astro says comes first.
    const parts = await Promise.allSettled([
      each(astro.rendered(), async (file) => {
        const from = join(astro.pages, file)
        const bytes = await readFile(from)
        manifest.files[pageOf(file)] = await folder.store(file, typeOf(file), bytes, from)
        if (file.endsWith('.html')) for (const hash of inlineScripts(bytes.toString('utf8'))) scripts.add(hash)
      }),
      astro.give(site.content),
      each(outputsOf(site, storeApi, index), async ([path, { type, body }]) => {
        manifest.files[path] = await folder.store(path.slice(1), type, Buffer.from(body))
      }).then(() => index.finish(searchWords.words)),
    ])
    for (const part of parts) if (part.status === 'rejected') throw part.reason
    for (const path of pagePaths(site)) {
      const title = site.content.byPath.get(path)?.title ?? (path === '/' ? 'Stoa' : path.slice(1))
      // What is made for each request is no file.
      if (!manifest.files[path] && path !== SCAN) throw new Error(`the page ${path} was not prerendered`)
      manifest.pages[path] = { html: path, markdown: markdownPath(path), title }
    }
    manifest.scripts = [...scripts].toSorted()
    publish({ site: folder.path, server: join(prerendered, 'server'), index: search }, manifest)
    return { seconds: (performance.now() - started) / 1000, pages: Object.keys(manifest.pages).length }
  } finally {
    astro.stop()
    index.close()
    for (const left of [prerendered, folder.path, search]) rmSync(left, { recursive: true, force: true })
  }
}

/** Puts a finished build in the place of the one before; the manifest, which is looked for, comes last. */
function publish({ site, server, index }: { site: string; server: string; index: string }, manifest: Manifest) {
  const [old, list] = [own('old'), join(DIST, 'manifest.json')]
  rmSync(list, { force: true })
  mkdirSync(old, { recursive: true })
  for (const [name, folder] of Object.entries({ site, server })) {
    const place = join(DIST, name)
    if (existsSync(place)) renameSync(place, join(old, name))
    renameSync(folder, place)
  }
  renameSync(index, join(DIST, INDEX))
  writeFileSync(`${list}.new`, JSON.stringify(manifest))
  renameSync(`${list}.new`, list)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) {
  build()
    .then(({ seconds, pages }) => console.log(`${pages} pages in ${seconds.toFixed(1)} s`))
    .catch((error) => {
      console.error(error instanceof Error ? error.message : error)
      process.exit(1)
    })
}
