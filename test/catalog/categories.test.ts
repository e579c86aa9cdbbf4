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

const category = (name = 'Shirts', body: object = {}) => create(shop, '/categories', { name, ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/categories/${id}`, body)
const remove = (id: string) => shop.call('DELETE', `/categories/${id}`)
/** A chain of categories, the top first. */
async function chain(length: number): Promise<any[]> {
  const made: any[] = []
  for (let i = 0; i < length; i++) made.push(await category(`L${i}`, { parentId: made.at(-1)?.id ?? null }))
  return made
}
/** The length of the way from a category to its top; fails on a circle. */
async function depth(id: string): Promise<number> {
  const seen = new Set<string>()
  for (let at: string | null = id; at; at = (await read(shop, `/categories/${at}`)).parentId) {
    if (seen.has(at)) throw new Error('runs in a circle')
    seen.add(at)
  }
  return seen.size
}

describe('POST /categories', () => {
  test('name required; active default true; what is not said is empty', async () => {
    expect(await category()).toEqual({
      id: A_UUID,
      name: 'Shirts',
      slug: 'shirts',
      description: null,
      longDescription: null,
      image: null,
      parentId: null,
      active: true,
      seo: { title: null, description: null, canonical: null },
      translations: [],
      products: [],
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
  })

  test('every field that is given comes back', async () => {
    const parent = await category('Clothes')
    const given = {
      name: 'Shirts',
      slug: 'all-shirts',
      description: 'Text',
      longDescription: { type: 'doc', content: [] },
      image: 'https://example.com/a.png',
      parentId: parent.id,
      active: false,
      seo: { title: 'T', description: 'D', canonical: 'https://example.com' },
    }
    const made = await create(shop, '/categories', given)
    expect(made).toMatchObject(given)
    expect(await read(shop, `/categories/${made.id}`)).toEqual(made)
    expect(await read(shop, '/categories/all-shirts')).toEqual(made)
  })

  test.each([
    ['required name', {}],
    ['invalid_type name', { name: null }],
    ['too_small name', { name: '' }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['too_small slug', { name: 'x', slug: '' }],
    ['invalid_string slug', { name: 'x', slug: 'No Good' }],
    ['custom slug', { name: 'x', slug: NOBODY }],
    ['invalid_string image', { name: 'x', image: 'a.png' }],
    ['invalid_string image', { name: 'x', image: '' }],
    ['invalid_string parentId', { name: 'x', parentId: '' }],
    ['invalid_string parentId', { name: 'x', parentId: 'x' }],
    ['invalid_type active', { name: 'x', active: null }],
    ['invalid_type active', { name: 'x', active: 'yes' }],
    ['invalid_type seo', { name: 'x', seo: 'x' }],
    ['too_big seo.title', { name: 'x', seo: { title: 'x'.repeat(301) } }],
    ['invalid_type description', { name: 'x', description: 5 }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await shop.call('POST', '/categories', body))).toBe(`400 ${detail}`)
    if ('name' in body && body.name === 'x') expect(refusal(await patch((await category()).id, body))).toBe(`400 ${detail}`)
  })

  test('slugs: made from the name, distinct when 20 are made at once, 409 when given and taken', async () => {
    const made = await parallel(20, () => shop.call('POST', '/categories', { name: 'Łódź' }))
    expect(new Set(made.map(({ body }) => body.slug)).size).toBe(20)
    expect(statuses(await parallel(20, () => shop.call('POST', '/categories', { name: 'x', slug: 'one' })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
  })

  test("a parent that is missing or another store's is the same 400", async () => {
    const theirs = await create(other, '/categories', { name: 'x' })
    const [missing, foreign] = [
      await shop.call('POST', '/categories', { name: 'x', parentId: NOBODY }),
      await shop.call('POST', '/categories', { name: 'x', parentId: theirs.id }),
    ]
    expect([refusal(missing), foreign.text]).toEqual(['400 custom parentId', missing.text])
    const { id } = await category()
    expect((await patch(id, { parentId: theirs.id })).text).toBe((await patch(id, { parentId: NOBODY })).text)
  })
})

describe('GET /categories', () => {
  test('limit (10), offset; items of id, name, slug, image, active, parentId, translations', async () => {
    for (let i = 0; i < 12; i++) await category(`C${i}`)
    const first = await read(shop, '/categories')
    expect([first.data.length, first.meta]).toEqual([10, { count: 12, offset: 0, limit: 10 }])
    expect(Object.keys(first.data[0]).toSorted()).toEqual(['active', 'id', 'image', 'name', 'parentId', 'slug', 'translations'])
    const all = [...first.data, ...(await read(shop, '/categories?offset=10')).data]
    expect(new Set(all.map(({ id }) => id)).size).toBe(12)
    expect((await read(other, '/categories')).data).toEqual([])
  })

  test('query (name) finds a part of the name in any case; %, _ and \\ mean themselves', async () => {
    for (const name of ['Linen shirts', 'Łódź', '100% wool', 'a_b', 'back\\slash']) await category(name)
    for (const [text, expected] of [
      ['shirt', ['Linen shirts']],
      ['SHIRT', ['Linen shirts']],
      ['inen', ['Linen shirts']],
      ['łódź', ['Łódź']],
      ['ŁÓD', ['Łódź']],
      ['%', ['100% wool']],
      ['_', ['a_b']],
      ['\\', ['back\\slash']],
      ['a%b', []],
      ['', ['Linen shirts', 'Łódź', '100% wool', 'a_b', 'back\\slash']],
      ["' or 1=1", []],
      ['"', []],
      ['*', []],
    ] as const) {
      expect([text, names(await read(shop, `/categories?query=${encodeURIComponent(text)}`))]).toEqual([text, expected])
    }
  })

  test('a query is never syntax', async () => {
    await category('Łódź')
    for (const text of ['\u0301', '\u3000', 'ー', 'İ', 'ſ', 'ł"', 'ł OR b', 'NEAR ł', 'ł*', '\u0000', 'हिन्दी', '☕ ł'])
      expect((await shop.call('GET', `/categories?query=${encodeURIComponent(text)}`)).status).toBe(200)
  })

  test('active filters; a storefront sees active ones alone, in lists and by id or slug', async () => {
    const [on, off] = [await category('on'), await category('off', { active: false })]
    const list = async (search: string, key?: string) => names(await read(shop, `/categories${search}`, key))
    expect([await list('?active=true'), await list('?active=false'), await list('')]).toEqual([['on'], ['off'], ['on', 'off']])
    expect([
      await list('?active=true', shop.keys.storefront),
      await list('?active=false', shop.keys.storefront),
      await list('', shop.keys.storefront),
    ]).toEqual([['on'], [], ['on']])
    const missing = await shop.call('GET', `/categories/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const path of [off.id, off.slug])
      expect((await shop.call('GET', `/categories/${path}`, undefined, { key: shop.keys.storefront })).text).toBe(missing.text)
    await read(shop, `/categories/${on.slug}`, shop.keys.storefront)
    expect(refusal(await shop.call('GET', '/categories?active=1'))).toBe('400 invalid_type active')
  })
})

