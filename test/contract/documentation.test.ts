/** What leads from the API to its pages: `externalDocs`, `documentationUrl`, `?tag=`, and the paths nearest to one that is not there. */
import { afterAll, describe, expect, test } from 'vitest'
import { NearestPaths } from '../../api/http/routing/nearest-paths.ts'
import { placeOf } from '../../api/http/documentation.ts'
import { readContent } from '../../site/lib/content.ts'
import { testApp } from '../harness.ts'
import { errorProblem, type Json } from './operations.ts'

const SITE = 'https://stoa.example'
const root = new URL('../..', import.meta.url).pathname
const app = await testApp()
afterAll(() => app.close())
const document: Json = (await app.send('GET', '/openapi')).body
const { byPath } = readContent(root)
/** The source of a page: what it is told to show. */
const source = (path: string) => Bun.file(`${root}/content${path}.md`).text()

/** What is wrong with a link to the content site; null when its page, and the place in it, are there. */
function broken(url: string): string | null {
  if (!url.startsWith(`${SITE}/`)) return `${url} is not on the content site`
  const [path, anchor] = url.slice(SITE.length).split('#')
  const page = byPath.get(path!)
  if (!page) return `${url} has no page`
  return anchor === undefined || page.headings.some(({ id }) => id === anchor) ? null : `${url} has no such place`
}

describe('the OpenAPI document leads to the pages of the content site', () => {
  test('with itself and each tag', () => {
    const links = [document, ...document.tags].map(({ externalDocs }: Json) => externalDocs.url)
    expect(links.length).toBeGreaterThan(5)
    expect(links.map(broken).filter(Boolean)).toEqual([])
  })

  test('with each operation, to the place that shows it', async () => {
    const problems: string[] = []
    for (const route of app.app.routes) {
      const { url } = document.paths[route.path][route.method.toLowerCase()].externalDocs
      const [page, anchor] = placeOf(route).split('#')
      if (url !== SITE + placeOf(route)) problems.push(`${route.options.operationId} leads to ${url}`)
      const problem = broken(url)
      if (problem) problems.push(problem)
      const shown = [...(await source(page!)).matchAll(/^<!-- operations (.+) -->$/gm)].flatMap(([, paths]) => paths!.split(' '))
      if (anchor && !shown.includes(route.path)) problems.push(`${page} does not show ${route.path}`)
      if (!anchor && !/^\/(openapi|docs)\b/.test(route.path)) problems.push(`${route.path} has no place of its own`)
    }
    expect(problems).toEqual([])
  })
})

describe('GET /openapi?tag=', () => {
  test('gives one room as a document by itself', async () => {
    for (const { name } of document.tags) {
      const { status, body, headers } = await app.send('GET', `/openapi?tag=${name}`)
      expect([status, headers.get('etag') !== null]).toEqual([200, true])
      expect(body.tags.map((tag: Json) => tag.name)).toEqual([name])
      const operations = Object.entries(body.paths as Json).flatMap(([path, methods]) =>
        Object.entries(methods as Json).map(([method, operation]) => [path, method, operation] as const),
      )
      expect(operations.length).toBe(app.app.routes.filter(({ room }) => room === name).length)
      for (const [path, method, operation] of operations) expect(operation).toEqual(document.paths[path][method])
      const text = JSON.stringify(body)
      const needed = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name]) => name))
      const given = Object.entries(body.components as Json)
        .filter(([kind]) => kind !== 'securitySchemes')
        .flatMap(([kind, members]) => Object.keys(members as Json).map((member) => `${kind}/${member}`))
      expect(given.toSorted()).toEqual([...needed].toSorted())
    }
    // Nothing is carried along: a room has its share of the whole, by its operations, and what it shares with others.
    const sizeOf = async (path: string) => (await app.send('GET', path)).text.length
    const whole = await sizeOf('/openapi')
    for (const { name } of document.tags) {
      const share = app.app.routes.filter(({ room }) => room === name).length / app.app.routes.length
      expect([name, (await sizeOf(`/openapi?tag=${name}`)) / whole < share + 0.08], name).toEqual([name, true])
    }
  })

  test('names the tags that there are', async () => {
    for (const tag of ['nonsense', '', 'Orders']) {
      const answer = await app.send('GET', `/openapi?tag=${tag}`)
      expect([answer.status, errorProblem(answer), answer.body.details[0].options], tag).toEqual([
        400,
        null,
        document.tags.map(({ name }: Json) => name),
      ])
    }
  })
})

