/** Images given by URL (document 3, Catalog): taken into the media library, and shown from there. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IMAGE_FIELDS } from '../../api/content/media/image-fields.ts'
import { publicFetch } from '../../api/outside/fetch-public.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { animation, png } from './pictures.ts'

const BASE = 'https://api.shop.example'
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'

/** A host of images on loopback: how it answers each path, and how often it was asked. */
let answers: Record<string, () => Response | Promise<Response>>
let asked: string[]
let picture: Uint8Array<ArrayBuffer>
const host = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    return answers[pathname]?.() ?? new Response(picture)
  },
})
const at = (path: string) => host.url.origin + path

let app: TestApp
let shop: Shop
beforeAll(async () => {
  picture = (await png()) as Uint8Array<ArrayBuffer>
  app = await testApp({ baseUrl: BASE, fetchPublic: publicFetch({ allow: [host.url.host], lookup: async () => [] }) })
})
beforeEach(async () => {
  answers = {}
  asked = []
  app.clock.real()
  shop = await newShop(app)
})
afterAll(async () => {
  await app.close()
  host.stop(true)
})

test('every route that imports images of the catalog says whose they are', () => {
  const fields = Object.entries(IMAGE_FIELDS).map(([entity, { field }]) => ({ entity, field }))
  // The brand kit takes its logo from the library alone.
  const giving = app.app.routes.filter(
    ({ path, options: { body } }) => path !== '/brand-kit' && fields.some(({ field }) => field in (body?.properties ?? {})),
  )
  expect(giving.map(({ method, options: { images } }) => `${method} ${images}`).toSorted()).toEqual(
    // An event is a product, too.
    ['PATCH', 'POST'].flatMap((method) =>
      [...fields.map(({ entity }) => entity), 'product'].map((entity) => `${method} ${entity}`).toSorted(),
    ),
  )
  for (const { options } of giving)
    expect([options.operationId, IMAGE_FIELDS[options.images!].field in options.body!.properties, options.prepare]).toEqual([
      options.operationId,
      true,
      undefined,
    ])
})

const own = (environment = 'live') => new RegExp(`^${BASE}/cdn/${shop.store.id}/${environment}/[0-9a-f-]{36}/image\\.(png|gif)$`)
const library = async () => made(await shop.get('/media?limit=100')).data as any[]
const kept = () => app.services.files.list({ storeId: shop.store.id, environment: 'live' })
const waiting = async () => (await shop.rows(sql`select subject from jobs where kind = 'images.take-in'`)).map(([subject]) => subject)
/** Lets the jobs take in what is left; those that find no room come back a second later. */
async function takeIn() {
  do {
    await app.jobs.settle()
    app.clock.advance(1_000)
  } while ((await waiting()).length)
}
const product = async (images: string[], more: object = {}) =>
  made(await shop.post('/products', { name: 'Shirt', price: 10, images, ...more }))

const PLACES: [path: string, field: string, more: object][] = [
  ['/products', 'images', { price: 10 }],
  ['/bundles', 'images', {}],
  ['/categories', 'image', {}],
  ['/collections', 'image', {}],
  ['/brands', 'logo', {}],
]
describe.each(PLACES)('%s', (path, field, more) => {
  const given = (url: string) => (field === 'images' ? [url] : url)
  const first = (body: any): string => [body[field]].flat()[0]

  test('shows what it is given from the library, when it is made and when it is changed', async () => {
    const thing = made(await shop.post(path, { name: 'New', ...more, [field]: given(at('/a.png?v=1')) }))
    expect(first(thing)).toMatch(own())
    expect(made(await shop.get(`${path}/${thing.id}`))[field]).toEqual(thing[field])
    const response = await app.app.fetch(new Request(first(thing).replace(BASE, 'http://localhost')))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    const [item] = await library()
    expect(item).toMatchObject({ url: first(thing), name: 'a.png', source: at('/a.png?v=1'), width: 60, height: 40 })

    const changed = made(await shop.patch(`${path}/${thing.id}`, { [field]: given(at('/b.png')) }))
    expect(first(changed)).toMatch(own())
    expect(first(changed)).not.toBe(first(thing))
    // What it shows can't be removed, what it showed can.
    const [, before] = await library()
    expect((await shop.remove(`/media/${item.id}`)).status).toBe(200)
    expect(before.id).toBe(item.id)
    expect((await shop.remove(`/media/${(await library())[0].id}`)).status).toBe(409)
  })

  test('a URL that is there already passes through', async () => {
    const { url } = made(await shop.post('/media', { url: at('/a.png') }))
    const thing = made(await shop.post(path, { name: 'New', ...more, [field]: given(url) }))
    expect([first(thing), (await library()).length, asked]).toEqual([url, 1, ['/a.png']])
  })

  test('what can not be had at once is taken in later', async () => {
    answers['/a.png'] = () => new Response('', { status: 503 })
    const thing = made(await shop.post(path, { name: 'New', ...more, [field]: given(at('/a.png')) }))
    expect(first(thing)).toBe(at('/a.png'))
    answers = {}
    await takeIn()
    const later = made(await shop.get(`${path}/${thing.id}`))
    expect(first(later)).toMatch(own())
    expect([(await library()).map(({ url }) => url), await waiting()]).toEqual([[first(later)], []])
    expect((await shop.remove(`/media/${(await library())[0].id}`)).status).toBe(409)
  })

  test('a change that says nothing of images asks nobody', async () => {
    const thing = made(await shop.post(path, { name: 'New', ...more }))
    made(await shop.patch(`${path}/${thing.id}`, { name: 'Newer' }))
    if (field !== 'images') made(await shop.patch(`${path}/${thing.id}`, { [field]: null }))
    expect([asked, await waiting()]).toEqual([[], []])
  })
})

