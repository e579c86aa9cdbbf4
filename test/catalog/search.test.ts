import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, names, read, refusal, twoStores } from './shop.ts'

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
const search = (q: string, more = '', key?: string) => read(shop, `/search?q=${encodeURIComponent(q)}${more}`, key)
const found = async (q: string, more = '', key?: string) => names(await search(q, more, key)).toSorted()
const doc = (text: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] })

describe('GET /search', () => {
  test('{data: [{type, id, slug, name, snippet, score}], meta: {count}}', async () => {
    const { id } = await product('Linen shirt')
    expect(await search('linen')).toEqual({
      data: [
        {
          type: 'product',
          id,
          slug: 'linen-shirt',
          name: 'Linen shirt',
          snippet: expect.stringContaining('Linen'),
          score: expect.any(Number),
        },
      ],
      meta: { count: 1 },
    })
    expect(await search('nothing')).toEqual({ data: [], meta: { count: 0 } })
  })

  test('q is required', async () => {
    expect(refusal(await shop.call('GET', '/search'))).toBe('400 required q')
    expect(refusal(await shop.call('GET', '/search?q='))).toBe('400 too_small q')
    expect(refusal(await shop.call('GET', `/search?q=${'x'.repeat(201)}`))).toBe('400 too_big q')
    expect(refusal(await shop.call('GET', '/search?q=a&q=b'))).toBe('400 custom q')
    expect(await search('x'.repeat(200))).toEqual({ data: [], meta: { count: 0 } })
  })

  test('limit (10); meta.count is all that match', async () => {
    for (let i = 0; i < 12; i++) await product(`Linen ${i}`)
    const { data, meta } = await search('linen')
    expect([data.length, meta]).toEqual([10, { count: 12 }])
    expect([(await search('linen', '&limit=1')).data.length, (await search('linen', '&limit=100')).data.length]).toEqual([1, 12])
    for (const [limit, code] of [
      ['0', 'too_small'],
      ['101', 'too_big'],
      ['1.5', 'invalid_type'],
    ])
      expect(refusal(await shop.call('GET', `/search?q=a&limit=${limit}`))).toBe(`400 ${code} limit`)
  })

  test('types: product, category, collection, brand, post', async () => {
    for (const path of ['/products', '/categories', '/collections', '/brands']) await create(shop, path, { name: `Linen ${path.slice(1)}` })
    const types = async (more: string) => (await search('linen', more)).data.map(({ type }: any) => type).toSorted()
    expect([
      await types(''),
      await types('&types=brand'),
      await types('&types=product,category'),
      await types('&types=post'),
      await types('&types=product,product'),
      await types('&types=product,category,collection,brand,post'),
    ]).toEqual([
      ['brand', 'category', 'collection', 'product'],
      ['brand'],
      ['category', 'product'],
      [],
      ['product'],
      ['brand', 'category', 'collection', 'product'],
    ])
    for (const wrong of ['shoe', '', 'product,', 'product;brand', "product'"]) {
      const answer = await shop.call('GET', `/search?q=linen&types=${encodeURIComponent(wrong)}`)
      expect([answer.status, answer.body.details[0].path[0]]).toEqual([400, 'types'])
    }
  })

  test('ranked: what has it in its name comes before what has it in its text', async () => {
    await product('Other thing', { content: doc('Goes well with linen and more linen, linen, linen') })
    await product('Linen shirt', { content: doc('Woven') })
    await product('Scarf', { summary: 'Not of linen' })
    const { data } = await search('linen')
    expect(data[0].name).toBe('Linen shirt')
    expect(data.map(({ score }: any) => score)).toEqual(data.map(({ score }: any) => score).toSorted((a: number, b: number) => b - a))
  })

  test('prefix: words match from their beginning; all of them must occur, in any order', async () => {
    await product('Linen shirt', { summary: 'Woven in Portugal', price: 1, sku: 'LS-2044' })
    for (const [q, expected] of [
      ['lin', 1],
      ['l', 1],
      ['inen', 0],
      ['shirt linen', 1],
      ['linen port', 1],
      ['linen wool', 0],
      ['LINEN SHIRT', 1],
      ['ls-20', 1],
      ['ls2044', 0],
    ] as const)
      expect([q, (await search(q)).meta.count]).toEqual([q, expected])
  })

  test('diacritics folding: with and without, both ways', async () => {
    await product('Żółta Łódź')
    await product('Crème brûlée')
    await product('Straße Größe')
    await product('Москва')
    await product('Zolta lodz')
    for (const [q, expected] of [
      ['zolta', ['Zolta lodz', 'Żółta Łódź']],
      ['lodz', ['Zolta lodz', 'Żółta Łódź']],
      ['creme', ['Crème brûlée']],
      ['CRÈME', ['Crème brûlée']],
      ['brulee', ['Crème brûlée']],
      ['strasse', ['Straße Größe']],
      ['grosse', ['Straße Größe']],
      ['straße', ['Straße Größe']],
      ['moskva', ['Москва']],
      ['МОСКВА', ['Москва']],
      ['cre\u0300me', ['Crème brûlée']],
    ] as const)
      expect([q, await found(q)]).toEqual([q, expected])
    for (const q of ['żółta', 'łódź', 'Łódź']) expect(await found(q)).toContain('Żółta Łódź')
  })

  test.each([
    '"',
    '""',
    '" OR 1',
    '*',
    'a*',
    '(',
    ')',
    'NEAR',
    'NEAR(linen, 2)',
    'AND',
    'OR',
    'NOT',
    'linen AND',
    'name:linen',
    '{name body}:linen',
    '^linen',
    '- linen',
    "'",
    "'; drop table products; --",
    '\\',
    '%',
    '_',
    '☕',
    '\u0000',
    '\u200b',
    '  ',
    ',,,',
    'ſ',
    'İ',
    '\ufffd',
    `${'a '.repeat(99)}a`,
  ])('%j is no syntax', async (q) => {
    await product('Linen')
    expect((await shop.call('GET', `/search?q=${encodeURIComponent(q)}`)).status).toBe(200)
  })

  test('%, _ and * are no wildcards', async () => {
    await product('Linen')
    for (const q of ['%', '_____', '*', 'l%n', 'l_nen', 'l*n']) expect([q, await found(q)]).toEqual([q, []])
  })

  test('a word of the syntax is a word', async () => {
    await product('Near and far')
    expect([await found('NEAR'), await found('near AND far'), await found('NOT near')]).toEqual([['Near and far'], ['Near and far'], []])
  })

  test('what changes is found as it is now, what goes is gone', async () => {
    const {
      id,
      variants: [variant],
    } = await product('Linen', { price: 1, sku: 'AAA', summary: 'one', content: doc('two'), tags: ['three'] })
    for (const q of ['linen', 'aaa', 'one', 'two', 'three']) expect([q, await found(q)]).toEqual([q, ['Linen']])
    await shop.call('PATCH', `/products/${id}`, { name: 'Cotton', summary: null, content: null, tags: [] })
    await shop.call('PATCH', `/variants/${variant.id}`, { sku: 'BBB' })
    for (const q of ['linen', 'aaa', 'one', 'two', 'three']) expect([q, await found(q)]).toEqual([q, []])
    expect([await found('cotton'), await found('bbb')]).toEqual([['Cotton'], ['Cotton']])
    await shop.call('DELETE', `/products/${id}`)
    expect(await found('cotton')).toEqual([])
    for (const path of ['/categories', '/collections', '/brands']) {
      const made = await create(shop, path, { name: 'Linen', description: 'woven' })
      expect([await found('linen'), await found('woven')]).toEqual([['Linen'], ['Linen']])
      await shop.call('PATCH', `${path}/${made.id}`, { name: 'Cotton', description: doc('knitted') })
      expect([await found('linen'), await found('woven'), await found('knitted')]).toEqual([[], [], ['Cotton']])
      await shop.call('DELETE', `${path}/${made.id}`)
      expect(await found('cotton')).toEqual([])
    }
  })

  test("another store's things, and the sandbox's, are not found", async () => {
    await create(other, '/products', { name: 'Linen theirs' })
    await shop.call('POST', '/products', { name: 'Linen sandbox' }, { key: shop.keys.staging })
    expect(await found('linen')).toEqual([])
    expect(names((await shop.call('GET', '/search?q=linen', undefined, { key: shop.keys.staging })).body)).toEqual(['Linen sandbox'])
  })

  test('needs storefront:read', async () => {
    const answer = await shop.call('GET', '/search?q=a', undefined, { key: await shop.keyWith('catalog:write') })
    expect([answer.status, answer.body.error, answer.body.hint]).toEqual([
      403,
      expect.stringContaining('storefront:read'),
      expect.any(String),
    ])
    expect((await shop.call('GET', '/search?q=a', undefined, { key: shop.keys.storefront })).status).toBe(200)
  })
})

