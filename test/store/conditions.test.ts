import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await app.newStore()
})
afterAll(() => app.close())

const get = (headers: Record<string, string> = {}, method = 'GET') => shop.call(method, '/settings', undefined, { headers })
const patch = (n: number, headers: Record<string, string> = {}) => shop.call('PATCH', '/settings', { lowStockThreshold: n }, { headers })
const etag = async () => (await get()).headers.get('etag')!

describe('ETag', () => {
  test('is on every single-resource GET, strong, and the same while nothing changes', async () => {
    const {
      body: { id },
    } = await shop.call('POST', '/team/invitations', { email: 'ada@example.com' })
    for (const path of ['/me', '/settings', `/team/invitations/${id}`]) {
      const [one, two] = [await shop.call('GET', path), await shop.call('GET', path)]
      expect(one.headers.get('etag')).toMatch(/^"[^"]+"$/)
      expect(two.headers.get('etag')).toBe(one.headers.get('etag'))
    }
  })

  test('changes with the resource', async () => {
    const before = await etag()
    await patch(9)
    expect(await etag()).not.toBe(before)
  })

  test('an error has none', async () => {
    expect((await shop.call('GET', `/team/invitations/${Bun.randomUUIDv7()}`)).headers.get('etag')).toBeNull()
  })
})

describe('If-Match on a part of a resource', () => {
  test('is compared with the whole: a stale one is 412, the current one passes', async () => {
    const product = (await shop.call('POST', '/products', { name: 'Kettle', price: 20, stock: { quantity: 5 } })).body
    const cart = (await shop.call('POST', '/carts', { items: [{ variantId: product.variants[0].id }] })).body
    const path = `/carts/${cart.id}/items/${cart.items[0].id}`
    const tag = (await shop.call('GET', `/carts/${cart.id}`)).headers.get('etag')!
    const change = (quantity: number) => shop.call('PATCH', path, { quantity }, { headers: { 'if-match': tag } })
    expect([(await change(2)).status, (await change(3)).status]).toEqual([200, 412])
    expect((await shop.call('GET', `/carts/${cart.id}`)).body.items[0].quantity).toBe(2)
  })

  test('what has no ETag of its own is changed under * alone', async () => {
    const { token } = (await shop.call('POST', '/team/invitations', { email: 'ada@example.com' })).body
    const { id } = (await app.send('POST', '/team/invitations/accept', { token })).body
    const remove = (tag: string) => shop.call('DELETE', `/team/${id}`, undefined, { headers: { 'if-match': tag } })
    expect([(await remove('"stale"')).status, (await remove('*')).status]).toEqual([412, 200])
  })

  test('a translated representation is one to compare with, for a request in its language', async () => {
    const { slug } = (await shop.call('POST', '/products', { name: 'Kettle', price: 20 })).body
    await shop.call('PUT', `/products/${slug}/translations/pl-PL`, { name: 'Czajnik' })
    const tag = (await shop.call('GET', `/products/${slug}?lang=pl-PL`)).headers.get('etag')!
    const patch = (query: string) => shop.call('PATCH', `/products/${slug}${query}`, { summary: 'Boils' }, { headers: { 'if-match': tag } })
    expect([(await patch('')).status, (await patch('?lang=pl-PL')).status]).toEqual([412, 200])
  })
})

