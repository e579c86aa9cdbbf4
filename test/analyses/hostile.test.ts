import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { http, openScanner, rawShop, type Raw, type RawShop } from './scanner.ts'

const HTML = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n'
const drip = (write: () => void, ms: number) => setInterval(write, ms)
const bomb = Buffer.alloc(200 * 1_048_576, '<a>')
const packed = (encoding: string, body: Buffer) => http(body, { 'content-encoding': encoding })
/** Packed once: that takes seconds. */
const BOMBS = {
  gzip: packed('gzip', gzipSync(bomb)),
  br: packed('br', brotliCompressSync(bomb.subarray(0, 50_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })),
  zstd: packed('zstd', zstdCompressSync(bomb)),
}

/** Shops that mean ill, by path: what becomes of a look at them, within a bound of seconds. */
const SHOPS: Record<string, { raw: Raw; status: number; seconds: number; says?: RegExp }> = {
  'gzip bomb': { raw: (socket) => socket.end(BOMBS.gzip), status: 200, seconds: 4 },
  'brotli bomb': { raw: (socket) => socket.end(BOMBS.br), status: 200, seconds: 4 },
  'zstd bomb': { raw: (socket) => socket.end(BOMBS.zstd), status: 200, seconds: 4 },
  'broken gzip': {
    raw: (socket) => socket.end(packed('gzip', gzipSync('<title>x</title>'.repeat(999)).subarray(0, 60))),
    status: 502,
    seconds: 3,
  },
  'unknown encoding': { raw: (socket) => socket.end(packed('rot13', Buffer.from('x'))), status: 502, seconds: 3 },
  'endless body': {
    raw: (socket) => {
      socket.write(`${HTML}\r\n`)
      const piece = Buffer.alloc(65_536, '<p>x</p>')
      const more = () => {
        while (!socket.destroyed && socket.write(piece));
      }
      socket.on('drain', more)
      more()
    },
    status: 200,
    seconds: 4,
  },
  'slow headers': {
    raw: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = drip(() => socket.write('x-a: b\r\n'), 300)
      socket.on('close', () => clearInterval(timer))
    },
    status: 502,
    seconds: 7,
    says: /within 5 s/,
  },
  'slow body': {
    raw: (socket) => {
      socket.write(`${HTML}\r\n<html><head>`)
      const timer = drip(() => socket.write('<meta name=a>'), 300)
      socket.on('close', () => clearInterval(timer))
    },
    status: 502,
    seconds: 14,
    says: /12 seconds/,
  },
  silence: { raw: () => {}, status: 502, seconds: 7, says: /within 5 s/ },
  '200 KB of headers': {
    raw: (socket) => socket.end(`${HTML}${'x-padding: '.padEnd(110, 'a')}\r\n`.repeat(2_000) + '\r\n<title>x</title>'),
    status: 502,
    seconds: 3,
  },
  '150 headers': {
    raw: (socket) =>
      socket.end(`${HTML}${Array.from({ length: 150 }, (_, i) => `x-${i}: a\r\n`).join('')}connection: close\r\n\r\n<title>x</title>`),
    status: 200,
    seconds: 3,
  },
  'a thousand redirects': {
    raw: (socket, { path }) => socket.end(http('', { location: `${path}x` }, '302 Found')),
    status: 502,
    seconds: 3,
    says: /redirects more than 5 times/,
  },
  'a circle': {
    raw: (socket, { path }) => socket.end(http('', { location: path }, '301 Moved')),
    status: 502,
    seconds: 3,
    says: /redirects/,
  },
  'nothing said': { raw: (socket) => socket.end(), status: 502, seconds: 3, says: /broke off/ },
  reset: { raw: (socket) => socket.resetAndDestroy(), status: 502, seconds: 3, says: /broke off/ },
  'half a body': {
    raw: (socket) => socket.end(`${HTML}content-length: 1000\r\n\r\n<html><head><title>ha`),
    status: 502,
    seconds: 3,
    says: /broke off/,
  },
  'no HTTP': { raw: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), status: 502, seconds: 3, says: /does not speak HTTP/ },
  'other words': {
    raw: (socket) => socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    status: 502,
    seconds: 3,
  },
  'two lengths': { raw: (socket) => socket.end(`${HTML}content-length: 5\r\ncontent-length: 6\r\n\r\n<html>`), status: 502, seconds: 3 },
  'bad chunks': { raw: (socket) => socket.end(`${HTML}transfer-encoding: chunked\r\n\r\nZZ\r\nabc`), status: 502, seconds: 3 },
  'broken charset': {
    raw: (socket) =>
      socket.end(
        http(Buffer.from('<meta charset="nonsense"><title>caf\xe9 \x80</title>', 'latin1'), {
          'content-type': 'text/html; charset=klingon',
        }),
      ),
    status: 200,
    seconds: 3,
  },
  'deep nesting': { raw: (socket) => socket.end(http('<a>'.repeat(300_000) + '</b>'.repeat(150_000))), status: 200, seconds: 4 },
  'an endless tag': { raw: (socket) => socket.end(http(`<html ${'a '.repeat(700_000)}`)), status: 200, seconds: 4 },
  'many attributes': {
    raw: (socket) => socket.end(http(`<script ${Array.from({ length: 200_000 }, (_, i) => `a${i}=b`).join(' ')}></script>`)),
    status: 200,
    seconds: 4,
  },
  'many entities': { raw: (socket) => socket.end(http(`<title>${'&amp;'.repeat(400_000)}</title>`)), status: 200, seconds: 4 },
  'many scripts': { raw: (socket) => socket.end(http('<script src=//a.com/b.js></script>'.repeat(60_000))), status: 200, seconds: 4 },
  'many meta tags': { raw: (socket) => socket.end(http('<meta name="og:title" content="x">'.repeat(60_000))), status: 200, seconds: 4 },
  'one long line of spaces': { raw: (socket) => socket.end(http(`<title>${' '.repeat(2_000_000)}x</title>`)), status: 200, seconds: 4 },
  'deep JSON': {
    raw: (socket) => socket.end(http(`<script type="application/ld+json">${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}</script>`)),
    status: 200,
    seconds: 4,
  },
  'surrogates and controls': {
    raw: (socket) => socket.end(http('<title>\u0000\ud800 &#xD800; &#x0; &#x110000; \u202e</title>')),
    status: 200,
    seconds: 3,
  },
  'long policies': {
    raw: (socket) => socket.end(http('<title>x</title>', { 'content-security-policy': `default-src ${'a.com/b/c '.repeat(4_000)}` })),
    status: 200,
    seconds: 4,
  },
}

