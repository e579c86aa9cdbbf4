import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDns, type TestDns } from '../dns.ts'
import { http, openScanner, OPERATIONS, rawShop, type RawShop } from './scanner.ts'

/** What nobody may reach: on both families, and where they may be had on the ports of the web. */
const canaries: RawShop[] = []
let shop: RawShop
let dns: TestDns
let scanner: Awaited<ReturnType<typeof openScanner>>
/** Where the shop redirects to, and what it says in its files. */
let leads = ''
let robots = ''
let page = ''

const alarm = (socket: { end(bytes: Buffer): void }) => socket.end(http('<title>inside</title>'))

beforeAll(async () => {
  for (const host of ['127.0.0.1', '::1'])
    for (const port of [80, 443, 0]) {
      const canary = await rawShop(alarm, { host, port }).catch(() => null)
      if (canary) canaries.push(canary)
    }
  expect(canaries.length).toBeGreaterThanOrEqual(1)
  shop = await rawShop((socket, { path }) => {
    if (path === '/robots.txt') return socket.end(http(robots, { 'content-type': 'text/plain' }))
    if (path.startsWith('/to?')) return socket.end(http('', { location: leads }, '302 Found'))
    socket.end(http(page))
  })
  dns = await testDns()
  scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${shop.port}`, DNS_SERVERS: dns.address, PAGESPEED_URL: 'http://127.0.0.1:9/' })
}, 60_000)
afterAll(async () => {
  await scanner?.stop()
  dns?.close()
  await Promise.all([shop, ...canaries].map((one) => one?.close()))
})

const reached = () => canaries.flatMap(({ asked }) => asked)
const ports = () => ['', ...canaries.map(({ port }) => `:${port}`), ':1']

/** Spellings of places inside, as a host of a URL. */
const INSIDE = [
  ...['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0x7f000001', '017700000001', '127.0.0.1.', '0', '0.0.0.0'],
  ...[
    '１２７.0.0.1',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '127.0.0.1%2e',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
  ],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::1]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]'],
  ...['[ff02::1]', '[2001:db8::1]', '[100::1]', '[4000::1]', '[fec0::1]', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254'],
  ...['168.63.129.16', '100.100.100.200', '100.64.0.1', '192.0.0.8', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['router.local', 'db.internal', 'x.test', 'x.invalid', 'shop.example', 'x.onion', 'nas.home.arpa', 'intranet', 'metadata'],
]

describe.each(OPERATIONS)('%s', (operation) => {
  test('no spelling of a place inside is asked for, and nobody learns whether something listens there', async () => {
    for (const host of INSIDE) {
      const answers = []
      for (const scheme of ['http://', 'https://'])
        for (const port of ports()) answers.push(await scanner.analyse(operation, `${scheme}${host}${port}/`))
      answers.push(await scanner.analyse(operation, host))
      expect([host, ...new Set(answers.map(({ status, body }) => `${status} ${body.code}`))]).toEqual([host, '400 invalid_parameter'])
      // The same words for each port, open or not.
      const details = new Set(answers.map(({ body }) => body.detail))
      expect([host, details.size]).toEqual([host, 1])
      expect(answers[0]!.body.detail).toContain('`url`')
    }
    expect(reached()).toEqual([])
  }, 60_000)

  test('nor is what a name of the public DNS leads to inside', async () => {
    const names: Record<string, string[]> = {
      'one.scan-case.com': ['127.0.0.1'],
      'six.scan-case.com': ['::1'],
      'both.scan-case.com': ['93.184.216.34', '127.0.0.1'],
      'mixed.scan-case.com': ['93.184.216.34', '::1'],
      'mapped.scan-case.com': ['::ffff:127.0.0.1'],
      'cloud.scan-case.com': ['169.254.169.254'],
      'azure.scan-case.com': ['168.63.129.16'],
      'ten.scan-case.com': ['10.0.0.1'],
    }
    for (const [name, addresses] of Object.entries(names)) {
      dns.hosts.set(name, addresses)
      for (const scheme of ['http', 'https']) {
        const { status, body } = await scanner.analyse(operation, `${scheme}://${name}/`)
        expect([name, status, body.code]).toEqual([name, 502, 'upstream_unavailable'])
        expect(body.detail).not.toMatch(/\d+\.\d+\.\d+|::/)
      }
    }
    const nobody = await scanner.analyse(operation, 'https://nobody.scan-case.com/')
    expect([nobody.status, nobody.body.code, nobody.body.detail]).toEqual([
      502,
      'upstream_unavailable',
      expect.stringContaining('does not exist'),
    ])
    expect(reached()).toEqual([])
  }, 60_000)

  test('ports beside 80 and 443, other schemes and users in an address are refused', async () => {
    for (const url of [
      ...['https://shop.com:8080/', 'shop.com:22', 'http://8.8.8.8:25/', 'ftp://shop.com/', 'file:///etc/passwd', 'gopher://shop.com/'],
      ...['javascript:alert(1)', 'data:text/html,x', 'mailto:a@shop.com', 'http://user:word@shop.com/', 'http://shop.com@127.0.0.1/'],
      ...[
        'https://',
        'http://[',
        'a b',
        'https://shop.nonsense/',
        'https://a..com/',
        'com',
        `https://shop.com/${'a'.repeat(2_040)}`,
        '\u0000',
      ],
    ]) {
      const { status, body } = await scanner.analyse(operation, url)
      expect([url.slice(0, 40), status, body.code, body.detail.includes('`url`')]).toEqual([
        url.slice(0, 40),
        400,
        'invalid_parameter',
        true,
      ])
    }
    const path = `/api/${operation}`
    expect((await scanner.ask(path)).body).toMatchObject({
      status: 400,
      code: 'missing_parameter',
      detail: expect.stringContaining('`url`'),
    })
    expect((await scanner.ask(`${path}?url=`)).body).toMatchObject({ status: 400, code: 'invalid_parameter' })
    expect((await scanner.ask(`${path}?url=%20%20`)).body).toMatchObject({ status: 400, code: 'invalid_parameter' })
    expect((await scanner.ask(`${path}?url=a.com&url=b.com`)).body).toMatchObject({ status: 400, code: 'invalid_parameter' })
  })
})

