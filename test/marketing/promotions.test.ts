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

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const bare = { name: 'Sale', type: 'percentage', value: 10 }
const KINDS = {
  percentage: bare,
  fixed: { name: 'Fixed', type: 'fixed', value: 5 },
  buy_x_get_y: { name: 'Two for one', type: 'buy_x_get_y', buyQuantity: 1, getQuantity: 1 },
  volume: { name: 'Many', type: 'volume', tiers: [{ minQuantity: 3, percentage: 10 }] },
  free_shipping: { name: 'Free', type: 'free_shipping' },
} as const
const post = (body: unknown) => shop.post('/promotions', body)
const patch = (id: string, body: unknown) => shop.patch(`/promotions/${id}`, body)
const productOf = async (variantId: string) => made(await shop.get(`/variants/${variantId}`)).productId as string
const cartOf = (...items: [variantId: string, quantity?: number][]) =>
  shop.cart(items.map(([variantId, quantity = 1]) => ({ variantId, quantity })))

describe('POST /promotions', () => {
  test('a percentage needs name, type and value; the rest has defaults', async () => {
    const { status, body } = await post(bare)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      ...bare,
      currencyAmounts: {},
      buyQuantity: null,
      getQuantity: null,
      getDiscountPercentage: null,
      tiers: [],
      productIds: [],
      collectionIds: [],
      categoryIds: [],
      brandIds: [],
      startsAt: null,
      endsAt: null,
      active: true,
      priority: 0,
      stackable: true,
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
      updatedAt: body.createdAt,
    })
    expect((await shop.get(`/promotions/${body.id}`)).body).toEqual(body)
  })

  test.each(Object.entries(KINDS))('%s can be made, and reads back as it was written', async (_, body) => {
    expect(made(await post(body))).toMatchObject(body)
  })

  test('keeps every field', async () => {
    const product = await productOf(await shop.variant())
    const { body } = await post({
      ...KINDS.fixed,
      products: [product],
      currencyAmounts: { EUR: 4.5 },
      startsAt: '2026-05-01T00:00:00+02:00',
      endsAt: '2026-06-01T00:00:00Z',
      active: false,
      priority: 7,
      stackable: false,
    })
    expect(body).toMatchObject({
      productIds: [product],
      currencyAmounts: { eur: 4.5 },
      startsAt: '2026-04-30T22:00:00.000Z',
      endsAt: '2026-06-01T00:00:00.000Z',
      active: false,
      priority: 7,
      stackable: false,
    })
  })

  test('getDiscountPercentage is 100 unless told otherwise', async () => {
    expect(made(await post(KINDS.buy_x_get_y)).getDiscountPercentage).toBe(100)
    expect(made(await post({ ...KINDS.buy_x_get_y, getDiscountPercentage: 50 })).getDiscountPercentage).toBe(50)
  })

  test.each([
    ['name', { name: undefined }],
    ['name', { name: '' }],
    ['name', { name: null }],
    ['type', { type: undefined }],
    ['type', { type: 'gift' }],
    ['value', { value: undefined }],
    ['value', { value: null }],
    ['value', { value: 101 }],
    ['value', { value: -1 }],
    ['value', { value: '10' }],
    ['value', { value: 99.99996 }],
    ['getDiscountPercentage', { ...KINDS.buy_x_get_y, getDiscountPercentage: 0.00001 }],
    ['tiers.1.percentage', { ...KINDS.volume, tiers: [2, 3].map((n) => ({ minQuantity: n, percentage: n === 2 ? 5 : 5.00001 })) }],
    ['value', { type: 'fixed', value: 0 }],
    ['value', { type: 'fixed', value: undefined }],
    ['value', { type: 'fixed', value: 1.999 }],
    ['buyQuantity', { ...KINDS.buy_x_get_y, buyQuantity: undefined }],
    ['getQuantity', { ...KINDS.buy_x_get_y, getQuantity: null }],
    ['buyQuantity', { ...KINDS.buy_x_get_y, buyQuantity: 0 }],
    ['getQuantity', { ...KINDS.buy_x_get_y, getQuantity: 1.5 }],
    ['getDiscountPercentage', { ...KINDS.buy_x_get_y, getDiscountPercentage: 101 }],
    ['tiers', { ...KINDS.volume, tiers: undefined }],
    ['tiers', { ...KINDS.volume, tiers: [] }],
    ['tiers.0.minQuantity', { ...KINDS.volume, tiers: [{ minQuantity: 0, percentage: 10 }] }],
    ['tiers.0.percentage', { ...KINDS.volume, tiers: [{ minQuantity: 1, percentage: 101 }] }],
    ['tiers.0.percentage', { ...KINDS.volume, tiers: [{ minQuantity: 1 }] }],
    ['startsAt', { startsAt: '2026-02-30T00:00:00Z' }],
    ['endsAt', { endsAt: 'never' }],
    ['endsAt', { startsAt: '2026-05-01T00:00:00Z', endsAt: '2026-05-01T00:00:00Z' }],
    ['active', { active: 'yes' }],
    ['active', { active: null }],
    ['priority', { priority: 1.5 }],
    ['stackable', { stackable: null }],
    ['products.0', { products: [NOBODY] }],
    ['collections.0', { collections: [NOBODY] }],
    ['categories.0', { categories: [NOBODY] }],
    ['brands.0', { brands: [NOBODY] }],
    ['brands', { brands: null }],
    ['currencyAmounts.xyz', { ...KINDS.fixed, currencyAmounts: { xyz: 1 } }],
    ['currencyAmounts.EUR', { ...KINDS.fixed, currencyAmounts: { eur: 1, EUR: 2 } }],
    ['currencyAmounts.USD', { ...KINDS.fixed, currencyAmounts: { USD: 1 } }],
    ['currencyAmounts', { currencyAmounts: { eur: 5 } }],
    ['currencyAmounts', { ...KINDS.free_shipping, currencyAmounts: { eur: 5 } }],
    [
      'tiers.1.minQuantity',
      {
        ...KINDS.volume,
        tiers: [
          { minQuantity: 3, percentage: 10 },
          { minQuantity: 3, percentage: 20 },
        ],
      },
    ],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await post({ ...bare, ...change }))).toEqual([path])
    expect((await shop.get('/promotions')).body.meta.count).toBe(0)
  })

  test.each([
    [{ value: undefined }, [{ code: 'required', path: ['value'] }]],
    [{ value: null }, [{ code: 'required', path: ['value'] }]],
    [{ type: 'fixed', value: undefined }, [{ code: 'required', path: ['value'] }]],
    [
      { type: 'buy_x_get_y' },
      [
        { code: 'required', path: ['buyQuantity'] },
        { code: 'required', path: ['getQuantity'] },
      ],
    ],
    [{ type: 'buy_x_get_y', buyQuantity: 1 }, [{ code: 'required', path: ['getQuantity'] }]],
    [{ type: 'volume' }, [{ code: 'required', path: ['tiers'] }]],
    [{ type: 'volume', tiers: [] }, [{ code: 'too_small', path: ['tiers'], minimum: 1 }]],
    [{ value: 101 }, [{ code: 'too_big', path: ['value'], maximum: 100 }]],
    [{ value: -0.5 }, [{ code: 'too_small', path: ['value'], minimum: 0 }]],
    [{ type: 'fixed', value: 0 }, [{ code: 'too_small', path: ['value'], minimum: 0 }]],
    [{ type: 'fixed', value: -1 }, [{ code: 'too_small', path: ['value'], minimum: 0 }]],
    [{ ...KINDS.fixed, currencyAmounts: { eur: 0 } }, [{ code: 'too_small', path: ['currencyAmounts', 'eur'], minimum: 0 }]],
    [
      { ...KINDS.volume, tiers: [{ minQuantity: 1, percentage: 100.5 }] },
      [{ code: 'too_big', path: ['tiers', '0', 'percentage'], maximum: 100 }],
    ],
    [{ ...KINDS.buy_x_get_y, getDiscountPercentage: -1 }, [{ code: 'too_small', path: ['getDiscountPercentage'], minimum: 0 }]],
  ])('%j lacks what its type needs, or is outside of its limits: the answer names which', async (change, details) => {
    const { status, body } = await post({ ...bare, ...change })
    expect([status, body.details]).toEqual([400, details.map((detail) => ({ ...detail, message: expect.any(String) }))])
  })

  test('needs marketing:write, and reading needs marketing:read', async () => {
    const [reader, writer] = [await shop.keyWith('marketing:read'), await shop.keyWith('marketing:write')]
    const { id } = made(await post(bare))
    for (const path of ['/promotions', `/promotions/${id}`])
      expect([
        (await shop.get(path, { key: reader })).status,
        (await shop.get(path, { key: writer })).status,
        (await shop.get(path, { key: shop.keys.storefront })).status,
      ]).toEqual([200, 403, 403])
    for (const answer of [
      await shop.post('/promotions', bare, { key: reader }),
      await shop.patch(`/promotions/${id}`, {}, { key: reader }),
      await shop.remove(`/promotions/${id}`, { key: reader }),
    ])
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining('marketing:write')])
  })
})