describe('a list of images', () => {
  test('keeps its order; each is read once', async () => {
    answers['/dance.gif'] = async () => new Response((await animation()) as Uint8Array<ArrayBuffer>)
    const { url } = made(await shop.post('/media', { url: at('/mine.png') }))
    asked = []
    const { images } = await product([at('/a.png'), url, at('/dance.gif'), at('/a.png')])
    expect(images).toEqual([expect.stringMatching(own()), url, expect.stringMatching(/\.gif$/), images[0]])
    expect(asked.toSorted()).toEqual(['/a.png', '/dance.gif'])
  })

  test('what was taken in before is not read again, by whatever it is shown', async () => {
    const { id, images } = await product([at('/a.png')])
    expect(made(await shop.patch(`/products/${id}`, { images: [at('/a.png'), at('/b.png')] })).images[0]).toBe(images[0])
    expect(made(await shop.post('/brands', { name: 'Nord', logo: at('/a.png') })).logo).toBe(images[0])
    expect(asked).toEqual(['/a.png', '/b.png'])
    expect(await library()).toHaveLength(2)
  })

  test('a fragment stays, and is no other image', async () => {
    const { images } = await product([at('/a.png#red'), at('/a.png'), at('/a.png#blue')])
    expect(images).toEqual([`${images[1]}#red`, expect.stringMatching(own()), `${images[1]}#blue`])
    expect(asked).toEqual(['/a.png'])
    const { url } = (await library())[0]
    expect((await product([`${url}#red`])).images).toEqual([`${url}#red`])
    const other = made(await shop.post('/media', { url: at('/b.png#front') }))
    expect((await product([at('/b.png')])).images).toEqual([other.url])
  })

  test('given by many requests at once, it is in the library once', async () => {
    let [come, all] = [0, () => {}]
    const together = new Promise<void>((resolve) => (all = resolve))
    answers['/a.png'] = async () => {
      if (++come === 2) all()
      await Promise.race([together, Bun.sleep(1_000)])
      return new Response(picture)
    }
    const shown = await Promise.all(Array.from({ length: 6 }, async () => (await product([at('/a.png')])).images[0]))
    await takeIn()
    const [item, ...more] = await library()
    expect(more).toEqual([])
    for (const url of shown) expect([item.url, at('/a.png')]).toContain(url)
    for (const { images } of made(await shop.get('/products?limit=100')).data) expect(images).toEqual([item.url])
    expect(await kept()).toHaveLength(1)
  })

  test('a path of the library in the query of another address makes it nothing of the library', async () => {
    const { url, id } = made(await shop.post('/media', { url: at('/a.png') }))
    const [image] = (await product([at(`/b.png?of=${new URL(url).pathname}`)])).images
    expect(image).toMatch(own())
    expect(image).not.toContain(id)
    expect((await shop.remove(`/media/${id}`)).status).toBe(200)
  })

  test('another store, and the sandbox, have their own', async () => {
    const { images } = await product([at('/a.png')])
    const other = await newShop(app)
    const [theirs] = made(await other.post('/products', { name: 'Shirt', price: 10, images: [at('/a.png'), images[0]] })).images
    expect(theirs).toContain(`/cdn/${other.store.id}/`)
    const tried = made(await shop.post('/products', { name: 'Shirt', price: 10, images: [at('/a.png')] }, { key: shop.keys.staging }))
    expect(tried.images[0]).toMatch(own('sandbox'))
    expect(asked).toEqual(['/a.png', '/a.png', '/a.png'])
  })
})