describe('a refusal names the page about its operation', () => {
  test('with 400, 403, 404 and 409, also when it is repeated, and with no other status', async () => {
    const shop = await app.newStore()
    const coupons = `${SITE}/docs/api-reference/coupons#`
    const pageOf = async (method: string, path: string, body?: unknown, options = {}) => {
      const answer = await shop.call(method, path, body, options)
      expect(broken(answer.body.documentationUrl ?? `${SITE}/`)).toBe(answer.body.documentationUrl ? null : `${SITE}/ has no page`)
      return [answer.status, answer.body.documentationUrl]
    }
    const coupon = { code: 'A', type: 'percentage', value: 10 }
    expect(await pageOf('POST', '/coupons', {})).toEqual([400, `${coupons}add-a-coupon`])
    expect(await pageOf('POST', '/coupons', coupon, { key: shop.keys.storefront })).toEqual([403, `${coupons}add-a-coupon`])
    expect(await pageOf('GET', '/coupons/NONE')).toEqual([404, `${coupons}read-a-coupon`])
    expect((await shop.call('POST', '/coupons', coupon)).status).toBe(201)
    const headers = { 'idempotency-key': 'one' }
    for (const _ of ['first', 'again'])
      expect(await pageOf('POST', '/coupons', coupon, { headers })).toEqual([409, `${coupons}add-a-coupon`])
    expect(await pageOf('GET', '/coupons', undefined, { key: 'sk-none' })).toEqual([401, undefined])
    expect(await pageOf('PUT', '/coupons')).toEqual([405, undefined])
    expect(await pageOf('GET', '/nowhere')).toEqual([404, `${SITE}/docs/api-reference/overview`])
  })
})

describe('a path that leads nowhere', () => {
  test.each([
    ['/api/v1/order', '/api/v1/orders'],
    ['/api/v1/order/123', '/api/v1/orders/{id}'],
    ['/api/v1/products/123/variant', '/api/v1/products/{idOrSlug}/variants'],
    ['/api/v1/cupons', '/api/v1/coupons'],
    ['/api/v1/newsletter/1/deliver', '/api/v1/newsletters/{id}/deliveries'],
    ['/api/v1/api_keys', '/api/v1/api-keys'],
    ['/api/v2/products', '/api/v1/products'],
    ['/products', '/api/v1/products'],
  ])('%s is told of %s first', async (path, first) => {
    const response = await app.app.fetch(new Request(`http://localhost${path}`))
    const body = (await response.json()) as Json
    expect([response.status, body.nearest[0]]).toEqual([404, first])
    expect(body.hint).toContain(first)
    expect(body.nearest.length).toBeLessThanOrEqual(3)
    for (const near of body.nearest) expect(Object.keys(document.paths)).toContain(near.slice('/api/v1'.length))
  })

  test('that is like none is told where all are listed', async () => {
    const { status, body } = await app.send('GET', '/xyzzy')
    expect([status, body.nearest, body.hint]).toEqual([404, [], 'GET /api/v1/openapi lists the endpoints'])
  })

  const nearest = new NearestPaths(app.app.routes.map(({ path }) => path))
  const LONG = 100_000
  /** The shortest time of some tries, in milliseconds; what is shorter than can be measured is one length. */
  async function shortest(work: () => unknown) {
    let least = Infinity
    for (let i = 0; i < 5; i++) {
      const started = performance.now()
      await work()
      least = Math.min(least, performance.now() - started)
    }
    return Math.max(0.2, least)
  }
  test.each([
    ['slashes', '/'],
    ['segments', '/orders'],
    ['words', 'orders-'],
    ['one word', 'a'],
    ['nearly words', 'orderz'],
    ['hyphens', '-'],
    ['versions', '/api/v1'],
    ['escapes', '%25'],
  ])('costs no more than its length: %s', async (_, part) => {
    const path = (length: number) => `/api/v1/${part.repeat(length / part.length)}`
    const ask = (length: number) => app.app.fetch(new Request(`http://localhost${path(length)}`))
    const answer = await ask(LONG)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect((await answer.text()).length).toBeLessThan(2_000)
    // Ten times the length: what begins anew at each character takes a hundred times as long.
    nearest.to(path(LONG / 10))
    expect(await shortest(() => nearest.to(path(LONG)))).toBeLessThan(40 * (await shortest(() => nearest.to(path(LONG / 10)))))
    expect(await shortest(() => ask(LONG))).toBeLessThan(40 * (await shortest(() => ask(LONG / 10))))
  })
})
