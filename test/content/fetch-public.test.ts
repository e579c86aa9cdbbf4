import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { publicFetch, type FetchLimits } from '../../api/outside/fetch-public.ts'
import { NotFetched } from '../../api/outside/not-fetched.ts'
import { resolverAt } from '../../api/outside/resolver.ts'
import { isPublic } from '../../api/values/public-address.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { CERTIFICATE, KEY } from './certificate.ts'
import { form, png } from './pictures.ts'

const LIMITS: FetchLimits = { maxBytes: 1_000, maxMs: 2_000, accept: 'image/*' }
/** Requests that reached the server, as `host path`. */
let reached: string[] = []
let looked: string[] = []
let image: Uint8Array
let app: TestApp
let shop: Shop
/** What `/wait` waits for. */
let go = () => {}
const waits = new Promise<void>((resolve) => (go = resolve))
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    reached.push(`${request.headers.get('host')} ${pathname}`)
    if (pathname === '/to') return new Response(null, { status: 302, headers: { location: searchParams.get('url')! } })
    if (pathname === '/loop') return new Response(null, { status: 301, headers: { location: '/loop' } })
    if (pathname === '/missing') return new Response('no', { status: 404 })
    if (pathname === '/bytes') return new Response('x'.repeat(Number(searchParams.get('n'))))
    if (pathname === '/wait') await waits
    if (pathname === '/hang') return new Promise(() => {})
    if (pathname === '/text') return new Response('<svg xmlns="http://www.w3.org/2000/svg"/>', { headers: { 'content-type': 'image/png' } })
    if (pathname === '/stream') {
      const pull = async (controller: ReadableStreamDefaultController) => {
        await Bun.sleep(Number(searchParams.get('ms')))
        controller.enqueue(new Uint8Array(400))
      }
      return new Response(new ReadableStream({ pull }))
    }
    return new Response(image as Uint8Array<ArrayBuffer>, { headers: { 'content-type': 'text/html' } })
  },
})
const PORT = server.port!
const NAMES: Record<string, string[]> = {
  'pics.test': ['127.0.0.1'],
  'inside.test': ['127.0.0.1'],
  'both.test': ['93.184.216.34', '127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'six.test': ['::1'],
  'mapped.test': ['::ffff:10.0.0.1'],
  'empty.shop': [],
}
const lookup = async (name: string) => {
  looked.push(name)
  if (!NAMES[name]) throw new Error('ENOTFOUND')
  return NAMES[name]
}
const fetchPublic = publicFetch({ allow: [`127.0.0.1:${PORT}`, `pics.test:${PORT}`], lookup })
const refusal = (url: string, limits: Partial<FetchLimits> = {}, fetch = fetchPublic): Promise<string> =>
  fetch(url, { ...LIMITS, ...limits }).then(
    () => Promise.reject(new Error(`${url} was read`)),
    (error) => (error instanceof NotFetched ? error.message : Promise.reject(error)),
  )
const PRIVATE = 'it leads to an address that is not public'

beforeAll(async () => {
  image = await png(30, 20)
  app = await testApp({ fetchPublic })
  shop = await newShop(app)
})
afterEach(() => {
  reached = []
  looked = []
})
afterAll(async () => {
  await server.stop(true)
  await app.close()
})

describe('which addresses are public', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '169.253.1.1',
    '2606:4700:4700::1111',
    '2000::1',
    '3ffe::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ])('%s is', (address) => expect(isPublic(address)).toBe(true))

  test.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ...['100.64.0.1', '192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001::1',
      'fe80::1',
      'fc00::1',
    ],
    // IPv4-compatible, translated, and through a gateway: whatever they carry.
    ...['::7f00:1', '::8.8.8.8', '::a9fe:a9fe', '::2', '::ffff:0:8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b::a00:1', '64:ff9b:1::808:808'],
    ...['2002:808:808::1', '2002:a00:1::1', '2001:0:808:808::1', '2001:2::1', '2001:10::1', '2001:20::1', '::ffff:169.254.169.254'],
    // Outside of what is given out, and parts of it that are kept for something else.
    ...[
      '200::1',
      '400::1',
      '1000::1',
      '1fff:ffff::1',
      '4000::1',
      '5f00::1',
      '8000::1',
      'e000::1',
      'fe00::1',
      '3fff::1',
      '2606:4700::1%eth0',
    ],
    ...['fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1', 'localhost', '', '1.2.3'],
  ])('%s is not', (address) => expect(isPublic(address)).toBe(false))
})

