/** What no visitor may see, looked for in every answer that a storefront's key can have: by id, slug, list, search, feed, memory and ETag. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { made } from '../shop.ts'
import { fill, type Operation } from './operations.ts'
import { idFor } from './seed.ts'
import { world } from './world.ts'

const { app, keyed, known, shop } = await world()
afterAll(() => app.close())

/** Stands in all that is private, and in nothing else. */
const SECRET = 'zanzibar'
const email = `${SECRET}@example.com`
const document = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: SECRET }] }] }
const visitor = { key: shop.keys.storefront }
const gets = keyed.filter(({ method }) => method === 'GET')
let productId: string
let postId: string
/** Names of posts that are not public: by id and slug. */
const hidden: string[] = []

beforeAll(async () => {
  const post = async (path: string, body: object) => made(await shop.call('POST', path, body))
  const product = await post('/products', {
    name: 'Open',
    status: 'published',
    variants: [{ price: 5, shippable: false, stock: { quantity: 0 } }],
  })
  productId = product.id
  postId = (await post('/posts', { title: 'Open', status: 'published' })).id
  for (const more of [{}, { status: 'published', publishedAt: '2099-01-01T00:00:00Z' }]) {
    const { id, slug } = await post('/posts', { title: `${SECRET} post`, content: document, excerpt: SECRET, ...more })
    hidden.push(id, slug)
  }
  made(await shop.call('PUT', `/posts/${hidden[0]}/translations/pl-PL`, { title: SECRET, slug: `${SECRET}-pl`, content: document }))
  hidden.push(`${SECRET}-pl`)
  await post('/products', { name: `${SECRET} draft`, status: 'draft', price: 1 })
  await post('/blog-categories', { name: `${SECRET} category`, active: false })
  for (const approved of [true, false]) {
    const words = approved ? 'Seen by all.' : `Not yet: ${SECRET}`
    const review = await post(`/products/${productId}/reviews`, { author: 'Ada', email, rating: 5, content: words })
    const comment = await post(`/posts/${postId}/comments`, { author: 'Ada', email, content: words })
    made(await shop.call('PATCH', `/reviews/${review.id}`, { approved }))
    made(await shop.call('PATCH', `/post-comments/${comment.id}`, { approved }))
  }
  await post('/contact-messages', { email, name: SECRET, message: SECRET })
  await post('/support-cases', { email, subject: SECRET, message: SECRET })
  await post('/subscribers', { email })
  await post('/availability-notifications', { variantId: product.variants[0].id, email })
  const variant = { price: 5, shippable: false, stock: { quantity: 5 } }
  const sold = await post('/products', { name: 'Sold', status: 'published', variants: [variant] })
  const { id } = await post('/carts', { items: [{ variantId: sold.variants[0].id }] })
  await post(`/carts/${id}/checkout`, { email, name: SECRET, paymentMethod: 'test' })
  made(await shop.call('PUT', '/legal-pages/privacy', { title: SECRET, content: null }))
})

/** Each way to ask an operation: with its parameters, for what is open and for what is hidden. */
function pathsOf({ path, query, needed }: Operation): string[] {
  const named = (post: string) =>
    fill(path, (name, prefix) => (prefix === '/posts' ? post : prefix === '/products' ? productId : idFor(known)(name, prefix)))
  const bases = path.startsWith('/posts/{') ? [postId, ...hidden].map(named) : [named(postId)]
  const values: Record<string, string[]> = {
    query: [SECRET],
    q: [SECRET, 'zanz'],
    lang: ['pl-PL'],
    format: ['html', 'markdown'],
    limit: ['50'],
    status: ['draft', 'published'],
    active: ['false'],
    approved: ['false'],
  }
  const asked = Object.keys(query).flatMap((name) => (values[name] ?? []).map((value) => `${name}=${value}`))
  return bases.flatMap((base) =>
    ['', ...asked].map((one) => `${base}?${[needed.replace(/^q=[^&]*/, `q=${SECRET}`), one].filter(Boolean).join('&')}`),
  )
}

test('no answer to a visitor has an address, a draft, or what waits to be approved, even when the team has just asked the same', async () => {
  const found: string[] = []
  let answered = 0
  for (const operation of gets)
    for (const path of pathsOf(operation)) {
      const team = await app.send('GET', path, undefined, { key: shop.keys.admin })
      const { status, text, headers } = await app.send('GET', path, undefined, visitor)
      if (status === 200) answered++
      // What was asked for may be said again in an error.
      if (status === 200 && text.toLowerCase().includes(SECRET)) found.push(`${path}: ${text.slice(0, 300)}`)
      if ([...headers.values()].some((value) => value.includes(SECRET))) found.push(`${path}: in a header`)
      const etag = team.headers.get('etag')
      if (!etag || team.text === text) continue
      const again = await app.send('GET', path, undefined, { ...visitor, headers: { 'if-none-match': etag } })
      if (again.status === 304) found.push(`${path}: 304 for what the team sees`)
    }
  expect(found).toEqual([])
  expect(answered).toBeGreaterThan(40)
})

test('a draft is not there for a visitor, byte by byte as what never was', async () => {
  const never = await app.send('GET', `/posts/${crypto.randomUUID()}`, undefined, visitor)
  for (const name of hidden)
    for (const path of [`/posts/${name}`, `/posts/${name}?lang=pl-PL`, `/posts/${name}/comments`]) {
      const { status, text } = await app.send('GET', path, undefined, visitor)
      expect([status, text.replace('/posts#read-a-post', '')], path).toEqual([404, expect.stringContaining(never.body.error)])
    }
})

test('what nobody may see yet changes no ETag', async () => {
  const lists = [
    `/products/${productId}/reviews`,
    `/posts/${postId}/comments`,
    '/posts',
    '/posts/feed.xml',
    '/blog-categories',
    `/products/${productId}`,
  ]
  const etags = () => Promise.all(lists.map(async (path) => (await app.send('GET', path, undefined, visitor)).headers.get('etag')))
  const before = await etags()
  const post = async (path: string, body: object) => made(await shop.call('POST', path, body))
  await post(`/products/${productId}/reviews`, { author: 'Eve', email, rating: 1, content: 'Another that waits.' })
  await post(`/posts/${postId}/comments`, { author: 'Eve', email, content: 'Another that waits.' })
  await post('/posts', { title: 'Another draft' })
  await post('/posts', { title: 'Another later one', status: 'published', publishedAt: '2099-01-01T00:00:00Z' })
  expect(await etags()).toEqual(before)
})
