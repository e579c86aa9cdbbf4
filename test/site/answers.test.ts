import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { pathOf, targetOf } from '../../api/http/url.ts'
import { Answers } from '../../site/lib/answers.ts'
import { EXPLAINED_AT, PROBLEM_CODES } from '../../site/lib/problem.ts'
import { version } from '../../package.json'
import { openSite, ROOT, type Asked } from './site.ts'

const { ask, base, manifest } = await openSite()
const MARKDOWN = 'text/markdown; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
/** One of each kind of page. */
const PAGES = [
  '/',
  '/docs',
  '/docs/getting-started/quick-start',
  '/docs/api-reference/coupons',
  '/help/payments/taxes',
  '/blog',
  '/blog/group-commit',
  '/changelog/2026-11-21-a-store-that-sells',
  '/pricing',
  '/search',
]
const twinOf = (path: string) => (path === '/' ? '/index.md' : `${path}.md`)
const typeOf = ({ headers }: Asked) => headers.get('content-type')

/** What every problem has (RFC 9457, document 2). */
function expectProblem({ status, headers, body }: Asked, wanted: number, code: string, path: string) {
  expect([status, headers.get('content-type'), body.status, body.code]).toEqual([wanted, 'application/problem+json', wanted, code])
  expect(Object.keys(body).toSorted()).toEqual(['code', 'detail', 'documentationUrl', 'instance', 'resolution', 'status', 'title', 'type'])
  expect([body.type, body.documentationUrl, body.instance]).toEqual([`${base}${EXPLAINED_AT}#${code}`, body.type, base + path])
  for (const field of ['title', 'detail', 'resolution']) expect(body[field]).not.toBe('')
}

describe.each(PAGES)('%s', (path) => {
  test.each([
    [undefined, HTML],
    ['*/*', HTML],
    ['text/markdown', MARKDOWN],
    ['text/markdown, text/html, */*', MARKDOWN],
    ['text/html, text/markdown', HTML],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/html;q=0.1, text/x-markdown;q=0.2', MARKDOWN],
  ])('with Accept: %s is %s', async (accept, type) => {
    const answer = await ask(path, accept === undefined ? {} : { accept })
    expect([answer.status, typeOf(answer), answer.headers.get('vary')]).toEqual([200, type, 'Accept, Accept-Encoding'])
    if (type === HTML) {
      expect(answer.text).toMatch(/^<!doctype html>/i)
      for (const part of [
        `<${twinOf(path)}>; rel="alternate"; type="text/markdown"`,
        'rel="api-catalog"',
        'rel="service-desc"',
        '</llms.txt>; rel="describedby"',
      ])
        expect(answer.headers.get('link')).toContain(part)
    } else {
      expect(answer.text).toMatch(/^# /)
      expect(answer.headers.get('content-location')).toBe(twinOf(path))
      expect(answer.headers.get('link')).toBe(`<${base}${path}>; rel="canonical"`)
    }
  })

  test('takes no other form: 406', async () => {
    const answer = await ask(path, { accept: 'application/json' })
    expectProblem(answer, 406, 'not_acceptable', path)
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding')
  })

  test('is there as Markdown under .md, whatever Accept says', async () => {
    const [twin, page] = [await ask(twinOf(path), { accept: 'application/json' }), await ask(path, { accept: 'text/markdown' })]
    expect([twin.status, typeOf(twin), twin.text, twin.headers.get('link')]).toEqual([
      200,
      MARKDOWN,
      page.text,
      `<${base}${path}>; rel="canonical"`,
    ])
    expect(twin.text.trimEnd().split('\n').at(-1)).toBe(`All pages: ${base}/llms.txt`)
    expect(twin.text).not.toMatch(/\]\(\/(?!\/)/)
  })

  test('has a strong ETag for each form and encoding; the client that has it gets 304', async () => {
    const seen = new Set<string>()
    for (const accept of ['text/html', 'text/markdown'])
      for (const encoding of ['identity', 'br', 'gzip', 'zstd']) {
        const headers = { accept, 'accept-encoding': encoding }
        const etag = (await ask(path, headers)).headers.get('etag')!
        expect(etag).toMatch(/^"[\w-]+"$/)
        seen.add(etag)
        for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, `"with, a comma",W/"and, another",${etag}`, '*']) {
          const again = await ask(path, { ...headers, 'if-none-match': condition })
          expect([again.status, again.text, again.headers.get('etag'), again.headers.get('vary')]).toEqual([
            304,
            '',
            etag,
            'Accept, Accept-Encoding',
          ])
        }
        for (const condition of ['"other"', `"${etag.slice(1, -1)},other"`, `"other, ${etag.slice(1, -1)}"`])
          expect((await ask(path, { ...headers, 'if-none-match': condition })).status).toBe(200)
      }
    expect(seen.size).toBeGreaterThanOrEqual(path === '/search' ? 5 : 8)
  })

  test('HEAD is GET without a body', async () => {
    for (const accept of ['text/html', 'text/markdown', 'application/json']) {
      const [get, head] = [await ask(path, { accept }), await ask(path, { accept }, 'HEAD')]
      // The length of a body that is sent is told by the server itself.
      const fields = ({ headers }: Asked) => [...headers].filter(([name]) => name !== 'content-length')
      expect([head.status, head.text, fields(head)]).toEqual([get.status, '', fields(get)])
      expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
    }
  })

  test('goes 308 to its address from the others that it could have, with the query', async () => {
    const others = path === '/' ? ['/index.html', '/index'] : [`${path}/`, `${path}.html`, `${path}/index.html`]
    for (const other of others) {
      const { status, headers } = await ask(`${other}?a=1&b=%20`)
      expect([status, headers.get('location')], other).toEqual([308, `${path}?a=1&b=%20`])
    }
  })
})