describe('a storefront', () => {
  test('finds published and active things alone', async () => {
    for (const status of ['draft', 'published', 'hidden']) await product(`Linen ${status}`, { status })
    for (const path of ['/categories', '/collections', '/brands'])
      for (const active of [true, false]) await create(shop, path, { name: `Linen ${path} ${active}`, active })
    const seen = ['Linen /brands true', 'Linen /categories true', 'Linen /collections true', 'Linen published']
    const answer = await search('linen', '', shop.keys.storefront)
    expect([names(answer).toSorted(), answer.meta.count]).toEqual([seen, 4])
    expect((await search('linen')).meta.count).toBe(9)
  })

  test('sees a product the moment it is published, and no more once it is not', async () => {
    const { id } = await product('Linen', { status: 'draft' })
    const seen = () => found('linen', '', shop.keys.storefront)
    expect(await seen()).toEqual([])
    await shop.call('PATCH', `/products/${id}`, { status: 'published' })
    expect(await seen()).toEqual(['Linen'])
    await shop.call('PATCH', `/products/${id}`, { status: 'hidden' })
    expect(await seen()).toEqual([])
  })

  test('is told nothing of inactive variants, not even by their SKU in a snippet', async () => {
    await product('Linen', {
      variants: [
        { price: 1, sku: 'VISIBLE-1' },
        { price: 1, sku: 'SECRET-1', active: false },
      ],
    })
    for (const q of ['secret', 'visible', 'linen'])
      expect((await shop.call('GET', `/search?q=${q}`, undefined, { key: shop.keys.storefront })).text).not.toContain('SECRET')
    expect([
      await found('secret', '', shop.keys.storefront),
      await found('visible', '', shop.keys.storefront),
      await found('secret'),
    ]).toEqual([[], ['Linen'], ['Linen']])
    expect((await read(shop, '/products?query=secret', shop.keys.storefront)).meta.count).toBe(0)
    expect((await read(shop, '/products?query=secret')).meta.count).toBe(1)
  })
})

