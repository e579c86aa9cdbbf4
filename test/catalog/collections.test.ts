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

const collection = (name = 'Summer', body: object = {}) => create(shop, '/collections', { name, ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/collections/${id}`, body)
const product = async (name: string, body: object = {}): Promise<string> => (await create(shop, '/products', { name, ...body })).id
const members = async (id: string, key?: string) => (await read(shop, `/collections/${id}`, key)).productIds

describe('POST /collections', () => {
  test('name makes one; kind is products and active true unless said otherwise', async () => {
    expect(await collection()).toEqual({
      id: A_UUID,
      name: 'Summer',
      slug: 'summer',
      description: null,
      longDescription: null,
      image: null,
      kind: 'products',
      active: true,
      seo: { title: null, description: null, canonical: null },
      productIds: [],
      productCount: 0,
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
  })

  test('every field that is given comes back, the products in the order given', async () => {
    const ids = [await product('a'), await product('b'), await product('c')].toReversed()
    const given = {
      name: 'Summer',
      slug: 'summer-26',
      description: 'Text',
      longDescription: 'Long',
      image: 'https://example.com/a.png',
      kind: 'event-group',
      active: false,
      seo: { title: 'T', description: 'D', canonical: 'https://example.com' },
      productIds: ids,
    }
    const made = await create(shop, '/collections', given)
    expect(made).toMatchObject(given)
    expect(await read(shop, '/collections/summer-26')).toEqual(made)
    expect((await read(shop, '/collections')).data).toEqual([made])
  })

  test.each([
    ['required name', {}],
    ['too_small name', { name: '' }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['invalid_string slug', { name: 'x', slug: 'No Good' }],
    ['custom slug', { name: 'x', slug: NOBODY }],
    ['invalid_enum_value kind', { name: 'x', kind: 'smart' }],
    ['invalid_enum_value kind', { name: 'x', kind: null }],
    ['invalid_type productIds', { name: 'x', productIds: null }],
    ['invalid_string productIds.0', { name: 'x', productIds: ['x'] }],
    ['custom productIds', { name: 'x', productIds: [NOBODY, NOBODY] }],
    ['custom productIds.0', { name: 'x', productIds: [NOBODY] }],
    ['invalid_string image', { name: 'x', image: 'a' }],
    ['invalid_type active', { name: 'x', active: 1 }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await shop.call('POST', '/collections', body))).toBe(`400 ${detail}`)
    if ('name' in body && body.name === 'x') expect(refusal(await patch((await collection()).id, body))).toBe(`400 ${detail}`)
  })

  test("a product that is missing or another store's is the same 400 at its place", async () => {
    const [mine, theirs] = [await product('mine'), (await create(other, '/products', { name: 'x' })).id]
    const post = (id: string) => shop.call('POST', '/collections', { name: 'x', productIds: [mine, id] })
    const [missing, foreign] = [await post(NOBODY), await post(theirs)]
    expect([refusal(missing), foreign.text]).toEqual(['400 custom productIds.1', missing.text])
    expect((await read(shop, '/collections')).data).toEqual([])
  })

  test('slugs: distinct when 20 are made at once, 409 when given and taken', async () => {
    expect(
      new Set((await parallel(20, () => shop.call('POST', '/collections', { name: 'Summer' }))).map(({ body }) => body.slug)).size,
    ).toBe(20)
    expect(statuses(await parallel(20, () => shop.call('POST', '/collections', { name: 'x', slug: 'one' })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
  })
})

describe('GET /collections', () => {
  test('limit (10), offset, query, active, kind', async () => {
    for (let i = 0; i < 11; i++) await collection(`C${i}`)
    await collection('100% Łódź', { kind: 'event-group', active: false })
    expect([(await read(shop, '/collections')).data.length, (await read(shop, '/collections')).meta]).toEqual([
      10,
      { count: 12, offset: 0, limit: 10 },
    ])
    for (const [search, count] of [
      ['kind=event-group', 1],
      ['kind=products', 11],
      ['active=false', 1],
      ['active=true', 11],
      ['query=c1', 2],
      ['query=%25', 1],
      ['query=_', 0],
      ['query=%C5%82%C3%B3d', 1],
      ['kind=event-group&active=true', 0],
    ] as const) {
      expect([search, (await read(shop, `/collections?${search}`)).meta.count]).toEqual([search, count])
    }
    expect((await read(other, '/collections')).data).toEqual([])
  })

  test('a storefront sees active ones alone, and in them what is published', async () => {
    const ids = [await product('a'), await product('b', { status: 'draft' }), await product('c', { status: 'hidden' }), await product('d')]
    const on = await collection('on', { productIds: ids })
    const off = await collection('off', { active: false, productIds: ids })
    expect((await read(shop, '/collections', shop.keys.storefront)).data).toMatchObject([{ id: on.id, productIds: [ids[0], ids[3]] }])
    expect(names(await read(shop, '/collections?active=false', shop.keys.storefront))).toEqual([])
    expect([await members(on.id, shop.keys.storefront), await members(on.id)]).toEqual([[ids[0], ids[3]], ids])
    const missing = await shop.call('GET', `/collections/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const path of [off.id, off.slug])
      expect((await shop.call('GET', `/collections/${path}`, undefined, { key: shop.keys.storefront })).text).toBe(missing.text)
  })

  test("a missing, a malformed and another store's id or slug are the same 404", async () => {
    const theirs = await create(other, '/collections', { name: 'Theirs' })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answers = await Promise.all(
        [NOBODY, 'nothing', theirs.id, theirs.slug].map((path) =>
          shop.call(method, `/collections/${path}`, method === 'PATCH' ? {} : undefined),
        ),
      )
      for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    }
  })
})

