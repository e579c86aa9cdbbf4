import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDns, type TestDns } from '../dns.ts'
import { folderFor } from '../folder.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AUTHORITY, EXPIRED, GOOD, KEY, WRONG } from './certificates.ts'
import { differences } from './conform.ts'
import { http, openScanner, rawShop, setEnv, type RawShop } from './scanner.ts'

const FIXTURES = new URL('fixtures/', import.meta.url)
/** A fixture as bytes that a server sends: its length is told by the end of the connection. */
const fixture = (name: string) => {
  const text = readFileSync(new URL(`${name}.http`, FIXTURES), 'utf8')
  const at = text.indexOf('\n\n')
  const head = text
    .slice(0, at)
    .split('\n')
    .filter((line) => !/^(content-length|transfer-encoding|connection|content-encoding):/i.test(line))
  return Buffer.from(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${text.slice(at + 2)}`)
}

interface Files {
  page: Buffer
  robots?: Buffer
  llms?: Buffer
  sitemap?: Buffer
  markdown?: Buffer
}
const plain = (body: string, type = 'text/plain') => http(body, { 'content-type': type })
const MISSING = http('<p>Nothing here</p>', {}, '404 Not Found')

/** What a shop answers: by path, and by what is asked for. */
const answer =
  ({ page, robots, llms, sitemap, markdown }: Files) =>
  (socket: Socket, { path, head }: { path: string; head: string }) => {
    if (path === '/robots.txt') return socket.end(robots ?? MISSING)
    if (path === '/llms.txt') return socket.end(llms ?? MISSING)
    if (/sitemap/.test(path)) return socket.end(sitemap ?? MISSING)
    socket.end(/accept: text\/markdown/i.test(head) && markdown ? markdown : page)
  }

let files: Files
let shop: RawShop
let scanner: Awaited<ReturnType<typeof openScanner>>
let number = 0
beforeAll(async () => {
  shop = await rawShop((socket, request) => answer(files)(socket, request))
  scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${shop.port}` })
}, 60_000)
afterAll(async () => {
  await scanner?.stop()
  await shop?.close()
})

