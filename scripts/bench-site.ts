/**
 * `npm run bench:site`: how long builds take, and how fast the site is served beside nginx with the same files, one worker each, in
 * turn in one run; what analyses cost beyond the shop's own time (`--analyses`: they alone); what buyers
 * feel of those who search it (`--search`: that alone); and how long storefronts take to publish and
 * refresh, and how fast their hosts answer (`--storefront`: they alone). The ratios mean something on any machine, the rates only on this one.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linesOf, measureAnalyses } from './bench/analyses.ts'
import { copyProject } from './bench/copy.ts'
import type { Entry } from '../api/hosting/manifest.ts'
import type { Manifest } from '../site/lib/manifest.ts'
import { requestOf, run } from './bench/load.ts'
import { startNginx, type Nginx } from './bench/nginx.ts'
import { lineOf, measureSearch } from './bench/search.ts'
import { measureStorefront } from './bench/storefront.ts'

const ROOT = new URL('..', import.meta.url).pathname
const CONNECTIONS = 32
/** Short and many, in turn: what else the machine does meets both sides alike. */
const ROUND_MS = 400
const ROUNDS = 15
const SECTION_PAGES = 50
const asJson = process.argv.includes('--json')
const say = (text: string) => asJson || console.log(text)

interface Build {
  pages: number
  seconds: number
  memoryMb: number
}

