import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, names, NOBODY, parallel, read, refusal, statuses, twoStores } from './shop.ts'

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

const doc = (text: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] })
const KINDS = [
  ['products', 'productId'],
  ['collections', 'collectionId'],
  ['categories', 'categoryId'],
] as const
const SEO = { title: 'T', description: 'D', canonical: 'https://example.com/base' }
const make = (path: string, name = 'Base', body: object = {}, store = shop) => create(store, `/${path}`, { name, ...body })
const put = (path: string, id: string, locale: string, body: unknown) => shop.call('PUT', `/${path}/${id}/translations/${locale}`, body)
const fieldsOf = (path: string) =>
  path === 'products'
    ? {
        name: 'Nazwa',
        slug: 'nazwa',
        summary: 'Opis',
        badgeContent: 'Nowość',
        seoTitle: 'Tytuł',
        seoDescription: 'O tym',
        content: doc('Treść'),
      }
    : {
        name: 'Nazwa',
        slug: 'nazwa',
        seoTitle: 'Tytuł',
        seoDescription: 'O tym',
        description: doc('Opis'),
        longDescription: doc('Długi opis'),
      }
/** The translated fields as they show on the entity. */
const shown = ({ seoTitle, seoDescription, ...fields }: Record<string, unknown>) => ({
  ...fields,
  seo: { ...SEO, title: seoTitle, description: seoDescription },
})
const baseOf = (path: string) =>
  path === 'products'
    ? { summary: 'S', badgeContent: 'B', content: doc('C'), seo: SEO }
    : { description: 'D', longDescription: 'L', seo: SEO }

