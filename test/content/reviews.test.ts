/** Reviews (document 1): written by visitors, shown once somebody has approved them, counted by the change itself. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
let product: { id: string; slug: string }
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  variantId = await shop.variant()
  const { productId } = made(await shop.get(`/variants/${variantId}`))
  product = made(await shop.get(`/products/${productId}`))
})
afterAll(() => app.close())

const text = { author: 'Ada Lovelace', email: ' ADA@example.com ', content: 'It has lasted for three winters.', rating: 5 }
const visitor = () => ({ key: shop.keys.storefront })
const write = (more: object = {}, about = product.slug) => shop.post(`/products/${about}/reviews`, { ...text, ...more }, visitor())
const shown = async (query = '') => made(await shop.get(`/products/${product.slug}/reviews${query}`, visitor()))
const decide = (id: string, approved: unknown) => shop.patch(`/reviews/${id}`, { approved })
const queue = async (query = '') => made(await shop.get(`/reviews${query}`))
const rating = async () => made(await shop.get(`/products/${product.id}`)).rating

describe('a visitor', () => {
  test('writes a review that nobody sees before it is approved, whatever the body says', async () => {
    const answer = await write({ approved: true, id: 'x', verified: true })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('ignored-fields')).toBe('approved, verified, id')
    expect(answer.body).toEqual({
      ...{ id: expect.any(String), author: 'Ada Lovelace', content: text.content, rating: 5, createdAt: expect.any(String) },
    })
    expect(await shown()).toEqual({ data: [], meta: { count: 0, offset: 0, limit: 10 }, summary: { averageRating: null, reviewCount: 0 } })
    expect(await shop.events()).toContain('review.created')
    made(await decide(answer.body.id, true))
    expect(await shown()).toEqual({
      data: [answer.body],
      meta: { count: 1, offset: 0, limit: 10 },
      summary: { averageRating: 5, reviewCount: 1 },
    })
    made(await decide(answer.body.id, false))
    expect((await shown()).data).toEqual([])
  })

  test.each([
    ['author', { author: undefined }],
    ['author', { author: '' }],
    ['author', { author: '  ' }],
    ['author', { author: 'x'.repeat(101) }],
    ['author', { author: 'A\r\nB' }],
    ['email', { email: undefined }],
    ['email', { email: 'nobody' }],
    ['content', { content: undefined }],
    ['content', { content: ' \n ' }],
    ['content', { content: 'x'.repeat(5_001) }],
    ['rating', { rating: undefined }],
    ['rating', { rating: 0 }],
    ['rating', { rating: 6 }],
    ['rating', { rating: 4.5 }],
    ['rating', { rating: '5' }],
  ])('is told of %s in %o', async (path, more) => {
    expect(paths(await write(more))).toEqual([path])
    expect((await queue()).meta.count).toBe(0)
  })

  test('writes as much as there may be, of what is for sale', async () => {
    made(await write({ author: 'x'.repeat(100), content: 'x'.repeat(5_000) }))
    const hidden = made(await shop.post('/products', { name: 'Draft', status: 'draft' }))
    for (const about of [hidden.slug, 'nothing', crypto.randomUUID()]) {
      expect((await write({}, about)).status).toBe(404)
      expect((await shop.get(`/products/${about}/reviews`, visitor())).status).toBe(404)
    }
    expect((await shop.get('/reviews', visitor())).status).toBe(403)
  })

  test('sees no address of anybody, newest first, page by page', async () => {
    const ids = []
    for (const n of [1, 2, 3]) {
      app.clock.now = new Date(`2026-01-0${n}T00:00:00Z`)
      ids.unshift(made(await write({ rating: n, content: `Number ${n}` })).id)
    }
    made(await shop.post('/reviews/bulk', { ids, approved: true }))
    const all = await shown()
    expect(all.data.map(({ id }: any) => id)).toEqual(ids)
    expect(JSON.stringify(all)).not.toContain('example.com')
    expect(all.summary).toEqual({ averageRating: 2, reviewCount: 3 })
    expect((await shown('?limit=1&offset=1')).data.map(({ id }: any) => id)).toEqual([ids[1]])
    expect(await rating()).toEqual({ average: 2, count: 3 })
  })
})

test('a review is written under a translated slug, too', async () => {
  await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
  made(await shop.call('PUT', `/products/${product.id}/translations/pl-PL`, { name: 'Koszula', slug: 'koszula' }))
  const path = '/products/koszula/reviews'
  expect((await shop.post(`${path}?lang=pl-PL`, text, visitor())).status).toBe(201)
  expect([(await shop.post(path, text, visitor())).status, (await shop.get(`${path}?lang=pl-PL`, visitor())).status]).toEqual([404, 200])
})

describe('a moderator', () => {
  test('sees all of it, and whether the address has bought the product', async () => {
    const { id } = made(await write())
    const seen = made(await shop.get(`/reviews/${id}`))
    expect(seen).toMatchObject({ ...text, email: 'ada@example.com', productId: product.id, approved: false, verified: false })
    const order = await shop.buy({ items: [{ variantId }], paymentMethod: 'manual' })
    expect(made(await shop.get(`/reviews/${id}`)).verified).toBe(false)
    made(await shop.patch(`/orders/${order.id}`, { status: 'paid' }))
    expect(made(await shop.get(`/reviews/${id}`)).verified).toBe(true)
    made(await shop.patch(`/orders/${order.id}`, { status: 'refunded' }))
    expect(made(await shop.get(`/reviews/${id}`)).verified).toBe(false)
    await shop.buy({ items: [{ variantId: await shop.variant() }] })
    expect((await queue()).data[0].verified).toBe(false)
  })

  test('filters the queue', async () => {
    const other = await shop.variant()
    const { productId } = made(await shop.get(`/variants/${other}`))
    const [a, b] = [made(await write({ rating: 1, content: 'It tore.' })), made(await write({ rating: 5 }))]
    const c = made(await write({ rating: 5 }, productId))
    made(await decide(b.id, true))
    const ids = async (query: string) => (await queue(query)).data.map(({ id }: any) => id).sort()
    expect(await ids('?approved=true')).toEqual([b.id])
    expect(await ids('?approved=false')).toEqual([a.id, c.id].sort())
    expect(await ids('?rating=5')).toEqual([b.id, c.id].sort())
    expect(await ids(`?productId=${productId}`)).toEqual([c.id])
    expect(await ids(`?productId=${product.id}&rating=5&approved=false`)).toEqual([])
    expect((await queue('?limit=1')).meta).toEqual({ count: 3, offset: 0, limit: 1 })
    for (const query of ['rating=6', 'approved=maybe', 'productId=x', 'limit=0'])
      expect(paths(await shop.get(`/reviews?${query}`))).toEqual([query.split('=')[0]])
  })

  test('decides and deletes, one by one and up to 100 at once; the rating follows by the change', async () => {
    const ids = []
    for (const n of [1, 2, 4, 5]) ids.push(made(await write({ rating: n, content: `Worn ${n} times.` })).id)
    expect(made(await shop.post('/reviews/bulk', { ids, approved: true }))).toEqual({ ok: true, changed: 4, deleted: 0 })
    expect(await rating()).toEqual({ average: 3, count: 4 })
    for (let round = 0; round < 2; round++) made(await decide(ids[0], false))
    expect(await rating()).toEqual({ average: 3.67, count: 3 })
    expect(made(await shop.remove(`/reviews/${ids[1]}`))).toEqual({ ok: true, deleted: 1 })
    expect(await rating()).toEqual({ average: 4.5, count: 2 })
    expect(made(await shop.post('/reviews/bulk', { ids, delete: true }))).toEqual({ ok: true, changed: 0, deleted: 3 })
    expect(await rating()).toEqual({ average: null, count: 0 })
    expect((await shop.remove(`/reviews/${ids[1]}`)).status).toBe(404)
    expect(paths(await decide(ids[0], 'yes'))).toEqual(['approved'])
    for (const body of [{ ids }, { ids, approved: true, delete: true }])
      expect(paths(await shop.post('/reviews/bulk', body))).toEqual(['approved'])
    for (const body of [
      { ids: [], approved: true },
      { ids: Array.from({ length: 101 }, () => crypto.randomUUID()), approved: true },
    ])
      expect(paths(await shop.post('/reviews/bulk', body))).toEqual(['ids'])
  })

  test('touches nothing of another store', async () => {
    const { id } = made(await write())
    const other = await newShop(app)
    expect((await other.get(`/reviews/${id}`)).status).toBe(404)
    expect((await other.patch(`/reviews/${id}`, { approved: true })).status).toBe(404)
    expect(made(await other.post('/reviews/bulk', { ids: [id], delete: true }))).toMatchObject({ deleted: 0 })
    expect(made(await shop.get(`/reviews/${id}`)).approved).toBe(false)
  })
})

test('the sum of a product is that of its approved reviews, whatever was done to them in whatever order', async () => {
  const ids: string[] = []
  for (let n = 0; n < 120; n++) {
    const id = ids[Math.floor(Math.random() * ids.length)]
    const dice = Math.random()
    if (id === undefined || dice < 0.4) ids.push(made(await write({ rating: 1 + (n % 5), content: `Worn ${n} times.` })).id)
    else if (dice < 0.8) await decide(id, Math.random() < 0.6)
    else if (dice < 0.9) await shop.post('/reviews/bulk', { ids: ids.slice(0, 5), approved: Math.random() < 0.5 })
    else await shop.remove(`/reviews/${id}`)
  }
  expect(
    await shop.rows(sql`select p.id from products p where p.rating_count <> (select count(*) from reviews r where r.product_id = p.id and r.approved = 1)
      or p.rating_sum <> (select coalesce(sum(rating), 0) from reviews r where r.product_id = p.id and r.approved = 1)`),
  ).toEqual([])
})

test('a store that has turned reviews off has none', async () => {
  const { id } = made(await write())
  await shop.settings({ tools: { reviews: false } })
  expect((await write()).status).toBe(404)
  for (const path of ['/reviews', `/reviews/${id}`, `/products/${product.slug}/reviews`]) expect((await shop.get(path)).status).toBe(404)
})