const scan = async (own: Files) => {
  files = own
  const { status, body } = await scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/?${number++}`)
  expect(status).toBe(200)
  return body
}
const crawler = (body: any, userAgent: string) => body.aiVisibility.crawlers.find((one: any) => one.userAgent === userAgent)
const check = (body: any, id: string) => body.security.checks.find((one: any) => one.id === id)

describe('a report', () => {
  test('is what its schema says, from at most six requests', async () => {
    const asked = shop.asked.length
    const body = await scan({ page: fixture('platforms/woocommerce'), robots: plain('User-agent: *\nAllow: /\nSitemap: /sitemap.xml') })
    const { components } = (await scanner.ask('/openapi.json')).body
    expect(differences(body, components.schemas.StoreScan, components.schemas)).toEqual([])
    expect(shop.asked.slice(asked).length).toBeLessThanOrEqual(6)
    expect(body.platform).toMatchObject({ id: 'woocommerce', hosting: 'self-hosted', version: expect.stringMatching(/^\d+\.\d+/) })
    expect([body.cached, body.finalUrl, body.redirects]).toEqual([false, body.url, []])
    expect(body.durationMs).toBeGreaterThan(0)
  })

  test('says of a Stoa storefront that all is green', async () => {
    const page = fixture('platforms/stoa')
    const robots = plain('User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nAllow: /\nSitemap: /sitemap.xml\n')
    const body = await scan({
      page,
      robots,
      llms: plain('# Shop', 'text/markdown; charset=utf-8'),
      sitemap: plain('<?xml version="1.0"?><urlset></urlset>', 'application/xml'),
      markdown: plain('# Shop', 'text/markdown; charset=utf-8'),
    })
    expect([body.platform.id, body.plugins, body.pluginCost.pricedCount]).toEqual(['stoa', [], 0])
    expect([body.aiVisibility.score, body.aiVisibility.grade]).toEqual([100, 'A+'])
    // On loopback there is no https: what a certificate would bring is tested below.
    expect(body.security.checks.filter(({ pass }: any) => !pass).map(({ id }: any) => id)).toEqual([
      'strict-transport-security',
      'redirection',
    ])
  })

  test('adds up what plugins cost, and counts those without a price', async () => {
    const scripts = ['judge-me', 'loox', 'klaviyo'].map((id) => /<head>([\s\S]*)<\/body>/.exec(fixture(`plugins/${id}`).toString())![1]!)
    const body = await scan({ page: http(`<html><head>${scripts.join('')}</body></html>`) })
    expect(body.plugins.map(({ id }: any) => id).toSorted()).toEqual(['judge-me', 'klaviyo', 'loox'])
    const priced = body.plugins.filter(({ pricing }: any) => pricing.monthlyMin !== null)
    const sum = (name: string) => Math.round(priced.reduce((total: number, { pricing }: any) => total + pricing[name] * 100, 0)) / 100
    expect(body.pluginCost).toMatchObject({
      currency: 'USD',
      monthlyMin: sum('monthlyMin'),
      monthlyMax: sum('monthlyMax'),
      pricedCount: priced.length,
      unpricedCount: 3 - priced.length,
      datasetVersion: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      basis: expect.stringMatching(/^List prices of \d of 3 plugins, dated/),
    })
    expect(priced.length).toBeGreaterThan(0)
    for (const { pricing } of priced) expect([pricing.sourceUrl.startsWith('https://'), pricing.asOf.length]).toEqual([true, 10])
  })

  test('tells what a merchant on a hosted platform can not change', async () => {
    const body = await scan({ page: fixture('platforms/shopify') })
    expect(body.platform).toMatchObject({ id: 'shopify', hosting: 'saas' })
    expect([check(body, 'content-security-policy').controllable, check(body, 'subresource-integrity').controllable]).toEqual([false, true])
  })

  test('of a page that answers with an error is about that', async () => {
    files = { page: http('<title>Closed</title>', {}, '503 Closed') }
    const { status, body } = await scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/?${number++}`)
    expect([status, body.status, body.page.title]).toEqual([200, 503, 'Closed'])
    expect(body.warnings).toContain('The page answers 503: everything here is about that answer, not about the shop.')
  })

  test('of what is no page has its headers alone', async () => {
    const body = await scan({ page: http('%PDF', { 'content-type': 'application/pdf', 'x-frame-options': 'DENY' }) })
    expect([body.page.title, body.platform, body.aiVisibility.readableWithoutJs]).toEqual([null, null, false])
    expect(check(body, 'x-frame-options')).toMatchObject({ pass: true, value: 'DENY' })
    expect(body.warnings.join()).toContain('no HTML')
  })
})

