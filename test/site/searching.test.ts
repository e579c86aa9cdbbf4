/** Searches as strangers send them: how many a client has, how many may wait, what is remembered of them, and what ends one that hangs. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../api/server/config.ts'
import { INDEX } from '../../site/lib/search.ts'
import { SearchFront } from '../../site/search/front.ts'
import { Overloaded, Searcher } from '../../site/search/searcher.ts'
import { serveSite } from '../../site/server.ts'
import { folderFor } from '../folder.ts'
import { agent } from '../mcp/agent.ts'
import { openSite, ROOT } from './site.ts'

// Builds the site where it is not built.
const opened = await openSite()
await opened.stop()

const folder = folderFor('searching')
mkdirSync(folder, { recursive: true })
const site = serveSite(readConfig({ SITE_PORT: '0', LOG: 'silent', DATA_DIR: folder, TRUST_PROXY: '127.0.0.1' }), 'http://127.0.0.1:3000')
const searchers: Searcher[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const searcher of searchers.splice(0)) searcher.stop()
})
afterAll(async () => {
  await site.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A thread that answers what it is asked for, after `wait` of it; `hang` holds it for ever. */
const thread = join(folder, 'thread.ts')
writeFileSync(
  thread,
  `self.addEventListener('message', ({ data }) => {
    if ('index' in data) return
    if (data.text === 'hang') for (;;) {}
    if (data.text === 'die') setTimeout(() => { throw new Error('dead') })
    else if (data.text === 'defect') postMessage({ defect: 'no such table' })
    else postMessage({ found: JSON.stringify([data.text]) })
  })`,
)
function searcher(timeMaxMs = 10_000): Searcher {
  const made = new Searcher('', { thread, timeMaxMs })
  searchers.push(made)
  return made
}

interface Answered {
  status: number
  wait: number
}

/** The entrances of the search, each asked for some words from an address. */
const over =
  (path: string, accept: string) =>
  async (from: string): Promise<Answered> => {
    const answer = await fetch(`${site.url}${path}refund`, { headers: { accept, 'x-forwarded-for': from } })
    if (answer.status === 429) {
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(await answer.json()).toMatchObject({ status: 429, code: 'rate_limited', title: 'Too many requests' })
    }
    return { status: answer.status, wait: Number(answer.headers.get('retry-after')) }
  }
const ENTRANCES: Record<string, (from: string) => Promise<Answered>> = {
  'GET /api/search': over('/api/search?q=', '*/*'),
  'GET /search': over('/search?q=', 'text/html'),
  'GET /search as Markdown': over('/search?q=', 'text/markdown'),
  'GET /search.md': over('/search.md?q=', '*/*'),
  'the tool search_docs': async (from) => {
    const reader = await agent(
      (request) => fetch(new Request(request, { headers: { ...Object.fromEntries(request.headers), 'x-forwarded-for': from } })),
      null,
      `${site.url}/mcp`,
    )
    const { isError, value } = await reader.call('search_docs', { query: 'refund' })
    await reader.close()
    return isError ? { status: value.status, wait: value.retryAfterSeconds } : { status: 200, wait: 0 }
  },
}

describe('an address has twenty searches a second', () => {
  const PASSED = { status: 200, wait: 0 }
  const REFUSED = { status: 429, wait: 1 }

  test.each(Object.entries(ENTRANCES))('by %s, and none more by any other', async (name, ask) => {
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now)
    const from = `203.0.113.${Object.keys(ENTRANCES).indexOf(name)}`
    for (let i = 0; i < 20; i++) expect([i, await ask(from)]).toEqual([i, PASSED])
    for (const [other, asked] of Object.entries(ENTRANCES)) expect([other, await asked(from)]).toEqual([other, REFUSED])
    expect(await ask('203.0.113.99')).toEqual(PASSED)
    // What is no search is none.
    expect((await fetch(`${site.url}/search`, { headers: { 'x-forwarded-for': from } })).status).toBe(200)
    expect((await fetch(`${site.url}/api/search?q=`, { headers: { 'x-forwarded-for': from } })).status).toBe(400)
    clock.mockReturnValue(now + 1_001)
    expect(await ask(from)).toEqual(PASSED)
  })

  test('all entrances together, and all addresses of a network of IPv6', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    const asks = Object.values(ENTRANCES)
    for (let i = 0; i < 20; i++) expect(await asks[i % asks.length]!(`2001:db8:1:2::${i + 1}`)).toEqual(PASSED)
    for (const ask of asks) expect(await ask('2001:db8:1:2:ffff::1')).toEqual(REFUSED)
    expect(await asks[0]!('2001:db8:1:3::1')).toEqual(PASSED)
  })
})

