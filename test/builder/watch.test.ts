/** Which stores are looked at for what their storefronts do not show: over a registry, with a store's database in the place of all. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pin } from '../../api/builder/projects.ts'
import { REFRESH, watchStores } from '../../api/builder/publishing/refresh.ts'
import type { Services } from '../../api/outside/services.ts'
import { readConfig } from '../../api/server/config.ts'
import { createLog } from '../../api/server/log.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import { deployments, projects, stores } from '../../db/control/tables.ts'
import type { Handles } from '../../db/handles.ts'
import { openStore, type Handle } from '../../db/open.ts'
import { storefrontChanges } from '../../db/store/builder.ts'
import { jobs } from '../../db/store/store.ts'
import { newStore } from '../../scripts/new-store.ts'
import { folderFor } from '../folder.ts'

const STORES = 20
const PAUSE_MS = 50
let services: Services
let store: Handle
let close: () => void
let end: (() => Promise<void>) | undefined
/** The ids of the stores that were opened, in order; of those that are broken nothing can be read. */
let opened: string[] = []
const broken = new Set<string>()
const idOf = (at: number) => `01a20610-2372-70b7-a888-${String(at).padStart(12, '0')}`
const live = (at: number) => `dpl_live${at}`

beforeAll(async () => {
  const config = readConfig({ DATA_DIR: folderFor('watch'), LOG: 'silent' })
  const control = await openRegistry(config.database)
  services = await servicesFor(config, { registry: control.registry, baseUrl: 'http://127.0.0.1', port: 1 })
  const about = { name: 'Shop', slug: 'shop', plan: 'starter', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
  const made = await newStore(control.registry, about, async () => {})
  store = await openStore(config.database, made.id, 'live')
  close = () => (store.close(), control.close())
})
afterAll(() => close())

const deployment = (storeId: string, id: string, changes = 0) => {
  const createdAt = new Date().toISOString()
  return { id, storeId, kind: 'production', commitSha: 'a', changes, createdAt, replacedAt: null, closed: false } as const
}
beforeEach(async () => {
  await end?.()
  opened = []
  broken.clear()
  await services.registry.change(async (tx) => {
    await tx.delete(deployments)
    await tx.delete(projects)
    for (let at = 0; at < STORES; at++) {
      const [id, createdAt] = [idOf(at), new Date().toISOString()]
      await tx
        .insert(stores)
        .values({ id, name: 'S', slug: `s${at}`, plan: 'starter', aiBuilt: true, createdAt })
        .onConflictDoNothing()
      await tx.insert(deployments).values(deployment(id, live(at)))
      await tx.insert(projects).values({ storeId: id, keyId: 'k', liveId: live(at), createdAt })
    }
  })
})
afterAll(() => end?.())

/** Watches, with handles that tell which stores are opened. */
function watch() {
  const handles = {
    isOpen: () => false,
    visit: async (storeId: string, _: string, fn: (store: Handle) => Promise<void>) => {
      opened.push(storeId)
      if (broken.has(storeId)) throw new Error('the file is damaged')
      await fn(store)
    },
  }
  end = watchStores({ services, handles: handles as unknown as Handles, log: createLog('silent'), pauseMs: PAUSE_MS })
}
/** Waits until so many stores were opened, then for as long as it takes to look several times more. */
async function settled(count: number) {
  for (let waited = 0; opened.length < count && waited < 200; waited++) await Bun.sleep(PAUSE_MS)
  await Bun.sleep(10 * PAUSE_MS)
  const seen = opened
  opened = []
  return seen.toSorted()
}
const ALL = Array.from({ length: STORES }, (_, at) => idOf(at))

test('each store is looked at once; a key that is made has none looked at, something else that is live its own store alone', async () => {
  watch()
  expect(await settled(STORES)).toEqual(ALL)
  await services.registry.createKey({ storeId: idOf(1), name: 'k', environment: 'live', scopes: [] })
  expect(await settled(0)).toEqual([])
  await services.registry.change(async (tx) => void (await tx.insert(deployments).values(deployment(idOf(3), 'dpl_other'))))
  expect(await settled(0)).toEqual([])
  await pin(services.registry, { storeId: idOf(3), id: 'dpl_other', now: new Date() })
  expect(await settled(1)).toEqual([idOf(3)])
  // One that is not live any more is forgotten, and looked at anew when it is.
  const set = (liveId: string | null) =>
    services.registry.change(
      async (tx) =>
        void (await tx
          .update(projects)
          .set({ liveId })
          .where(eq(projects.storeId, idOf(5)))),
    )
  await set(null)
  expect(await settled(0)).toEqual([])
  await set(live(5))
  expect(await settled(1)).toEqual([idOf(5)])
}, 40_000)

test('a store that can not be looked at keeps nobody from looking at the others, and rests for a minute', async () => {
  broken.add(idOf(0)).add(idOf(7))
  watch()
  expect(await settled(STORES)).toEqual(ALL)
  await services.registry.createKey({ storeId: idOf(1), name: 'k', environment: 'live', scopes: [] })
  expect(await settled(0)).toEqual([])
}, 20_000)

test('a refresh is asked for once for a change, and again when what lacks it is live again', async () => {
  await store.write(async (tx) => {
    await tx
      .insert(storefrontChanges)
      .values({ id: 1, count: 7 })
      .onConflictDoUpdate({ target: storefrontChanges.id, set: { count: 7 } })
  })
  await services.registry.change(async (tx) => {
    await tx.delete(projects)
    await tx.insert(projects).values({ storeId: idOf(0), keyId: 'k', liveId: live(0), createdAt: new Date().toISOString() })
    await tx.insert(deployments).values(deployment(idOf(0), 'dpl_newer', 7))
  })
  const asked = async () => {
    await settled(1)
    const rows = await store.read.select().from(jobs).where(eq(jobs.kind, REFRESH))
    await store.write(async (tx) => void (await tx.delete(jobs)))
    return rows.length
  }
  watch()
  expect(await asked()).toBe(1)
  const goLive = (id: string) => pin(services.registry, { storeId: idOf(0), id, now: new Date() })
  await goLive('dpl_newer')
  expect(await asked()).toBe(0)
  await goLive(live(0))
  expect(await asked()).toBe(1)
}, 40_000)