describe('what crawlers get', () => {
  const page = http(`<html lang="de"><body><p>${'Schuhe aus Leder. '.repeat(20)}</p></body></html>`)

  test('robots.txt that is not there lets all in; one that fails or is silent is unknown', async () => {
    const missing = await scan({ page })
    expect(missing.aiVisibility.robotsTxt).toEqual({ found: false, status: 404, bytes: null })
    expect(crawler(missing, 'GPTBot')).toMatchObject({ allowed: true, rule: null, purpose: 'training', operator: 'OpenAI' })
    for (const robots of [http('down', {}, '503 Down'), Buffer.from('')]) {
      const body = await scan({ page, robots })
      expect([crawler(body, 'GPTBot').allowed, crawler(body, 'Claude-User').allowed]).toEqual([null, null])
      expect(body.aiVisibility.score).toBe(10)
    }
  })

  test('the score: search 30, assistants 25, training nothing', async () => {
    const score = async (robots: string) => (await scan({ page, robots: plain(robots) })).aiVisibility.score
    const agents = (await scan({ page })).aiVisibility.crawlers as { userAgent: string; purpose: string }[]
    const shut = (purpose: string) =>
      agents
        .filter((one) => one.purpose === purpose)
        .map(({ userAgent }) => `User-agent: ${userAgent}\n`)
        .join('') + 'Disallow: /\n'
    expect(await score('User-agent: *\nAllow: /')).toBe(65)
    expect(await score(shut('training'))).toBe(65)
    expect(await score(shut('search'))).toBe(35)
    expect(await score(shut('assistant'))).toBe(40)
    expect(await score('User-agent: *\nDisallow: /')).toBe(10)
    expect(await score('User-agent: *\nContent-Signal: search=yes\nAllow: /')).toBe(70)
  })

  test('signals, files, structured data and directives are told as they are', async () => {
    const described = http(
      `<html lang="de"><head><meta name="robots" content="NOINDEX, nosnippet">
       <script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"Product","offers":{"@type":"Offer"}},{"@type":["Organization","OnlineStore"]}]}</script>
       <script type="application/ld+json">{ broken</script></head><body itemscope itemtype="https://schema.org/BreadcrumbList">${'Text. '.repeat(40)}</body></html>`,
      { 'x-robots-tag': 'noarchive' },
    )
    const body = await scan({
      page: described,
      robots: plain('User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\nSitemap: /de/sitemap.xml'),
      llms: plain('# Shop', 'text/plain'),
      sitemap: http('<html>Home</html>'),
      markdown: plain('# x', 'text/markdown'),
    })
    expect(body.page.language).toBe('de')
    expect(body.aiVisibility).toMatchObject({
      contentSignals: { search: true, aiInput: null, aiTrain: false },
      metaRobots: ['noindex', 'nosnippet', 'noarchive'],
      llmsTxt: { found: true, status: 200, bytes: 6 },
      // What answers every path with its home page has no sitemap.
      sitemap: { found: false, status: 200, url: expect.stringMatching(/\/de\/sitemap\.xml$/) },
      markdownNegotiation: { supported: true, contentType: 'text/markdown' },
      structuredData: { types: ['BreadcrumbList', 'Offer', 'OnlineStore', 'Organization', 'Product'] },
      readableWithoutJs: true,
    })
  })

  test('a home page in the place of llms.txt is none', async () => {
    const body = await scan({ page, llms: page, robots: page })
    expect([body.aiVisibility.llmsTxt.found, body.aiVisibility.robotsTxt.found]).toEqual([false, false])
  })
})

