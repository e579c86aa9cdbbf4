import { createSocket } from 'node:dgram'
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDns, type TestDns } from '../dns.ts'
import { folderFor } from '../folder.ts'
import { hasChromium } from '../browser/chromium.ts'
import { freeUser } from '../../api/outside/cage/cage.ts'
import { holdOf, isHeld, wordsOf } from '../../site/analyses/speed/hold.ts'
import { fieldDataOf, sideOf } from '../../site/analyses/speed/results.ts'
import { differences } from './conform.ts'
import { http, openScanner, rawShop, setEnv, type RawShop } from './scanner.ts'

const KEY = 'AIza-very-secret'
const URL_OF_SHOP = 'https://shop.scan-case.com/'

/** As PageSpeed Insights answers (v5), with what is read of it. */
const insight = (performance: number, more: object = {}) => ({
  lighthouseResult: {
    lighthouseVersion: '13.0.1',
    finalDisplayedUrl: `${URL_OF_SHOP}en`,
    categories: {
      performance: { score: performance },
      accessibility: { score: 0.915 },
      'best-practices': { score: 1 },
      seo: { score: 0.5 },
    },
    audits: {
      'first-contentful-paint': { numericValue: 1_800.4 },
      'largest-contentful-paint': { numericValue: 2_501 },
      'total-blocking-time': { numericValue: 601 },
      'cumulative-layout-shift': { numericValue: 0.10004 },
      'speed-index': { numericValue: 3_400 },
      'server-response-time': { numericValue: 80.6 },
      'unused-javascript': {
        score: 0,
        title: 'Reduce unused JavaScript',
        details: { type: 'opportunity', overallSavingsMs: 450, overallSavingsBytes: 90_000.4 },
      },
      'image-delivery-insight': { score: 0.5, title: 'Improve image delivery', metricSavings: { LCP: 900, CLS: 5 } },
      passed: { score: 1, title: 'Fine', details: { overallSavingsMs: 10 } },
      'not-applicable': { score: null, title: 'None' },
    },
    ...more,
  },
  loadingExperience: {
    overall_category: 'AVERAGE',
    metrics: {
      LARGEST_CONTENTFUL_PAINT_MS: { percentile: 2_600 },
      INTERACTION_TO_NEXT_PAINT: { percentile: 180 },
      CUMULATIVE_LAYOUT_SHIFT_SCORE: { percentile: 12 },
    },
  },
})

describe('what Lighthouse says', () => {
  test('becomes scores, metrics with their ratings, and what would save most', () => {
    expect(sideOf(insight(0.554).lighthouseResult)).toEqual({
      scores: { performance: 55, accessibility: 92, bestPractices: 100, seo: 50 },
      metrics: {
        firstContentfulPaintMs: 1_800,
        largestContentfulPaintMs: 2_501,
        totalBlockingTimeMs: 601,
        cumulativeLayoutShift: 0.1,
        speedIndexMs: 3_400,
        timeToFirstByteMs: 81,
      },
      ratings: {
        firstContentfulPaintMs: 'good',
        largestContentfulPaintMs: 'needs-improvement',
        totalBlockingTimeMs: 'poor',
        cumulativeLayoutShift: 'good',
        speedIndexMs: 'good',
        timeToFirstByteMs: 'good',
      },
      opportunities: [
        { id: 'image-delivery-insight', title: 'Improve image delivery', savingsMs: 900, savingsBytes: null },
        { id: 'unused-javascript', title: 'Reduce unused JavaScript', savingsMs: 450, savingsBytes: 90_000 },
      ],
      finalUrl: `${URL_OF_SHOP}en`,
    })
  })

  test('nothing measured is nothing, whatever else is there', () => {
    for (const nothing of [
      undefined,
      {},
      { categories: {}, audits: {} },
      { ...insight(1).lighthouseResult, runtimeError: { code: 'NO_FCP' } },
    ])
      expect(sideOf(nothing)).toBeNull()
    const odd = sideOf({ categories: { performance: { score: 1 }, seo: { score: 'x' } }, audits: { 'speed-index': { numericValue: NaN } } })
    expect([odd!.scores.seo, odd!.metrics.speedIndexMs, odd!.ratings.speedIndexMs, odd!.opportunities]).toEqual([null, null, null, []])
  })

  test('field data is that of real visitors, or null', () => {
    expect(fieldDataOf(insight(1).loadingExperience)).toEqual({ overall: 'needs-improvement', lcpMs: 2_600, inpMs: 180, cls: 0.12 })
    for (const none of [undefined, {}, { metrics: {} }, { overall_category: 'FAST' }]) expect(fieldDataOf(none)).toBeNull()
  })
})

