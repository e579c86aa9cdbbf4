import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, names, NOBODY, parallel, read, refusal, twoStores } from './shop.ts'

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

const product = (name: string, body: object = {}) => create(shop, '/products', { name, ...body })
const list = (search = '', key?: string) => read(shop, `/products${search}`, key)
const found = async (search: string, key?: string) => {
  const { data, meta } = await list(search, key)
  expect(meta.count).toBe(data.length)
  return names({ data }).toSorted()
}
const q = (text: string) => `?query=${encodeURIComponent(text)}`

describe('GET /products', () => {
  test('limit (10), offset; meta.count is all that match, not the page', async () => {
    for (let i = 0; i < 12; i++) await product(`P${i}`)
    const first = await list()
    expect(names(first)).toEqual(['P11', 'P10', 'P9', 'P8', 'P7', 'P6', 'P5', 'P4', 'P3', 'P2'])
    expect(first.meta).toEqual({ count: 12, offset: 0, limit: 10 })
    expect(names(await list('?offset=10'))).toEqual(['P1', 'P0'])
    expect((await list('?limit=1&offset=11')).meta).toEqual({ count: 12, offset: 11, limit: 1 })
    expect(await list('?offset=12')).toEqual({ data: [], meta: { count: 12, offset: 12, limit: 10 } })
    expect((await list('?limit=100')).data).toHaveLength(12)
  })

  test('list items leave out content, and have everything else of the product', async () => {
    const made = await product('P', {
      price: 5,
      content: { type: 'doc', content: [] },
      tags: ['t'],
      collectionIds: [(await create(shop, '/collections', { name: 'c' })).id],
    })
    const { content, ...item } = made
    expect((await list()).data).toEqual([item])
  })

  test.each([
    ['limit=5&limit=6', 'custom limit'],
    ['status=live', 'invalid_enum_value status'],
    ['sort=-name', 'invalid_enum_value sort'],
    ['sort=', 'invalid_enum_value sort'],
    ['inStock=yes', 'invalid_type inStock'],
    ['includeEvents=1', 'invalid_type includeEvents'],
    ['minPrice=-1', 'too_small minPrice'],
    ['minPrice=abc', 'invalid_type minPrice'],
    ['maxPrice=', 'invalid_type maxPrice'],
    ['minPrice=1.005', 'custom minPrice'],
    ['maxPrice=1.005', 'custom maxPrice'],
    ['categoryId=x', 'invalid_string categoryId'],
    ['lang=pl', 'invalid_string lang'],
    ['currency=zloty', 'invalid_string currency'],
    ['currency=eur', 'custom currency'],
    ['currency=zzz', 'custom currency'],
  ])('?%s is 400 %s', async (search, detail) => {
    expect(refusal(await shop.call('GET', `/products?${search}`))).toBe(`400 ${detail}`)
  })

  test('unknown parameters are ignored', async () => {
    await product('P')
    expect(await found('?nonsense=1&__proto__=x&constructor=y')).toEqual(['P'])
  })

  test("another store's products are in no list", async () => {
    await create(other, '/products', { name: 'Theirs', price: 1, tags: ['t'] })
    for (const search of ['', '?query=theirs', '?tag=t', '?minPrice=0', '?includeEvents=true']) expect(await found(search)).toEqual([])
  })
})

