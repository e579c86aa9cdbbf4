import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditLog } from '../../db/store/store.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

interface Entry {
  id: string
  keyId: string
  keyName: string
  method: string
  path: string
  resource: string
  requestId: string
  via: string
  createdAt: string
}

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await app.newStore()
})
afterAll(() => app.close())

const log = async (query = '') => (await shop.call('GET', `/audit-log${query}`)).body as { data: Entry[]; nextCursor: string | null }
const change = (n: number) => shop.call('PATCH', '/settings', { lowStockThreshold: n }, { headers: { 'x-request-id': `change-${n}` } })

describe('GET /audit-log', () => {
  test('says who changed what, when, and with which request', async () => {
    expect(await log()).toEqual({ data: [], nextCursor: null })
    const {
      body: { key },
    } = await shop.call('GET', '/me')
    await shop.call('PATCH', '/settings?lang=de-DE', { name: 'New' }, { headers: { 'x-request-id': 'r.1' } })
    expect(await log()).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          keyId: key.id,
          keyName: 'admin',
          method: 'PATCH',
          path: '/api/v1/settings',
          resource: 'settings',
          requestId: 'r.1',
          via: 'http',
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
        },
      ],
      nextCursor: null,
    })
  })

  test('needs store:admin', async () => {
    const allowed = await shop.call('GET', '/audit-log', undefined, { key: await shop.keyWith('store:admin') })
    const refused = await shop.call('GET', '/audit-log', undefined, {
      key: await shop.keyWith('settings:read', 'settings:write', 'team:read'),
    })
    expect([allowed.status, refused.status, (await shop.call('GET', '/audit-log', undefined, { key: null })).status]).toEqual([
      200, 403, 401,
    ])
    expect(refused.body).toMatchObject({ error: expect.stringContaining('store:admin'), hint: expect.any(String) })
  })

  test('reading, refusals and replays leave no entry; each change leaves one', async () => {
    await shop.call('GET', '/settings')
    await shop.call('PATCH', '/settings', { lowStockThreshold: -1 })
    await shop.call('DELETE', `/team/${Bun.randomUUIDv7()}`)
    await shop.call('PATCH', '/settings', { lowStockThreshold: 1 }, { headers: { 'if-match': '"stale"' } })
    await shop.call('PATCH', '/settings', { lowStockThreshold: 1 }, { key: shop.keys.storefront })
    expect((await log()).data).toEqual([])
    for (let n = 0; n < 3; n++)
      await shop.call('POST', '/team/invitations', { email: 'ada@example.com' }, { headers: { 'idempotency-key': 'k' } })
    await shop.call('PATCH', '/settings', { lowStockThreshold: 1 }, { headers: { 'if-match': '*' } })
    expect((await log()).data.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PATCH /api/v1/settings',
      'POST /api/v1/team/invitations',
    ])
  })

  test('newest first, 50 a page unless told, and a cursor leads to the next', async () => {
    for (let n = 0; n < 53; n++) await change(n)
    const first = await log()
    expect(first.data.map(({ requestId }) => requestId)).toEqual(Array.from({ length: 50 }, (_, i) => `change-${52 - i}`))
    const second = await log(`?cursor=${first.nextCursor}`)
    expect(second.data.map(({ requestId }) => requestId)).toEqual(['change-2', 'change-1', 'change-0'])
    expect(second.nextCursor).toBeNull()
    expect((await log('?limit=53')).nextCursor).toBeNull()
  })

  test('walking through sees each entry once while others arrive, also those of one instant', async () => {
    app.clock.now = new Date()
    for (let n = 0; n < 10; n++) await change(n)
    const seen: string[] = []
    for (let cursor: string | null = '', n = 100; cursor !== null; n++) {
      const page: Awaited<ReturnType<typeof log>> = await log(`?limit=3${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.data.map(({ requestId }) => requestId))
      cursor = page.nextCursor
      await change(n)
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `change-${9 - i}`))
  })

  test.each([
    'cursor=',
    'cursor=x',
    'cursor=%00',
    `cursor=${'x'.repeat(201)}`,
    `cursor=${Buffer.from("' or 1=1 --").toString('base64url')}`,
  ])('%s is 400', async (query) => {
    const answer = await shop.call('GET', `/audit-log?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].path).toEqual([query.split('=')[0]])
  })

  test('another store and the sandbox have logs of their own', async () => {
    await change(1)
    expect((await (await app.newStore()).call('GET', '/audit-log')).body.data).toEqual([])
    expect((await shop.call('GET', '/audit-log', undefined, { key: shop.keys.staging })).body.data).toEqual([])
  })

  test('no body and no query is in it', async () => {
    const {
      body: { token },
    } = await shop.call('POST', '/team/invitations?secret=in-the-query', { email: 'ada@example.com' })
    const rows = JSON.stringify([await log(), await app.handles.use(shop.store.id, 'live', (store) => store.read.select().from(auditLog))])
    for (const secret of [token, 'in-the-query', 'ada@example.com', shop.keys.admin]) expect(rows).not.toContain(secret)
  })
})