describe('by PageSpeed Insights', () => {
  let service: RawShop
  let dns: TestDns
  let scanner: Awaited<ReturnType<typeof openScanner>>
  /** What the service answers, by strategy. */
  let answers: Record<string, Buffer | null> = {}
  let heads: string[] = []
  const json = (value: unknown, status = '200 OK') => http(JSON.stringify(value), { 'content-type': 'application/json' }, status)

  beforeAll(async () => {
    service = await rawShop((socket, { path, head }) => {
      heads.push(head)
      const answer = answers[new URL(path, 'http://x').searchParams.get('strategy')!]
      if (answer) socket.end(answer)
    })
    dns = await testDns()
    dns.hosts.set('shop.scan-case.com', ['93.184.216.34'])
    dns.hosts.set('inside.scan-case.com', ['93.184.216.34', '10.0.0.1'])
    scanner = await openScanner({ PAGESPEED_URL: `http://127.0.0.1:${service.port}/v5`, PAGESPEED_KEY: KEY, DNS_SERVERS: dns.address })
  }, 60_000)
  afterAll(async () => {
    await scanner?.stop()
    dns?.close()
    await service?.close()
  })
  let number = 0
  const measure = (url = `${URL_OF_SHOP}?${number++}`) => scanner.analyse('pagespeed', url)

  test('both sides are asked for at once, with all four categories', async () => {
    heads = []
    answers = { mobile: json(insight(0.5)), desktop: json(insight(0.9)) }
    const { status, body } = await measure(`${URL_OF_SHOP}?a=b&c`)
    expect([status, body.provider, body.lighthouseVersion]).toEqual([200, 'pagespeed-insights', '13.0.1'])
    expect([body.mobile.scores.performance, body.desktop.scores.performance]).toEqual([50, 90])
    expect([body.fieldData.inpMs, body.warnings, body.cached]).toEqual([180, [], false])
    const asked = heads.map((head) => new URL(head.split(' ')[1]!, 'http://x').searchParams)
    expect(asked.map((query) => query.get('strategy')).toSorted()).toEqual(['desktop', 'mobile'])
    for (const query of asked) {
      expect([query.get('url'), query.get('key')]).toEqual([`${URL_OF_SHOP}?a=b&c`, KEY])
      expect(query.getAll('category')).toEqual(['performance', 'accessibility', 'best-practices', 'seo'])
    }
    const { components } = (await scanner.ask('/openapi.json')).body
    expect(differences(body, components.schemas.PageSpeed, components.schemas)).toEqual([])
  })

  test('one side that fails is null with a warning, both are 502', async () => {
    answers = { mobile: json(insight(0.5)), desktop: json({ error: { message: 'Lighthouse returned error' } }, '500 Oops') }
    const one = await measure()
    expect([one.status, one.body.desktop, one.body.mobile.scores.performance]).toEqual([200, null, 50])
    expect(one.body.warnings).toEqual(['Not measured as on a computer: the speed-test service could not load the page.'])
    for (const bad of [
      json({ error: { message: KEY } }, '400 Bad'),
      json({ error: {} }, '429 Too Many'),
      json({ lighthouseResult: { runtimeError: { code: 'DNS_FAILURE' } } }),
      http('not json'),
      http('', { location: 'http://127.0.0.1:1/' }, '302 Found'),
      Buffer.from('SSH-2.0\r\n'),
    ]) {
      answers = { mobile: bad, desktop: bad }
      const { status, body, text } = await measure()
      expect([status, body.code]).toEqual([502, 'upstream_unavailable'])
      expect(text).not.toContain(KEY)
      expect(text).not.toContain(String(service.port))
    }
  })

  test('field data of a whole site is said to be that', async () => {
    const fallback = { ...insight(1), loadingExperience: { ...insight(1).loadingExperience, origin_fallback: true } }
    answers = { mobile: json(fallback), desktop: json(fallback) }
    expect((await measure()).body.warnings).toEqual(['Too few visitors have been to this page: field data is that of its whole site.'])
  })

  test('an address inside is not handed over', async () => {
    heads = []
    expect((await measure('https://inside.scan-case.com/')).body).toMatchObject({ status: 502, code: 'upstream_unavailable' })
    expect((await measure('https://nobody.scan-case.com/')).status).toBe(502)
    expect((await measure('https://127.0.0.1/')).status).toBe(400)
    expect(heads).toEqual([])
  })

  test('who goes away ends both requests', async () => {
    answers = { mobile: null, desktop: null }
    const control = new AbortController()
    const request = new Request(`http://site.test/api/pagespeed?url=${URL_OF_SHOP}?gone`, { signal: control.signal })
    const asked = scanner.front.answer(request)
    for (let i = 0; i < 100 && service.open() < 2; i++) await Bun.sleep(20)
    expect(service.open()).toBe(2)
    control.abort()
    await asked
    for (let i = 0; i < 100 && service.open(); i++) await Bun.sleep(20)
    expect(service.open()).toBe(0)
  })
})