describe('what leads inside is refused', () => {
  test.each([
    ...['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0'],
    ...[
      '[::]',
      '[64:ff9b::127.0.0.1]',
      '[fe80::1]',
      '169.254.169.254',
      '10.0.0.1',
      '192.168.0.1',
      '１２７.0.0.1',
      'inside.test',
      'both.test',
    ],
    ...['INSIDE.test', 'inside.test.', 'metadata.test', 'six.test', 'mapped.test'],
  ])('http://%s/', async (host) => {
    const elsewhere = publicFetch({ allow: [], lookup })
    expect(await refusal(`http://${host}:${PORT}/`, {}, elsewhere)).toBe(PRIVATE)
    expect(reached).toEqual([])
  })

  test('and so is the name of this machine, as the system resolves it', async () => {
    expect(await refusal(`http://localhost:${PORT}/`, {}, publicFetch({ allow: [], lookup: resolverAt([]).addresses }))).toBe(PRIVATE)
    expect(reached).toEqual([])
  })

  test('a port beside the one that is allowed', async () => {
    expect(await refusal(`http://127.0.0.1:${PORT + 1}/`)).toBe(PRIVATE)
    expect(await refusal('http://127.0.0.1/')).toBe(PRIVATE)
    expect(await refusal(`http://inside.test:${PORT}/`)).toBe(PRIVATE)
  })

  test('names that are nobody’s in the public DNS, and ports beside those of the web, are refused before anything is looked up', async () => {
    const everywhere = publicFetch({ allow: [], lookup: async (name) => (looked.push(name), ['93.184.216.34']), own: ['shop.ours.com'] })
    const names = [
      'localhost',
      'a.localhost',
      'printer.local',
      'db.internal',
      'x.test',
      'x.invalid',
      'shop.example',
      'x.onion',
      'nas.home.arpa',
    ]
    for (const name of [...names, 'NAS.Home.Arpa.', 'intranet', '168.63.129.16', '100.100.100.200', '[fd00:ec2::254]'])
      expect([name, await refusal(`https://${name}/`, {}, everywhere)]).toEqual([name, PRIVATE])
    expect(await refusal('https://shop.ours.com/', {}, everywhere)).toBe('it leads to this very server')
    for (const port of [1, 22, 25, 8080, 65_535])
      expect(await refusal(`https://shop.com:${port}/`, {}, everywhere)).toBe('its port is neither 80 nor 443')
    expect(looked).toEqual([])
  })

  test.each(['file:///etc/passwd', 'ftp://pics.test/x', 'data:image/png;base64,AA', 'gopher://127.0.0.1/', 'javascript:alert(1)', 'x', ''])(
    '%s is no web address',
    async (url) => expect(await refusal(url)).toBe('it does not lead to an http or https address'),
  )

  test('a user in it is refused: it hides where it leads', async () => {
    expect(await refusal(`http://pics.test@127.0.0.1:${PORT}/`)).toMatch('user')
  })

  test('a redirect is looked at as the first address was', async () => {
    const to = (url: string) => refusal(`http://pics.test:${PORT}/to?url=${encodeURIComponent(url)}`)
    expect(await to(`http://inside.test:${PORT}/secret`)).toBe(PRIVATE)
    expect(await to('http://169.254.169.254/latest/meta-data/')).toBe(PRIVATE)
    expect(await to('file:///etc/passwd')).toBe('it does not lead to an http or https address')
    expect(await to(`//0x7f.1:${PORT + 1}/`)).toBe(PRIVATE)
    expect(reached).toEqual(Array(4).fill(`pics.test:${PORT} /to`))
  })

  test('a name that changes its mind is asked once, and the answer that was checked is where the connection goes', async () => {
    let asked = 0
    const rebinding = async () => (asked++ ? ['127.0.0.1'] : ['192.0.1.1'])
    // The first answer is public, and nobody is there; the second one is this machine.
    expect(await refusal(`http://rebind.shop/`, { maxMs: 500 }, publicFetch({ allow: [], lookup: rebinding }))).not.toBe(PRIVATE)
    expect([asked, reached]).toEqual([1, []])
    // No other resolver knows this name: what was reached is what `lookup` said.
    await fetchPublic(`http://pics.test:${PORT}/`, LIMITS)
    expect([looked, reached]).toEqual([['pics.test'], [`pics.test:${PORT} /`]])
  })
})

