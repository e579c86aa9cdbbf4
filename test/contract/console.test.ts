/** The console over HTTP: its page and its script (document 8, Console). The browser's side is in test/browser. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'

let app: TestApp
let script: string
beforeAll(async () => {
  app = await testApp({ visitorRate: { perSecond: 0.001, burst: 60 } })
})
afterAll(() => app.close())

let clients = 0
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.app.fetch(new Request(`http://localhost${path}`, { method, headers: { 'x-client': String(clients++), ...headers } }))

describe('the page', () => {
  test('is made at its first request: nothing of it is read before', async () => {
    const page = await get('/api/v1/docs/console')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    // In a process of its own: what this one has loaded, other tests may have asked for.
    const child = Bun.spawn([process.execPath, new URL('console-child.ts', import.meta.url).pathname], { stdout: 'pipe' })
    const [reference, shown] = (await new Response(child.stdout).json()) as { status: number; loaded: string[] }[]
    expect(reference).toEqual({ status: 200, loaded: [] })
    // The bundle and its parser stay out of this process: a thread makes the script of them.
    expect(shown!.loaded.length).toBeGreaterThan(0)
    expect([shown!.status, shown!.loaded.filter((path) => /fastify-api-reference|openapi-parser/.test(path))]).toEqual([200, []])
  }, 30_000)

  test('names its own script and our document, nothing foreign, and allows nothing else', async () => {
    const page = await get('/api/v1/docs/console')
    const text = await page.text()
    script = /<script src="([^"]+)"/.exec(text)![1]!
    expect(script).toMatch(/^\/api\/v1\/docs\/console\.js\?v=[a-z0-9]{8,16}$/)
    const settings = JSON.parse(/data-configuration='([^']*)'/.exec(text)![1]!)
    expect(settings).toMatchObject({ url: '/api/v1/openapi', persistAuth: false, telemetry: false, withDefaultFonts: false, proxyUrl: '' })
    expect([settings.agent, settings.mcp]).toEqual([{ disabled: true }, { disabled: true }])
    expect(text).not.toMatch(/https?:|\/\/cdn|@import|url\(/)
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(['x-content-type-options', 'referrer-policy'].map((name) => page.headers.get(name))).toEqual(['nosniff', 'no-referrer'])
    expect([...text.matchAll(/<script/g)].length).toBe(2)
    expect(text).not.toMatch(/<script[^>]*>[^<]/)
  })

  test('is asked for again, and unchanged', async () => {
    const { headers } = await get('/api/v1/docs/console')
    expect(headers.get('cache-control')).toBe('public, no-cache')
    const again = await get('/api/v1/docs/console', { 'if-none-match': headers.get('etag')! })
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'public, no-cache'])
  })

  test('is linked from the page to read', async () => {
    expect(await (await get('/api/v1/docs')).text()).toContain('href="docs/console"')
  })
})

describe('the script', () => {
  const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Uint8Array) => Buffer.from(bytes) }

  test('is the same in each encoding, with an ETag of its own, and compressed to a quarter', async () => {
    const answers = await Promise.all(
      (['br', 'gzip', 'identity'] as const).map(async (encoding) => {
        const { headers, ...answer } = await get(script, { 'accept-encoding': encoding }).then(async (response) => ({
          headers: response.headers,
          bytes: await response.bytes(),
        }))
        expect(headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
        expect(['content-type', 'vary'].map((name) => headers.get(name))).toEqual(['text/javascript; charset=utf-8', 'accept-encoding'])
        return { etag: headers.get('etag'), size: answer.bytes.length, text: UNPACK[encoding](answer.bytes).toString() }
      }),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(3)
    expect(answers[0]!.size).toBeLessThan(answers[2]!.size * 0.28)
    expect(answers[0]!.text).toContain('createApiReference')
    expect(answers[0]!.text).not.toContain('sourceMappingURL')
  })

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['gzip;q=0, br; q=0.0', null],
    ['brotli', null],
    ['zstd', null],
    ['', null],
  ])('for Accept-Encoding: %s comes as %s', async (accepted, encoding) => {
    expect((await get(script, { 'accept-encoding': accepted })).headers.get('content-encoding')).toBe(encoding)
  })

  test('is kept for a year under the version that the page names, and never under another', async () => {
    const immutable = 'public, max-age=31536000, immutable'
    const { headers } = await get(script, { 'accept-encoding': 'br' })
    expect(headers.get('cache-control')).toBe(immutable)
    const again = await get(script, { 'accept-encoding': 'br', 'if-none-match': headers.get('etag')! })
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, immutable])
    for (const other of ['/api/v1/docs/console.js', '/api/v1/docs/console.js?v=1']) {
      const answer = await get(other, { 'accept-encoding': 'br' })
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, no-cache'])
    }
  })

  test('has the same version in every process', async () => {
    const other = await testApp()
    const page = await (await other.app.fetch(new Request('http://localhost/api/v1/docs/console'))).text()
    expect(page).toContain(`src="${script}"`)
    await other.close()
  }, 30_000)
})

describe('both', () => {
  test('answer HEAD as GET, without a body', async () => {
    for (const path of ['/api/v1/docs/console', script]) {
      const [head, whole] = await Promise.all([get(path, {}, 'HEAD'), get(path)])
      expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', whole.headers.get('etag')])
      expect(head.headers.get('content-length')).toBe(String((await whole.bytes()).length))
    }
  })

  test('have no other methods and nothing beneath them', async () => {
    for (const path of ['/api/v1/docs/console', '/api/v1/docs/console.js']) expect((await get(path, {}, 'POST')).status).toBe(405)
    for (const path of ['/api/v1/docs/console/json', '/api/v1/docs/console.css', '/api/v1/docs/standalone.js.map'])
      expect((await get(path)).status).toBe(404)
  })

  test('can be opened twenty times at once from one address', async () => {
    const visitor = { 'x-client': 'office' }
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => ['/api/v1/docs/console', script, '/api/v1/openapi'])
        .flat()
        .map(async (path) => (await get(path, visitor)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await get('/api/v1/docs/console', visitor)).status).toBe(429)
  })
})
