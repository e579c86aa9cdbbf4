/** Document 8, MCP: the content site's server, asked by the official clients over a real port. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../api/server/config.ts'
import { NAMED } from '../../api/mcp/named-tools.ts'
import { ANSWER_MAX_BYTES } from '../../api/mcp/trim.ts'
import { folderFor } from '../folder.ts'
import { serveSite } from '../../site/server.ts'
import { openSite } from '../site/site.ts'
import { agent, newestAgent, type Agent } from './agent.ts'

// Builds the site where it is not built.
const { stop } = await openSite()
await stop()

/** A shop to look at, on loopback. */
const shop = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) =>
    url.endsWith('/slow')
      ? new Promise<Response>(() => {})
      : new Response('<title>Atelier</title><h1>Linen</h1>', { headers: { 'content-type': 'text/html' } }),
})
const site = serveSite(
  readConfig({ SITE_PORT: '0', LOG: 'silent', DATA_DIR: folderFor('mcp-site'), FETCH_ALLOW: `127.0.0.1:${shop.port}` }),
  'http://127.0.0.1:3000',
)
const url = `${site.url}/mcp`
let reader: Agent
beforeAll(async () => {
  reader = await agent(fetch, null, url)
})
afterAll(async () => {
  await reader.close()
  await site.stop()
  await shop.stop(true)
})

describe('the server', () => {
  test('is there for the newest protocol and for the one before, without a key', async () => {
    const newest = await newestAgent(fetch, null, url)
    expect([newest.version, (await newest.tools()).map(({ name }) => name)]).toEqual([
      '2026-07-28',
      ['search_docs', 'read_page', 'list_pages', 'get_pricing', 'latest_release', 'scan_store', 'page_speed', 'page_meta'],
    ])
    await newest.close()
    for (const { annotations } of await reader.tools()) expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(reader.client.getInstructions()).toContain('search_docs')
  })

  test('takes no page of another origin, and nothing but messages', async () => {
    const send = (init: RequestInit) => fetch(url, { method: 'POST', ...init })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const type = { 'content-type': 'application/json' }
    expect((await send({ headers: { ...type, origin: 'https://evil.example' }, body })).status).toBe(403)
    expect((await send({ headers: { ...type, origin: site.url }, body })).status).toBe(200)
    expect((await fetch(url)).status).toBe(405)
    const large = await send({ headers: type, body: 'x'.repeat(65_537) })
    expect([large.status, await large.json()]).toEqual([413, { error: 'the message has more than 65536 bytes' }])
    const deep = await send({ headers: type, body: '['.repeat(65_536) })
    expect([deep.status, (await deep.json()).error.message]).toEqual([400, 'the body nests deeper than 100 levels'])
  })

  test('is listed where agents look', async () => {
    const { servers } = await (await fetch(`${site.url}/.well-known/mcp.json`)).json()
    expect(servers.map(({ remotes }: { remotes: { url: string }[] }) => remotes[0]!.url)).toEqual(['http://127.0.0.1:3000/mcp', url])
    expect(servers[0].remotes[0].headers[0]).toMatchObject({ name: 'Authorization', isRequired: true, isSecret: true })
    const { linkset } = await (await fetch(`${site.url}/.well-known/api-catalog`)).json()
    expect(linkset.map(({ anchor }: { anchor: string }) => anchor)).toEqual(expect.arrayContaining([url, 'http://127.0.0.1:3000/mcp']))
    expect(await (await fetch(`${site.url}/llms.txt`)).text()).toContain(url)
  })
})