describe('what stays the URL that it was', () => {
  test.each<[string, () => Response]>([
    ['a page', () => new Response('<!doctype html><p>Hello')],
    ['an SVG image', () => new Response(SVG, { headers: { 'content-type': 'image/svg+xml' } })],
    ['nothing', () => new Response('')],
    ['what is not there', () => new Response('', { status: 404 })],
    ['a way to what is private', () => Response.redirect('http://127.0.0.1:1/')],
  ])('%s, for good', async (_, answer) => {
    answers['/x'] = answer
    expect((await product([at('/x'), at('/a.png')])).images).toEqual([at('/x'), expect.stringMatching(own())])
    expect([await waiting(), (await library()).length, (await kept()).length]).toEqual([[], 1, 1])
  })

  test('an address that is private, and one with a password', async () => {
    const images = ['http://127.0.0.1:1/a.png', 'http://169.254.169.254/latest', `http://me:secret@${host.url.host}/a.png`]
    expect((await product(images)).images).toEqual(images)
    expect([asked, await waiting()]).toEqual([[], []])
  })

  test('what can not be had for eight hours, and nobody is bothered', async () => {
    answers['/x'] = () => new Response('', { status: 500 })
    app.clock.now = new Date('2026-06-01T12:00:00.000Z')
    const { id } = await product([at('/x')])
    expect(await waiting()).toEqual([`product/${id}`])
    for (let attempt = 0; attempt < 10; attempt++) {
      await app.jobs.settle()
      app.clock.advance(22_000_000)
    }
    expect([asked.length, await waiting()]).toEqual([6, []])
    expect(made(await shop.get(`/products/${id}`)).images).toEqual([at('/x')])
  })
})

describe('many at once', () => {
  test('wait for nothing but their own; all are taken in, each once', async () => {
    const large = (await png(2400, 1800)) as Uint8Array<ArrayBuffer>
    const paths = Array.from({ length: 12 }, (_, i) => `/${i}.png`)
    for (const path of paths) answers[path] = () => new Response(large)
    await Promise.all(paths.map((path) => product([at(path)])))
    expect(await waiting()).not.toEqual([])
    await takeIn()
    const images = made(await shop.get('/products?limit=100')).data.flatMap((each: any) => each.images)
    expect(images.filter((url: string) => own().test(url))).toHaveLength(12)
    expect([new Set(images).size, (await library()).length, (await kept()).length]).toEqual([12, 12, 12])
  })
})

test('a hundred are shown as they come, not at the end alone', async () => {
  answers = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`/${i}.png`, () => new Response('', { status: 503 })]))
  const { id } = await product(Array.from({ length: 100 }, (_, i) => at(`/${i}.png`)))
  answers = { '/60.png': answers['/60.png']! }
  await app.jobs.settle()
  const { images } = made(await shop.get(`/products/${id}`))
  expect(images.filter((url: string) => !own().test(url))).toEqual([at('/60.png')])
  expect((await shop.rows(sql`select count(*) from outbox where event = 'product.updated'`))[0]).toEqual([10])
  expect(await waiting()).toEqual([`product/${id}`])
})

describe('a host that does not answer', () => {
  test('is waited for once, whatever is asked of it; then its images are left for later', async () => {
    let over = () => {}
    const hang = new Promise<void>((resolve) => (over = resolve))
    const silent = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => (asked.push('silent'), hang.then(() => new Response(picture))),
    })
    const fetchPublic = publicFetch({ allow: [silent.url.host, host.url.host], lookup: async () => [] })
    const another = await testApp({ baseUrl: BASE, fetchPublic })
    try {
      const store = await newShop(another)
      const images = ['/1.png', '/2.png', '/3.png'].map((path) => silent.url.origin + path)
      const create = async () => made(await store.post('/products', { name: 'Shirt', price: 10, images: [...images, at('/a.png')] }))
      expect((await create()).images.slice(0, 3)).toEqual(images)
      const { id } = await create()
      expect(asked.filter((path) => path === 'silent')).toHaveLength(1)
      // What it is to one store does not count for another.
      const other = await newShop(another)
      made(await other.post('/brands', { name: 'Nord', logo: images[0] }))
      expect(asked.filter((path) => path === 'silent')).toHaveLength(2)
      over()
      await another.jobs.settle()
      for (const image of made(await store.get(`/products/${id}`)).images) expect(image).toContain('/cdn/')
    } finally {
      await another.close()
      silent.stop(true)
    }
  })

  test('does not hold up a process that stops', async () => {
    const silent = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => (asked.push('silent'), new Promise<Response>(() => {})) })
    const another = await testApp({ baseUrl: BASE, fetchPublic: publicFetch({ allow: [silent.url.host], lookup: async () => [] }) })
    try {
      const store = await newShop(another)
      made(await store.post('/brands', { name: 'Nord', logo: silent.url.href }))
      void another.jobs.settle()
      while (asked.length < 2) await Bun.sleep(10)
      expect(await Promise.race([another.jobs.stop().then(() => 'stopped'), Bun.sleep(10_000)])).toBe('stopped')
      expect(await store.rows(sql`select attempts, failed_at, lease_token from jobs`)).toEqual([[0, null, null]])
    } finally {
      await another.close()
      silent.stop(true)
    }
  })
})

