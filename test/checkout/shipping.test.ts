import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const bare = { name: 'Courier', type: 'courier', price: 4.99 }
const EMPTY = {
  description: null,
  freeShippingThreshold: null,
  minShippingTime: null,
  maxShippingTime: null,
  countries: [],
  taxRateId: null,
  position: 0,
  currencyPrices: {},
  addonName: null,
  addonData: null,
  addonId: null,
}
const post = (body: unknown) => shop.post('/shipping', body)

/** A body with every field. */
async function full() {
  await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
  const taxRateId = made(await shop.post('/tax-rates', { name: 'VAT', rate: 23 })).id
  return {
    name: 'Parcel',
    description: 'Tracked',
    type: 'parcel',
    price: 5.5,
    freeShippingThreshold: 100,
    minShippingTime: 1,
    maxShippingTime: 3,
    countries: ['PL', 'DE'],
    taxRateId,
    position: 7,
    currencyPrices: { eur: { price: 4.5, freeShippingThreshold: 90 } },
  }
}

describe('POST /shipping', () => {
  test('name, type and price are enough', async () => {
    const { status, body } = await post(bare)
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.any(String), ...bare, ...EMPTY, createdAt: expect.any(String), updatedAt: body.createdAt })
    expect((await shop.get(`/shipping/${body.id}`)).body).toEqual(body)
  })

  test('keeps every field', async () => {
    const body = await full()
    const { id } = made(await post(body))
    expect((await shop.get(`/shipping/${id}`)).body).toMatchObject({ ...body, addonName: null, addonData: null, addonId: null })
  })

  test.each(['courier', 'parcel', 'pickup_point', 'in_store'])('the type may be %s', async (type) => {
    expect(made(await post({ ...bare, type })).type).toBe(type)
  })

  test.each([
    ['name', 'required'],
    ['type', 'required'],
    ['price', 'required'],
  ])('%s is required', async (field, code) => {
    const { body } = await post({ ...bare, [field]: undefined })
    expect(body.details).toEqual([expect.objectContaining({ path: [field], code })])
  })

  test.each([
    ['name', { name: '' }],
    ['name', { name: null }],
    ['name', { name: 'x'.repeat(201) }],
    ['type', { type: 'drone' }],
    ['type', { type: null }],
    ['price', { price: -1 }],
    ['price', { price: '5' }],
    ['price', { price: 4.999 }],
    ['price', { price: null }],
    ['freeShippingThreshold', { freeShippingThreshold: -1 }],
    ['freeShippingThreshold', { freeShippingThreshold: 1.001 }],
    ['minShippingTime', { minShippingTime: -1 }],
    ['maxShippingTime', { maxShippingTime: 'soon' }],
    ['maxShippingTime', { minShippingTime: 3, maxShippingTime: 2 }],
    ['countries.0', { countries: ['Poland'] }],
    ['countries.1', { countries: ['PL', 'XX'] }],
    ['countries.0', { countries: ['zz'] }],
    ['countries.0', { countries: ['UK'] }],
    ['countries', { countries: 'PL' }],
    ['countries', { countries: null }],
    ['taxRateId', { taxRateId: 'vat' }],
    ['taxRateId', { taxRateId: NOBODY }],
    ['position', { position: -1 }],
    ['position', { position: 1.5 }],
    ['position', { position: null }],
    ['currencyPrices.eur', { currencyPrices: { eur: 5 } }],
    ['currencyPrices.eur.price', { currencyPrices: { eur: {} } }],
    ['currencyPrices.eur.price', { currencyPrices: { eur: { price: 1.234 } } }],
    ['currencyPrices.xyz', { currencyPrices: { xyz: { price: 1 } } }],
    ['countries', { countries: ['PL', 'PL'] }],
    ['countries.2', { countries: ['PL', 'DE', 'pl'] }],
    ['currencyPrices.EUR', { currencyPrices: { eur: { price: 1 }, EUR: { price: 2 } } }],
    ['currencyPrices.USD', { currencyPrices: { USD: { price: 1 } } }],
    ['addonName', { addonName: 'carrier_x' }],
    ['addonData', { addonData: { id: '1', name: 'x', service: 'y' } }],
    ['addonData', { addonName: null, addonData: {} }],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await post({ ...bare, ...change }))).toEqual([path])
  })

  test.each(['carrier_a', 'carrier_b', 'carrier_c'])('%s is 400 at addonName while it is not connected', async (addonName) => {
    const answer = await post({ ...bare, addonName, addonData: { id: '1', name: 'x', service: 'y' } })
    expect(paths(answer)).toEqual(['addonName'])
    expect((await shop.get('/shipping')).body.meta.count).toBe(0)
  })

  test('null is the same as leaving out, where a field may be null', async () => {
    const nothing = {
      description: null,
      freeShippingThreshold: null,
      minShippingTime: null,
      maxShippingTime: null,
      taxRateId: null,
      addonName: null,
      addonData: null,
    }
    expect(made(await post({ ...bare, ...nothing }))).toMatchObject(nothing)
  })

  test.each(['XX', 'zz', 'EU', 'UK', 'POL', 'P1'])('%s is no country of ISO 3166-1 alpha-2', async (code) => {
    const { id } = await shop.cart()
    for (const [path, answer] of [
      ['countries.0', await post({ ...bare, countries: [code] })],
      ['countries.0', await shop.post('/tax-rates', { name: 'VAT', rate: 20, countries: [code] })],
      ['shippingAddress.country', await shop.patch(`/carts/${id}`, { shippingAddress: { ...ADDRESS, country: code } })],
      ['address.country', await shop.patch('/settings', { address: { country: code } })],
    ] as const) {
      expect([answer.status, answer.body.details]).toEqual([
        400,
        [expect.objectContaining({ code: 'invalid_string', path: path.split('.') })],
      ])
    }
  })

  test('countries are kept in upper case', async () => {
    expect(made(await post({ ...bare, countries: ['pl', 'Gb', 'TW'] })).countries).toEqual(['PL', 'GB', 'TW'])
  })

  test("the store's own currency has its price in price: the refusal says so", async () => {
    const { body } = await post({ ...bare, currencyPrices: { usd: { price: 1 } } })
    expect(body.details).toEqual([{ code: 'custom', path: ['currencyPrices', 'usd'], message: "is the store's own currency: use price" }])
  })

  test('prices are in the currency of the store, with its decimals', async () => {
    const [jpy, kwd] = [await newShop(app, { currency: 'jpy' }), await newShop(app, { currency: 'kwd' })]
    expect(paths(await jpy.post('/shipping', { ...bare, price: 500.5 }))).toEqual(['price'])
    expect(made(await kwd.post('/shipping', { ...bare, price: 1.234, currencyPrices: { jpy: { price: 500 } } }))).toMatchObject({
      price: 1.234,
      currencyPrices: { jpy: { price: 500, freeShippingThreshold: null } },
    })
  })

  test('needs settings:write', async () => {
    for (const key of [shop.keys.storefront, await shop.keyWith('settings:read', 'catalog:write')]) {
      const { status, body } = await shop.post('/shipping', bare, { key })
      expect([status, body.error]).toEqual([403, expect.stringContaining('settings:write')])
    }
    expect((await shop.post('/shipping', bare, { key: await shop.keyWith('settings:write') })).status).toBe(201)
  })
})

