/** The quotas of disk and of builds: refused over them, counted as things come and go, and set by the platform. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { goRound } from '../../api/maintenance-rounds.ts'
import { refreshStorefront } from '../../api/builder/publishing/refresh.ts'
import type { Running } from '../../api/jobs/kind.ts'
import { createLog } from '../../api/server/log.ts'
import { LIMITS } from '../../api/values/plans.ts'
import { deployments } from '../../db/control/tables.ts'
import { setRoom } from '../../db/control/room.ts'
import { form, png } from '../content/pictures.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app, { aiBuilt: true })
})
afterAll(() => app.close())

const allow = (change: Parameters<typeof setRoom>[2], { store } = shop) =>
  app.registry.control.write(async (tx) => void (await setRoom(tx, store.id, change)))
const usage = async (key?: string) => made(await shop.get('/usage', key ? { key } : {}))
const upload = async (key?: string) => shop.call('POST', '/media', undefined, { raw: form(await png(400, 300)), ...(key ? { key } : {}) })
const filesOf = (environment: 'live' | 'sandbox' = 'live') => app.services.files.list({ storeId: shop.store.id, environment })
const round = () => {
  const { services, handles, jobs } = app
  return goRound({ services, handles, runner: jobs, mailFolder: app.mailFolder, log: createLog('silent') }, new AbortController().signal)
}
/** What the rows of the library say that it takes. */
const stored = async () =>
  (
    await shop.rows(sql`select coalesce(sum(size + (select coalesce(sum(value ->> 'size'), 0) from json_each(renditions))), 0) from media`)
  )[0]![0]

