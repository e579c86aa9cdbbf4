import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
  app.clock.real()
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
/** The id of a customer, who comes with a first order. */
const customer = async (email = 'ada@example.com', more: object = {}) =>
  (await shop.buy({ items: [{ variantId: await shop.variant() }], email, ...more })).customer.id as string
const list = async (query = '') => made(await shop.get(`/customers${query}`))
const emails = ({ items }: { items: { email: string }[] }) => items.map(({ email }) => email)
const ADDRESS = { line1: 'Długa 1', city: 'Gdańsk', postalCode: '80-831' }

describe('GET /customers', () => {
  test('lists 50 unless told otherwise, newest first, as items and pagination', async () => {
    const variantId = await shop.variant()
    for (let i = 0; i < 52; i++)
      made(await shop.post('/orders', { customer: { email: `c${i}@example.com`, name: `C ${i}` }, items: [{ variantId }] }))
    const first = await list()
    expect(emails(first)).toEqual(Array.from({ length: 50 }, (_, i) => `c${51 - i}@example.com`))
    expect(first.pagination).toEqual({ total: 52, offset: 0, limit: 50, hasMore: true })
    expect(first.items[0]).toEqual({
      id: expect.any(String),
      email: 'c51@example.com',
      name: 'C 51',
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
    })
    expect(await list('?limit=2&offset=50')).toMatchObject({
      items: [{ email: 'c1@example.com' }, { email: 'c0@example.com' }],
      pagination: { total: 52, offset: 50, limit: 2, hasMore: false },
    })
    expect(await list('?offset=60')).toEqual({ items: [], pagination: { total: 52, offset: 60, limit: 50, hasMore: false } })
  })

  test('search looks in the email, in any spelling, taking every sign for itself', async () => {
    for (const email of ['ada_l@example.com', 'adaxl@example.com', 'łukasz@example.com', 'jo@bücher.example', '50%off@example.com'])
      await customer(email)
    for (const [search, seen] of [
      ['ada', ['adaxl@example.com', 'ada_l@example.com']],
      ['a_l', ['ada_l@example.com']],
      ['%', ['50%off@example.com']],
      ['ADA_L@Example.com', ['ada_l@example.com']],
      ['ŁUKASZ', ['łukasz@example.com']],
      ['jo@BÜCHER.example', ['jo@xn--bcher-kva.example']],
      ['bücher.example', ['jo@xn--bcher-kva.example']],
      [' adaxl ', ['adaxl@example.com']],
      ['nobody', []],
      ['"', []],
    ] as const) {
      const body = await list(`?search=${encodeURIComponent(search)}`)
      expect([search, emails(body), body.pagination.total]).toEqual([search, seen, seen.length])
    }
  })

  test('needs customers:read; a storefront key can not read customers', async () => {
    const id = await customer()
    for (const key of [shop.keys.storefront, await shop.keyWith('customers:write', 'orders:read')]) {
      for (const path of ['/customers', `/customers/${id}`, `/customers/${id}/orders`]) {
        const { status, body } = await shop.get(path, { key })
        expect([status, body.error]).toEqual([403, expect.stringContaining('customers:read')])
      }
    }
    expect((await shop.get('/customers', { key: await shop.keyWith('customers:read') })).status).toBe(200)
  })
})

describe('/customers/{id}', () => {
  test('GET reads a customer with addresses', async () => {
    const id = await customer('Ada@Example.com', { name: 'Ada', phone: '+48 1' })
    const address = made(await shop.post(`/customers/${id}/addresses`, ADDRESS))
    expect((await shop.get(`/customers/${id}`)).body).toEqual({
      id,
      email: 'ada@example.com',
      name: 'Ada',
      phone: '+48 1',
      addresses: [address],
      createdAt: expect.any(String),
    })
  })

  test('PATCH changes name and phone, each alone, and nothing else', async () => {
    const id = await customer('ada@example.com', { name: 'Ada', phone: '+48 1' })
    expect((await shop.patch(`/customers/${id}`, { name: 'Ada L.' })).body).toMatchObject({ name: 'Ada L.', phone: '+48 1' })
    expect((await shop.patch(`/customers/${id}`, { phone: '+48 2' })).body).toMatchObject({ name: 'Ada L.', phone: '+48 2' })
    expect((await shop.patch(`/customers/${id}`, {})).body).toMatchObject({ name: 'Ada L.', phone: '+48 2' })
    expect((await shop.patch(`/customers/${id}`, { email: 'eve@example.com', id: NOBODY, createdAt: 'x' })).body).toMatchObject({
      id,
      email: 'ada@example.com',
    })
    expect((await shop.patch(`/customers/${id}`, { name: null, phone: null })).body).toMatchObject({ name: null, phone: null })
  })

  test('blank text is the same as null, and text has no space around it', async () => {
    const id = await customer('ada@example.com', { name: 'Ada', phone: '+48 1' })
    expect((await shop.patch(`/customers/${id}`, { name: ' Ada L. ', phone: ' ' })).body).toMatchObject({ name: 'Ada L.', phone: null })
    expect((await shop.patch(`/customers/${id}`, { name: '' })).body.name).toBeNull()
    const order = made(
      await shop.post('/orders', {
        customer: { email: 'eve@example.com', name: ' ', phone: '' },
        items: [{ variantId: await shop.variant() }],
      }),
    )
    expect(order.customer.name).toBeNull()
    expect((await shop.get(`/customers/${order.customer.id}`)).body).toMatchObject({ name: null, phone: null })
    const address = made(
      await shop.post(`/customers/${id}/addresses`, { ...ADDRESS, line1: ' Długa 1 ', line2: '', state: null, company: ' ' }),
    )
    expect(address).toMatchObject({ ...ADDRESS, line2: null, state: null, company: null })
    expect(paths(await shop.post(`/customers/${id}/addresses`, { ...ADDRESS, city: ' ' }))).toEqual(['city'])
  })

  test.each([
    ['name', { name: 5 }],
    ['name', { name: 'x'.repeat(201) }],
    ['phone', { phone: true }],
    ['phone', { phone: '1'.repeat(41) }],
  ])('PATCH: %s is 400 in %j', async (path, body) => {
    expect(paths(await shop.patch(`/customers/${await customer()}`, body))).toEqual([path])
  })

  test('one of another store is the same 404 as one that is missing', async () => {
    const other = await newShop(app)
    const foreign = (await other.buy({ items: [{ variantId: await other.variant() }] })).customer.id
    for (const id of [foreign, NOBODY, 'ada@example.com']) {
      for (const answer of [
        await shop.get(`/customers/${id}`),
        await shop.patch(`/customers/${id}`, { name: 'x' }),
        await shop.post(`/customers/${id}/addresses`, ADDRESS),
        await shop.remove(`/customers/${id}/addresses/${NOBODY}`),
        await shop.get(`/customers/${id}/orders`),
      ])
        expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ error: 'customer not found' })])
    }
  })

  test('changes need customers:write', async () => {
    const id = await customer()
    const key = await shop.keyWith('customers:read', 'orders:write')
    for (const answer of [
      await shop.patch(`/customers/${id}`, {}, { key }),
      await shop.post(`/customers/${id}/addresses`, ADDRESS, { key }),
      await shop.remove(`/customers/${id}/addresses/${NOBODY}`, { key }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining('customers:write')])
    }
  })
})

