/** Which scripts a page of a shop may run: its own, by what its deployment says of it, whatever else that says. */
import { expect, test } from 'vitest'
import { Shelf } from '../../api/hosting/shelf.ts'
import { Shop } from '../../api/builder/shop/shop.ts'

const hash = (sign: string) => `'sha256-${sign.repeat(43)}='`
const served = { base: 'http://shop.localhost', reviewedAt: null, canonical: 'http://shop.localhost', isHidden: false, hasStripe: false }

/** The sources of scripts in the policy of a page. */
function scriptsOf(path: string, scripts: string[], pages: Record<string, number[] | undefined>) {
  const page = (own: number[] | undefined) => ({ title: 'Page', view: null, markdown: null, ...(own ? { scripts: own } : {}) })
  const deployment = {
    ...{ id: 'dpl_a', storeId: 's', commitSha: 'a', changes: 0, base: served.base, languages: [{ code: 'en', path: '' }] },
    ...{ currencies: ['usd'], files: {}, scripts, key: 'k', hashes: {} },
    pages: Object.fromEntries(Object.entries(pages).map(([name, own]) => [name, page(own)])),
  }
  const shop = new Shop(deployment as never, '/nowhere', served, new Shelf(1_000))
  const policy = shop.made(new Request(`http://shop.localhost${path}`), '', { path }).headers.get('content-security-policy')!
  return /script-src ([^;]*)/.exec(policy)![1]!.split(' ')
}

test('a page may run the scripts that stand in it, and none of another page', () => {
  const pages = { '/': [0, 1], '/cart': [1], '/plain': undefined }
  const all = [hash('a'), hash('b')]
  expect(scriptsOf('/', all, pages)).toEqual(["'self'", hash('a'), hash('b')])
  expect(scriptsOf('/cart', all, pages)).toEqual(["'self'", hash('b')])
  expect(scriptsOf('/plain', all, pages)).toEqual(["'self'"])
  expect(scriptsOf('/404', all, pages)).toEqual(["'self'"])
})

test('what is no hash of a script is no source of any', () => {
  const all = ["'unsafe-inline'", '*', `${hash('a')} 'unsafe-inline'`, `${hash('a')}; script-src *`, hash('b'), 'https://evil.example']
  expect(scriptsOf('/', all, { '/': [0, 1, 2, 3, 4, 5, 99, -1] })).toEqual(["'self'", hash('b')])
})

test('a deployment from before pages told of their scripts has all of its own', () => {
  expect(scriptsOf('/', [hash('a'), '*'], { '/': undefined })).toEqual(["'self'", hash('a')])
})
