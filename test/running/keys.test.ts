import { afterAll, expect, test } from 'vitest'
import { call, cleanUp, createStore, folder, run, stoaJson } from './processes.ts'

afterAll(cleanUp)

test('workers see at once which keys have ended, name the pages of the configured site, and keep the last use when they stop', async () => {
  const dataDir = folder()
  const { id, keys } = await createStore(dataDir, 'Atelier')
  const running = run([process.execPath, 'scripts/start.ts'], {
    DATA_DIR: dataDir,
    WORKERS: '2',
    CONTENT_BASE_URL: 'https://pages.example',
  })
  const api = (await running.says(/Store API +(\S+)\/api\/v1\n/))[1]!
  const { body: old } = await call(api, keys.admin, 'POST', '/api-keys', { name: 'till', scopes: ['orders:read'] })
  const statuses = async (key: string) =>
    new Set((await Promise.all(Array.from({ length: 20 }, () => call(api, key, 'GET', '/orders')))).map(({ status }) => status))
  expect(await statuses(old.key)).toEqual(new Set([200]))
  const { body: next } = await call(api, keys.admin, 'POST', `/api-keys/${old.id}/rotate`, { graceMinutes: 0 })
  // A worker that looked 5 ms ago does not look again.
  await Bun.sleep(50)
  expect(await statuses(old.key)).toEqual(new Set([401]))
  expect(await statuses(next.key)).toEqual(new Set([200]))
  const { body: refused } = await call(api, keys.admin, 'GET', '/coupons/NONE')
  expect(refused.documentationUrl).toBe('https://pages.example/docs/api-reference/coupons#read-a-coupon')
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
  const { data } = await stoaJson(dataDir, 'key', 'list', '--store', id)
  const used = Object.fromEntries(data.map((key: { id: string; lastUsedAt: string | null }) => [key.id, key.lastUsedAt]))
  for (const each of [old.id, next.id]) expect(used[each]).toMatch(/^20.*:00:00\.000Z$/)
})