/** Where this test's browsers have their profiles, and no others. */
const own = folderFor('profiles')
// As a folder for what is temporary is: others may go through it.
chmodSync(own, 0o711)
const left = () => readdirSync(own).filter((name) => !name.startsWith('stoa-site-'))
const running = () =>
  Bun.spawnSync(['pgrep', '-f', `user-data-dir=${own}`])
    .stdout.toString()
    .trim()

/** What was killed takes a moment to be gone. */
async function gone() {
  for (let i = 0; i < 250 && (running() || left().length); i++) await Bun.sleep(20)
  expect([left(), running()]).toEqual([[], ''])
}

describe.skipIf(!hasChromium)('by Lighthouse here', () => {
  let scanner: Awaited<ReturnType<typeof openScanner>>
  let content: Bun.Server<undefined>
  let hostile: RawShop
  const canaries: RawShop[] = []
  let datagrams = 0
  const udp = createSocket('udp4')
  /** When which page was asked for. */
  const asked: { path: string; at: number }[] = []

  const before = process.env.TMPDIR
  beforeAll(async () => {
    process.env.TMPDIR = own
    let site: Awaited<ReturnType<typeof openScanner>> | undefined
    content = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push({ path: new URL(request.url).pathname, at: performance.now() })
        return site!.front.answer(request)
      },
    })
    for (const host of ['127.0.0.1', '::1']) canaries.push(await rawShop((socket) => socket.end(http('inside')), { host }))
    await new Promise<void>((ready) => udp.bind(0, '127.0.0.1', ready))
    udp.on('message', () => datagrams++)
    hostile = await rawShop((socket, { path }) => socket.end(path === '/slow' ? http('<title>x</title>') : http(attack())))
    site = scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${content.port},127.0.0.1:${hostile.port}` })
  }, 60_000)
  afterAll(async () => {
    await scanner?.stop()
    await content?.stop(true)
    await Promise.all([hostile, ...canaries].map((one) => one?.close()))
    udp.close()
    setEnv('TMPDIR', before)
    rmSync(own, { recursive: true })
  })

  /** A page that tries every way to reach what is inside. */
  const attack = () => {
    const targets = [
      ...canaries.map(({ port }, i) => `${i ? '[::1]' : '127.0.0.1'}:${port}`),
      `localhost:${canaries[0]!.port}`,
      `0x7f.1:${canaries[0]!.port}`,
    ]
    const uses = targets.map(
      (
        host,
      ) => `<img src="http://${host}/i.png"><script src="http://${host}/s.js"></script><link rel=stylesheet href="http://${host}/c.css">
      <link rel=preconnect href="http://${host}/"><link rel=prefetch href="http://${host}/p"><iframe src="http://${host}/f"></iframe><video src="http://${host}/v"></video>`,
    )
    return `<!doctype html><html lang=en><head><meta name=viewport content="width=device-width"><title>Attack</title></head><body><h1>A shop</h1><p>Text that is painted.</p>${uses.join('')}
    <script>
      for (const host of ${JSON.stringify(targets)}) {
        fetch('http://' + host + '/fetch', { mode: 'no-cors' }).catch(() => {})
        navigator.sendBeacon('http://' + host + '/beacon')
        try { new WebSocket('ws://' + host + '/ws') } catch {}
        try { new EventSource('http://' + host + '/events') } catch {}
        try { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.address().port}' }, { urls: 'turn:' + host + '?transport=tcp', username: 'a', credential: 'b' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)) } catch {}
        try { new WebTransport('https://' + host + '/wt') } catch {}
      }
    </script></body></html>`
  }

  test(
    'a page of the demo content gets scores for both sides, one page after the other, and nothing is left behind',
    { timeout: 120_000, retry: 2 },
    async () => {
      const [home, pricing] = await Promise.all(
        ['/', '/pricing'].map((path) => scanner.analyse('pagespeed', `http://127.0.0.1:${content.port}${path}`)),
      )
      for (const { status, body } of [home!, pricing!]) {
        expect([status, body.provider, body.lighthouseVersion, body.warnings]).toEqual([
          200,
          'lighthouse',
          expect.stringMatching(/^\d+\./),
          [],
        ])
        for (const side of [body.mobile, body.desktop]) {
          expect(Object.values(side.scores).every((score) => Number.isInteger(score) && (score as number) > 50)).toBe(true)
          expect(side.metrics.largestContentfulPaintMs).toBeGreaterThan(0)
        }
        expect(body.fieldData).toBeNull()
      }
      const times = (path: string) => asked.filter((one) => one.path === path).map(({ at }) => at)
      expect(Math.max(...times('/'))).toBeLessThan(Math.min(...times('/pricing')))
      await gone()
    },
  )

  test('nothing that a page does reaches what is inside', { timeout: 120_000, retry: 2 }, async () => {
    const { status, body } = await scanner.analyse('pagespeed', `http://127.0.0.1:${hostile.port}/`)
    expect([status, body.detail, body.mobile !== null || body.desktop !== null]).toEqual([200, undefined, true])
    expect(canaries.flatMap((canary) => canary.asked)).toEqual([])
    expect(datagrams).toBe(0)
  })

  test('it ends with all its processes when the client goes', async () => {
    const control = new AbortController()
    const url = encodeURIComponent(`http://127.0.0.1:${hostile.port}/?gone`)
    const request = new Request(`http://site.test/api/pagespeed?url=${url}`, {
      signal: control.signal,
      headers: { 'x-forwarded-for': '203.0.113.8' },
    })
    const going = scanner.front.answer(request)
    for (let i = 0; i < 500 && !hostile.asked.some((one) => one.includes('gone')); i++) await Bun.sleep(20)
    expect(running()).not.toBe('')
    control.abort()
    await going
    await gone()
  }, 60_000)

  test.skipIf(process.getuid!() !== 0)(
    'none of its processes is root’s, nor sees what only root may, and its pages are in a sandbox',
    async () => {
      const going = scanner.analyse('pagespeed', `http://127.0.0.1:${hostile.port}/?whose`)
      const seen = new Map<string, string>()
      for (let i = 0; i < 2_000 && !hostile.asked.some((one) => one.includes('whose')); i++) await Bun.sleep(10)
      // What a Chromium begins has its profile among its arguments, or its process group.
      const [leader] = running().split('\n')
      const group = Bun.spawnSync(['ps', '-o', 'pgid=', '-p', leader!]).stdout.toString().trim()
      for (const pid of Bun.spawnSync(['pgrep', '-g', group]).stdout.toString().trim().split('\n'))
        try {
          seen.set(pid, readFileSync(`/proc/${pid}/status`, 'utf8'))
        } catch {
          // It has ended meanwhile.
        }
      const ids = (name: string) => [...seen.values()].map((status) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)![1]!.trim())
      expect(seen.size).toBeGreaterThan(3)
      const users = new Set([...ids('Uid'), ...ids('Gid')].flatMap((all) => all.split(/\s+/)))
      expect([users.size, Number([...users][0]) > 61_000]).toEqual([1, true])
      expect(new Set(ids('Groups'))).toEqual(new Set(['']))
      // Those that show pages have namespaces of their own, and may not call what they like.
      if (holdOf(false)!.hasSandbox) expect(ids('Seccomp')).toContain('2')
      await going
      await gone()
      // What was killed takes a moment to be gone.
      const left = () => Bun.spawnSync(['pgrep', '-u', [...users][0]!]).stdout.toString()
      for (let i = 0; i < 250 && left(); i++) await Bun.sleep(20)
      expect(left()).toBe('')
    },
    120_000,
  )

  test('root shows no pages where there is no other user, unless whoever runs the server says so', async () => {
    const isRoot = process.getuid!() === 0
    expect([isHeld(true), isHeld(false)]).toEqual([true, !isRoot || freeUser() !== null])
    expect(wordsOf(null)).toContain('CHROMIUM_NO_SANDBOX=1')
    expect(holdOf(true)).toMatchObject({ hasSandbox: false })
  })

  test('without a Chromium it says what to install', async () => {
    const path = process.env.PATH
    process.env.PATH = '/nowhere'
    try {
      const { status, body } = await scanner.analyse('pagespeed', `http://127.0.0.1:${content.port}/help`)
      expect([status, body.code, body.detail]).toEqual([502, 'upstream_unavailable', expect.stringContaining('install chromium')])
    } finally {
      process.env.PATH = path
    }
  })
})