describe('GET /categories/{idOrSlug}', () => {
  test('with products and translations', async () => {
    const { id, slug } = await category()
    const shirt = await create(shop, '/products', { name: 'Shirt', categoryId: id, price: 5, content: { type: 'doc' } })
    await create(shop, '/products', { name: 'Draft', categoryId: id, status: 'draft' })
    await shop.call('PUT', `/categories/${id}/translations/pl-PL`, { name: 'Koszule', slug: 'koszule' })
    const whole = await read(shop, `/categories/${slug}`)
    expect([names({ data: whole.products }), whole.translations]).toEqual([
      ['Draft', 'Shirt'],
      [{ locale: 'pl-PL', name: 'Koszule', slug: 'koszule' }],
    ])
    const { content, ...item } = shirt
    expect((await read(shop, `/categories/${id}`, shop.keys.storefront)).products).toEqual([item])
  })

  test("a missing, a malformed and another store's id or slug are the same 404", async () => {
    const theirs = await create(other, '/categories', { name: 'Theirs' })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answers = await Promise.all(
        [NOBODY, 'nothing', theirs.id, theirs.slug].map((path) =>
          shop.call(method, `/categories/${path}`, method === 'PATCH' ? {} : undefined),
        ),
      )
      for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    }
    await read(other, `/categories/${theirs.id}`)
  })
})

