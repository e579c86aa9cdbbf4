import { sql } from 'drizzle-orm'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removeOrphans } from '../../api/content/media/orphans.ts'
import { testApp, type Answer, type CallOptions, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { animation, blankPng, form, picture, png } from './pictures.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp({ baseUrl: 'https://api.shop.example' })
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const MAX_BYTES = 20 * 1_048_576
const upload = (data: FormData, options: CallOptions = {}): Promise<Answer> =>
  shop.call('POST', '/media', undefined, { raw: data, ...options })
const added = async (fields: Record<string, string> = {}, bytes?: Uint8Array) => made(await upload(form(bytes ?? (await png()), fields)))
const owner = (environment: 'live' | 'sandbox' = 'live') => ({ storeId: shop.store.id, environment })
const kept = async (environment?: 'live' | 'sandbox') => (await app.services.files.list(owner(environment))).map(({ id }) => id)
/** Asks for what a URL names, as a browser would: without a key. */
const get = (url: string, init: RequestInit = {}) =>
  app.app.fetch(new Request(url.replace('https://api.shop.example', 'http://localhost'), init))
const served = async (url: string) => new Uint8Array(await (await get(url)).arrayBuffer())
const everyFile = async (item: any) => [item.url, ...item.renditions.map(({ url }: any) => url)]

describe('POST /media', () => {
  test('a file is enough: what it is, is read from it', async () => {
    const { status, body } = await upload(form(await png(800, 600)))
    expect(status).toBe(201)
    const base = `https://api.shop.example/cdn/${shop.store.id}/live/${body.id}`
    expect(body).toEqual({
      id: expect.any(String),
      url: `${base}/image.png`,
      name: 'picture.png',
      type: 'image/png',
      size: expect.any(Number),
      width: 800,
      height: 600,
      renditions: [320, 640, 800].map((width) => ({
        url: `${base}/${width}.webp`,
        type: 'image/webp',
        width,
        height: (width * 3) / 4,
        size: expect.any(Number),
      })),
      alt: null,
      description: null,
      feedAccount: null,
      takenAt: body.createdAt,
      code: null,
      source: null,
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    })
    expect((await shop.get(`/media/${body.id}`)).body).toEqual(body)
  })

  test('keeps what is said about it', async () => {
    const fields = { name: 'Shirt', alt: ' A shirt ', description: 'Linen,\nwashed', feedAccount: '@Atelier.Nord', code: 'C1' }
    expect(await added({ ...fields, takenAt: '2026-05-01T12:00:00+02:00' })).toMatchObject({
      ...fields,
      alt: 'A shirt',
      feedAccount: 'Atelier.Nord',
      takenAt: '2026-05-01T10:00:00.000Z',
    })
    expect(await added({ alt: '', description: '  ', code: '' })).toMatchObject({ alt: null, description: null, code: null })
  })

  test.each(['jpeg', 'png', 'webp', 'gif'] as const)('%s is taken, whatever its name and header say', async (format) => {
    const bytes = new Uint8Array(await picture().toFormat(format).toBuffer())
    const body = made(await upload(form(bytes, {}, { name: 'evil.html', type: 'text/html' })))
    expect([body.type, body.name]).toEqual([`image/${format}`, 'evil.html'])
    for (const [url, expected] of [[body.url, format], ...body.renditions.map(({ url }: any) => [url, 'webp'])]) {
      const response = await get(url)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, `image/${expected}`])
      const about = await sharp(new Uint8Array(await response.arrayBuffer())).metadata()
      expect([about.format, about.width, about.height]).toEqual([expected, 60, 40])
    }
    expect(body.size).toBe((await served(body.url)).length)
  })

  test.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'],
    ['a PDF', '%PDF-1.7\n1 0 obj\n'],
    ['a program', 'GIF89a=1;alert(1)//'],
    ['first bytes alone', '\x89PNG\r\n\x1a\n'],
  ])('%s is no image, whatever it is called', async (_, text) => {
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0))
    expect(paths(await upload(form(bytes, {}, { name: 'image.png', type: 'image/png' })))).toEqual(['file'])
    expect([await kept(), (await shop.get('/media')).body.meta.count]).toEqual([[], 0])
  })

  test('an image that breaks off is refused', async () => {
    const whole = await sharp({
      create: { width: 400, height: 400, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 40 } },
    })
      .jpeg()
      .toBuffer()
    made(await upload(form(new Uint8Array(whole))))
    expect(paths(await upload(form(new Uint8Array(whole.subarray(0, whole.length / 2)))))).toEqual(['file'])
  })

  test('without the field file, with text in it, or with two of them, it is 400 at file', async () => {
    const none = new FormData()
    none.append('alt', 'x')
    const { body } = await upload(none)
    expect(body.details).toEqual([{ code: 'required', message: 'is required', path: ['file'] }])
    const other = new FormData()
    other.append('image', new Blob([(await png()) as Uint8Array<ArrayBuffer>]), 'a.png')
    const text = new FormData()
    text.append('file', 'x')
    const two = form(await png())
    two.append('file', new Blob(['x']), 'b.png')
    for (const data of [other, text, two]) expect(paths(await upload(data))).toEqual(['file'])
  })

  test.each([
    ['takenAt', 'yesterday'],
    ['takenAt', '2026-02-30T00:00:00Z'],
    ['alt', 'x'.repeat(501)],
    ['alt', 'a\nb'],
    ['name', 'x'.repeat(201)],
    ['description', 'x'.repeat(5_001)],
    ['feedAccount', 'two words'],
    ['feedAccount', 'a/b'],
    ['feedAccount', '@'],
    ['code', 'x'.repeat(101)],
    ['alt', 'a\0b'],
  ])('%s is 400 when it is wrong', async (field, value) => {
    expect(paths(await upload(form(await png(), { [field]: value })))).toEqual([field])
    expect(await kept()).toEqual([])
  })

  test('a body that is no form is 415, one that is broken 400', async () => {
    expect((await shop.call('POST', '/media', undefined, { raw: 'x', headers: { 'content-type': 'image/png' } })).status).toBe(415)
    const broken = { raw: 'no parts', headers: { 'content-type': 'multipart/form-data; boundary=b' } }
    expect((await shop.call('POST', '/media', undefined, broken)).status).toBe(400)
  })

  test('20 MB are taken, one byte more is 413', async () => {
    const exact = new Uint8Array(MAX_BYTES)
    exact.set(await png())
    const body = made(await upload(form(exact)))
    expect(body.size).toBeLessThan(10_000)
    const over = new Uint8Array(MAX_BYTES + 1)
    over.set(await png())
    expect((await upload(form(over))).status).toBe(413)
    // What is far too large is not read to its end.
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent++
        controller.enqueue(new Uint8Array(1_048_576))
      },
    })
    const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'multipart/form-data; boundary=b' }
    const response = await app.app.fetch(
      new Request('http://localhost/api/v1/media', { method: 'POST', headers, body: endless, duplex: 'half' } as never),
    )
    expect([response.status, sent < 40]).toEqual([413, true])
  })

  test('what a store sends at the same time is bounded, other stores go on, and there is room again when some of it has come', async () => {
    let go = () => {}
    const rest = new Promise<void>((resolve) => (go = resolve))
    const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'multipart/form-data; boundary=b' }
    let sent = 0
    const slow = () => {
      let chunks = 0
      const body = new ReadableStream({
        async pull(controller) {
          sent++
          if (++chunks <= 19) return controller.enqueue(new Uint8Array(1_048_576))
          await rest
          controller.close()
        },
      })
      return app.app.fetch(new Request('http://localhost/api/v1/media', { method: 'POST', headers, body, duplex: 'half' } as never))
    }
    const three = Array.from({ length: 3 }, slow)
    while (sent < 60) await Bun.sleep(1)
    const large = new Uint8Array(MAX_BYTES)
    large.set(await png())
    const refused = await upload(form(large))
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([503, '5', 'close'])
    // What is no file has a share of its own: ten bodies of nearly 1 MB, held open, fit beside the files.
    const text = () => {
      let sent = false
      const body = new ReadableStream({
        async pull(controller) {
          if (!sent) return ((sent = true), controller.enqueue(new Uint8Array(1_000_000).fill(0x20)))
          await rest
          controller.close()
        },
      })
      const json = { ...headers, 'content-type': 'application/json' }
      return app.app.fetch(
        new Request('http://localhost/api/v1/products', { method: 'POST', headers: json, body, duplex: 'half' } as never),
      )
    }
    const bodies = Array.from({ length: 10 }, text)
    await Bun.sleep(50)
    made(await upload(form(await png())))
    const { keys } = await app.newStore()
    made(await upload(form(large), { key: keys.admin }))
    go()
    expect((await Promise.all(three)).map(({ status }) => status)).toEqual(Array(3).fill(400))
    expect((await Promise.all(bodies)).map(({ status }) => status)).toEqual(Array(10).fill(400))
    made(await upload(form(large)))
  })

  test('fields that are called like parts of every object are none of its own', async () => {
    made(await upload(form(await png(), { constructor: 'x', toString: 'x', __proto__: 'x' })))
  })

  test('what would be too many pixels is refused before it is decoded', async () => {
    const bomb = await blankPng(20_000)
    expect(bomb.length).toBeLessThan(100_000)
    const { status, body } = await upload(form(bomb))
    expect([status, body.details[0].message]).toEqual([400, 'has more than 64 million pixels'])
    const { body: frames } = await upload(form(await animation(3_000, 2_000)))
    expect(frames.details[0].message).toBe('has more than 16 million pixels in all of its frames')
  })

  test('a large image is made smaller, a small one is not made larger', async () => {
    expect(await added({}, await png(5_000, 1_000))).toMatchObject({ width: 4096, height: 819 })
    const tiny = await added({}, await png(7, 5))
    expect([tiny.width, tiny.renditions.map(({ width }: any) => width)]).toEqual([7, [7]])
  })

  test('the place where it was taken, and all else that cameras note, is taken out; it is turned upright', async () => {
    const secret = 'Ada Lovelace, Portland'
    const exif = { IFD0: { Copyright: secret }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '45/1 31/1 12/1' } }
    for (const format of ['jpeg', 'webp', 'png'] as const) {
      const bytes = await picture(60, 40)
        .withExif(exif)
        .withMetadata({ orientation: 6 })
        .withXmp(`<x:xmpmeta>${secret}</x:xmpmeta>`)
        .toFormat(format)
        .toBuffer()
      expect(bytes.includes(secret)).toBe(true)
      const body = await added({}, new Uint8Array(bytes))
      expect([body.width, body.height]).toEqual([40, 60])
      for (const url of await everyFile(body)) {
        const file = Buffer.from(await served(url))
        const { exif, xmp, orientation } = await sharp(file).metadata()
        expect([exif, xmp, orientation, file.includes('Lovelace')]).toEqual([undefined, undefined, undefined, false])
      }
    }
  })

  test('what hides behind an image is not served', async () => {
    const hidden = '<script>alert(document.domain)</script>PK\x03\x04'
    const bytes = new Uint8Array(Buffer.concat([await picture().jpeg().toBuffer(), Buffer.from(hidden)]))
    for (const url of await everyFile(await added({}, bytes))) expect(Buffer.from(await served(url)).includes('script')).toBe(false)
  })

  test('an animation stays one', async () => {
    const body = await added({}, await animation())
    expect(body).toMatchObject({ type: 'image/gif', width: 50, height: 30 })
    for (const url of await everyFile(body)) expect((await sharp(await served(url), { animated: true }).metadata()).pages).toBe(3)
  })

  test('other requests are answered while an image is made', async () => {
    const large = sharp({
      create: { width: 4_000, height: 3_000, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
    })
    const bytes = new Uint8Array(await large.jpeg().toBuffer())
    let isDone = false
    const uploading = upload(form(bytes)).then((answer) => ((isDone = true), answer))
    let answered = 0
    while (!isDone) {
      made(await shop.get('/me'))
      answered++
      await Bun.sleep(1)
    }
    made(await uploading)
    expect(answered).toBeGreaterThan(20)
  })

  test('many at once are all made', async () => {
    const bytes = await png(300, 200)
    const answers = await Promise.all(Array.from({ length: 18 }, () => upload(form(bytes))))
    expect(answers.map(({ status }) => status)).toEqual(Array(18).fill(201))
    expect((await kept()).toSorted()).toEqual(answers.map(({ body }) => body.id).toSorted())
  })

  test('an Idempotency-Key adds it once; another file under the same key is 422', async () => {
    const headers = { 'idempotency-key': 'shirt' }
    const bytes = await png()
    const first = await upload(form(bytes, { alt: 'x' }), { headers })
    const again = await upload(form(bytes, { alt: 'x' }), { headers })
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true'])
    expect((await upload(form(await png(61), { alt: 'x' }), { headers })).status).toBe(422)
    expect((await upload(form(bytes, { alt: 'y' }), { headers })).status).toBe(422)
    await app.app.settled()
    expect(await kept()).toEqual([first.body.id])
  })
})