test('while as many wait as may, a search is 503 with when to come again, and a failure 500', async () => {
  const outcomes = [new Overloaded(), new Error('no such table')]
  const { answers } = opened
  const front = new SearchFront({ answers, searcher: { find: () => Promise.reject(outcomes.shift()) }, clientOf: () => '203.0.113.1' })
  vi.spyOn(console, 'error').mockReturnValue()
  const ask = async () => (await front.answer(new Request('http://site.test/api/search?q=a'), '/api/search'))!
  const busy = await ask()
  expect([busy.status, busy.headers.get('retry-after'), (await busy.json()).code]).toEqual([503, '1', 'overloaded'])
  const broken = await ask()
  expect([broken.status, (await broken.json()).code]).toEqual([500, 'internal_error'])
})

describe('searching in a thread', () => {
  test('a question that hangs is ended with it, and the next one is answered by another', async () => {
    const { find } = bound(searcher(500))
    const [hung, waited] = await Promise.allSettled([find('hang', 1), find('waits', 1)])
    expect([hung, waited]).toMatchObject([{ status: 'rejected', reason: expect.any(Overloaded) }, { status: 'rejected' }])
    expect(await find('next', 1)).toEqual(['next'])
  })

  test('one that fails, or takes the thread with it, keeps no other one from being answered', async () => {
    const { find } = bound(searcher())
    const [failed, died, next] = await Promise.allSettled([find('defect', 1), find('die', 1), find('next', 1)])
    expect([failed, died]).toMatchObject([
      { reason: { message: 'no such table' } },
      { reason: { message: expect.stringContaining('dead') } },
    ])
    expect(next).toEqual({ status: 'fulfilled', value: ['next'] })
  })

  test('a hundred wait and no more; who is gone leaves room', async () => {
    const { find } = bound(searcher())
    const control = new AbortController()
    const settled = Promise.allSettled([find('hang', 1), ...Array.from({ length: 100 }, (_, i) => find(String(i), 1, control.signal))])
    await expect(find('one more', 1)).rejects.toThrow(Overloaded)
    control.abort(new Error('gone'))
    const last = find('one more', 1)
    searchers[0]!.stop()
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
    await expect(last).rejects.toThrow(Overloaded)
  })

  test('what was found is given again, and a megabyte of it is remembered however many questions come', async () => {
    const own = searcher()
    const found = await own.find('again', 1)
    // A thread that hangs is not asked.
    const hanging = own.find('hang', 1).catch(() => {})
    expect(await own.find('again', 1)).toEqual(found)
    own.stop()
    await hanging
    for (let i = 0; i < 6_000; i++) await own.find(`${i} ${'ü'.repeat(190)}`, 1)
    expect(own.keptSize).toBeGreaterThan(900_000)
    expect(own.keptSize).toBeLessThanOrEqual(1_000_000)
  })

  test('the index of the site is searched there', async () => {
    const own = new Searcher(join(ROOT, 'dist', INDEX))
    searchers.push(own)
    expect((await own.find('refund an order', 3)).map(({ path }) => path.split('#')[0])).toContain('/help/orders/refunds-and-returns')
  })
})

const bound = (searcher: Searcher) => ({
  find: searcher.find.bind(searcher) as (...asked: Parameters<Searcher['find']>) => Promise<unknown>,
})
