import { describe, expect, test } from 'vitest'
import { pathOf, targetOf } from '../../api/http/url.ts'
import { decoded, isDocumentShaped, straight } from '../../site/lib/addresses.ts'
import { Nearest } from '../../site/lib/nearest.ts'
import { openSite } from './site.ts'

const { ask, answers, base, manifest } = await openSite()
const nearest = new Nearest(Object.keys(manifest.pages))

/** Paths made to keep whoever reads them busy, of about so many characters. */
const HOSTILE: Record<string, (length: number) => string> = {
  slashes: (length) => '/'.repeat(length),
  'slashes before a name': (length) => `${'/'.repeat(length)}x`,
  'slashes after a name': (length) => `/docs${'/'.repeat(length)}`,
  'empty segments around a name': (length) => `//${'docs//'.repeat(length / 6)}…/`,
  dots: (length) => `/${'.'.repeat(length)}`,
  'ways up': (length) => `/${'../'.repeat(length / 3)}x`,
  escapes: (length) => `/${'%2f'.repeat(length / 3)}x`,
  'escapes of percent signs': (length) => `/${'%25'.repeat(length / 3)}`,
  'broken escapes': (length) => `/${'%'.repeat(length)}`,
  'one long segment': (length) => `/docs/${'a'.repeat(length)}`,
  'many segments': (length) => `${'/a'.repeat(length / 2)}`,
  suffixes: (length) => `/docs${'.html'.repeat(length / 5)}/`,
  'Markdown suffixes': (length) => `/docs${'.md'.repeat(length / 3)}x`,
  indexes: (length) => `${'/index'.repeat(length / 6)}x`,
  'nearly documents': (length) => `${'/api/docs'.repeat(length / 9)}/x`,
  words: (length) => `/docs/${'coupon-'.repeat(length / 7)}`,
  whitespace: (length) => `/${' \t'.repeat(length / 2)}x`,
}
const LONG = 100_000

/** Everything that reads a path. */
const READERS: Record<string, (path: string) => unknown> = {
  'the path of a URL': (path) => pathOf(`http://site.test${path}?x=/`),
  'the target of a URL': (path) => targetOf(`http://site.test${path}`),
  'without its escapes': decoded,
  'the address that it stands for': straight,
  'the shape of a document': isDocumentShaped,
  'the nearest pages': (path) => nearest.to(path),
  'the whole answer': (path) =>
    answers.answer({ url: `http://site.test${path}`, method: 'GET', headers: new Headers() } as unknown as Request),
}

/** The shortest time of some tries, in milliseconds; what is shorter than can be measured is one length. */
function shortest(work: () => unknown): number {
  const tries = Array.from({ length: 5 }, () => {
    const started = performance.now()
    work()
    return performance.now() - started
  })
  return Math.max(0.2, Math.min(...tries))
}

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each(Object.entries(HOSTILE))('takes ten times as long for ten times as many: %s', (_, made) => {
    const [short, long] = [made(LONG / 10), made(LONG)]
    expect(long.length).toBeGreaterThan(LONG * 0.9)
    read(short)
    // Ten times is what it should be; a pattern that begins anew at each character takes a hundred times, however often it is tried.
    const growth = () => shortest(() => read(long)) / shortest(() => read(short))
    let least = growth()
    for (let again = 0; least >= 20 && again < 4; again++) least = Math.min(least, growth())
    expect(least).toBeLessThan(20)
  })
})

test('a path over 2,048 characters is refused, whatever it is made of, and one below is read', async () => {
  for (const made of Object.values(HOSTILE)) {
    const long = await ask(made(2_100).replaceAll('..', 'aa').replace(/\s/g, 'a'))
    expect([long.status, long.headers.get('content-type'), long.body.code]).toEqual([414, 'application/problem+json', 'uri_too_long'])
    expect(long.body.instance.length).toBeLessThan(base.length + 501)
  }
  expect((await ask(`/${'a'.repeat(2_047)}`)).status).toBe(404)
  expect((await ask(`/${'a'.repeat(2_048)}`)).status).toBe(414)
  // The query is no part of the path.
  expect((await ask(`/docs?${'a'.repeat(5_000)}`)).status).toBe(200)
})

test.each([
  ['/docs/', '/docs'],
  ['/docs///', '/docs'],
  ['/docs/index.html', '/docs'],
  ['/docs/index', '/docs'],
  ['/docs.html', '/docs'],
  ['/docs.html/', '/docs.html'],
  ['/index.html', '/'],
  ['//', '/'],
  ['/', null],
  ['/docs', null],
  ['//docs', null],
  ['', null],
])('%s is another way to write %s', (path, address) => {
  expect(straight(path)).toBe(address)
})
