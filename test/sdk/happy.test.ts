/** The happy paths of the contract suite through `stoa-sdk`, in the three kinds of runtimes that it is for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { called, lineOf } from '../../scripts/sdk/generate.ts'
import { methodOf, resourceOf } from '../../scripts/sdk/names.ts'
import { fill, operationAt, type Operation } from '../contract/operations.ts'
import { idFor, seed } from '../contract/seed.ts'
import { world } from '../contract/world.ts'
import { hasChromium } from '../browser/chromium.ts'
import type { Answer, Send, TestStore } from '../harness.ts'
import { bundled, inBun, inChromium, inNode, type Runtime } from './runtimes.ts'

const { app, operations, shop, known } = await world()
const script = hasChromium ? await bundled() : ''
/** The API over a real port, and a page on the same host. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/page')
      return new Response('<!doctype html><script type="module" src="/sdk.js"></script>', { headers: { 'content-type': 'text/html' } })
    if (pathname === '/sdk.js') return new Response(script, { headers: { 'content-type': 'text/javascript' } })
    return app.app.fetch(request)
  },
})
afterAll(async () => {
  await server.stop(true)
  await app.close()
})

const routeOf = ({ id }: Operation) => called.find(({ options }) => options.operationId === id)

async function formed(form: FormData) {
  const fields = await Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string'
        ? value
        : { base64: Buffer.from(await value.arrayBuffer()).toString('base64'), type: value.type, name: value.name },
    ]),
  )
  return { form: fields }
}

/** Calls the method of the package for an operation at a path. */
async function throughSdk(runtime: Runtime, operation: Operation, path: string, body: unknown, key: string | null | undefined) {
  const route = routeOf(operation)!
  const [plain, query = ''] = path.split('?')
  const values = new RegExp(`^${route.path.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(plain!)!.slice(1).map(decodeURIComponent)
  const asked = Object.fromEntries(new URLSearchParams(query))
  const marks = lineOf(route).split(' ').slice(2)
  const input = marks.includes('b')
    ? [body instanceof FormData ? await formed(body) : body, { query: asked }]
    : marks.includes('q')
      ? [asked]
      : []
  return runtime.call({
    options: { url: server.url.origin, ...(key ? { key } : {}), retries: 0 },
    resource: resourceOf(route.path),
    method: methodOf(route),
    given: [...values, ...input],
  })
}

/** Sends as the tests of the contract do, by the package; `used` gathers what was called. */
const sendBy =
  (runtime: Runtime, used: Set<string>): Send =>
  async (method, path, body, options = {}) => {
    const operation = operationAt(operations, method, path.split('?')[0]!)
    if (!operation || !routeOf(operation)) return app.send(method, path, body, options)
    const { status = 0, data, etag, thrown } = await throughSdk(runtime, operation, path, options.raw ?? body, options.key)
    if (thrown) throw new Error(`${operation.title}: ${thrown}`)
    if (status < 300) used.add(operation.id)
    const headers = new Headers(etag ? { etag } : {})
    return { status, body: data, headers, text: JSON.stringify(data) ?? '' } satisfies Answer
  }

const RUNTIMES = [
  ['Bun', inBun],
  ['Node.js', inNode],
  ...(hasChromium ? [['Chromium', () => inChromium(`${server.url.origin}/page`)] as const] : []),
] as const

describe.each(RUNTIMES)('under %s', (_, start) => {
  let runtime: Runtime
  let fresh: TestStore
  const used = new Set<string>()
  beforeAll(async () => {
    runtime = await start()
    fresh = await app.newStore({ plan: 'scale', aiBuilt: true })
  })
  afterAll(() => runtime.close())

  test('a store is filled with one of everything', async () => {
    const made = await seed(operations, sendBy(runtime, used), fresh.keys.admin)
    expect([...made.keys()].toSorted()).toEqual([...known.keys()].toSorted())
    expect(used.size).toBeGreaterThan(80)
  }, 60_000)

  test('whatever can be read is read as by HTTP', async () => {
    const wrong: string[] = []
    let compared = 0
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      if (!routeOf(operation)) continue
      const path = `${fill(operation.path, idFor(known))}${operation.needed ? `?${operation.needed}` : ''}`
      const http = await app.send('GET', path, undefined, { key: shop.keys.admin })
      const sdk = await throughSdk(runtime, operation, path, undefined, shop.keys.admin)
      const isJson = http.headers.get('content-type')?.startsWith('application/json') ?? false
      const isSame =
        !isJson || Bun.deepEquals(sdk.data, withoutTimes(http.body)) || Bun.deepEquals(withoutTimes(sdk.data), withoutTimes(http.body))
      if (sdk.status !== http.status || !isSame)
        wrong.push(`${operation.title}: ${sdk.status} ${sdk.thrown ?? JSON.stringify(sdk.data).slice(0, 200)}, not ${http.status}`)
      if (http.status === 200) compared++
    }
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(80)
  }, 60_000)

  test('lists are walked through to their ends, by offset and by cursor', async () => {
    const options = { url: server.url.origin, key: fresh.keys.admin }
    for (let i = 0; i < 7; i++) await fresh.call('POST', '/coupons', { code: `WALK${i}`, type: 'percentage', value: 5 })
    const { data: coupons } = await runtime.call({ options, resource: 'coupons', method: 'list', given: [{ limit: 3 }], isWalked: true })
    expect(coupons.length).toBe((await fresh.call('GET', '/coupons?limit=1')).body.meta.count)
    const { data: changes } = await runtime.call({ options, resource: 'auditLog', method: 'list', given: [{ limit: 20 }], isWalked: true })
    expect(new Set(changes.map(({ id }: { id: string }) => id)).size).toBe(changes.length)
    expect(changes.length).toBeGreaterThan(60)
    const { data: from } = await runtime.call({
      options,
      resource: 'coupons',
      method: 'list',
      given: [{ limit: 2, offset: 3 }],
      isWalked: true,
    })
    expect(from).toEqual(coupons.slice(3))
  })

  test('a refusal is a StoaError with what the API says', async () => {
    const refused = await runtime.call({
      options: { url: server.url.origin, key: fresh.keys.admin },
      resource: 'coupons',
      method: 'create',
      given: [{ code: 'X', type: 'percentage', value: 120, maximum: 3 }],
    })
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    // What it does not know, too: the client asks for it to be strict.
    expect(JSON.stringify(refused.details)).toMatch(/unrecognized_keys/)
    const stranger = { options: { url: server.url.origin, key: 'sk-wrong' }, resource: 'me', method: 'get', given: [] }
    expect(await runtime.call(stranger)).toMatchObject({ status: 401, code: 'unauthorized' })
    const nowhere = { options: { url: 'http://127.0.0.1:9', retries: 0 }, resource: 'me', method: 'get', given: [] }
    expect(await runtime.call(nowhere)).toMatchObject({ status: 0, code: 'network' })
  })
})

test('Chromium is there, where all tests have to run', () => {
  if (process.env.CI) expect(hasChromium).toBe(true)
})

/** What differs from one request to the next. */
const withoutTimes = (value: unknown) =>
  value === undefined
    ? value
    : JSON.parse(JSON.stringify(value), (name, part) =>
        /^(lastUsedAt|token|expiresAt|challenge|requestId)$/.test(name) ? undefined : part,
      )