describe('PATCH /collections/{idOrSlug}', () => {
  test('changes what is named and nothing else; productIds replaces the list', async () => {
    const ids = [await product('a'), await product('b'), await product('c')]
    const before = await collection('Summer', { productIds: ids, description: 'D', image: 'https://example.com/a.png' })
    expect((await patch(before.slug, {})).body).toEqual({ ...before, updatedAt: AN_INSTANT })
    expect((await patch(before.id, { name: 'New' })).body).toEqual({ ...before, name: 'New', updatedAt: AN_INSTANT })
    expect((await patch(before.id, { productIds: [ids[2], ids[0]] })).body.productIds).toEqual([ids[2], ids[0]])
    expect((await patch(before.id, { productIds: [] })).body.productIds).toEqual([])
    expect((await patch(before.id, { description: null, image: null })).body).toMatchObject({ description: null, image: null })
    await collection('Winter')
    expect((await patch(before.id, { slug: 'winter' })).status).toBe(409)
  })

  test('a product that names collections stands last in new ones, and keeps its place in those it stays in', async () => {
    const ids = [await product('a'), await product('b'), await product('c')]
    const [one, two] = [await collection('one', { productIds: ids }), await collection('two', { productIds: [ids[1]] })]
    expect((await shop.call('PATCH', `/products/${ids[0]}`, { collectionIds: [two.id, one.id] })).body.collectionIds.toSorted()).toEqual(
      [one.id, two.id].toSorted(),
    )
    expect([await members(one.id), await members(two.id)]).toEqual([ids, [ids[1], ids[0]]])
    await shop.call('PATCH', `/products/${ids[0]}`, { collectionIds: [] })
    expect([await members(one.id), await members(two.id)]).toEqual([[ids[1], ids[2]], [ids[1]]])
  })

  test('lists of products by collection follow', async () => {
    const id = await product('a')
    const made = await collection('one')
    const listed = async () => names(await read(shop, `/products?collectionId=${made.id}`))
    await patch(made.id, { productIds: [id] })
    expect([await listed(), (await read(shop, `/products/${id}`)).collectionIds]).toEqual([['a'], [made.id]])
    await patch(made.id, { productIds: [] })
    expect(await listed()).toEqual([])
  })

  test('a thousand products keep their order', async () => {
    const all: string[] = []
    for (let hundred = 0; hundred < 10; hundred++) all.push(...(await parallel(100, (i) => product(`p${hundred}-${i}`))))
    const ids = all.toSorted().toReversed()
    const made = await collection('all', { productIds: ids })
    expect(made.productIds).toEqual(ids)
  })
})

describe('DELETE /collections/{idOrSlug}', () => {
  test('answers {ok, deleted}; its products stay, and a coupon restricted to it never widens', async () => {
    const id = await product('a')
    const made = await collection('Summer', { productIds: [id] })
    const coupon = await create(shop, '/coupons', { code: 'ONE', type: 'percentage', value: 10, collections: [made.id] })
    await shop.call('PUT', `/collections/${made.id}/translations/pl-PL`, { name: 'Lato', slug: 'lato' })
    expect((await shop.call('DELETE', '/collections/summer')).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.call('DELETE', '/collections/summer')).status).toBe(404)
    expect((await read(shop, `/products/${id}`)).collectionIds).toEqual([])
    for (const path of ['/search?q=summer', '/search?q=lato&lang=pl-PL']) expect((await read(shop, path)).data).toEqual([])
    expect((await read(shop, `/coupons/${coupon.id}`)).collectionIds).toEqual([made.id])
  })
})

test('storefront:read reads, catalog:write writes', async () => {
  const { id } = await collection()
  const [reader, writer] = [await shop.keyWith('storefront:read'), await shop.keyWith('catalog:write')]
  for (const [method, path, body, scope] of [
    ['GET', '/collections', undefined, 'storefront:read'],
    ['GET', `/collections/${id}`, undefined, 'storefront:read'],
    ['POST', '/collections', { name: 'x' }, 'catalog:write'],
    ['PATCH', `/collections/${id}`, {}, 'catalog:write'],
    ['DELETE', `/collections/${id}`, undefined, 'catalog:write'],
  ] as const) {
    const [right, wrong] = scope === 'catalog:write' ? [writer, reader] : [reader, writer]
    const answer = await shop.call(method, path, body, { key: wrong })
    expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
    expect((await shop.call(method, path, body, { key: right })).status).toBeLessThan(300)
  }
})
