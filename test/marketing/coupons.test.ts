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
const bare = { code: 'SPRING', type: 'percentage', value: 10 }
const EMPTY = {
  maxUses: null,
  startDate: null,
  endDate: null,
  minProductCount: null,
  maxProductCount: null,
  productIds: [],
  collectionIds: [],
  categoryIds: [],
  brandIds: [],
  currencyAmounts: {},
}
const post = (body: unknown) => shop.post('/coupons', body)
const get = (idOrCode: string) => shop.get(`/coupons/${encodeURIComponent(idOrCode)}`)
const patch = (idOrCode: string, body: unknown) => shop.patch(`/coupons/${encodeURIComponent(idOrCode)}`, body)
/** One of each that a coupon can be restricted to. */
async function targets() {
  const [collections, categories, brands] = [
    made(await shop.post('/collections', { name: 'C' })).id,
    made(await shop.post('/categories', { name: 'K' })).id,
    made(await shop.post('/brands', { name: 'B' })).id,
  ]
  const product = made(
    await shop.post('/products', {
      name: 'P',
      status: 'published',
      collectionIds: [collections],
      categoryId: categories,
      brandId: brands,
      variants: [{ price: 10, shippable: false, stock: { quantity: 100 } }],
    }),
  )
  return {
    ids: { products: product.id as string, collections: collections as string, categories: categories as string, brands: brands as string },
    variantId: product.variants[0].id as string,
  }
}