/** Builds a copy of the project, with so many more help articles; memory is the peak of the largest of its processes. */
async function measureBuild(folder: string, more: number): Promise<Build> {
  copyProject(folder)
  if (more) addPages(folder, more)
  const started = performance.now()
  const child = Bun.spawn([process.execPath, 'scripts/build.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the build failed')
  const pages = Number(/^(\d+) pages/.exec(said)![1])
  return { pages, seconds: (performance.now() - started) / 1000, memoryMb: Math.round(child.resourceUsage()!.maxRSS / 1024 / 1024) }
}

/** Builds of this content, and of a thousand and ten thousand pages more. */
async function builds(): Promise<Build[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-build-'))
  const measured: Build[] = []
  try {
    for (const more of [0, 1_000, 10_000]) {
      measured.push(await measureBuild(join(folder, String(more)), more))
      const { pages, seconds, memoryMb } = measured.at(-1)!
      say(`${pages} pages built in ${seconds.toFixed(1)} s, ${memoryMb} MB`)
    }
    return measured
  } finally {
    // Not before the last was measured: ext4 is slow at making files for some seconds after many were removed.
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies of a help article under other names, in sections of their own. */
function addPages(folder: string, count: number) {
  const path = join(folder, 'content/navigation.json')
  const navigation = JSON.parse(readFileSync(path, 'utf8'))
  const text = readFileSync(join(ROOT, 'content/help/payments/taxes.md'), 'utf8')
  for (let first = 0; first < count; first += SECTION_PAGES) {
    const section = `section-${first}`
    mkdirSync(join(folder, 'content/help', section))
    const pages = Array.from({ length: Math.min(SECTION_PAGES, count - first) }, (_, i) => `page-${first + i}`)
    for (const slug of pages)
      writeFileSync(join(folder, 'content/help', section, `${slug}.md`), text.replace(/^title: .*$/m, `title: Page ${slug}`))
    navigation.help.push({ section, title: `Section ${first}`, pages })
  }
  writeFileSync(path, JSON.stringify(navigation))
}

const PAGE = '/docs/getting-started/quick-start'

/** What is asked of each side: the page as HTML, its Markdown by Accept, by name and in the API, and a page that has not changed. */
function rowsOf(etags: { stoa: string; nginx: string }) {
  const html = { accept: 'text/html' }
  return [
    { name: 'html', stoa: requestOf('GET', PAGE, html), nginx: requestOf('GET', PAGE, html), status: 200 },
    {
      name: 'page-markdown',
      stoa: requestOf('GET', PAGE, { accept: 'text/markdown' }),
      nginx: requestOf('GET', `${PAGE}.md`, {}),
      status: 200,
    },
    { name: 'md-file', stoa: requestOf('GET', `${PAGE}.md`, {}), nginx: requestOf('GET', `${PAGE}.md`, {}), status: 200 },
    { name: 'api-body', stoa: requestOf('GET', `/api${PAGE}`, {}), nginx: requestOf('GET', `/api${PAGE}`, {}), status: 200 },
    {
      name: 'not-modified',
      stoa: requestOf('GET', PAGE, { ...html, 'if-none-match': etags.stoa }),
      nginx: requestOf('GET', PAGE, { ...html, 'if-none-match': etags.nginx }),
      status: 304,
    },
  ]
}

/** Requests a second, in the fastest of some rounds in turn: what else the machine does only slows. */
async function serveRows(ports: { stoa: number; nginx: number }) {
  const etagOf = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}${PAGE}`, { headers: { accept: 'text/html', 'accept-encoding': 'identity' } })).headers.get(
      'etag',
    )!
  const rows = rowsOf({ stoa: await etagOf(ports.stoa), nginx: await etagOf(ports.nginx) })
  const result = []
  for (const { name, stoa, nginx, status } of rows) {
    const rates = { stoa: [] as number[], nginx: [] as number[] }
    for (let round = 0; round < ROUNDS; round++)
      for (const [side, first] of [
        ['nginx', nginx],
        ['stoa', stoa],
      ] as const) {
        const operation = { first, expect: [status] }
        rates[side].push((await run({ port: ports[side], connections: CONNECTIONS, next: () => operation, maxMs: ROUND_MS })).perSecond)
      }
    const [nginxPerSecond, stoaPerSecond] = [Math.round(Math.max(...rates.nginx)), Math.round(Math.max(...rates.stoa))]
    result.push({ name, nginxPerSecond, stoaPerSecond, ratio: Math.round((stoaPerSecond / nginxPerSecond) * 100) / 100 })
  }
  return result
}

/** What a reader of a documentation page loads, in bytes, compressed with br. */
function sizesOf(manifest: Manifest) {
  const bytes = ({ file, etags }: Entry) => readFileSync(join(ROOT, 'dist/site', file + ('br' in etags ? '.br' : ''))).length
  const html = readFileSync(join(ROOT, 'dist/site', manifest.files[PAGE]!.file), 'utf8')
  const of = (pattern: RegExp) => [...html.matchAll(pattern)].reduce((sum, [, path]) => sum + bytes(manifest.files[path!]!), 0)
  return { html: bytes(manifest.files[PAGE]!), css: of(/<link rel="stylesheet" href="([^"]+)"/g), js: of(/<script[^>]*src="([^"]+)"/g) }
}

const freePort = () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  return port!
}

/** The site with its analyses, in a process of its own. */
async function analyses(manifest: Manifest) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-analyses-'))
  let site: Bun.Subprocess | undefined
  const start = async (allow: string) => {
    const port = freePort()
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, PORT: String(port), SITE_BASE: manifest.base, ALLOW: allow, DATA: folder }
    const child = Bun.spawn([process.execPath, join(ROOT, 'scripts/bench/site-server.ts')], { env, stdout: 'pipe', stderr: 'inherit' })
    site = child
    await child.stdout.getReader().read()
    return `http://127.0.0.1:${port}`
  }
  try {
    return await measureAnalyses(start, PAGE)
  } finally {
    site?.kill()
    await site?.exited
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main() {
  if (process.argv.includes('--storefront')) {
    const measured = await measureStorefront(say)
    return asJson && console.log(JSON.stringify(measured))
  }
  if (process.argv.includes('--analyses')) {
    const measured = await analyses(JSON.parse(readFileSync(join(ROOT, 'dist/manifest.json'), 'utf8')) as Manifest)
    return console.log(asJson ? JSON.stringify(measured) : linesOf(measured).join('\n'))
  }
  if (process.argv.includes('--search')) {
    const measured = await measureSearch()
    return console.log(asJson ? JSON.stringify(measured) : lineOf(measured))
  }
  const build = await builds()
  if (!existsSync(join(ROOT, 'dist/manifest.json'))) await (await import('./build.ts')).build()
  const manifest = JSON.parse(readFileSync(join(ROOT, 'dist/manifest.json'), 'utf8')) as Manifest
  const port = freePort()
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), SITE_BASE: manifest.base }
  const stoa = Bun.spawn([process.execPath, join(ROOT, 'scripts/bench/site-server.ts')], { env, stdout: 'pipe', stderr: 'inherit' })
  let nginx: Nginx | null = null
  let serve: Awaited<ReturnType<typeof serveRows>> = []
  try {
    await stoa.stdout.getReader().read()
    nginx = await startNginx(join(ROOT, 'dist/site'), Object.keys(manifest.pages)[1]!)
    if (nginx) serve = await serveRows({ stoa: port, nginx: nginx.port })
    else say('nginx is not here: nothing to compare the serving with')
  } finally {
    stoa.kill()
    await Promise.all([stoa.exited, nginx?.stop()])
  }
  const sizes = sizesOf(manifest)
  const analysed = await analyses(manifest)
  const search = await measureSearch()
  if (asJson) return console.log(JSON.stringify({ build, serve, sizes, analyses: analysed, search }))
  for (const { name, nginxPerSecond, stoaPerSecond, ratio } of serve)
    say(`${name.padEnd(14)} nginx ${nginxPerSecond}/s  Stoa ${stoaPerSecond}/s  ratio ${ratio}`)
  for (const line of [...linesOf(analysed), lineOf(search)]) say(line)
  say(`a page of the documentation, compressed: HTML ${sizes.html}, CSS ${sizes.css}, scripts ${sizes.js} bytes`)
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
