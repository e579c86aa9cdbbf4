/** Blog categories (document 1): strict, in an order of keys between keys. */
import { generateKeyBetween } from 'fractional-indexing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const visitor = () => ({ key: shop.keys.storefront })
const add = async (name: string, more: object = {}) => made(await shop.post('/blog-categories', { name, ...more }))
const names = async (query = '', options: object = {}) =>
  made(await shop.get(`/blog-categories${query}`, options)).data.map(({ name }: any) => name)

test('has the fields of document 1, and a place behind the others', async () => {
  const first = await add('Workshop', { description: 'At the bench', seo: { title: 'Bench' } })
  expect(first).toEqual({
    ...{ id: expect.any(String), storeId: shop.store.id, name: 'Workshop', slug: 'workshop', description: 'At the bench', image: null },
    ...{ position: expect.any(String), active: true, seo: { title: 'Bench', description: null, canonical: null } },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  })
  const second = await add('Fabrics')
  expect(second.position > first.position).toBe(true)
  expect(await names()).toEqual(['Workshop', 'Fabrics'])
  for (const key of [first.id, first.slug]) expect(made(await shop.get(`/blog-categories/${key}`))).toEqual(first)
})

test('moves between two others by a key between theirs', async () => {
  const [a, b, c] = [await add('A'), await add('B'), await add('C')]
  const moved = made(await shop.patch(`/blog-categories/${c.id}`, { position: generateKeyBetween(a.position, b.position) }))
  expect(moved.position > a.position && moved.position < b.position).toBe(true)
  expect(await names()).toEqual(['A', 'C', 'B'])
  made(await shop.patch(`/blog-categories/${c.id}`, { position: generateKeyBetween(null, a.position) }))
  expect(await names()).toEqual(['C', 'A', 'B'])
  expect((await add('D')).position > b.position).toBe(true)
  for (const position of ['', ' ', 'not a key', '0', 'a00'])
    expect(paths(await shop.patch(`/blog-categories/${c.id}`, { position }))).toEqual(['position'])
})

test('refuses fields that it does not know, and takes what was read', async () => {
  for (const body of [
    { name: 'X', colour: 'red' },
    { name: 'X', storeId: shop.store.id },
    { name: 'X', id: crypto.randomUUID() },
  ]) {
    const { status, body: refused } = await shop.post('/blog-categories', body)
    expect([status, refused.details[0].code]).toEqual([400, 'unrecognized_keys'])
  }
  const { id } = await add('Workshop')
  expect((await shop.patch(`/blog-categories/${id}`, { colour: 'red' })).body.details[0]).toMatchObject({
    ...{ code: 'unrecognized_keys', keys: ['colour'] },
  })
  const read = made(await shop.get(`/blog-categories/${id}`))
  expect(made(await shop.patch(`/blog-categories/${id}`, { ...read, description: 'New' }))).toMatchObject({ description: 'New' })
})

test('is unique by slug, cleared by null, filtered, and hidden when it is not active', async () => {
  const { id } = await add('Workshop', { description: 'Bench' })
  await add('Fabrics')
  expect((await shop.post('/blog-categories', { name: 'Other', slug: 'workshop' })).status).toBe(409)
  expect(paths(await shop.post('/blog-categories', { name: 'Other', slug: 'Work Shop' }))).toEqual(['slug'])
  expect((await add('Workshop')).slug).toBe('workshop-2')
  expect(made(await shop.patch(`/blog-categories/${id}`, { description: null })).description).toBeNull()
  made(await shop.patch(`/blog-categories/${id}`, { active: false }))
  expect([await names('', visitor()), await names('?active=false'), await names('?query=fabr')]).toEqual([
    ['Fabrics', 'Workshop'],
    ['Workshop'],
    ['Fabrics'],
  ])
  expect((await shop.get(`/blog-categories/${id}`, visitor())).status).toBe(404)
  expect((await shop.post('/blog-categories', { name: 'X' }, visitor())).status).toBe(403)
})

test('counts its posts, for visitors those that are public', async () => {
  const { id } = await add('Workshop')
  made(await shop.post('/posts', { title: 'Draft', categoryIds: [id] }))
  const { id: public_ } = made(await shop.post('/posts', { title: 'Public', categoryIds: [id], status: 'published' }))
  const later = new Date(Date.now() + 60_000).toISOString()
  made(await shop.post('/posts', { title: 'Later', categoryIds: [id], status: 'published', publishedAt: later }))
  const count = async (options: object = {}) => made(await shop.get('/blog-categories', options)).data[0].postCount
  expect([await count(), await count(visitor())]).toEqual([3, 1])
  made(await shop.remove(`/posts/${public_}`))
  expect([await count(), await count(visitor())]).toEqual([2, 0])
  made(await shop.remove(`/blog-categories/${id}`))
  expect(made(await shop.get('/posts')).data.map(({ categoryIds }: any) => categoryIds)).toEqual([[], []])
})
