import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { AN_INSTANT, A_UUID, create, names, NOBODY, parallel, read, refusal, statuses, twoStores } from './shop.ts'

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

const bundle = (body: object = {}) => create(shop, '/bundles', { name: 'Starter kit', ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/bundles/${id}`, body)
const product = (name: string, body: object = {}, store = shop) => create(store, '/products', { name, price: 10, ...body })
const parts = (answer: any) => answer.products.map(({ variantId, quantity, position }: any) => [variantId, quantity, position])

describe('POST /bundles', () => {
  test('name required; 201 full bundle', async () => {
    expect(await bundle()).toEqual({
      id: A_UUID,
      name: 'Starter kit',
      slug: 'starter-kit',
      summary: null,
      content: null,
      images: [],
      status: 'published',
      discountPercentage: 0,
      productCount: 0,
      products: [],
      seo: { title: null, description: null, canonical: null },
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
  })

  test('every field that is given comes back; products have variantId, quantity, position, productId, productName', async () => {
    const [a, b] = [await product('A'), await product('B')]
    const given = {
      name: 'Kit',
      slug: 'the-kit',
      summary: 'S',
      content: { type: 'doc', content: [] },
      images: ['https://example.com/a.png'],
      status: 'draft',
      discountPercentage: 12.5,
      seo: { title: 'T', description: 'D', canonical: 'https://example.com' },
    }
    const made = await create(shop, '/bundles', {
      ...given,
      nonsense: 1,
      variants: [
        { variantId: a.variants[0].id, quantity: 3, position: 2 },
        { variantId: b.variants[0].id, position: 1 },
      ],
    })
    expect(made).toMatchObject({
      ...given,
      productCount: 2,
      products: [
        { variantId: b.variants[0].id, quantity: 1, position: 1, productId: b.id, productName: 'B' },
        { variantId: a.variants[0].id, quantity: 3, position: 2, productId: a.id, productName: 'A' },
      ],
    })
    expect(await read(shop, `/bundles/${made.id}`)).toEqual(made)
  })

  test('quantity default 1, position default 0', async () => {
    const {
      variants: [{ id }],
    } = await product('A')
    expect(parts(await bundle({ variants: [{ variantId: id }] }))).toEqual([[id, 1, 0]])
  })

  test.each([
    ['required name', {}],
    ['too_small name', { name: '' }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['invalid_string slug', { name: 'x', slug: 'No Good' }],
    ['custom slug', { name: 'x', slug: NOBODY }],
    ['too_small slug', { name: 'x', slug: '' }],
    ['too_small discountPercentage', { name: 'x', discountPercentage: -0.01 }],
    ['too_big discountPercentage', { name: 'x', discountPercentage: 100.01 }],
    ['custom discountPercentage', { name: 'x', discountPercentage: 33.33333 }],
    ['invalid_type discountPercentage', { name: 'x', discountPercentage: '10' }],
    ['invalid_type discountPercentage', { name: 'x', discountPercentage: null }],
    ['invalid_enum_value status', { name: 'x', status: 'live' }],
    ['invalid_type images', { name: 'x', images: null }],
    ['invalid_string images.0', { name: 'x', images: ['a'] }],
    ['invalid_type variants', { name: 'x', variants: null }],
    ['required variants.0.variantId', { name: 'x', variants: [{}] }],
    ['invalid_string variants.0.variantId', { name: 'x', variants: [{ variantId: 'x' }] }],
    ['custom variants.0.variantId', { name: 'x', variants: [{ variantId: NOBODY }] }],
    ['too_small variants.0.quantity', { name: 'x', variants: [{ variantId: NOBODY, quantity: 0 }] }],
    ['invalid_type variants.0.quantity', { name: 'x', variants: [{ variantId: NOBODY, quantity: 1.5 }] }],
    ['too_small variants.0.position', { name: 'x', variants: [{ variantId: NOBODY, position: -1 }] }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await shop.call('POST', '/bundles', body))).toBe(`400 ${detail}`)
    if ('name' in body && body.name === 'x') expect(refusal(await patch((await bundle()).id, body))).toBe(`400 ${detail}`)
  })

  test('discountPercentage is 0-100', async () => {
    for (const discountPercentage of [0, 100, 33.3333])
      expect((await bundle({ discountPercentage })).discountPercentage).toBe(discountPercentage)
  })

  test("a variant that is missing or another store's is the same 400; one that stands there twice is 400 too", async () => {
    const [mine, theirs] = [(await product('A')).variants[0].id, (await product('B', {}, other)).variants[0].id]
    const post = (...ids: string[]) => shop.call('POST', '/bundles', { name: 'x', variants: ids.map((variantId) => ({ variantId })) })
    const [missing, foreign] = [await post(mine, NOBODY), await post(mine, theirs)]
    expect([refusal(missing), foreign.text, refusal(await post(mine, mine))]).toEqual([
      '400 custom variants.1.variantId',
      missing.text,
      '400 custom variants.1.variantId',
    ])
    expect((await read(shop, '/bundles')).meta.count).toBe(0)
  })

  test('slug: lowercase a-z0-9-, unique, generated from name when omitted; 409 duplicate slug', async () => {
    expect(
      new Set((await parallel(20, () => shop.call('POST', '/bundles', { name: 'Zestaw łódź' }))).map(({ body }) => body.slug)).size,
    ).toBe(20)
    expect(statuses(await parallel(20, () => shop.call('POST', '/bundles', { name: 'x', slug: 'one' })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
  })
})

describe('GET /bundles', () => {
  test('limit (50), offset; list items without composition', async () => {
    const {
      variants: [{ id }],
    } = await product('A')
    for (let i = 0; i < 51; i++) await bundle({ name: `B${i}`, variants: [{ variantId: id }] })
    const { data, meta } = await read(shop, '/bundles')
    expect([data.length, meta]).toEqual([50, { count: 51, offset: 0, limit: 50 }])
    expect(Object.keys(data[0]).toSorted()).toEqual([
      'discountPercentage',
      'id',
      'images',
      'name',
      'productCount',
      'slug',
      'status',
      'summary',
    ])
    expect([data[0].productCount, names(await read(shop, '/bundles?offset=50'))]).toEqual([1, ['B0']])
    expect((await read(other, '/bundles')).data).toEqual([])
  })

  test('a storefront sees published ones alone, in lists and by id', async () => {
    const made = await Promise.all(['draft', 'published', 'hidden'].map((status) => bundle({ name: status, status })))
    expect([
      names(await read(shop, '/bundles', shop.keys.storefront)),
      (await read(shop, '/bundles', shop.keys.storefront)).meta.count,
    ]).toEqual([['published'], 1])
    const missing = await shop.call('GET', `/bundles/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const { id, slug, status } of made) {
      for (const path of [id, slug]) {
        const answer = await shop.call('GET', `/bundles/${path}`, undefined, { key: shop.keys.storefront })
        if (status === 'published') expect(answer.status).toBe(200)
        else expect([answer.status, answer.text]).toEqual([404, missing.text])
      }
    }
  })

  test('a storefront sees nothing of drafts, hidden products and inactive variants that are in it', async () => {
    const seen = await product('Seen')
    const unseen = [
      await product('Secret draft', { status: 'draft' }),
      await product('Secret hidden', { status: 'hidden' }),
      await product('Half', { price: undefined, variants: [{ price: 1, active: false }, { price: 1 }] }),
    ]
    const { id } = await bundle({
      variants: [seen, ...unseen].map(({ variants: [variant] }, position) => ({ variantId: variant.id, position })),
    })
    const answer = await shop.call('GET', `/bundles/${id}`, undefined, { key: shop.keys.storefront })
    expect([parts(answer.body), answer.body.productCount]).toEqual([[[seen.variants[0].id, 1, 0]], 1])
    for (const { id: secret, name } of unseen) for (const text of [secret, name]) expect(answer.text).not.toContain(text)
    expect((await read(shop, '/bundles', shop.keys.storefront)).data).toMatchObject([{ productCount: 1 }])
    expect([(await read(shop, `/bundles/${id}`)).productCount, (await read(shop, '/bundles')).data[0].productCount]).toEqual([4, 4])
  })
})

