import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../../api/server/log.ts'
import { secretsWith } from '../../api/outside/secrets.ts'
import { carriersDouble, type CarriersDouble } from '../doubles/carriers.ts'
import { testApp, type CallOptions, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

const secrets = secretsWith('b1946ac92492d2347c6235b4d2611184f00ba8e1')
let carriers: CarriersDouble
let app: TestApp
let shop: Shop
/** All that was answered and logged, for the last test. */
const said: string[] = []
beforeAll(async () => {
  carriers = carriersDouble()
  app = await testApp({ carriers: carriers.urls, secrets, log: createLog('debug', { write: (text) => void said.push(text) }) })
  const { fetch } = app.app
  app.app.fetch = async (request) => {
    const response = await fetch(request)
    said.push(JSON.stringify([...response.headers]) + (await response.clone().text()))
    return response
  }
})
beforeEach(async () => {
  shop = await newShop(app)
  carriers.reset()
})
afterAll(async () => {
  await app.close()
  carriers.close()
})

const put = (name: string, body: unknown, options?: CallOptions) => shop.call('PUT', `/addons/${name}`, body, options)
const a = (more: object = {}) => ({ environment: 'live', login: carriers.known.login, password: carriers.known.password, ...more })
const b = (more: object = {}) => ({ environment: 'live', orgId: carriers.known.orgId, token: carriers.known.token, ...more })
const bodyOf = (name: string, more: object = {}) => (name === 'carrier_a' ? a(more) : b(more))
const read = async (name: string, options?: CallOptions) => made(await shop.get(`/addons/${name}`, options))
const credentials = async (name: string, environment: string, data: 'live' | 'sandbox' = 'live') => {
  const [[text] = [null]] = await shop.rows(sql`select ${sql.raw(environment)} from addons where name = ${name}`, data)
  return text === null ? null : secrets.open(text, `addon ${name} ${environment}`)
}
/** carrier_c connects by OAuth, which the store's own panel does. */
const connectC = () =>
  app.handles.use(shop.store.id, 'live', (handle) =>
    handle.write(async (tx) => {
      await tx.run(
        sql`insert into addons (id, name, config, created_at, updated_at) values (${Bun.randomUUIDv7()}, 'carrier_c', '{}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
      )
    }),
  )
const unconnected = { type: 'shipping', connected: false, environments: null, config: null, createdAt: null, updatedAt: null }
const connectedA = (live: boolean, test: boolean, labelMode = 'one_label_on_a4_pdf') => ({
  name: 'carrier_a',
  type: 'shipping',
  connected: true,
  manageable: true,
  environments: { live: { configured: live }, test: { configured: test } },
  config: { labelMode },
  createdAt: expect.any(String),
  updatedAt: expect.any(String),
})

describe('GET /addons', () => {
  test('lists the carriers that the API could connect, and those that are connected', async () => {
    expect(made(await shop.get('/addons'))).toEqual({
      data: [
        { name: 'carrier_a', manageable: true, ...unconnected },
        { name: 'carrier_b', manageable: true, ...unconnected },
      ],
      meta: { count: 2 },
    })
    made(await put('carrier_a', a()))
    await connectC()
    const { data, meta } = made(await shop.get('/addons'))
    expect(meta).toEqual({ count: 3 })
    expect(data).toEqual([
      connectedA(true, false),
      { name: 'carrier_b', manageable: true, ...unconnected },
      {
        name: 'carrier_c',
        ...unconnected,
        connected: true,
        manageable: false,
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.000Z',
      },
    ])
  })

  test.each([
    ['shipping', 2],
    ['analytics', 0],
    ['products', 0],
    ['invoicing', 0],
    ['orders', 0],
  ])('type=%s lists %i', async (type, count) => {
    const { data, meta } = made(await shop.get(`/addons?type=${type}`))
    expect([data.length, meta]).toEqual([count, { count }])
  })

  test.each(['carrier', '', 'SHIPPING'])('type=%s is 400', async (type) => {
    expect(paths(await shop.get(`/addons?type=${type}`))).toEqual(['type'])
  })

  test.each(['carrier_a', 'carrier_b', 'carrier_c'])('%s can be read while it is not connected', async (name) => {
    expect(await read(name)).toEqual({ name, manageable: name !== 'carrier_c', ...unconnected })
  })

  test('an addon that there is none of is 404', async () => {
    expect((await shop.get('/addons/carrier_d')).status).toBe(404)
  })

  test('reading needs settings:read, changing settings:write', async () => {
    const [reader, writer] = [await shop.keyWith('settings:read'), await shop.keyWith('settings:write')]
    expect((await shop.get('/addons', { key: reader })).status).toBe(200)
    expect((await put('carrier_a', a(), { key: writer })).status).toBe(200)
    for (const [method, path, key, scope] of [
      ['GET', '/addons', writer, 'settings:read'],
      ['GET', '/addons/carrier_a', writer, 'settings:read'],
      ['PUT', '/addons/carrier_a', reader, 'settings:write'],
      ['DELETE', '/addons/carrier_a', reader, 'settings:write'],
    ] as const) {
      const { status, body } = await shop.call(method, path, undefined, { key })
      expect([status, body.error]).toEqual([403, expect.stringContaining(scope)])
    }
  })
})

describe('PUT /addons/carrier_a and carrier_b', () => {
  test('asks carrier_a as it wants to be asked, and stores what it accepts', async () => {
    const { status, body } = await put('carrier_a', a({ labelMode: 'roll_160x100_printer_a' }))
    expect([status, body]).toEqual([200, connectedA(true, false, 'roll_160x100_printer_a')])
    const { login, password } = carriers.known
    expect(carriers.seen).toEqual([
      { method: 'POST', path: 'carrier_a/live/auth/verify', headers: expect.anything(), body: { login, password } },
    ])
    expect(await read('carrier_a')).toEqual(body)
    expect(await credentials('carrier_a', 'live')).toEqual({ login, password, trackApiUser: null, trackApiPassword: null })
  })

  test('asks carrier_b as it wants to be asked, and stores what it accepts', async () => {
    const { status, body } = await put('carrier_b', b({ environment: 'test', geowidgetToken: 'map', fallbackTemplate: 'medium' }))
    expect([status, body]).toEqual([
      200,
      {
        ...connectedA(false, true),
        name: 'carrier_b',
        config: { fallbackTemplate: 'medium' },
      },
    ])
    const { orgId, token } = carriers.known
    expect(carriers.seen).toMatchObject([
      { method: 'GET', path: `carrier_b/test/v1/organizations/${orgId}`, headers: { authorization: `Bearer ${token}` }, body: null },
    ])
    expect(await credentials('carrier_b', 'test')).toEqual({ orgId, token, geowidgetToken: 'map' })
  })

  test('environments are apart; what holds for both stays until it is given', async () => {
    const first = made(await put('carrier_a', a({ labelMode: 'roll_160x100_pdf' })))
    app.clock.advance(1000)
    const second = made(await put('carrier_a', a({ environment: 'test' })))
    app.clock.real()
    expect(second).toEqual(connectedA(true, true, 'roll_160x100_pdf'))
    expect([second.createdAt, second.updatedAt > first.updatedAt]).toEqual([first.createdAt, true])
    expect(carriers.seen.map(({ path }) => path)).toEqual(['carrier_a/live/auth/verify', 'carrier_a/test/auth/verify'])
    expect(made(await put('carrier_b', b())).config).toEqual({ fallbackTemplate: null })
    expect(made(await put('carrier_b', b({ fallbackTemplate: 'large' }))).config).toEqual({ fallbackTemplate: 'large' })
    expect(made(await put('carrier_b', b({ environment: 'test' }))).config).toEqual({ fallbackTemplate: 'large' })
    expect(made(await put('carrier_b', b({ fallbackTemplate: null }))).config).toEqual({ fallbackTemplate: null })
  })

  test('optional credentials that are left out or blank are cleared', async () => {
    for (const cleared of [{}, { geowidgetToken: '' }, { geowidgetToken: ' ' }, { geowidgetToken: null }]) {
      made(await put('carrier_b', b({ geowidgetToken: 'map' })))
      expect(await credentials('carrier_b', 'live')).toMatchObject({ geowidgetToken: 'map' })
      made(await put('carrier_b', b(cleared)))
      expect(await credentials('carrier_b', 'live')).toMatchObject({ geowidgetToken: null })
    }
    made(await put('carrier_a', a({ trackApiUser: 'tracker', trackApiPassword: 'secret' })))
    expect(await credentials('carrier_a', 'live')).toMatchObject({ trackApiUser: 'tracker', trackApiPassword: 'secret' })
    made(await put('carrier_a', a({ trackApiPassword: 'secret' })))
    expect(await credentials('carrier_a', 'live')).toMatchObject({ trackApiUser: null, trackApiPassword: null })
  })

  test.each([
    ['carrier_a', { password: 'wrong' }, 401, 'password'],
    ['carrier_a', { login: 'stranger' }, 403, 'login'],
    ['carrier_b', { token: 'wrong' }, 401, 'token'],
    ['carrier_b', { orgId: 'closed' }, 403, 'token'],
    ['carrier_b', { orgId: 'nobody' }, 404, 'orgId'],
  ])('%s rejects %j with %i: 400, and nothing is stored', async (name, change, _status, path) => {
    made(await put(name, bodyOf(name)))
    const before = await credentials(name, 'live')
    expect(paths(await put(name, bodyOf(name, change)))).toEqual([path])
    expect(await credentials(name, 'live')).toEqual(before)
    const other = await newShop(app)
    expect((await other.call('PUT', `/addons/${name}`, bodyOf(name, change))).status).toBe(400)
    expect(made(await other.get(`/addons/${name}`)).connected).toBe(false)
  })

  test.each([
    ['500', () => new Response(null, { status: 500 })],
    ['201', () => new Response(null, { status: 201 })],
    ['204', () => new Response(null, { status: 204 })],
    ['a redirect to what would accept', () => Response.redirect(`${carriers.urls.carrier_a.test}/auth/verify`, 307)],
    ['429', () => new Response(null, { status: 429 })],
  ])('%s is 502, and nothing is stored', async (_, instead) => {
    carriers.instead = instead
    for (const name of ['carrier_a', 'carrier_b']) {
      const { status, body } = await put(name, bodyOf(name))
      expect([status, body.error]).toEqual([502, expect.stringContaining(`${name} could not verify`)])
      expect((await read(name)).connected).toBe(false)
    }
    expect(carriers.seen).toHaveLength(2)
  })

  test('carrier_a knows no 404: 502', async () => {
    carriers.instead = () => new Response(null, { status: 404 })
    expect((await put('carrier_a', a())).status).toBe(502)
  })

  test('an answer without end is not read to its end', async () => {
    let sent = 0
    const endless = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            sent += 65_536
            controller.enqueue(new Uint8Array(65_536))
            await Bun.sleep(1)
          },
        }),
      )
    carriers.instead = endless
    expect((await put('carrier_b', b())).status).toBe(200)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('a carrier that can not be reached is 502; one without a URL is 502 that names the variable', async () => {
    const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const url = gone.url.origin
    await gone.stop(true)
    const apart = await testApp({ carriers: { carrier_a: { live: url, test: null }, carrier_b: { live: null, test: url } } })
    try {
      const other = await newShop(apart)
      const answers = await Promise.all([
        other.call('PUT', '/addons/carrier_a', a()),
        other.call('PUT', '/addons/carrier_a', a({ environment: 'test' })),
        other.call('PUT', '/addons/carrier_b', b()),
        other.call('PUT', '/addons/carrier_b', b({ environment: 'test' })),
      ])
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
        [502, 'carrier_a could not verify the credentials: it did not answer'],
        [502, expect.stringContaining('CARRIER_A_TEST_URL')],
        [502, expect.stringContaining('CARRIER_B_LIVE_URL')],
        [502, 'carrier_b could not verify the credentials: it did not answer'],
      ])
    } finally {
      await apart.close()
    }
  })

  test('a carrier that hangs delays nobody else, and is given up after 5 seconds', async () => {
    const letGo = carriers.hang()
    try {
      let answered = false
      const hanging = put('carrier_a', a()).finally(() => {
        answered = true
      })
      while (!carriers.seen.length) await Bun.sleep(1)
      // Writes of the same store, and of another one.
      for (let i = 0; i < 20; i++) await shop.method({ name: `Method ${i}` })
      made(await (await newShop(app)).get('/addons'))
      expect(answered).toBe(false)
      const { status, body } = await hanging
      expect([status, body.error]).toEqual([502, expect.stringContaining('did not answer')])
    } finally {
      letGo()
    }
    expect((await read('carrier_a')).connected).toBe(false)
  })

  test.each([
    ['carrier_a', 'environment', { environment: undefined }],
    ['carrier_a', 'environment', { environment: 'prod' }],
    ['carrier_a', 'login', { login: undefined }],
    ['carrier_a', 'login', { login: '' }],
    ['carrier_a', 'password', { password: undefined }],
    ['carrier_a', 'password', { password: '' }],
    ['carrier_a', 'password', { password: 5 }],
    ['carrier_a', 'labelMode', { labelMode: 'a4' }],
    ['carrier_b', 'environment', { environment: null }],
    ['carrier_b', 'token', { token: undefined }],
    ['carrier_b', 'token', { token: 'hunter2\r\nX-Other: 1' }],
    ['carrier_b', 'token', { token: 'hunter2 ł' }],
    ['carrier_b', 'orgId', { orgId: undefined }],
    ['carrier_b', 'orgId', { orgId: '..' }],
    ['carrier_b', 'orgId', { orgId: '' }],
    ['carrier_b', 'fallbackTemplate', { fallbackTemplate: 'huge' }],
  ])('%s: %s is 400 in %j, without asking the carrier', async (name, path, change) => {
    expect(paths(await put(name, bodyOf(name, change)))).toEqual([path])
    expect(carriers.seen).toEqual([])
  })

  test('an organisation is one part of the path, whatever it is called', async () => {
    expect((await put('carrier_b', b({ orgId: '../../etc?x=1#y' }))).status).toBe(400)
    expect(carriers.seen[0]!.path).toBe('carrier_b/live/v1/organizations/..%2F..%2Fetc%3Fx%3D1%23y')
  })

  test('PUT /addons/carrier_c is always 400', async () => {
    for (const body of [undefined, {}, a()]) {
      const { status, body: answer } = await put('carrier_c', body)
      expect([status, answer.error]).toEqual([400, expect.stringContaining('OAuth')])
    }
  })

  test('of two at once each is stored for its environment', async () => {
    const answers = await Promise.all([put('carrier_a', a()), put('carrier_a', a({ environment: 'test' }))])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await read('carrier_a')).toEqual(connectedA(true, true))
  })

  test('a stale If-Match is 412 and stores nothing', async () => {
    const { headers } = await shop.get('/addons/carrier_a')
    made(await put('carrier_a', a()))
    expect((await put('carrier_a', a({ environment: 'test' }), { headers: { 'if-match': headers.get('etag')! } })).status).toBe(412)
    expect(await read('carrier_a')).toEqual(connectedA(true, false))
  })
})

describe('the sandbox', () => {
  test('never reaches the real carrier: live is 400, test asks the test system', async () => {
    const key = shop.keys.staging
    expect(paths(await put('carrier_a', a(), { key }))).toEqual(['environment'])
    expect(paths(await put('carrier_b', b(), { key }))).toEqual(['environment'])
    expect(carriers.seen).toEqual([])
    made(await put('carrier_b', b({ environment: 'test' }), { key }))
    expect(carriers.seen.map(({ path }) => path)).toEqual([`carrier_b/test/v1/organizations/${carriers.known.orgId}`])
    expect((await read('carrier_b', { key })).environments).toEqual({ live: { configured: false }, test: { configured: true } })
    expect((await read('carrier_b')).connected).toBe(false)
  })
})

describe('DELETE /addons/{carrier}', () => {
  const link = (addonName: string, more: object = {}) =>
    shop.post('/shipping', { name: 'Linked', type: 'courier', price: 5, addonName, ...more })

  test.each(['carrier_a', 'carrier_b'])('%s is disconnected, once', async (name) => {
    made(await put(name, bodyOf(name)))
    expect((await shop.remove(`/addons/${name}`)).body).toEqual({ ok: true, deleted: 1 })
    expect(await read(name)).toEqual({ name, manageable: true, ...unconnected })
    expect((await shop.remove(`/addons/${name}`)).status).toBe(404)
    expect((await shop.remove(`/addons/${name}?environment=live`)).status).toBe(404)
  })

  test('one environment is cleared alone, and the addon stays connected', async () => {
    made(await put('carrier_a', a({ labelMode: 'roll_160x100_pdf' })))
    made(await put('carrier_a', a({ environment: 'test' })))
    expect((await shop.remove('/addons/carrier_a?environment=live')).body).toEqual({ ok: true, deleted: 1 })
    expect(await read('carrier_a')).toEqual(connectedA(false, true, 'roll_160x100_pdf'))
    expect((await shop.remove('/addons/carrier_a?environment=live')).status).toBe(404)
    expect((await shop.remove('/addons/carrier_a?environment=test')).status).toBe(200)
    expect(await read('carrier_a')).toEqual(connectedA(false, false, 'roll_160x100_pdf'))
    expect(paths(await shop.remove('/addons/carrier_a?environment=prod'))).toEqual(['environment'])
  })

  test('a carrier that shipping methods use is 409; one of its environments may go', async () => {
    made(await put('carrier_b', b()))
    const { id } = made(await link('carrier_b'))
    const { status, body } = await shop.remove('/addons/carrier_b')
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({ error: expect.stringContaining('a shipping method uses carrier_b'), methods: 1 }),
    ])
    expect((await shop.remove('/addons/carrier_b?environment=live')).status).toBe(200)
    made(await shop.remove(`/shipping/${id}`))
    expect((await shop.remove('/addons/carrier_b')).status).toBe(200)
  })

  test('carrier_c can be disconnected, and not while it is used', async () => {
    expect((await shop.remove('/addons/carrier_c')).status).toBe(404)
    await connectC()
    const { id } = made(await link('carrier_c', { addonData: { id: '1', name: 'Priority', service: 'priority' } }))
    expect((await shop.remove('/addons/carrier_c')).status).toBe(409)
    made(await shop.remove(`/shipping/${id}`))
    expect((await shop.remove('/addons/carrier_c')).body).toEqual({ ok: true, deleted: 1 })
    expect((await read('carrier_c')).connected).toBe(false)
  })

  test('racing with methods that are linked, it never leaves one without its carrier', async () => {
    for (let round = 0; round < 5; round++) {
      made(await put('carrier_a', a()))
      const racing = Array.from({ length: 6 }, (_, i) => (i === 3 ? shop.remove('/addons/carrier_a') : link('carrier_a')))
      const answers = await Promise.all(racing)
      const [removed] = answers.splice(3, 1)
      const linked = made(await shop.get('/shipping?limit=100')).data.filter(({ addonName }: any) => addonName === 'carrier_a')
      expect(answers.every(({ status }) => status === 201 || status === 400)).toBe(true)
      expect([removed!.status, (await read('carrier_a')).connected]).toEqual(linked.length ? [409, true] : [200, false])
      for (const { id } of linked) made(await shop.remove(`/shipping/${id}`))
      await shop.remove('/addons/carrier_a')
    }
  })
})

describe('credentials', () => {
  test('are stored encrypted, another time in other bytes', async () => {
    made(await put('carrier_a', a()))
    const [[first]] = (await shop.rows(sql`select live from addons`)) as [[string]]
    made(await put('carrier_a', a()))
    const [[second]] = (await shop.rows(sql`select live from addons`)) as [[string]]
    expect(first).toMatch(/^v1\.[\w-]{60,}$/)
    expect(second).not.toBe(first)
    for (const text of [first, second]) expect(Buffer.from(text.slice(3), 'base64url').toString('latin1')).not.toContain('hunter2')
  })

  test('never show in an answer, a log line or the audit log', async () => {
    const all = { trackApiUser: 'tracker', trackApiPassword: 'hunter2-tracks', geowidgetToken: 'hunter2-widget' }
    made(await put('carrier_a', a(all)))
    made(await put('carrier_b', b(all)))
    for (const more of [{ environment: 'nowhere' }, { labelMode: 'hunter2', fallbackTemplate: 'x' }, { login: 5, orgId: 5 }])
      for (const name of ['carrier_a', 'carrier_b']) expect((await put(name, bodyOf(name, more))).status).toBe(400)
    expect((await put('carrier_a', a({ password: ['hunter2-in-a-list'] }))).status).toBe(400)
    expect((await put('carrier_b', b({ token: 'hunter2 with space' }))).status).toBe(400)
    carriers.instead = () => Response.json({ error: 'hunter2-of-the-answer' }, { status: 500 })
    expect((await put('carrier_a', a())).status).toBe(502)
    made(await shop.get('/addons'))
    const trail = JSON.stringify(made(await shop.get('/audit-log')))
    expect(trail).toContain('/addons/carrier_a')
    const rows = JSON.stringify(await shop.rows(sql`select * from audit_log`))
    expect(trail + rows + said.join('\n')).not.toContain('hunter2-')
    expect(said.join('\n')).toContain('/addons/carrier_b')
  })
})
