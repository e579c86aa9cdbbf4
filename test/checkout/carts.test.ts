import { sql } from 'drizzle-orm'
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
  app.clock.real()
})
afterAll(() => app.close())

const WIRE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const DAY = 86_400_000
const cart = async (id: string) => made(await shop.get(`/carts/${id}`))
const codes = (body: { warnings: { code: string }[] }) => body.warnings.map(({ code }) => code)

describe('POST /carts', () => {
  test('an empty body makes an empty cart in the currency of the store', async () => {
    const { status, body } = await shop.post('/carts')
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      currency: 'usd',
      email: null,
      items: [],
      coupons: [],
      promotions: [],
      loyaltyPoints: 0,
      shippingMethodId: null,
      shippingAddress: null,
      billingAddress: null,
      pickupPoint: null,
      pickupLocationId: null,
      note: null,
      subtotalCents: 0,
      discountCents: 0,
      shippingCents: 0,
      taxCents: 0,
      totalCents: 0,
      warnings: [],
      orderId: null,
      expiresAt: expect.stringMatching(WIRE),
      createdAt: expect.stringMatching(WIRE),
      updatedAt: expect.stringMatching(WIRE),
    })
    expect(await cart(body.id)).toEqual(body)
  })

  test('takes currency, email and items, whose quantity is 1 by default', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const [mug, cup] = [
      await shop.variant({ price: 10, prices: { eur: 9 } }, { name: 'Mug', images: ['https://img.example/mug.png'] }),
      await shop.variant({ price: 20.5, prices: { eur: 19.99 } }, { name: 'Cup' }),
    ]
    const { status, body } = await shop.post('/carts', {
      currency: 'EUR',
      email: ' Ada@Example.COM ',
      items: [{ variantId: mug }, { variantId: cup, quantity: 3 }],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ currency: 'eur', email: 'ada@example.com', subtotalCents: 6897, discountCents: 0, totalCents: 6897 })
    expect(body.items).toEqual([
      {
        id: expect.any(String),
        variantId: mug,
        productId: expect.any(String),
        name: 'Mug',
        image: 'https://img.example/mug.png',
        quantity: 1,
        unitPriceCents: 900,
        discountCents: 0,
        totalCents: 900,
        bookingSlotId: null,
        bundleId: null,
      },
      {
        id: expect.any(String),
        variantId: cup,
        productId: expect.any(String),
        name: 'Cup',
        image: null,
        quantity: 3,
        unitPriceCents: 1999,
        discountCents: 0,
        totalCents: 5997,
        bookingSlotId: null,
        bundleId: null,
      },
    ])
  })

  test('the name of an item tells which of several variants it is', async () => {
    const id = await shop.variant({ name: 'Large' }, { name: 'Shirt' })
    expect((await shop.cart([{ variantId: id }])).items[0].name).toBe('Shirt – Large')
  })

  test('the same variant twice adds up to one item', async () => {
    const id = await shop.variant()
    expect(
      (
        await shop.cart([
          { variantId: id, quantity: 2 },
          { variantId: id.toUpperCase(), quantity: 3 },
        ])
      ).items,
    ).toMatchObject([{ variantId: id, quantity: 5 }])
  })

  test.each([
    ['items.0.variantId', { items: [{ quantity: 1 }] }],
    ['items.0.variantId', { items: [{ variantId: 'mug' }] }],
    ['items.0.variantId', { items: [{ variantId: NOBODY }] }],
    ['items', { items: {} }],
    ['email', { email: 'ada' }],
    ['email', { email: 5 }],
    ['email', { email: '' }],
    ['email', { email: `${'a'.repeat(250)}@example.com` }],
    ['currency', { currency: 'usdd' }],
    ['currency', { currency: 'eur' }],
    ['currency', { currency: 'xyz' }],
    ['currency', { currency: null }],
  ])('%s is 400 in %j', async (path, body) => {
    expect(paths(await shop.post('/carts', body))).toContain(path)
    expect(await shop.rows(sql`select id from carts`)).toEqual([])
  })

  test.each([0, -1, 1.5, '1', null, 10_001])('a quantity of %j is 400', async (quantity) => {
    expect(paths(await shop.post('/carts', { items: [{ variantId: await shop.variant(), quantity }] }))).toEqual(['items.0.quantity'])
  })

  test('null for the email is the same as none', async () => {
    expect((await shop.cart([], { email: null })).email).toBeNull()
  })

  test('unknown fields are ignored', async () => {
    expect(await shop.cart([], { totalCents: 1, orderId: NOBODY, promotions: ['FREE'], id: NOBODY, price: 0 })).toMatchObject({
      totalCents: 0,
      orderId: null,
      promotions: [],
    })
  })

  test('more than there is in stock is 409 and makes no cart', async () => {
    const id = await shop.variant({ stock: { quantity: 2 } })
    const { status, body } = await shop.post('/carts', { items: [{ variantId: id, quantity: 3 }] })
    expect(status).toBe(409)
    expect(body).toMatchObject({ error: expect.any(String), variantId: id, available: 2 })
  })

  test('a variant of another store is the same 400 as one that is missing', async () => {
    const other = await newShop(app)
    const foreign = await shop.post('/carts', { items: [{ variantId: await other.variant() }] })
    const missing = await shop.post('/carts', { items: [{ variantId: NOBODY }] })
    expect(foreign.status).toBe(400)
    expect(foreign.body).toEqual(missing.body)
  })

  test('a storefront key may, and a key without cart:write may not', async () => {
    expect((await shop.post('/carts', {}, { key: shop.keys.storefront })).status).toBe(201)
    const { status, body } = await shop.post('/carts', {}, { key: await shop.keyWith('storefront:read', 'orders:write') })
    expect(status).toBe(403)
    expect(body).toMatchObject({ error: expect.stringContaining('cart:write'), hint: expect.any(String) })
  })
})