describe('bounds', () => {
  test('as many bytes as may be are read, announced or not, and no more', async () => {
    expect((await fetchPublic(`http://127.0.0.1:${PORT}/bytes?n=1000`, LIMITS)).bytes.length).toBe(1_000)
    expect(await refusal(`http://127.0.0.1:${PORT}/bytes?n=1001`)).toBe('it has more than 1000 bytes')
    expect(await refusal(`http://127.0.0.1:${PORT}/stream?ms=0`)).toBe('it has more than 1000 bytes')
  })

  test('the time is that of all together', async () => {
    for (const path of ['hang', 'stream?ms=200'])
      expect(await refusal(`http://127.0.0.1:${PORT}/${path}`, { maxMs: 300, maxBytes: 1e6 })).toBe('it took longer than 0.3 seconds')
    const never = publicFetch({ allow: [], lookup: () => new Promise(() => {}) })
    expect(await refusal('http://slow.shop/', { maxMs: 100 }, never)).toBe('it took longer than 0.1 seconds')
  })

  test('three redirects are followed, a circle is not', async () => {
    const to = (url: string) => `http://pics.test:${PORT}/to?url=${encodeURIComponent(url)}`
    const { bytes, url } = await fetchPublic(to(to(to(`http://pics.test:${PORT}/a.png`))), LIMITS)
    expect([bytes, url.pathname]).toEqual([image, '/a.png'])
    expect(await refusal(`http://pics.test:${PORT}/loop`)).toBe('it redirects more than 3 times')
  })

  test('what is not there is not read', async () => {
    expect(await refusal(`http://pics.test:${PORT}/missing`)).toBe('its server answers 404')
    for (const host of ['nobody.shop', 'empty.shop']) expect(await refusal(`http://${host}/`)).toBe('its host does not exist')
  })

  test('an answer that breaks off is none', async () => {
    const broken: Server = createServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
    })
    await new Promise<void>((ready) => broken.listen(0, '127.0.0.1', ready))
    const { port } = broken.address() as { port: number }
    const fetch = publicFetch({ allow: [`127.0.0.1:${port}`], lookup })
    expect(await refusal(`http://127.0.0.1:${port}/`, {}, fetch)).toMatch(/^its server/)
    broken.close()
    expect(await refusal(`http://127.0.0.1:${port}/`, {}, fetch)).toBe('its server refuses the connection')
  })
})

test('over https the certificate is that of the name, not of the address', async () => {
  const folder = folderFor('tls')
  const trusted = join(folder, 'certificate.pem')
  writeFileSync(trusted, CERTIFICATE)
  const tls = { key: KEY, cert: CERTIFICATE }
  const secure = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: (request) => new Response(request.headers.get('host')) })
  const read = async (name: string, env: Record<string, string>) => {
    const url = `https://${name}:${secure.port}/`
    const child = Bun.spawn([process.execPath, 'test/content/fetch-child.ts', url], {
      env: { PATH: process.env.PATH!, ...env },
      stderr: 'inherit',
    })
    return (await new Response(child.stdout).text()).trim()
  }
  const trusting = { NODE_EXTRA_CA_CERTS: trusted }
  expect(await read('pics.test', trusting)).toBe(`pics.test:${secure.port}`)
  expect(await read('other.test', trusting)).toBe('its certificate is for another name')
  expect(await read('pics.test', {})).toBe('its certificate is not from a known authority')
  await secure.stop(true)
  rmSync(folder, { recursive: true })
})

describe('POST /media with a url', () => {
  const add = (url: string, more: object = {}) => shop.post('/media', { url, ...more })

  test('keeps what is there, under the name that it has there', async () => {
    const body = made(await add(`http://pics.test:${PORT}/shirts/linen%20shirt.png?v=2`, { alt: 'A shirt', feedAccount: 'nord' }))
    expect(body).toMatchObject({ name: 'linen shirt.png', type: 'image/png', width: 30, height: 20, alt: 'A shirt', feedAccount: 'nord' })
    expect(body.url).toContain(`/cdn/${shop.store.id}/live/${body.id}/image.png`)
    expect((await app.app.fetch(new Request(body.url))).status).toBe(200)
    expect(made(await add(`http://pics.test:${PORT}/`)).name).toBe('image.png')
    expect(made(await add(`http://pics.test:${PORT}/%E0%A4%A`, { name: 'Mine' })).name).toBe('Mine')
  })

  test.each([
    ['http://169.254.169.254/latest/meta-data/', `url: can't be fetched: ${PRIVATE}`],
    [`http://inside.test:${PORT}/`, `url: can't be fetched: ${PRIVATE}`],
    ['http://nobody.shop/a.png', "url: can't be fetched: its host does not exist"],
    [`http://pics.test:${PORT}/missing`, "url: can't be fetched: its server answers 404"],
    [`http://pics.test:${PORT}/text`, 'url: must be a JPEG, PNG, WebP or GIF image'],
    [`http://pics.test:${PORT}/bytes?n=0`, 'url: is empty'],
    ['file:///etc/passwd', 'url: must be an http(s) URL'],
    ['/cdn/x.png', 'url: must be an http(s) URL'],
  ])('%s is 400', async (url, error) => {
    const answer = await add(url)
    expect([paths(answer), answer.body.error]).toEqual([['url'], error])
  })

  test('what is wrong beside it is told before anything is fetched', async () => {
    expect(paths(await add(`http://pics.test:${PORT}/`, { takenAt: 'x' }))).toEqual(['takenAt'])
    expect((await shop.post('/media', {})).body.details).toEqual([{ code: 'required', message: 'is required', path: ['url'] }])
    expect(reached).toEqual([])
  })

  test('while another server takes its time, the store is changed', async () => {
    const slow = shop.post('/media', { url: `http://pics.test:${PORT}/wait` }, { headers: { 'idempotency-key': 'slow' } })
    while (!reached.length) await Bun.sleep(1)
    made(await shop.call('POST', '/media', undefined, { raw: form(image) }))
    go()
    expect(made(await slow).name).toBe('wait')
  })
})