describe('the CDN path', () => {
  test('needs no key, and may be kept for ever', async () => {
    const { url } = await added()
    const response = await get(url)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    })
    const etag = response.headers.get('etag')!
    const again = await get(url, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const head = await get(`${url}?v=1`, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([200, '', String((await served(url)).length)])
  })

  test('has nothing but images', async () => {
    const { url, id } = await added()
    const folder = url.slice(0, url.lastIndexOf('/'))
    for (const path of [
      `${folder}/`,
      folder,
      `${folder}/image.jpg`,
      `${folder}/99.webp`,
      `${folder}/..%2f${id}%2fimage.png`,
      `${folder}/image.png/`,
      `${folder}/image.png%00`,
      folder.replace('/live/', '/sandbox/') + '/image.png',
      folder.replace(shop.store.id, '..') + '/image.png',
    ]) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 404, 'application/json; charset=utf-8'])
    }
    expect((await get(url, { method: 'POST' })).status).toBe(404)
  })
})

describe('GET /media', () => {
  test('is paged, newest first, and finds words in all that is said', async () => {
    const names = ['Łopata', 'b', 'c']
    const ids: string[] = []
    for (const [i, name] of names.entries()) ids.unshift((await added({ name, code: `K_${i}`, ...(i ? { feedAccount: 'Nord' } : {}) })).id)
    const list = async (query: string) => {
      const { data, meta } = made(await shop.get(`/media?${query}`))
      return [data.map(({ id }: any) => ids.indexOf(id)), meta.count]
    }
    expect(made(await shop.get('/media')).meta).toEqual({ count: 3, offset: 0, limit: 50 })
    expect(await list('')).toEqual([[0, 1, 2], 3])
    expect(await list('limit=1&offset=1')).toEqual([[1], 3])
    expect(await list('query=lopata')).toEqual([[2], 1])
    expect(await list('query=k_1')).toEqual([[1], 1])
    expect(await list('query=k%251')).toEqual([[], 0])
    expect(await list('feedAccount=@NORD')).toEqual([[0, 1], 2])
    expect(await list('feedAccount=other')).toEqual([[], 0])
  })

  test('a store sees its own, and its sandbox others', async () => {
    const mine = await added()
    const staging = { key: shop.keys.staging }
    const sandboxed = made(await upload(form(await png()), staging))
    expect(sandboxed.url).toContain(`/cdn/${shop.store.id}/sandbox/${sandboxed.id}/`)
    expect((await get(sandboxed.url)).status).toBe(200)
    const other = await newShop(app)
    for (const [options, id] of [
      [{ key: other.keys.admin }, mine.id],
      [staging, mine.id],
      [{}, sandboxed.id],
    ] as const) {
      expect((await shop.get(`/media/${id}`, options)).status).toBe(404)
      expect((await shop.remove(`/media/${id}`, options)).status).toBe(404)
      expect((await shop.patch(`/media/${id}`, { alt: 'x' }, options)).status).toBe(404)
    }
    expect(await kept('sandbox')).toEqual([sandboxed.id])
  })
})