describe('filters', () => {
  test('status', async () => {
    for (const status of ['draft', 'published', 'hidden']) await product(status, { status })
    for (const status of ['draft', 'published', 'hidden']) expect(await found(`?status=${status}`)).toEqual([status])
    expect(await found('')).toEqual(['draft', 'hidden', 'published'])
  })

  test('storefront-only keys see published alone, whatever they filter by', async () => {
    for (const status of ['draft', 'published', 'hidden']) await product(status, { status, price: 5, tags: ['t'], stock: { quantity: 1 } })
    for (const search of [
      '',
      '?status=published',
      '?tag=t',
      '?query=d',
      '?query=p',
      '?query=h',
      '?minPrice=1',
      '?inStock=true',
      '?sort=price',
      '?includeEvents=true',
    ]) {
      expect((await list(search, shop.keys.storefront)).data.filter(({ status }: any) => status !== 'published')).toEqual([])
    }
    expect(await found('', shop.keys.storefront)).toEqual(['published'])
    for (const status of ['draft', 'hidden'])
      expect(await list(`?status=${status}`, shop.keys.storefront)).toEqual({ data: [], meta: { count: 0, offset: 0, limit: 10 } })
  })

  test("categoryId, brandId, collectionId; an id that nothing has, and another store's, find nothing", async () => {
    const [brand, category, collection] = [
      await create(shop, '/brands', { name: 'x' }),
      await create(shop, '/categories', { name: 'x' }),
      await create(shop, '/collections', { name: 'x' }),
    ]
    await product('B', { brandId: brand.id })
    await product('C', { categoryId: category.id })
    await product('L', { collectionIds: [collection.id] })
    const theirs = await create(other, '/brands', { name: 'x' })
    expect([
      await found(`?brandId=${brand.id}`),
      await found(`?categoryId=${category.id}`),
      await found(`?collectionId=${collection.id}`),
    ]).toEqual([['B'], ['C'], ['L']])
    for (const id of [NOBODY, theirs.id])
      for (const filter of ['brandId', 'categoryId', 'collectionId']) expect(await found(`?${filter}=${id}`)).toEqual([])
    expect(await found(`?brandId=${brand.id}&categoryId=${category.id}`)).toEqual([])
    expect(await found(`?brandId=${brand.id.toUpperCase()}`)).toEqual(['B'])
  })

  test('tag is the whole tag, as it was written', async () => {
    await product('A', { tags: ['linen', 'Über%'] })
    await product('B', { tags: ['linen shirt'] })
    for (const [tag, expected] of [
      ['linen', ['A']],
      ['Linen', []],
      ['lin', []],
      ['%', []],
      ['Über%', ['A']],
      ['linen shirt', ['B']],
      ['', []],
      ["' or 1=1 --", []],
    ] as const)
      expect(await found(`?tag=${encodeURIComponent(tag)}`)).toEqual(expected)
  })

  test('minPrice and maxPrice are of the cheapest active variant, bounds included', async () => {
    await product('none')
    await product('ten', { price: 10 })
    await product('19.99', { variants: [{ price: 30 }, { price: 19.99 }, { price: 1, active: false }] })
    for (const [search, expected] of [
      ['minPrice=10', ['10', '19.99']],
      ['minPrice=10.01', ['19.99']],
      ['maxPrice=10', ['10']],
      ['maxPrice=9.99', []],
      ['minPrice=19.99&maxPrice=19.99', ['19.99']],
      ['minPrice=20&maxPrice=10', []],
      ['minPrice=0', ['10', '19.99']],
    ] as const) {
      expect(await found(`?${search}`)).toEqual(expected.map((name) => (name === '10' ? 'ten' : name)).toSorted())
    }
  })

  test('a price that changes, a variant that goes or comes, moves the product', async () => {
    const {
      id,
      variants: [variant],
    } = await product('P', { price: 10 })
    const under = () => found('?maxPrice=5')
    await shop.call('PATCH', `/variants/${variant.id}`, { price: 5 })
    expect(await under()).toEqual(['P'])
    await shop.call('PATCH', `/variants/${variant.id}`, { active: false })
    expect([await under(), (await list()).data[0].price]).toEqual([[], null])
    const second = await create(shop, `/products/${id}/variants`, { price: 3 })
    expect([await under(), (await list()).data[0].price]).toEqual([['P'], 3])
    await shop.call('DELETE', `/variants/${second.id}`)
    expect([await under(), (await list()).data[0].price]).toEqual([[], null])
  })

  test('inStock: an active variant that can be bought', async () => {
    await product('sold out', { price: 1 })
    await product('there', { price: 1, stock: { quantity: 1 } })
    await product('untracked', { price: 1, stock: { tracked: false } })
    await product('backorder', { price: 1, stock: { backorder: true } })
    await product('inactive', { variants: [{ price: 1, active: false, stock: { quantity: 1 } }] })
    await product('no variant')
    const held = await product('held', { price: 1, stock: { quantity: 2 } })
    await create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: held.variants[0].id, quantity: 2 }] })
    expect(await found('?inStock=true')).toEqual(['backorder', 'there', 'untracked'])
    expect(await found('?inStock=false')).toEqual(['held', 'inactive', 'no variant', 'sold out'])
  })

  test('sort: newest, price, -price, name', async () => {
    await product('b', { price: 2 })
    await product('c', { price: 1 })
    await product('a', { price: 3 })
    const order = async (sort: string) => names(await list(`?sort=${sort}`))
    expect([await order('newest'), await order('price'), await order('-price'), await order('name')]).toEqual([
      ['a', 'c', 'b'],
      ['c', 'b', 'a'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
    expect(names(await list())).toEqual(['a', 'c', 'b'])
  })

  test('products without a price are in a list by price too, behind those that have one', async () => {
    await product('none')
    await product('two', { price: 2 })
    await product('one', { price: 1 })
    expect([names(await list('?sort=price')), names(await list('?sort=-price'))]).toEqual([
      ['one', 'two', 'none'],
      ['two', 'one', 'none'],
    ])
    expect((await list('?sort=price')).meta.count).toBe(3)
  })

  test.each(['', '&tag=t', '&status=published'])('pages by price run on into those without one, each product once: %s', async (filter) => {
    for (let i = 0; i < 5; i++) await product(`none ${i}`, { tags: ['t'] })
    for (let i = 0; i < 5; i++) await product(`at ${i % 3}`, { price: i % 3, tags: ['t'] })
    for (const [sort, prices] of [
      ['price', [0, 0, 1, 1, 2]],
      ['-price', [2, 1, 1, 0, 0]],
    ] as const) {
      for (const limit of [1, 2, 3, 5, 10, 100]) {
        const pages: any[] = []
        for (let offset = 0; offset < 12; offset += limit)
          pages.push(...(await list(`?sort=${sort}&limit=${limit}&offset=${offset}${filter}`)).data)
        expect([sort, limit, pages.map(({ price }) => price), new Set(pages.map(({ id }) => id)).size]).toEqual([
          sort,
          limit,
          [...prices, null, null, null, null, null],
          10,
        ])
      }
    }
    expect(await list(`?sort=price&offset=10${filter}`)).toMatchObject({ data: [], meta: { count: 10 } })
  })

  test.each(['newest', 'price', '-price', 'name'])(
    'pages by %s show each product once, also where prices and names are equal',
    async (sort) => {
      for (let i = 0; i < 9; i++) await product('same', { price: 1 })
      const pages = []
      for (let offset = 0; offset < 9; offset += 2) pages.push(...(await list(`?sort=${sort}&limit=2&offset=${offset}`)).data)
      expect(new Set(pages.map(({ id }: any) => id)).size).toBe(9)
    },
  )

  test('all filters together', async () => {
    const category = await create(shop, '/categories', { name: 'x' })
    await product('Linen shirt', { categoryId: category.id, tags: ['t'], price: 10, stock: { quantity: 1 } })
    await product('Linen skirt', { categoryId: category.id, tags: ['t'], price: 20, stock: { quantity: 1 } })
    expect(
      await found(
        `?categoryId=${category.id}&tag=t&minPrice=5&maxPrice=15&inStock=true&query=linen&status=published&sort=price&includeEvents=true`,
      ),
    ).toEqual(['Linen shirt'])
  })
})

describe('query (name, summary, sku)', () => {
  test('finds words of name, summary and sku, from their beginning, in any case and order', async () => {
    await product('Linen shirt', { summary: 'Woven in Łódź', price: 1, sku: 'LS-2044-M' })
    await product('Wool scarf', {
      summary: 'Knitted',
      variants: [
        { price: 1, sku: 'WS-1' },
        { price: 2, sku: 'WS-2' },
      ],
    })
    for (const [text, expected] of [
      ['linen', ['Linen shirt']],
      ['LIN', ['Linen shirt']],
      ['shirt linen', ['Linen shirt']],
      ['woven', ['Linen shirt']],
      ['łódź', ['Linen shirt']],
      ['lodz', ['Linen shirt']],
      ['LS-2044', ['Linen shirt']],
      ['ls-2044-m', ['Linen shirt']],
      ['ws-2', ['Wool scarf']],
      ['linen wool', []],
      ['cotton', []],
      ['s', ['Linen shirt', 'Wool scarf']],
    ] as const)
      expect([text, await found(q(text))]).toEqual([text, expected])
  })

  test('what changes is found as it is now', async () => {
    const {
      id,
      variants: [variant],
    } = await product('Linen', { price: 1, sku: 'AAA' })
    await shop.call('PATCH', `/products/${id}`, { name: 'Cotton', summary: 'Fresh' })
    await shop.call('PATCH', `/variants/${variant.id}`, { sku: 'BBB' })
    for (const [text, expected] of [
      ['linen', []],
      ['cotton', ['Cotton']],
      ['fresh', ['Cotton']],
      ['aaa', []],
      ['bbb', ['Cotton']],
    ] as const)
      expect([text, await found(q(text))]).toEqual([text, expected])
  })

  test('%, _ and \\ mean themselves', async () => {
    for (const name of ['plain', '100% wool', 'under_score', 'back\\slash']) await product(name)
    for (const [text, expected] of [
      ['%', ['100% wool']],
      ['_', ['under_score']],
      ['\\', ['back\\slash']],
      ['100%', ['100% wool']],
      ['under_', ['under_score']],
      ['p%n', []],
      ['pl__n', []],
      ['%%', []],
    ] as const)
      expect([text, await found(q(text))]).toEqual([text, expected])
  })

  test.each([
    '"',
    '""',
    '*',
    'a*',
    '"a',
    'a"',
    '(',
    ')',
    'a)',
    'NEAR',
    'NEAR(a b)',
    'a NEAR b',
    'AND',
    'OR',
    'a OR b',
    'NOT a',
    'name:a',
    '{name}:a',
    '^a',
    'a + b',
    '-a',
    "'",
    "'; drop table products; --",
    '\\',
    '☕',
    '\u0000',
    '\u200b',
    ' ',
    ',',
    '%00',
    '\ufffd',
    'a'.repeat(200),
    'a '.repeat(100),
    'ſ',
    'İ',
    'हिन्दी',
    '日本',
  ])('%j is no syntax', async (text) => {
    await product('Something')
    const { data } = await list(q(text))
    expect(data.length).toBeLessThan(2)
  })

  test('an empty query finds what no query finds', async () => {
    await product('Something')
    expect(await found('?query=')).toEqual(['Something'])
  })

  test('scripts without spaces, combining marks and emoji are found', async () => {
    for (const name of ['日本語のシャツ', 'हिन्दी किताब', 'قميص كتان', 'Café', 'Cafe\u0301 two', '☕ mug', 'Straße']) await product(name)
    for (const [text, expected] of [
      ['日本', ['日本語のシャツ']],
      ['हिन्दी', ['हिन्दी किताब']],
      ['كتان', ['قميص كتان']],
      ['cafe', ['Cafe\u0301 two', 'Café']],
      ['café', ['Cafe\u0301 two', 'Café']],
      ['CAFÉ', ['Cafe\u0301 two', 'Café']],
      ['☕', ['☕ mug']],
      ['strasse', ['Straße']],
      ['straße', ['Straße']],
    ] as const) {
      expect([text, await found(q(text))]).toEqual([text, [...expected].toSorted()])
    }
  })
})

describe('currency', () => {
  beforeEach(() => shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur', 'jpy'] }))

  test('price comes in that currency when the merchant set it; what has none in it is left out of lists', async () => {
    await product('both', { price: 10, prices: { eur: 9.5, jpy: 1500 } })
    await product('dollars', { price: 20 })
    const { data, meta } = await list('?currency=eur')
    expect(meta.count).toBe(1)
    expect(data).toMatchObject([{ name: 'both', price: 9.5, prices: { eur: 9.5, jpy: 1500 }, variants: [{ price: 9.5 }] }])
    expect((await list('?currency=JPY')).data).toMatchObject([{ name: 'both', price: 1500 }])
    expect(names(await list('?currency=usd'))).toEqual(['dollars', 'both'])
  })

  test('the cheapest is the cheapest of those that have a price in it', async () => {
    const { id } = await product('P', {
      variants: [
        { price: 10 },
        { price: 20, prices: { eur: 19 } },
        { price: 30, prices: { eur: 25 } },
        { price: 1, prices: { eur: 1 }, active: false },
      ],
    })
    for (const answer of [(await list('?currency=eur')).data[0], await read(shop, `/products/${id}?currency=eur`)])
      expect([answer.price, answer.prices]).toEqual([19, { eur: 19 }])
  })

  test('minPrice, maxPrice and sort are in it, with its decimals', async () => {
    await product('a', { price: 10, prices: { jpy: 900 } })
    await product('b', { price: 5, prices: { jpy: 1500 } })
    expect(await found('?currency=jpy&minPrice=1000')).toEqual(['b'])
    expect(names(await list('?currency=jpy&sort=price'))).toEqual(['a', 'b'])
    expect(names(await list('?sort=price'))).toEqual(['b', 'a'])
    expect(refusal(await shop.call('GET', '/products?currency=jpy&minPrice=1000.5'))).toBe('400 custom minPrice')
  })

  test('a currency that is switched off is refused, in lists and details', async () => {
    const { id } = await product('P', { price: 1, prices: { eur: 1, gbp: 1 } })
    for (const path of ['/products', `/products/${id}`, `/products/${id}/variants`, '/variants'])
      expect(refusal(await shop.call('GET', `${path}?currency=gbp`))).toBe('400 custom currency')
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd'] })
    expect(refusal(await shop.call('GET', '/products?currency=eur'))).toBe('400 custom currency')
  })

  test('a detail is never converted: what has no price in it says null', async () => {
    const { id } = await product('P', { price: 10 })
    expect(await read(shop, `/products/${id}?currency=eur`)).toMatchObject({ price: null, prices: {}, variants: [] })
  })
})

test('a list that is read while products come and go answers 200, and shows none twice', async () => {
  const answers = await parallel(30, (i) =>
    i % 3 ? shop.call('GET', '/products?limit=100') : shop.call('POST', '/products', { name: `P${i}`, price: i }),
  )
  for (const { status, body } of answers) {
    expect([200, 201]).toContain(status)
    if (status === 200) expect(new Set(body.data.map(({ id }: any) => id)).size).toBe(body.data.length)
  }
})

test('sort=name is alphabetical, whatever the case and the marks, and follows a new name', async () => {
  for (const name of ['Zebra', 'cherry', 'Émile', 'apricot', 'Apple', 'éclair', 'banana']) await product(name)
  expect(names(await list('?sort=name'))).toEqual(['Apple', 'apricot', 'banana', 'cherry', 'éclair', 'Émile', 'Zebra'])
  expect((await shop.call('PATCH', '/products/zebra', { name: 'Åre' })).status).toBe(200)
  expect(names(await list('?sort=name&limit=3'))).toEqual(['Apple', 'apricot', 'Åre'])
})