describe('GET, PATCH, DELETE /promotions', () => {
  test('lists newest first, with the count of all', async () => {
    for (let i = 0; i < 5; i++) await post({ ...bare, name: `P${i}`, active: i % 2 === 0 })
    const { body } = await shop.get('/promotions?limit=2')
    expect([body.data.map(({ name }: any) => name), body.meta]).toEqual([['P4', 'P3'], { count: 5, offset: 0, limit: 2 }])
    expect((await shop.get('/promotions?offset=4')).body.data).toMatchObject([{ name: 'P0' }])
    expect((await shop.get('/promotions?active=false')).body.meta.count).toBe(2)
  })

  test('currency shows fixed amounts as the merchant set them in it, and leaves out those without one', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur', 'jpy'] })
    const both = made(await post({ ...KINDS.fixed, currencyAmounts: { eur: 4.25, jpy: 700 } }))
    const others = []
    for (const kind of ['percentage', 'buy_x_get_y', 'volume', 'free_shipping'] as const) others.unshift(made(await post(KINDS[kind])))
    const dollars = made(await post({ ...KINDS.fixed, active: false }))
    for (const [currency, listed] of [
      ['eur', [...others, { ...both, value: 4.25 }]],
      ['JPY', [...others, { ...both, value: 700 }]],
      ['usd', [dollars, ...others, both]],
    ] as const) {
      expect((await shop.get(`/promotions?currency=${currency}`)).body).toEqual({
        data: listed,
        meta: { count: listed.length, offset: 0, limit: 50 },
      })
      for (const promotion of listed) expect((await shop.get(`/promotions/${promotion.id}?currency=${currency}`)).body).toEqual(promotion)
    }
    expect((await shop.get('/promotions?currency=eur&active=false')).body).toMatchObject({ data: [], meta: { count: 0 } })
    const absent = await shop.get(`/promotions/${dollars.id}?currency=eur`)
    expect([absent.status, absent.body]).toEqual([404, expect.objectContaining({ error: 'promotion not found' })])
  })

  test.each(['zzz', 'gbp', 'euro', ''])('?currency=%s is 400 at currency: not enabled', async (currency) => {
    const { id } = made(await post(bare))
    for (const path of ['/promotions', `/promotions/${id}`])
      expect(paths(await shop.get(`${path}?currency=${currency}`))).toEqual(['currency'])
  })

  test('PATCH changes what is named and nothing else', async () => {
    const product = await productOf(await shop.variant())
    const before = made(
      await post({
        ...KINDS.fixed,
        products: [product],
        currencyAmounts: { eur: 4 },
        startsAt: '2026-05-01T00:00:00Z',
        priority: 3,
        stackable: false,
      }),
    )
    app.clock.now = new Date('2030-01-01T00:00:00.000Z')
    const { status, body } = await patch(before.id, { name: 'Renamed' })
    expect([status, body]).toEqual([200, { ...before, name: 'Renamed', updatedAt: '2030-01-01T00:00:00.000Z' }])
    expect(made(await patch(before.id, { value: 6, active: false, products: [], currencyAmounts: {}, startsAt: null }))).toMatchObject({
      value: 6,
      active: false,
      productIds: [],
      currencyAmounts: {},
      startsAt: null,
      priority: 3,
    })
    expect((await shop.get(`/promotions/${before.id}`)).body).toMatchObject({ name: 'Renamed', value: 6 })
  })

  test('the fields are checked together with those that are stored', async () => {
    const { id } = made(await post({ ...bare, startsAt: '2026-05-02T00:00:00Z' }))
    for (const [path, change] of [
      ['endsAt', { endsAt: '2026-05-01T00:00:00Z' }],
      ['value', { value: null }],
      ['value', { value: 101 }],
      ['buyQuantity', { type: 'buy_x_get_y', getQuantity: 1 }],
      ['tiers', { type: 'volume' }],
      ['name', { name: '' }],
      ['products.0', { products: [NOBODY] }],
    ] as const) {
      expect(paths(await patch(id, change))).toEqual([path])
    }
    expect(made(await patch(id, { type: 'volume', tiers: [{ minQuantity: 2, percentage: 5 }] }))).toMatchObject({
      type: 'volume',
      value: null,
      tiers: [{ minQuantity: 2, percentage: 5 }],
    })
  })

  test.each([
    ['fixed', { type: 'percentage' }, ['value']],
    ['percentage', { type: 'fixed' }, ['value']],
    ['fixed', { type: 'percentage', value: null }, ['value']],
    ['percentage', { type: 'buy_x_get_y' }, ['buyQuantity', 'getQuantity']],
    ['percentage', { type: 'volume' }, ['tiers']],
  ] as const)('a %s promotion becomes %j: what it needs must be in the same request', async (kind, change, needed) => {
    const before = made(await post(KINDS[kind]))
    const { status, body } = await patch(before.id, change)
    expect([status, body.details]).toEqual([400, needed.map((field) => ({ code: 'required', path: [field], message: expect.any(String) }))])
    expect((await shop.get(`/promotions/${before.id}`)).body).toEqual(before)
  })

  test('what it had for its type goes with the type, and does not come back with it', async () => {
    const { id } = made(await post({ ...KINDS.buy_x_get_y, getDiscountPercentage: 50 }))
    const none = { value: null, currencyAmounts: {}, buyQuantity: null, getQuantity: null, getDiscountPercentage: null, tiers: [] }
    expect(made(await patch(id, { type: 'fixed', value: 5, currencyAmounts: { eur: 4 } }))).toMatchObject({
      ...none,
      value: 5,
      currencyAmounts: { eur: 4 },
    })
    expect(made(await patch(id, { type: 'percentage', value: 20 }))).toMatchObject({ ...none, value: 20 })
    expect(made(await patch(id, { type: 'free_shipping' }))).toMatchObject(none)
    expect(paths(await patch(id, { type: 'buy_x_get_y' }))).toEqual(['buyQuantity', 'getQuantity'])
    expect(made(await patch(id, { type: 'buy_x_get_y', buyQuantity: 1, getQuantity: 1 }))).toMatchObject({ getDiscountPercentage: 100 })
    expect(made(await patch(id, { type: 'buy_x_get_y', buyQuantity: 2 }))).toMatchObject({ buyQuantity: 2, getQuantity: 1 })
  })

  test('PATCH refuses what POST does: amounts of a percentage, and tiers that are one', async () => {
    const { id } = made(await post(bare))
    const tier = { minQuantity: 2, percentage: 5 }
    expect(paths(await patch(id, { currencyAmounts: { eur: 5 } }))).toEqual(['currencyAmounts'])
    expect(paths(await patch(id, { type: 'volume', tiers: [tier, { ...tier, minQuantity: 3 }, tier] }))).toEqual(['tiers.2.minQuantity'])
    expect((await patch(id, { currencyAmounts: {} })).status).toBe(200)
  })

  test('DELETE removes it, and its discount', async () => {
    const { id } = made(await post(bare))
    const cart = await cartOf([await shop.variant()])
    expect(cart.totalCents).toBe(900)
    expect((await shop.remove(`/promotions/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.get(`/carts/${cart.id}`)).body.totalCents).toBe(1000)
    expect((await shop.remove(`/promotions/${id}`)).status).toBe(404)
  })
})

describe('in a cart', () => {
  test('a percentage comes off each line that it covers', async () => {
    const [covered, other] = [await shop.variant({ price: 3.33 }), await shop.variant()]
    await post({ ...bare, value: 10, products: [await productOf(covered)] })
    expect(await cartOf([covered, 3], [other])).toMatchObject({
      subtotalCents: 1999,
      discountCents: 100,
      totalCents: 1899,
      items: [
        { discountCents: 100, totalCents: 899 },
        { discountCents: 0, totalCents: 1000 },
      ],
    })
  })

  test('a fixed amount comes off all covered lines together, never more than they cost', async () => {
    const [a, b] = [await shop.variant({ price: 10 }), await shop.variant({ price: 5 })]
    await post({ ...KINDS.fixed, value: 1 })
    expect(await cartOf([a], [b])).toMatchObject({ discountCents: 100, items: [{ discountCents: 67 }, { discountCents: 33 }] })
    expect((await cartOf([await shop.variant({ price: 0.5 })])).totalCents).toBe(0)
  })

  test('a fixed amount has its own value in another currency, or none', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur', 'gbp'] })
    await post({ ...KINDS.fixed, value: 5, currencyAmounts: { eur: 3 } })
    const variantId = await shop.variant({ prices: { eur: 10, gbp: 10 } })
    for (const [currency, discountCents] of [
      ['usd', 500],
      ['eur', 300],
      ['gbp', 0],
    ] as const)
      expect(await shop.cart([{ variantId }], { currency })).toMatchObject({ discountCents })
  })

  test('buy_x_get_y: of each full group, dearest first, the last units are the free ones', async () => {
    await post({ ...KINDS.buy_x_get_y, buyQuantity: 2, getQuantity: 1 })
    const [dear, cheap] = [await shop.variant({ price: 10 }), await shop.variant({ price: 4 })]
    for (const [a, b, off] of [
      [1, 1, 0],
      [2, 0, 0],
      [3, 0, 1000],
      [5, 0, 1000],
      [6, 0, 2000],
      [2, 1, 400],
      [1, 2, 400],
      [4, 2, 1000 + 400],
    ] as const) {
      const cart = await cartOf(
        ...(
          [
            [dear, a],
            [cheap, b],
          ] as [string, number][]
        ).filter(([, quantity]) => quantity),
      )
      expect([a, b, cart.discountCents]).toEqual([a, b, off])
    }
  })

  test('buy_x_get_y can take a part off', async () => {
    await post({ ...KINDS.buy_x_get_y, getDiscountPercentage: 50 })
    expect((await cartOf([await shop.variant({ price: 10 }), 2])).discountCents).toBe(500)
  })

  test('volume: the best tier whose minQuantity is reached', async () => {
    await post({
      ...KINDS.volume,
      tiers: [
        { minQuantity: 5, percentage: 20 },
        { minQuantity: 3, percentage: 10 },
      ],
    })
    const variantId = await shop.variant({ price: 10 })
    for (const [quantity, off] of [
      [1, 0],
      [2, 0],
      [3, 300],
      [4, 400],
      [5, 1000],
      [50, 10_000],
    ] as const)
      expect([quantity, (await cartOf([variantId, quantity])).discountCents]).toEqual([quantity, off])
  })

  test('free_shipping: shipping costs nothing while it covers something', async () => {
    const [covered, other] = [await shop.variant({ shippable: true }), await shop.variant({ shippable: true })]
    await post({ ...KINDS.free_shipping, products: [await productOf(covered)] })
    const shippingMethodId = await shop.method({ price: 5 })
    for (const [variantId, cents] of [
      [covered, 0],
      [other, 500],
    ] as const) {
      const { id } = await cartOf([variantId])
      expect(made(await shop.patch(`/carts/${id}`, { shippingMethodId, shippingAddress: ADDRESS })).shippingCents).toBe(cents)
    }
  })

  test('applies from startsAt to the millisecond before endsAt, while active', async () => {
    const [start, end] = ['2026-05-01T10:00:00.000Z', '2026-05-02T10:00:00.000Z']
    app.clock.now = new Date('2026-04-30T00:00:00.000Z')
    const { id: promotion } = made(await post({ ...bare, startsAt: start, endsAt: end }))
    const { id } = await cartOf([await shop.variant()])
    for (const [at, total] of [
      [Date.parse(start) - 1, 1000],
      [Date.parse(start), 900],
      [Date.parse(end) - 1, 900],
      [Date.parse(end), 1000],
    ] as const) {
      app.clock.now = new Date(at)
      expect([new Date(at).toISOString(), (await shop.get(`/carts/${id}`)).body.totalCents]).toEqual([new Date(at).toISOString(), total])
    }
    app.clock.now = new Date(start)
    await patch(promotion, { active: false })
    expect((await shop.get(`/carts/${id}`)).body.totalCents).toBe(1000)
  })

  test('higher priority goes first, and what stacks goes together', async () => {
    await post({ ...KINDS.fixed, value: 2, priority: 1 })
    await post({ ...bare, value: 50, priority: 2 })
    const cart = await cartOf([await shop.variant({ price: 10 })])
    expect(cart.totalCents).toBe(300)
  })

  test('the other way round it comes to something else', async () => {
    await post({ ...KINDS.fixed, value: 2, priority: 2 })
    await post({ ...bare, value: 50, priority: 1 })
    expect((await cartOf([await shop.variant({ price: 10 })])).totalCents).toBe(400)
  })

  test('one that does not stack goes alone', async () => {
    const first = made(await post({ ...bare, value: 50, priority: 2, stackable: false }))
    await post({ ...KINDS.fixed, value: 2, priority: 1 })
    const variantId = await shop.variant({ price: 10 })
    expect((await cartOf([variantId])).totalCents).toBe(500)
    await patch(first.id, { priority: 0 })
    expect((await cartOf([variantId])).totalCents).toBe(800)
  })

  test("one that covers nothing in the cart stands in nobody's way", async () => {
    await post({ ...bare, value: 50, priority: 9, stackable: false, products: [await productOf(await shop.variant())] })
    await post({ ...bare, value: 20, priority: 1 })
    expect((await cartOf([await shop.variant({ price: 10 })])).totalCents).toBe(800)
  })

  test('come after the discount of a bundle and before coupons', async () => {
    const variantId = await shop.variant({ price: 100 })
    const bundleId = await shop.bundle([[variantId, 1]], 10)
    await post({ ...KINDS.fixed, value: 10 })
    await shop.coupon({ code: 'HALF', value: 50 })
    const { id } = await shop.cart()
    made(await shop.post(`/carts/${id}/items`, { bundleId }))
    // 100 less 10 %, less 10, less half.
    expect(made(await shop.post(`/carts/${id}/coupons`, { code: 'HALF' }))).toMatchObject({
      totalCents: 4000,
      discountCents: 6000,
      coupons: [{ discountCents: 4000 }],
    })
  })

  test('an order keeps what they took off', async () => {
    const { id: promotion } = made(await post(bare))
    const { id } = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    await shop.remove(`/promotions/${promotion}`)
    expect(await shop.order(id)).toMatchObject({ discountCents: 100, totalCents: 900, lines: [{ discountCents: 100, totalCents: 900 }] })
  })

  test.each(['products', 'collections', 'categories', 'brands'] as const)(
    'deleting the only one of its %s never widens it',
    async (list) => {
      const gone = made(await shop.post(`/${list}`, { name: 'Gone', ...(list === 'products' ? { price: 1 } : {}) })).id
      const column = { products: 'productIds', collections: 'collectionIds', categories: 'categoryIds', brands: 'brandIds' }[list]
      const { id } = made(await post({ ...bare, [list]: [gone] }))
      made(await shop.remove(`/${list}/${gone}`))
      expect((await cartOf([await shop.variant()])).totalCents).toBe(1000)
      expect(made(await patch(id, { name: 'Changed' }))[column]).toEqual([gone])
      expect(made(await patch(id, { [list]: [gone] }))[column]).toEqual([gone])
      expect((await cartOf([await shop.variant()])).totalCents).toBe(1000)
    },
  )
})