describe('encodings', () => {
  const decode = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }
  test.each(Object.entries(decode))('%s holds the same text', async (encoding, unpack) => {
    const plain = await ask('/docs/api-reference/coupons')
    const answers = new Answers(manifest, `${ROOT}/dist/site`, { base, storeApi: manifest.storeApi, version: 'test' })
    const response = answers.answer(
      new Request('http://site.test/docs/api-reference/coupons', { headers: { 'accept-encoding': encoding } }),
    )
    expect(response.headers.get('content-encoding')).toBe(encoding)
    const packed = Buffer.from(await response.arrayBuffer())
    expect(unpack(packed).toString()).toBe(plain.text)
    expect(packed.length).toBeLessThan(plain.text.length / 2)
  })
})

describe('what has one form', () => {
  test.each([
    ['/api/docs/getting-started/introduction', MARKDOWN],
    ['/api/help/payments/taxes', MARKDOWN],
    ['/api/blog/group-commit', MARKDOWN],
    ['/api/changelog/2026-11-21-a-store-that-sells', MARKDOWN],
    ['/api/index-md', MARKDOWN],
    ['/api/pricing-md', MARKDOWN],
    ['/api/pricing', 'application/json; charset=utf-8'],
    ['/api/changelog/latest', 'application/json; charset=utf-8'],
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/.well-known/api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
    ['/sitemap.md', MARKDOWN],
    ['/docs/sitemap.md', MARKDOWN],
    ['/llms.txt', MARKDOWN],
    ['/llms-full.txt', MARKDOWN],
    ['/help/llms.txt', MARKDOWN],
    ['/sitemap.xml', 'application/xml; charset=utf-8'],
    ['/robots.txt', 'text/plain; charset=utf-8'],
    ['/rss.xml', 'application/rss+xml; charset=utf-8'],
    ['/favicon.svg', 'image/svg+xml'],
    ['/.well-known/mcp.json', 'application/json; charset=utf-8'],
    [`/sdk/stoa-sdk-${version}.tgz`, 'application/gzip'],
  ])('%s is %s, whatever Accept says', async (path, type) => {
    for (const accept of ['*/*', 'image/png', 'text/html;q=0']) {
      const answer = await ask(path, { accept })
      expect([answer.status, typeOf(answer), answer.headers.get('vary'), answer.headers.get('access-control-allow-origin')]).toEqual([
        200,
        type,
        'Accept-Encoding',
        '*',
      ])
    }
  })

  test('a page in the API has the same bytes as under .md', async () => {
    for (const path of ['/docs/api-reference/coupons', '/help/payments/taxes', '/blog/group-commit'])
      expect((await ask(`/api${path}`)).text).toBe((await ask(`${path}.md`)).text)
    expect((await ask('/api/index-md')).text).toBe((await ask('/', { accept: 'text/markdown' })).text)
  })

  test('the API catalogue is found by HEAD', async () => {
    expect((await ask('/.well-known/api-catalog', {}, 'HEAD')).headers.get('link')).toBe(
      `<${base}/.well-known/api-catalog>; rel="api-catalog"`,
    )
  })

  test('hashed assets are kept for a year', async () => {
    const asset = Object.keys(manifest.files).find((path) => path.startsWith('/_astro/'))!
    expect((await ask(asset)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  })
})

describe('what is not there', () => {
  test.each([
    ['/api/docs/api-reference/cupons', 'document_not_found', '/docs/api-reference/coupons'],
    ['/docs/api-reference/cupons.md', 'document_not_found', '/docs/api-reference/coupons'],
    ['/api/help/payments/tax', 'document_not_found', '/help/payments/taxes'],
    ['/api/changelog/2020-01-01-none', 'document_not_found', null],
    ['/api/blog/nope', 'document_not_found', '/blog'],
    ['/doc.md', 'api_route_not_found', '/docs'],
    ['/shop/sitemap.md', 'document_not_found', null],
    ['/api/nothing', 'api_route_not_found', null],
    ['/.well-known/nothing', 'api_route_not_found', null],
    ['/nothing.md', 'api_route_not_found', null],
  ])('%s is a problem, %s, that names %s', async (path, code, near) => {
    const answer = await ask(path, { accept: 'text/html' })
    expectProblem(answer, 404, code, path)
    if (near) expect(answer.body.resolution).toContain(base + near)
  })

  test('a page is HTML with a search for people, a problem for programs', async () => {
    const page = await ask('/docs/api-reference/cupons', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect([page.status, typeOf(page)]).toEqual([404, HTML])
    expect(page.text).toContain('role="search"')
    expect(page.text).toContain(`href="${base}/docs/api-reference/coupons"`)
    for (const accept of ['application/json', 'text/markdown', 'application/problem+json, */*;q=0.1'])
      expectProblem(await ask('/docs/api-reference/cupons', { accept }), 404, 'document_not_found', '/docs/api-reference/cupons')
    expectProblem(await ask('/nowhere', { accept: 'application/json' }), 404, 'api_route_not_found', '/nowhere')
  })
})

describe('bad requests', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is 405', async (method) => {
    const answer = await ask('/docs', {}, method)
    expectProblem(answer, 405, 'method_not_allowed', '/docs')
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('OPTIONS tells what is possible', async () => {
    const { status, headers } = await ask('/api/pricing', {}, 'OPTIONS')
    expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-methods')]).toEqual([
      204,
      '*',
      'GET, HEAD, OPTIONS',
    ])
  })

  test.each(['/%', '/docs/%zz', '/%c3%28', '/docs%2', '/%ff'])('%s has a broken escape: 400', async (path) => {
    expectProblem(await ask(path), 400, 'invalid_parameter', path)
  })

  test.each([
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/%2e%2e/package.json',
    '/../package.json',
    '/..\\package.json',
    '/__proto__',
    '/constructor',
    '/toString',
    '/docs/__proto__/x',
    '/%00',
    '/manifest.json',
    '//docs',
    '/404',
  ])('%s leads nowhere, and out of nothing', async (path) => {
    const { status, text } = await ask(path)
    expect(status).toBe(404)
    expect(text).not.toContain('"dependencies"')
  })

  test('headers without end are read to a bound', async () => {
    const accept = Array.from({ length: 5_000 }, (_, i) => `a/b${i};q=0.${i % 10}`).join()
    expect((await ask('/docs', { accept: `text/markdown, ${accept}` })).status).toBe(200)
    expect((await ask('/docs', { accept })).status).toBe(406)
    expect((await ask('/docs', { 'accept-encoding': accept, 'if-none-match': accept, cookie: 'x'.repeat(10_000) })).status).toBe(200)
  })
})