describe('If-None-Match', () => {
  test.each([
    ['the ETag', (tag: string) => tag],
    ['a list with it', (tag: string) => `"a", ${tag} , "b"`],
    ['any', () => '*'],
    ['the weak form', (tag: string) => `W/${tag}`],
    ['a list of weak ones', (tag: string) => `W/"x",W/${tag}`],
  ])('%s gives 304 without a body', async (_, header) => {
    const tag = await etag()
    for (let n = 0; n < 2; n++) {
      const answer = await get({ 'if-none-match': header(tag) })
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', tag])
    }
  })

  test.each([
    ['another', () => '"other"'],
    ['without quotes', (tag: string) => tag.slice(1, -1)],
    ['empty', () => ''],
    ['a part of it', (tag: string) => `${tag.slice(0, -2)}"`],
  ])('%s gives 200', async (_, header) => {
    const answer = await get({ 'if-none-match': header(await etag()) })
    expect([answer.status, answer.body.currency]).toEqual([200, 'usd'])
  })

  test('an ETag that was right is 200 after a change, and holds when the database is opened anew', async () => {
    const tag = await etag()
    expect((await get({ 'if-none-match': tag })).status).toBe(304)
    await patch(9)
    expect((await get({ 'if-none-match': tag })).status).toBe(200)
    const next = await etag()
    expect((await get({ 'if-none-match': next })).status).toBe(304)
    app.handles.drop(shop.store.id)
    expect((await get({ 'if-none-match': next })).status).toBe(304)
  })

  test('a key without the scope gets 403, not 304', async () => {
    expect(
      (await shop.call('GET', '/settings', undefined, { key: shop.keys.storefront, headers: { 'if-none-match': await etag() } })).status,
    ).toBe(403)
  })

  test('HEAD answers as GET does, without a body', async () => {
    const tag = await etag()
    const plain = await get({}, 'HEAD')
    expect([plain.status, plain.text, plain.headers.get('etag'), plain.headers.get('content-type')]).toEqual([
      200,
      '',
      tag,
      'application/json; charset=utf-8',
    ])
    const same = await get({ 'if-none-match': tag }, 'HEAD')
    expect([same.status, same.text]).toEqual([304, ''])
  })
})

describe('If-Match', () => {
  test.each([
    ['the ETag', (tag: string) => tag],
    ['a list with it', (tag: string) => `"a",${tag}`],
    ['any', () => '*'],
  ])('%s lets the change through', async (_, header) => {
    const answer = await patch(9, { 'if-match': header(await etag()) })
    expect([answer.status, answer.body.lowStockThreshold]).toEqual([200, 9])
  })

  test.each([
    ['another', () => '"other"'],
    ['the weak form', (tag: string) => `W/${tag}`],
    ['empty', () => ''],
  ])('%s is 412, and nothing changes', async (_, header) => {
    const before = await get()
    const answer = await patch(9, { 'if-match': header(before.headers.get('etag')!) })
    expect([answer.status, typeof answer.body.error]).toEqual([412, 'string'])
    expect((await get()).text).toBe(before.text)
  })

  test("an ETag read before another's change is 412", async () => {
    const tag = await etag()
    await patch(9)
    expect((await patch(10, { 'if-match': tag })).status).toBe(412)
    expect((await patch(10, { 'if-match': await etag() })).status).toBe(200)
  })

  test('two changes at once with the same ETag: one 200, one 412', async () => {
    for (let n = 0; n < 10; n++) {
      const headers = { 'if-match': await etag() }
      const answers = await Promise.all([patch(100 + n, headers), patch(200 + n, headers)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
      expect((await get()).body.lowStockThreshold).toBe(answers.find(({ status }) => status === 200)!.body.lowStockThreshold)
    }
  })

  test('20 changes over HTTP with the same ETag: one 200, 19 412', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.app.fetch })
    try {
      const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'application/json', 'if-match': await etag() }
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          fetch(`${server.url}api/v1/settings`, { method: 'PATCH', body: JSON.stringify({ lowStockThreshold: 100 + n }), headers }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)])
    } finally {
      await server.stop(true)
    }
  })

  test('a delete is conditional too, and a resource that is missing is 404', async () => {
    const {
      body: { id },
    } = await shop.call('POST', '/team/invitations', { email: 'ada@example.com' })
    const path = `/team/invitations/${id}`
    const tag = (await shop.call('GET', path)).headers.get('etag')!
    expect((await shop.call('DELETE', path, undefined, { headers: { 'if-match': '"other"' } })).status).toBe(412)
    expect((await shop.call('DELETE', path, undefined, { headers: { 'if-match': tag } })).status).toBe(200)
    for (const header of [tag, '*'])
      expect((await shop.call('DELETE', path, undefined, { headers: { 'if-match': header } })).status).toBe(404)
  })

  test('a body that is wrong and a scope that is missing come before the condition', async () => {
    expect((await patch(-1, { 'if-match': '"other"' })).status).toBe(400)
    expect(
      (await shop.call('PATCH', '/settings', { name: 'x' }, { key: shop.keys.storefront, headers: { 'if-match': '"other"' } })).status,
    ).toBe(403)
  })
})
