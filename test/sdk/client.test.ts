/** Document 8, SDK: what the package does around a request. A server that misbehaves in known ways stands for a network that does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { createStoa, products, carts, search, Stoa, StoaError, verifyWebhook } from 'stoa-sdk'

interface Seen {
  method: string
  path: string
  headers: Headers
  body: string
}
type Answer = Response | 'reset' | 'never'

let seen: Seen[] = []
let answers: ((seen: Seen) => Answer | Promise<Answer>)[] = []
/** Answers what the test has prepared, one after the other; the last one stays. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]))
  const one = { method: request.method!, path: request.url!, headers, body: Buffer.concat(chunks).toString() }
  seen.push(one)
  const answer = await (answers.length > 1 ? answers.shift()! : answers[0]!)(one)
  if (answer === 'reset') request.socket.destroy()
  if (answer === 'reset' || answer === 'never') return
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(Buffer.from(await answer.arrayBuffer()))
})
const url = await new Promise<string>((resolve) =>
  server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
)
afterAll(() => server.closeAllConnections())
afterAll(() => void server.close())
beforeEach(() => {
  seen = []
  answers = [() => Response.json({ id: 'x' })]
})

const stoa = (more: object = {}) => new Stoa({ url, key: 'sk-test', ...more })
const error =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers })
const caught = async (promise: PromiseLike<unknown>): Promise<any> => {
  try {
    await promise
  } catch (thrown) {
    return thrown
  }
  throw new Error('nothing was thrown')
}

describe('a request', () => {
  test('has the parts of its path escaped, lists with commas, and what the client asks of every one', async () => {
    await stoa({ headers: { 'x-shop': 'north' } }).products.list({ tag: 'a b', limit: 2 } as never)
    await stoa().products.get('a/b ?c')
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v1/products?tag=a%20b&limit=2',
      'GET /api/v1/products/a%2Fb%20%3Fc',
    ])
    const { headers } = seen[0]!
    expect([headers.get('authorization'), headers.get('prefer'), headers.get('x-shop')]).toEqual([
      'Bearer sk-test',
      'handling=strict',
      'north',
    ])
    expect(seen[0]!.headers.has('idempotency-key')).toBe(false)
  })

  test('takes its key from a function, another path of the API, and a fetch of its own', async () => {
    const keys = ['one', 'two']
    const own = stoa({ key: async () => keys.shift()!, apiPath: '/shop/api', strict: false, fetch: (request: Request) => fetch(request) })
    await own.me.get()
    await own.me.get()
    expect(seen.map(({ path, headers }) => [path, headers.get('authorization'), headers.get('prefer')])).toEqual([
      ['/shop/api/me', 'Bearer one', null],
      ['/shop/api/me', 'Bearer two', null],
    ])
    await new Stoa({ url: `${url}/` }).me.get()
    expect([seen[2]!.path, seen[2]!.headers.get('authorization')]).toEqual(['/api/v1/me', null])
  })

  test.each(['', '.', '..', undefined, null, {}])('is not sent with %j in its path', async (id) => {
    const refused = await stoa()
      .orders.get(id as never)
      .catch((error: StoaError) => error)
    expect(refused).toMatchObject({ name: 'StoaError', status: 0, code: 'invalid_argument', message: expect.stringContaining('needs id') })
    expect((await caught(stoa().wishlists.get(id as never))).code).toBe('invalid_argument')
    expect(seen).toEqual([])
  })

  test.each([undefined, '', 'shop', 'ftp://shop.example', null, 'https:///x'])('goes nowhere when url is %j', (wrong) => {
    expect(() => new Stoa({ url: wrong as never })).toThrow(expect.objectContaining({ name: 'StoaError', code: 'invalid_argument' }))
  })

  test('may be of a resource that is called itself', async () => {
    const own = createStoa({ url }, { search, carts, products })
    await own.search({ q: 'linen' })
    expect(seen[0]!.path).toBe('/api/v1/search?q=linen')
    expect(Object.keys(own)).toEqual(['search', 'carts', 'products'])
  })

  test('has a body, a query beside it, and headers of its own', async () => {
    await stoa().carts.checkout('c1', { email: 'ada@example.com' } as never, { query: { lang: 'de-DE' }, headers: { 'x-a': 'b' } })
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/api/v1/carts/c1/checkout?lang=de-DE', body: '{"email":"ada@example.com"}' })
    expect(seen[0]!.headers.get('content-type')).toBe('application/json')
    expect(seen[0]!.headers.get('x-a')).toBe('b')
  })
})

describe('trying again', () => {
  test('429, 503 and a broken connection are tried again, a POST with the same Idempotency-Key', async () => {
    answers = [
      error(429, { error: 'slow down' }, { 'retry-after': '0' }),
      () => 'reset',
      () => Response.json({ id: 'cart' }, { status: 201 }),
    ]
    expect(await stoa().carts.create({} as never)).toEqual({ id: 'cart' })
    const keys = seen.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    await stoa().carts.create({} as never)
    expect(seen[3]!.headers.get('idempotency-key')).not.toBe(keys[0])
    await stoa().carts.create({} as never, { idempotencyKey: 'mine' })
    expect(seen[4]!.headers.get('idempotency-key')).toBe('mine')
  })

  test('what is refused is not', async () => {
    for (const status of [400, 401, 402, 403, 404, 409, 412, 422, 500, 501]) {
      seen = []
      answers = [error(status, { error: 'no' })]
      expect([status, (await caught(stoa().carts.create({} as never))).status, seen.length]).toEqual([status, status, 1])
    }
  })

  test('as often as it is told, and not when it would have to wait for long', async () => {
    answers = [error(503, { error: 'busy' }, { 'retry-after': '0' })]
    const gone = await caught(stoa().me.get())
    expect([gone.code, gone.retryAfterSeconds, seen.length]).toEqual(['unavailable', 0, 3])
    await caught(stoa({ retries: 0 }).me.get())
    await caught(stoa().me.get({ retries: 1 }))
    expect(seen.length).toBe(3 + 1 + 2)
    answers = [error(503, { error: 'down' }, { 'retry-after': '60' })]
    await caught(stoa().me.get())
    expect(seen.length).toBe(7)
  })

  test('a change that may have been made is not made again: a PATCH may take one off the stock, ifMatch may not hold any more', async () => {
    answers = [() => 'reset']
    await caught(stoa().products.update('p', { price: 1 } as never, { ifMatch: '"1"' }))
    expect([seen.length, seen[0]!.headers.get('if-match')]).toEqual([1, '"1"'])
    await caught(stoa().inventory.changeStock('v', { adjust: -1 } as never))
    expect(seen.length).toBe(2)
    await caught(stoa().coupons.delete('c', { retries: 1 }))
    expect(seen.length).toBe(4)
    expect((await caught(stoa().coupons.delete('c', { ifMatch: null }))).code).toBe('invalid_argument')
    expect(seen.length).toBe(4)
    // What a proxy says that got no answer is no better than none.
    seen = []
    answers = [() => new Response('', { status: 502 }), () => Response.json({ id: 'cart' }, { status: 201 })]
    await stoa().carts.create({} as never)
    expect(seen.length).toBe(2)
    answers = [() => new Response('', { status: 504 })]
    await caught(stoa().products.update('p', {} as never))
    expect(seen.length).toBe(3)
    // What was not done is.
    seen = []
    answers = [error(503, { error: 'busy' }, { 'retry-after': '0' }), () => Response.json({ ok: true })]
    await stoa().inventory.changeStock('v', { adjust: -1 } as never)
    expect(seen.length).toBe(2)
  })
})

describe('time', () => {
  test('an answer that does not come is a timeout, and one that nobody wants any more is let go', async () => {
    answers = [() => 'never']
    const late = await caught(stoa({ timeoutMs: 30, retries: 0 }).me.get())
    expect(late).toBeInstanceOf(StoaError)
    expect([late.code, late.status, late.message]).toEqual(['timeout', 0, 'no answer within 30 ms'])
    const control = new AbortController()
    const waiting = caught(stoa().me.get({ signal: control.signal }))
    setTimeout(() => control.abort(new Error('changed my mind')), 10)
    expect((await waiting).message).toBe('changed my mind')
    // Also while it waits for another try.
    answers = [error(503, { error: 'busy' }, { 'retry-after': '20' })]
    const other = new AbortController()
    const pausing = caught(stoa().me.get({ signal: other.signal }))
    setTimeout(() => other.abort(), 30)
    expect((await pausing).name).toBe('AbortError')
    expect((await caught(stoa().me.get({ signal: AbortSignal.abort() }))).name).toBe('AbortError')
  })
})

describe('an answer', () => {
  test('comes with its headers where they are asked for, and an error that nobody minds there ends nothing', async () => {
    answers = [() => Response.json({ id: 'p' }, { headers: { etag: '"7"', 'x-request-id': 'r-1' } })]
    const { data, etag, requestId, response } = await stoa().products.get('p').withResponse()
    expect([data.id, etag, requestId, response.status]).toEqual(['p', '"7"', 'r-1', 200])
    answers = [error(404, { error: 'product not found', documentationUrl: 'https://x' }, { 'x-request-id': 'r-2' })]
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const missing = await caught(stoa().products.get('p').withResponse())
    await Bun.sleep(10)
    process.off('unhandledRejection', note)
    expect(missing).toMatchObject({ name: 'StoaError', status: 404, code: 'not_found', message: 'product not found', requestId: 'r-2' })
    expect([missing.body.documentationUrl, unhandled]).toEqual(['https://x', []])
  })

  test('that is no JSON is still an error with its status, and nothing of the store when it says 200', async () => {
    answers = [() => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })]
    expect(await caught(stoa().me.get())).toMatchObject({ status: 200, code: 'unexpected_answer' })
    answers = [() => new Response('<feed/>', { headers: { 'content-type': 'application/atom+xml' } })]
    expect(await stoa().posts.getFeed()).toBe('<feed/>')
    answers = [() => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })]
    expect(await caught(stoa({ retries: 0 }).me.get())).toMatchObject({
      status: 502,
      code: 'server_error',
      message: 'the server answered 502',
      body: {},
    })
    answers = [() => new Response('{"id":', { headers: { 'content-type': 'application/json' } })]
    expect((await caught(stoa({ retries: 0 }).me.get())).code).toBe('network')
  })

  test('of a list is one page when awaited, every entry in a loop, and nothing is asked for before', async () => {
    const page = (from: number) => Response.json({ data: [{ id: from }, { id: from + 1 }], meta: { count: 5, offset: from, limit: 2 } })
    answers = [({ path }) => page(Number(new URLSearchParams(path.split('?')[1]).get('offset') ?? 0))]
    const list = stoa().coupons.list({ limit: 2 })
    await Bun.sleep(5)
    expect(seen.length).toBe(0)
    expect((await list).meta.count).toBe(5)
    expect((await list).data.length).toBe(2)
    expect(seen.length).toBe(1)
    seen = []
    const ids: unknown[] = []
    for await (const { id } of stoa().coupons.list({ limit: 2 })) if (ids.push(id) === 3) break
    expect([ids, seen.map(({ path }) => path)]).toEqual([
      [0, 1, 2],
      ['/api/v1/coupons?limit=2', '/api/v1/coupons?limit=2&offset=2'],
    ])
    seen = []
    for await (const _ of stoa().coupons.list()) break
    for await (const _ of stoa().search({ q: 'x' })) break
    expect(seen.map(({ path }) => path)).toEqual(['/api/v1/coupons?limit=100', '/api/v1/search?limit=100&q=x'])
    // What was added meanwhile has moved an entry to the next page.
    const pages = [[1, 2], [2, 3], [4]]
    answers = [
      ({ path }) =>
        Response.json({ data: pages[Number(/offset=(\d)/.exec(path)?.[1] ?? 0) / 2]!.map((id) => ({ id })), meta: { count: 5 } }),
    ]
    expect((await stoa().coupons.list({ limit: 2 }).all()).map(({ id }: { id: unknown }) => id)).toEqual([1, 2, 3, 4])
    answers = [error(404, { error: 'customer not found' })]
    expect(
      await stoa()
        .wishlists.get('c')
        .catch(({ code }: StoaError) => code),
    ).toBe('not_found')
  })

  test('of a list with cursors is walked to its end from where the call begins', async () => {
    const pages: Record<string, object> = {
      '': { data: [{ id: 1 }], nextCursor: 'a' },
      a: { data: [{ id: 2 }], nextCursor: 'b' },
      b: { data: [{ id: 3 }], nextCursor: null },
    }
    answers = [({ path }) => Response.json(pages[new URLSearchParams(path.split('?')[1]).get('cursor') ?? ''])]
    const ids = (rows: { id: unknown }[]) => rows.map(({ id }) => id)
    expect(ids(await stoa().auditLog.list().all())).toEqual([1, 2, 3])
    seen = []
    expect(ids(await stoa().auditLog.list({ cursor: 'a', limit: 1 }).all())).toEqual([2, 3])
    expect(seen.map(({ path }) => path)).toEqual(['/api/v1/audit-log?limit=1&cursor=a', '/api/v1/audit-log?limit=1&cursor=b'])
    // The same of an offset.
    const rest = [1, 2, 3]
    answers = [
      ({ path }) => {
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset') ?? 0)
        return Response.json({ data: rest.slice(offset, offset + 1).map((id) => ({ id })), meta: { count: 3, offset } })
      },
    ]
    expect(ids(await stoa().coupons.list({ offset: 1, limit: 1 }).all())).toEqual([2, 3])
  })

  test('may be kept: what has not changed since is not sent again', async () => {
    answers = [
      () => Response.json({ id: 'p', price: 1 }, { headers: { etag: '"1"' } }),
      () => new Response(null, { status: 304, headers: { etag: '"1"' } }),
      () => Response.json({ id: 'p', price: 2 }, { headers: { etag: '"2"' } }),
    ]
    const own = stoa({ cache: 1 })
    const first: any = await own.products.get('p')
    first.price = 'mine to change'
    expect((await own.products.get('p')) as unknown).toEqual({ id: 'p', price: 1 })
    expect((await own.products.get('p')) as unknown).toEqual({ id: 'p', price: 2 })
    expect(seen.map(({ headers }) => headers.get('if-none-match'))).toEqual([null, '"1"', '"1"'])
    // There is room for one.
    answers = [() => Response.json({ id: 'q' }, { headers: { etag: '"3"' } })]
    await own.products.get('q')
    await own.products.get('p')
    expect(seen.at(-1)!.headers.get('if-none-match')).toBeNull()
  })

  test('that is kept goes when nobody has asked for it for longest, and is that of its own headers', async () => {
    answers = [
      ({ headers, path }) =>
        headers.has('if-none-match')
          ? new Response(null, { status: 304 })
          : Response.json({ id: path.at(-1) }, { headers: { etag: '"1"' } }),
    ]
    const own = stoa({ cache: 2 })
    for (const id of ['a', 'b', 'a', 'c', 'a']) expect((await own.products.get(id)).id).toBe(id)
    expect(seen.map(({ headers }) => headers.has('if-none-match'))).toEqual([false, false, true, false, true])
    await own.products.get('a', undefined, { headers: { 'accept-language': 'de-DE' } })
    expect(seen.at(-1)!.headers.has('if-none-match')).toBe(false)
  })
})

describe('verifyWebhook', () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ....').toString('base64')}`
  const other = `whsec_${Buffer.from('another secret, of another hook..').toString('base64')}`
  const body = JSON.stringify({ type: 'order.paid', timestamp: '2026-11-23T10:00:00.000Z', data: { id: 'o' } })
  const signed = (text = body, by = secret, at = new Date()) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, text),
  })

  test('takes what the store has signed, in any form of headers, and while the secret is rotated', async () => {
    for (const headers of [signed(), new Headers(signed()), { ...signed(), 'Webhook-Id': 'msg_1' }])
      expect(await verifyWebhook(body, headers, secret)).toMatchObject({ id: 'msg_1', type: 'order.paid' })
    expect((await verifyWebhook(new TextEncoder().encode(body), signed(), [other, secret])).data).toEqual({ id: 'o' })
    const both = { ...signed(), 'webhook-signature': `${signed(body, other)['webhook-signature']} ${signed()['webhook-signature']}` }
    expect((await verifyWebhook(body, both, secret)).type).toBe('order.paid')
  })

  test('takes nothing else', async () => {
    const old = new Date(Date.now() - 6 * 60_000)
    for (const [text, headers, by] of [
      [`${body} `, signed(), secret],
      [body, signed(body, other), secret],
      [body, signed(body, secret, old), secret],
      [body, { ...signed(), 'webhook-id': 'msg_2' }, secret],
      [body, { ...signed(), 'webhook-timestamp': 'now' }, secret],
      [body, { ...signed(), 'webhook-signature': 'v1,' }, secret],
      [body, { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v2,') }, secret],
      [body, {}, secret],
      [body, signed(), 'whsec_'],
      [JSON.parse(body), signed(), secret],
    ] as const)
      expect(await caught(verifyWebhook(text, headers, by))).toMatchObject({ name: 'StoaError', code: 'invalid_signature' })
    // A delivery has a signature of each secret: what has thousands is not worth the time.
    const many = { ...signed(), 'webhook-signature': `${'v1,AAAA '.repeat(5_000)}${signed()['webhook-signature']}` }
    expect(await caught(verifyWebhook(body, many, secret))).toMatchObject({ code: 'invalid_signature' })
    for (const by of ['', 'secret', undefined, []])
      expect(await caught(verifyWebhook(body, signed(), by as never))).toMatchObject({ name: 'StoaError', code: 'invalid_argument' })
  })
})