describe('/carts/{id}', () => {
  test('a cart of another store, a missing one and no UUID at all are the same 404', async () => {
    const foreign = (await (await newShop(app)).cart()).id
    for (const id of [foreign, NOBODY, 'cart', '%2e%2e%2f']) {
      for (const answer of [
        await shop.get(`/carts/${id}`),
        await shop.patch(`/carts/${id}`, { note: 'x' }),
        await shop.remove(`/carts/${id}`),
        await shop.get(`/carts/${id}/shipping-options`),
        await shop.post(`/carts/${id}/items`, { variantId: NOBODY }),
        await shop.post(`/carts/${id}/coupons`, { code: 'X' }),
        await shop.checkOut(id),
      ])
        expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ error: 'cart not found' })])
    }
  })

  test('every endpoint of a cart needs cart:write', async () => {
    const { id } = await shop.cart()
    const key = await shop.keyWith('storefront:read', 'storefront:write', 'order:lookup', 'orders:write')
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/items'],
      ['PATCH', `/items/${NOBODY}`],
      ['DELETE', `/items/${NOBODY}`],
      ['POST', '/coupons'],
      ['DELETE', '/coupons/X'],
      ['GET', '/shipping-options'],
      ['POST', '/checkout'],
    ] as const) {
      const { status, body } = await shop.call(method, `/carts/${id}${path}`, undefined, { key })
      expect([method, path, status, body.error]).toEqual([method, path, 403, expect.stringContaining('cart:write')])
    }
  })

  test('PATCH changes what is named and nothing else', async () => {
    const method = await shop.method()
    const { id } = await shop.cart([{ variantId: await shop.variant() }], { email: 'a@b.example' })
    const address = { ...ADDRESS, country: 'pl', line2: ' ', phone: '+48 1' }
    const full = {
      email: 'New@B.example',
      shippingAddress: address,
      billingAddress: { company: 'Acme' },
      shippingMethodId: method,
      pickupPoint: { id: 'GDA01M', name: 'Locker' },
      note: 'ring twice',
    }
    const stored = {
      email: 'new@b.example',
      shippingMethodId: method,
      note: 'ring twice',
      pickupPoint: { id: 'GDA01M', name: 'Locker' },
      shippingAddress: { ...ADDRESS, company: null, line2: null, state: null, phone: '+48 1' },
      billingAddress: {
        name: null,
        company: 'Acme',
        line1: null,
        line2: null,
        city: null,
        state: null,
        postalCode: null,
        country: null,
        phone: null,
      },
    }
    expect(made(await shop.patch(`/carts/${id}`, full))).toMatchObject(stored)
    expect(made(await shop.patch(`/carts/${id}`, {}))).toMatchObject(stored)
    expect(made(await shop.patch(`/carts/${id}`, { note: 'once' }))).toMatchObject({ ...stored, note: 'once' })
    expect(await cart(id)).toMatchObject({ ...stored, note: 'once' })
  })

  test('null clears every field that may be null', async () => {
    const method = await shop.method()
    const { id } = await shop.cart()
    await shop.patch(`/carts/${id}`, {
      email: 'a@b.example',
      shippingAddress: ADDRESS,
      billingAddress: ADDRESS,
      shippingMethodId: method,
      pickupPoint: { id: 'x' },
      note: 'x',
    })
    const nothing = {
      email: null,
      shippingAddress: null,
      billingAddress: null,
      shippingMethodId: null,
      pickupPoint: null,
      pickupLocationId: null,
      note: null,
    }
    expect(made(await shop.patch(`/carts/${id}`, nothing))).toMatchObject(nothing)
    expect(await cart(id)).toMatchObject(nothing)
  })

  test.each([
    ['email', { email: 'nobody' }],
    ['email', { email: 'a@b@c' }],
    ['shippingAddress', { shippingAddress: 'Main Street' }],
    ['shippingAddress.country', { shippingAddress: { country: 'Poland' } }],
    ['billingAddress.line1', { billingAddress: { line1: 5 } }],
    ['shippingAddress.line1', { shippingAddress: { line1: 'x'.repeat(201) } }],
    ['shippingMethodId', { shippingMethodId: 'courier' }],
    ['shippingMethodId', { shippingMethodId: NOBODY }],
    ['pickupPoint', { pickupPoint: 'locker' }],
    ['pickupLocationId', { pickupLocationId: NOBODY }],
    ['currency', { currency: 'eur' }],
    ['currency', { currency: null }],
    ['note', { note: 5 }],
    ['note', { note: 'x'.repeat(2001) }],
  ])('PATCH: %s is 400 in %j', async (path, body) => {
    const before = await shop.cart()
    expect(paths(await shop.patch(`/carts/${before.id}`, body))).toContain(path)
    expect(await cart(before.id)).toEqual(before)
  })

  test('DELETE answers with what was deleted, and then the cart is gone', async () => {
    const { id } = await shop.cart()
    expect((await shop.remove(`/carts/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.get(`/carts/${id}`)).status).toBe(404)
    expect((await shop.remove(`/carts/${id}`)).status).toBe(404)
  })

  test('has an ETag: unchanged is 304, and a change based on an old one is 412', async () => {
    const { id } = await shop.cart()
    const etag = (await shop.get(`/carts/${id}`)).headers.get('etag')!
    expect((await shop.get(`/carts/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await shop.patch(`/carts/${id}`, { note: 'first' }, { headers: { 'if-match': etag } })).status).toBe(200)
    expect((await shop.patch(`/carts/${id}`, { note: 'second' }, { headers: { 'if-match': etag } })).status).toBe(412)
    expect((await cart(id)).note).toBe('first')
  })

  test('expires cartTtlDays after the last change, and is 404 then', async () => {
    app.clock.now = new Date('2026-03-01T00:00:00.000Z')
    await shop.settings({ checkout: { cartTtlDays: 2 } })
    const { id, expiresAt } = await shop.cart()
    expect(expiresAt).toBe('2026-03-03T00:00:00.000Z')
    app.clock.advance(DAY)
    expect(made(await shop.patch(`/carts/${id}`, { note: 'x' })).expiresAt).toBe('2026-03-04T00:00:00.000Z')
    app.clock.advance(2 * DAY - 1)
    expect((await shop.get(`/carts/${id}`)).status).toBe(200)
    app.clock.advance(1)
    const variantId = await shop.variant()
    for (const { status } of [
      await shop.get(`/carts/${id}`),
      await shop.patch(`/carts/${id}`, {}),
      await shop.post(`/carts/${id}/items`, { variantId }),
      await shop.checkOut(id),
      await shop.remove(`/carts/${id}`),
    ])
      expect(status).toBe(404)
  })

  test('one that is an order never expires', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    const { order } = made(await shop.checkOut(id))
    app.clock.advance(400 * DAY)
    expect((await cart(id)).orderId).toBe(order.id)
    expect((await shop.checkOut(id)).body.orderId).toBe(order.id)
  })

  test('reading a cart does not keep it', async () => {
    const { id, expiresAt } = await shop.cart()
    app.clock.advance(DAY)
    expect((await cart(id)).expiresAt).toBe(expiresAt)
  })
})

