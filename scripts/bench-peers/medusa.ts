/** Medusa on PostgreSQL: its set-up, its servers, and the ways of asking its store API. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment } from '../bench/servers.ts'
import { CARTS, catalog, LIST, PRODUCTS, READ, readAt } from './catalog.ts'
import { prepared } from './folder.ts'
import { copyFiles, ingredients, installed, node, versionIn } from './packages.ts'
import { analyze, makeDatabase, makePostgres, postgresVersion, startPostgres, type Postgres } from './postgres.ts'
import { answers, finish, freePort, serve } from './processes.ts'
import { centsOf, type Variant } from './variants.ts'
import { MEDUSA } from './versions.ts'

/** Medusa finds them under these names alone. */
const FILES = { 'medusa-config.cjs': 'medusa-config.js', 'medusa-seed.cjs': 'medusa-seed.js' }
const CLI = 'node_modules/@medusajs/cli/cli.js'
const MIGRATE_MAX_MS = 15 * 60_000
const SEED_MAX_MS = 20 * 60_000
const START_MAX_MS = 180_000
const SEEDED = 'seeded.json'

/** What its storefront must know. */
interface Seeded {
  key: string
  regionId: string
}

const environmentFor = ({ url }: Postgres, extra: Record<string, string> = {}) =>
  environment({
    NODE_ENV: 'production',
    MEDUSA_DISABLE_TELEMETRY: '1',
    // As quiet as the others.
    LOG_LEVEL: 'error',
    DATABASE_URL: url,
    SECRET: randomBytes(24).toString('base64url'),
    ...extra,
  })

/** Fills a new database, which lies in `own`, from Medusa's folder. */
async function fill(path: string, own: string, postgres: Postgres) {
  await makeDatabase(own, postgres)
  const command = (name: string, args: readonly string[], maxMs: number) =>
    finish({
      command: [node(), CLI, ...args],
      cwd: path,
      env: environmentFor(postgres, { SEEDED: join(own, SEEDED) }),
      log: join(path, `${name}.log`),
      maxMs,
    })
  await command('migrate', ['db:migrate'], MIGRATE_MAX_MS)
  await command('seed', ['exec', './medusa-seed.js'], SEED_MAX_MS)
  await analyze(own, postgres)
}

/** Its folder with its packages and its database, set up unless they are. */
async function setUp(folder: string): Promise<{ path: string; database: string }> {
  const path = await installed(folder, 'medusa', MEDUSA, [])
  copyFiles(path, FILES)
  const about = { files: ingredients(FILES), postgres: postgresVersion() }
  const database = await prepared(path, 'database', about, async (own) => {
    await makePostgres(own)
    const postgres = await startPostgres(own)
    try {
      await fill(path, own, postgres)
    } finally {
      await postgres.stop()
    }
  })
  return { path, database }
}

/** Makes the function that asks for what is not measured. */
const callerOf =
  (port: number, { key }: Seeded) =>
  async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/store${path}`, {
      method,
      headers: { 'x-publishable-api-key': key, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : undefined,
    })
    if (!response.ok) throw new Error(`medusa: ${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json() as Promise<any>
  }

/** The ids that its paths are made of, of products and carts. */
async function idsOf(port: number, seeded: Seeded): Promise<{ products: string[]; carts: string[] }> {
  const call = callerOf(port, seeded)
  const known = new Map<string, { id: string; variants: { id: string; sku: string }[] }>()
  for (let offset = 0; offset < PRODUCTS; offset += 100) {
    const { products } = await call('GET', `/products?limit=100&offset=${offset}&fields=id,handle,variants.id,variants.sku`)
    for (const product of products) known.set(product.handle, product)
  }
  const carts: string[] = []
  for (const { slug, variants } of catalog.slice(0, CARTS)) {
    const variantId = known.get(slug)!.variants.find(({ sku }) => sku === variants[0]!.sku)!.id
    const { cart } = await call('POST', '/carts', { region_id: seeded.regionId, items: [{ variant_id: variantId, quantity: 1 }] })
    carts.push(cart.id)
  }
  return { products: Array.from({ length: READ }, (_, n) => known.get(readAt(n).slug)!.id), carts }
}