describe('POST /coupons', () => {
  test('code, type and value are enough', async () => {
    const { status, body } = await post(bare)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      ...bare,
      timesRedeemed: 0,
      ...EMPTY,
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
      updatedAt: body.createdAt,
    })
    expect((await get(body.id)).body).toEqual(body)
    expect((await get('SPRING')).body).toEqual(body)
  })

  test('keeps every field; the lists come back with "Ids"', async () => {
    const { ids } = await targets()
    const { body } = await post({
      code: 'FULL',
      type: 'fixed',
      value: 5.5,
      maxUses: 3,
      startDate: '2026-05-01T00:00:00+02:00',
      endDate: '2026-06-01T00:00:00Z',
      minProductCount: 1,
      maxProductCount: 5,
      products: [ids.products],
      collections: [ids.collections],
      categories: [ids.categories],
      brands: [ids.brands],
      currencyAmounts: { EUR: 5, jpy: 700, kwd: 1.234 },
    })
    expect(body).toMatchObject({
      code: 'FULL',
      type: 'fixed',
      value: 5.5,
      maxUses: 3,
      startDate: '2026-04-30T22:00:00.000Z',
      endDate: '2026-06-01T00:00:00.000Z',
      minProductCount: 1,
      maxProductCount: 5,
      productIds: [ids.products],
      collectionIds: [ids.collections],
      categoryIds: [ids.categories],
      brandIds: [ids.brands],
      currencyAmounts: { eur: 5, jpy: 700, kwd: 1.234 },
    })
    expect((await get('FULL')).body).toEqual(body)
  })

  test.each(['code', 'type', 'value'])('%s is required', async (field) => {
    const { body } = await post({ ...bare, [field]: undefined })
    expect(body.details).toEqual([expect.objectContaining({ path: [field], code: 'required' })])
  })

  test.each([
    ['code', { code: '' }],
    ['code', { code: '   ' }],
    ['code', { code: null }],
    ['code', { code: 5 }],
    ['type', { type: 'free' }],
    ['type', { type: null }],
    ['value', { value: 101 }],
    ['value', { value: 100.01 }],
    ['value', { value: 99.99996 }],
    ['value', { value: -1 }],
    ['value', { value: '10' }],
    ['value', { value: null }],
    ['value', { type: 'fixed', value: 0.99 }],
    ['value', { type: 'fixed', value: 0 }],
    ['value', { type: 'fixed', value: 1.999 }],
    ['maxUses', { maxUses: 0 }],
    ['maxUses', { maxUses: 1.5 }],
    ['maxUses', { maxUses: '1' }],
    ['startDate', { startDate: 'soon' }],
    ['startDate', { startDate: '2026-02-30T00:00:00Z' }],
    ['startDate', { startDate: '2026-05-01' }],
    ['endDate', { endDate: '2026-05-01T24:00:00Z' }],
    ['endDate', { startDate: '2026-05-02T00:00:00Z', endDate: '2026-05-01T00:00:00Z' }],
    ['endDate', { startDate: '2026-05-01T00:00:00Z', endDate: '2026-05-01T00:00:00Z' }],
    ['endDate', { startDate: '2026-05-01T00:00:00Z', endDate: '2026-05-01T01:00:00+02:00' }],
    ['minProductCount', { minProductCount: -1 }],
    ['minProductCount', { minProductCount: 1.5 }],
    ['maxProductCount', { maxProductCount: 'x' }],
    ['maxProductCount', { minProductCount: 3, maxProductCount: 2 }],
    ['products', { products: 'all' }],
    ['products', { products: null }],
    ['products.0', { products: ['x'] }],
    ['products.0', { products: [NOBODY] }],
    ['collections.0', { collections: [NOBODY] }],
    ['categories.0', { categories: [NOBODY] }],
    ['brands.0', { brands: [NOBODY] }],
    ['currencyAmounts', { currencyAmounts: { eur: 5 } }],
    ['currencyAmounts.eur', { type: 'fixed', currencyAmounts: { eur: -1 } }],
    ['currencyAmounts.eur', { type: 'fixed', currencyAmounts: { eur: 1.234 } }],
    ['currencyAmounts.xyz', { type: 'fixed', currencyAmounts: { xyz: 1 } }],
    ['currencyAmounts.EUR', { type: 'fixed', currencyAmounts: { eur: 1, EUR: 2 } }],
    ['currencyAmounts.usd', { type: 'fixed', currencyAmounts: { usd: 1 } }],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await post({ ...bare, ...change }))).toEqual([path])
    expect((await shop.get('/coupons')).body.meta.count).toBe(0)
  })

  test.each([
    [{ value: 101 }, { code: 'too_big', path: ['value'], maximum: 100 }],
    [{ value: 2e9 }, { code: 'too_big', path: ['value'], maximum: 100 }],
    [{ value: -1 }, { code: 'too_small', path: ['value'], minimum: 0 }],
    [
      { type: 'fixed', value: 0.5 },
      { code: 'too_small', path: ['value'], minimum: 1 },
    ],
    [
      { type: 'fixed', value: -1 },
      { code: 'too_small', path: ['value'], minimum: 1 },
    ],
    [
      { type: 'fixed', value: 1_000_000_001 },
      { code: 'too_big', path: ['value'], maximum: 1_000_000_000 },
    ],
    [
      { type: 'fixed', currencyAmounts: { eur: 0 } },
      { code: 'too_small', path: ['currencyAmounts', 'eur'], minimum: 0 },
    ],
    [
      { type: 'fixed', currencyAmounts: { eur: -1 } },
      { code: 'too_small', path: ['currencyAmounts', 'eur'], minimum: 0 },
    ],
    [{ code: '' }, { code: 'too_small', path: ['code'], minimum: 1 }],
    [{ code: ' \n ' }, { code: 'too_small', path: ['code'], minimum: 1 }],
    [{ code: 'x'.repeat(65) }, { code: 'too_big', path: ['code'], maximum: 64 }],
    [{ code: 'x'.repeat(100_000) }, { code: 'too_big', path: ['code'], maximum: 64 }],
  ])('%j is outside of its limits: the answer names which', async (change, detail) => {
    made(await post({ ...bare, code: 'OTHER' }))
    for (const answer of [await post({ ...bare, ...change }), await patch('OTHER', { ...bare, ...change })])
      expect([answer.status, answer.body.details]).toEqual([400, [{ ...detail, message: expect.any(String) }]])
  })

  test('a code is as long as it is once it is trimmed and NFC', async () => {
    const code = '\u00dc'.repeat(64)
    expect(made(await post({ ...bare, code: `${' '.repeat(300)}${code.normalize('NFD')}` })).code).toBe(code)
  })

  test.each([
    '2026-13-01T00:00:00Z',
    '2026-05-01T00:00:00',
    '2026-06-30T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '+275761-01-01T00:00:00Z',
    '2026-05-01 00:00:00Z',
    '',
    1_770_000_000,
    '2026-02-29T00:00:00Z',
  ])('%j is no instant', async (at) => {
    expect(paths(await post({ ...bare, startDate: at }))).toEqual(['startDate'])
    expect(paths(await post({ ...bare, endDate: at }))).toEqual(['endDate'])
  })

  test('the limits themselves are allowed', async () => {
    for (const [i, change] of [
      { value: 100 },
      { value: 0.0001 },
      { type: 'fixed', value: 1 },
      { minProductCount: 2, maxProductCount: 2 },
      { maxUses: 1 },
      { startDate: '2026-05-01T00:00:00.000Z', endDate: '2026-05-01T00:00:00.001Z' },
      { startDate: null, endDate: null, maxUses: null },
    ].entries()) {
      expect([change, (await post({ ...bare, code: `C${i}`, ...change })).status]).toEqual([change, 201])
    }
  })

  test('unknown fields are ignored', async () => {
    expect(made(await post({ ...bare, timesRedeemed: 99, id: NOBODY, percentage: 50, amount: 5 }))).toMatchObject({
      timesRedeemed: 0,
      value: 10,
    })
  })

  test('what it is restricted to must be in the store, not in another', async () => {
    const other = await newShop(app)
    const foreign = (await other.cart([{ variantId: await other.variant() }])).items[0].productId
    expect((await post({ ...bare, products: [foreign] })).body).toEqual((await post({ ...bare, products: [NOBODY] })).body)
  })

  test('needs marketing:write, and reading needs marketing:read', async () => {
    const [reader, writer] = [await shop.keyWith('marketing:read'), await shop.keyWith('marketing:write')]
    made(await post(bare))
    expect((await shop.get('/coupons', { key: reader })).status).toBe(200)
    expect((await shop.patch('/coupons/SPRING', bare, { key: writer })).status).toBe(200)
    for (const [answer, scope] of [
      [await shop.post('/coupons', bare, { key: reader }), 'marketing:write'],
      [await shop.patch('/coupons/SPRING', bare, { key: reader }), 'marketing:write'],
      [await shop.remove('/coupons/SPRING', { key: reader }), 'marketing:write'],
      [await shop.get('/coupons', { key: writer }), 'marketing:read'],
      [await shop.get('/coupons/SPRING', { key: shop.keys.storefront }), 'marketing:read'],
    ] as const)
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining(scope)])
  })
})

