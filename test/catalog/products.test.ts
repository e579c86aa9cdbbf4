import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { AN_INSTANT, A_UUID, create, NOBODY, parallel, read, refusal, statuses, twoStores } from './shop.ts'

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

const post = (body: unknown) => shop.call('POST', '/products', body)
const product = (body: object = {}) => create(shop, '/products', { name: 'Linen shirt', ...body })
const doc = (text: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] })
const count = async (store = shop) => (await read(store, '/products')).meta.count

describe('POST /products', () => {
  test('name alone makes a product; what is not said has a default', async () => {
    expect(await product()).toEqual({
      id: A_UUID,
      name: 'Linen shirt',
      slug: 'linen-shirt',
      summary: null,
      content: null,
      badgeContent: null,
      status: 'published',
      images: [],
      price: null,
      prices: {},
      brandId: null,
      categoryId: null,
      collectionIds: [],
      tags: [],
      seo: { title: null, description: null, canonical: null },
      event: null,
      variants: [],
      rating: { average: null, count: 0 },
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
  })

  test('price, sku and stock make one default variant', async () => {
    const made = await product({ price: 19.99, sku: 'LINEN', stock: { quantity: 7 } })
    expect(made).toMatchObject({ price: 19.99, prices: {} })
    expect(made.variants).toEqual([
      {
        id: A_UUID,
        productId: made.id,
        name: 'Linen shirt',
        sku: 'LINEN',
        barcode: null,
        price: 19.99,
        compareAtPrice: null,
        prices: {},
        options: {},
        stock: { tracked: true, quantity: 7, reserved: 0, available: 7, backorder: false },
        weightGrams: null,
        dimensionsMm: null,
        shippable: true,
        bookable: false,
        taxRateId: null,
        position: 0,
        active: true,
      },
    ])
  })

  test.each([
    [undefined, { tracked: true, quantity: 0, reserved: 0, available: 0, backorder: false }],
    [{}, { tracked: true, quantity: 0, reserved: 0, available: 0, backorder: false }],
    [{ tracked: false }, { tracked: false, quantity: 0, reserved: 0, available: 0, backorder: false }],
    [
      { backorder: true, quantity: 3 },
      { tracked: true, quantity: 3, reserved: 0, available: 3, backorder: true },
    ],
  ])('stock %j on create: tracked default true, quantity default 0, backorder default false', async (stock, expected) => {
    expect((await product({ price: 1, stock })).variants[0].stock).toEqual(expected)
  })

  test('variants make several, in their order', async () => {
    const { variants, price } = await product({
      variants: [
        { price: 30, options: { size: 'L' } },
        { price: 20, name: 'Small', active: false },
        { price: 25, sku: 'M', position: 7 },
      ],
    })
    expect(variants.map(({ name, price: amount, sku, position, active }: any) => [name, amount, sku, position, active])).toEqual([
      ['L', 30, null, 0, true],
      ['Small', 20, null, 1, false],
      ['Linen shirt 3', 25, 'M', 7, true],
    ])
    expect(price).toBe(25)
  })

  test('variants: 1-200', async () => {
    const some = (n: number) => Array.from({ length: n }, (_, i) => ({ price: i }))
    expect((await product({ variants: some(1) })).variants).toHaveLength(1)
    expect((await product({ variants: some(200) })).variants).toHaveLength(200)
    expect(refusal(await post({ name: 'x', variants: [] }))).toBe('400 too_small variants')
    expect(refusal(await post({ name: 'x', variants: some(201) }))).toBe('400 too_big variants')
  })

  test('every field that is given comes back', async () => {
    const [brand, category, collection, rate] = [
      await create(shop, '/brands', { name: 'Brand' }),
      await create(shop, '/categories', { name: 'Category' }),
      await create(shop, '/collections', { name: 'Collection' }),
      await create(shop, '/tax-rates', { name: 'VAT', rate: 23 }),
    ]
    const given = {
      name: 'Linen shirt',
      slug: 'a-shirt',
      summary: 'Cool',
      content: doc('Made of linen'),
      badgeContent: 'New',
      status: 'draft',
      images: ['https://example.com/a.png', 'http://example.com/b.png'],
      brandId: brand.id,
      categoryId: category.id,
      collectionIds: [collection.id],
      tags: ['linen', 'Summer'],
      seo: { title: 'T', description: 'D', canonical: 'https://example.com/shirt' },
    }
    const variant = {
      name: 'Medium',
      sku: 'L-M',
      barcode: '4006381333931',
      price: 19.99,
      compareAtPrice: 29.5,
      options: { size: 'M', colour: 'sand' },
      weightGrams: 250,
      dimensionsMm: { length: 300, width: 200.5, height: 10 },
      shippable: false,
      bookable: true,
      taxRateId: rate.id,
      position: 3,
      active: true,
    }
    const made = await product({ ...given, variants: [variant] })
    expect(made).toMatchObject(given)
    expect(made.variants[0]).toMatchObject(variant)
    expect(await read(shop, `/products/${made.id}`)).toEqual(made)
    expect(await read(shop, '/products/a-shirt')).toEqual(made)
  })

  test('unknown fields are ignored', async () => {
    const made = await product({
      id: NOBODY,
      rating: { average: 5, count: 9 },
      createdAt: '2020-01-01T00:00:00.000Z',
      event: { name: 'x' },
      nonsense: [1],
      variants: [{ price: 1, id: NOBODY, reserved: 5, stock: { quantity: 1, reserved: 4, nonsense: 1 } }],
    })
    expect(made.id).not.toBe(NOBODY)
    expect(made).toMatchObject({ rating: { average: null, count: 0 }, event: null, variants: [{ stock: { quantity: 1, reserved: 0 } }] })
    expect(made.createdAt).not.toBe('2020-01-01T00:00:00.000Z')
  })

  test.each([
    ['required name', {}],
    ['invalid_type name', { name: null }],
    ['invalid_type name', { name: 5 }],
    ['too_small name', { name: '' }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['invalid_type summary', { name: 'x', summary: 5 }],
    ['too_big summary', { name: 'x', summary: 'x'.repeat(5001) }],
    ['too_big badgeContent', { name: 'x', badgeContent: 'x'.repeat(201) }],
    ['invalid_enum_value status', { name: 'x', status: 'live' }],
    ['invalid_enum_value status', { name: 'x', status: null }],
    ['invalid_enum_value status', { name: 'x', status: '' }],
    ['invalid_type images', { name: 'x', images: null }],
    ['invalid_string images.0', { name: 'x', images: ['not a url'] }],
    ['invalid_string images.1', { name: 'x', images: ['https://example.com/a.png', 'ftp://example.com/b'] }],
    ['invalid_string images.0', { name: 'x', images: ['javascript:alert(1)'] }],
    ['invalid_string brandId', { name: 'x', brandId: 'brand' }],
    ['invalid_string brandId', { name: 'x', brandId: '' }],
    ['invalid_type categoryId', { name: 'x', categoryId: 5 }],
    ['invalid_type collectionIds', { name: 'x', collectionIds: 'x' }],
    ['invalid_string collectionIds.0', { name: 'x', collectionIds: ['x'] }],
    ['invalid_type collectionIds', { name: 'x', collectionIds: null }],
    ['invalid_type tags', { name: 'x', tags: null }],
    ['too_small tags.0', { name: 'x', tags: [''] }],
    ['custom tags', { name: 'x', tags: ['a', 'a'] }],
    ['too_big tags.0', { name: 'x', tags: ['x'.repeat(101)] }],
    ['too_big tags', { name: 'x', tags: Array.from({ length: 101 }, (_, i) => `t${i}`) }],
    ['invalid_type seo', { name: 'x', seo: null }],
    ['invalid_type seo.title', { name: 'x', seo: { title: 5 } }],
    ['invalid_type price', { name: 'x', price: null }],
    ['invalid_type price', { name: 'x', price: '19.99' }],
    ['too_small price', { name: 'x', price: -0.01 }],
    ['too_big price', { name: 'x', price: 1_000_000_000.01 }],
    ['too_small sku', { name: 'x', price: 1, sku: '' }],
    ['too_big sku', { name: 'x', price: 1, sku: 'x'.repeat(101) }],
    ['invalid_type stock', { name: 'x', price: 1, stock: null }],
    ['invalid_type stock', { name: 'x', price: 1, stock: 5 }],
    ['too_small stock.quantity', { name: 'x', price: 1, stock: { quantity: -1 } }],
    ['invalid_type stock.quantity', { name: 'x', price: 1, stock: { quantity: 1.5 } }],
    ['invalid_type stock.quantity', { name: 'x', price: 1, stock: { quantity: '5' } }],
    ['invalid_type stock.tracked', { name: 'x', price: 1, stock: { tracked: 'yes' } }],
    ['custom price', { name: 'x', sku: 'A' }],
    ['custom price', { name: 'x', stock: { quantity: 1 } }],
    ['custom variants', { name: 'x', price: 1, variants: [{ price: 1 }] }],
    ['invalid_type variants', { name: 'x', variants: {} }],
    ['required variants.0.price', { name: 'x', variants: [{}] }],
    ['invalid_type variants.1.options.size', { name: 'x', variants: [{ price: 1 }, { price: 1, options: { size: 5 } }] }],
    ['invalid_type variants.0.weightGrams', { name: 'x', variants: [{ price: 1, weightGrams: 1.5 }] }],
    ['too_small variants.0.dimensionsMm.length', { name: 'x', variants: [{ price: 1, dimensionsMm: { length: -1 } }] }],
    ['invalid_type variants.0.active', { name: 'x', variants: [{ price: 1, active: 'true' }] }],
    ['invalid_type content', { name: 'x', content: 5 }],
    ['invalid_enum_value content.type', { name: 'x', content: { type: 'paragraph' } }],
    ['invalid_type content.content', { name: 'x', content: { type: 'doc', content: 'x' } }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await post(body))).toBe(`400 ${detail}`)
    expect(await count()).toBe(0)
  })

  test('the limits themselves are taken', async () => {
    const tags = Array.from({ length: 100 }, (_, i) => `${'t'.repeat(97)}${String(i).padStart(3, '0')}`)
    const made = await product({
      name: 'n'.repeat(300),
      summary: 's'.repeat(5000),
      badgeContent: 'b'.repeat(200),
      tags,
      price: 1_000_000_000,
      sku: 's'.repeat(100),
      stock: { quantity: 1_000_000_000 },
    })
    expect(made).toMatchObject({
      name: 'n'.repeat(300),
      tags,
      price: 1_000_000_000,
      variants: [{ sku: 's'.repeat(100), stock: { quantity: 1_000_000_000 } }],
    })
    expect(await product({ name: 'x', price: 0 })).toMatchObject({ price: 0 })
  })

  test('limits count characters, not bytes or halves of them', async () => {
    const given = {
      name: '👋'.repeat(300),
      summary: '𝒜'.repeat(5000),
      badgeContent: 'ł'.repeat(200),
      tags: ['🏷'.repeat(100)],
      seo: { title: '🚀'.repeat(300), description: null },
    }
    const made = await product({ ...given, price: 1, sku: '🔑'.repeat(100), variants: undefined })
    expect(made).toMatchObject(given)
    for (const [body, detail] of [
      [{ name: '👋'.repeat(301) }, 'too_big name'],
      [{ name: 'x', summary: '𝒜'.repeat(5001) }, 'too_big summary'],
      [{ name: 'x', tags: ['ok', '🏷'.repeat(101)] }, 'too_big tags.1'],
      [{ name: 'x', seo: { title: '🚀'.repeat(301) } }, 'too_big seo.title'],
      [{ name: '👋'.repeat(300), badgeContent: 5 }, 'invalid_type badgeContent'],
    ] as const)
      expect(refusal(await post(body))).toBe(`400 ${detail}`)
    expect((await read(shop, `/products?query=${encodeURIComponent('👋'.repeat(200))}`)).meta.count).toBe(1)
  })

  test.each([
    ['\u0000', '\\u0000'],
    ['\ud800', '\\ud800'],
    ['\udc00x', '\\udc00x'],
  ])('text with %j is 400 by field', async (_, escaped) => {
    expect(refusal(await shop.call('POST', '/products', undefined, { raw: `{"name":"a${escaped}"}` }))).toBe('400 invalid_string name')
    expect(refusal(await shop.call('POST', '/products', undefined, { raw: `{"name":"a","tags":["ok","${escaped}"]}` }))).toBe(
      '400 invalid_string tags.1',
    )
  })

  test('text of any script comes back as it was written', async () => {
    for (const name of [
      'Łódź ÄÖÜ ß',
      '日本語のシャツ',
      'हिन्दी',
      'قميص',
      '👩‍👩‍👧‍👦 family',
      'e\u0301 decomposed',
      '\u202eright to left',
      'zero\u200bwidth',
      '<script>alert(1)</script>',
      '"; drop table products; --',
    ]) {
      const { id } = await product({ name, summary: name, tags: [name], price: 1, sku: name })
      const row = await read(shop, `/products/${id}`)
      expect([row.name, row.summary, row.tags, row.variants[0].sku]).toEqual([name, name, [name], name])
    }
  })

  test('__proto__, constructor and duplicate keys do no harm', async () => {
    const { status, body } = await shop.call('POST', '/products', undefined, {
      raw: '{"name":"first","name":"last","__proto__":{"status":"draft"},"constructor":1,"variants":[{"price":1,"options":{"__proto__":"x","size":"M"}}]}',
    })
    expect([status, body.name, body.status, body.variants[0].options.size]).toEqual([201, 'last', 'published', 'M'])
    expect(({} as any).status).toBeUndefined()
  })
})

describe('money', () => {
  test.each([
    ['usd', { price: 19.999 }, 'price'],
    ['usd', { price: 1.005 }, 'price'],
    ['usd', { price: 1, compareAtPrice: 2.123 }, 'compareAtPrice'],
    ['usd', { price: 1, prices: { eur: 1.005 } }, 'prices.eur'],
    ['usd', { price: 1, prices: { jpy: 100.5 } }, 'prices.jpy'],
    ['usd', { price: 1, prices: { USD: 2 } }, 'prices.USD'],
    ['usd', { price: 1, prices: { EUR: 2, eur: 3 } }, 'prices.eur'],
    ['usd', { price: 1, prices: { kwd: 1.2345 } }, 'prices.kwd'],
    ['usd', { price: 1e-7 }, 'price'],
    ['usd', { variants: [{ price: 1 }, { price: 1.001 }] }, 'variants.1.price'],
    ['usd', { variants: [{ price: 1, compareAtPrice: 0.001 }] }, 'variants.0.compareAtPrice'],
    ['usd', { variants: [{ price: 1, prices: { eur: 0.001 } }] }, 'variants.0.prices.eur'],
    ['jpy', { price: 1.5 }, 'price'],
    ['kwd', { price: 1.2345 }, 'price'],
  ])('in a store of %s, %j has more decimals than its currency: 400 custom at %s', async (currency, body, path) => {
    const store = await app.newStore({ currency })
    expect(refusal(await store.call('POST', '/products', { name: 'x', ...body }))).toBe(`400 custom ${path}`)
    expect(await count(store)).toBe(0)
  })

  test.each([
    ['usd', [19.99, 0.01, 1.1, 8.32, 1e9]],
    ['jpy', [1998, 0, 1e9]],
    ['kwd', [1.005, 8.325, 0.001]],
  ] as const)('prices of %s come back as they were written', async (currency, amounts) => {
    const store = await app.newStore({ currency })
    for (const price of amounts) expect((await create(store, '/products', { name: 'x', price })).price).toBe(price)
  })

  test('prices that are no currency, or no number, are 400 by field', async () => {
    for (const [prices, detail] of [
      [{ zzz: 1 }, 'custom prices.zzz'],
      [{ euro: 1 }, 'custom prices.euro'],
      [{ eur: '1' }, 'invalid_type prices.eur'],
      [{ eur: -1 }, 'too_small prices.eur'],
      [{ eur: null }, 'invalid_type prices.eur'],
      [null, 'invalid_type prices'],
    ] as const) {
      expect(refusal(await post({ name: 'x', price: 1, prices }))).toBe(`400 ${detail}`)
    }
  })

  test('product responses include only enabled currencies; a price set before is there once its currency is enabled', async () => {
    const { id } = await product({
      variants: [
        { price: 10, prices: { EUR: 9, gbp: 8.5, jpy: 1000 } },
        { price: 12, prices: { eur: 7 } },
      ],
    })
    expect(await read(shop, `/products/${id}`)).toMatchObject({ price: 10, prices: {}, variants: [{ prices: {} }, { prices: {} }] })
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur', 'jpy'] })
    expect(await read(shop, `/products/${id}`)).toMatchObject({
      price: 10,
      prices: { eur: 7, jpy: 1000 },
      variants: [{ prices: { eur: 9, jpy: 1000 } }, { prices: { eur: 7 } }],
    })
    const { prices } = (await read(shop, `/products/${id}`)).variants[0]
    expect(Object.keys(prices).toSorted()).toEqual(['eur', 'jpy'])
  })
})

describe('slug', () => {
  test.each([
    ['Łopata', 'lopata'],
    ['Straße', 'strasse'],
    ['Москва', 'moskva'],
    ['Αθήνα', 'athina'],
    ['Crème brûlée & co.', 'creme-brulee-co'],
    ["Men's shirt", 'mens-shirt'],
    ['  --  a  --  ', 'a'],
  ])('%s is transliterated to %s', async (name, slug) => {
    expect((await product({ name })).slug).toBe(slug)
  })

  test.each(['日本語', 'हिन्दी', '🚀', '!!!', '..', '%2F', '/', '\u200b', NOBODY])(
    'the slug of %j is never empty, and of a-z0-9- alone',
    async (name) => {
      const { slug, id } = await product({ name })
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      expect((await read(shop, `/products/${slug}`)).id).toBe(id)
    },
  )

  test('a name of 300 characters has a slug that finds it', async () => {
    const { slug, id } = await product({ name: 'Ł'.repeat(300) })
    expect((await read(shop, `/products/${slug}`)).id).toBe(id)
  })

  test('a taken one gets -2, -3', async () => {
    expect([(await product()).slug, (await product()).slug, (await product()).slug]).toEqual([
      'linen-shirt',
      'linen-shirt-2',
      'linen-shirt-3',
    ])
    expect([(await product({ name: 'linen-shirt-2' })).slug, (await product({ name: 'Linen' })).slug]).toEqual(['linen-shirt-2-2', 'linen'])
  })

  test('20 parallel creates of one name give 20 distinct slugs', async () => {
    const made = await parallel(20, () => post({ name: 'Linen shirt' }))
    expect(statuses(made)).toEqual(Array(20).fill(201))
    expect(new Set(made.map(({ body }) => body.slug)).size).toBe(20)
  })

  test('20 parallel creates with one slug: one 201, 19 times 409', async () => {
    expect(statuses(await parallel(20, () => post({ name: 'x', slug: 'the-one', price: 1, sku: undefined })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
    expect(await count()).toBe(1)
  })

  test('a slug given explicitly and taken is 409, and so is a taken sku; nothing of them stays', async () => {
    await product({ slug: 'taken', price: 1, sku: 'TAKEN' })
    for (const body of [
      { name: 'x', slug: 'taken', price: 1, sku: 'NEW' },
      { name: 'x', price: 1, sku: 'TAKEN' },
      {
        name: 'x',
        variants: [
          { price: 1, sku: 'A' },
          { price: 1, sku: 'A' },
        ],
      },
    ]) {
      const answer = await post(body)
      expect([answer.status, typeof answer.body.error]).toEqual([409, 'string'])
    }
    expect(await count()).toBe(1)
    expect((await read(shop, '/variants')).meta.count).toBe(1)
    expect((await post({ name: 'x', price: 1, sku: 'NEW' })).status).toBe(201)
  })

  test('another store may use the same slug and sku', async () => {
    for (const store of [shop, other]) await create(store, '/products', { name: 'x', slug: 'same', price: 1, sku: 'SAME' })
  })

  test.each(['Upper', 'has space', 'under_score', 'ünïcode', '-a', 'a-', 'a--b', 'a/b', '..', 'a%2Fb', NOBODY])(
    'slug %s is 400',
    async (slug) => {
      expect(refusal(await post({ name: 'x', slug }))).toBe(slug === NOBODY ? '400 custom slug' : '400 invalid_string slug')
    },
  )

  test('a slug has 1-200 characters', async () => {
    expect(refusal(await post({ name: 'x', slug: '' }))).toBe('400 too_small slug')
    expect(refusal(await post({ name: 'x', slug: 'a'.repeat(201) }))).toBe('400 too_big slug')
    expect((await product({ slug: 'a'.repeat(200) })).slug).toBe('a'.repeat(200))
  })
})

describe('links to another resource', () => {
  test("an id that is missing or another store's is the same 400 with the field's path", async () => {
    const theirs = {
      brandId: (await create(other, '/brands', { name: 'x' })).id,
      categoryId: (await create(other, '/categories', { name: 'x' })).id,
      collection: (await create(other, '/collections', { name: 'x' })).id,
      taxRateId: (await create(other, '/tax-rates', { name: 'x', rate: 1 })).id,
    }
    const mine = (await create(shop, '/collections', { name: 'x' })).id
    for (const [body, path] of [
      [(id: string) => ({ brandId: id }), 'brandId'],
      [(id: string) => ({ categoryId: id }), 'categoryId'],
      [(id: string) => ({ collectionIds: [id] }), 'collectionIds.0'],
      [(id: string) => ({ collectionIds: [mine, id] }), 'collectionIds.1'],
      [(id: string) => ({ variants: [{ price: 1 }, { price: 1, taxRateId: id }] }), 'variants.1.taxRateId'],
    ] as const) {
      const foreign =
        theirs[
          path.startsWith('collectionIds') ? 'collection' : path.includes('taxRateId') ? 'taxRateId' : (path as 'brandId' | 'categoryId')
        ]
      const [missing, others] = [await post({ name: 'x', ...body(NOBODY) }), await post({ name: 'x', ...body(foreign) })]
      expect(refusal(missing)).toBe(`400 custom ${path}`)
      expect(others.text).toBe(missing.text)
    }
    expect(await count()).toBe(0)
  })

  test('a category of the store is no brand', async () => {
    expect(refusal(await post({ name: 'x', brandId: (await create(shop, '/categories', { name: 'x' })).id }))).toBe('400 custom brandId')
  })
})

describe('GET /products/{idOrSlug}', () => {
  test('by id in any case, or by slug', async () => {
    const { id, slug } = await product()
    for (const path of [id, id.toUpperCase(), slug]) expect((await read(shop, `/products/${path}`)).id).toBe(id)
  })

  test("a missing, a malformed and another store's id or slug are the same 404", async () => {
    const theirs = await create(other, '/products', { name: 'Theirs' })
    const answers = await Promise.all(
      [NOBODY, 'nothing', theirs.id, theirs.slug, '%00', '..%2f..', "'%20or%201=1"].map((path) => shop.call('GET', `/products/${path}`)),
    )
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
  })

  test('a storefront key sees published ones alone, and of them the active variants', async () => {
    const seen = await product({
      variants: [
        { price: 10, active: false, sku: 'OLD' },
        { price: 20, sku: 'NEW' },
      ],
    })
    const storefront = await read(shop, `/products/${seen.slug}`, shop.keys.storefront)
    expect([storefront.price, storefront.variants.map(({ sku }: any) => sku)]).toEqual([20, ['NEW']])
    expect((await read(shop, `/products/${seen.slug}`)).variants).toHaveLength(2)
    const missing = await shop.call('GET', `/products/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const status of ['draft', 'hidden']) {
      const { id, slug } = await product({ status })
      for (const path of [`/products/${id}`, `/products/${slug}`, `/products/${id}/variants`]) {
        const answer = await shop.call('GET', path, undefined, { key: shop.keys.storefront })
        expect([answer.status, answer.body.error]).toEqual([404, missing.body.error])
      }
      expect((await read(shop, `/products/${id}`)).status).toBe(status)
    }
  })

  test('a key that also carries another scope sees drafts', async () => {
    const { id } = await product({ status: 'draft' })
    expect((await read(shop, `/products/${id}`, await shop.keyWith('storefront:read', 'catalog:write'))).id).toBe(id)
  })
})

describe('PATCH /products/{idOrSlug}', () => {
  const patch = (id: string, body: unknown) => shop.call('PATCH', `/products/${id}`, body)

  test('changes what is named and nothing else', async () => {
    const before = await product({ summary: 'Cool', price: 5, tags: ['a'], content: doc('x'), badgeContent: 'B', seo: { title: 'T' } })
    for (const [body, change] of [
      [{}, {}],
      [{ summary: 'Warm' }, { summary: 'Warm' }],
      [{ status: 'hidden' }, { summary: 'Warm', status: 'hidden' }],
    ] as const) {
      const { status, body: after } = await patch(before.slug, body)
      expect([status, after]).toEqual([200, { ...before, ...change, updatedAt: AN_INSTANT }])
      expect(await read(shop, `/products/${before.id}`)).toEqual(after)
    }
  })

  test('null clears what may be null; empty stays empty; omitted stays as it was', async () => {
    const brand = await create(shop, '/brands', { name: 'x' })
    const category = await create(shop, '/categories', { name: 'x' })
    const full = { summary: 'S', badgeContent: 'B', content: doc('C'), brandId: brand.id, categoryId: category.id }
    const { id } = await product(full)
    expect((await patch(id, { summary: '', badgeContent: '' })).body).toMatchObject({ ...full, summary: '', badgeContent: '' })
    const cleared = { summary: null, badgeContent: null, content: null, brandId: null, categoryId: null }
    expect((await patch(id, cleared)).body).toMatchObject(cleared)
    for (const field of ['name', 'status', 'images', 'collectionIds', 'tags', 'seo', 'slug'])
      expect(refusal(await patch(id, { [field]: null }))).toMatch(new RegExp(`^400 \\w+ ${field}$`))
  })

  test('lists replace the whole list', async () => {
    const [a, b] = [await create(shop, '/collections', { name: 'a' }), await create(shop, '/collections', { name: 'b' })]
    const { id } = await product({ tags: ['x', 'y'], images: ['https://example.com/a.png'], collectionIds: [a.id] })
    expect((await patch(id, { tags: ['y', 'z'], images: [], collectionIds: [b.id] })).body).toMatchObject({
      tags: ['y', 'z'],
      images: [],
      collectionIds: [b.id],
    })
    expect((await read(shop, '/products?tag=x')).data).toEqual([])
    expect((await read(shop, `/collections/${a.id}`)).productIds).toEqual([])
    expect((await patch(id, { tags: [], collectionIds: [] })).body).toMatchObject({ tags: [], collectionIds: [] })
  })

  test('a name that changes leaves the slug alone; a slug changes when it is given, and may be its own again', async () => {
    const { id } = await product()
    await product({ name: 'Other' })
    expect((await patch(id, { name: 'Wool shirt' })).body).toMatchObject({ name: 'Wool shirt', slug: 'linen-shirt' })
    expect((await patch(id, { slug: 'linen-shirt' })).status).toBe(200)
    expect((await patch(id, { slug: 'wool' })).body.slug).toBe('wool')
    expect((await patch(id, { slug: 'other' })).status).toBe(409)
    expect(refusal(await patch(id, { slug: 'No Good' }))).toBe('400 invalid_string slug')
    expect((await shop.call('GET', '/products/linen-shirt')).status).toBe(404)
  })

  test('price, sku and stock change the one variant of a product', async () => {
    const { id } = await product({ price: 5, sku: 'A', stock: { quantity: 3, backorder: true } })
    expect((await patch(id, { price: 6.5, stock: { quantity: 9 } })).body).toMatchObject({
      price: 6.5,
      variants: [{ price: 6.5, sku: 'A', stock: { quantity: 9, backorder: true, tracked: true } }],
    })
    expect((await patch(id, { sku: null, compareAtPrice: 9 })).body.variants).toMatchObject([{ sku: null, compareAtPrice: 9, price: 6.5 }])
    expect(refusal(await patch(id, { price: 6.555 }))).toBe('400 custom price')
  })

  test('price makes the first variant of a product that has none; a product with several is 400', async () => {
    const { id } = await product()
    expect(refusal(await patch(id, { sku: 'A' }))).toBe('400 custom price')
    expect((await patch(id, { price: 5, sku: 'A', stock: { quantity: 2 } })).body).toMatchObject({
      price: 5,
      variants: [{ price: 5, sku: 'A', stock: { quantity: 2, tracked: true } }],
    })
    await create(shop, `/products/${id}/variants`, { price: 7 })
    expect(refusal(await patch(id, { price: 6 }))).toBe('400 custom price')
  })

  test("a missing and another store's product are the same 404; links are checked as on create", async () => {
    const theirs = await create(other, '/products', { name: 'Theirs' })
    const { id } = await product()
    const [missing, foreign] = [await patch(NOBODY, { name: 'x' }), await patch(theirs.id, { name: 'x' })]
    expect([missing.status, foreign.text]).toEqual([404, missing.text])
    expect((await read(other, `/products/${theirs.id}`)).name).toBe('Theirs')
    for (const field of ['brandId', 'categoryId']) expect(refusal(await patch(id, { [field]: NOBODY }))).toBe(`400 custom ${field}`)
    expect(refusal(await patch(id, { collectionIds: [NOBODY] }))).toBe('400 custom collectionIds.0')
  })

  test('two changes with the same If-Match: 200 and 412', async () => {
    const { id } = await product()
    const etag = (await shop.call('GET', `/products/${id}`)).headers.get('etag')!
    const answers = await parallel(2, (i) => shop.call('PATCH', `/products/${id}`, { summary: `${i}` }, { headers: { 'if-match': etag } }))
    expect(statuses(answers)).toEqual([200, 412])
  })

  test('the ETag changes with a variant, its stock and a translation of the product', async () => {
    const { id, variants } = await product({ price: 5 })
    const etag = async () => (await shop.call('GET', `/products/${id}?lang=pl-PL`)).headers.get('etag')
    const seen = [await etag()]
    const changes = [
      ['PATCH', `/variants/${variants[0].id}`, { price: 6 }],
      ['PATCH', `/inventory/${variants[0].id}`, { adjust: 1 }],
      ['PUT', `/products/${id}/translations/pl-PL`, { name: 'Koszula' }],
    ] as const
    for (const [method, path, body] of changes) {
      expect((await shop.call(method, path, body)).status).toBe(200)
      seen.push(await etag())
    }
    expect(new Set(seen).size).toBe(4)
  })
})

describe('DELETE /products/{idOrSlug}', () => {
  const remove = (id: string) => shop.call('DELETE', `/products/${id}`)

  test('answers {ok, deleted}, and takes everything of the product with it', async () => {
    const collection = await create(shop, '/collections', { name: 'x' })
    const {
      id,
      slug,
      variants: [variant],
    } = await product({ price: 5, sku: 'A', stock: { quantity: 2 }, tags: ['t'], collectionIds: [collection.id] })
    await shop.call('PUT', `/products/${id}/translations/pl-PL`, { name: 'Koszula', slug: 'koszula' })
    const { status, body } = await remove(slug)
    expect([status, body]).toEqual([200, { ok: true, deleted: 1 }])
    for (const path of [
      `/products/${id}`,
      `/products/${slug}`,
      '/products/koszula?lang=pl-PL',
      `/variants/${variant.id}`,
      `/inventory/${variant.id}/movements`,
    ])
      expect((await shop.call('GET', path)).status).toBe(404)
    for (const path of [
      '/products',
      '/products?tag=t',
      '/products?query=linen',
      '/variants',
      '/inventory',
      '/search?q=linen',
      '/search?q=koszula&lang=pl-PL',
    ])
      expect((await read(shop, path)).data).toEqual([])
    expect((await read(shop, `/collections/${collection.id}`)).productIds).toEqual([])
    expect((await remove(id)).status).toBe(404)
    expect(await product({ price: 5, sku: 'A' })).toMatchObject({ slug: 'linen-shirt' })
  })

  test("another store's product is 404 and stays", async () => {
    const theirs = await create(other, '/products', { name: 'Theirs' })
    expect((await remove(theirs.id)).text).toBe((await remove(NOBODY)).text)
    await read(other, `/products/${theirs.id}`)
  })

  test('409 while an open order has it', async () => {
    const {
      id,
      variants: [variant],
    } = await product({ price: 5, stock: { quantity: 2 } })
    const order = await create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: variant.id, quantity: 1 }] })
    const refused = await remove(id)
    expect([refused.status, typeof refused.body.error]).toEqual([409, 'string'])
    expect((await shop.call('DELETE', `/variants/${variant.id}`)).status).toBe(409)
    await shop.call('POST', `/orders/${order.id}/cancel`, { reason: 'x' })
    expect((await remove(id)).status).toBe(200)
    expect((await read(shop, `/orders/${order.id}`)).lines).toMatchObject([{ productId: id, variantId: variant.id, name: 'Linen shirt' }])
  })

  test('deleting what a coupon is restricted to never widens it to any', async () => {
    const { id } = await product({ price: 5 })
    const coupon = await create(shop, '/coupons', { code: 'ONE', type: 'percentage', value: 10, products: [id] })
    await remove(id)
    expect((await read(shop, `/coupons/${coupon.id}`)).productIds).toEqual([id])
  })
})

describe('scopes', () => {
  test('storefront:read reads, catalog:write writes; a key without the scope gets 403 that names it', async () => {
    const { id } = await product({ price: 5 })
    const [reader, writer, none] = [
      await shop.keyWith('storefront:read'),
      await shop.keyWith('catalog:write'),
      await shop.keyWith('orders:read'),
    ]
    const calls = [
      ['GET', '/products', undefined, 'storefront:read'],
      ['GET', `/products/${id}`, undefined, 'storefront:read'],
      ['GET', `/products/${id}/variants`, undefined, 'storefront:read'],
      ['POST', '/products', { name: 'x' }, 'catalog:write'],
      ['POST', `/products/${id}/variants`, { price: 1 }, 'catalog:write'],
      ['PATCH', `/products/${id}`, { name: 'y' }, 'catalog:write'],
      ['PUT', `/products/${id}/translations/pl-PL`, { name: 'z' }, 'catalog:write'],
      ['DELETE', `/products/${id}`, undefined, 'catalog:write'],
    ] as const
    for (const [method, path, body, scope] of calls) {
      for (const key of [none, scope === 'catalog:write' ? reader : writer]) {
        const answer = await shop.call(method, path, body, { key })
        expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
      }
      expect((await shop.call(method, path, body, { key: scope === 'catalog:write' ? writer : reader })).status).toBeLessThan(300)
    }
  })

  test('403 comes before 400 and 404', async () => {
    expect((await shop.call('POST', '/products', { name: 5 }, { key: shop.keys.storefront })).status).toBe(403)
    expect((await shop.call('PATCH', `/products/${NOBODY}`, { name: 5 }, { key: shop.keys.storefront })).status).toBe(403)
  })

  test('staging keys see only the sandbox', async () => {
    const { id } = await product()
    expect((await shop.call('GET', `/products/${id}`, undefined, { key: shop.keys.staging })).status).toBe(404)
    expect((await shop.call('GET', '/products', undefined, { key: shop.keys.staging })).body.meta.count).toBe(0)
  })
})
