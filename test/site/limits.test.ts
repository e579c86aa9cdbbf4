import { expect, test } from 'vitest'
import { join } from 'node:path'
import { Answers } from '../../site/lib/answers.ts'
import { Clients } from '../../api/server/client-address.ts'
import { Limits } from '../../site/lib/limits.ts'
import { openSite, ROOT } from './site.ts'

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

test('a client has so many requests a minute of an endpoint; others have theirs', async () => {
  const { manifest, base } = await openSite()
  const limits = new Limits({ '/healthz': 3 }, new Clients(['10.0.0.1']))
  const place = { base, storeApi: base, version: 'test' }
  const answers = new Answers(manifest, join(ROOT, 'dist/site'), place, { limits, peerOf: () => '10.0.0.1' })
  const ask = (client: string, path = '/healthz') =>
    answers.answer(new Request(`http://site.test${path}`, { headers: { 'x-forwarded-for': client } }))
  const remaining = [1, 2, 3].map(() => {
    const { status, headers } = ask('198.51.100.1')
    expect([status, headers.get('ratelimit-policy')]).toEqual([200, '"default";q=3;w=60'])
    return /^"default";r=(\d+);t=\d+$/.exec(headers.get('ratelimit')!)![1]
  })
  expect(remaining).toEqual(['2', '1', '0'])
  const refused = ask('198.51.100.1')
  expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'application/problem+json'])
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(20)
  expect(await refused.json()).toMatchObject({ status: 429, code: 'rate_limited', resolution: expect.stringContaining(`${wait} s`) })
  expect(ask('198.51.100.2').status).toBe(200)
  // Two addresses of one network are one client.
  for (const host of ['1', '2', '3']) expect(ask(`2001:db8:1:2::${host}`).status).toBe(200)
  expect(ask('2001:db8:1:2:ffff::4').status).toBe(429)
  expect(ask('2001:db8:1:3::4').status).toBe(200)
  // What has no limit says nothing of one.
  const page = ask('198.51.100.1', '/docs')
  expect([page.status, page.headers.get('ratelimit')]).toEqual([200, null])
})