describe('coupon codes', () => {
  test('are unique in the store: 409, of 20 at once one is made', async () => {
    made(await post(bare))
    expect((await post({ ...bare, value: 20 })).status).toBe(409)
    expect((await post({ ...bare, code: ' SPRING ' })).status).toBe(409)
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ ...bare, code: 'RACE' })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)])
    expect((await (await newShop(app)).post('/coupons', bare)).status).toBe(201)
  })

  test('are case-sensitive', async () => {
    for (const code of ['SAVE', 'save', 'Save']) made(await post({ ...bare, code }))
    expect((await get('save')).body.code).toBe('save')
    expect((await get('sAVE')).status).toBe(404)
  })

  test('are trimmed and compared after NFC', async () => {
    expect(made(await post({ ...bare, code: '  DANKEFU\u0308R\n' })).code).toBe('DANKEF\u00dcR')
    for (const code of ['DANKEF\u00dcR', 'DANKEFU\u0308R', ' DANKEF\u00dcR ']) expect((await get(code)).status).toBe(200)
    expect((await post({ ...bare, code: 'DANKEF\u00dcR' })).status).toBe(409)
  })

  test.each([
    '50%',
    '100%25',
    'A+B',
    'C#1',
    'WHAT?',
    '?a=b&c',
    '🎉🥳',
    'ЗИМА',
    '冬',
    'a.b-c_d~e',
    '"',
    "'",
    '\\',
    '%',
    '%zz',
    'coupons',
    'x'.repeat(64),
    '🎉'.repeat(64),
    '12345678',
    '01985d2c7c007a318c4e0242ac120002',
  ])('%s is one, and goes through the path', async (code) => {
    const { id } = made(await post({ ...bare, code }))
    expect((await get(code)).body).toMatchObject({ id, code })
    expect(made(await patch(code, { ...bare, code, value: 20 }))).toMatchObject({ id, value: 20 })
    expect((await shop.remove(`/coupons/${encodeURIComponent(code)}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await get(code)).status).toBe(404)
  })

  test.each([
    '.',
    '..',
    'TWO WORDS',
    'A/B',
    'TAB\tBED',
    'NEW\nLINE',
    'NO\u00a0BREAK',
    'ZERO\u200bWIDTH',
    'RTL\u202eCODE',
    'BELL\u0007',
    'x'.repeat(65),
    '🎉'.repeat(65),
    NOBODY,
    NOBODY.toUpperCase(),
    '\ud800',
    'NUL\u0000',
  ])('%j is none', async (code) => {
    expect(paths(await post({ ...bare, code }))).toEqual(['code'])
  })
})

describe('GET /coupons', () => {
  test('lists 10 unless told otherwise, newest first, with the count of all', async () => {
    for (let i = 0; i < 12; i++) await post({ ...bare, code: `C${i}` })
    const { body } = await shop.get('/coupons')
    expect(body.data.map(({ code }: any) => code)).toEqual(Array.from({ length: 10 }, (_, i) => `C${11 - i}`))
    expect(body.meta).toEqual({ count: 12, offset: 0, limit: 10 })
    expect((await shop.get('/coupons?limit=1&offset=11')).body).toMatchObject({
      data: [{ code: 'C0' }],
      meta: { count: 12, offset: 11, limit: 1 },
    })
  })

  test('query finds a part of the code, taking every sign for itself', async () => {
    for (const code of ['50%OFF', '50_OFF', '5OFF', 'SPRING\\']) await post({ ...bare, code })
    for (const [query, codes] of [
      ['50', ['50_OFF', '50%OFF']],
      ['0%', ['50%OFF']],
      ['0_', ['50_OFF']],
      ['\\', ['SPRING\\']],
      ['OFF', ['5OFF', '50_OFF', '50%OFF']],
      ['none', []],
    ] as const) {
      const { body } = await shop.get(`/coupons?query=${encodeURIComponent(query)}`)
      expect([query, body.data.map(({ code }: any) => code), body.meta.count]).toEqual([query, codes, codes.length])
    }
  })

  test('currency shows fixed amounts as the merchant set them in it, and leaves out those without one', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur', 'jpy'] })
    const both = made(await post({ ...bare, code: 'BOTH', type: 'fixed', value: 5.5, currencyAmounts: { eur: 4.25, jpy: 700 } }))
    const percent = made(await post({ ...bare, code: 'PERCENT', value: 12.5 }))
    const dollars = made(await post({ ...bare, code: 'DOLLARS', type: 'fixed', value: 3 }))
    for (const [currency, listed] of [
      ['eur', [percent, { ...both, value: 4.25 }]],
      ['EUR', [percent, { ...both, value: 4.25 }]],
      ['jpy', [percent, { ...both, value: 700 }]],
      ['usd', [dollars, percent, both]],
    ] as const) {
      expect((await shop.get(`/coupons?currency=${currency}`)).body).toEqual({
        data: listed,
        meta: { count: listed.length, offset: 0, limit: 10 },
      })
      for (const coupon of listed) {
        for (const key of [coupon.id, coupon.code]) expect((await shop.get(`/coupons/${key}?currency=${currency}`)).body).toEqual(coupon)
      }
    }
    expect((await shop.get('/coupons?currency=eur&query=B')).body).toMatchObject({ data: [{ code: 'BOTH' }], meta: { count: 1 } })
    expect((await shop.get('/coupons?currency=eur&limit=1&offset=1')).body).toMatchObject({ data: [{ code: 'BOTH' }], meta: { count: 2 } })
    const absent = await shop.get('/coupons/DOLLARS?currency=eur')
    expect([absent.status, absent.body]).toEqual([404, expect.objectContaining({ error: 'coupon not found' })])
  })

  test.each(['zzz', 'gbp', 'euro', ''])('?currency=%s is 400 at currency: not enabled', async (currency) => {
    made(await post(bare))
    for (const path of ['/coupons', '/coupons/SPRING']) expect(paths(await shop.get(`${path}?currency=${currency}`))).toEqual(['currency'])
  })

  test('one of another store is the same 404 as one that is missing', async () => {
    const foreign = await (await newShop(app)).coupon({ code: 'THEIRS' })
    for (const key of [foreign.id, 'THEIRS', NOBODY, 'NONE']) {
      for (const answer of [await get(key), await patch(key, bare), await shop.remove(`/coupons/${key}`)])
        expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ error: 'coupon not found' })])
    }
  })
})

describe('PATCH /coupons/{idOrCode}', () => {
  test('is a full replacement: what is left out is emptied; redemptions stay counted', async () => {
    const { ids } = await targets()
    const before = made(
      await post({
        ...bare,
        type: 'fixed',
        value: 5,
        maxUses: 9,
        startDate: '2020-01-01T00:00:00Z',
        endDate: '2999-01-01T00:00:00Z',
        minProductCount: 1,
        maxProductCount: 9,
        currencyAmounts: { eur: 4 },
        brands: [ids.brands],
      }),
    )
    await patch('SPRING', { ...bare, type: 'fixed', value: 5 })
    await shop.buy({ items: [{ variantId: await shop.variant() }], coupons: ['SPRING'] })
    app.clock.now = new Date('2030-01-01T00:00:00.000Z')
    const { status, body } = await patch(before.id, { ...bare, code: 'SUMMER', value: 15 })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: before.id,
      code: 'SUMMER',
      type: 'percentage',
      value: 15,
      timesRedeemed: 1,
      ...EMPTY,
      createdAt: before.createdAt,
      updatedAt: '2030-01-01T00:00:00.000Z',
    })
    expect((await get('SPRING')).status).toBe(404)
    expect((await get('SUMMER')).body).toEqual(body)
  })

  test.each(['code', 'type', 'value'])('without %s is 400 and changes nothing', async (field) => {
    const before = made(await post(bare))
    expect(paths(await patch('SPRING', { ...bare, [field]: undefined }))).toEqual([field])
    expect((await get('SPRING')).body).toEqual(before)
  })

  test('renaming onto an existing code is 409, keeping its own is not', async () => {
    made(await post(bare))
    made(await post({ ...bare, code: 'OTHER' }))
    expect((await patch('OTHER', bare)).status).toBe(409)
    expect((await patch('OTHER', { ...bare, code: 'OTHER', value: 1 })).status).toBe(200)
  })

  test('the rules of a new coupon hold for a changed one', async () => {
    made(await post(bare))
    for (const [path, change] of [
      ['value', { value: 101 }],
      ['endDate', { startDate: '2026-05-02T00:00:00Z', endDate: '2026-05-01T00:00:00Z' }],
      ['maxProductCount', { minProductCount: 2, maxProductCount: 1 }],
      ['products.0', { products: [NOBODY] }],
      ['code', { code: NOBODY }],
    ] as const) {
      expect(paths(await patch('SPRING', { ...bare, ...change }))).toEqual([path])
    }
  })
})

describe('DELETE /coupons/{idOrCode}', () => {
  test('is 409 while the enabled welcome offer gives it', async () => {
    const { id } = made(await post(bare))
    await shop.settings({ welcomeOffer: { enabled: true, couponId: id } })
    const { status, body } = await shop.remove('/coupons/SPRING')
    expect([status, body.error]).toEqual([409, expect.stringContaining('welcome offer')])
    await shop.settings({ welcomeOffer: { enabled: false } })
    expect((await shop.remove(`/coupons/${id}`)).body).toEqual({ ok: true, deleted: 1 })
  })

  test('an order keeps what a coupon did that is gone, and its code can be used anew', async () => {
    made(await post(bare))
    const { id } = await shop.buy({ items: [{ variantId: await shop.variant() }], coupons: ['SPRING'] })
    expect((await shop.remove('/coupons/SPRING')).status).toBe(200)
    expect(made(await post(bare)).timesRedeemed).toBe(0)
    made(await shop.post(`/orders/${id}/cancel`))
    expect((await get('SPRING')).body.timesRedeemed).toBe(0)
    expect((await shop.order(id)).coupons).toEqual([{ code: 'SPRING', discountCents: 100 }])
  })
})

describe('what a coupon is restricted to', () => {
  const discount = async (variantIds: string[], code = 'ONLY') => {
    const { id } = await shop.cart(variantIds.map((variantId) => ({ variantId })))
    const { status, body } = await shop.post(`/carts/${id}/coupons`, { code })
    return status === 201 ? body.discountCents : status
  }

  test.each(['products', 'collections', 'categories', 'brands'] as const)('%s: it takes off these alone', async (list) => {
    const { ids, variantId } = await targets()
    const other = await shop.variant()
    await post({ ...bare, code: 'ONLY', [list]: [ids[list]] })
    expect([await discount([variantId, other]), await discount([other])]).toEqual([100, 409])
  })

  test('several lists: one of them is enough', async () => {
    const { ids, variantId } = await targets()
    const [other, third] = [await shop.cart([{ variantId: await shop.variant() }]), await shop.variant()]
    await post({ ...bare, code: 'ONLY', brands: [ids.brands], products: [other.items[0].productId] })
    expect(await discount([variantId, other.items[0].variantId, third])).toBe(200)
  })

  test('a category covers what is in the categories below it', async () => {
    const top = made(await shop.post('/categories', { name: 'Top' })).id
    const below = made(
      await shop.post('/categories', {
        name: 'Below',
        parentId: made(await shop.post('/categories', { name: 'Middle', parentId: top })).id,
      }),
    ).id
    const variantId = await shop.variant({}, { categoryId: below })
    await post({ ...bare, code: 'ONLY', categories: [top] })
    await post({ ...bare, code: 'DEEP', categories: [below] })
    expect([
      await discount([variantId]),
      await discount([variantId], 'DEEP'),
      await discount([await shop.variant({}, { categoryId: top })], 'DEEP'),
    ]).toEqual([100, 100, 409])
  })

  test('membership is that of the moment', async () => {
    const { ids, variantId } = await targets()
    await post({ ...bare, code: 'ONLY', collections: [ids.collections] })
    const { id } = await shop.cart([{ variantId }])
    made(await shop.post(`/carts/${id}/coupons`, { code: 'ONLY' }))
    made(await shop.patch(`/products/${ids.products}`, { collectionIds: [] }))
    expect((await shop.get(`/carts/${id}`)).body).toMatchObject({ discountCents: 0, warnings: [{ code: 'coupon', coupon: 'ONLY' }] })
    expect((await shop.checkOut(id)).status).toBe(409)
  })

  test.each(['products', 'collections', 'categories', 'brands'] as const)(
    'deleting the only one of its %s never widens it',
    async (list) => {
      const { ids } = await targets()
      const lonely = {
        products: async () => made(await shop.post('/products', { name: 'Gone', price: 1 })).id,
        collections: async () => made(await shop.post('/collections', { name: 'Gone' })).id,
        categories: async () => made(await shop.post('/categories', { name: 'Gone' })).id,
        brands: async () => made(await shop.post('/brands', { name: 'Gone' })).id,
      }
      const gone = await lonely[list]()
      const column = { products: 'productIds', collections: 'collectionIds', categories: 'categoryIds', brands: 'brandIds' }[list]
      await post({ ...bare, code: 'ONLY', [list]: [gone] })
      made(await shop.remove(`/${list}/${gone}`))
      expect(await discount([await shop.variant()])).toBe(409)
      expect((await get('ONLY')).body[column]).toEqual([gone])
      // It can stay when the coupon is changed; a new one that is missing can not come in.
      expect(made(await patch('ONLY', { ...bare, code: 'ONLY', value: 20, [list]: [gone, ids[list]] }))[column]).toEqual([gone, ids[list]])
      expect(paths(await patch('ONLY', { ...bare, code: 'ONLY', [list]: [gone, NOBODY] }))).toEqual([`${list}.1`])
      expect(await discount([await shop.variant()])).toBe(409)
    },
  )
})

describe('redemptions', () => {
  test('timesRedeemed counts orders, and maxUses ends them across customers', async () => {
    await post({ ...bare, maxUses: 2 })
    const variantId = await shop.variant()
    for (const email of ['a@example.com', 'b@example.com']) await shop.buy({ items: [{ variantId }], coupons: ['SPRING'], email })
    expect((await get('SPRING')).body).toMatchObject({ timesRedeemed: 2, maxUses: 2 })
    const { id } = await shop.cart([{ variantId }])
    expect((await shop.post(`/carts/${id}/coupons`, { code: 'SPRING' })).status).toBe(409)
    made(await patch('SPRING', { ...bare, maxUses: 3 }))
    expect((await shop.post(`/carts/${id}/coupons`, { code: 'SPRING' })).status).toBe(201)
  })

  test('of 40 carts at once one gets the only use', async () => {
    await post({ ...bare, maxUses: 1 })
    const variantId = await shop.variant()
    const carts = []
    for (let i = 0; i < 40; i++) {
      carts.push((await shop.cart([{ variantId }])).id)
      made(await shop.post(`/carts/${carts[i]}/coupons`, { code: 'SPRING' }))
    }
    const answers = await Promise.all(carts.map((id, i) => shop.checkOut(id, { email: `c${i}@example.com` })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(39).fill(409)])
    expect((await get('SPRING')).body.timesRedeemed).toBe(1)
    expect(await shop.traces()).toMatchObject({ orders: 1, redemptions: 1, customers: 1 })
  })

  test('a cart that only looks redeems nothing', async () => {
    await post({ ...bare, maxUses: 1 })
    for (let i = 0; i < 3; i++)
      made(await shop.post(`/carts/${(await shop.cart([{ variantId: await shop.variant() }])).id}/coupons`, { code: 'SPRING' }))
    expect((await get('SPRING')).body.timesRedeemed).toBe(0)
  })
})

test("a fixed value has the decimals of the store's currency", async () => {
  const [jpy, kwd] = [await newShop(app, { currency: 'jpy' }), await newShop(app, { currency: 'kwd' })]
  expect(paths(await jpy.post('/coupons', { code: 'Y', type: 'fixed', value: 100.5 }))).toEqual(['value'])
  expect(made(await kwd.post('/coupons', { code: 'K', type: 'fixed', value: 1.001 })).value).toBe(1.001)
  const { id } = await kwd.cart([{ variantId: await kwd.variant({ price: 2.5 }) }])
  expect(made(await kwd.post(`/carts/${id}/coupons`, { code: 'K' }))).toMatchObject({ discountCents: 1001, totalCents: 1499 })
})

test('query knows no case and no marks, in any alphabet', async () => {
  const code = 'ŁÓDŹ-2026'
  expect((await shop.call('POST', '/coupons', { code, type: 'percentage', value: 5 })).status).toBe(201)
  for (const query of ['łódź', 'ŁÓDŹ', 'lodz', 'dz-20']) {
    const { body } = await shop.call('GET', `/coupons?query=${encodeURIComponent(query)}`)
    expect(
      body.data.map((coupon: { code: string }) => coupon.code),
      query,
    ).toContain(code)
  }
  expect((await shop.call('GET', '/coupons?query=%25_')).body.meta.count).toBe(0)
})
