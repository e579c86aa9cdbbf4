/** Document 8, MCP: what the store's server says to the official clients, and to whoever sends something else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { agent, newestAgent } from './agent.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp({ baseUrl: 'https://shop.example' })
  shop = await app.newStore()
})
afterAll(() => app.close())

const fetch = (request: Request) => app.app.fetch(request)

/** Sends what a client would, by hand. */
async function post(body: unknown, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(
    new Request('http://localhost:3000/mcp', {
      method,
      headers: {
        authorization: `Bearer ${shop.keys.admin}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    }),
  )
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : null,
  }
}
const message = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', method, params, id })
const notice = (method: string) => ({ jsonrpc: '2.0', method })
const initialize = (protocolVersion: string) =>
  message('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'by hand', version: '1' } })

describe('protocols', () => {
  test('the newest official client speaks 2026-07-28 with it, without a session', async () => {
    const newest = await newestAgent(fetch, shop.keys.admin)
    expect(newest.version).toBe('2026-07-28')
    expect((await newest.tools()).map(({ name }) => name)).toContain('listProducts')
    expect((await newest.call('getMe')).value.store.slug).toBe(shop.store.slug)
    await newest.close()
  })

  test('the client before it negotiates 2025-11-25, and reads what the server is', async () => {
    const before = await agent(fetch, shop.keys.admin)
    const { client } = before
    expect(client.getServerVersion()).toMatchObject({ name: 'stoa', title: 'Stoa store', version: 'test' })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    expect(client.getInstructions()).toContain('search_operations')
    expect((await before.call('getMe')).value.store.slug).toBe(shop.store.slug)
    await before.close()
  })

  test.each(['2025-06-18', '2025-03-26', '2024-11-05'])('version %s is taken, as JSON and without a session', async (version) => {
    const { status, headers, body } = await post(initialize(version))
    expect([status, body.result.protocolVersion, headers.get('mcp-session-id')]).toEqual([200, version, null])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect((await post(notice('notifications/initialized'), { 'mcp-protocol-version': version })).status).toBe(202)
    const listed = await post(message('tools/list'), { 'mcp-protocol-version': version })
    expect(listed.body.result.tools.length).toBeGreaterThan(30)
  })

  test('a version that nobody knows is answered with the newest of those with a handshake', async () => {
    expect((await post(initialize('2031-01-01'))).body.result.protocolVersion).toBe('2025-11-25')
    expect((await post(message('tools/list'), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
  })

  test('who asks for JSON alone, or for anything, gets JSON', async () => {
    for (const accept of ['application/json', '*/*', 'text/html'])
      expect((await post(message('ping'), { accept })).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  test('a batch of the protocols that had them is answered whole; what has too much in it is refused', async () => {
    const { body } = await post([message('ping', {}, 1), message('tools/call', { name: 'getMe', arguments: {} }, 2)])
    expect(body.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2])
    const many = await post(Array.from({ length: 11 }, (_, id) => message('tools/list', {}, id)))
    expect([many.status, many.body.error.message]).toEqual([400, 'send 1 to 10 messages at once'])
    expect((await post([])).status).toBe(400)
  })

  test('100 sessions at once each get their own answers', async () => {
    const agents = await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? agent : newestAgent)(fetch, shop.keys.admin)))
    const made = await Promise.all(agents.map((each, i) => each.call('createCoupon', { code: `S${i}`, type: 'percentage', value: 10 })))
    expect(made.map(({ value }) => value.code)).toEqual(agents.map((_, i) => `S${i}`))
    await Promise.all(agents.map((each) => each.close()))
    expect((await shop.call('GET', '/coupons?limit=1')).body.meta.count).toBe(100)
  })
})

describe('what is no message', () => {
  test('a page of another origin may not ask; those of the server and of the content site may', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:3000', 'https://shop.example.evil.example'])
      expect([origin, (await post(message('ping'), { origin })).status]).toEqual([origin, 403])
    for (const origin of ['https://shop.example', 'https://stoa.example'])
      expect((await post(message('ping'), { origin })).status).toBe(200)
  })

  test('there is no stream to open, and no session to end', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD']) {
      const { status, headers } = await post(null, {}, method)
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
    const waiting = await post(message('subscriptions/listen'))
    expect([waiting.status, waiting.body.error.code]).toEqual([404, -32601])
  })

  test('without a key, with a wrong one, and with one that was revoked it is 401', async () => {
    const gone = (await shop.call('POST', '/api-keys', { name: 'Gone' })).body
    expect((await post(message('ping'), { authorization: `Bearer ${gone.key}` })).status).toBe(200)
    await shop.call('DELETE', `/api-keys/${gone.id}`)
    for (const authorization of ['', 'Bearer sk-wrong', `Basic ${shop.keys.admin}`, `Bearer ${gone.key}`]) {
      const { status, headers, body } = await post(message('tools/list'), { authorization })
      expect([status, headers.get('www-authenticate'), typeof body.error]).toEqual([401, 'Bearer', 'string'])
    }
    await expect(agent(fetch, null)).rejects.toThrow('missing API key')
  })

  test('broken JSON, other types, and what is too large are refused by name', async () => {
    expect((await post('{"jsonrpc"')).body.error).toMatchObject({ code: -32700 })
    expect((await post('', {})).status).toBe(400)
    for (const odd of ['null', '5', '"text"', '[null]', '{}', '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"1.0","id":1,"method":"ping"}'])
      expect([odd, (await post(odd)).status]).toEqual([odd, 400])
    expect((await post(message('ping'), { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(JSON.stringify(message('ping', { text: 'x'.repeat(1_048_576) })))).status).toBe(413)
    expect((await post(message('no/such'))).body.error.code).toBe(-32601)
  })

  test('a message nests as deep as a body of the API may, and is not parsed when it nests deeper', async () => {
    const deep = (levels: number) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${'['.repeat(levels)}1${']'.repeat(levels)}}}`
    expect((await post(deep(98))).body.result).toEqual({})
    for (const text of [deep(99), deep(400_000), '['.repeat(900_000), `[${deep(99)}]`]) {
      const { status, body } = await post(text)
      expect([status, body.error]).toEqual([400, { code: -32700, message: 'the body nests deeper than 100 levels' }])
    }
  })

  test('a message of more names than any client sends is refused before each is looked at', async () => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))
    const call = (given: object, more: object = {}) => message('tools/call', { name: 'getMe', arguments: given, ...more })
    expect((await post(message('ping', names(990)))).status).toBe(200)
    expect((await post(call({ body: names(5_000) }))).status).toBe(200)
    for (const wide of [
      call(names(1_001)),
      call({}, { _meta: names(15_000) }),
      message('ping', names(15_000)),
      { ...message('ping'), ...names(15_000) },
      message('initialize', { capabilities: { experimental: { a: names(15_000) } } }),
      [message('ping', {}, 1), message('ping', names(1_001), 2)],
    ]) {
      const { status, body } = await post(wide)
      expect([status, body.error.message]).toEqual([400, 'a message has at most 1000 names in it, and as many arguments'])
    }
  })

  test('two messages of one id, and a message that ends another, leave nobody waiting', async () => {
    const same = await post([message('ping', {}, 1), message('ping', {}, 1)])
    expect([same.status, same.body.error.message]).toEqual([400, 'two messages have the same id'])
    const ended = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    for (const batch of [
      [message('ping', {}, 1), ended],
      [ended, message('tools/call', { name: 'getMe', arguments: {} }, 1)],
    ])
      expect([(await post(batch)).body].flat().map(({ id }: { id: number }) => id)).toEqual([1])
    expect([(await post([ended])).status, (await post(ended)).status]).toEqual([202, 202])
  })

  test('what is no method is refused, as is what no host could be', async () => {
    for (const method of ['{"toString":null,"valueOf":null}', '['.repeat(5_000) + ']'.repeat(5_000), 'null'])
      expect((await post(`{"jsonrpc":"2.0","id":1,"method":${method}}`)).status).toBe(400)
    const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'application/json' }
    for (const url of ['http://[::/mcp', 'http://%00/mcp', '/mcp']) {
      const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message('ping')) })
      Object.defineProperty(request, 'url', { value: url })
      expect([url, (await app.app.fetch(request)).status]).toEqual([url, 200])
    }
  })

  test('who hangs up is not worked for any longer, and nothing waits for them', async () => {
    const control = new AbortController()
    const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'application/json' }
    const calls = Array.from({ length: 10 }, (_, id) =>
      message('tools/call', { name: 'createCoupon', arguments: { code: `GONE${id}`, type: 'percentage', value: 1 } }, id),
    )
    const answer = fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(calls), signal: control.signal }),
    )
    await Bun.sleep(3)
    control.abort()
    expect((await answer).status).toBe(499)
    await Bun.sleep(50)
    const { data } = (await shop.call('GET', '/coupons?limit=100')).body
    expect(data.filter(({ code }: { code: string }) => code.startsWith('GONE')).length).toBeLessThan(10)
  })

  test('another path below it is no endpoint', async () => {
    expect((await fetch(new Request('http://localhost:3000/mcp/x', { method: 'POST' }))).status).toBe(404)
  })
})

