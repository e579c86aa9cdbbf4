/** Answers that are remembered by the version of their data: the same bytes for the same, never for anything else. */
import { gunzipSync } from 'bun'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { resource, type AnyCall } from '../../api/http/route.ts'
import { timeless } from '../../api/http/run.ts'
import { Type } from '../../api/http/schema.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let id: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  await shop.settings({ enabledCurrencies: ['usd', 'eur'], enabledLanguages: { 'en-US': true, 'de-DE': true } })
  id = made(await shop.post('/products', { name: 'Mug', price: 10, prices: { eur: 9 }, content: null, summary: 'x'.repeat(2000) })).id
})
afterAll(() => app.close())

test('what is remembered can not read the time, in tests: not by the services either', () => {
  const [route] = resource('store', '/x').get(
    '',
    { operationId: 'x', summary: 'x', scope: 'public', responses: { 200: Type.Null() } },
    () => null,
  ).routes
  const { services } = app
  const call = timeless({ services, clock: services.clock, now: '' } as AnyCall, route!)
  for (const read of [() => call.now, () => call.clock, () => call.services.clock]) expect(read).toThrow('may not depend on the time')
  expect(call.services.registry).toBe(app.registry)
})

const isServer = Boolean(process.env.DATABASE_URL)
const headersOf = async (path: string, headers: Record<string, string> = {}, key = shop.keys.admin) => {
  const response = await app.app.fetch(
    new Request(`http://localhost/api/v1${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } }),
  )
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
/** How many statements a request runs in the store. */
const statements = (path: string, key = shop.keys.admin) => statementsOf(() => headersOf(path, {}, key))
async function statementsOf(ask: () => Promise<unknown>): Promise<number> {
  let count = 0
  await app.handles.use(shop.store.id, 'live', async ({ connection }) => {
    const { rows, row } = connection
    Object.assign(connection, {
      rows: (query: string, params: unknown[]) => (count++, rows.call(connection, query, params)),
      row: (query: string, params: unknown[]) => (query.startsWith('PRAGMA') || count++, row.call(connection, query, params)),
    })
    await ask()
    Object.assign(connection, { rows, row })
  })
  return count
}
const LISTS = ['/products', '/products?limit=1', '/categories', '/search?q=mug', '/orders', '/coupons', '/shipping']

describe.skipIf(isServer)('what was asked for twice', () => {
  test.each(LISTS)('%s is answered without a statement from the third time on, with the same bytes', async (path) => {
    const first = await headersOf(path)
    await headersOf(path)
    expect(await statements(path)).toBe(0)
    const again = await headersOf(path)
    expect([text(again.bytes), again.headers.get('etag')]).toEqual([text(first.bytes), first.headers.get('etag')])
    const constant = (headers: Headers) => [...headers].filter(([name]) => name !== 'x-request-id')
    expect(constant(again.headers)).toEqual(constant(first.headers))
  })

  test('is read again after any commit, and is still the same representation when it had nothing to do with it', async () => {
    const tags = [await headersOf('/products'), await headersOf('/products')].map(({ headers }) => headers.get('etag'))
    await shop.cart([])
    expect(await statements('/products')).toBeGreaterThan(0)
    expect((await headersOf('/products', { 'if-none-match': tags[0]! })).status).toBe(304)
    made(await shop.patch(`/products/${id}`, { name: 'Cup' }))
    const after = await headersOf('/products', { 'if-none-match': tags[0]! })
    expect([after.status, JSON.parse(text(after.bytes)).data[0].name]).toEqual([200, 'Cup'])
  })

  test('is the same whatever the order of its parameters, unless one is given twice', async () => {
    for (let n = 0; n < 2; n++) await headersOf('/products?limit=1&offset=0')
    expect(await statements('/products?offset=0&limit=1')).toBe(0)
    for (let n = 0; n < 3; n++) {
      expect((await headersOf('/products?colour=a&limit=1&colour=b')).headers.get('ignored-fields')).toBe('?colour')
      expect((await headersOf('/products?limit=1&limit=2')).status).toBe(400)
    }
  })

  test('is the same under every host that the request names', async () => {
    const path = `/products/${id}`
    for (let n = 0; n < 2; n++) await headersOf(path, {})
    const named = new Request(`http://two.test/api/v1${path}`, { headers: { authorization: `Bearer ${shop.keys.admin}` } })
    const count = await statementsOf(() => app.app.fetch(named))
    expect(count).toBe(0)
  })

  test('says what it ignored, also when it is remembered', async () => {
    for (let n = 0; n < 4; n++) expect((await headersOf('/products?colour=red')).headers.get('ignored-fields')).toBe('?colour')
    expect((await headersOf('/products?colour=red', { prefer: 'handling=strict' })).status).toBe(400)
  })

  test('goes compressed to whoever takes that, from the third time on, with an ETag of its own', async () => {
    const path = `/products/${id}`
    for (let n = 0; n < 5; n++) await headersOf(path, { 'accept-encoding': 'gzip' })
    const [zipped, plain] = [await headersOf(path, { 'accept-encoding': 'br, gzip' }), await headersOf(path)]
    expect([zipped.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(['gzip', null])
    expect(text(gunzipSync(zipped.bytes as Uint8Array<ArrayBuffer>))).toBe(text(plain.bytes))
    expect(zipped.bytes.byteLength).toBeLessThan(plain.bytes.byteLength)
    expect([zipped, plain].map(({ headers }) => headers.get('vary'))).toEqual(['accept-encoding', 'accept-encoding'])
    const tag = zipped.headers.get('etag')!
    expect(tag).not.toBe(plain.headers.get('etag'))
    // A 304 is about the form that the client has, whatever it takes now.
    const known = plain.headers.get('etag')!
    for (const [has, takes] of [
      [tag, 'identity'],
      [known, 'gzip'],
      [tag, 'gzip'],
    ] as const) {
      const { status, headers } = await headersOf(path, { 'if-none-match': has, 'accept-encoding': takes })
      expect([status, headers.get('etag')]).toEqual([304, has])
    }
    expect((await shop.call('PATCH', path, { name: 'Cup' }, { headers: { 'if-match': tag } })).status).toBe(200)
    for (const refused of ['gzip;q=0', 'identity', 'br'])
      expect((await headersOf(path, { 'accept-encoding': refused })).headers.get('content-encoding')).toBe(null)
  })
})

describe('is kept apart', () => {
  test('by store, environment, currency, language and what the key may see', async () => {
    const other = await newShop(app)
    made(await other.post('/products', { name: 'Theirs', price: 1 }))
    made(await shop.post('/products', { name: 'Draft', price: 1, status: 'draft' }))
    made(await shop.call('PUT', `/products/${id}/translations/de-DE`, { name: 'Becher' }))
    const names = async (path: string, key: string) =>
      JSON.parse(text((await headersOf(path, {}, key)).bytes)).data.map(
        (product: { name: string; price: number }) => `${product.name} ${product.price}`,
      )
    const wanted: [string, string, string[]][] = [
      ['/products', shop.keys.admin, ['Draft 1', 'Mug 10']],
      ['/products', shop.keys.storefront, ['Mug 10']],
      ['/products', shop.keys.staging, []],
      ['/products', other.keys.admin, ['Theirs 1']],
      ['/products?currency=eur', shop.keys.storefront, ['Mug 9']],
      ['/products?lang=de-DE', shop.keys.storefront, ['Becher 10']],
    ]
    for (let round = 0; round < 4; round++)
      for (const [path, key, expected] of round % 2 ? wanted : wanted.toReversed())
        expect([path, await names(path, key)]).toEqual([path, expected])
  })

  test('a key that may only look an order up is shown no access code, though another key was', async () => {
    const order = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    const lookup = await shop.keyWith('order:lookup', 'catalog:write')
    for (let n = 0; n < 3; n++) {
      expect(JSON.parse(text((await headersOf(`/orders/${order.id}`)).bytes)).accessCode).toBe(order.accessCode)
      expect(JSON.parse(text((await headersOf(`/orders/${order.id}`, {}, lookup)).bytes)).accessCode).toBeUndefined()
    }
  })

  test('a tool that was turned off, a key that was revoked, a scope that it lacks: refused, though the answer is known', async () => {
    const key = await shop.keyWith('storefront:read')
    for (let n = 0; n < 3; n++) expect((await headersOf('/products', {}, key)).status).toBe(200)
    expect((await headersOf('/coupons', {}, key)).status).toBe(403)
    const keys = await app.registry.listKeys(shop.store.id)
    await app.registry.revokeKey(keys.at(-1)!.id)
    expect((await headersOf('/products', {}, key)).status).toBe(401)
    for (let n = 0; n < 3; n++) expect((await headersOf('/loyalty/tiers')).status).toBe(200)
    await shop.settings({ tools: { loyalty: false } })
    expect((await headersOf('/loyalty/tiers')).status).toBe(404)
  })
})

test.skipIf(isServer)('takes no more room than it may, and what is used least goes first', async () => {
  const small = await testApp({ rememberedBytes: 2 * 64 * 1024 })
  try {
    const store = await newShop(small)
    for (let n = 0; n < 40; n++) made(await store.post('/products', { name: `Mug ${n}`, price: 1, summary: 'y'.repeat(1500) }))
    const read = (path: string) => store.get(path)
    await read('/products?limit=1')
    await read('/products?limit=1')
    const { data } = made(await read('/products?limit=100'))
    let reads = 0
    await small.handles.use(store.store.id, 'live', async ({ connection }) => {
      const { row } = connection
      Object.assign(connection, {
        row: (query: string, params: unknown[]) => (query.startsWith('PRAGMA') || reads++, row.call(connection, query, params)),
      })
      for (const product of data as { id: string }[]) for (let n = 0; n < 2; n++) await read(`/products/${product.id}`)
      reads = 0
      await read(`/products/${data.at(-1).id}`)
      expect(reads).toBe(0)
      await read(`/products/${data[0].id}`)
      expect(reads).toBeGreaterThan(0)
      Object.assign(connection, { row })
    })
  } finally {
    await small.close()
  }
})

test.skipIf(isServer)('of an answer that is too heavy the ETag alone is kept', async () => {
  const small = await testApp({ rememberedBytes: 2 * 64 * 1024 })
  try {
    const store = await newShop(small)
    for (let n = 0; n < 12; n++) made(await store.post('/products', { name: `Mug ${n}`, price: 1, summary: 'y'.repeat(1500) }))
    const { headers } = await store.call('GET', '/products')
    await small.handles.use(store.store.id, 'live', async ({ connection }) => {
      const { row } = connection
      let count = 0
      Object.assign(connection, {
        row: (query: string, params: unknown[]) => (query.startsWith('PRAGMA') || count++, row.call(connection, query, params)),
      })
      for (let n = 0; n < 4; n++) {
        expect((await store.call('GET', '/products')).status).toBe(200)
        expect(count).toBeGreaterThan(0)
        count = 0
        const known = await store.call('GET', '/products', undefined, { headers: { 'if-none-match': headers.get('etag')! } })
        expect([known.status, count]).toEqual([304, 0])
      }
      Object.assign(connection, { row })
    })
  } finally {
    await small.close()
  }
})

test.skipIf(isServer)('of all stores, the answers of the one that is asked least go first', async () => {
  const small = await testApp({ rememberedBytes: 2 * 64 * 1024 })
  try {
    const fill = async (store: Shop) => {
      for (let n = 0; n < 12; n++) made(await store.post('/products', { name: `Mug ${n}`, price: 1, summary: 'y'.repeat(1500) }))
      for (let offset = 0; offset < 11; offset++) for (let n = 0; n < 2; n++) await store.get(`/products?limit=2&offset=${offset}`)
    }
    /** How many statements one answer that was remembered takes now. */
    const taken = (store: Shop) =>
      small.handles.use(store.store.id, 'live', async ({ connection }) => {
        const { row } = connection
        let count = 0
        Object.assign(connection, {
          row: (query: string, params: unknown[]) => (query.startsWith('PRAGMA') || count++, row.call(connection, query, params)),
        })
        await store.get('/products?limit=2&offset=7')
        Object.assign(connection, { row })
        return count
      })
    const shops: Shop[] = []
    for (let n = 0; n < 6; n++) {
      shops.push(await newShop(small))
      await fill(shops.at(-1)!)
      expect(await taken(shops[0]!)).toBe(0)
    }
    expect(await taken(shops[1]!)).toBeGreaterThan(0)
  } finally {
    await small.close()
  }
})

test('what is remembered is read, and much is', () => {
  const routes = app.app.routes.filter(({ options }) => options.stored)
  expect(routes.length).toBeGreaterThan(40)
  expect(routes.filter(({ method }) => method !== 'GET')).toEqual([])
})
