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
})
afterAll(() => app.close())

const bare = {
  label: 'portland',
  name: 'Shop on the square',
  line1: '12 Dock St',
  city: 'Portland',
  postalCode: '97205',
  country: 'US',
  phone: '+1 503',
}
const full = { ...bare, company: 'Atelier Nord', line2: 'Back door', state: 'OR' }
const EMPTY = { company: null, line2: null, state: null }
const REQUIRED = Object.keys(bare)
const add = async (body: object = bare) => made(await shop.post('/pickup-locations', body))

describe('POST /pickup-locations', () => {
  test('the required fields are enough', async () => {
    const { status, body } = await shop.post('/pickup-locations', bare)
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.any(String), ...bare, ...EMPTY, createdAt: expect.any(String), updatedAt: body.createdAt })
    expect((await shop.get(`/pickup-locations/${body.id}`)).body).toEqual(body)
  })

  test('keeps every field, without the space around it, the country in upper case', async () => {
    expect(await add({ ...full, name: '  Shop on the square ', state: ' OR ', country: 'us' })).toMatchObject(full)
    expect(await add({ ...full, company: null, line2: '', state: '  ' })).toMatchObject({ ...bare, ...EMPTY })
  })

  test.each(REQUIRED)('%s is required', async (field) => {
    for (const value of [undefined, null, '', '  '])
      expect(paths(await shop.post('/pickup-locations', { ...bare, [field]: value })), JSON.stringify(value)).toEqual([field])
    expect((await shop.get('/pickup-locations')).body.meta.count).toBe(0)
  })

  test.each([
    ['label', { label: 'x'.repeat(201) }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 7 }],
    ['country', { country: 'Poland' }],
    ['country', { country: 'XX' }],
    ['phone', { phone: 'x'.repeat(41) }],
    ['postalCode', { postalCode: 'x'.repeat(41) }],
    ['line2', { line2: 5 }],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await shop.post('/pickup-locations', { ...bare, ...change }))).toEqual([path])
  })
})

test('the list is paged, oldest first', async () => {
  const ids: string[] = []
  for (const label of ['a', 'b', 'c']) ids.push((await add({ ...bare, label })).id)
  const all = (await shop.get('/pickup-locations')).body
  expect([all.data.map(({ id }: { id: string }) => id), all.meta]).toEqual([ids, { count: 3, offset: 0, limit: 50 }])
  const some = (await shop.get('/pickup-locations?limit=1&offset=1')).body
  expect([some.data.map(({ id }: { id: string }) => id), some.meta]).toEqual([[ids[1]], { count: 3, offset: 1, limit: 1 }])
})

describe('PATCH /pickup-locations/{id}', () => {
  test('replaces the whole: what is left out is emptied, and all required fields have to be there', async () => {
    const { id, createdAt } = await add(full)
    app.clock.now = new Date(app.clock.now.getTime() + 1_000)
    const next = { ...bare, name: 'Warehouse' }
    const { status, body } = await shop.patch(`/pickup-locations/${id}`, next)
    expect([status, body]).toEqual([200, { id, ...next, ...EMPTY, createdAt, updatedAt: app.clock.now.toISOString() }])
    for (const field of REQUIRED)
      expect(paths(await shop.patch(`/pickup-locations/${id}`, { ...full, [field]: undefined }))).toEqual([field])
    expect((await shop.get(`/pickup-locations/${id}`)).body).toEqual(body)
  })

  test('one that is not there is 404', async () => {
    expect((await shop.patch('/pickup-locations/01985d2c-7c00-7a31-8c4e-0242ac120002', bare)).status).toBe(404)
  })
})

test('DELETE removes it for good', async () => {
  const { id } = await add()
  const { status, body } = await shop.remove(`/pickup-locations/${id}`)
  expect([status, body]).toEqual([200, { ok: true, deleted: 1 }])
  for (const answer of [await shop.get(`/pickup-locations/${id}`), await shop.remove(`/pickup-locations/${id}`)])
    expect(answer.status).toBe(404)
})

describe('collecting an order', () => {
  const cartFor = async () => {
    const method = await shop.method({ type: 'in_store', price: 0 })
    const { id } = await shop.cart([{ variantId: await shop.variant({ shippable: true }), quantity: 1 }])
    return { id, method }
  }

  test('a cart names a location of its store, and so does the order that it becomes', async () => {
    const location = await add()
    const { id, method } = await cartFor()
    const cart = made(await shop.patch(`/carts/${id}`, { pickupLocationId: location.id.toUpperCase(), shippingMethodId: method }))
    expect([cart.pickupLocationId, cart.warnings]).toEqual([location.id, []])
    const { order } = made(await shop.checkOut(id))
    expect(order.pickupLocationId).toBe(location.id)
    // It is what was chosen, whatever becomes of the location.
    made(await shop.remove(`/pickup-locations/${location.id}`))
    expect((await shop.order(order.id)).pickupLocationId).toBe(location.id)
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ pickupLocationId: location.id, warnings: [] })
  })

  test('null takes it off again, and leaving it out changes nothing', async () => {
    const location = await add()
    const { id } = await cartFor()
    made(await shop.patch(`/carts/${id}`, { pickupLocationId: location.id }))
    expect(made(await shop.patch(`/carts/${id}`, { note: 'hi' })).pickupLocationId).toBe(location.id)
    expect(made(await shop.patch(`/carts/${id}`, { pickupLocationId: null })).pickupLocationId).toBeNull()
  })

  test('a location of another store is none', async () => {
    const other = await newShop(app)
    const theirs = made(await other.post('/pickup-locations', bare))
    const { id } = await cartFor()
    expect(paths(await shop.patch(`/carts/${id}`, { pickupLocationId: theirs.id }))).toEqual(['pickupLocationId'])
  })

  test('a location that was removed shows in the warnings, and stops the checkout until the cart names another', async () => {
    const [gone, open] = [await add(), await add({ ...bare, label: 'other' })]
    const { id, method } = await cartFor()
    made(await shop.patch(`/carts/${id}`, { pickupLocationId: gone.id, shippingMethodId: method }))
    made(await shop.remove(`/pickup-locations/${gone.id}`))
    const warning = { code: 'pickup_location', message: 'the pickup location is no longer there' }
    expect(made(await shop.get(`/carts/${id}`)).warnings).toEqual([warning])
    const before = await shop.traces()
    const refused = await shop.checkOut(id)
    expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ error: warning.message, warning })])
    expect(await shop.traces()).toEqual(before)
    made(await shop.patch(`/carts/${id}`, { pickupLocationId: open.id }))
    expect(made(await shop.checkOut(id)).order.pickupLocationId).toBe(open.id)
  })
})