describe('items', () => {
  test('POST puts a variant in, and the same variant adds up', async () => {
    const id = await shop.variant({ price: 2.5 })
    const empty = await shop.cart()
    const first = await shop.post(`/carts/${empty.id}/items`, { variantId: id })
    expect(first.status).toBe(201)
    const second = made(await shop.post(`/carts/${empty.id}/items`, { variantId: id, quantity: 4 }))
    expect(second.items).toEqual([{ ...first.body.items[0], quantity: 5, totalCents: 1250 }])
    expect(second).toMatchObject({ subtotalCents: 1250, totalCents: 1250 })
    expect(await cart(empty.id)).toEqual(second)
  })

  test('PATCH sets the quantity, and 0 removes the item', async () => {
    const [a, b] = [await shop.variant(), await shop.variant()]
    const {
      id,
      items: [first, second],
    } = await shop.cart([{ variantId: a, quantity: 2 }, { variantId: b }])
    expect(made(await shop.patch(`/carts/${id}/items/${first.id}`, { quantity: 7 })).items).toMatchObject([
      { id: first.id, quantity: 7 },
      { id: second.id, quantity: 1 },
    ])
    expect(made(await shop.patch(`/carts/${id}/items/${first.id}`, { quantity: 0 })).items).toMatchObject([{ id: second.id }])
    expect((await cart(id)).items).toHaveLength(1)
    expect((await shop.patch(`/carts/${id}/items/${first.id}`, { quantity: 1 })).status).toBe(404)
  })

  test('DELETE takes one item out and answers with the cart', async () => {
    const [a, b] = [await shop.variant(), await shop.variant()]
    const {
      id,
      items: [first, second],
    } = await shop.cart([{ variantId: a }, { variantId: b }])
    const { status, body } = await shop.remove(`/carts/${id}/items/${first.id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id, items: [{ id: second.id }], totalCents: 1000 })
    expect((await shop.remove(`/carts/${id}/items/${first.id}`)).status).toBe(404)
  })

  test.each([
    ['quantity', { quantity: 0 }],
    ['quantity', { quantity: -1 }],
    ['quantity', { quantity: 2.5 }],
    ['quantity', { quantity: '2' }],
    ['variantId', { variantId: 'x' }],
    ['variantId', { variantId: NOBODY }],
    ['bundleId', { variantId: undefined, bundleId: NOBODY }],
    ['variantId', { variantId: undefined }],
    ['variantId', { bundleId: NOBODY }],
    ['bookingSlotId', { bookingSlotId: NOBODY }],
    ['bookingSlotId', { bookingSlotId: 'x' }],
  ])('POST: %s is 400 for %j', async (path, change) => {
    const before = await shop.cart()
    expect(paths(await shop.post(`/carts/${before.id}/items`, { variantId: await shop.variant(), ...change }))).toEqual([path])
    expect(await cart(before.id)).toEqual(before)
  })

  test.each([-1, 1.5, '1', null, undefined, 10_001])('PATCH: a quantity of %j is 400', async (quantity) => {
    const {
      id,
      items: [item],
    } = await shop.cart([{ variantId: await shop.variant() }])
    expect(paths(await shop.patch(`/carts/${id}/items/${item.id}`, { quantity }))).toEqual(['quantity'])
  })

  test('a variant that needs a booking slot is 400 without one', async () => {
    const { id } = await shop.cart()
    expect(paths(await shop.post(`/carts/${id}/items`, { variantId: await shop.variant({ bookable: true }) }))).toEqual(['bookingSlotId'])
  })

  test.each([
    ['a draft', {}, { status: 'draft' }],
    ['hidden', {}, { status: 'hidden' }],
    ['not active', { active: false }, {}],
  ])('what is %s can not be bought', async (_, variant, product) => {
    const { id } = await shop.cart()
    for (const key of [shop.keys.admin, shop.keys.storefront])
      expect(paths(await shop.post(`/carts/${id}/items`, { variantId: await shop.variant(variant, product) }, { key }))).toEqual([
        'variantId',
      ])
  })

  test('out of stock is 409, also when it adds up to it, and leaves the cart as it was', async () => {
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    const before = await shop.cart([{ variantId, quantity: 2 }])
    expect((await shop.post(`/carts/${before.id}/items`, { variantId, quantity: 2 })).status).toBe(409)
    expect((await shop.patch(`/carts/${before.id}/items/${before.items[0].id}`, { quantity: 4 })).status).toBe(409)
    expect(await cart(before.id)).toEqual(before)
    expect((await shop.patch(`/carts/${before.id}/items/${before.items[0].id}`, { quantity: 3 })).status).toBe(200)
  })

  test('what orders hold is not in stock, carts hold nothing', async () => {
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    await shop.cart([{ variantId, quantity: 3 }])
    await shop.buy({ items: [{ variantId, quantity: 2 }] })
    const { id } = await shop.cart()
    expect((await shop.post(`/carts/${id}/items`, { variantId, quantity: 2 })).body).toMatchObject({ available: 1 })
    expect((await shop.post(`/carts/${id}/items`, { variantId, quantity: 1 })).status).toBe(201)
  })

  test('the same variant in a bundle and alone is counted together: stock 5, 3 and 3 are refused', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const bundleId = await shop.bundle([[variantId, 3]])
    const { id } = await shop.cart([{ variantId, quantity: 3 }])
    expect((await shop.post(`/carts/${id}/items`, { bundleId })).status).toBe(409)
    const other = made(await shop.post(`/carts/${(await shop.cart()).id}/items`, { bundleId }))
    expect((await shop.post(`/carts/${other.id}/items`, { variantId, quantity: 3 })).status).toBe(409)
    expect((await shop.post(`/carts/${other.id}/items`, { variantId, quantity: 2 })).status).toBe(201)
    expect((await shop.patch(`/carts/${other.id}/items/${other.items[0].id}`, { quantity: 2 })).status).toBe(409)
  })

  test('what is not tracked, or may be sold before it is there, never runs out', async () => {
    for (const stock of [{ tracked: false }, { quantity: 0, backorder: true }])
      expect((await shop.cart([{ variantId: await shop.variant({ stock }), quantity: 9999 }])).items[0].quantity).toBe(9999)
  })

  test('fewer can be asked for although there is not enough any more', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const {
      id,
      items: [item],
    } = await shop.cart([{ variantId, quantity: 5 }])
    await shop.patch(`/inventory/${variantId}`, { quantity: 1 })
    const less = made(await shop.patch(`/carts/${id}/items/${item.id}`, { quantity: 2 }))
    expect([less.items[0].quantity, codes(less)]).toEqual([2, ['out_of_stock']])
    expect(codes(made(await shop.patch(`/carts/${id}/items/${item.id}`, { quantity: 1 })))).toEqual([])
  })

  test('more of what is no longer sold is 409: the request names nothing that is missing', async () => {
    const {
      id,
      items: [item],
    } = await shop.cart([{ variantId: await shop.variant(), quantity: 3 }])
    await shop.patch(`/products/${item.productId}`, { status: 'draft' })
    expect((await shop.patch(`/carts/${id}/items/${item.id}`, { quantity: 4 })).status).toBe(409)
    expect(made(await shop.patch(`/carts/${id}/items/${item.id}`, { quantity: 2 })).items[0].quantity).toBe(2)
  })

  test('a new cart takes all that can be changed later, items and coupons', async () => {
    const variantId = await shop.variant({ shippable: true })
    const [shippingMethodId, { code }, { code: other }] = [await shop.method(), await shop.coupon(), await shop.coupon({ value: 20 })]
    const pickupLocationId = made(
      await shop.post('/pickup-locations', {
        name: 'Shop',
        label: 'shop',
        phone: '+48 58 1',
        line1: 'Długa 1',
        city: 'Gdańsk',
        postalCode: '80-831',
        country: 'PL',
      }),
    ).id
    const all = {
      email: 'ada@example.com',
      shippingAddress: ADDRESS,
      billingAddress: { ...ADDRESS, country: 'DE' },
      shippingMethodId,
      pickupLocationId,
      pickupPoint: { id: 'WAW01' },
      note: 'Ring twice',
    }
    const body = { ...all, items: [{ variantId }], coupons: [code, { code: other, discountCents: 5 }] }
    const created = made(await shop.post('/carts', body))
    expect(created).toMatchObject({
      ...all,
      coupons: [
        { code, discountCents: 100 },
        { code: other, discountCents: 180 },
      ],
      shippingCents: 500,
      totalCents: 1_220,
    })
    expect(await cart(created.id)).toEqual(created)
  })

  test.each<[number, string, (from: { variantId: string; code: string; dear: string }) => object]>([
    [404, 'coupon', ({ code }) => ({ coupons: [code, 'NONE'] })],
    [409, 'the coupon covers no product in the cart', ({ code }) => ({ items: [], coupons: [code] })],
    [409, 'the cart has too few products for the coupon: it needs 3', ({ code, dear }) => ({ coupons: [code, dear] })],
    [400, 'coupons', () => ({ coupons: Array.from({ length: 11 }, (_, i) => `C${i}`) })],
    [400, 'coupons', () => ({ coupons: [5] })],
    [400, 'email', () => ({ email: 'nobody' })],
    [400, 'shippingAddress', () => ({ shippingAddress: { country: 'XX' } })],
    [400, 'shippingMethodId', () => ({ shippingMethodId: NOBODY })],
    [400, 'pickupLocationId', () => ({ pickupLocationId: NOBODY })],
    [400, 'pickupPoint', () => ({ pickupPoint: { id: 'x'.repeat(5_000) } })],
    [400, 'currency', () => ({ currency: 'eur' })],
  ])('a new cart with a wrong part is %d %s, and there is no cart', async (status, said, wrongPart) => {
    const variantId = await shop.variant()
    const { code } = await shop.coupon()
    const dear = (await shop.coupon({ minProductCount: 3 })).code
    const answer = await shop.post('/carts', { items: [{ variantId }], ...wrongPart({ variantId, code, dear }) })
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(said)])
    expect(await shop.rows(sql`select count(*) from carts`)).toEqual([[0]])
  })

  test('a currency that is not enabled is refused with where to enable it', async () => {
    const refused = await shop.post('/carts', { currency: 'EUR' })
    expect([paths(refused), refused.body.details[0].message]).toEqual([
      ['currency'],
      'is not an enabled currency of the store: PATCH /settings enables a currency by its name in enabledCurrencies',
    ])
    expect((await shop.post('/carts', { currency: 'zzz' })).body.details[0].message).toBe('is not a currency of ISO 4217')
  })

  test('what is short tells which variant, and how many are left', async () => {
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    const short = { variantId, available: 3 }
    const { id, items } = await shop.cart([{ variantId, quantity: 2 }])
    expect((await shop.post(`/carts/${id}/items`, { variantId, quantity: 2 })).body).toMatchObject(short)
    expect((await shop.patch(`/carts/${id}/items/${items[0].id}`, { quantity: 4 })).body).toMatchObject(short)
    expect((await shop.post('/carts', { items: [{ variantId, quantity: 4 }] })).body).toMatchObject(short)
    made(await shop.patch(`/inventory/${variantId}`, { quantity: 1 }))
    expect(await cart(id)).toMatchObject({ warnings: [{ code: 'out_of_stock', variantId, available: 1 }] })
    const refused = await shop.checkOut(id)
    expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ error: 'sold out', variantId, available: 1 })])
  })

  test('promotions stand beside coupons, in carts and in the orders they become', async () => {
    const variantId = await shop.variant({ shippable: true, price: 100 })
    const shippingMethodId = await shop.method()
    const [sale, free] = [
      await shop.promotion({ name: 'Ten off', priority: 2 }),
      await shop.promotion({ name: 'Free', type: 'free_shipping', value: undefined }),
    ]
    await shop.promotion({ name: 'Other', active: false })
    const { code } = await shop.coupon()
    const body = { items: [{ variantId }], coupons: [code], shippingMethodId, shippingAddress: ADDRESS }
    const promotions = [
      { id: sale.id, name: 'Ten off', discountCents: 1_000 },
      { id: free.id, name: 'Free', discountCents: 0 },
    ]
    const created = made(await shop.post('/carts', body))
    expect(created).toMatchObject({ promotions, coupons: [{ discountCents: 900 }], discountCents: 1_900, shippingCents: 0 })
    const { order } = made(await shop.checkOut(created.id))
    expect(order.promotions).toEqual(promotions)
    // An order tells what was given, whatever becomes of the promotion.
    made(await shop.remove(`/promotions/${sale.id}`))
    expect((await shop.order(order.id)).promotions).toEqual(promotions)
    expect((await cart(created.id)).promotions).toEqual(promotions)
    // One that was bought before carts told has none.
    await shop.change(sql`update carts set placed = json_remove(placed, '$.promotions') where id = ${created.id}`)
    expect((await cart(created.id)).promotions).toEqual([])
  })

  test('a cart holds at most 500 lines, the parts of bundles counted', async () => {
    const many = async (count: number) =>
      made(
        await shop.post('/products', {
          name: 'Many',
          status: 'published',
          variants: Array.from({ length: count }, () => ({ price: 1, shippable: false, stock: { tracked: false } })),
        }),
      ).variants.map((variant: { id: string }) => variant.id)
    const ids: string[] = (await Promise.all([200, 200, 100].map(many))).flat()
    const items = ids.map((variantId) => ({ variantId }))
    const more = { variantId: await shop.variant() }
    const full = await shop.cart(items)
    expect([full.items.length, full.totalCents]).toEqual([500, 50_000])
    expect(made(await shop.post(`/carts/${full.id}/items`, items[0])).items.length).toBe(500)
    const refused = await shop.post(`/carts/${full.id}/items`, more)
    expect([paths(refused), refused.body.details[0].message]).toEqual([['variantId'], 'a cart holds at most 500 lines'])
    expect(paths(await shop.post('/carts', { items: [...items, more] }))).toEqual(['items'])

    const bundleId = await shop.bundle(ids.slice(0, 2).map((id) => [id, 1]))
    const { id } = await shop.cart(items.slice(0, 498))
    made(await shop.post(`/carts/${id}/items`, { bundleId }))
    expect(paths(await shop.post(`/carts/${id}/items`, more))).toEqual(['variantId'])
    // A bundle that grows later is told, and not sold with a part of it.
    const parts = ids.slice(0, 3).map((variantId) => ({ variantId, quantity: 1, position: 0 }))
    made(await shop.patch(`/bundles/${bundleId}`, { variants: parts }))
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ totalCents: 49_800, warnings: [{ code: 'too_many_lines' }] })
    expect((await shop.checkOut(id)).body).toMatchObject({ error: expect.stringContaining('at most 500 lines') })
  })

  test('a pickup point of more than 4 KB is 400, and nothing of the request is stored', async () => {
    const { id } = await shop.cart()
    const change = (name: string) => shop.patch(`/carts/${id}`, { note: name.slice(0, 5), pickupPoint: { name } })
    const point = (bytes: number) => 'x'.repeat(bytes - JSON.stringify({ name: '' }).length)
    const refused = await change(point(4_097))
    expect(refused.body.details).toEqual([
      { code: 'too_big', message: 'must be at most 4096 bytes of JSON', path: ['pickupPoint'], maximum: 4096 },
    ])
    expect(paths(await change('ł'.repeat(2_100)))).toEqual(['pickupPoint'])
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ pickupPoint: null, note: null })
    expect(made(await change(point(4_096))).pickupPoint.name.length).toBe(4_085)
    // One that was stored before there was a bound is not carried into an order.
    await shop.change(sql`update carts set pickup_point = ${JSON.stringify({ name: point(5_000) })} where id = ${id}`)
    made(await shop.post(`/carts/${id}/items`, { variantId: await shop.variant() }))
    expect(paths(await shop.checkOut(id))).toEqual(['pickupPoint'])
  })

  test('an item is found by its id in any case', async () => {
    const {
      id,
      items: [item],
    } = await shop.cart([{ variantId: await shop.variant() }])
    expect(made(await shop.patch(`/carts/${id}/items/${item.id.toUpperCase()}`, { quantity: 2 })).items[0].quantity).toBe(2)
    expect((await shop.remove(`/carts/${id}/items/${item.id.toUpperCase()}`)).status).toBe(200)
  })

  test('a cart that is worth more than can be counted exactly is 409', async () => {
    const items = []
    for (let i = 0; i < 6; i++) items.push({ variantId: await shop.variant({ price: 1e9, stock: { tracked: false } }), quantity: 10_000 })
    expect((await shop.cart(items.slice(0, 4))).totalCents).toBe(4e15)
    expect((await shop.post('/carts', { items })).status).toBe(409)
    expect((await shop.post('/orders', { customer: { email: 'ada@example.com' }, items })).status).toBe(409)
  })

  test('20 additions at once are all in', async () => {
    const variantId = await shop.variant()
    const { id } = await shop.cart()
    await Promise.all(Array.from({ length: 20 }, () => shop.post(`/carts/${id}/items`, { variantId })))
    expect((await cart(id)).items).toMatchObject([{ quantity: 20 }])
  })
})

describe('bundles in a cart', () => {
  test('are one item whose price is the sum of its parts, less the discount of the bundle', async () => {
    const [a, b] = [await shop.variant({ price: 3.33 }), await shop.variant({ price: 5 })]
    const bundleId = await shop.bundle(
      [
        [a, 2],
        [b, 1],
      ],
      10,
      { name: 'Breakfast', images: ['https://img.example/set.png'] },
    )
    const { id } = await shop.cart()
    const { status, body } = await shop.post(`/carts/${id}/items`, { bundleId, quantity: 2 })
    expect(status).toBe(201)
    // 2 × (2 × 3.33 + 5.00) = 23.32; 10 % of it is 2.332.
    expect(body.items).toEqual([
      {
        id: expect.any(String),
        variantId: null,
        productId: null,
        bundleId,
        name: 'Breakfast',
        image: 'https://img.example/set.png',
        quantity: 2,
        unitPriceCents: 1166,
        discountCents: 233,
        totalCents: 2099,
        bookingSlotId: null,
      },
    ])
    expect(body).toMatchObject({ subtotalCents: 2332, discountCents: 233, totalCents: 2099 })
    expect(made(await shop.post(`/carts/${id}/items`, { bundleId })).items).toMatchObject([{ bundleId, quantity: 3 }])
  })

  test.each([
    ['a draft', { status: 'draft' }],
    ['hidden', { status: 'hidden' }],
    ['empty', { variants: [] }],
  ])('one that is %s can not be bought', async (_, more) => {
    const { id } = await shop.cart()
    expect(paths(await shop.post(`/carts/${id}/items`, { bundleId: await shop.bundle([[await shop.variant(), 1]], 0, more) }))).toEqual([
      'bundleId',
    ])
  })

  test('one that has a part that is not sold can not be bought', async () => {
    const { id } = await shop.cart()
    const bundleId = await shop.bundle([
      [await shop.variant(), 1],
      [await shop.variant({ active: false }), 1],
    ])
    expect(paths(await shop.post(`/carts/${id}/items`, { bundleId }))).toEqual(['bundleId'])
  })

  test('the bundle and its variant alone are two items', async () => {
    const variantId = await shop.variant()
    const { id } = await shop.cart([{ variantId }])
    expect(made(await shop.post(`/carts/${id}/items`, { bundleId: await shop.bundle([[variantId, 1]]) })).items).toHaveLength(2)
  })
})

describe('currency', () => {
  beforeEach(() => shop.settings({ enabledCurrencies: ['usd', 'eur'] }))

  test('a variant without a price in the currency of the cart is refused, never converted', async () => {
    const variantId = await shop.variant()
    expect((await shop.post('/carts', { currency: 'eur', items: [{ variantId }] })).status).toBe(409)
    const { id } = await shop.cart([], { currency: 'eur' })
    expect((await shop.post(`/carts/${id}/items`, { variantId })).status).toBe(409)
    expect((await shop.post(`/carts/${id}/items`, { bundleId: await shop.bundle([[variantId, 1]]) })).status).toBe(409)
  })

  test('changing the currency prices the cart anew, or is 409 when something has no price in it', async () => {
    const [both, one] = [await shop.variant({ prices: { eur: 7 } }), await shop.variant()]
    const { id, items } = await shop.cart([{ variantId: both }, { variantId: one }])
    expect((await shop.patch(`/carts/${id}`, { currency: 'eur' })).status).toBe(409)
    expect(await cart(id)).toMatchObject({ currency: 'usd', totalCents: 2000 })
    await shop.remove(`/carts/${id}/items/${items[1].id}`)
    expect(made(await shop.patch(`/carts/${id}`, { currency: 'EUR' }))).toMatchObject({ currency: 'eur', totalCents: 700 })
  })

  test('a price that the merchant takes away is named in warnings and left out', async () => {
    const variantId = await shop.variant({ prices: { eur: 7 } })
    const { id, items } = await shop.cart([{ variantId }], { currency: 'eur' })
    await shop.patch(`/variants/${variantId}`, { prices: {} })
    const seen = await cart(id)
    expect(seen).toMatchObject({
      totalCents: 0,
      warnings: [{ code: 'no_price', itemId: items[0].id, message: expect.stringContaining('EUR') }],
    })
    expect((await shop.checkOut(id)).status).toBe(409)
  })

  test('a shipping method without a price in the currency of the cart is refused', async () => {
    const [dollars, both] = [await shop.method(), await shop.method({ currencyPrices: { eur: { price: 4 } } })]
    const { id } = await shop.cart([{ variantId: await shop.variant({ shippable: true, prices: { eur: 7 } }) }], { currency: 'eur' })
    expect((await shop.patch(`/carts/${id}`, { shippingMethodId: dollars })).status).toBe(409)
    expect((await shop.patch(`/carts/${id}`, { shippingMethodId: both, currency: 'gbp' })).status).toBe(400)
    expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId: both })).shippingCents).toBe(400)
    expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId: dollars, currency: 'usd' })).shippingCents).toBe(500)
    expect((await shop.patch(`/carts/${id}`, { shippingMethodId: dollars, currency: 'eur' })).status).toBe(409)
  })

  test('a shipping method that was chosen in another currency is named in warnings', async () => {
    const method = await shop.method()
    const { id } = await shop.cart([{ variantId: await shop.variant({ shippable: true, prices: { eur: 7 } }) }])
    await shop.patch(`/carts/${id}`, { shippingMethodId: method })
    expect(made(await shop.patch(`/carts/${id}`, { currency: 'eur' }))).toMatchObject({
      shippingCents: 0,
      warnings: [{ code: 'shipping_method' }],
    })
    expect((await shop.checkOut(id, { shippingAddress: ADDRESS })).status).toBe(409)
  })

  test('JPY has no minor units and KWD has three', async () => {
    const [jpy, kwd] = [await newShop(app, { currency: 'jpy' }), await newShop(app, { currency: 'kwd' })]
    expect(await jpy.cart([{ variantId: await jpy.variant({ price: 1500 }), quantity: 2 }])).toMatchObject({
      currency: 'jpy',
      totalCents: 3000,
      items: [{ unitPriceCents: 1500 }],
    })
    expect(await kwd.cart([{ variantId: await kwd.variant({ price: 1.234 }), quantity: 2 }])).toMatchObject({
      currency: 'kwd',
      totalCents: 2468,
      items: [{ unitPriceCents: 1234 }],
    })
    await jpy.coupon({ code: 'FIX', type: 'fixed', value: 500 })
    const { id } = await jpy.cart([{ variantId: await jpy.variant({ price: 1500 }) }])
    expect(made(await jpy.post(`/carts/${id}/coupons`, { code: 'FIX' })).totalCents).toBe(1000)
  })
})

describe('warnings', () => {
  test('say what is no longer sold, and price the cart without it', async () => {
    const [stays, goes] = [await shop.variant({ price: 10 }), await shop.variant({ price: 20 }, { name: 'Gone' })]
    const { id, items } = await shop.cart([{ variantId: stays }, { variantId: goes }])
    await shop.patch(`/products/${items[1].productId}`, { status: 'hidden' })
    expect(await cart(id)).toMatchObject({
      totalCents: 1000,
      items: [
        { id: items[0].id, totalCents: 1000 },
        { id: items[1].id, totalCents: 0 },
      ],
      warnings: [{ code: 'unavailable', itemId: items[1].id }],
    })
    await shop.remove(`/products/${items[1].productId}`)
    expect(await cart(id)).toMatchObject({ totalCents: 1000, warnings: [{ code: 'unavailable', itemId: items[1].id }] })
  })

  test('say what is out of stock, and how much is left', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } }, { name: 'Rare' })
    const { id } = await shop.cart([{ variantId, quantity: 5 }])
    await shop.buy({ items: [{ variantId, quantity: 3 }] })
    expect((await cart(id)).warnings).toEqual([
      { code: 'out_of_stock', variantId, message: expect.stringMatching(/Rare.*2/), available: 2 },
    ])
  })

  test('say why a coupon no longer applies', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    await shop.coupon({ code: 'MAY' })
    expect(made(await shop.post(`/carts/${id}/coupons`, { code: 'MAY' }))).toMatchObject({
      totalCents: 900,
      coupons: [{ code: 'MAY', discountCents: 100 }],
      warnings: [],
    })
    await shop.patch('/coupons/MAY', { code: 'MAY', type: 'percentage', value: 10, endDate: '2020-01-01T00:00:00Z' })
    expect(await cart(id)).toMatchObject({
      totalCents: 1000,
      coupons: [{ code: 'MAY', discountCents: 0 }],
      warnings: [{ code: 'coupon', coupon: 'MAY', message: expect.stringContaining('ended') }],
    })
  })

  test('say that a coupon was deleted; the cart costs more then, and can still be bought', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    for (const code of ['MAY', 'JUNE']) {
      await shop.coupon({ code })
      await shop.post(`/carts/${id}/coupons`, { code })
    }
    await shop.remove('/coupons/MAY')
    expect(await cart(id)).toMatchObject({
      totalCents: 900,
      coupons: [{ code: 'JUNE', discountCents: 100 }],
      warnings: [{ code: 'coupon', message: expect.stringContaining('no longer exists') }],
    })
    expect((await shop.checkOut(id, { expectedTotalCents: 810 })).body.code).toBe('price_changed')
    expect(made(await shop.checkOut(id, { expectedTotalCents: 900 })).order.coupons).toEqual([{ code: 'JUNE', discountCents: 100 }])
  })

  test('say that the shipping method is gone, or does not serve the country', async () => {
    const method = await shop.method({ countries: ['PL'] })
    const { id } = await shop.cart([{ variantId: await shop.variant({ shippable: true }) }])
    expect(codes(made(await shop.patch(`/carts/${id}`, { shippingMethodId: method, shippingAddress: ADDRESS })))).toEqual([])
    expect(codes(made(await shop.patch(`/carts/${id}`, { shippingAddress: { ...ADDRESS, country: 'DE' } })))).toEqual(['shipping_method'])
    await shop.remove(`/shipping/${method}`)
    expect(await cart(id)).toMatchObject({ shippingCents: 0, warnings: [{ code: 'shipping_method' }] })
  })
})

describe('taxes', () => {
  test('come out of the price where they are included, and on top of it where they are not', async () => {
    await shop.post('/tax-rates', { name: 'VAT', rate: 23, default: true })
    const method = await shop.method({ price: 12.3 })
    const { id } = await shop.cart([{ variantId: await shop.variant({ price: 24.6, shippable: true }) }])
    await shop.patch(`/carts/${id}`, { shippingMethodId: method })
    expect(await cart(id)).toMatchObject({
      subtotalCents: 2460,
      shippingCents: 1230,
      taxCents: 460 + 230,
      totalCents: 3690,
      items: [{ totalCents: 2460 }],
    })
    await shop.settings({ taxesIncluded: false })
    // 23 % of 24.60 is 5.658, of 12.30 2.829: each line is rounded.
    expect(await cart(id)).toMatchObject({
      subtotalCents: 2460,
      shippingCents: 1230,
      taxCents: 566 + 283,
      totalCents: 3690 + 849,
      items: [{ totalCents: 2460 }],
    })
  })

  test('are those of the country that the cart is sent to', async () => {
    await shop.settings({ taxesIncluded: false })
    for (const [rate, countries] of [
      [23, ['PL']],
      [19, ['DE']],
    ] as const)
      await shop.post('/tax-rates', { name: `VAT ${rate}`, rate, countries, default: true })
    const { id } = await shop.cart([{ variantId: await shop.variant({ price: 100 }) }])
    for (const [country, tax] of [
      ['PL', 2300],
      ['DE', 1900],
      ['US', 0],
    ] as const)
      expect(made(await shop.patch(`/carts/${id}`, { shippingAddress: { ...ADDRESS, country } })).taxCents).toBe(tax)
  })

  test('a variant with a rate of its own has that one', async () => {
    await shop.settings({ taxesIncluded: false })
    await shop.post('/tax-rates', { name: 'VAT', rate: 23, default: true })
    const books = made(await shop.post('/tax-rates', { name: 'Books', rate: 5 })).id
    expect(
      await shop.cart([
        { variantId: await shop.variant({ price: 10, taxRateId: books }) },
        { variantId: await shop.variant({ price: 10 }) },
      ]),
    ).toMatchObject({ taxCents: 50 + 230, totalCents: 2280 })
  })
})

describe('coupons of a cart', () => {
  const add = (id: string, code: string) => shop.post(`/carts/${id}/coupons`, { code })
  const withOne = async () => (await shop.cart([{ variantId: await shop.variant() }])).id as string

  test('POST uses one, and using it again changes nothing', async () => {
    await shop.coupon({ code: 'TEN' })
    const id = await withOne()
    const first = await add(id, 'TEN')
    expect([first.status, first.body.coupons, first.body.totalCents]).toEqual([201, [{ code: 'TEN', discountCents: 100 }], 900])
    expect(made(await add(id, ' TEN '))).toMatchObject({ coupons: [{ code: 'TEN', discountCents: 100 }], totalCents: 900 })
  })

  test('several apply in the order in which they were added', async () => {
    await shop.coupon({ code: 'FIVE', type: 'fixed', value: 5 })
    await shop.coupon({ code: 'HALF', value: 50 })
    const [a, b] = [await withOne(), await withOne()]
    for (const code of ['FIVE', 'HALF']) await add(a, code)
    for (const code of ['HALF', 'FIVE']) await add(b, code)
    expect(await cart(a)).toMatchObject({
      coupons: [
        { code: 'FIVE', discountCents: 500 },
        { code: 'HALF', discountCents: 250 },
      ],
      discountCents: 750,
      totalCents: 250,
    })
    expect(await cart(b)).toMatchObject({
      coupons: [
        { code: 'HALF', discountCents: 500 },
        { code: 'FIVE', discountCents: 500 },
      ],
      discountCents: 1000,
      totalCents: 0,
    })
  })

  test('a cart takes at most 10', async () => {
    const id = await withOne()
    for (let i = 0; i < 11; i++) {
      await shop.coupon({ code: `N${i}`, value: 1 })
      expect((await add(id, `N${i}`)).status).toBe(i < 10 ? 201 : 409)
    }
    expect((await cart(id)).coupons).toHaveLength(10)
  })

  test('DELETE takes it off; one that is not on the cart is 404', async () => {
    await shop.coupon({ code: 'TEN' })
    const id = await withOne()
    expect((await shop.remove(`/carts/${id}/coupons/TEN`)).status).toBe(404)
    await add(id, 'TEN')
    expect((await shop.remove(`/carts/${id}/coupons/ten`)).status).toBe(404)
    const { status, body } = await shop.remove(`/carts/${id}/coupons/TEN`)
    expect([status, body.coupons, body.totalCents]).toEqual([200, [], 1000])
  })

  test('an unknown code is 404, one of another store too, and case counts', async () => {
    await (await newShop(app)).coupon({ code: 'THEIRS' })
    await shop.coupon({ code: 'Ours' })
    const id = await withOne()
    for (const code of ['THEIRS', 'NONE', 'OURS', 'ours']) expect([(await add(id, code)).status, code]).toEqual([404, code])
    expect((await add(id, 'Ours')).status).toBe(201)
  })

  test.each([{}, { code: '' }, { code: null }, { code: 5 }, { code: 'x'.repeat(201) }])('%j is 400 at code', async (body) => {
    expect(paths(await shop.post(`/carts/${await withOne()}/coupons`, body))).toEqual(['code'])
  })

  test.each([
    ['not started', { startDate: '2999-01-01T00:00:00Z' }, /not started/],
    ['ended', { endDate: '2020-01-01T00:00:00Z' }, /ended/],
    ['too few products', { minProductCount: 2 }, /too few products/],
    ['too many products', { maxProductCount: 0 }, /too many products/],
  ])('%s is 409 and says so', async (_, rule, reason) => {
    await shop.coupon({ code: 'NO', ...rule })
    const id = await withOne()
    const { status, body } = await add(id, 'NO')
    expect([status, body.error]).toEqual([409, expect.stringMatching(reason)])
    expect((await cart(id)).coupons).toEqual([])
  })

  test('used up is 409 and says so', async () => {
    await shop.coupon({ code: 'ONCE', maxUses: 1 })
    await shop.buy({ items: [{ variantId: await shop.variant() }], coupons: ['ONCE'] })
    const { status, body } = await add(await withOne(), 'ONCE')
    expect([status, body.error]).toEqual([409, expect.stringContaining('used up')])
  })

  test('no product that it covers is 409 and says so; in an empty cart too', async () => {
    const covered = (await shop.cart([{ variantId: await shop.variant() }])).items[0]
    await shop.coupon({ code: 'OTHER', products: [covered.productId] })
    for (const id of [await withOne(), (await shop.cart()).id]) {
      const { status, body } = await add(id, 'OTHER')
      expect([status, body.error]).toEqual([409, expect.stringContaining('no product')])
    }
    await shop.coupon({ code: 'ANY' })
    expect((await add((await shop.cart()).id, 'ANY')).status).toBe(409)
  })

  test('minProductCount and maxProductCount count units', async () => {
    await shop.coupon({ code: 'BETWEEN', minProductCount: 2, maxProductCount: 3 })
    const variantId = await shop.variant()
    for (const [quantity, status] of [
      [1, 409],
      [2, 201],
      [3, 201],
      [4, 409],
    ] as const)
      expect([quantity, (await add((await shop.cart([{ variantId, quantity }])).id, 'BETWEEN')).status]).toEqual([quantity, status])
  })

  test('a window holds from its first millisecond to the one before its end', async () => {
    const [start, end] = ['2026-05-01T10:00:00.000Z', '2026-05-02T10:00:00.000Z']
    app.clock.now = new Date('2026-04-30T00:00:00.000Z')
    await shop.coupon({ code: 'MAY', startDate: start, endDate: end })
    const id = await withOne()
    for (const [at, status] of [
      [Date.parse(start) - 1, 409],
      [Date.parse(start), 201],
      [Date.parse(end) - 1, 201],
      [Date.parse(end), 409],
    ] as const) {
      app.clock.now = new Date(at)
      expect([new Date(at).toISOString(), (await add(id, 'MAY')).status]).toEqual([new Date(at).toISOString(), status])
      if (status === 201) expect((await cart(id)).totalCents).toBe(900)
      await shop.remove(`/carts/${id}/coupons/MAY`)
    }
  })

  test('a fixed coupon has its own amount in another currency, or none', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur', 'gbp'] })
    await shop.coupon({ code: 'FIVE', type: 'fixed', value: 5, currencyAmounts: { eur: 4.5 } })
    const variantId = await shop.variant({ prices: { eur: 10, gbp: 10 } })
    for (const [currency, total] of [
      ['usd', 500],
      ['eur', 550],
    ] as const)
      expect(made(await add((await shop.cart([{ variantId }], { currency })).id, 'FIVE')).totalCents).toBe(total)
    expect((await add((await shop.cart([{ variantId }], { currency: 'gbp' })).id, 'FIVE')).status).toBe(409)
  })

  test('never takes off more than what it covers costs', async () => {
    const {
      id,
      items: [a],
    } = await shop.cart([{ variantId: await shop.variant({ price: 3 }) }, { variantId: await shop.variant({ price: 7 }) }])
    await shop.coupon({ code: 'BIG', type: 'fixed', value: 50, products: [a.productId] })
    expect(made(await add(id, 'BIG'))).toMatchObject({
      discountCents: 300,
      totalCents: 700,
      items: [
        { discountCents: 300, totalCents: 0 },
        { discountCents: 0, totalCents: 700 },
      ],
    })
  })

  test.each(['50%', 'A+B', 'C#1', 'WHAT?', 'a&b=c', '🎉PARTY', 'DANKEFÜR', '%25', '"quoted"', "o'clock", 'back\\slash'])(
    'the code %s goes through the path',
    async (code) => {
      await shop.coupon({ code })
      const id = await withOne()
      expect(made(await add(id, code)).coupons).toEqual([{ code, discountCents: 100 }])
      expect((await shop.remove(`/carts/${id}/coupons/${encodeURIComponent(code)}`)).body.coupons).toEqual([])
    },
  )

  test('a code is the same however its letters are composed', async () => {
    await shop.coupon({ code: 'DANKEFU\u0308R' })
    const id = await withOne()
    expect(made(await add(id, 'DANKEF\u00dcR')).coupons).toEqual([{ code: 'DANKEF\u00dcR', discountCents: 100 }])
    expect((await shop.remove(`/carts/${id}/coupons/${encodeURIComponent('DANKEFU\u0308R')}`)).status).toBe(200)
  })
})

describe('the currency of an answer', () => {
  test('prices a cart in another enabled currency, and leaves the cart as it is', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const { id } = await shop.cart([{ variantId: await shop.variant({ prices: { eur: 9 } }) }])
    expect(made(await shop.get(`/carts/${id}?currency=EUR`))).toMatchObject({ currency: 'eur', totalCents: 900 })
    expect(made(await shop.get(`/carts/${id}`))).toMatchObject({ currency: 'usd', totalCents: 1000 })
    expect(paths(await shop.get(`/carts/${id}?currency=gbp`))).toEqual(['currency'])
  })

  test('is the currency of a new cart that names none', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    expect(made(await shop.post('/carts?currency=eur')).currency).toBe('eur')
    expect(made(await shop.post('/carts?currency=eur', { currency: 'usd' })).currency).toBe('usd')
  })
})

test('what names nothing of the store is refused before what is out of stock', async () => {
  const items = [{ variantId: await shop.variant(), quantity: 9_999 }, { variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002' }]
  expect(paths(await shop.post('/carts', { items }))).toEqual(['items.1.variantId'])
})

describe('a coupon that was deleted while it was in a cart', () => {
  const cartWithout = async () => {
    const { code } = await shop.coupon()
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    made(await shop.post(`/carts/${id}/coupons`, { code }))
    made(await shop.remove(`/coupons/${code}`))
    expect(made(await shop.get(`/carts/${id}`)).warnings).toHaveLength(1)
    return { id, code }
  }

  test('can be taken off by its code', async () => {
    const { id, code } = await cartWithout()
    expect(made(await shop.remove(`/carts/${id}/coupons/${code}`)).warnings).toEqual([])
    expect((await shop.remove(`/carts/${id}/coupons/${code}`)).status).toBe(404)
  })

  test('makes room for another one', async () => {
    const { id } = await cartWithout()
    const { code } = await shop.coupon()
    expect(made(await shop.post(`/carts/${id}/coupons`, { code }))).toMatchObject({ coupons: [{ code }], warnings: [] })
  })
})