const FEW = 'fields=title,handle,variants.sku,*variants.calculated_price'
const FEW_OF_CART = 'fields=id,total,items.id,items.quantity,items.unit_price'

/** The small one comes first in the catalog; Medusa tells variants in no order of its own. */
const product = ({ handle, variants }: any) => ({
  slug: handle,
  cents: Math.min(...variants.map((variant: any) => centsOf(variant.calculated_price.calculated_amount))),
})

type Ids = Awaited<ReturnType<typeof idsOf>>

/** Products by list and by handle, which are one route of Medusa, the only one that its cache is for. */
function listed(port: number, { key, regionId }: Seeded, more: string): Variant[] {
  const headers = { 'x-publishable-api-key': key }
  const found = ({ products }: any) => products.map(product)
  const about = { system: 'medusa', port, found } as const
  const path = (rest: string) => ({ method: 'GET', path: `/store/products?region_id=${regionId}&${rest}`, headers }) as const
  const page = (n: number) => `limit=${LIST}&offset=${n * LIST}`
  const handle = (n: number) => `handle=${readAt(n).slug}`
  return [
    { ...about, call: 'list', variant: `as it comes${more}`, ask: (n) => path(page(n)) },
    { ...about, call: 'list', variant: `few fields${more}`, ask: (n) => path(`${page(n)}&${FEW}`) },
    { ...about, call: 'product', variant: `by handle${more}`, ask: (n) => path(handle(n)) },
    { ...about, call: 'product', variant: `by handle, few fields${more}`, ask: (n) => path(`${handle(n)}&${FEW}`) },
  ]
}

function single(port: number, { key, regionId }: Seeded, ids: Ids): Variant[] {
  const headers = { 'x-publishable-api-key': key }
  const about = { system: 'medusa', port } as const
  const get = (path: string) => ({ method: 'GET', path: `/store/${path}`, headers }) as const
  const found = ({ product: one }: any) => [product(one)]
  const line = ({ unit_price: price, quantity }: any) => ({ slug: null, cents: centsOf(price) * quantity, quantity: Number(quantity) })
  const lines = ({ cart }: any) => cart.items.map(line)
  const byId = (n: number) => `products/${ids.products[n]}?region_id=${regionId}`
  return [
    { ...about, call: 'product', variant: 'by id', ask: (n) => get(byId(n)), found },
    { ...about, call: 'product', variant: 'by id, few fields', ask: (n) => get(`${byId(n)}&${FEW}`), found },
    { ...about, call: 'cart', variant: 'as it comes', ask: (n) => get(`carts/${ids.carts[n]}`), found: lines },
    { ...about, call: 'cart', variant: 'few fields', ask: (n) => get(`carts/${ids.carts[n]}?${FEW_OF_CART}`), found: lines },
  ]
}

/** Sets it up where it is not, starts it with its database, without its cache and with it, and tells what can be asked of it. */
export async function startMedusa(folder: string): Promise<{ variants: Variant[]; version: string }> {
  const { path, database } = await setUp(folder)
  const seeded = JSON.parse(readFileSync(join(database, SEEDED), 'utf8')) as Seeded
  const postgres = await startPostgres(database)
  const start = async (name: string, extra: Record<string, string>) => {
    const port = freePort()
    const command = [node(), CLI, 'start', '--host', '127.0.0.1', '--port', String(port)]
    const program = { command, cwd: path, env: environmentFor(postgres, extra), log: join(path, `${name}.log`), maxMs: START_MAX_MS }
    await serve(program, answers(port, '/health'))
    return port
  }
  const plain = await start('serve', {})
  const cached = await start('serve-cached', { CACHED: '1', MEDUSA_FF_CACHING: 'true' })
  const ids = await idsOf(plain, seeded)
  return {
    variants: [...listed(plain, seeded, ''), ...listed(cached, seeded, ', its cache on'), ...single(plain, seeded, ids)],
    version: versionIn(path, '@medusajs/medusa'),
  }
}