describe('addresses', () => {
  test('line1, city and postalCode are enough', async () => {
    const { status, body } = await shop.post(`/customers/${await customer()}/addresses`, ADDRESS)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      ...ADDRESS,
      line2: null,
      state: null,
      country: null,
      name: null,
      company: null,
      phone: null,
    })
  })

  test('keeps every field; the country in upper case', async () => {
    const full = { ...ADDRESS, line2: '2nd floor', state: 'Pomorskie', country: 'pl', name: 'Ada', company: 'Acme', phone: '+48 1' }
    expect(made(await shop.post(`/customers/${await customer()}/addresses`, full))).toMatchObject({ ...full, country: 'PL' })
  })

  test.each([
    ['line1', { line1: undefined }],
    ['city', { city: undefined }],
    ['postalCode', { postalCode: undefined }],
    ['line1', { line1: '' }],
    ['city', { city: null }],
    ['postalCode', { postalCode: 80831 }],
    ['country', { country: 'POL' }],
    ['country', { country: '' }],
    ['line2', { line2: 5 }],
    ['phone', { phone: {} }],
    ['line1', { line1: 'x'.repeat(201) }],
  ])('%s is 400 in %j', async (path, change) => {
    const id = await customer()
    expect(paths(await shop.post(`/customers/${id}/addresses`, { ...ADDRESS, ...change }))).toEqual([path])
    expect((await shop.get(`/customers/${id}`)).body.addresses).toEqual([])
  })

  test('DELETE removes one, of this customer only', async () => {
    const [id, other] = [await customer(), await customer('eve@example.com')]
    const [first, second] = [
      made(await shop.post(`/customers/${id}/addresses`, ADDRESS)),
      made(await shop.post(`/customers/${id}/addresses`, { ...ADDRESS, line1: 'Krótka 2' })),
    ]
    expect((await shop.remove(`/customers/${other}/addresses/${first.id}`)).status).toBe(404)
    expect((await shop.remove(`/customers/${id}/addresses/${first.id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.remove(`/customers/${id}/addresses/${first.id}`)).status).toBe(404)
    expect((await shop.remove(`/customers/${id}/addresses/first`)).status).toBe(404)
    expect((await shop.get(`/customers/${id}`)).body.addresses).toEqual([second])
  })
})

describe('GET /customers/{id}/orders', () => {
  test('lists 20 unless told otherwise, newest first', async () => {
    const [id, variantId] = [await customer(), await shop.variant()]
    for (let i = 0; i < 21; i++) await shop.buy({ items: [{ variantId }], email: 'ADA@example.com' })
    await customer('eve@example.com')
    const { items, pagination } = made(await shop.get(`/customers/${id}/orders`))
    expect(items.map(({ orderNumber }: any) => orderNumber)).toEqual(Array.from({ length: 20 }, (_, i) => String(1022 - i)))
    expect(pagination).toEqual({ total: 22, offset: 0, limit: 20, hasMore: true })
    expect(items[0]).toEqual({
      id: expect.any(String),
      orderNumber: '1022',
      status: 'paid',
      totalCents: 1000,
      currency: 'usd',
      createdAt: expect.any(String),
    })
    expect(made(await shop.get(`/customers/${id}/orders?limit=5&offset=20`))).toMatchObject({
      items: [{ orderNumber: '1002' }, { orderNumber: '1001' }],
      pagination: { hasMore: false },
    })
  })
})
