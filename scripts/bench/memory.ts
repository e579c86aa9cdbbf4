/** What Stoa needs: memory after mixed load, memory with many stores open, and the time from start to the first answer. */
import { Database } from 'bun:sqlite'
import { constants, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf } from '../../db/control/keys.ts'
import { databaseName } from '../../db/open.ts'
import { requestOf, run, type Operation } from './load.ts'
import { requests } from './requests.ts'
import { median } from './rounds.ts'
import { seed, type Seeded } from './seed.ts'
import { memoryOf, startStoa, startWhole } from './servers.ts'

const CLIENTS = 32
/** Of ten operations: two lists, five products, an order, and two purchases (each a cart, a line and a checkout). */
const MIX = ['list', 'products', 'products', 'purchase', 'products', 'orders', 'list', 'products', 'products', 'purchase'] as const

const PRODUCTS_EACH = 20
const OPENERS = 4
const STORES_MAX_MS = 120_000

/** Writes stores that are copies of one small store, each with a key; returns the keys. */
async function copyStores(dataDir: string, count: number, products = PRODUCTS_EACH): Promise<string[]> {
  const location = { url: `file:${dataDir}/{name}.db` }
  const first = await seed(location, { products, orders: PRODUCTS_EACH, carts: 0 })
  const control = new Database(join(dataDir, 'control.db'))
  const store = control.prepare('insert into stores select ?, name, ?, plan, ai_built, created_at from stores where id = ?')
  const key = control.prepare(
    "insert into api_keys (id, store_id, name, environment, scopes, hash, created_at) values (?, ?, 'admin', 'live', null, ?, ?)",
  )
  const keys = [first.keys.admin]
  control.transaction(() => {
    while (keys.length < count) {
      const id = Bun.randomUUIDv7()
      const secret = `sk-${id}`
      store.run(id, `store-${keys.length}`, first.storeId)
      key.run(Bun.randomUUIDv7(), id, hashOf(secret), new Date().toISOString())
      const file = join(dataDir, `${databaseName(id, 'live')}.db`)
      copyFileSync(join(dataDir, `${first.database}.db`), file, constants.COPYFILE_FICLONE)
      const copy = new Database(file)
      copy.exec(`PRAGMA synchronous=OFF; UPDATE settings SET store_id = '${id}'`)
      copy.close()
      keys.push(secret)
    }
  })()
  control.close()
  return keys
}

/** What fills the room for remembered answers: more stores than have room, each asked twice for more than a store may have. */
const FULL = { stores: 10, products: 200, pages: 120, maxMs: 60_000 }

const getting = (key: string, path: string): Operation => ({
  first: requestOf('GET', path, { authorization: `Bearer ${key}` }),
  expect: [200],
})

/** Megabytes that Stoa has after so long a load of reads, carts and checkouts, its remembered answers full; and how much it did. */
export async function memoryAfterLoad(dataDir: string, seeded: Seeded, loadMs: number): Promise<{ memoryMb: number; perSecond: number }> {
  const keys = await copyStores(dataDir, FULL.stores, FULL.products)
  const pages = Array.from({ length: FULL.pages }, (_, page) => `/api/v1/products?limit=100&offset=${page}`)
  const filling = keys.flatMap((key) => pages.flatMap((path) => [getting(key, path), getting(key, path)]))
  const stoa = await startStoa(dataDir)
  try {
    await run({ port: stoa.port, connections: 1, maxMs: FULL.maxMs, next: (n) => filling[n] ?? null })
    const ask = requests(seeded)
    const { perSecond } = await run({ port: stoa.port, connections: CLIENTS, maxMs: loadMs, next: (n) => ask[MIX[n % MIX.length]!](n) })
    return { memoryMb: await memoryOf(stoa), perSecond }
  } finally {
    await stoa.stop()
  }
}

/** Megabytes that Stoa has once each of `count` stores has answered who it is and what it sells. */
export async function memoryWithStores(dataDir: string, count: number): Promise<number> {
  mkdirSync(dataDir, { recursive: true })
  const asked = (await copyStores(dataDir, count)).flatMap((key) => ['/api/v1/me', '/api/v1/products'].map((path) => getting(key, path)))
  const stoa = await startStoa(dataDir)
  try {
    await run({ port: stoa.port, connections: OPENERS, maxMs: STORES_MAX_MS, next: (n) => asked[n] ?? null })
    return await memoryOf(stoa)
  } finally {
    await stoa.stop()
  }
}

const STARTS = 5

/** Milliseconds from the start on a built clone, with the data of the demo store, to the first answer; the middle of some starts. */
export async function startTime(dataDir: string): Promise<number> {
  const times: number[] = []
  // The first one makes the data, and is not counted.
  for (let i = 0; i <= STARTS; i++) {
    const { ms, stop } = await startWhole(dataDir)
    if (i) times.push(ms)
    await stop()
  }
  return median(times)
}