describe('nothing is left half done', () => {
  test('a refused request leaves no image', async () => {
    await product([], { slug: 'shirt' })
    expect((await shop.post('/products', { name: 'Shirt', slug: 'shirt', price: 10, images: [at('/a.png')] })).status).toBe(409)
    expect(paths(await shop.post('/products', { name: 'Shirt', images: [at('/b.png'), 'c.png'] }))).toEqual(['images.1'])
    expect((await shop.patch('/products/none', { images: [at('/c.png')] })).status).toBe(404)
    const { id } = await product([])
    const stale = { headers: { 'if-match': '"old"' } }
    expect((await shop.patch(`/products/${id}`, { images: [at('/d.png')] }, stale)).status).toBe(412)
    await app.app.settled()
    expect([asked, await library(), await kept(), await waiting()]).toEqual([['/a.png', '/c.png', '/d.png'], [], [], []])
  })

  test('a repeated Idempotency-Key adds none', async () => {
    const again = { headers: { 'idempotency-key': 'once' } }
    const body = { name: 'Shirt', price: 10, images: [at('/a.png')] }
    const [first, second] = [await shop.post('/products', body, again), await shop.post('/products', body, again)]
    expect(second.body).toEqual(first.body)
    await app.app.settled()
    expect([(await library()).length, (await kept()).length]).toEqual([1, 1])
    answers['/none.png'] = () => new Response('', { status: 404 })
    asked = []
    for (let i = 0; i < 2; i++)
      made(await shop.post('/brands', { name: 'Nord', logo: at('/none.png') }, { headers: { 'idempotency-key': 'b' } }))
    expect(asked).toEqual(['/none.png'])
    const other = await shop.post('/brands', { name: 'Sund', logo: at('/none.png') }, { headers: { 'idempotency-key': 'b' } })
    expect([other.status, asked.length]).toEqual([422, 1])
  })

  test('what is cleared while it is fetched is not kept', async () => {
    answers['/x.png'] = () => new Response('', { status: 503 })
    const { id } = await product([at('/x.png')])
    answers['/x.png'] = async () => {
      made(await shop.patch(`/products/${id}`, { images: [] }))
      return new Response(picture)
    }
    await takeIn()
    expect([asked.length, made(await shop.get(`/products/${id}`)).images, await library(), await kept()]).toEqual([2, [], [], []])
  })

  test('what was changed or removed meanwhile is not brought back', async () => {
    answers['/x.png'] = answers['/y.png'] = () => new Response('', { status: 503 })
    const one = await product([at('/x.png'), at('/y.png')])
    const two = await product([at('/y.png')])
    made(await shop.patch(`/products/${one.id}`, { images: [at('/a.png'), at('/y.png')] }))
    made(await shop.remove(`/products/${two.id}`))
    answers = {}
    await takeIn()
    const { images } = made(await shop.get(`/products/${one.id}`))
    expect(images).toEqual([expect.stringMatching(own()), expect.stringMatching(own())])
    expect([(await library()).length, (await kept()).length, await waiting()]).toEqual([2, 2, []])
  })

  test('a product that is changed later says so', async () => {
    answers['/x.png'] = () => new Response('', { status: 503 })
    app.clock.now = new Date('2026-06-01T12:00:00.000Z')
    const { id, updatedAt } = await product([at('/x.png')])
    answers = {}
    app.clock.advance(1_000)
    await takeIn()
    expect(made(await shop.get(`/products/${id}`)).updatedAt > updatedAt).toBe(true)
    expect((await shop.rows(sql`select event from outbox order by id`)).flat()).toEqual(['product.created', 'product.updated'])
  })
})
