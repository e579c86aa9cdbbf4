/** Posts (document 3): written by the team, public from their second on, in lists, by slug, in searches and in the feed alike. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
})
afterAll(() => app.close())

const visitor = () => ({ key: shop.keys.storefront })
const content = (words = 'Thirty degrees, little spin.') => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: words }] }],
})
const write = async (more: object = {}) => made(await shop.post('/posts', { title: 'Care for linen', content: content(), ...more }))
const publish = (more: object = {}) => write({ status: 'published', ...more })
const listed = async (query = '', options: object = visitor()) =>
  made(await shop.get(`/posts${query}`, options)).data.map(({ title }: any) => title)
const found = async (words: string, options: object = visitor()) =>
  made(await shop.get(`/search?q=${words}&types=post`, options)).data.map(({ name }: any) => name)
const feed = async (query = '') => (await shop.get(`/posts/feed.xml${query}`, visitor())).text
const soon = (seconds: number) => new Date(app.clock.now.getTime() + seconds * 1_000).toISOString()

describe('a post', () => {
  test('is a draft until it is published', async () => {
    const post = await write({ excerpt: ' Wash it cool. ', seo: { title: 'Linen' } })
    expect(post).toEqual({
      ...{ id: expect.any(String), title: 'Care for linen', slug: 'care-for-linen', excerpt: 'Wash it cool.', image: null },
      ...{ categoryIds: [], status: 'draft', publishedAt: null, commentCount: 0, content: content() },
      seo: { title: 'Linen', description: null, canonical: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    for (const name of [post.id, post.slug]) expect((await shop.get(`/posts/${name}`, visitor())).status).toBe(404)
    expect([await listed(), await found('linen'), await listed('', {})]).toEqual([[], [], ['Care for linen']])
    const published = made(await shop.patch('/posts/care-for-linen', { status: 'published' }))
    expect(Date.parse(published.publishedAt)).toBeGreaterThan(Date.now() - 5_000)
    expect([await listed(), await found('linen')]).toEqual([['Care for linen'], ['Care for linen']])
    const { content: _, ...item } = made(await shop.get(`/posts/${post.id}`, visitor()))
    expect(made(await shop.get('/posts', visitor())).data).toEqual([item])
    made(await shop.patch(`/posts/${post.id}`, { status: 'draft' }))
    expect([await listed(), await found('linen'), await feed()]).toEqual([[], [], expect.not.stringContaining('<entry>')])
  })

  test('is public at its second: in the list, by slug, in searches and in the feed, whatever was remembered before', async () => {
    app.clock.now = new Date('2027-03-03T11:59:50Z')
    const at = '2027-03-03T12:00:00Z'
    const post = await publish({ publishedAt: at })
    expect(post).toMatchObject({ status: 'published', publishedAt: '2027-03-03T12:00:00.000Z' })
    const seen = async () => {
      await app.jobs.settle()
      const one = await shop.get('/posts/care-for-linen', visitor())
      return [one.status, await listed(), await found('linen'), (await feed()).includes('Care for linen')]
    }
    const hidden = [404, [], [], false]
    for (let second = 0; second < 3; second++) expect(await seen()).toEqual(hidden)
    app.clock.now = new Date('2027-03-03T11:59:59.999Z')
    expect(await seen()).toEqual(hidden)
    app.clock.now = new Date(at)
    expect(await seen()).toEqual([200, ['Care for linen'], ['Care for linen'], true])
    made(await shop.patch(`/posts/${post.id}`, { publishedAt: '2027-03-04T12:00:00Z' }))
    expect(await seen()).toEqual(hidden)
    app.clock.advance(86_400_000)
    expect(await seen()).toEqual([200, ['Care for linen'], ['Care for linen'], true])
  })

  test('answers an If-None-Match from before its second with 200 from then on', async () => {
    app.clock.now = new Date('2027-03-03T11:59:50Z')
    await publish({ publishedAt: '2027-03-03T12:00:00Z' })
    const { etag } = Object.fromEntries((await shop.get('/posts', visitor())).headers) as { etag: string }
    expect((await shop.get('/posts', { ...visitor(), headers: { 'if-none-match': etag } })).status).toBe(304)
    app.clock.advance(10_000)
    expect((await shop.get('/posts', { ...visitor(), headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  test('is read as HTML and as Markdown, too', async () => {
    const { id } = await publish()
    const read = async (format: string) => made(await shop.get(`/posts/${id}?format=${format}`, visitor()))
    expect((await read('html')).contentHtml).toBe('<p>Thirty degrees, little spin.</p>')
    expect((await read('markdown')).contentMarkdown).toBe('Thirty degrees, little spin.')
    expect(paths(await shop.get(`/posts/${id}?format=pdf`))).toEqual(['format'])
  })

  test('keeps its slug its own', async () => {
    const [first, second] = [await write(), await write()]
    expect([first.slug, second.slug]).toEqual(['care-for-linen', 'care-for-linen-2'])
    expect((await shop.patch(`/posts/${second.id}`, { slug: first.slug })).status).toBe(409)
    expect((await shop.post('/posts', { title: 'x', slug: first.slug })).status).toBe(409)
    expect((await shop.patch(`/posts/${second.id}`, { slug: 'linen' })).body.slug).toBe('linen')
  })

  test('refuses what is none, naming the field', async () => {
    const { id } = await write()
    for (const [body, path] of [
      [{ title: '' }, 'title'],
      [{ title: 'x'.repeat(301) }, 'title'],
      [{ slug: 'Not a slug' }, 'slug'],
      [{ status: 'hidden' }, 'status'],
      [{ publishedAt: 'tomorrow' }, 'publishedAt'],
      [{ categoryIds: [crypto.randomUUID()] }, 'categoryIds'],
      [{ content: { type: 'doc', content: [{ type: 'script' }] } }, 'content.content.0.type'],
      [{ content: { type: 'doc', content: [{ type: 'image', attrs: { src: 'javascript:x' } }] } }, 'content.content.0.attrs.src'],
    ] as const)
      expect(paths(await shop.patch(`/posts/${id}`, body))[0], path).toContain(path)
    expect(paths(await shop.post('/posts', {}))).toEqual(['title'])
  })

  test('goes with its comments, its translations and its place in searches', async () => {
    const { id } = await publish()
    made(await shop.post(`/posts/${id}/comments`, { author: 'Ada', email: 'ada@example.com', content: 'Good.' }))
    await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
    made(await shop.call('PUT', `/posts/${id}/translations/pl-PL`, { title: 'Len' }))
    expect(made(await shop.remove(`/posts/${id}`))).toEqual({ ok: true, deleted: 1 })
    expect((await shop.get(`/posts/${id}`)).status).toBe(404)
    const left = sql`select (select count(*) from post_comments), (select count(*) from translations), (select count(*) from shown_blocks)`
    expect(await shop.rows(left)).toEqual([[0, 0, 0]])
    expect(await found('linen', {})).toEqual([])
  })

  test('is nobody else’s', async () => {
    const { id, slug } = await publish()
    const other = await newShop(app)
    for (const name of [id, slug]) expect((await other.get(`/posts/${name}`)).status).toBe(404)
    expect((await other.remove(`/posts/${id}`)).status).toBe(404)
  })
})

describe('a list of posts', () => {
  test('is newest first by when they are public, and knows their status and their words', async () => {
    app.clock.now = new Date('2027-03-03T12:00:00Z')
    await publish({ title: 'Second', publishedAt: '2027-02-02T12:00:00Z', content: content('linen') })
    await publish({ title: 'First', publishedAt: '2027-01-01T12:00:00Z', content: content('wool') })
    await publish({ title: 'Later', publishedAt: '2027-04-04T12:00:00Z', content: content('linen') })
    await write({ title: 'Draft' })
    expect(await listed()).toEqual(['Second', 'First'])
    expect(await listed('', {})).toEqual(['Later', 'Draft', 'Second', 'First'])
    expect(await listed('?status=draft', {})).toEqual(['Draft'])
    expect(await listed('?status=draft')).toEqual([])
    expect([await listed('?query=linen'), await listed('?query=linen', {})]).toEqual([['Second'], ['Later', 'Second']])
    expect(await listed('?limit=1&offset=1')).toEqual(['First'])
    expect(made(await shop.get('/posts?limit=1', visitor())).meta).toEqual({ count: 2, offset: 0, limit: 1 })
  })

  test('of a category follows what its posts become', async () => {
    app.clock.now = new Date('2027-03-03T12:00:00Z')
    const category = made(await shop.post('/blog-categories', { name: 'Workshop' }))
    const other = made(await shop.post('/blog-categories', { name: 'Fabrics' }))
    const post = await publish({ categoryIds: [other.id, category.id], publishedAt: '2027-03-03T12:00:10Z' })
    expect(post.categoryIds).toEqual([other.id, category.id])
    const inside = () => listed(`?categoryId=${category.id}`)
    expect([await inside(), await listed(`?categoryId=${category.id}`, {})]).toEqual([[], ['Care for linen']])
    app.clock.advance(10_000)
    expect(await inside()).toEqual(['Care for linen'])
    expect(await listed(`?categoryId=${category.id}&query=linen`)).toEqual(['Care for linen'])
    made(await shop.patch(`/blog-categories/${other.id}`, { active: false }))
    expect(made(await shop.get(`/posts/${post.id}`, visitor())).categoryIds).toEqual([category.id])
    expect(made(await shop.get(`/posts/${post.id}`)).categoryIds).toEqual([other.id, category.id])
    made(await shop.patch(`/blog-categories/${category.id}`, { active: false }))
    expect([await inside(), await listed(`?categoryId=${category.id}&query=linen`)]).toEqual([[], []])
    expect(await listed(`?categoryId=${category.id}`, {})).toEqual(['Care for linen'])
    made(await shop.patch(`/blog-categories/${category.id}`, { active: true }))
    made(await shop.patch(`/posts/${post.id}`, { status: 'draft' }))
    expect(await inside()).toEqual([])
    made(await shop.patch(`/posts/${post.id}`, { status: 'published', categoryIds: [] }))
    expect(await inside()).toEqual([])
  })
})

test('a translation is shown, found and reached by its own slug, in its language alone', async () => {
  await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
  const { id } = await publish()
  const fields = { title: 'Jak dbać o len', slug: 'dbac-o-len', content: content('Trzydzieści stopni.'), seoTitle: 'Len' }
  made(await shop.call('PUT', `/posts/${id}/translations/pl-PL`, fields))
  const read = async (name: string, lang: string) => (await shop.get(`/posts/${name}?lang=${lang}&format=html`, visitor())).body
  expect(await read('dbac-o-len', 'pl-PL')).toMatchObject({
    ...{ id, title: 'Jak dbać o len', slug: 'dbac-o-len', contentHtml: '<p>Trzydzieści stopni.</p>' },
    seo: { title: 'Len' },
  })
  expect((await read('care-for-linen', 'pl-PL')).title).toBe('Jak dbać o len')
  expect((await read('care-for-linen', 'en-US')).title).toBe('Care for linen')
  expect(await listed('?lang=pl-PL')).toEqual(['Jak dbać o len'])
  expect(made(await shop.get('/search?q=stopni&types=post&lang=pl-PL', visitor())).data).toMatchObject([{ slug: 'dbac-o-len' }])
  expect(await feed('?lang=pl-PL')).toContain('<title>Jak dbać o len</title>')
  const comment = { author: 'Ada', email: 'ada@example.com', content: 'Dobre.' }
  expect((await shop.post('/posts/dbac-o-len/comments?lang=pl-PL', comment, visitor())).status).toBe(201)
  expect((await shop.get('/posts/dbac-o-len/comments?lang=pl-PL', visitor())).status).toBe(200)
  expect((await shop.get('/posts/dbac-o-len/comments', visitor())).status).toBe(404)
  made(await shop.patch(`/posts/${id}`, { status: 'draft' }))
  expect(made(await shop.get('/search?q=stopni&types=post&lang=pl-PL', visitor())).data).toEqual([])
})

describe('the feed', () => {
  test('is Atom that its readers can check, with the newest first', async () => {
    app.clock.now = new Date('2027-03-03T12:00:00Z')
    await publish({
      title: 'Ends with ]]> & <b>',
      publishedAt: '2027-03-01T12:00:00Z',
      content: content('\u0001 & <script>alert(1)</script>'),
    })
    await publish({ title: 'Newest', excerpt: 'Short', publishedAt: '2027-03-02T12:00:00Z' })
    await publish({ title: 'Later', publishedAt: soon(10) })
    const { status, headers, text } = await shop.get('/posts/feed.xml?base=https://shop.example/blog/', visitor())
    expect([status, headers.get('content-type')]).toEqual([200, 'application/atom+xml; charset=utf-8'])
    expect([...text.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
      'Test store',
      'Newest',
      'Ends with ]]&gt; &amp; &lt;b&gt;',
    ])
    expect(text).toContain('<link rel="alternate" href="https://shop.example/blog/newest"/>')
    expect(text).toContain('&lt;p&gt; &amp;amp; &amp;lt;script&amp;gt;')
    expect(text).not.toMatch(/[\u0000-\u0008]/)
    expect(text.match(/<entry>/g)).toHaveLength(2)
    const long = content('&'.repeat(190_000))
    for (let n = 0; n < 4; n++)
      await publish({ title: `Long ${n}`, publishedAt: `2027-02-0${n + 1}T12:00:00Z`, content: long, excerpt: `Short ${n}` })
    const bounded = await feed()
    expect(
      [bounded.match(/<entry>/g), bounded.match(/<summary>Short \d/g), bounded.match(/<content/g)].map((found) => found!.length),
    ).toEqual([6, 4, 4])
    expect((await feed()).includes('<link')).toBe(false)
    expect((await shop.get('/posts/feed.xml?limit=1', visitor())).text.match(/<entry>/g)).toHaveLength(1)
    for (const query of ['base=javascript:x', 'limit=51', 'limit=0'])
      expect((await shop.get(`/posts/feed.xml?${query}`, visitor())).status).toBe(400)
  })
})

test('a store that has turned its blog off has none, not even in searches', async () => {
  const { id } = await publish()
  await shop.settings({ tools: { blog: false } })
  for (const path of ['/posts', `/posts/${id}`, '/posts/feed.xml', `/posts/${id}/comments`, '/post-comments', '/blog-categories'])
    expect((await shop.get(path)).status, path).toBe(404)
  expect([await found('linen'), (await shop.post('/posts', { title: 'x' })).status]).toEqual([[], 404])
})
