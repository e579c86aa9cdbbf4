import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { AN_INSTANT, A_UUID, create, NOBODY, parallel, read, refusal, twoStores } from './shop.ts'

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

const rate = (body: object = {}) => create(shop, '/tax-rates', { name: 'VAT', rate: 23, ...body })
const patch = (id: string, body: unknown) => shop.call('PATCH', `/tax-rates/${id}`, body)
const defaults = async () => (await read(shop, '/tax-rates?limit=100')).data.filter((row: any) => row.default).map(({ name }: any) => name)

describe('/tax-rates', () => {
  test('name, rate, countries, default', async () => {
    expect(await rate()).toEqual({
      id: A_UUID,
      name: 'VAT',
      rate: 23,
      countries: [],
      default: false,
      createdAt: AN_INSTANT,
      updatedAt: AN_INSTANT,
    })
    const made = await rate({ name: 'Reduced', rate: 8.25, countries: ['pl', 'DE'], default: true, nonsense: 1 })
    expect(made).toMatchObject({ rate: 8.25, countries: ['DE', 'PL'], default: true })
    expect(await read(shop, `/tax-rates/${made.id}`)).toEqual(made)
  })

  test.each([0, 100, 0.0001, 99.9999, 23, 8.875, 5.5, 10.75, 0.07, 33.3333, 19.1])(
    'rate %d comes back as it was written: percent, 0-100, 4 decimals',
    async (percent) => {
      const { id } = await rate({ rate: percent })
      expect([(await read(shop, `/tax-rates/${id}`)).rate, (await patch(id, { rate: percent })).body.rate]).toEqual([percent, percent])
    },
  )

  test.each([
    ['required name', { rate: 1 }],
    ['required rate', { name: 'x' }],
    ['too_small name', { name: '', rate: 1 }],
    ['too_big name', { name: 'x'.repeat(201), rate: 1 }],
    ['too_small rate', { name: 'x', rate: -0.0001 }],
    ['too_big rate', { name: 'x', rate: 100.0001 }],
    ['custom rate', { name: 'x', rate: 8.12345 }],
    ['custom rate', { name: 'x', rate: 0.00001 }],
    ['custom rate', { name: 'x', rate: 1e-10 }],
    ['invalid_type rate', { name: 'x', rate: '23' }],
    ['invalid_type rate', { name: 'x', rate: null }],
    ['invalid_type countries', { name: 'x', rate: 1, countries: 'PL' }],
    ['invalid_type countries', { name: 'x', rate: 1, countries: null }],
    ['invalid_string countries.0', { name: 'x', rate: 1, countries: ['POL'] }],
    ['custom countries', { name: 'x', rate: 1, countries: ['PL', 'PL'] }],
    ['custom countries.1', { name: 'x', rate: 1, countries: ['PL', 'pl'] }],
    ['invalid_type default', { name: 'x', rate: 1, default: 'yes' }],
  ])('400 %s', async (detail, body) => {
    expect(refusal(await shop.call('POST', '/tax-rates', body))).toBe(`400 ${detail}`)
    if (!detail.startsWith('required')) expect(refusal(await patch((await rate()).id, body))).toBe(`400 ${detail}`)
  })

  test('lists by page: {data, meta: {count, offset, limit}}', async () => {
    for (let i = 0; i < 3; i++) await rate({ name: `R${i}` })
    const { data, meta } = await read(shop, '/tax-rates?limit=2&offset=1')
    expect([data.map(({ name }: any) => name), meta]).toEqual([['R1', 'R2'], { count: 3, offset: 1, limit: 2 }])
    expect((await read(other, '/tax-rates')).data).toEqual([])
  })

  test('PATCH changes what is named and nothing else', async () => {
    const before = await rate({ rate: 8.25, countries: ['PL'], default: true })
    expect((await patch(before.id, {})).body).toEqual({ ...before, updatedAt: AN_INSTANT })
    expect((await patch(before.id, { name: 'New' })).body).toEqual({ ...before, name: 'New', updatedAt: AN_INSTANT })
    expect((await patch(before.id, { countries: [], default: false })).body).toMatchObject({ countries: [], default: false, rate: 8.25 })
  })

  test('a default takes the place of the one for the same countries, also when many come at once', async () => {
    await rate({ name: 'A', default: true })
    await rate({ name: 'PL', countries: ['PL', 'DE'], default: true })
    expect(await defaults()).toEqual(['A', 'PL'])
    const second = await rate({ name: 'B', default: true })
    expect(await defaults()).toEqual(['PL', 'B'])
    const third = await rate({ name: 'PL 2', countries: ['de', 'pl'] })
    await patch(third.id, { default: true })
    expect(await defaults()).toEqual(['B', 'PL 2'])
    await patch(third.id, { countries: [] })
    expect(await defaults()).toEqual(['PL 2'])
    await patch(second.id, { name: 'B again' })
    await parallel(10, (i) => rate({ name: `P${i}`, default: true }))
    expect((await defaults()).length).toBe(1)
  })

  test("a missing, a malformed and another store's id are the same 404", async () => {
    const theirs = await create(other, '/tax-rates', { name: 'x', rate: 1 })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answers = await Promise.all(
        [NOBODY, 'nothing', theirs.id].map((id) => shop.call(method, `/tax-rates/${id}`, method === 'PATCH' ? { rate: 5 } : undefined)),
      )
      for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    }
    expect((await read(other, `/tax-rates/${theirs.id}`)).rate).toBe(1)
  })

  test('DELETE answers {ok, deleted}; 409 while a variant or a shipping method names it', async () => {
    const { id } = await rate()
    const { id: productId } = await create(shop, '/products', { name: 'x', variants: [{ price: 1, taxRateId: id }] })
    expect((await shop.call('DELETE', `/tax-rates/${id}`)).status).toBe(409)
    await shop.call('DELETE', `/products/${productId}`)
    const method = await create(shop, '/shipping', { name: 'x', type: 'courier', price: 1, taxRateId: id })
    expect((await shop.call('DELETE', `/tax-rates/${id}`)).status).toBe(409)
    await shop.call('DELETE', `/shipping/${method.id}`)
    expect((await shop.call('DELETE', `/tax-rates/${id}`)).body).toEqual({ ok: true, deleted: 1 })
    expect((await shop.call('GET', `/tax-rates/${id}`)).status).toBe(404)
  })

  test('settings:read reads, settings:write writes; storefront keys do neither', async () => {
    const { id } = await rate()
    const [reader, writer] = [await shop.keyWith('settings:read'), await shop.keyWith('settings:write')]
    for (const [method, path, body, scope] of [
      ['GET', '/tax-rates', undefined, 'settings:read'],
      ['GET', `/tax-rates/${id}`, undefined, 'settings:read'],
      ['POST', '/tax-rates', { name: 'x', rate: 1 }, 'settings:write'],
      ['PATCH', `/tax-rates/${id}`, {}, 'settings:write'],
      ['DELETE', `/tax-rates/${id}`, undefined, 'settings:write'],
    ] as const) {
      const [right, wrong] = scope === 'settings:write' ? [writer, reader] : [reader, writer]
      for (const key of [wrong, shop.keys.storefront]) {
        const answer = await shop.call(method, path, body, { key })
        expect([answer.status, answer.body.error, answer.body.hint]).toEqual([403, expect.stringContaining(scope), expect.any(String)])
      }
      expect((await shop.call(method, path, body, { key: right })).status).toBeLessThan(300)
    }
  })
})
