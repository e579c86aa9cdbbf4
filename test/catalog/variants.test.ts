import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { A_UUID, create, names, NOBODY, parallel, read, refusal, statuses, twoStores } from './shop.ts'

let app: TestApp
let shop: TestStore
let other: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  ;[shop, other] = await twoStores(app)
})
afterAll(() => app.close())

const product = (body: object = {}, store = shop) => create(store, '/products', { name: 'Shirt', price: 10, ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/variants/${id}`, body)
const order = (variantId: string, quantity: number) =>
  create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId, quantity }] })

describe('POST /products/{idOrSlug}/variants', () => {
  test('price is required; what is not said has a default', async () => {
    const { id } = await product()
    const made = await create(shop, `/products/${id}/variants`, { price: 12 })
    expect(made).toEqual({
      id: A_UUID,
      productId: id,
      name: 'Shirt',
      sku: null,
      barcode: null,
      price: 12,
      compareAtPrice: null,
      prices: {},
      options: {},
      stock: { tracked: true, quantity: 0, reserved: 0, available: 0, backorder: false },
      weightGrams: null,
      dimensionsMm: null,
      shippable: true,
      bookable: false,
      taxRateId: null,
      position: 1,
      active: true,
    })
    expect(await read(shop, `/variants/${made.id}`)).toEqual(made)
    expect(refusal(await shop.call('POST', `/products/${id}/variants`, { sku: 'A' }))).toBe('400 required price')
  })

  test('by slug too; position goes on behind the last one', async () => {
    const { id, slug } = await product({ price: undefined, variants: [{ price: 1, position: 5 }] })
    const made = await create(shop, `/products/${slug}/variants`, { price: 2, options: { size: 'M', colour: 'red' }, position: undefined })
    expect(made).toMatchObject({ productId: id, position: 6, name: 'M / red' })
    expect(await create(shop, `/products/${slug}/variants`, { price: 2, position: 0 })).toMatchObject({ position: 0 })
  })

  test('at most 200; the 201st is 409', async () => {
    const { id } = await product({ price: undefined, variants: Array.from({ length: 199 }, () => ({ price: 1 })) })
    expect(statuses(await parallel(3, () => shop.call('POST', `/products/${id}/variants`, { price: 1 })))).toEqual([201, 409, 409])
    expect((await read(shop, `/products/${id}/variants`)).meta.count).toBe(200)
  })

  test("a missing and another store's product are the same 404, a link that leads nowhere is 400", async () => {
    const theirs = await product({}, other)
    const post = (id: string, body: object = { price: 1 }) => shop.call('POST', `/products/${id}/variants`, body)
    expect([(await post(NOBODY)).status, (await post(theirs.id)).text]).toEqual([404, (await post(NOBODY)).text])
    expect((await read(other, `/products/${theirs.id}`)).variants).toHaveLength(1)
    const rate = await create(other, '/tax-rates', { name: 'x', rate: 1 })
    const { id } = await product()
    const [missing, foreign] = [await post(id, { price: 1, taxRateId: NOBODY }), await post(id, { price: 1, taxRateId: rate.id })]
    expect([refusal(missing), foreign.text]).toEqual(['400 custom taxRateId', missing.text])
  })

  test('sku is unique in the store: 20 parallel creates of one give one 201 and 19 times 409', async () => {
    const { id } = await product()
    expect(statuses(await parallel(20, () => shop.call('POST', `/products/${id}/variants`, { price: 1, sku: 'SAME' })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
    expect((await shop.call('POST', '/products', { name: 'x', price: 1, sku: 'SAME' })).status).toBe(409)
    expect((await shop.call('POST', '/products', { name: 'x', price: 1, sku: 'same' })).status).toBe(201)
  })

  test.each([
    ['invalid_type price', { price: '1' }],
    ['too_small price', { price: -1 }],
    ['custom price', { price: 0.001 }],
    ['custom compareAtPrice', { price: 1, compareAtPrice: 0.001 }],
    ['too_small compareAtPrice', { price: 1, compareAtPrice: -1 }],
    ['custom prices.eur', { price: 1, prices: { eur: 0.001 } }],
    ['too_small name', { price: 1, name: '' }],
    ['too_big name', { price: 1, name: 'x'.repeat(301) }],
    ['invalid_type name', { price: 1, name: null }],
    ['too_small sku', { price: 1, sku: '' }],
    ['too_big sku', { price: 1, sku: 'x'.repeat(101) }],
    ['too_small barcode', { price: 1, barcode: '' }],
    ['too_big barcode', { price: 1, barcode: 'x'.repeat(101) }],
    ['invalid_type barcode', { price: 1, barcode: 4006381333931 }],
    ['invalid_type options', { price: 1, options: null }],
    ['invalid_type options', { price: 1, options: ['M'] }],
    ['invalid_type options.size', { price: 1, options: { size: 5 } }],
    ['invalid_type options.size', { price: 1, options: { size: null } }],
    ['too_big options.size', { price: 1, options: { size: 'x'.repeat(201) } }],
    ['too_big options', { price: 1, options: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`o${i}`, 'x'])) }],
    ['too_small weightGrams', { price: 1, weightGrams: -1 }],
    ['invalid_type weightGrams', { price: 1, weightGrams: 0.5 }],
    ['invalid_type weightGrams', { price: 1, weightGrams: '5' }],
    ['too_big weightGrams', { price: 1, weightGrams: 100_000_001 }],
    ['invalid_type dimensionsMm', { price: 1, dimensionsMm: 5 }],
    ['too_small dimensionsMm.width', { price: 1, dimensionsMm: { width: -0.1 } }],
    ['invalid_type dimensionsMm.height', { price: 1, dimensionsMm: { height: '5' } }],
    ['invalid_type shippable', { price: 1, shippable: null }],
    ['invalid_type bookable', { price: 1, bookable: 1 }],
    ['invalid_type active', { price: 1, active: 'false' }],
    ['invalid_string taxRateId', { price: 1, taxRateId: 'x' }],
    ['too_small position', { price: 1, position: -1 }],
    ['invalid_type position', { price: 1, position: 1.5 }],
    ['invalid_type stock', { price: 1, stock: [] }],
    ['too_big stock.quantity', { price: 1, stock: { quantity: 1_000_000_001 } }],
    ['invalid_type stock.quantity', { price: 1, stock: { quantity: null } }],
    ['invalid_type stock.backorder', { price: 1, stock: { backorder: 'no' } }],
  ])('400 %s, on create and on change', async (detail, body) => {
    const {
      id,
      variants: [variant],
    } = await product()
    expect(refusal(await shop.call('POST', `/products/${id}/variants`, body))).toBe(`400 ${detail}`)
    expect(refusal(await patch(variant.id, body))).toBe(`400 ${detail}`)
    expect((await read(shop, `/products/${id}`)).variants).toEqual([variant])
  })

  test('the name of an option has 1-100 characters, of any kind', async () => {
    const { id } = await product()
    const post = (name: string) => shop.call('POST', `/products/${id}/variants`, { price: 1, options: { [name]: 'x' } })
    for (const name of ['', 'x'.repeat(101)]) expect((await post(name)).status).toBe(400)
    for (const name of ['x'.repeat(100), 'Größe / size', 'two\nlines', '__proto__']) {
      const { status, body } = await post(name)
      expect([status, Object.entries(body.options)]).toEqual([201, [[name, 'x']]])
    }
    expect((await shop.call('POST', `/products/${id}/variants`, { price: 1, options: { 'two\nlines': 5 } })).status).toBe(400)
  })
})

describe('GET /products/{idOrSlug}/variants', () => {
  test('all of a product, by position; {data, meta: {count}}', async () => {
    const { id, slug } = await product({
      price: undefined,
      variants: [
        { price: 1, name: 'c', position: 2 },
        { price: 1, name: 'a', position: 0 },
        { price: 1, name: 'b', position: 1, active: false },
      ],
    })
    const answer = await read(shop, `/products/${slug}/variants`)
    expect([names(answer), answer.meta]).toEqual([['a', 'b', 'c'], { count: 3 }])
    expect(answer.data).toEqual((await read(shop, `/products/${id}`)).variants)
    expect(names(await read(shop, `/products/${slug}/variants`, shop.keys.storefront))).toEqual(['a', 'c'])
  })

  test('a variant without a price in the currency is left out', async () => {
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur'] })
    const { id } = await product({
      price: undefined,
      variants: [
        { price: 1, name: 'a', prices: { eur: 2 }, compareAtPrice: 9 },
        { price: 1, name: 'b' },
      ],
    })
    const answer = await read(shop, `/products/${id}/variants?currency=EUR`)
    expect(answer).toMatchObject({ data: [{ name: 'a', price: 2, compareAtPrice: null, prices: { eur: 2 } }], meta: { count: 1 } })
    expect((await read(shop, '/variants?currency=eur')).data).toEqual(answer.data)
    expect((await read(shop, `/products/${id}/variants?currency=usd`)).meta.count).toBe(2)
  })
})

describe('GET /variants', () => {
  test('limit (10), offset, and filters sku, barcode, productId', async () => {
    const { id } = await product({
      price: undefined,
      variants: Array.from({ length: 12 }, (_, i) => ({ price: 1, name: `v${i}`, sku: `S${i}`, barcode: i < 2 ? 'same' : `B${i}` })),
    })
    await product({ sku: 'OTHER' })
    const first = await read(shop, '/variants')
    expect([names(first), first.meta]).toEqual([Array.from({ length: 10 }, (_, i) => `v${i}`), { count: 13, offset: 0, limit: 10 }])
    expect((await read(shop, '/variants?offset=10')).data).toHaveLength(3)
    for (const [search, expected] of [
      ['sku=S3', ['v3']],
      ['sku=s3', []],
      ['sku=S', []],
      ['sku=%25', []],
      ['sku=', []],
      ['barcode=same', ['v0', 'v1']],
      ['barcode=B5&sku=S5', ['v5']],
      ['barcode=B5&sku=S6', []],
      [`productId=${NOBODY}`, []],
    ] as const) {
      expect([search, names(await read(shop, `/variants?${search}`))]).toEqual([search, expected])
    }
    expect((await read(shop, `/variants?productId=${id}&limit=1`)).meta).toEqual({ count: 12, offset: 0, limit: 1 })
    expect(refusal(await shop.call('GET', '/variants?productId=x'))).toBe('400 invalid_string productId')
    expect((await read(other, '/variants')).meta.count).toBe(0)
  })

  test('a storefront sees active variants of published products alone, in lists and by id', async () => {
    const seen = await product({
      price: undefined,
      variants: [
        { price: 1, sku: 'IN' },
        { price: 1, sku: 'OFF', active: false },
      ],
    })
    const draft = await product({ status: 'draft', sku: 'DRAFT' })
    const hidden = await product({ status: 'hidden', sku: 'HIDDEN' })
    expect((await read(shop, '/variants', shop.keys.storefront)).data.map(({ sku }: any) => sku)).toEqual(['IN'])
    for (const sku of ['OFF', 'DRAFT', 'HIDDEN'])
      expect((await read(shop, `/variants?sku=${sku}`, shop.keys.storefront)).meta.count).toBe(0)
    expect((await read(shop, `/variants?productId=${draft.id}`, shop.keys.storefront)).data).toEqual([])
    const missing = await shop.call('GET', `/variants/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const id of [seen.variants[1].id, draft.variants[0].id, hidden.variants[0].id]) {
      const answer = await shop.call('GET', `/variants/${id}`, undefined, { key: shop.keys.storefront })
      expect([answer.status, answer.text]).toEqual([404, missing.text])
      await read(shop, `/variants/${id}`)
    }
    await read(shop, `/variants/${seen.variants[0].id}`, shop.keys.storefront)
  })
})

