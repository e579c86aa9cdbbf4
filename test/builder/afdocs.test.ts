/** afdocs, which scores how well agents can read a site, over a published shop. */
import { expect, test } from 'vitest'
import { openShop } from './published.ts'

interface Result {
  id: string
  status: 'pass' | 'warn' | 'fail' | 'skip' | 'error'
  message: string
}

test('finds nothing to mend in a published shop', async () => {
  const shop = await openShop({ products: 8, more: { enabledLanguages: { 'en-US': true, 'de-DE': true } } })
  // A name below localhost is one for browsers: what leads there is told as an address that every resolver knows.
  const proxyAt = (port: number) =>
    Bun.serve({
      port,
      hostname: '127.0.0.1',
      async fetch({ url, method, headers }) {
        const { pathname, search, origin } = new URL(url)
        const asked = { ...Object.fromEntries(headers), 'accept-encoding': 'identity' }
        const answer = await shop.visit(host, pathname + search, { method, headers: asked })
        const fields = new Headers(answer.headers)
        fields.delete('content-length')
        const body = /text|json|xml/.test(fields.get('content-type') ?? '')
          ? (await answer.text()).replaceAll(`http://${host}`, origin)
          : await answer.arrayBuffer()
        return new Response(method === 'HEAD' || answer.status === 304 ? null : body, { status: answer.status, headers: fields })
      },
    })
  let proxy = proxyAt(0)
  // To afdocs a short page with 404 in it is an error, and every link has the port in it.
  for (let given = proxy; String(given.port).includes('404'); proxy = given) {
    given = proxyAt(0)
    await proxy.stop(true)
  }
  const host = `shop.localhost:${shop.api.port}`
  try {
    expect(await shop.publish()).toMatchObject({ status: 'live' })
    const map = await (await shop.visit(host, '/sitemap.xml')).text()
    const urls = [...map.matchAll(/<loc>([^<]+)/g)].map(([, url]) => proxy.url.origin + new URL(url!).pathname)
    expect(urls.length).toBeGreaterThan(10)
    const child = Bun.spawn(
      [
        ...[process.execPath, new URL('../../node_modules/.bin/afdocs', import.meta.url).pathname, 'check', proxy.url.origin],
        ...['--format', 'json', '--quiet', '--request-delay', '0', '--max-links', '1000', '--urls', urls.slice(0, 30).join()],
      ],
      { stdout: 'pipe', stderr: 'inherit' },
    )
    const { results } = (await new Response(child.stdout).json()) as { results: Result[] }
    expect(results.length).toBeGreaterThan(20)
    const found = results.filter(({ status }) => status !== 'pass').map(({ id, status, message }) => [id, status, message])
    // Of a page that says little, the head of it is more than a tenth: a shop has its name, search and cart above what it sells.
    expect(found.filter(([id, status]) => id !== 'content-start-position' || status !== 'warn')).toEqual([
      ['auth-alternative-access', 'skip', expect.any(String)],
    ])
  } finally {
    await proxy.stop(true)
    await shop.close()
  }
}, 120_000)