describe('its tools', () => {
  test('search, and read what was found: a section, or the page', async () => {
    const { value } = await reader.call('search_docs', { query: 'How do I refund an order?', limit: 5 })
    expect(value.data.length).toBe(5)
    const hit = value.data.find(({ url }: { url: string }) => url.includes('#'))
    const section = await reader.call('read_page', { path: hit.url })
    expect([section.isError, section.texts[0]!.split('\n')[0]!.replace(/^#+ /, '')]).toEqual([false, hit.heading])
    const whole = await reader.call('read_page', { path: hit.url.split('#')[0] })
    expect(whole.texts[0]).toContain(section.texts[0])
  })

  test('read a page by any of its addresses, part by part where it is long', async () => {
    const path = '/docs/api-reference/coupons'
    const expected = await (await fetch(`${site.url}${path}.md`)).text()
    for (const spelling of [path, `${path}.md`, `${site.url}${path}`, path.slice(1), `${path}/`]) {
      let text = ''
      for (let from: number | undefined = 0; from !== undefined;) {
        const { texts, bytes } = await reader.call('read_page', { path: spelling, answerFrom: from })
        expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES)
        text += texts[0]
        from = texts[1] ? JSON.parse(texts[1]).truncated.next?.answerFrom : undefined
      }
      expect([spelling, text === expected]).toEqual([spelling, true])
    }
  })

  test('what is not there is said, with what may be meant', async () => {
    const missing = await reader.call('read_page', { path: '/docs/api-reference/coupon' })
    expect([missing.isError, missing.value.status, missing.value.resolution.includes('/docs/api-reference/coupons')]).toEqual([
      true,
      404,
      true,
    ])
    expect((await reader.call('read_page', { path: '/docs/api-reference/coupons#no-such' })).value.status).toBe(404)
    // Words behind a question mark are none of a path, whatever line they stand in.
    for (const path of ['scan.md?a\n&url=http://127.0.0.1/x.md', '/scan?a\n&url=https://example.com/&x=.md'])
      expect((await reader.call('read_page', { path })).texts[0]).toMatch(/^# Store scan\n[^]*Paste a shop/)
    for (const path of [
      '/api/search?a\n&q=coupon&x=.md',
      '\ud800',
      `a${'/'.repeat(60_000)}a`,
      '../../etc/passwd',
      '/../package.json',
      '%2e%2e/%2e%2e/etc/passwd',
      '/manifest.json',
      'https://evil.example/x',
    ])
      expect([path, (await reader.call('read_page', { path })).isError]).toEqual([path, true])
    expect((await reader.call('read_page')).value.details[0].path).toEqual(['path'])
    expect((await reader.call('search_docs', { query: '' })).value).toMatchObject({ status: 400, error: 'query: is required' })
    expect((await reader.call('list_pages', { area: 'shop' })).value.details[0].options).toEqual(['docs', 'help', 'blog', 'changelog'])
    expect((await reader.call('no_such')).value.status).toBe(404)
    for (const given of [
      { query: 'a', limit: { toString: 1 } },
      { query: 'a', limit: -1 },
      { query: ['a'] },
      { query: 'a', nonsense: 1 },
      { query: 'a', constructor: '1' },
    ])
      expect([given, (await reader.call('search_docs', given)).value.status]).toEqual([given, 400])
  })

  test('a question that takes long to answer is let go with whoever asked it, without a word in the log', async () => {
    const told: unknown[] = []
    const warn = console.error
    console.error = (...words) => void told.push(words)
    const control = new AbortController()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'scan_store', arguments: { url: `http://127.0.0.1:${shop.port}/slow` } },
    })
    const asked = fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: control.signal }).catch(
      () => 'gone',
    )
    await Bun.sleep(100)
    control.abort()
    expect(await asked).toBe('gone')
    await Bun.sleep(100)
    console.error = warn
    expect(told).toEqual([])
  })

  test('list the pages of an area; tell the plans and the latest release', async () => {
    const help = await reader.call('list_pages', { area: 'help' })
    expect(help.texts[0]).toContain('# Stoa: How-to')
    expect((await reader.call('list_pages')).texts[0]).toContain('What to read for which task')
    expect((await reader.call('get_pricing')).value).toEqual(await (await fetch(`${site.url}/api/pricing`)).json())
    const release = await reader.call('latest_release')
    const { version } = await (await fetch(`${site.url}/api/changelog/latest`)).json()
    expect(release.texts[0]).toContain(`"version": "${version}"`)
  })

  test('look at a shop, as often as the API lets an address', async () => {
    const address = `http://127.0.0.1:${shop.port}/`
    const meta = await reader.call('page_meta', { url: address })
    expect([meta.isError, meta.value.title]).toEqual([false, 'Atelier'])
    expect((await reader.call('scan_store', { url: address })).isError).toBe(false)
    expect((await reader.call('page_meta', { url: 'http://10.0.0.1/' })).value.status).toBe(400)
    expect((await reader.call('page_speed', { url: 'nowhere' })).isError).toBe(true)
    const all = await Promise.all(Array.from({ length: 25 }, () => reader.call('page_meta', { url: address })))
    const refused = all.filter(({ isError }) => isError)
    expect(refused.length).toBe(25 - 19)
    expect(refused[0]!.value).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(refused[0]!.value.retryAfterSeconds).toBeGreaterThan(0)
    // What is asked for by HTTP from the same address counts with it.
    expect((await fetch(`${site.url}/api/fetch-page-meta?url=${encodeURIComponent(address)}`)).status).toBe(429)
  })
})

test('each heading of the site that search finds can be read as a section', async () => {
  const words = ['coupon', 'webhook', 'stock', 'shipping', 'key', 'publish', 'limits', 'ticket', 'refund', 'cart']
  for (const query of words) {
    const { value } = await reader.call('search_docs', { query, limit: 50 })
    for (const { url: found } of value.data as { url: string }[]) {
      if (!found.includes('#')) continue
      expect([found, (await reader.call('read_page', { path: found })).isError]).toEqual([found, false])
    }
  }
})

test('what the page says the tools are is what they are', async () => {
  const page = readFileSync('content/docs/api-reference/mcp-server.md', 'utf8')
  const [ofStore, ofSite] = ['## The tools of a store', '## The tools of this site'].map(
    (heading) => page.split(heading)[1]!.split('\n## ')[0]!,
  )
  const named = (text: string) =>
    [...text.matchAll(/^\|.*\|$/gm)].flatMap(([row]) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  expect(named(ofStore!).toSorted()).toEqual(
    [...NAMED, 'search_operations', 'describe_operation', 'read_operation', 'call_operation'].toSorted(),
  )
  const tools = (await reader.tools()).map(({ name }) => name)
  expect(new Set(named(ofSite!).filter((name) => tools.includes(name)))).toEqual(new Set(tools))
})