describe('lang', () => {
  const put = (path: string, id: string, locale: string, body: unknown) => shop.call('PUT', `/${path}/${id}/translations/${locale}`, body)

  test('finds by the words of that language and of the base language, and shows name and slug in it', async () => {
    const { id } = await product('Linen shirt', { summary: 'Woven' })
    await put('products', id, 'pl-PL', { name: 'Koszula lniana', slug: 'koszula', summary: 'Tkana', content: doc('Miękka') })
    await put('products', id, 'de-DE', { name: 'Leinenhemd' })
    const hit = (name: string, slug: string) => [{ id, name, slug }]
    for (const [q, lang, expected] of [
      ['koszula', 'pl-PL', hit('Koszula lniana', 'koszula')],
      ['tkana', 'pl-PL', hit('Koszula lniana', 'koszula')],
      ['miekka', 'pl-PL', hit('Koszula lniana', 'koszula')],
      ['linen', 'pl-PL', hit('Koszula lniana', 'koszula')],
      ['leinen', 'pl-PL', []],
      ['leinen', 'de-DE', hit('Leinenhemd', 'linen-shirt')],
      ['linen', 'de-DE', hit('Leinenhemd', 'linen-shirt')],
      ['koszula', 'fr-FR', []],
      ['linen', 'fr-FR', hit('Linen shirt', 'linen-shirt')],
    ] as const)
      expect([q, lang, (await search(q, `&lang=${lang}`)).data]).toMatchObject([q, lang, expected])
    for (const q of ['koszula', 'leinen']) expect(await found(q)).toEqual([])
    expect(await found('linen')).toEqual(['Linen shirt'])
  })

  test('a product found in both languages is one result', async () => {
    const { id } = await product('Linen')
    await put('products', id, 'pl-PL', { name: 'Linen pl' })
    expect(await search('linen', '&lang=pl-PL')).toMatchObject({ data: [{ id, name: 'Linen pl' }], meta: { count: 1 } })
  })

  test('a translation that changes or goes is found as it is now', async () => {
    const { id } = await create(shop, '/categories', { name: 'Shirts' })
    await put('categories', id, 'pl-PL', { name: 'Koszule', description: doc('Lniane') })
    expect([await found('koszule', '&lang=pl-PL'), await found('lniane', '&lang=pl-PL')]).toEqual([['Koszule'], ['Koszule']])
    await put('categories', id, 'pl-PL', { name: 'Bluzki' })
    expect([await found('koszule', '&lang=pl-PL'), await found('lniane', '&lang=pl-PL'), await found('bluzki', '&lang=pl-PL')]).toEqual([
      [],
      [],
      ['Bluzki'],
    ])
    await put('categories', id, 'pl-PL', {})
    expect([await found('bluzki', '&lang=pl-PL'), await found('shirts', '&lang=pl-PL')]).toEqual([[], ['Shirts']])
  })
})

test('a snippet is what the merchant wrote, wherever the words were found', async () => {
  const snippet = async (q: string) => (await read(shop, `/search?q=${encodeURIComponent(q)}`)).data[0].snippet
  await product('Przejście Łódź', { summary: 'Zażółć gęślą jaźń: Żółta świeca', price: 1, sku: 'LODZ-1' })
  expect(await snippet('świeca')).toContain('Zażółć gęślą jaźń: Żółta **świeca**')
  expect(await snippet('przejscie')).toBe('**Przejście** Łódź')
  expect(await snippet('zolta')).toContain('Zażółć gęślą jaźń')
  await create(shop, '/categories', { name: 'Swetry' })
  expect(await snippet('swetry')).toBe('**Swetry**')
})
