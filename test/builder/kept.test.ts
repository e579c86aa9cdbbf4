/** What is kept in memory of pages and of deployments, under hostile spellings: over deployments that are made here, by no build. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addProject, pin } from '../../api/builder/projects.ts'
import { Hosts } from '../../api/builder/shop/hosts.ts'
import { Shelf } from '../../api/hosting/shelf.ts'
import { Storefront } from '../../api/builder/shop/storefront.ts'
import { bodyOf } from '../../api/hosting/bodies.ts'
import { Prepared } from '../../api/hosting/prepared.ts'
import type { Services } from '../../api/outside/services.ts'
import { readConfig } from '../../api/server/config.ts'
import { createLog } from '../../api/server/log.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import { deployments } from '../../db/control/tables.ts'
import { newStore } from '../../scripts/new-store.ts'
import { folderFor } from '../folder.ts'

const [MB, PAGES, SHELF_MB] = [1_000_000, 60, 16]
const SLUGS = Array.from({ length: 24 }, (_, at) => `shop${at}`)
let services: Services
let close: () => void

/** A deployment of pages of 1 MB, and one of 6 MB, that are all the same file. */
function makeDeployment(id: string, storeId: string) {
  const folder = services.storefronts.deployments.folderOf(id)
  mkdirSync(folder, { recursive: true })
  const paths = [...Array.from({ length: PAGES }, (_, at) => `/p${at}`), '/large']
  const file = (path: string) => ({
    ...{
      file: path === '/large' ? 'large.html' : 'page.html',
      type: 'text/html; charset=utf-8',
      etags: { identity: '"e"' },
      immutable: false,
    },
  })
  const manifest = {
    ...{ id, storeId, commitSha: 'a', changes: 0, base: `http://${id}.invalid`, currencies: ['usd'], scripts: [], key: 'k', hashes: {} },
    languages: [{ code: 'en', path: '' }],
    files: Object.fromEntries(paths.map((path) => [path, file(path)])),
    pages: Object.fromEntries(paths.map((path) => [path, { markdown: null, title: 'Page', view: null }])),
  }
  writeFileSync(join(folder, 'page.html'), 'x'.repeat(MB))
  writeFileSync(join(folder, 'large.html'), 'x'.repeat(6 * MB))
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

beforeAll(async () => {
  const config = readConfig({ DATA_DIR: folderFor('kept'), LOG: 'silent' })
  const { registry, close: closeRegistry } = await openRegistry(config.database)
  close = closeRegistry
  services = await servicesFor(config, { registry, baseUrl: 'http://127.0.0.1', port: 3000 })
  for (const [at, slug] of SLUGS.entries()) {
    const about = { name: slug, slug, plan: 'starter', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
    const { id: storeId } = await newStore(registry, about, async () => {})
    const [id, createdAt] = [`dpl_${String(at).padStart(24, '0')}`, new Date()]
    await addProject(registry, storeId, createdAt)
    const row = { id, storeId, kind: 'production', commitSha: 'a', changes: 0, createdAt: createdAt.toISOString() } as const
    await registry.change(async (tx) => void (await tx.insert(deployments).values({ ...row, replacedAt: null, closed: false })))
    await pin(registry, { storeId, id, now: createdAt })
    makeDeployment(id, storeId)
  }
}, 60_000)
afterAll(() => close())

/** A shelf that remembers, weakly, all answers that it has given. */
class Watched extends Shelf {
  readonly given = new Set<WeakRef<Prepared>>()

  override take(key: string, make: () => Prepared) {
    return super.take(key, () => {
      const made = make()
      this.given.add(new WeakRef(made))
      return made
    })
  }

  /** How many of those are still in memory. */
  async alive() {
    for (let round = 0; round < 3; round++) {
      await Bun.sleep(5)
      Bun.gc(true)
    }
    return [...this.given].filter((one) => one.deref() !== undefined).length
  }
}

function storefront(shelf: Shelf, hosts = new Hosts(services.registry, services.storefronts, shelf, false)) {
  const limits = { visitors: null, clientOf: () => '' }
  const needs = { services, log: createLog('silent'), hosts, limits, stripeKey: null, guess: () => null, mayPay: () => true }
  return new Storefront({ ...needs, store: () => Promise.reject(new Error('no store is opened here')) } as never)
}
/** Spellings of one host. */
const spelled = (name: string, at: number) => {
  const mixed = [...name].map((sign, place) => ((at >> place) & 1 ? sign.toUpperCase() : sign)).join('')
  return `${mixed}${at % 3 ? '' : '.'}:${1_000 + at}`
}
/** A request whose URL is as a client has written it, not as `Request` would. */
const asking = (host: string, path: string) => {
  const request = new Request('http://localhost/', { headers: { 'accept-encoding': 'identity', accept: 'text/html' } })
  return Object.defineProperty(request, 'url', { value: `http://${host}${path}` })
}

test('a shelf holds as many bytes as it may, and what it lets go of is let go of by all who know its place', () => {
  const shelf = new Shelf(10 * MB)
  const page = (bytes: number) => () => new Prepared(bodyOf(new Uint8Array(bytes), 'identity'), { 'content-type': 'text/html' })
  const places = Array.from({ length: 100 }, (_, at) => shelf.take(`page ${at}`, page(MB)).place!)
  expect(places.map(({ answer }) => answer !== null).lastIndexOf(false)).toBe(90)
  expect(places.filter(({ answer }) => answer).length).toBe(9)
  expect(shelf.take('page 99', page(1)).answer).toBe(places[99]!.answer!)
  expect(shelf.take('large', page(2 * MB))).toMatchObject({ answer: { size: 2 * MB }, place: null })
  expect(places.filter(({ answer }) => answer).length).toBe(9)
})

test('pages are kept within the bytes that all may take, whatever their host is spelled like', async () => {
  const shelf = new Watched(SHELF_MB * MB)
  const shop = storefront(shelf)
  expect((await shop.answer(asking('shop0.localhost', '/p0')))?.status).toBe(200)
  for (let at = 0; at < 50 * PAGES; at++) {
    // Nobody is answered at once when the registry was not looked at just now.
    await services.registry.epoch()
    expect(shop.quick(asking(spelled('shop0.localhost', at), `/p${Math.floor(at / 50)}`))?.status).toBe(200)
  }
  expect(shelf.given.size).toBeGreaterThanOrEqual(PAGES)
  expect(await shelf.alive()).toBeLessThanOrEqual(SHELF_MB + 2)
}, 60_000)

test('a page that is too large for that is kept nowhere', async () => {
  const shelf = new Watched(SHELF_MB * MB)
  const shop = storefront(shelf)
  expect((await shop.answer(asking('shop0.localhost', '/p0')))?.status).toBe(200)
  for (let at = 0; at < 100; at++) {
    await services.registry.epoch()
    expect(shop.quick(asking(spelled('shop0.localhost', at), '/large'))?.status).toBe(200)
    if (at % 10 === 0) Bun.gc(true)
  }
  expect(await shelf.alive()).toBeLessThanOrEqual(4)
}, 60_000)

test('deployments are kept up to so many files, with the hosts that serve them, and found again', async () => {
  const hosts = new Hosts(services.registry, services.storefronts, new Shelf(MB), false, 6 * 2 * (PAGES + 1))
  const seen = new Set<WeakRef<object>>()
  for (let round = 0; round < 3; round++)
    for (const slug of SLUGS) {
      const found = await hosts.find(`${slug}.localhost`)
      expect(found).toMatchObject({ name: `${slug}.localhost` })
      seen.add(new WeakRef((found as { shop: object }).shop))
    }
  const isKept = SLUGS.map((slug) => hosts.remembered(`${slug}.localhost`) !== undefined)
  expect(isKept.filter(Boolean).length).toBe(6)
  expect(isKept.slice(-6)).toEqual(Array(6).fill(true))
  for (let round = 0; round < 3; round++) {
    await Bun.sleep(5)
    Bun.gc(true)
  }
  expect([...seen].filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(8)
})

test('a name that DNS can not have is no host, and nothing is kept of it', async () => {
  const hosts = new Hosts(services.registry, services.storefronts, new Shelf(MB), false)
  const name = `${'a'.repeat(300)}.localhost`
  expect(await hosts.find(name)).toBeNull()
  expect(hosts.remembered(name)).toBeUndefined()
})
