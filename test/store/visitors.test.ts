import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newToken } from '../../api/store/links/link-token.ts'
import { idempotencyKeys } from '../../db/store/store.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp({ visitorRate: { perSecond: 1, burst: 5 } })
  shop = await app.newStore()
})
afterAll(() => app.close())

let clients = 0
const newClient = () => ({ 'x-client': String(clients++) })
const forged = () => newToken({ storeId: shop.store.id, environment: 'live' })

describe('without a key', () => {
  test('a forged token stores nothing, whatever Idempotency-Key comes with it, and has its page', async () => {
    const version = () => app.handles.use(shop.store.id, 'live', async (handle) => handle.version())
    const before = await version()
    for (const way of ['unsubscribe', 'confirm']) {
      const answer = await app.send('POST', `/subscribers/${way}/${forged()}`, undefined, {
        headers: { ...newClient(), 'idempotency-key': crypto.randomUUID() },
      })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    expect(await app.handles.use(shop.store.id, 'live', ({ read }) => read.$count(idempotencyKeys))).toBe(0)
    expect(await version()).toBe(before)
  })

  test.each([
    ['GET', '/openapi'],
    ['GET', '/docs'],
    ['HEAD', '/openapi'],
    ['GET', `/subscribers/unsubscribe/x`],
    ['POST', `/subscribers/unsubscribe/x`],
    ['GET', `/subscribers/confirm/x`],
    ['POST', `/subscribers/confirm/x`],
    ['POST', '/team/invitations/accept'],
  ])('%s %s counts against the address of its client alone', async (method, path) => {
    const headers = newClient()
    const ask = (of = headers) => app.send(method, path, method === 'POST' ? { token: 'x' } : undefined, { headers: of })
    // The first one makes the page: a second later there would be a token more.
    await ask(newClient())
    for (let n = 4; n >= 0; n--) expect((await ask()).headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${n};`))
    const over = await ask()
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await ask(newClient())).status).not.toBe(429)
  })

  test('a provider counts for what was refused', async () => {
    const headers = newClient()
    const deliver = () => app.send('POST', '/payments/stripe/webhook', {}, { headers })
    const statuses = []
    for (let n = 0; n < 7; n++) statuses.push((await deliver()).status)
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429])
  })

  test('keys do not count', async () => {
    for (let n = 0; n < 8; n++) expect((await shop.call('GET', '/me', undefined, { headers: { 'x-client': 'keyed' } })).status).toBe(200)
  })
})