describe('the quota of disk', () => {
  test('is that of the plan, and what is used is counted as media come and go', async () => {
    expect(await usage()).toEqual({
      disk: {
        ...{ usedBytes: 0, quotaBytes: LIMITS.growth.diskMb * 1_048_576, mediaBytes: 0, databaseBytes: 0 },
        ...{ deploymentBytes: 0, projectBytes: 0, measuredAt: null },
      },
      builds: { used: 0, perDay: LIMITS.growth.buildsPerDay },
    })
    const { id, size, renditions } = made(await upload())
    const bytes = size + renditions.reduce((sum: number, one: { size: number }) => sum + one.size, 0)
    expect((await usage()).disk).toMatchObject({ mediaBytes: bytes, usedBytes: bytes })
    made(await shop.remove(`/media/${id}`))
    expect((await usage()).disk.usedBytes).toBe(0)
  })

  test('refuses what adds to it, with its numbers, and nothing that reads or removes', async () => {
    const { id } = made(await upload())
    await allow({ diskQuotaMb: 0 })
    const refused = await upload()
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        error: expect.stringMatching(/^the disk quota of the store is used up: 1 of 0 MB are used; remove media/),
        details: [{ code: 'custom', message: refused.body.error, path: ['plan'] }],
        ...{ limit: 0, used: expect.any(Number), documentationUrl: expect.any(String) },
      },
    ])
    // Nothing was kept of it.
    expect((await filesOf()).map((one) => one.id)).toEqual([id])
    for (const path of ['/publish', '/feedback-sessions'])
      expect([path, (await shop.post(path, undefined)).status]).toEqual([path, path === '/publish' ? expect.any(Number) : 403])
    expect((await shop.get('/media')).body.meta.count).toBe(1)
    expect((await shop.post('/products', { name: 'Plain', variants: [{ price: 1 }] })).status).toBe(201)
    made(await shop.remove(`/media/${id}`))
    await allow({ diskQuotaMb: 1 })
    made(await upload())
  })

  test('is passed by none of 200 uploads at once, though each of them found room', async () => {
    made(await upload())
    const bytes = await stored()
    // Room for what is there and nine more of them, and not for a tenth.
    const filled = 1_048_576 - Math.floor(bytes * 10.5)
    await allow({
      diskQuotaMb: 1,
      measured: { databases: { live: filled }, media: {}, deployments: {}, project: 0 },
      measuredAt: '2026-01-01T00:00:00.000Z',
    })
    const statuses = (await Promise.all(Array.from({ length: 200 }, () => upload()))).map(({ status }) => status)
    const counted = Object.groupBy(statuses, String)
    expect(Object.keys(counted).filter((status) => !['201', '403', '503'].includes(status))).toEqual([])
    expect(counted['201']!.length).toBeLessThanOrEqual(9)
    const { usedBytes, quotaBytes } = (await usage()).disk
    expect(usedBytes).toBeLessThanOrEqual(quotaBytes)
    // Those that lost have left no files.
    expect(await filesOf()).toHaveLength(counted['201']!.length + 1)
  }, 120_000)

  test('knows the use of 100,000 media from one row', async () => {
    await shop.change(sql`insert into media (id, name, type, size, width, height, renditions, taken_at, folded, created_at, updated_at)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
      select 'm' || i, 'a', 'image/png', 1000 + i, 1, 1, json_array(json_object('width', 1, 'height', 1, 'size', i)), '2026', '', '2026', '2026' from n`)
    expect((await usage()).disk.mediaBytes).toBe(await stored())
    await shop.change(sql`delete from media where id like 'm1%'`)
    expect((await usage()).disk.mediaBytes).toBe(await stored())
    expect(await shop.rows(sql`select count(*) from disk_use`)).toEqual([[1]])
    await shop.change(sql`delete from media`)
  }, 60_000)

  test('takes databases, the project, built storefronts and the sandbox in as the rounds measure them', async () => {
    const { services } = app
    const { ensureProject } = await import('../../api/builder/project/workspace.ts')
    await ensureProject(services, shop.store.id)
    made(await upload(shop.keys.staging))
    const sandbox = (await usage(shop.keys.staging)).disk.mediaBytes
    expect(sandbox).toBeGreaterThan(0)
    expect((await usage()).disk.mediaBytes).toBe(0)
    const id = `dpl_${'a'.repeat(24)}`
    const built = { id, storeId: shop.store.id, kind: 'production' as const, commitSha: 'c', changes: 0, createdAt: '2026', closed: false }
    await app.registry.control.write(async (tx) => void (await tx.insert(deployments).values(built)))
    const folder = services.storefronts.deployments.folderOf(id)
    mkdirSync(`${folder}/a/b`, { recursive: true })
    for (const name of ['a/one', 'a/b/two']) writeFileSync(`${folder}/${name}`, 'x'.repeat(5_000))
    app.clock.advance(86_400_000)
    await round()
    const { disk } = await usage()
    expect(disk).toMatchObject({ mediaBytes: sandbox, measuredAt: expect.stringMatching(/Z$/) })
    expect(disk.databaseBytes).toBeGreaterThan(100_000)
    expect(disk.projectBytes).toBeGreaterThan(1_000)
    expect(disk.deploymentBytes).toBe(10_000)
    expect(disk.usedBytes).toBe(disk.mediaBytes + disk.databaseBytes + disk.projectBytes + disk.deploymentBytes)
    // Both keys see the same store.
    expect((await usage(shop.keys.staging)).disk.usedBytes).toBe(disk.usedBytes)
    // The platform's word stays when the store is measured again.
    await allow({ diskQuotaMb: 7 })
    app.clock.advance(86_400_000)
    await round()
    expect((await usage()).disk.quotaBytes).toBe(7 * 1_048_576)
  }, 60_000)

  test('lets a refresh wait, which builds when there is room again', async () => {
    await allow({ diskQuotaMb: 0 })
    const run = () =>
      app.handles.use(shop.store.id, 'live', (store) =>
        refreshStorefront(app.services).run({
          ...{ store, storeId: shop.store.id, environment: 'live', signal: new AbortController().signal },
        } as unknown as Running),
      )
    expect(Date.parse((await run()) as string) - app.clock.now.getTime()).toBeGreaterThan(3_500_000)
    await allow({ diskQuotaMb: 10 })
    expect(await run()).toBeUndefined()
  })

  test('is told to no key of the shop’s pages', async () => {
    expect((await shop.get('/usage', { key: shop.keys.storefront })).status).toBe(403)
  })
})

describe('the quota of builds', () => {
  test('counts publishes and previews of 24 hours, and says when there is one again', async () => {
    const { ensureProject } = await import('../../api/builder/project/workspace.ts')
    await ensureProject(app.services, shop.store.id)
    await allow({ buildsPerDay: 2 })
    const ended = () => shop.change(sql`update publishes set status = 'failed', running = null`)
    expect((await shop.post('/publish', undefined)).status).toBe(202)
    // One that is refused takes none.
    expect((await shop.post('/publish', undefined)).status).toBe(409)
    await ended()
    app.clock.advance(3_600_000)
    const session = made(await shop.post('/feedback-sessions', undefined))
    made(await shop.post(`/feedback-sessions/${session.id}/cancel`, undefined))
    expect((await usage()).builds).toEqual({ used: 2, perDay: 2 })
    for (const path of ['/publish', '/feedback-sessions']) {
      const refused = await shop.post(path, undefined)
      expect([path, refused.status, refused.body.error]).toEqual([
        path,
        429,
        'the builds of a day are used up: 2 publishes and previews in 24 hours; wait, or have the quota raised',
      ])
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(22 * 3_600)
      expect(wait).toBeLessThanOrEqual(23 * 3_600)
    }
    app.clock.advance(23 * 3_600_000 + 1_000)
    expect((await shop.post('/publish', undefined)).status).toBe(202)
    expect((await usage()).builds.used).toBe(2)
  }, 60_000)
})