let shop: RawShop
let scanner: Awaited<ReturnType<typeof openScanner>>
const names = Object.keys(SHOPS)
beforeAll(async () => {
  shop = await rawShop((socket, request) => {
    const name = names[Number(/^\/(\d+)/.exec(request.path)?.[1])]
    if (name) SHOPS[name]!.raw(socket, request)
    else socket.end(http('no', {}, '404 Not Found'))
  })
  scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${shop.port}` })
}, 60_000)
afterAll(async () => {
  await scanner?.stop()
  await shop?.close()
})

const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const analystOf = () =>
  Number(
    Bun.spawnSync(['pgrep', '-n', '-P', String(process.pid), '-f', 'analyses/analyst.ts'])
      .stdout.toString()
      .trim(),
  )

const READERS = ['store-scan', 'fetch-page-meta']

/** What becomes of a look at one of them. */
async function look(operation: string, name: string) {
  const { status, seconds, says } = SHOPS[name]!
  const started = performance.now()
  const answer = await scanner.analyse(operation, `http://127.0.0.1:${shop.port}/${names.indexOf(name)}`)
  // A head that is read to its end needs no more of its page.
  const isHead = operation === 'fetch-page-meta' && answer.status === 200
  expect([operation, name, answer.status]).toEqual([operation, name, isHead ? 200 : status])
  expect((performance.now() - started) / 1000).toBeLessThan(seconds)
  if (answer.status !== 502) return expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.body).toMatchObject({ code: 'upstream_unavailable', title: expect.any(String), resolution: expect.any(String) })
  if (says) expect(answer.body.detail).toMatch(says)
  expect(answer.body.detail).not.toContain('127.0.0.1')
}

/** Those take their time by what they are: all of them at once. */
const SLOW = ['slow headers', 'slow body', 'silence']

test('those that take their time are given up when it is over', async () => {
  await Promise.all(READERS.flatMap((operation) => SLOW.map((name) => look(operation, name))))
}, 20_000)

describe.each(READERS)('%s', (operation) => {
  test.each(names.filter((name) => !SLOW.includes(name)))('%s', (name) => look(operation, name), 20_000)
})

test('a flood of all of them at once takes no memory that stays, and leaves the site answering', async () => {
  await scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/nothing`)
  const analyst = analystOf()
  const [here, there] = [memoryOf(process.pid), memoryOf(analyst)]
  const asked = names.map((_, i) => scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/${i}?flood`))
  expect((await scanner.ask('/healthz')).status).toBe(200)
  const answers = await Promise.all(asked)
  expect(answers.filter(({ status }) => ![200, 502, 503].includes(status))).toEqual([])
  expect(answers.filter(({ status }) => status === 503).length).toBe(Math.max(0, names.length - 20))
  console.log(
    `memory: here +${Math.round(memoryOf(process.pid) - here)} MB, in the process that analyses +${Math.round(memoryOf(analyst) - there)} MB`,
  )
  for (let i = 0; i < 50 && shop.open(); i++) await Bun.sleep(100)
  // No connection is left behind.
  expect(shop.open()).toBe(0)
}, 60_000)