describe('GET /shipping', () => {
  test('lists 10 unless told otherwise, lower position first, with the count of all', async () => {
    for (let i = 0; i < 12; i++) await post({ ...bare, name: `Method ${i}`, position: 11 - i })
    const { body } = await shop.get('/shipping')
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `Method ${11 - i}`))
    expect(body.meta).toEqual({ count: 12 })
    expect((await shop.get('/shipping?limit=5&offset=10')).body).toMatchObject({
      data: [{ position: 10 }, { position: 11 }],
      meta: { count: 12 },
    })
    expect((await shop.get('/shipping?offset=50')).body).toEqual({ data: [], meta: { count: 12 } })
  })

  test.each(['currency=euro', 'currency=gbp'])('?%s is 400', async (query) => {
    expect((await shop.get(`/shipping?${query}`)).status).toBe(400)
  })

  test('query looks in name and description, taking every sign for itself', async () => {
    for (const [name, description] of [
      ['Courier 100%', null],
      ['Locker', 'in your courier_box'],
      ['Shop', 'collect'],
    ] as const)
      await post({ ...bare, name, description })
    for (const [query, names] of [
      ['courier', ['Courier 100%', 'Locker']],
      ['100%', ['Courier 100%']],
      ['r_b', ['Locker']],
      ['%', ['Courier 100%']],
      ['nothing', []],
    ] as const) {
      const { body } = await shop.get(`/shipping?query=${encodeURIComponent(query)}`)
      expect([query, body.data.map((row: { name: string }) => row.name), body.meta.count]).toEqual([query, names, names.length])
    }
  })

  test('currency prices the list, and leaves out what has no price in it', async () => {
    const body = await full()
    const { id } = made(await post(body))
    const plain = made(await post(bare)).id
    const inEur = (await shop.get('/shipping?currency=EUR')).body
    expect(inEur).toMatchObject({ data: [{ id, price: 4.5, freeShippingThreshold: 90 }], meta: { count: 1 } })
    expect((await shop.get(`/shipping/${id}?currency=eur`)).body).toMatchObject({ price: 4.5, freeShippingThreshold: 90 })
    expect((await shop.get(`/shipping/${plain}?currency=eur`)).status).toBe(404)
    expect((await shop.get('/shipping?currency=usd')).body.meta.count).toBe(2)
  })

  test('needs one of storefront:read and settings:read', async () => {
    const { id } = made(await post(bare))
    for (const key of [shop.keys.storefront, await shop.keyWith('settings:read')])
      for (const path of ['/shipping', `/shipping/${id}`]) expect((await shop.get(path, { key })).status).toBe(200)
    const { status, body } = await shop.get('/shipping', { key: await shop.keyWith('settings:write', 'cart:write') })
    expect([status, body.error]).toEqual([403, expect.stringContaining('storefront:read or settings:read')])
  })
})