describe('limits', () => {
  test('whatever comes of it, a message counts once, and each of a batch', async () => {
    const limited = await testApp({ rate: { perSecond: 0.001, burst: 200 } })
    const store = await limited.newStore()
    let before = 200
    const left = async (body: string) => {
      const headers = { authorization: `Bearer ${store.keys.admin}`, 'content-type': 'application/json' }
      const response = await limited.app.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
      await response.text()
      const now = Number(/r=(\d+)/.exec(response.headers.get('ratelimit')!)![1])
      const taken = before - now
      before = now
      return taken
    }
    const call = (params: object) => JSON.stringify(message('tools/call', params))
    for (const body of [
      ...[
        '{"broken',
        '[1,2',
        '5',
        '{}',
        '{"jsonrpc":"2.0","id":1,"method":["tools/call"]}',
        JSON.stringify(message('subscriptions/listen')),
      ],
      ...[
        call({}),
        call({ name: 'getMe' }),
        call({ name: 'getProduct', arguments: {} }),
        call({ name: 'call_operation', arguments: { operationId: 'x' } }),
      ],
    ])
      expect([body, await left(body)]).toEqual([body, 1])
    expect(await left(JSON.stringify([1, 2, 3].map((id) => message('tools/call', { name: 'getMe', arguments: {} }, id))))).toBe(3)
    await limited.close()
  })

  test('a call counts as one by HTTP does, and what no operation does counts, too', async () => {
    const limited = await testApp({ rate: { perSecond: 0.001, burst: 5 } })
    const store = await limited.newStore()
    const ask = (request: Request) => limited.app.fetch(request)
    // Its greetings are two: the handshake and the notice that it is done.
    const greedy = await agent(ask, store.keys.admin)
    expect((await greedy.call('getMe')).isError).toBe(false)
    expect((await greedy.call('call_operation', { operationId: 'no such' })).isError).toBe(true)
    const last = await store.call('GET', '/me')
    expect([last.status, last.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=0')])
    expect((await store.call('GET', '/me')).status).toBe(429)
    await expect(greedy.call('getMe')).rejects.toThrow('too many requests')
    await expect(greedy.tools()).rejects.toThrow('too many requests')
    await limited.close()
  })
})