test('a process that is held or dies is ended and made anew; what it had is told as not answered', async () => {
  const asked = scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/${names.indexOf('silence')}?held`)
  await Bun.sleep(300)
  process.kill(analystOf(), 'SIGKILL')
  expect((await asked).body).toMatchObject({ status: 502, code: 'upstream_unavailable' })
  expect((await scanner.analyse('fetch-page-meta', `http://127.0.0.1:${shop.port}/${names.indexOf('many meta tags')}?after`)).status).toBe(
    200,
  )
})

test('who goes away ends what nobody else wants', async () => {
  const control = new AbortController()
  const url = `http://site.test/api/store-scan?url=${encodeURIComponent(`http://127.0.0.1:${shop.port}/${names.indexOf('silence')}?gone`)}`
  const asked = scanner.front.answer(new Request(url, { signal: control.signal, headers: { 'x-forwarded-for': '198.18.0.1' } }))
  for (let i = 0; i < 50 && !shop.open(); i++) await Bun.sleep(20)
  expect(shop.open()).toBe(1)
  control.abort()
  await asked
  for (let i = 0; i < 50 && shop.open(); i++) await Bun.sleep(20)
  expect(shop.open()).toBe(0)
})

test('a page that holds the process is told so, and who waits beside it gets a report', async () => {
  const paths = ['many meta tags', 'silence', 'deep nesting'].map((name) => `${names.indexOf(name)}?stopped`)
  const asked = paths.map((path) => scanner.analyse('store-scan', `http://127.0.0.1:${shop.port}/${path}`))
  for (let i = 0; i < 200 && !(shop.asked.at(-1) ?? '').includes('stopped'); i++) await Bun.sleep(5)
  const held = analystOf()
  process.kill(held, 'SIGSTOP')
  const answers = await Promise.all(asked)
  // All but the one that is silent anyway; at most one of them is taken for what held it.
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
  expect(analystOf()).not.toBe(held)
}, 30_000)

describe('what a stranger found: time that grew with the square of a page', () => {
  const sources = (n: number, of = (i: number) => `a${i}.com`) => Array.from({ length: n }, (_, i) => of(i)).join(' ')
  const policy = (text: string) => `<meta http-equiv="Content-Security-Policy" content="script-src ${text}">`
  const spaces = ' '.repeat(1_900_000)
  const CASES: Record<string, Buffer> = {
    'spaces in a number': http(`<meta property="og:image:width" content="1${spaces}x">`),
    'two policies': http(policy(sources(20_000)) + policy(sources(20_000, (i) => `b${i}.com`))),
    'the same policy in two spellings': http(policy(sources(20_000, (i) => `%61${i}.com/`)) + policy(sources(20_000, (i) => `a${i}.com/`))),
  }
  test.each(Object.keys(CASES))(
    '%s',
    async (name) => {
      const other = await rawShop((socket, { path }) => socket.end(path === '/' ? CASES[name]! : http('no', {}, '404 Not Found')))
      const own = await openScanner({ FETCH_ALLOW: `127.0.0.1:${other.port}` })
      for (const operation of ['store-scan', 'fetch-page-meta']) {
        const started = performance.now()
        expect((await own.analyse(operation, `http://127.0.0.1:${other.port}/`)).status).toBe(200)
        expect(performance.now() - started).toBeLessThan(4_000)
      }
      await Promise.all([own.stop(), other.close()])
    },
    20_000,
  )

  test('a report stays small, whatever a shop says', async () => {
    const long = 'x'.repeat(400_000)
    const other = await rawShop((socket, { path }) => {
      if (path === '/robots.txt')
        return socket.end(
          http(`User-agent: *\nDisallow: /${long}*\nDisallow: /\nAllow: /*${'*'.repeat(300_000)}\nSitemap: http://127.0.0.1/${long}\n`, {
            'content-type': 'text/plain',
          }),
        )
      socket.end(
        http(`<html lang="${long}"><title>${long}</title>${'<script src="//a.com/b.js"></script>'.repeat(20_000)}`, {
          'x-frame-options': long.slice(0, 30_000),
        }),
      )
    })
    const own = await openScanner({ FETCH_ALLOW: `127.0.0.1:${other.port}` })
    const { status, text } = await own.analyse('store-scan', `http://127.0.0.1:${other.port}/`)
    expect([status, text.length < 40_000]).toEqual([200, true])
    await Promise.all([own.stop(), other.close()])
  })
})