describe('PATCH /variants/{id}', () => {
  test('changes what is named and nothing else', async () => {
    const {
      variants: [before],
    } = await product({
      price: undefined,
      variants: [
        {
          price: 10,
          compareAtPrice: 12,
          sku: 'A',
          barcode: 'B',
          options: { size: 'M' },
          prices: { eur: 9 },
          weightGrams: 5,
          dimensionsMm: { length: 1, width: 2, height: 3 },
          stock: { quantity: 4 },
        },
      ],
    })
    for (const [body, change] of [
      [{}, {}],
      [{ price: 11 }, { price: 11 }],
      [{ stock: {} }, { price: 11 }],
      [{ stock: { backorder: true } }, { price: 11, stock: { ...before.stock, backorder: true } }],
      [
        { productId: NOBODY, id: NOBODY },
        { price: 11, stock: { ...before.stock, backorder: true } },
      ],
    ] as const) {
      const { status, body: after } = await patch(before.id, body)
      expect([status, after]).toEqual([200, { ...before, ...change }])
      expect(await read(shop, `/variants/${before.id}`)).toEqual(after)
    }
  })

  test('null clears what may be null', async () => {
    const rate = await create(shop, '/tax-rates', { name: 'x', rate: 1 })
    const full = {
      sku: 'A',
      barcode: 'B',
      compareAtPrice: 12,
      weightGrams: 5,
      dimensionsMm: { length: 1, width: 2, height: 3 },
      taxRateId: rate.id,
    }
    const {
      variants: [{ id }],
    } = await product({ price: undefined, variants: [{ price: 10, ...full }] })
    const cleared = Object.fromEntries(Object.keys(full).map((name) => [name, null]))
    expect((await patch(id, cleared)).body).toMatchObject(cleared)
    expect((await patch(id, full)).body).toMatchObject(full)
    expect((await patch(id, { dimensionsMm: { length: 7 } })).body.dimensionsMm).toEqual({ length: 7, width: null, height: null })
  })

  test('options and prices replace what was there', async () => {
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur', 'gbp'] })
    const {
      variants: [{ id }],
    } = await product({ price: undefined, variants: [{ price: 10, options: { size: 'M', colour: 'red' }, prices: { eur: 9, gbp: 8 } }] })
    expect((await patch(id, { options: { size: 'L' }, prices: { EUR: 9.5 } })).body).toMatchObject({
      options: { size: 'L' },
      prices: { eur: 9.5 },
    })
    const { body } = await patch(id, { options: {}, prices: {} })
    expect([body.options, body.prices]).toEqual([{}, {}])
  })

  test('a taken sku is 409, its own is fine', async () => {
    const {
      variants: [a, b],
    } = await product({
      price: undefined,
      variants: [
        { price: 1, sku: 'A' },
        { price: 1, sku: 'B' },
      ],
    })
    expect([
      (await patch(a.id, { sku: 'A' })).status,
      (await patch(a.id, { sku: 'B' })).status,
      (await read(shop, `/variants/${b.id}`)).sku,
    ]).toEqual([200, 409, 'B'])
  })

  test('a quantity given here goes through the ledger; 409 when it would fall under what orders hold', async () => {
    const {
      variants: [{ id }],
    } = await product({ stock: { quantity: 5 } })
    await order(id, 3)
    const refused = await patch(id, { price: 99, stock: { quantity: 2 } })
    expect([refused.status, typeof refused.body.error]).toEqual([409, 'string'])
    expect(await read(shop, `/variants/${id}`)).toMatchObject({ price: 10, stock: { quantity: 5, reserved: 3, available: 2 } })
    expect((await patch(id, { stock: { quantity: 3 } })).body.stock).toMatchObject({ quantity: 3, reserved: 3, available: 0 })
    const { data } = await read(shop, `/inventory/${id}/movements`)
    expect(data.map(({ delta }: any) => delta)).toEqual([-2, 5])
  })

  test('backorder can be switched off once orders hold no more than there is', async () => {
    const {
      variants: [{ id }],
    } = await product({ stock: { quantity: 1, backorder: true } })
    await order(id, 3)
    expect((await read(shop, `/variants/${id}`)).stock).toEqual({ tracked: true, quantity: 1, reserved: 3, available: -2, backorder: true })
    expect((await patch(id, { stock: { backorder: false } })).status).toBe(409)
    expect((await patch(id, { stock: { backorder: false, quantity: 3 } })).status).toBe(200)
  })

  test("a missing, a malformed and another store's id are the same 404", async () => {
    const theirs = await product({}, other)
    const answers = [await patch(NOBODY, {}), await patch('x', {}), await patch(theirs.variants[0].id, { price: 5 })]
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    expect((await read(other, `/products/${theirs.id}`)).price).toBe(10)
  })
})

describe('DELETE /variants/{id}', () => {
  const remove = (id: string) => shop.call('DELETE', `/variants/${id}`)

  test("the last variant of a product can't be removed (409), also when two go at once", async () => {
    const {
      id,
      variants: [a, b],
    } = await product({ price: undefined, variants: [{ price: 1 }, { price: 2 }] })
    const answers = await Promise.all([remove(a.id), remove(b.id)])
    expect(statuses(answers)).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 200)!.body).toEqual({ ok: true, deleted: 1 })
    expect((await read(shop, `/products/${id}`)).variants).toHaveLength(1)
  })

  test('takes its ledger with it, and frees its sku', async () => {
    const {
      id,
      variants: [, b],
    } = await product({ price: undefined, variants: [{ price: 2 }, { price: 1, sku: 'B', stock: { quantity: 1 } }] })
    expect((await remove(b.id)).status).toBe(200)
    for (const path of [`/variants/${b.id}`, `/inventory/${b.id}/movements`]) expect((await shop.call('GET', path)).status).toBe(404)
    expect((await read(shop, `/products/${id}`)).price).toBe(2)
    await create(shop, `/products/${id}/variants`, { price: 1, sku: 'B' })
    expect((await remove(b.id)).status).toBe(404)
  })
})
