import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Clients } from '../../api/server/client-address.ts'
import { windowCells, WindowLimiter } from '../../api/server/window-limit.ts'
import { folderFor } from '../folder.ts'
import { openSite } from '../site/site.ts'
import { http, rawShop, type RawShop } from './scanner.ts'

test.each<[trusted: string[], peer: string, forwarded: string | null, client: string]>([
  [[], '203.0.113.5', null, '203.0.113.5'],
  // Nobody is believed unless told so.
  [[], '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  [['10.0.0.0/8'], '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  [['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  [['10.1.2.3'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  // What the client wrote itself stands before what our proxies added.
  [['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  [['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  [['10.0.0.0/8'], '10.1.2.3', 'nonsense', '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '198.51.100.1, nonsense', '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '', '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '10.4.4.4', '10.4.4.4'],
  // An IPv4 address is one however it is written.
  [[], '::ffff:203.0.113.5', null, '203.0.113.5'],
  [['127.0.0.1'], '::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
  // Of IPv6, the network.
  [[], '2001:db8:1:2:3:4:5:6', null, '2001:db8:1:2::/64'],
  [[], '2001:db8:1:2::9', null, '2001:db8:1:2::/64'],
  [[], '2001:0DB8:0001:0002::1', null, '2001:db8:1:2::/64'],
  [[], '2001:db8::1', null, '2001:db8:0:0::/64'],
  [[], '::1', null, '0:0:0:0::/64'],
  [[], 'fe80::1%eth0', null, 'fe80:0:0:0::/64'],
  [['fd00::/8'], 'fd12::1', '2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
])('trusting %j, a connection from %s with X-Forwarded-For %j is of %s', (trusted, peer, forwarded, client) => {
  expect(new Clients(trusted).nameOf(peer, forwarded)).toBe(client)
})

const SECOND = 1_000_000_000n
const START = 1_800_000_000n * SECOND

describe('a window of a minute', () => {
  test('has exactly as many places as it says, at any moment', () => {
    for (const requests of [5, 10, 20]) {
      const limiter = new WindowLimiter({ requests, windowSeconds: 60 })
      const taken: bigint[] = []
      // Bursts, a slow stream, and both at once, at times that are no whole seconds.
      for (let step = 0; step < 3_000; step++) {
        const now = START + BigInt(step) * 137_000_000n + (step % 7 === 0 ? 0n : 3n)
        if (!limiter.take('a', now).retryAfterSeconds) taken.push(now)
      }
      const inWindow = (from: bigint) => taken.filter((at) => at > from - 60n * SECOND && at <= from).length
      expect([requests, Math.max(...taken.map(inWindow))]).toEqual([requests, requests])
      // And none is kept from who waits as long as is said.
      expect(taken.length).toBeGreaterThanOrEqual(requests * 6)
    }
  })

  test('says when there is a place again, and keeps its word to the second', () => {
    const limiter = new WindowLimiter({ requests: 2, windowSeconds: 60 })
    expect(limiter.take('a', START)).toEqual({ remaining: 1, resetSeconds: 60, retryAfterSeconds: 0 })
    expect(limiter.take('a', START + 10n * SECOND)).toEqual({ remaining: 0, resetSeconds: 50, retryAfterSeconds: 0 })
    expect(limiter.take('a', START + 30n * SECOND)).toEqual({ remaining: 0, resetSeconds: 30, retryAfterSeconds: 30 })
    expect(limiter.take('a', START + 60n * SECOND - 1n).retryAfterSeconds).toBe(1)
    expect(limiter.take('a', START + 60n * SECOND)).toEqual({ remaining: 0, resetSeconds: 10, retryAfterSeconds: 0 })
    expect(limiter.look('b', START)).toEqual({ remaining: 2, resetSeconds: 0, retryAfterSeconds: 0 })
  })

  test('is a client’s own, however many there are, and a clock that is set back locks nobody out', () => {
    const quota = { requests: 3, windowSeconds: 60 }
    const limiter = new WindowLimiter(quota)
    for (let i = 0; i < 20_000; i++) expect(limiter.take(`client ${i}`, START + BigInt(i) * 1_000_000n).retryAfterSeconds).toBe(0)
    for (let i = 0; i < 3; i++) limiter.take('late', START + 3_600n * SECOND)
    expect(limiter.take('late', START).retryAfterSeconds).toBe(0)
    expect(limiter.table.length).toBe(windowCells(quota))
  })

  test('is one for all processes of a machine', async () => {
    const folder = folderFor('window')
    for (const requests of [10, 5, 20]) {
      const command = [
        process.execPath,
        'test/analyses/limit-child.ts',
        join(folder, `${requests}`),
        String(requests),
        '198.51.100.1',
        '400',
      ]
      const children = Array.from({ length: 3 }, () => Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' }))
      const readers = children.map(({ stdout }) => stdout.getReader())
      await Promise.all(readers.map((reader) => reader.read()))
      for (const { stdin } of children) {
        stdin.write('go\n')
        stdin.end()
      }
      const got = await Promise.all(readers.map(async (reader) => Number(new TextDecoder().decode((await reader.read()).value))))
      expect([requests, got.reduce((sum, one) => sum + one, 0)]).toEqual([requests, requests])
    }
    rmSync(folder, { recursive: true })
  }, 30_000)
})

describe('the limits of the analyses', () => {
  let shop: RawShop
  let site: Awaited<ReturnType<typeof openSite>>
  beforeAll(async () => {
    shop = await rawShop((socket) => socket.end(http('<title>A shop</title>')))
    site = await openSite({ env: { FETCH_ALLOW: `127.0.0.1:${shop.port}`, TRUST_PROXY: '127.0.0.1', PAGESPEED_URL: 'http://127.0.0.1:9' } })
  }, 60_000)
  afterAll(() => Promise.all([site?.stop(), shop?.close()]))

  const from =
    (client: string) =>
    (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      site.ask(path, { 'x-forwarded-for': client, ...headers }, method)
  const urlOf = (n = 0) => encodeURIComponent(`http://127.0.0.1:${shop.port}/?${n}`)

  test.each([
    ['store-scan', 10],
    ['pagespeed', 5],
    ['fetch-page-meta', 20],
  ] as const)('%s: %i a minute, whatever becomes of them, refused ones counted apart', async (operation, most) => {
    const ask = from(`203.0.113.${most}`)
    const answers = await Promise.all(Array.from({ length: most + 3 }, (_, i) => ask(`/api/${operation}?url=${urlOf(i)}`)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBe(3)
    for (const { headers, status } of answers) {
      expect(headers.get('ratelimit-policy')).toBe(`"default";q=${most};w=60`)
      expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/)
      expect(headers.get('access-control-expose-headers')).toMatch(/RateLimit, RateLimit-Policy, Retry-After/)
      expect(headers.has('retry-after')).toBe(status === 429)
    }
    for (const { headers, body } of refused) {
      const seconds = Number(headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(50)
      expect(seconds).toBeLessThanOrEqual(60)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(body).toMatchObject({ status: 429, code: 'rate_limited', resolution: expect.stringContaining(`${seconds} s`) })
    }
    // What can't be used has a window of its own, of the same size.
    const mistakes = await Promise.all(Array.from({ length: most + 2 }, (_, i) => ask(`/api/${operation}?url=${i ? 'localhost' : ''}`)))
    expect(mistakes.map(({ status }) => status).toSorted()).toEqual([...Array(most).fill(400), 429, 429])
    // Others have theirs, a network of IPv6 is one client, and HEAD counts as GET does.
    expect((await from('203.0.113.200')(`/api/${operation}?url=${urlOf()}`)).status).not.toBe(429)
    const [one, two] = [from('2001:db8:1:2::1'), from('2001:db8:1:2:ffff::2')]
    for (let i = 0; i < most; i++) await (i % 2 ? one : two)(`/api/${operation}?url=${urlOf()}`, {}, i % 3 ? 'GET' : 'HEAD')
    expect((await one(`/api/${operation}?url=${urlOf()}`)).status).toBe(429)
    // What asks for nothing is not counted, and says where one stands all the same.
    const options = await one(`/api/${operation}`, {}, 'OPTIONS')
    expect([options.status, options.headers.get('ratelimit')]).toEqual([204, expect.stringMatching(/^"default";r=0;t=\d+$/)])
    expect((await one(`/api/${operation}`, {}, 'POST')).status).toBe(405)
  })

  test('the page is counted as what it shows; its empty form is not', async () => {
    const ask = from('203.0.113.99')
    for (let i = 0; i < 12; i++) expect((await ask('/scan', { accept: 'text/html' })).status).toBe(200)
    for (let i = 0; i < 9; i++) await ask(`/api/store-scan?url=${urlOf(i)}`)
    expect((await ask(`/scan?url=${urlOf()}`, { accept: 'text/html' })).status).toBe(200)
    const refused = await ask(`/scan?url=${urlOf()}`, { accept: 'text/html' })
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(`/scan.md?url=${urlOf()}`)).status).toBe(429)
  })

  test('two servers over one data folder count together', async () => {
    const other = await openSite({ env: { FETCH_ALLOW: `127.0.0.1:${shop.port}`, TRUST_PROXY: '127.0.0.1', DATA_DIR: site.dataDir } })
    const headers = { 'x-forwarded-for': '203.0.113.77' }
    const path = `/api/fetch-page-meta?url=${urlOf()}`
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 ? site : other).ask(path, headers)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(20)
    await other.stop()
  })
})
