/** What published storefronts cost: builds of small and large catalogs, a refresh after one change, and their hosts beside nginx. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureProject } from '../../api/builder/project/workspace.ts'
import { readConfig } from '../../api/server/config.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { newStore, type CreatedStore } from '../new-store.ts'
import { seedStore } from '../seed.ts'
import { requestOf, run } from './load.ts'
import { startNginx } from './nginx.ts'

const CATALOGS = [50, 1_000, 10_000]
const CONNECTIONS = 32
const ROUND_MS = 400
const ROUNDS = 15
const ENDED = ['live', 'failed']

interface Served {
  port: number
  store: CreatedStore
  dataDir: string
  stop(): Promise<unknown>
}

/** A server of its own over a store with so many products. */
async function serve(products: number): Promise<Served> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stoa-storefront-'))
  makeDataDir(dataDir)
  const config = readConfig({ DATA_DIR: dataDir })
  const { registry, close } = await openRegistry(config.database)
  const about = { name: 'Bench', slug: 'bench', plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
  const store = await newStore(registry, about, (live) => seedStore(live, { products, customers: 1, orders: 0 }))
  await ensureProject(await servicesFor(config, { registry, baseUrl: 'http://127.0.0.1', port: 1 }), store.id)
  close()
  const child = Bun.spawn([process.execPath, 'api/main.ts'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, API_PORT: '0', LOG: 'silent', RATE_LIMIT: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let said = ''
  for await (const piece of child.stdout) {
    said += new TextDecoder().decode(piece)
    if (/:(\d+)\/api/.test(said)) break
  }
  const stop = async () => {
    child.kill()
    await child.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { port: Number(/:(\d+)\/api/.exec(said)![1]), store, dataDir, stop }
}

const call = async ({ port, store }: Served, method: string, path: string, body?: unknown) => {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${store.keys.admin}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return (await response.json()) as any
}

/** Publishes, and returns the deployment and how long it took. */
async function publish(served: Served) {
  const started = performance.now()
  const { publishId } = await call(served, 'POST', '/publish')
  for (;;) {
    const now = await call(served, 'GET', `/publish/${publishId}`)
    if (ENDED.includes(now.status)) {
      if (now.status === 'failed') throw new Error(now.reason)
      return { id: now.deploymentId as string, seconds: (performance.now() - started) / 1000 }
    }
    await Bun.sleep(50)
  }
}

const peakOf = ({ dataDir, store }: Served) =>
  Math.max(
    ...[...readFileSync(join(dataDir, 'builds/logs', `${store.id}.log`), 'utf8').matchAll(/at its peak: (\d+) MB/g)].map(([, mb]) =>
      Number(mb),
    ),
  )

const page = (served: Served, path: string) => fetch(`http://127.0.0.1:${served.port}${path}`, { headers: { host: 'bench.localhost' } })

/** The time from a change of one product to the moment at which its page shows it, beyond the minute between two builds. */
async function refresh(served: Served): Promise<number> {
  const product = (await call(served, 'GET', '/products?limit=1&sort=name')).data[0]
  await call(served, 'PATCH', `/products/${product.id}`, { summary: 'It is another one.' })
  const started = performance.now()
  while (!(await (await page(served, `/products/${product.slug}`)).text()).includes('It is another one.')) {
    await Bun.sleep(50)
    if (performance.now() - started > 240_000) throw new Error('a change is not shown')
  }
  const log = readFileSync(join(served.dataDir, 'builds/logs', `${served.store.id}.log`), 'utf8')
    .trim()
    .split('\n')
  return (Date.now() - Date.parse(log[0]!.slice(0, 24))) / 1000
}

/** Both sides in turn, the fastest round of each: what else the machine does only slows. */
async function compare(ours: { port: number; first: Buffer }, other: { port: number; first: Buffer }) {
  const rates: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++)
    for (const [side, { port, first }] of [other, ours].entries()) {
      const operation = { first, expect: [200] }
      rates[side]!.push((await run({ port, connections: CONNECTIONS, next: () => operation, maxMs: ROUND_MS })).perSecond)
    }
  const [others, own] = rates.map((all) => Math.round(Math.max(...all))) as [number, number]
  return { other: others, stoa: own, ratio: Math.round((own / others) * 100) / 100 }
}

async function hosting(served: Served, id: string) {
  const root = join(served.dataDir, 'deployments', id)
  const slug = readdirSync(join(root, 'products'))
    .find((name) => name.endsWith('.html'))!
    .replace('.html', '')
  const path = `/products/${slug}`
  const host = 'bench.localhost'
  const ours = { port: served.port, first: requestOf('GET', path, { host, accept: 'text/html' }) }
  const rows: Record<string, unknown> = {}
  const nginx = await startNginx(root, path)
  if (nginx) {
    rows.html = await compare(ours, { port: nginx.port, first: requestOf('GET', path, { accept: 'text/html' }) })
    await nginx.stop()
  }
  const api = { port: served.port, first: requestOf('GET', `/api/v1${path}`, { authorization: `Bearer ${served.store.keys.storefront}` }) }
  rows['gateway-product'] = await compare({ port: served.port, first: requestOf('GET', `/_shop${path}`, { host }) }, api)
  const size = (file: string) => readFileSync(join(root, file)).length
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const sum = (pattern: RegExp) => all.filter((file) => pattern.test(file)).reduce((bytes, file) => bytes + size(file), 0)
  rows.bytes = { htmlWithCss: size(`products/${slug}.html.br`), js: sum(/^_astro\/.*\.js\.br$/) }
  return rows
}

/** Measures all of it; `say` is told each figure as it is there. */
export async function measureStorefront(say: (text: string) => unknown) {
  const builds = []
  let rows: Record<string, unknown> = {}
  for (const products of CATALOGS) {
    const served = await serve(products)
    try {
      const { id, seconds } = await publish(served)
      const memoryMb = peakOf(served)
      const build = { products, seconds, memoryMb, refreshSeconds: products === 50 ? null : await refresh(served) }
      builds.push(build)
      say(
        `${products} products published in ${seconds.toFixed(1)} s, ${memoryMb} MB${build.refreshSeconds ? `; one change is shown ${build.refreshSeconds.toFixed(1)} s after its build began` : ''}`,
      )
      if (products === 50) {
        rows = await hosting(served, id)
        for (const [name, row] of Object.entries(rows)) say(`${name}: ${JSON.stringify(row)}`)
      }
    } finally {
      await served.stop()
    }
  }
  return { builds, rows }
}