describe.each(KINDS)('PUT /%s/{idOrSlug}/translations/{locale}', (path, idField) => {
  test('ok, the id, locale, deleted', async () => {
    const { id, slug } = await make(path)
    for (const idOrSlug of [id, slug]) {
      const { status, body } = await put(path, idOrSlug, 'pl-PL', { name: 'Nazwa' })
      expect([status, body]).toEqual([200, { ok: true, [idField]: id, locale: 'pl-PL', deleted: false }])
    }
  })

  test('all fields show under lang; what is not translated keeps the default language', async () => {
    const base = await make(path, 'Base', baseOf(path))
    await put(path, base.id, 'pl-PL', fieldsOf(path))
    await put(path, base.id, 'de-DE', { name: 'Name' })
    const polish = await read(shop, `/${path}/${base.id}?lang=pl-PL`)
    expect(polish).toMatchObject(shown(fieldsOf(path)))
    const { translations: _, updatedAt: __, ...untranslated } = base
    expect(await read(shop, `/${path}/${base.id}?lang=de-DE`)).toMatchObject({ ...untranslated, name: 'Name' })
    for (const search of ['', '?lang=en-US', '?lang=fr-FR'])
      expect(await read(shop, `/${path}/${base.id}${search}`)).toMatchObject(untranslated)
    expect(names(await read(shop, `/${path}?lang=pl-PL`))).toEqual(['Nazwa'])
    expect((await read(shop, `/${path}?lang=pl-PL`)).data[0].slug).toBe('nazwa')
    expect(names(await read(shop, `/${path}?lang=de-DE`))).toEqual(['Name'])
    expect(names(await read(shop, `/${path}`))).toEqual(['Base'])
    expect((await shop.call('PATCH', `/${path}/${base.id}`, {})).body).toMatchObject(untranslated)
  })

  test('the body is the whole translation: omitted, null and blank fields fall back to the base language', async () => {
    const { id } = await make(path, 'Base', baseOf(path))
    const shownName = async () => {
      const { name, slug, seo } = await read(shop, `/${path}/${id}?lang=pl-PL`)
      return [name, slug, seo.title]
    }
    await put(path, id, 'pl-PL', { name: 'Nazwa', slug: 'nazwa', seoTitle: 'Tytuł' })
    expect(await shownName()).toEqual(['Nazwa', 'nazwa', 'Tytuł'])
    await put(path, id, 'pl-PL', { name: 'Nazwa', slug: '  ', seoTitle: null })
    expect(await shownName()).toEqual(['Nazwa', 'base', 'T'])
    await put(path, id, 'pl-PL', { seoTitle: 'Tytuł', name: '' })
    expect(await shownName()).toEqual(['Base', 'base', 'Tytuł'])
  })

  test.each([[{}], [{ name: '', slug: ' ', seoTitle: null }], [{ name: '\n\t' }]])('an empty body deletes the row: %j', async (body) => {
    const { id } = await make(path)
    await put(path, id, 'pl-PL', fieldsOf(path))
    await put(path, id, 'de-DE', { name: 'Name' })
    for (let i = 0; i < 2; i++)
      expect((await put(path, id, 'pl-PL', body)).body).toEqual({ ok: true, [idField]: id, locale: 'pl-PL', deleted: true })
    expect([(await read(shop, `/${path}/${id}?lang=pl-PL`)).name, (await read(shop, `/${path}/${id}?lang=de-DE`)).name]).toEqual([
      'Base',
      'Name',
    ])
    expect((await shop.call('GET', `/${path}/nazwa?lang=pl-PL`)).status).toBe(404)
    expect((await put(path, (await make(path)).id, 'pl-PL', { slug: 'nazwa' })).status).toBe(200)
  })

  test('strict: unknown fields are refused by name', async () => {
    const { id } = await make(path)
    const answer = await put(path, id, 'pl-PL', { name: 'x', price: 5, locale: 'pl-PL' })
    expect([answer.status, answer.body.details]).toEqual([
      400,
      [{ code: 'unrecognized_keys', message: expect.any(String), path: [], keys: ['price', 'locale'] }],
    ])
    for (const key of ['id', 'translations', '__proto__', path === 'products' ? 'description' : 'summary']) {
      expect(refusal(await shop.call('PUT', `/${path}/${id}/translations/pl-PL`, undefined, { raw: `{"${key}":"x"}` }))).toBe(
        '400 unrecognized_keys ',
      )
    }
  })

  test.each([
    ['invalid_type name', { name: 5 }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['custom slug', { slug: 'No Good' }],
    ['custom slug', { slug: NOBODY }],
    ['too_big slug', { slug: 'a'.repeat(201) }],
    ['too_big seoTitle', { seoTitle: 'x'.repeat(301) }],
    ['invalid_type seoDescription', { seoDescription: {} }],
  ])('400 %s', async (detail, body) => {
    const { id } = await make(path)
    expect(refusal(await put(path, id, 'pl-PL', body))).toBe(`400 ${detail}`)
    expect((await read(shop, `/${path}/${id}?lang=pl-PL`)).name).toBe('Base')
  })

  test('a locale that is not supported, and the base locale, are 400', async () => {
    const { id } = await make(path)
    for (const locale of ['en-US', 'en', 'pl', 'pl_PL', 'PL-pl', 'xx-XX', 'pl-PLL', 'zz-PL', 'pl-ZZ', '%20', "pl-PL'"])
      expect(refusal(await put(path, id, locale, { name: 'x' }))).toBe('400 custom locale')
  })

  test('the locale need not be enabled', async () => {
    const { id } = await make(path)
    expect((await read(shop, '/me')).store.settings.enabledLanguages).toEqual({ 'en-US': true })
    for (const locale of ['pl-PL', 'es-ES', 'de-DE', 'pt-BR', 'ja-JP', 'en-GB'])
      expect((await put(path, id, locale, { name: locale })).status).toBe(200)
    expect((await read(shop, `/${path}/${id}?lang=ja-JP`)).name).toBe('ja-JP')
  })

  test("a missing, a malformed and another store's id are the same 404", async () => {
    const theirs = await make(path, 'Theirs', {}, other)
    const answers = [
      await put(path, NOBODY, 'pl-PL', { name: 'x' }),
      await put(path, 'nothing', 'pl-PL', { name: 'x' }),
      await put(path, theirs.id, 'pl-PL', { name: 'x' }),
    ]
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    expect((await read(other, `/${path}/${theirs.id}?lang=pl-PL`)).name).toBe('Theirs')
  })

  test('409 when the slug exists for the locale, also when two come at once; another locale may have it', async () => {
    const [a, b] = [await make(path), await make(path)]
    expect((await put(path, a.id, 'pl-PL', { slug: 'nazwa' })).status).toBe(200)
    const refused = await put(path, b.id, 'pl-PL', { name: 'Nowa', slug: 'nazwa' })
    expect([refused.status, typeof refused.body.error, (await read(shop, `/${path}/${b.id}?lang=pl-PL`)).name]).toEqual([
      409,
      'string',
      'Base',
    ])
    expect((await put(path, a.id, 'pl-PL', { slug: 'nazwa', name: 'x' })).status).toBe(200)
    expect((await put(path, b.id, 'de-DE', { slug: 'nazwa' })).status).toBe(200)
    const many = await Promise.all(Array.from({ length: 10 }, () => make(path)))
    expect(statuses(await parallel(10, (i) => put(path, many[i].id, 'pl-PL', { slug: 'one' })))).toEqual([200, ...Array(9).fill(409)])
  })

  test('a slug that two of them have in two locales leads to each of them in its own', async () => {
    const [a, b, c] = [await make(path, 'A'), await make(path, 'B'), await make(path, 'C', { slug: 'gift' })]
    await put(path, a.id, 'pl-PL', { slug: 'prezent' })
    await put(path, b.id, 'de-DE', { slug: 'prezent' })
    await put(path, a.id, 'de-DE', { slug: 'gift' })
    const at = async (search: string) => {
      const { status, body } = await shop.call('GET', `/${path}/${search}`)
      return status === 200 ? body.id : status
    }
    expect([
      await at('prezent?lang=pl-PL'),
      await at('prezent?lang=de-DE'),
      await at('prezent'),
      await at('prezent?lang=fr-FR'),
      await at('prezent?lang=en-US'),
    ]).toEqual([a.id, b.id, 404, 404, 404])
    expect([await at('gift?lang=de-DE'), await at('gift?lang=pl-PL'), await at('gift'), await at('gift?lang=en-US')]).toEqual([
      a.id,
      c.id,
      c.id,
      c.id,
    ])
    expect([await at('a?lang=pl-PL'), await at('a')]).toEqual([a.id, a.id])
  })

  test('needs catalog:write', async () => {
    const { id } = await make(path)
    for (const key of [await shop.keyWith('storefront:read', 'content:write'), shop.keys.storefront]) {
      const answer = await shop.call('PUT', `/${path}/${id}/translations/pl-PL`, { name: 'x' }, { key })
      expect([answer.status, answer.body.error, answer.body.hint]).toEqual([
        403,
        expect.stringContaining('catalog:write'),
        expect.any(String),
      ])
    }
    expect(
      (await shop.call('PUT', `/${path}/${id}/translations/pl-PL`, { name: 'x' }, { key: await shop.keyWith('catalog:write') })).status,
    ).toBe(200)
  })
})

describe('lang', () => {
  test('a slug of one kind says nothing about another kind', async () => {
    const ids = []
    for (const [path] of KINDS) {
      const { id } = await make(path)
      expect((await put(path, id, 'pl-PL', { slug: 'wspolny' })).status).toBe(200)
      ids.push(id)
    }
    for (const [i, [path]] of KINDS.entries()) expect((await read(shop, `/${path}/wspolny?lang=pl-PL`)).id).toBe(ids[i])
  })

  test('is overlaid on the products of a category, and a draft is not found by its translated slug', async () => {
    const category = await make('categories')
    const { id } = await make('products', 'Shirt', { categoryId: category.id })
    await put('products', id, 'pl-PL', { name: 'Koszula', slug: 'koszula' })
    expect((await read(shop, `/categories/${category.id}?lang=pl-PL`)).products).toMatchObject([{ name: 'Koszula', slug: 'koszula' }])
    await shop.call('PATCH', `/products/${id}`, { status: 'draft' })
    expect((await shop.call('GET', '/products/koszula?lang=pl-PL', undefined, { key: shop.keys.storefront })).status).toBe(404)
    expect((await read(shop, '/products/koszula?lang=pl-PL')).id).toBe(id)
  })

  test('the default language may be another than the base locale: its translations show when it is asked for', async () => {
    const ids = new Map<string, string>()
    for (const [path] of KINDS) {
      const { id } = await make(path)
      ids.set(path, id)
      await put(path, id, 'pl-PL', { name: 'Nazwa', slug: 'nazwa' })
    }
    await shop.call('PATCH', '/settings', { enabledLanguages: { 'pl-PL': true }, defaultLanguage: 'pl-PL' })
    for (const [path] of KINDS) {
      expect((await read(shop, `/${path}/nazwa?lang=pl-PL`)).name).toBe('Nazwa')
      expect(names(await read(shop, `/${path}?lang=pl-PL`))).toEqual(['Nazwa'])
      expect((await read(shop, `/${path}/${ids.get(path)}?lang=en-US`)).name).toBe('Base')
      expect((await put(path, ids.get(path)!, 'en-US', { name: 'x' })).status).toBe(400)
      expect((await put(path, ids.get(path)!, 'pl-PL', { name: 'Nowa' })).status).toBe(200)
    }
    expect((await read(shop, '/search?q=nowa&lang=pl-PL')).data).toHaveLength(3)
  })

  test('is a full locale code, on lists and details', async () => {
    for (const path of ['products', 'collections', 'categories', 'brands']) {
      const { id } = await make(path)
      for (const lang of ['pl', 'polish', '', 'pl_PL', "pl-PL'"]) {
        expect(refusal(await shop.call('GET', `/${path}?lang=${lang}`))).toBe('400 invalid_string lang')
        expect(refusal(await shop.call('GET', `/${path}/${id}?lang=${lang}`))).toBe('400 invalid_string lang')
      }
      await read(shop, `/${path}/${id}?lang=es-ES`)
    }
  })

  test('categories list all their translations, in lists and details', async () => {
    const { id } = await make('categories')
    await put('categories', id, 'pl-PL', { name: 'Nazwa', seoTitle: 'Tytuł' })
    await put('categories', id, 'de-DE', { name: 'Name', slug: 'name' })
    const expected = expect.arrayContaining([
      { locale: 'pl-PL', name: 'Nazwa', seoTitle: 'Tytuł' },
      { locale: 'de-DE', name: 'Name', slug: 'name' },
    ])
    for (const answer of [await read(shop, `/categories/${id}`), (await read(shop, '/categories?lang=pl-PL')).data[0]])
      expect([answer.translations, answer.translations.length]).toEqual([expected, 2])
  })

  test('changes of the base show through where nothing is translated', async () => {
    const { id } = await make('products', 'Base', { summary: 'old' })
    await put('products', id, 'pl-PL', { name: 'Nazwa' })
    await shop.call('PATCH', `/products/${id}`, { name: 'New base', summary: 'new' })
    expect(await read(shop, `/products/${id}?lang=pl-PL`)).toMatchObject({ name: 'Nazwa', summary: 'new' })
  })
})
