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

const brand = (name = 'Acme', body: object = {}) => create(shop, '/brands', { name, ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/brands/${id}`, body)

describe('/brands', () => {
  test('name, slug, description, logo, active', async () => {
    expect(await brand()).toEqual({
      id: A_UUID,
      name: 'Acme',
      slug: 'acme',
      description: null,
      logo: null,
      active: true,
      seo: { title: null, description: null, canonical: null },
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
    const given = {
      name: 'Łódź & co.',
      slug: 'lodz',
      description: 'Text',
      logo: 'https://example.com/a.svg',
      active: false,
      seo: { title: 'T', description: 'D', canonical: 'https://example.com' },
    }
    const made = await create(shop, '/brands', { ...given, nonsense: 1 })
    expect(made).toMatchObject(given)
    for (const path of [made.id, 'lodz']) expect(await read(shop, `/brands/${path}`)).toEqual(made)
    expect((await read(shop, '/brands?active=false')).data).toEqual([made])
  })

  test.each([
    ['required name', {}],
    ['too_small name', { name: '' }],
    ['too_big name', { name: 'x'.repeat(301) }],
    ['invalid_type name', { name: null }],
    ['invalid_string slug', { name: 'x', slug: 'No Good' }],
    ['custom slug', { name: 'x', slug: NOBODY }],
    ['invalid_string logo', { name: 'x', logo: 'a' }],
    ['invalid_string logo', { name: 'x', logo: '' }],
    ['invalid_type active', { name: 'x', active: null }],
    ['invalid_type seo', { name: 'x', seo: null }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await shop.call('POST', '/brands', body))).toBe(`400 ${detail}`)
    if ('name' in body && body.name === 'x') expect(refusal(await patch((await brand()).id, body))).toBe(`400 ${detail}`)
  })

  test('slugs: distinct when 20 are made at once, 409 when given and taken', async () => {
    expect(new Set((await parallel(20, () => shop.call('POST', '/brands', { name: '日本' }))).map(({ body }) => body.slug)).size).toBe(20)
    expect(statuses(await parallel(20, () => shop.call('POST', '/brands', { name: 'x', slug: 'one' })))).toEqual([
      201,
      ...Array(19).fill(409),
    ])
  })

  test('limit (10), offset, query', async () => {
    for (let i = 10; i < 21; i++) await brand(`B${i}`)
    await brand('Ünder_100%')
    expect([names(await read(shop, '/brands')), (await read(shop, '/brands')).meta]).toEqual([
      Array.from({ length: 10 }, (_, i) => `B${i + 10}`),
      { count: 12, offset: 0, limit: 10 },
    ])
    for (const [search, count] of [
      ['query=b1', 10],
      ['query=_', 1],
      ['query=%25', 1],
      ['query=%C3%BCnd', 1],
      ['query=zzz', 0],
      ['offset=11', 12],
    ] as const)
      expect([search, (await read(shop, `/brands?${search}`)).meta.count]).toEqual([search, count])
    expect((await read(other, '/brands')).data).toEqual([])
  })

  test('a storefront sees active ones alone', async () => {
    const [, off] = [await brand('on'), await brand('off', { active: false })]
    for (const search of ['', '?active=true']) expect(names(await read(shop, `/brands${search}`, shop.keys.storefront))).toEqual(['on'])
    expect(names(await read(shop, '/brands?active=false', shop.keys.storefront))).toEqual([])
    const missing = await shop.call('GET', `/brands/${NOBODY}`, undefined, { key: shop.keys.storefront })
    for (const path of [off.id, off.slug])
      expect((await shop.call('GET', `/brands/${path}`, undefined, { key: shop.keys.storefront })).text).toBe(missing.text)
  })

  test('PATCH changes what is named and nothing else; null clears description and logo', async () => {
    const before = await brand('Acme', { description: 'D', logo: 'https://example.com/a.svg' })
    expect((await patch(before.slug, { name: 'New' })).body).toEqual({ ...before, name: 'New', updatedAt: AN_INSTANT })
    expect((await patch(before.id, { description: null, logo: null, active: false })).body).toMatchObject({
      description: null,
      logo: null,
      active: false,
      slug: 'acme',
    })
    await brand('Other')
    expect((await patch(before.id, { slug: 'other' })).status).toBe(409)
  })

  test("a missing, a malformed and another store's id or slug are the same 404", async () => {
    const theirs = await create(other, '/brands', { name: 'Theirs' })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answers = await Promise.all(
        [NOBODY, 'nothing', theirs.id, theirs.slug].map((path) =>
          shop.call(method, `/brands/${path}`, method === 'PATCH' ? {} : undefined),
        ),
      )
      for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    }
  })

  test('DELETE answers {ok, deleted}; 409 while a product has it; a coupon restricted to it never widens', async () => {
    const { id } = await brand()
    const { id: productId } = await create(shop, '/products', { name: 'x', brandId: id })
    const coupon = await create(shop, '/coupons', { code: 'ONE', type: 'percentage', value: 10, brands: [id] })
    expect((await shop.call('DELETE', `/brands/${id}`)).status).toBe(409)
    await shop.call('PATCH', `/products/${productId}`, { brandId: null })
    expect((await shop.call('DELETE', `/brands/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await read(shop, '/search?q=acme')).data).toEqual([])
    expect((await read(shop, `/coupons/${coupon.id}`)).brandIds).toEqual([id])
  })

  test('storefront:read reads, catalog:write writes', async () => {
    const { id } = await brand()
    const [reader, writer] = [await shop.keyWith('storefront:read'), await shop.keyWith('catalog:write')]
    for (const [method, path, body, scope] of [
      ['GET', '/brands', undefined, 'storefront:read'],
      ['GET', `/brands/${id}`, undefined, 'storefront:read'],
      ['POST', '/brands', { name: 'x' }, 'catalog:write'],
      ['PATCH', `/brands/${id}`, {}, 'catalog:write'],
      ['DELETE', `/brands/${id}`, undefined, 'catalog:write'],
    ] as const) {
      const [right, wrong] = scope === 'catalog:write' ? [writer, reader] : [reader, writer]
      const answer = await shop.call(method, path, body, { key: wrong })
      expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
      expect((await shop.call(method, path, body, { key: right })).status).toBeLessThan(300)
    }
  })
})
