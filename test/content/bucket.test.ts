/** Media and attachments in an S3 store (document 4, `S3_*`), and how it is asked: over a double that checks each signature. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removeOrphans } from '../../api/content/media/orphans.ts'
import { filesInBucket } from '../../api/outside/files.ts'
import { Bucket, inParts, regionOf } from '../../db/bucket.ts'
import { s3Double, type S3Double } from '../doubles/s3.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'
import { form, png } from './pictures.ts'

let s3: S3Double
let app: TestApp
let shop: Shop
beforeAll(async () => {
  s3 = await s3Double()
  app = await testApp({ baseUrl: 'https://api.shop.example', s3: s3.place })
})
beforeEach(async () => {
  Object.assign(s3, { mood: 'well', refuses: null, seen: [] })
  s3.objects.clear()
  shop = await newShop(app)
})
afterAll(async () => {
  await app.close()
  s3.close()
})

const upload = async (bytes?: Uint8Array) => shop.call('POST', '/media', undefined, { raw: form(bytes ?? (await png(800, 600))) })
const get = (url: string, init: RequestInit = {}) =>
  app.app.fetch(new Request(url.replace('https://api.shop.example', 'http://localhost'), init))
const keys = () => [...s3.objects.keys()].toSorted()

describe('media', () => {
  test('are kept at the paths that they would have below the data folder, and served from there', async () => {
    const body = made(await upload())
    const prefix = `media/${shop.store.id}/live/${body.id}`
    expect(keys()).toEqual(['320.webp', '640.webp', '800.webp', 'image.png'].map((name) => `${prefix}/${name}`))
    for (const { url, size, type } of [body, ...body.renditions]) {
      const answer = await get(url)
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual([200, type, String(size)])
      const key = url.replace('https://api.shop.example/cdn/', 'media/')
      expect(Buffer.from(await answer.arrayBuffer()).equals(s3.objects.get(key)!.bytes)).toBe(true)
    }
  })

  test('HEAD and If-None-Match read nothing; what is not there is 404', async () => {
    const { url } = made(await upload())
    const etag = (await get(url)).headers.get('etag')!
    s3.seen = []
    const head = await get(url, { method: 'HEAD' })
    expect([head.status, Number(head.headers.get('content-length'))]).toEqual([
      200,
      s3.objects.get(url.replace('https://api.shop.example/cdn/', 'media/'))!.bytes.length,
    ])
    expect((await get(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect(s3.seen.map((line) => line.split(' ')[0])).toEqual(['HEAD', 'HEAD'])
    const none = url.replace(/[0-9a-f-]{36}(?=\/image)/, crypto.randomUUID())
    expect([(await get(none)).status, (await get(none, { method: 'HEAD' })).status]).toEqual([404, 404])
    expect((await get(none, { headers: { 'if-none-match': `"${none.split('/').at(-2)}-image.png"` } })).status).toBe(404)
  })

  test('a large one is sent as it comes', async () => {
    const noise = new Uint8Array(1200 * 1200 * 3)
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536))
    const { default: sharp } = await import('sharp')
    const bytes = new Uint8Array(
      await sharp(noise, { raw: { width: 1200, height: 1200, channels: 3 } })
        .png()
        .toBuffer(),
    )
    const body = made(await upload(bytes))
    expect(body.size).toBeGreaterThan(2_000_000)
    const answer = await get(body.url)
    expect((await answer.arrayBuffer()).byteLength).toBe(body.size)
  })

  test('go with their row, and those that no row names by the daily look', async () => {
    const { id } = made(await upload())
    const other = made(await upload())
    expect((await shop.call('DELETE', `/media/${id}`)).status).toBe(200)
    await app.app.settled()
    expect(keys().filter((key) => key.includes(id))).toEqual([])
    const owner = { storeId: shop.store.id, environment: 'live' } as const
    await app.services.files.keep(owner, crypto.randomUUID(), [{ name: 'image.png', bytes: new Uint8Array([1]) }])
    for (const object of s3.objects.values()) object.at = new Date(Date.now() - 7_200_000)
    await app.services.files.keep(owner, crypto.randomUUID(), [{ name: 'image.png', bytes: new Uint8Array([1]) }])
    const look = () =>
      shop.store && app.handles.visit(owner.storeId, 'live', (store) => removeOrphans(store, owner, app.services.files, new Date()))
    expect([await look(), await look()]).toEqual([1, 0])
    expect(new Set(keys().map((key) => key.split('/')[3]))).toEqual(
      new Set([
        other.id,
        keys()
          .find((key) => !key.includes(other.id))!
          .split('/')[3],
      ]),
    )
  })

  test('that come for a store which was deleted meanwhile are not kept', async () => {
    const { id } = made(await upload())
    const prefix = `media/${shop.store.id}`
    await app.registry.deleteStore(shop.store.id)
    const owner = { storeId: shop.store.id, environment: 'live' } as const
    await expect(app.services.files.keep(owner, crypto.randomUUID(), [{ name: 'image.png', bytes: new Uint8Array(1) }])).rejects.toThrow(
      'not found',
    )
    expect(keys().filter((key) => key.startsWith(prefix) && !key.includes(id))).toEqual([])
  })

  test('a store that is away is 503, nothing is half kept, and what is asked again works', async () => {
    const { url } = made(await upload())
    const before = keys()
    s3.refuses = '640.webp'
    const refused = await upload()
    expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
      ...[503, "the server's file store does not answer: nothing was changed", '10'],
    ])
    expect(keys()).toEqual(before)
    s3.mood = 'down'
    expect((await upload()).status).toBe(503)
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(url, { method })
      expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('cache-control')]).toEqual([503, '10', 'no-store'])
    }
    expect((await shop.get('/media')).body.meta.count).toBe(1)
    Object.assign(s3, { mood: 'well', refuses: null })
    expect([(await upload()).status, (await get(url)).status]).toEqual([201, 200])
  })

  test('files of support cases are kept there, too, and sent to those alone who may have them', async () => {
    const path = '/support-cases'
    const { id } = made(await shop.post(path, { email: 'a@shop.example', name: 'Ada', subject: 'Seam', message: 'See the bill.' }))
    const pdf = `%PDF-1.7\n${' '.repeat(400_000)}\n%%EOF`
    const raw = form(pdf, { message: 'Here.' }, { name: 'bill.pdf', type: 'application/pdf' })
    const { attachments } = made(await shop.call('POST', `${path}/${id}/messages`, undefined, { raw }))
    expect(keys()).toEqual([`media/${shop.store.id}/live/${attachments[0].id}/attachment`])
    const answer = await app.app.fetch(
      new Request(`http://localhost/api/v1${path}/${id}/attachments/${attachments[0].id}`, {
        headers: { authorization: `Bearer ${shop.keys.admin}` },
      }),
    )
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, pdf.length])
    expect((await get(`https://api.shop.example/cdn/${shop.store.id}/live/${attachments[0].id}/attachment`)).status).toBe(404)
  })
})

describe('asking an S3 store', () => {
  const bytes = new Uint8Array(300_000).fill(7)
  /** As little as is enough on loopback. */
  const quick = () => new Bucket(s3.place, 300)

  test('lists all pages, in the order of the keys', async () => {
    const bucket = quick()
    await inParts(
      Array.from({ length: 30 }, (_, n) => n),
      (n) => bucket.put(`many/${String(n).padStart(2, '0')}`, new Uint8Array(n + 1)),
    )
    await bucket.put('other', bytes)
    const found: string[] = []
    for await (const { key, size, at } of bucket.list('many/')) {
      found.push(key)
      expect([size, Math.abs(Date.now() - at.getTime()) < 60_000]).toEqual([found.length, true])
    }
    expect(found).toEqual(Array.from({ length: 30 }, (_, n) => `many/${String(n).padStart(2, '0')}`))
    await bucket.removeAll('many/')
    expect([keys(), await bucket.has('many/'), await bucket.has('oth')]).toEqual([['other'], false, true])
  })

  test.each([
    ['with another secret', { secretAccessKey: 'another' }, /403 SignatureDoesNotMatch/],
    ['with another key', { accessKeyId: 'nobody' }, /403 InvalidAccessKeyId/],
    ['in a bucket that is not there', { bucket: 'not-there' }, /404 NoSuchBucket/],
    ['where nothing listens', { endpoint: 'http://127.0.0.1:1' }, /http:\/\/127\.0\.0\.1:1 failed/],
  ])('%s says what is wrong, for reading and writing', async (_, change, message) => {
    const bucket = new Bucket({ ...s3.place, ...change })
    for (const ask of [() => bucket.get('a'), () => bucket.put('a', bytes), () => bucket.remove('a')])
      await expect(ask()).rejects.toThrow(message)
    await expect(bucket.has('a')).rejects.toThrow('failed')
  })

  test('tries three times what the store could not do, and once what it refuses', async () => {
    s3.mood = 'down'
    await expect(quick().put('a', bytes)).rejects.toThrow('503 SlowDown')
    expect(s3.seen).toEqual(['PUT a', 'PUT a', 'PUT a'])
    s3.mood = 'well'
    s3.seen = []
    await expect(new Bucket({ ...s3.place, accessKeyId: 'x' }).put('a', bytes)).rejects.toThrow('403')
    expect(s3.seen).toEqual(['PUT a'])
  })

  test('waits for no store that does not answer, or stops in the middle', async () => {
    await quick().put('a', bytes)
    await quick().put('small', bytes.subarray(0, 1_000))
    s3.mood = 'hanging'
    const started = performance.now()
    const asked = [quick().get('a'), quick().size('a'), quick().put('b', bytes.subarray(0, 10)), quick().remove('a'), quick().has('a')]
    for (const result of await Promise.allSettled(asked)) expect(String((result as { reason: unknown }).reason)).toMatch('does not answer')
    expect(performance.now() - started).toBeLessThan(5_000)
    s3.mood = 'silent'
    await expect(quick().get('small')).rejects.toThrow('failed')
    const { body } = (await quick().get('a'))!
    await expect(new Response(body).arrayBuffer()).rejects.toThrow()
  }, 15_000)

  test('takes an answer that is cut off for a failure', async () => {
    await quick().put('small', bytes.subarray(0, 1_000))
    await quick().put('a', bytes)
    s3.mood = 'cut'
    await expect(quick().get('small')).rejects.toThrow('failed')
    const { body } = (await quick().get('a'))!
    await expect(new Response(body).arrayBuffer()).rejects.toThrow()
  })

  test('saves to a file what is cut off at first, and says nothing of a signed address', async () => {
    await quick().put('a', bytes)
    const path = join(tmpdir(), `stoa-saved-${process.pid}`)
    s3.mood = 'cut'
    const saving = quick().save('a', path)
    await Bun.sleep(100)
    s3.mood = 'well'
    expect(await saving).toBe(true)
    expect(readFileSync(path).equals(Buffer.from(bytes))).toBe(true)
    expect(await quick().save('nothing', path)).toBe(false)
    s3.mood = 'cut'
    const { body } = (await quick().get('a'))!
    const error = await new Response(body).arrayBuffer().catch((reason: Error) => reason)
    expect([String(error).includes('a was cut off'), Bun.inspect(error).includes('X-Amz')]).toEqual([true, false])
  })

  test.each([
    ['of somebody else', (n: number) => `media/other/${n}`],
    ['again and again', () => 'many/1'],
  ])('removes nothing that a list names %s', async (_, keyOf) => {
    const asked: string[] = []
    const lying = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ method, url }) {
        asked.push(`${method} ${new URL(url).pathname}`)
        const key = keyOf(asked.length)
        const listed = `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>`
        return new Response(`<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>${listed}</ListBucketResult>`)
      },
    })
    const bucket = new Bucket({ ...s3.place, endpoint: `http://127.0.0.1:${lying.port}` }, 2_000)
    await expect(bucket.removeAll('many/')).rejects.toThrow('lists what it was not asked for')
    expect(asked.filter((line) => line.includes('other'))).toEqual([])
    expect(asked.length).toBeLessThan(5)
    await lying.stop(true)
  })

  test('takes no web page and no answer without a size for an object, and reads no refusal to its end', async () => {
    await quick().put('page', bytes.subarray(0, 10), 'text/html; charset=utf-8')
    await expect(quick().get('page')).rejects.toThrow('came as a web page')
    await expect(quick().size('page')).rejects.toThrow('came as a web page')
    let sent = 0
    const endless = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 65_536
              controller.enqueue(new Uint8Array(65_536))
            },
          }),
          { status: 403 },
        ),
    })
    const bucket = new Bucket({ ...s3.place, endpoint: `http://127.0.0.1:${endless.port}` }, 2_000)
    for (const ask of [() => bucket.get('a'), () => bucket.put('a', bytes), () => bucket.remove('a')])
      await expect(ask()).rejects.toThrow('403')
    expect(sent).toBeLessThan(64 * 1024 ** 2)
    await endless.stop(true)
  })

  test.each([
    ['http://127.0.0.1:9000', 'us-east-1'],
    ['https://s3.amazonaws.com', 'us-east-1'],
    ['https://s3.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['https://s3.dualstack.eu-west-1.amazonaws.com', 'eu-west-1'],
    ['https://s3-eu-west-1.amazonaws.com', 'eu-west-1'],
    ['https://s3.us-west-004.backblazeb2.com', 'us-west-004'],
    ['https://s3.fr-par.scw.cloud', 'fr-par'],
    ['https://0123456789abcdef.r2.cloudflarestorage.com', 'auto'],
    ['https://minio.internal:9000', 'us-east-1'],
  ])('%s is asked for the region %s', (endpoint, region) => {
    expect(regionOf(endpoint)).toBe(region)
  })

  test('files of one id are kept together, or not at all, when the store breaks down in between', async () => {
    const files = filesInBucket(quick(), 'https://api.shop.example')
    const owner = { storeId: shop.store.id, environment: 'live' } as const
    s3.refuses = '/b'
    const all = ['a', 'b', 'c'].map((name) => ({ name, bytes: new Uint8Array([1]) }))
    await expect(files.keep(owner, crypto.randomUUID(), all)).rejects.toThrow('500 InternalError')
    expect([keys(), await files.list(owner)]).toEqual([[], []])
  })
})
