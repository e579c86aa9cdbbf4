/** A store whose database is damaged while it is served. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../api/server/log.ts'
import { databaseName, fileOf } from '../../db/open.ts'
import { testApp, type TestApp } from '../harness.ts'

let app: TestApp
const said: string[] = []
const log = createLog('warn', { write: (text) => void said.push(text) })
beforeAll(async () => {
  app = await testApp({ log })
})
afterAll(() => app.close())

test('is refused with what is wrong with it, told of once, and no reason to send requests for others away', async () => {
  const [damaged, whole] = [await app.newStore(), await app.newStore()]
  for (let i = 0; i < 120; i++) await damaged.call('POST', '/brands', { name: `Brand ${i}`, description: 'x'.repeat(900) })
  app.handles.drop(damaged.store.id)
  const path = fileOf(app.location, databaseName(damaged.store.id, 'live'))!
  // Behind the schema and the settings, which are looked at when a store is opened: where the brands are.
  const { size } = statSync(path)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(120_000, 0x5a), 0, 120_000, size - 120_000)
  closeSync(file)

  for (let i = 0; i < 50; i++) {
    const { status, body, headers } = await damaged.call('GET', '/brands?limit=100')
    expect([status, body.error]).toEqual([503, "the store's database is damaged: whoever runs the server has to restore it"])
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }
  expect((await whole.call('POST', '/brands', { name: 'Another' })).status).toBe(201)
  expect((await app.app.fetch(new Request('http://localhost/readyz'))).status).toBe(200)
  log.flush()
  const lines = said
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { message: "a store's database is damaged", error: 'SQLITE_CORRUPT', storeId: damaged.store.id },
    { message: "a store's database is damaged", repeated: 49 },
  ])
})
