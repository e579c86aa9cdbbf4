/** Comments on posts (document 1): shown once approved, newest first, at any place of a long list; counted by the change itself. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let post: { id: string; slug: string; title: string }
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  post = made(await shop.post('/posts', { title: 'Care for linen', status: 'published' }))
})
afterAll(() => app.close())

const visitor = () => ({ key: shop.keys.storefront })
const text = { author: 'Ada Lovelace', email: 'ADA@example.com', content: 'Cool water works.' }
const write = (more: object = {}) => shop.post(`/posts/${post.slug}/comments`, { ...text, ...more }, visitor())
const shown = async (query = '') => made(await shop.get(`/posts/${post.id}/comments${query}`, visitor()))
const queue = async (query = '') => made(await shop.get(`/post-comments${query}`))
const counted = async () => made(await shop.get(`/posts/${post.id}`)).commentCount

describe('a visitor', () => {
  test('writes a comment that nobody sees before it is approved, whatever the body says', async () => {
    const answer = await write({ approved: true, userId: 'x' })
    expect([answer.status, answer.body]).toEqual([
      201,
      { id: expect.any(String), author: 'Ada Lovelace', content: text.content, createdAt: expect.any(String) },
    ])
    expect(await shown()).toEqual({ data: [], meta: { count: 0, offset: 0, limit: 20 } })
    const { id } = answer.body
    expect(made(await shop.get(`/post-comments/${id}`))).toEqual({
      ...{ ...answer.body, email: 'ada@example.com', approved: false, userId: null, postId: post.id, updatedAt: expect.any(String) },
      post: { id: post.id, title: post.title, slug: post.slug },
      signals: { links: 0, honeypot: false, repeated: false, form: 'none' },
    })
    made(await shop.patch(`/post-comments/${id}`, { approved: true }))
    expect((await shown()).data).toEqual([answer.body])
    expect(await counted()).toBe(1)
    made(await shop.patch(`/post-comments/${id}`, { approved: false }))
    expect([(await shown()).data, await counted()]).toEqual([[], 0])
  })

  test('is told what is wrong', async () => {
    for (const [body, path] of [
      [{ author: ' ' }, 'author'],
      [{ author: 'x'.repeat(101) }, 'author'],
      [{ email: 'nobody' }, 'email'],
      [{ content: '  ' }, 'content'],
      [{ content: 'x'.repeat(5_001) }, 'content'],
    ] as const)
      expect(paths(await write(body))).toEqual([path])
    expect((await write({ content: 'x'.repeat(5_000) })).status).toBe(201)
  })

  test('reads and writes none of a post that is not public', async () => {
    made(await shop.patch(`/posts/${post.id}`, { status: 'draft' }))
    expect([(await write()).status, (await shop.get(`/posts/${post.id}/comments`, visitor())).status]).toEqual([404, 404])
    made(await shop.patch(`/posts/${post.id}`, { status: 'published', publishedAt: new Date(Date.now() + 60_000).toISOString() }))
    expect([(await write()).status, (await shop.get(`/posts/${post.id}/comments`, visitor())).status]).toEqual([404, 404])
  })

  test('sees no queue', async () => {
    const { id } = made(await write())
    for (const path of ['/post-comments', `/post-comments/${id}`]) expect((await shop.get(path, visitor())).status).toBe(403)
  })
})

test('pages of a list of any length are those of all that are approved, newest first', async () => {
  const ids: string[] = []
  for (let n = 0; n < 600; n++) ids.push(made(await write({ content: `Comment ${n}` })).id)
  const hidden = new Set(ids.filter((_, n) => n % 3 === 0 || (n > 250 && n < 530)))
  for (let at = 0; at < 600; at += 100) {
    const some = ids.slice(at, at + 100).filter((id) => !hidden.has(id))
    if (some.length) made(await shop.post('/post-comments/bulk', { ids: some, approved: true }))
  }
  const gone = ids.filter((id, n) => n % 7 === 0 && !hidden.has(id)).slice(0, 30)
  expect(made(await shop.post('/post-comments/bulk', { ids: gone, delete: true }))).toEqual({ ok: true, changed: 0, deleted: gone.length })
  const expected = ids.filter((id) => !hidden.has(id) && !gone.includes(id)).toReversed()
  for (let offset = 0; offset <= expected.length + 20; offset += 17) {
    const { data, meta } = await shown(`?limit=17&offset=${offset}`)
    expect(data.map(({ id }: any) => id)).toEqual(expected.slice(offset, offset + 17))
    expect(meta.count).toBe(expected.length)
  }
  const blocks = await shop.rows(sql`select block, shown from shown_blocks where owner_id = ${post.id} order by block`)
  const real = await shop.rows(
    sql`select seq / 256, count(*) from post_comments where post_id = ${post.id} and approved = 1 group by 1 order by 1`,
  )
  expect(blocks.filter(([, count]) => count > 0)).toEqual(real)
}, 60_000)

test('a moderator filters by words and by what is approved', async () => {
  const [a, b] = [made(await write()), made(await write({ author: 'Grace', email: 'grace@example.com', content: 'Too hot is 100%.' }))]
  made(await shop.patch(`/post-comments/${b.id}`, { approved: true }))
  const ids = async (query: string) => (await queue(query)).data.map(({ id }: any) => id)
  expect(await ids('')).toEqual([b.id, a.id])
  expect([await ids('?approved=true'), await ids('?approved=false')]).toEqual([[b.id], [a.id]])
  for (const words of ['grace', 'GRACE@', '100%25', 'too hot']) expect(await ids(`?query=${words}`), words).toEqual([b.id])
  expect(await ids('?query=1_0')).toEqual([])
  expect((await queue('?limit=1')).meta).toEqual({ count: 2, offset: 0, limit: 1 })
  expect(made(await shop.remove(`/post-comments/${a.id}`))).toEqual({ ok: true, deleted: 1 })
  expect((await shop.get(`/post-comments/${a.id}`)).status).toBe(404)
  expect(paths(await shop.patch(`/post-comments/${b.id}`, {}))).toEqual(['approved'])
  const other = await newShop(app)
  expect((await other.get(`/post-comments/${b.id}`)).status).toBe(404)
})