describe('PATCH /categories/{idOrSlug}', () => {
  test('partial: description (null clears), image (null clears), parentId (null = top level)', async () => {
    const parent = await category('Clothes')
    const before = await category('Shirts', {
      description: 'D',
      longDescription: 'L',
      image: 'https://example.com/a.png',
      parentId: parent.id,
      seo: { title: 'T' },
    })
    expect((await patch(before.slug, {})).body).toEqual({ ...before, updatedAt: AN_INSTANT })
    expect((await patch(before.id, { name: 'New' })).body).toEqual({ ...before, name: 'New', updatedAt: AN_INSTANT })
    expect((await patch(before.id, { description: '' })).body.description).toBe('')
    expect((await patch(before.id, { description: null, longDescription: null, image: null, parentId: null })).body).toMatchObject({
      description: null,
      longDescription: null,
      image: null,
      parentId: null,
    })
    for (const field of ['name', 'slug', 'active', 'seo']) expect((await patch(before.id, { [field]: null })).status).toBe(400)
    expect((await patch(before.id, { slug: 'clothes' })).status).toBe(409)
    expect((await patch(before.id, { slug: 'shirts', id: NOBODY, nonsense: 1 })).body).toMatchObject({ id: before.id, slug: 'shirts' })
  })

  test('a category is never its own parent, nor below itself', async () => {
    const [a, b, c] = await chain(3)
    for (const parentId of [a.id, b.id, c.id]) expect(refusal(await patch(a.id, { parentId }))).toBe('400 custom parentId')
    expect((await patch(c.id, { parentId: a.id })).status).toBe(200)
    expect((await patch(b.id, { parentId: c.id })).status).toBe(200)
    expect([await depth(a.id), await depth(c.id), await depth(b.id)]).toEqual([1, 2, 3])
  })

  test('A under B and B under A at once: one of them is refused', async () => {
    for (let i = 0; i < 10; i++) {
      const [a, b] = [await category('a'), await category('b')]
      expect(statuses(await Promise.all([patch(a.id, { parentId: b.id }), patch(b.id, { parentId: a.id })]))).toEqual([200, 400])
      await depth(a.id)
      await depth(b.id)
    }
    const ring = await Promise.all(Array.from({ length: 6 }, (_, i) => category(`r${i}`)))
    expect(statuses(await parallel(6, (i) => patch(ring[i].id, { parentId: ring[(i + 1) % 6].id })))).toEqual([...Array(5).fill(200), 400])
    for (const { id } of ring) await depth(id)
  })

  test('10 levels are taken, the 11th is 400, on create and on move', async () => {
    const levels = await chain(10)
    expect(await depth(levels[9].id)).toBe(10)
    expect(refusal(await shop.call('POST', '/categories', { name: 'x', parentId: levels[9].id }))).toBe('400 custom parentId')
    const [top] = await chain(2)
    expect(refusal(await patch(top.id, { parentId: levels[8].id }))).toBe('400 custom parentId')
    expect((await patch(top.id, { parentId: levels[7].id })).status).toBe(200)
  })

  test('a subtree that has moved counts where it is: what grows below it is measured from the new top', async () => {
    const left = await chain(5)
    const right = await chain(5)
    expect((await patch(right[0].id, { parentId: left[4].id })).status).toBe(200)
    expect(await depth(right[4].id)).toBe(10)
    expect(refusal(await shop.call('POST', '/categories', { name: 'x', parentId: right[4].id }))).toBe('400 custom parentId')
    expect(refusal(await patch(left[0].id, { parentId: right[4].id }))).toBe('400 custom parentId')
    expect((await patch(right[0].id, { parentId: null })).status).toBe(200)
    expect((await patch(left[0].id, { parentId: right[4].id })).status).toBe(200)
    expect(await depth(left[4].id)).toBe(10)
  })
})

describe('DELETE /categories/{idOrSlug}', () => {
  test('409 while referenced by products or subcategories', async () => {
    const [parent, child] = await chain(2)
    const { id } = await create(shop, '/products', { name: 'x', categoryId: child.id, status: 'draft' })
    for (const path of [parent.id, parent.slug, child.id]) {
      const answer = await remove(path)
      expect([answer.status, typeof answer.body.error]).toEqual([409, 'string'])
    }
    await shop.call('PATCH', `/products/${id}`, { categoryId: null })
    expect((await remove(parent.id)).status).toBe(409)
    expect((await remove(child.slug)).body).toEqual({ ok: true, deleted: 1 })
    expect((await remove(parent.id)).status).toBe(200)
    expect((await remove(parent.id)).status).toBe(404)
  })

  test('deleting it and putting something into it at once: never both', async () => {
    for (let i = 0; i < 10; i++) {
      const { id } = await category()
      const [removed, made] = await Promise.all([remove(id), shop.call('POST', '/products', { name: 'x', categoryId: id })])
      expect([
        [200, 400],
        [409, 201],
      ]).toContainEqual([removed.status, made.status])
    }
  })

  test('takes its translations and its place in search with it', async () => {
    const { id } = await category('Shirts')
    await shop.call('PUT', `/categories/${id}/translations/pl-PL`, { name: 'Koszule', slug: 'koszule' })
    await remove(id)
    for (const path of ['/search?q=shirts', '/search?q=koszule&lang=pl-PL']) expect((await read(shop, path)).data).toEqual([])
    const again = await category('Shirts')
    expect(again).toMatchObject({ slug: 'shirts', translations: [] })
    expect((await shop.call('PUT', `/categories/${again.id}/translations/pl-PL`, { slug: 'koszule' })).status).toBe(200)
  })

  test('deleting what a coupon is restricted to never widens it to any', async () => {
    const { id } = await category()
    const coupon = await create(shop, '/coupons', { code: 'ONE', type: 'percentage', value: 10, categories: [id] })
    await remove(id)
    expect((await read(shop, `/coupons/${coupon.id}`)).categoryIds).toEqual([id])
  })
})

test('storefront:read reads, catalog:write writes', async () => {
  const { id } = await category()
  const [reader, writer] = [await shop.keyWith('storefront:read'), await shop.keyWith('catalog:write')]
  for (const [method, path, body, scope] of [
    ['GET', '/categories', undefined, 'storefront:read'],
    ['GET', `/categories/${id}`, undefined, 'storefront:read'],
    ['POST', '/categories', { name: 'x' }, 'catalog:write'],
    ['PATCH', `/categories/${id}`, {}, 'catalog:write'],
    ['DELETE', `/categories/${id}`, undefined, 'catalog:write'],
  ] as const) {
    const [right, wrong] = scope === 'catalog:write' ? [writer, reader] : [reader, writer]
    const answer = await shop.call(method, path, body, { key: wrong })
    expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
    expect((await shop.call(method, path, body, { key: right })).status).toBeLessThan(300)
  }
})
