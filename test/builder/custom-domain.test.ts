import { expect, test } from 'vitest'
import { customDomain, recordFor } from '../../api/builder/domain/custom-domain.ts'

const own = { parent: 'shops.example', others: ['api.stoa.example'] }
const read = (text: string) => customDomain(text, own)

test.each([
  ['shop.example', 'shop.example'],
  ['www.shop.example', 'www.shop.example'],
  ['Shop.EXAMPLE', 'shop.example'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['shop.co.uk', 'shop.co.uk'],
  ['ada.github.io', 'ada.github.io'],
  ['a--b.example', 'a--b.example'],
  ['1.example', '1.example'],
  // The parent of the stores' hosts may be a part of a larger domain, whose other hosts are free.
  ['example', null],
  ['notshops.example', 'notshops.example'],
  [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
])('%s is %s', (text, domain) => {
  expect('domain' in read(text) ? read(text) : null).toEqual(domain && { domain })
})

test.each([
  ['https://shop.example', 'protocol'],
  ['//shop.example', 'path'],
  ['shop.example/', 'path'],
  ['shop.example/shirts', 'path'],
  ['shop.example?a', 'path'],
  ['shop.example#a', 'path'],
  ['shop.example\\a', 'path'],
  ['ada@shop.example', 'mail address'],
  ['shop.example:443', 'port'],
  ['*.shop.example', 'wildcard'],
  ['shop .example', 'space'],
  ['shop\u200b.example', 'invisible'],
  ['shop\u0000.example', 'invisible'],
  ['my_shop.example', 'underscore'],
  ['shop.example.', 'dot'],
  ['.shop.example', 'dot'],
  ['shop..example', 'dot'],
  ['shop', 'two labels'],
  ['com', 'two labels'],
  ['203.0.113.10', 'IP address'],
  ['::1', 'IP address'],
  ['[::1]', 'IP address'],
  ['0x7f.1', 'no host name'],
  ['1.2.3', 'no host name'],
  ['-shop.example', 'no host name'],
  ['shop-.example', 'no host name'],
  ['shop!.example', 'no host name'],
  ['xn--a.example', 'no host name'],
  [`${'a'.repeat(64)}.example`, 'no host name'],
  [`${'a.'.repeat(121)}example`, 'too long'],
  ['localhost', 'local network'],
  ['shop.localhost', 'local network'],
  ['LOCALHOST', 'local network'],
  ['printer.local', 'local network'],
  ['shop.internal', 'local network'],
  ['shop.onion', 'local network'],
  ['1.0.0.127.in-addr.arpa', 'local network'],
  ['shops.example', 'shops.example'],
  ['atelier.shops.example', 'shops.example'],
  ['a.atelier.SHOPS.example', 'shops.example'],
  ['api.stoa.example', 'this server itself'],
  ['co.uk', 'public suffix'],
  ['github.io', 'public suffix'],
  ['a.kawasaki.jp', 'public suffix'],
])('%s is refused: %s', (text, why) => {
  expect(read(text)).toEqual({ mistake: expect.stringContaining(why) })
})

test('a name that is hostile costs no time', () => {
  const started = performance.now()
  for (const text of ['.', 'a.', ':', 'a-', 'ä.', '。', 'xn--'].map((part) => part.repeat(100_000)))
    expect('mistake' in read(text)).toBe(true)
  expect(performance.now() - started).toBeLessThan(1_000)
})

test.each([
  ['shop.example', { type: 'A', name: '@', value: '203.0.113.10' }],
  ['shop.co.uk', { type: 'A', name: '@', value: '203.0.113.10' }],
  ['ada.github.io', { type: 'A', name: '@', value: '203.0.113.10' }],
  ['www.shop.example', { type: 'CNAME', name: 'www', value: 'atelier.shops.example' }],
  ['www.shop.co.uk', { type: 'CNAME', name: 'www', value: 'atelier.shops.example' }],
  ['a.b.shop.com.au', { type: 'CNAME', name: 'a.b', value: 'atelier.shops.example' }],
])('%s needs %o', (domain, record) => {
  expect(recordFor(domain, { ip: '203.0.113.10', host: 'atelier.shops.example' })).toEqual(record)
})

test('a server that has an IPv6 address alone is led to by AAAA', () => {
  const place = { ip: '2001:db8::1', host: 'atelier.shops.example' }
  expect(recordFor('shop.example', place)).toEqual({ type: 'AAAA', name: '@', value: '2001:db8::1' })
})
