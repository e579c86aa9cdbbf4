import { describe, expect, test } from 'vitest'
import { pathOf, targetOf } from '../../api/http/url.ts'
import { decoded, straight } from '../../api/hosting/paths.ts'
import { isDocumentShaped } from '../../site/lib/addresses.ts'
import { Nearest } from '../../site/lib/nearest.ts'
import { growthOf, HOSTILE, LONG } from '../paths.ts'
import { openSite } from './site.ts'

const { ask, answers, base, manifest } = await openSite()
const nearest = new Nearest(Object.keys(manifest.pages))

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

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each(Object.entries(HOSTILE))('takes ten times as long for ten times as many: %s', (_, made) => {
    expect(made(LONG).length).toBeGreaterThan(LONG * 0.9)
    expect(growthOf(made, read)).toBeLessThan(20)
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