test('PATCH changes what is said and nothing else; null clears', async () => {
  const before = await added({ alt: 'old', feedAccount: 'nord', takenAt: '2026-01-01T00:00:00Z', description: 'stays' })
  app.clock.advance(5_000)
  const change = { name: 'New', alt: null, feedAccount: '@Sud', takenAt: null, code: 'c', type: 'image/gif', url: 'https://evil.example/x' }
  const { status, body } = await shop.patch(`/media/${before.id}`, change)
  expect([status, body]).toEqual([
    200,
    {
      ...before,
      name: 'New',
      alt: null,
      feedAccount: 'Sud',
      takenAt: before.createdAt,
      code: 'c',
      updatedAt: app.clock.now.toISOString(),
    },
  ])
  expect(made(await shop.get(`/media/${before.id}`))).toEqual(body)
  expect(made(await shop.patch(`/media/${before.id}`, {}))).toMatchObject({ name: 'New', feedAccount: 'Sud', code: 'c' })
  expect(made(await shop.get('/media?query=sud')).meta.count).toBe(1)
  expect(made(await shop.get('/media?query=nord')).meta.count).toBe(0)
  for (const [field, value] of [
    ['name', null],
    ['name', ' '],
    ['takenAt', 'x'],
    ['feedAccount', ''],
  ])
    expect(paths(await shop.patch(`/media/${before.id}`, { [field!]: value }))).toEqual([field])
})