describe('a shop can not lead inside', () => {
  const READ = ['store-scan', 'fetch-page-meta']
  let number = 0
  const fresh = (path: string) => `http://127.0.0.1:${shop.port}${path}?${number++}`

  test('by a redirect', async () => {
    dns.hosts.set('one.scan-case.com', ['127.0.0.1'])
    for (const host of [...INSIDE, 'one.scan-case.com'])
      for (const port of ports()) {
        leads = `http://${host}${port}/`
        const { status, body } = await scanner.analyse(READ[number % 2]!, fresh('/to'))
        expect([leads, status, body.code]).toEqual([leads, 502, 'upstream_unavailable'])
      }
    for (leads of [
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
      'http://a:b@shop.com/',
      '//127.0.0.1/',
      '//[::1]:443/',
      'http:///127.0.0.1',
    ]) {
      const { status, body } = await scanner.analyse('fetch-page-meta', fresh('/to'))
      expect([leads, status, body.code]).toEqual([leads, 502, 'upstream_unavailable'])
    }
    expect(reached()).toEqual([])
  }, 60_000)

  test('by a name that changes its mind', async () => {
    // Public for whoever looks first, and inside for whoever looks again.
    dns.hosts.set('rebind.scan-case.com', [['192.0.1.1'], ['127.0.0.1'], ['127.0.0.1']])
    dns.hosts.set('turn.scan-case.com', [['127.0.0.1'], ['192.0.1.1']])
    leads = 'http://turn.scan-case.com/'
    const asked = dns.asked.length
    await scanner.analyse('fetch-page-meta', 'http://rebind.scan-case.com/')
    // Once for each family.
    expect(dns.asked.slice(asked)).toEqual(Array(2).fill('rebind.scan-case.com'))
    expect((await scanner.analyse('fetch-page-meta', fresh('/to'))).status).toBe(502)
    expect(reached()).toEqual([])
  }, 60_000)

  test('by robots.txt, a sitemap, or what stands in its page', async () => {
    const [canary] = ports()[1] ? [`127.0.0.1${ports()[1]}`] : ['127.0.0.1']
    robots = `User-agent: *\nAllow: /\nSitemap: http://${canary}/sitemap.xml\nSitemap: http://[::1]/s.xml\n`
    page = `<html><head><base href="http://${canary}/"><meta http-equiv="refresh" content="0; url=http://${canary}/">
      <link rel="canonical" href="/x"><link rel="icon" href="/favicon.ico"><meta property="og:image" content="/a.png"><script src="/a.js"></script></head>
      <body><iframe src="http://${canary}/"></iframe><img src="http://${canary}/a.png"></body></html>`
    for (const operation of READ) {
      const { status, body } = await scanner.analyse(operation, fresh('/'))
      expect([operation, status]).toEqual([operation, 200])
      if (operation === 'store-scan') {
        expect(body.aiVisibility.sitemap).toEqual({ found: false, status: null, url: null })
        expect(body.warnings.join()).toContain('meta refresh')
      } else expect(body.image).toBe(new URL(`http://${canary}/a.png`).href)
    }
    expect(reached()).toEqual([])
  })

  test('this installation itself is never asked', async () => {
    const own = new URL(scanner.base)
    const elsewhere = await openScanner({ CONTENT_BASE_URL: scanner.base })
    for (const operation of OPERATIONS)
      expect((await elsewhere.analyse(operation, `http://${own.hostname}/`)).body).toMatchObject({ status: 400, code: 'invalid_parameter' })
    await elsewhere.stop()
  })
})

test('nothing of who asks is passed on', async () => {
  let head = ''
  const listening = await rawShop((socket, request) => {
    head = request.head
    socket.end(http('<title>x</title>'))
  })
  const other = await openScanner({ FETCH_ALLOW: `127.0.0.1:${listening.port}` })
  const path = `/api/fetch-page-meta?url=${encodeURIComponent(`http://127.0.0.1:${listening.port}/`)}`
  const secrets = {
    cookie: 'session=secret',
    authorization: 'Bearer sk-secret',
    referer: 'https://secret.shop/',
    'accept-language': 'pl',
    'x-secret': '1',
  }
  expect((await other.ask(path, { 'user-agent': 'Browser/1', ...secrets })).status).toBe(200)
  const names = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(':')[0]!.toLowerCase())
    .filter(Boolean)
  expect(names.toSorted()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  expect(head).toContain(`user-agent: StoaScan/test (+${other.base}/help/storefront/store-scan#who-asks)`)
  expect(head).not.toMatch(/secret|Browser/)
  await Promise.all([other.stop(), listening.close()])
})