describe('PATCH /bundles/{id}', () => {
  test('all create fields optional; what is not named stays', async () => {
    const {
      variants: [{ id }],
    } = await product('A')
    const before = await bundle({
      summary: 'S',
      images: ['https://example.com/a.png'],
      discountPercentage: 10,
      variants: [{ variantId: id, quantity: 2 }],
    })
    expect((await patch(before.id, {})).body).toEqual({ ...before, updatedAt: AN_INSTANT })
    expect((await patch(before.id, { name: 'New', discountPercentage: 0 })).body).toEqual({
      ...before,
      name: 'New',
      discountPercentage: 0,
      updatedAt: AN_INSTANT,
    })
    expect((await patch(before.id, { summary: null, content: null, images: [] })).body).toMatchObject({
      summary: null,
      content: null,
      images: [],
    })
    await bundle({ slug: 'taken' })
    expect((await patch(before.id, { slug: 'taken' })).status).toBe(409)
  })

  test('passing variants replaces the whole composition', async () => {
    const [a, b] = [(await product('A')).variants[0].id, (await product('B')).variants[0].id]
    const { id } = await bundle({ variants: [{ variantId: a, quantity: 2 }] })
    expect(parts((await patch(id, { variants: [{ variantId: b }] })).body)).toEqual([[b, 1, 0]])
    expect(refusal(await patch(id, { name: 'No', variants: [{ variantId: a }, { variantId: NOBODY }] }))).toBe(
      '400 custom variants.1.variantId',
    )
    expect([parts(await read(shop, `/bundles/${id}`)), (await read(shop, `/bundles/${id}`)).name]).toEqual([[[b, 1, 0]], 'Starter kit'])
    expect(parts((await patch(id, { variants: [] })).body)).toEqual([])
  })
})

test('DELETE: composition cascade-removed; products and variants untouched', async () => {
  const before = await product('A')
  const { id } = await bundle({ variants: [{ variantId: before.variants[0].id }] })
  expect((await shop.call('DELETE', `/bundles/${id}`)).body).toEqual({ ok: true, deleted: 1 })
  expect((await shop.call('DELETE', `/bundles/${id}`)).status).toBe(404)
  expect(await read(shop, `/products/${before.id}`)).toEqual(before)
})

test('storefront:read reads, catalog:write writes', async () => {
  const { id } = await bundle()
  const [reader, writer] = [await shop.keyWith('storefront:read'), await shop.keyWith('catalog:write')]
  for (const [method, path, body, scope] of [
    ['GET', '/bundles', undefined, 'storefront:read'],
    ['GET', `/bundles/${id}`, undefined, 'storefront:read'],
    ['POST', '/bundles', { name: 'x' }, 'catalog:write'],
    ['PATCH', `/bundles/${id}`, {}, 'catalog:write'],
    ['DELETE', `/bundles/${id}`, undefined, 'catalog:write'],
  ] as const) {
    const [right, wrong] = scope === 'catalog:write' ? [writer, reader] : [reader, writer]
    const answer = await shop.call(method, path, body, { key: wrong })
    expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
    expect((await shop.call(method, path, body, { key: right })).status).toBeLessThan(300)
  }
})