describe('as a page and as Markdown', () => {
  test('the report has all of its parts, and nothing of the shop is taken for markup', async () => {
    const evil = '<script>alert(1)</script>'
    files = {
      page: http(`<html><head><title>${'&lt;script&gt;alert(1)&lt;/script&gt; | [x](javascript:1)'}</title></head><body>x</body></html>`, {
        'content-security-policy': `default-src "${evil}"`,
        'x-frame-options': evil,
      }),
      robots: plain(`User-agent: *\nDisallow: /${evil}|*_x_*\nAllow: /`),
    }
    const url = encodeURIComponent(`http://127.0.0.1:${shop.port}/?page`)
    const page = await scanner.ask(`/scan?url=${url}`, { accept: 'text/html' })
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/)
    expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding')
    expect(page.text).not.toContain(evil)
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    for (const heading of ['What to do first', 'Platform', 'Plugins', 'Security', 'AI visibility', 'AI crawlers'])
      expect(page.text).toContain(heading)
    expect(page.text).toContain(`/api/store-scan?url=${url}`)
    expect(page.text).not.toMatch(/<[^>]+ style=/)
    for (const [path, headers] of [
      [`/scan.md?url=${url}`, {}],
      [`/scan?url=${url}`, { accept: 'text/markdown' }],
    ] as const) {
      const markdown = await scanner.ask(path, headers)
      expect([markdown.status, markdown.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
      expect(markdown.text).toMatch(/^# Store scan: 127\.0\.0\.1/)
      expect(markdown.text).not.toContain(evil)
      expect(markdown.text).not.toContain('[x](javascript')
      // A cell is no row: each row of the crawlers has five.
      for (const row of markdown.text
        .split('## AI crawlers')[1]!
        .split('\n')
        .filter((line) => line.startsWith('|')))
        expect(row.replaceAll('\\|', '').split('|').length).toBe(7)
    }
  })

  test('what can not be scanned is said on the page, with its status; for agents it is a problem', async () => {
    for (const [url, status] of [
      ['localhost', 400],
      [`http://127.0.0.1:${shop.port + 1}/`, 400],
    ] as const) {
      const page = await scanner.ask(`/scan?url=${encodeURIComponent(url)}`, { accept: 'text/html' })
      expect([url, page.status, page.headers.get('content-type')]).toEqual([url, status, 'text/html; charset=utf-8'])
      expect(page.text).toMatch(/role="alert"/)
      const agent = await scanner.ask(`/scan?url=${encodeURIComponent(url)}`, { accept: 'text/markdown' })
      expect([agent.status, agent.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
    }
    const empty = await scanner.ask('/scan?url=', { accept: 'text/html' })
    expect([empty.status, /role="alert"/.test(empty.text)]).toEqual([200, false])
    expect((await scanner.ask('/scan', { accept: 'image/png' })).status).toBe(406)
    expect((await scanner.ask('/scan', {}, 'POST')).status).toBe(405)
    expect((await scanner.ask('/scan/', { accept: 'text/html' })).headers.get('location')).toBe('/scan')
    const head = await scanner.ask('/scan', { accept: 'text/html' }, 'HEAD')
    expect([head.status, head.text, Number(head.headers.get('content-length')) > 1_000]).toEqual([200, '', true])
  })
})

describe('over https, with an authority of our own', () => {
  let dns: TestDns
  let secure: Awaited<ReturnType<typeof openScanner>>
  const servers: { close(): void }[] = []
  let ports: Record<string, number> = {}
  const trusted = process.env.NODE_EXTRA_CA_CERTS

  const serve = (cert: string) =>
    new Promise<number>((ready) => {
      const server = createServer({ key: KEY, cert }, (request, response) => {
        if (request.url === '/robots.txt') return response.writeHead(404).end()
        const headers = {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
          'strict-transport-security': 'max-age=63072000',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
        }
        response.writeHead(200, headers).end('<title>Safe</title>')
      })
      servers.push(server)
      server.listen(0, '127.0.0.1', () => ready((server.address() as { port: number }).port))
    })

  beforeAll(async () => {
    dns = await testDns()
    ports = { good: await serve(GOOD), wrong: await serve(WRONG), expired: await serve(EXPIRED) }
    for (const name of ['good', 'wrong', 'expired', 'old']) dns.hosts.set(`${name}.scan-case.com`, ['127.0.0.1'])
    const folder = folderFor('authority')
    writeFileSync(join(folder, 'ca.pem'), AUTHORITY)
    process.env.NODE_EXTRA_CA_CERTS = join(folder, 'ca.pem')
    const allow = Object.entries(ports).flatMap(([name, port]) => [`${name}.scan-case.com:${port}`, `expired.scan-case.com:${port}`])
    secure = await openScanner({ FETCH_ALLOW: allow.join(), DNS_SERVERS: dns.address })
  })
  afterAll(async () => {
    setEnv('NODE_EXTRA_CA_CERTS', trusted)
    await secure?.stop()
    dns?.close()
    for (const server of servers) server.close()
  })

  test('a good one is scanned, and graded with its headers', async () => {
    const { status, body } = await secure.analyse('store-scan', `https://good.scan-case.com:${ports.good}/`)
    expect([status, body.security.https, body.security.httpToHttps, body.security.grade]).toEqual([200, true, null, 'A+'])
    expect(body.security.score).toBe(130)
  })

  test.each([
    ['wrong', /for another name/],
    ['expired', /has expired/],
  ] as const)('one that is %s is said, not overlooked', async (name, says) => {
    for (const operation of ['store-scan', 'fetch-page-meta']) {
      const { status, body } = await secure.analyse(operation, `https://${name}.scan-case.com:${ports[name]}/`)
      expect([status, body.code, body.detail]).toEqual([502, 'upstream_unavailable', expect.stringMatching(says)])
    }
  })

  test('one of nobody’s authority is not believed', async () => {
    delete process.env.NODE_EXTRA_CA_CERTS
    const strict = await openScanner({ FETCH_ALLOW: `good.scan-case.com:${ports.good}`, DNS_SERVERS: dns.address })
    const { status, body } = await strict.analyse('store-scan', `https://good.scan-case.com:${ports.good}/`)
    expect([status, body.detail]).toEqual([502, expect.stringContaining('not from a known authority')])
    await strict.stop()
  })
})