describe('PATCH and DELETE /shipping/{id}', () => {
  test('PATCH is a full replacement: what is left out is emptied', async () => {
    const before = made(await post(await full()))
    app.clock.advance(1000)
    const { status, body } = await shop.patch(`/shipping/${before.id}`, bare)
    expect(status).toBe(200)
    expect(body).toEqual({ id: before.id, ...bare, ...EMPTY, createdAt: before.createdAt, updatedAt: expect.any(String) })
    expect(body.updatedAt > before.updatedAt).toBe(true)
    expect((await shop.get(`/shipping/${before.id}`)).body).toEqual(body)
  })

  test.each(['name', 'type', 'price'])('PATCH without %s is 400 and changes nothing', async (field) => {
    const before = made(await post(bare))
    const answer = await shop.patch(`/shipping/${before.id}`, { ...bare, [field]: undefined })
    expect(paths(answer)).toEqual([field])
    expect((await shop.get(`/shipping/${before.id}`)).body).toEqual(before)
  })

  test('PATCH with a carrier that is not connected is 400 at addonName', async () => {
    const { id } = made(await post(bare))
    expect(paths(await shop.patch(`/shipping/${id}`, { ...bare, addonName: 'carrier_a' }))).toEqual(['addonName'])
  })

  test('DELETE removes it for good', async () => {
    const { id } = made(await post(bare))
    expect((await shop.remove(`/shipping/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.get(`/shipping/${id}`)).status).toBe(404)
    expect((await shop.remove(`/shipping/${id}`)).status).toBe(404)
  })

  test('a tax rate that a method uses can not be removed', async () => {
    const body = await full()
    await post(body)
    expect((await shop.remove(`/tax-rates/${body.taxRateId}`)).status).toBe(409)
  })

  test('an order keeps the name and price of a method that is gone', async () => {
    const id = await shop.method({ name: 'Old courier', price: 7 })
    const order = await shop.buy({
      items: [{ variantId: await shop.variant({ shippable: true }) }],
      shippingMethodId: id,
      shippingAddress: ADDRESS,
    })
    await shop.remove(`/shipping/${id}`)
    expect((await shop.order(order.id)).shipping).toEqual({ methodId: id, name: 'Old courier', priceCents: 700, pickupPoint: null })
  })
})

describe('GET /carts/{id}/shipping-options', () => {
  const options = async (id: string) => made(await shop.get(`/carts/${id}/shipping-options`))
  const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name)

  test('lists the methods with what they cost, lower position first', async () => {
    await shop.method({ name: 'Second', price: 5, position: 2, description: 'slow', minShippingTime: 2, maxShippingTime: 4 })
    const first = await shop.method({ name: 'First', price: 9.99, position: 1, type: 'parcel' })
    const { id } = await shop.cart()
    const body = await options(id)
    expect(names(body)).toEqual(['First', 'Second'])
    expect(body.data[0]).toEqual({
      id: first,
      name: 'First',
      description: null,
      type: 'parcel',
      priceCents: 999,
      currency: 'usd',
      minShippingTime: null,
      maxShippingTime: null,
      addonName: null,
    })
    expect(body.data[1]).toMatchObject({ description: 'slow', minShippingTime: 2, maxShippingTime: 4 })
    expect(body.meta).toEqual({ count: 2 })
  })

  test('lists those that serve the address; all of them while there is none', async () => {
    await shop.method({ name: 'Anywhere' })
    await shop.method({ name: 'Poland', countries: ['pl'] })
    await shop.method({ name: 'Abroad', countries: ['DE', 'FR'] })
    const { id } = await shop.cart()
    expect(names(await options(id))).toEqual(['Anywhere', 'Poland', 'Abroad'])
    for (const [country, seen] of [
      ['PL', ['Anywhere', 'Poland']],
      ['fr', ['Anywhere', 'Abroad']],
      ['US', ['Anywhere']],
    ] as const) {
      await shop.patch(`/carts/${id}`, { shippingAddress: { ...ADDRESS, country } })
      expect(names(await options(id))).toEqual(seen)
    }
  })

  test('a method is free above its threshold, not at it', async () => {
    const method = await shop.method({ price: 5, freeShippingThreshold: 20 })
    const variantId = await shop.variant({ price: 0.01, shippable: true, stock: { tracked: false } })
    for (const [quantity, cents] of [
      [1999, 500],
      [2000, 500],
      [2001, 0],
    ] as const) {
      const { id } = await shop.cart([{ variantId, quantity }])
      expect([quantity, (await options(id)).data[0].priceCents]).toEqual([quantity, cents])
      expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId: method })).shippingCents).toBe(cents)
    }
  })

  test('a cart in another currency sees the prices and thresholds that are set in it, and no other methods', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const method = await shop.method({
      name: 'Both',
      price: 5,
      freeShippingThreshold: 1,
      currencyPrices: { EUR: { price: 4, freeShippingThreshold: 50 } },
    })
    await shop.method({ name: 'Dollars', price: 5 })
    const variantId = await shop.variant({ price: 10, shippable: true, prices: { eur: 10 } })
    const { id } = await shop.cart([{ variantId }], { currency: 'eur' })
    expect((await options(id)).data).toMatchObject([{ name: 'Both', priceCents: 400, currency: 'eur' }])
    expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId: method }))).toMatchObject({ shippingCents: 400, totalCents: 1400 })
    expect((await options((await shop.cart([{ variantId, quantity: 6 }], { currency: 'eur' })).id)).data[0].priceCents).toBe(0)
  })

  test('a promotion can make all of them free', async () => {
    await shop.method({ price: 5 })
    await shop.promotion({ type: 'free_shipping', value: undefined })
    expect((await options((await shop.cart([{ variantId: await shop.variant({ shippable: true }) }])).id)).data[0].priceCents).toBe(0)
  })

  test('what is not shipped costs no shipping', async () => {
    const method = await shop.method({ price: 5 })
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId: method }))).toMatchObject({ shippingCents: 0, totalCents: 1000 })
  })
})

test('query finds part of name or description, whatever the case and the marks', async () => {
  made(await post({ ...bare, name: 'Żółw Express', description: 'Ślimak w paczce' }))
  for (const [query, count] of [
    ['ż', 1],
    ['ŻÓŁ', 1],
    ['zolw', 1],
    ['śLIMAK', 1],
    ['express slimak', 0],
    ['%', 0],
  ] as const)
    expect(made(await shop.get(`/shipping?query=${encodeURIComponent(query)}`)).meta.count, query).toBe(count)
})