describe('security', () => {
  test('pages allow their own scripts by hash, and nothing from elsewhere', async () => {
    for (const path of PAGES) {
      const { headers, text } = await ask(path)
      const policy = headers.get('content-security-policy')!
      expect(policy).not.toContain('unsafe-inline')
      for (const [, script] of text.matchAll(/<script(?![^>]*\bsrc=)(?![^>]*ld\+json)[^>]*>([^]*?)<\/script>/g))
        expect(policy).toContain(`'sha256-${new Bun.CryptoHasher('sha256').update(script!).digest('base64')}'`)
      expect(text).not.toMatch(/\sstyle="|\son\w+="|<style/)
      expect(
        [...text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"/g)]
          .map(([, url]) => url)
          .filter((url) => !url!.startsWith(base)),
      ).toEqual([])
    }
  })

  test('every answer says that its type is meant, and none of what it refers to is told', async () => {
    for (const path of ['/', '/llms.txt', '/api/nothing', '/nowhere', '/healthz']) {
      const { headers } = await ask(path)
      expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        'nosniff',
        'strict-origin-when-cross-origin',
      ])
    }
  })
})

test('each problem is explained under its anchor, in HTML and in Markdown', async () => {
  const [html, markdown] = [(await ask(EXPLAINED_AT)).text, (await ask(`${EXPLAINED_AT}.md`)).text]
  for (const code of PROBLEM_CODES) {
    expect(html).toContain(`<h3 id="${code}">`)
    expect(markdown).toMatch(new RegExp(`^### \`?${code}\`?$`, 'm'))
  }
})