describe('DELETE /media/{id}', () => {
  test('takes the files away, too', async () => {
    const { id, url } = await added()
    expect((await get(url)).status).toBe(200)
    const { status, body } = await shop.remove(`/media/${id}`)
    expect([status, body]).toEqual([200, { ok: true, deleted: 1 }])
    await app.app.settled()
    expect([(await get(url)).status, await kept(), (await shop.remove(`/media/${id}`)).status]).toEqual([404, [], 404])
  })

  test.each([
    ['product', '/products', { name: 'x', price: 1 }, 'images'],
    ['bundle', '/bundles', { name: 'x' }, 'images'],
    ['category', '/categories', { name: 'x' }, 'image'],
    ['collection', '/collections', { name: 'x' }, 'image'],
    ['brand', '/brands', { name: 'x' }, 'logo'],
  ])('is 409 while a %s shows the image, or a rendition of it', async (what, path, body, field) => {
    const { id, renditions } = await added()
    const url = renditions[0].url
    const user = made(await shop.post(path, { ...body, [field]: field === 'images' ? ['https://cdn.example.com/a.webp', url] : url }))
    const refused = await shop.remove(`/media/${id}`)
    expect([refused.status, refused.body]).toEqual([
      409,
      expect.objectContaining({ error: `a ${what} still shows this image`, [`${what}Id`]: user.id }),
    ])
    expect((await get(url)).status).toBe(200)
    made(await shop.patch(`${path}/${user.id}`, { [field]: field === 'images' ? [] : null }))
    expect((await shop.remove(`/media/${id}`)).status).toBe(200)
  })
})

test('who shows an image is found by an index, not by looking at all products', async () => {
  const plan = await shop.rows(
    sql`explain query plan select products.id from image_uses join products on products.id = entity_id where media_id = 'x' and entity = 'product' and instr(images, 'y') > 0 limit 1`,
  )
  expect(plan.map((row) => row[3]).join('\n')).not.toContain('SCAN')
})

test('what a crash left without a row is removed an hour later, and nothing else', async () => {
  const { id } = await added()
  const orphan = Bun.randomUUIDv7()
  await app.services.files.keep(owner(), orphan, [{ name: 'image.png', bytes: await png() }])
  const sweep = (ms: number) =>
    app.handles.use(shop.store.id, 'live', (store) => removeOrphans(store, owner(), app.services.files, new Date(Date.now() + ms)))
  expect(await sweep(50 * 60_000)).toBe(0)
  expect((await kept()).toSorted()).toEqual([id, orphan].toSorted())
  expect(await sweep(61 * 60_000)).toBe(1)
  expect(await kept()).toEqual([id])
})
