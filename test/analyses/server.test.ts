import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../api/server/config.ts'
import { serveSite } from '../../site/server.ts'
import { folderFor } from '../folder.ts'
import { openSite } from '../site/site.ts'
import { http, rawShop, type RawShop } from './scanner.ts'

const folder = folderFor('served')
let site: ReturnType<typeof serveSite>
let shop: RawShop
beforeAll(async () => {
  // Built when it is not.
  await (await openSite()).stop()
  shop = await rawShop((socket) => socket.end(http('<title>A shop</title>')))
  const config = readConfig({ SITE_PORT: '0', DATA_DIR: folder, LOG: 'silent', FETCH_ALLOW: `127.0.0.1:${shop.port}` })
  site = serveSite(config, 'http://127.0.0.1:3000')
}, 60_000)
afterAll(async () => {
  await site?.stop()
  await shop?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('each address is answered by whom it belongs to, as the server finds it', async () => {
  const get = (path: string, accept = '*/*', method = 'GET') => fetch(site.url + path, { method, headers: { accept } })
  const url = encodeURIComponent(`http://127.0.0.1:${shop.port}/`)
  const seen = async (path: string, accept?: string, method?: string) => {
    const { status, headers } = await get(path, accept, method)
    return [status, headers.get('content-type')?.split(';')[0], headers.has('ratelimit')]
  }
  expect(await seen('/scan', 'text/html')).toEqual([200, 'text/html', false])
  expect(await seen('/scan', 'text/markdown')).toEqual([200, 'text/markdown', false])
  expect(await seen('/scan.md')).toEqual([200, 'text/markdown', false])
  expect(await seen(`/scan?url=${url}`, 'text/html')).toEqual([200, 'text/html', true])
  expect(await seen(`/scan.md?url=${url}`)).toEqual([200, 'text/markdown', true])
  expect(await seen(`/scan.md?url=${url}`, '*/*', 'HEAD')).toEqual([200, 'text/markdown', true])
  expect(await (await get(`/scan.md?url=${url}`)).text()).toMatch(/^# Store scan: 127/)
  expect(await seen(`/api/store-scan?url=${url}`)).toEqual([200, 'application/json', true])
  expect(await seen('/api/fetch-page-meta')).toEqual([400, 'application/problem+json', true])
  expect(await seen('/api/fetch-page-meta', '*/*', 'DELETE')).toEqual([405, 'application/problem+json', true])
  expect(await seen('/scan?url=localhost', 'text/html')).toEqual([400, 'text/html', true])
  expect(await seen('/healthz')).toEqual([200, 'application/json', false])
})