test('what is like nothing suggests nothing', async () => {
  for (const path of ['/api/nope', '/api/xyzzy', '/zzzz.md']) expect((await ask(path)).body.resolution).toMatch(/^What there is/)
})

test('served elsewhere than it was built for, every address is the new one', async () => {
  const moved = await openSite({ base: 'https://docs.shop.example', storeApi: 'https://api.shop.example' })
  for (const path of [
    '/',
    '/docs/api-reference/coupons',
    '/docs/api-reference/coupons.md',
    '/llms.txt',
    '/openapi.json',
    '/sitemap.xml',
    '/.well-known/api-catalog',
    '/api/changelog/latest',
  ]) {
    const { text, headers } = await moved.ask(path)
    expect(text, path).not.toContain(manifest.base)
    expect(text, path).toContain('https://docs.shop.example')
    expect(headers.get('strict-transport-security')).toContain('max-age=')
  }
  for (const encoding of ['br', 'zstd', 'gzip'])
    expect((await moved.ask('/docs', { 'accept-encoding': encoding })).headers.get('content-encoding')).toBe(encoding)
  expect((await moved.ask('/.well-known/api-catalog')).text).toContain('https://api.shop.example/api/v1/openapi')
})

test('a path that the server finds by itself is answered as any other, whoever asked before', async () => {
  const { answers } = await openSite()
  const routes = answers.routes()
  expect(routes.map(([path]) => path).toSorted()).toEqual(
    Object.keys(manifest.files)
      // What is completed for each request is found by its query, too.
      .filter((path) => !['/404', '/search', '/search.md', '/scan.md'].includes(path))
      .toSorted(),
  )
  const asks: Record<string, string>[] = [
    {},
    { accept: 'text/markdown' },
    { accept: 'text/markdown', 'accept-encoding': 'br' },
    { accept: 'text/html', 'accept-encoding': 'gzip' },
    { accept: 'image/png' },
    { accept: 'text/html', 'if-none-match': '*' },
    {},
  ]
  const told = async (response: Response) => [response.status, [...response.headers], await response.text()]
  for (const [path, answer] of routes.filter(([path]) => /quick-start|^\/$|\.txt$|\.css$/.test(path)))
    for (const headers of asks) {
      const request = () => new Request(`http://site.test${path}`, { headers })
      expect(await told(answer(request())), path).toEqual(await told(answers.answer(request())))
    }
})

test('the Markdown as another type is another representation', async () => {
  const [markdown, text] = await Promise.all(['text/markdown', 'text/plain'].map((accept) => ask('/docs', { accept })))
  expect(markdown!.text).toBe(text!.text)
  expect(markdown!.headers.get('etag')).not.toBe(text!.headers.get('etag'))
  const condition = { 'if-none-match': markdown!.headers.get('etag')! }
  expect((await ask('/docs', { accept: 'text/plain', ...condition })).status).toBe(200)
  expect((await ask('/docs', { accept: 'text/markdown', ...condition })).status).toBe(304)
})

test('what is named by its bytes lasts a year', async () => {
  const named = Object.keys(manifest.files).filter((path) => path.startsWith('/_astro/'))
  expect(named.length).toBeGreaterThan(3)
  for (const path of named.slice(-5))
    expect((await ask(path, {}, 'HEAD')).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await ask('/favicon.svg', {}, 'HEAD')).headers.get('cache-control')).toContain('max-age=60')
})

test('a request without a host that can be one has its path all the same', () => {
  for (const [url, path] of [
    ['/docs/?a=1', '/docs/'],
    ['/nope', '/nope'],
    ['http://shop.example/docs/?a=/b', '/docs/'],
    ['http://shop.example/', '/'],
  ] as const)
    expect(pathOf(url)).toBe(path)
  expect([targetOf('/docs?a=1'), targetOf('http://shop.example/docs?a=1')]).toEqual(['/docs?a=1', '/docs?a=1'])
})
