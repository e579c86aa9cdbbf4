import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { carriersDouble, connecting, type CarriersDouble } from '../doubles/carriers.ts'
import { testApp, type CallOptions, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'

let carriers: CarriersDouble
let app: TestApp
let shop: Shop
beforeAll(async () => {
  carriers = carriersDouble()
  app = await testApp({ carriers: carriers.urls })
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(async () => {
  await app.close()
  carriers.close()
})

const bare = { name: 'Linked', type: 'courier', price: 5 }
const POINT = { id: 'GDA08M', name: 'Długa 1, Gdańsk' }
const needed = { id: '7', name: 'Priority', service: 'priority_mail' }
const post = (body: unknown, options?: CallOptions) => shop.post('/shipping', body, options)
const connect = async (name: 'carrier_a' | 'carrier_b', more: object = {}, options?: CallOptions) =>
  made(await shop.call('PUT', `/addons/${name}`, connecting(carriers, name, more), options))
/** carrier_c connects by OAuth, which the store's own panel does. */
const connectC = () =>
  app.handles.use(shop.store.id, 'live', (handle) =>
    handle.write(async (tx) => {
      await tx.run(
        sql`insert into addons (id, name, config, created_at, updated_at) values (${Bun.randomUUIDv7()}, 'carrier_c', '{}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
      )
    }),
  )

describe('a shipping method of a carrier', () => {
  test.each(['carrier_a', 'carrier_b'] as const)('%s is linked by its name; its data are made from the method', async (addonName) => {
    await connect(addonName)
    const { status, body } = await post({ ...bare, type: 'parcel', addonName })
    expect([status, body]).toMatchObject([201, { addonName, addonData: { id: addonName, service: 'parcel' } }])
    const [[id]] = (await shop.rows(sql`select id from addons`)) as [[string]]
    expect(body.addonId).toBe(id)
    expect(made(await shop.get(`/shipping/${body.id}`))).toEqual(body)
    expect(made(await shop.get('/shipping')).data).toEqual([body])
  })

  test('data that are given are kept as they are', async () => {
    await connect('carrier_a')
    const addonData = { service: 'next day', nested: { list: [1, null, 'ł'] } }
    expect(made(await post({ ...bare, addonName: 'carrier_a', addonData })).addonData).toEqual(addonData)
  })

  test('carrier_c needs data with id, name and service', async () => {
    await connectC()
    const c = (addonData?: unknown) => post({ ...bare, addonName: 'carrier_c', addonData })
    expect(made(await c(needed))).toMatchObject({ addonName: 'carrier_c', addonData: needed, addonId: expect.any(String) })
    expect(paths(await c())).toEqual(['addonData'])
    expect(paths(await c(null))).toEqual(['addonData'])
    expect(paths(await c({}))).toEqual(['addonData.id', 'addonData.name', 'addonData.service'])
    for (const field of ['id', 'name', 'service'])
      for (const value of [undefined, null, '', ' ', {}, true])
        expect(paths(await c({ ...needed, [field]: value }))).toEqual([`addonData.${field}`])
  })

  test.each([
    ['addonName', { addonName: 'carrier_b' }],
    ['addonName', { addonName: 'carrier_c' }],
    ['addonName', { addonName: 'carrier_d' }],
    ['addonData', { addonData: {} }],
    ['addonData', { addonName: 'carrier_a', addonData: 'next day' }],
    ['addonData', { addonName: 'carrier_a', addonData: [] }],
  ])('%s is 400 in %j where carrier_a alone is connected', async (path, change) => {
    await connect('carrier_a')
    expect(paths(await post({ ...bare, ...change }))).toEqual([path])
    const { id } = made(await post(bare))
    expect(paths(await shop.patch(`/shipping/${id}`, { ...bare, ...change }))).toEqual([path])
  })

  test('PATCH replaces the link, and takes it off when no carrier is named', async () => {
    await connect('carrier_a')
    await connect('carrier_b')
    const { id } = made(await post({ ...bare, addonName: 'carrier_a', addonData: { service: 'next day' } }))
    expect(made(await shop.patch(`/shipping/${id}`, { ...bare, addonName: 'carrier_b' }))).toMatchObject({
      addonName: 'carrier_b',
      addonData: { id: 'carrier_b', service: 'courier' },
    })
    const unlinked = made(await shop.patch(`/shipping/${id}`, bare))
    expect(unlinked).toMatchObject({ addonName: null, addonData: null, addonId: null })
    expect(made(await shop.get(`/shipping/${id}`))).toEqual(unlinked)
    for (const name of ['carrier_a', 'carrier_b']) expect((await shop.remove(`/addons/${name}`)).status).toBe(200)
  })

  test('a carrier that another store, or the live store, has connected is not connected here', async () => {
    await connect('carrier_a')
    expect(paths(await (await newShop(app)).post('/shipping', { ...bare, addonName: 'carrier_a' }))).toEqual(['addonName'])
    expect(paths(await post({ ...bare, addonName: 'carrier_a' }, { key: shop.keys.staging }))).toEqual(['addonName'])
    await connect('carrier_a', { environment: 'test' }, { key: shop.keys.staging })
    expect((await post({ ...bare, addonName: 'carrier_a' }, { key: shop.keys.staging })).status).toBe(201)
  })
})

describe('GET /carts/{id}/shipping-options', () => {
  const options = async (key = shop.keys.storefront) => {
    const { id } = made(await shop.post('/carts', {}, { key }))
    return made(await shop.get(`/carts/${id}/shipping-options`, { key })).data
  }

  test('names the carrier, and says where its point picker belongs', async () => {
    await connect('carrier_a')
    await connect('carrier_b', { geowidgetToken: 'map-token' })
    made(await post({ ...bare, name: 'Door', position: 1 }))
    made(await post({ ...bare, name: 'Door A', position: 2, addonName: 'carrier_a' }))
    made(await post({ ...bare, name: 'Point A', position: 3, type: 'pickup_point', addonName: 'carrier_a' }))
    made(await post({ ...bare, name: 'Parcel B', position: 4, type: 'parcel', addonName: 'carrier_b' }))
    made(await post({ ...bare, name: 'Point', position: 5, type: 'pickup_point' }))
    expect((await options()).map(({ name, addonName, pointPicker }: any) => [name, addonName, pointPicker])).toEqual([
      ['Door', null, undefined],
      ['Door A', 'carrier_a', undefined],
      ['Point A', 'carrier_a', { environment: 'live', token: null }],
      ['Parcel B', 'carrier_b', { environment: 'live', token: 'map-token' }],
      ['Point', null, undefined],
    ])
  })

  test('gives the token of the environment in use, and nothing else of the credentials', async () => {
    await connect('carrier_b', { environment: 'test', geowidgetToken: 'test-map' })
    made(await post({ ...bare, type: 'pickup_point', addonName: 'carrier_b' }))
    expect((await options())[0].pointPicker).toEqual({ environment: 'test', token: 'test-map' })
    await connect('carrier_b')
    expect((await options())[0].pointPicker).toEqual({ environment: 'live', token: null })
    expect(JSON.stringify(await options())).not.toContain(carriers.known.token)
    for (const environment of ['live', 'test']) made(await shop.remove(`/addons/carrier_b?environment=${environment}`))
    expect((await options())[0]).not.toHaveProperty('pointPicker')
  })

  test('a token that this server can not open any more keeps nobody from choosing', async () => {
    await connect('carrier_b', { geowidgetToken: 'map' })
    made(await post({ ...bare, type: 'pickup_point', addonName: 'carrier_b' }))
    await app.handles.use(shop.store.id, 'live', (handle) =>
      handle.write(async (tx) => void (await tx.run(sql`update addons set live = 'v1.AAAA'`))),
    )
    expect((await options())[0].pointPicker).toEqual({ environment: 'live', token: null })
  })
})

describe('a checkout with a pickup point', () => {
  const checkOut = async (method: object, pickupPoint?: object) => {
    const { id } = await shop.cart([{ variantId: await shop.variant({ shippable: true }) }])
    if (pickupPoint) made(await shop.patch(`/carts/${id}`, { pickupPoint }))
    return shop.checkOut(id, { shippingMethodId: await shop.method(method), shippingAddress: ADDRESS })
  }

  test('is 400 without one where a carrier brings it there', async () => {
    await connect('carrier_b')
    const linked = { type: 'pickup_point', addonName: 'carrier_b' }
    const refused = await checkOut(linked)
    expect(paths(refused)).toEqual(['pickupPoint'])
    expect(refused.body.details[0].code).toBe('required')
    expect(paths(await checkOut(linked, {}))).toEqual(['pickupPoint'])
    expect(made(await checkOut(linked, POINT)).order.shipping.pickupPoint).toEqual(POINT)
  })

  test('needs none for another type, or where no carrier is linked', async () => {
    await connect('carrier_b')
    for (const method of [
      { type: 'pickup_point' },
      { type: 'parcel', addonName: 'carrier_b' },
      { type: 'courier', addonName: 'carrier_b' },
    ])
      expect((await checkOut(method)).status).toBe(201)
  })
})
