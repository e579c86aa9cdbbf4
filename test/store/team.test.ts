import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { teamInvitations, teamMembers } from '../../db/store/store.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await app.newStore()
})
afterAll(() => app.close())

const invite = (email: string, role?: string, key?: string) => shop.call('POST', '/team/invitations', { email, role }, key ? { key } : {})
const accept = (body: unknown) => app.send('POST', '/team/invitations/accept', body)
const team = async (store = shop) => (await store.call('GET', '/team')).body.data as { id: string; email: string; role: string }[]

/** Someone who was invited and came. */
async function member(email: string, role = 'staff', store = shop): Promise<string> {
  const { body } = await store.call('POST', '/team/invitations', { email, role })
  const { status, body: joined } = await accept({ token: body.token, name: email.split('@')[0] })
  expect(status).toBe(201)
  return joined.id
}

const owners = async () => (await team()).filter(({ role }) => role === 'owner').map(({ email }) => email)

describe('GET /team', () => {
  test('lists members, oldest first, with the count of all', async () => {
    expect((await shop.call('GET', '/team')).body).toEqual({ data: [], meta: { count: 0 } })
    for (const name of ['ada', 'bob', 'cy']) await member(`${name}@example.com`)
    const { status, body } = await shop.call('GET', '/team?limit=2&offset=1')
    expect(status).toBe(200)
    expect(body).toEqual({
      data: ['bob', 'cy'].map((name) => ({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: `${name}@example.com`,
        name,
        role: 'staff',
        createdAt: expect.stringMatching(/T.*\.\d{3}Z$/),
      })),
      meta: { count: 3 },
    })
    expect((await shop.call('GET', '/team?offset=9')).body).toEqual({ data: [], meta: { count: 3 } })
  })

  test('a page has 50 unless told, and 1 to 100', async () => {
    const createdAt = new Date().toISOString()
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        for (let n = 0; n < 101; n++) {
          await tx.insert(teamMembers).values({ id: Bun.randomUUIDv7(), email: `m${n}@example.com`, name: null, role: 'staff', createdAt })
          await tx.insert(teamInvitations).values({
            id: Bun.randomUUIDv7(),
            email: `i${n}@example.com`,
            role: 'staff',
            tokenHash: `${n}`,
            createdAt,
            expiresAt: createdAt,
          })
        }
      }),
    )
    for (const path of ['/team', '/team/invitations']) {
      const { body } = await shop.call('GET', path)
      expect([body.data.length, body.meta.count]).toEqual([50, 101])
      expect((await shop.call('GET', `${path}?limit=100`)).body.data.length).toBe(100)
      expect((await shop.call('GET', `${path}?limit=1`)).body.data.length).toBe(1)
    }
  })
})

describe('scopes', () => {
  test('reading needs team:read, changing team:write', async () => {
    const [reader, writer] = [await shop.keyWith('team:read'), await shop.keyWith('team:write')]
    const id = await member('ada@example.com')
    const {
      body: { id: invitation },
    } = await invite('bob@example.com')
    for (const [method, path, scope] of [
      ['GET', '/team', 'team:read'],
      ['GET', '/team/invitations', 'team:read'],
      ['GET', `/team/invitations/${invitation}`, 'team:read'],
      ['POST', '/team/invitations', 'team:write'],
      ['PATCH', `/team/${id}`, 'team:write'],
      ['DELETE', `/team/${id}`, 'team:write'],
      ['POST', '/team/transfer-ownership', 'team:write'],
      ['DELETE', `/team/invitations/${invitation}`, 'team:write'],
    ] as const) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const [has, lacks] = scope === 'team:read' ? [reader, writer] : [writer, reader]
      const refused = await shop.call(method, path, body, { key: lacks })
      expect([method, path, refused.status]).toEqual([method, path, 403])
      expect(refused.body).toMatchObject({ error: expect.stringContaining(scope), hint: expect.any(String) })
      expect((await shop.call(method, path, body, { key: shop.keys.storefront })).status).toBe(403)
      expect((await shop.call(method, path, body, { key: null })).status).toBe(401)
      expect((await shop.call(method, path, body, { key: has })).status).not.toBe(403)
    }
  })
})

describe('POST /team/invitations', () => {
  test('makes an invitation and shows its token once', async () => {
    const { status, body } = await invite('Ada.L@MÜNCHEN.de', 'admin')
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      email: 'ada.l@xn--mnchen-3ya.de',
      role: 'admin',
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      token: expect.any(String),
    })
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(7 * DAY_MS)
    const { token, ...rest } = body
    expect((await shop.call('GET', '/team/invitations')).body).toEqual({ data: [rest], meta: { count: 1 } })
    expect((await shop.call('GET', `/team/invitations/${body.id}`)).body).toEqual(rest)
    expect(await team()).toEqual([])
  })

  test('the role is staff unless told', async () => {
    expect((await invite('ada@example.com')).body.role).toBe('staff')
    for (const role of ['owner', 'admin', 'staff']) expect((await invite(`${role}@example.com`, role)).body.role).toBe(role)
  })

  test.each([
    [{}, 'required', 'email', {}],
    [{ email: null }, 'invalid_type', 'email', {}],
    [{ email: '' }, 'invalid_string', 'email', {}],
    [{ email: 'ada' }, 'invalid_string', 'email', {}],
    [{ email: 'ada@example.com', role: 'boss' }, 'invalid_enum_value', 'role', { options: ['owner', 'admin', 'staff'] }],
    [{ email: 'ada@example.com', role: null }, 'invalid_enum_value', 'role', {}],
    [{ email: 'ada@example.com', role: '' }, 'invalid_enum_value', 'role', {}],
  ])('%j is 400 (%s at %s)', async (body, code, path, extra) => {
    const answer = await shop.call('POST', '/team/invitations', body)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]).toMatchObject({ code, path: [path], ...extra })
  })

  test('a member or someone invited is 409, in whatever form the address is written', async () => {
    await member('ada@example.com')
    await invite('bob@example.com')
    for (const email of ['ada@example.com', 'ADA@Example.COM', 'bob@example.com', 'BOB@EXAMPLE.com']) {
      const answer = await invite(email)
      expect([answer.status, typeof answer.body.error]).toEqual([409, 'string'])
    }
    expect((await invite('ada+shop@example.com')).status).toBe(201)
  })

  test('another store may invite the same person', async () => {
    await invite('ada@example.com')
    const other = await app.newStore()
    expect((await other.call('POST', '/team/invitations', { email: 'ada@example.com' })).status).toBe(201)
    expect((await shop.call('POST', '/team/invitations', { email: 'ada@example.com' }, { key: shop.keys.staging })).status).toBe(201)
  })

  test('of 20 invitations of one person at once one is made', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => invite(n % 2 ? 'ada@example.com' : 'Ada@Example.com')))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    expect((await shop.call('GET', '/team/invitations')).body.meta.count).toBe(1)
  })

  test('an invitation that is over may be replaced', async () => {
    const first = (await invite('ada@example.com', 'admin')).body
    app.clock.advance(7 * DAY_MS - 60_000)
    expect((await invite('ada@example.com')).status).toBe(409)
    app.clock.now = new Date(first.expiresAt)
    const second = (await invite('ada@example.com')).body
    expect(second.id).not.toBe(first.id)
    expect((await shop.call('GET', '/team/invitations')).body.meta.count).toBe(1)
    expect((await accept({ token: first.token })).status).toBe(404)
    expect((await accept({ token: second.token })).body.role).toBe('staff')
  })

  test('the token is stored as its hash alone', async () => {
    const {
      body: { token },
    } = await invite('ada@example.com')
    const secret = token.split('.')[2]
    expect(secret.length * 4).toBeGreaterThanOrEqual(128)
    const rows = await app.handles.use(shop.store.id, 'live', async (store) =>
      JSON.stringify([await store.read.select().from(teamInvitations), (await shop.call('GET', '/audit-log')).body]),
    )
    expect(rows).not.toContain(secret)
    expect((await invite('bob@example.com')).body.token.split('.')[2]).not.toBe(secret)
  })
})

describe('GET, DELETE /team/invitations/{id}', () => {
  test('taking an invitation back makes its token worthless', async () => {
    const {
      body: { id, token },
    } = await invite('ada@example.com')
    const answer = await shop.call('DELETE', `/team/invitations/${id}`)
    expect([answer.status, answer.body]).toEqual([200, { ok: true, deleted: 1 }])
    expect((await shop.call('DELETE', `/team/invitations/${id}`)).status).toBe(404)
    expect((await shop.call('GET', `/team/invitations/${id}`)).status).toBe(404)
    expect((await accept({ token })).status).toBe(404)
    expect((await invite('ada@example.com')).status).toBe(201)
  })

  test("another store's id, the sandbox's, a random one and none at all answer the same 404", async () => {
    const other = await app.newStore()
    const ids = [
      (await other.call('POST', '/team/invitations', { email: 'a@example.com' })).body.id,
      (await invite('a@example.com', 'staff', shop.keys.staging)).body.id,
      Bun.randomUUIDv7(),
      'none',
      '%00',
      '1',
    ]
    for (const method of ['GET', 'DELETE']) {
      const answers = await Promise.all(ids.map((id) => shop.call(method, `/team/invitations/${id}`)))
      expect(answers.map(({ status, text }) => [status, text])).toEqual(ids.map(() => [404, answers[0]!.text]))
    }
    expect((await other.call('GET', '/team/invitations')).body.meta.count).toBe(1)
  })
})

describe('POST /team/invitations/accept', () => {
  test('makes a member, without a key, once', async () => {
    const {
      body: { id, token },
    } = await invite('ada@example.com', 'admin')
    const { status, body } = await accept({ token, name: 'Ada' })
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.any(String), email: 'ada@example.com', name: 'Ada', role: 'admin', createdAt: expect.any(String) })
    expect(await team()).toEqual([body])
    expect((await shop.call('GET', `/team/invitations/${id}`)).status).toBe(404)
    expect((await accept({ token, name: 'Eve' })).status).toBe(404)
  })

  test('the name may be left out or null, but not empty or over 100 characters', async () => {
    const token = async (email: string) => (await invite(email)).body.token
    expect((await accept({ token: await token('a@example.com') })).body.name).toBeNull()
    expect((await accept({ token: await token('b@example.com'), name: null })).body.name).toBeNull()
    expect((await accept({ token: await token('c@example.com'), name: 'é'.repeat(100) })).status).toBe(201)
    const open = await token('d@example.com')
    for (const name of ['', 'n'.repeat(101), 5]) expect((await accept({ token: open, name })).body.details[0].path).toEqual(['name'])
    expect((await accept({ token: open })).status).toBe(201)
  })

  test('a token that is unknown, altered, over or of a store that is gone is the same 404', async () => {
    const {
      body: { token, expiresAt },
    } = await invite('ada@example.com')
    const [store, , secret] = token.split('.')
    const gone = await app.newStore()
    const orphan = (await gone.call('POST', '/team/invitations', { email: 'a@example.com' })).body.token
    await app.registry.deleteStore(gone.store.id, app.handles)
    const tokens = [
      'x',
      '..',
      `${store}.l.`,
      `${store}.l.${secret.slice(0, -1)}`,
      `${store}.s.${secret}`,
      `${'0'.repeat(32)}.l.${secret}`,
      `${shop.store.id}.l.${secret}`,
      ` ${token}`,
      token.toUpperCase(),
      orphan,
      "' or 1=1 --",
    ]
    const answers = await Promise.all(tokens.map((wrong) => accept({ token: wrong })))
    app.clock.now = new Date(expiresAt)
    answers.push(await accept({ token }))
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [404, answers[0]!.text]))
    app.clock.now = new Date(Date.parse(expiresAt) - 1)
    expect((await accept({ token })).status).toBe(201)
  })

  test('a token is required, and text', async () => {
    expect((await accept({})).body.details[0]).toMatchObject({ code: 'required', path: ['token'] })
    for (const token of [null, 5, '', 'x'.repeat(201)]) {
      const answer = await accept({ token })
      expect([answer.status, answer.body.details[0].path]).toEqual([400, ['token']])
    }
  })

  test('an invitation of the sandbox makes a member of the sandbox', async () => {
    const {
      body: { token },
    } = await invite('ada@example.com', 'owner', shop.keys.staging)
    expect((await accept({ token })).status).toBe(201)
    expect(await team()).toEqual([])
    expect((await shop.call('GET', '/team', undefined, { key: shop.keys.staging })).body.meta.count).toBe(1)
  })

  test('of 20 acceptances of one token at once one makes a member', async () => {
    const {
      body: { token },
    } = await invite('ada@example.com')
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept({ token })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(404)])
    expect((await team()).length).toBe(1)
  })

  test('who joined by another way meanwhile is 409, and the invitation stays', async () => {
    const {
      body: { id, token },
    } = await invite('ada@example.com')
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        await tx
          .insert(teamMembers)
          .values({ id: Bun.randomUUIDv7(), email: 'ada@example.com', name: null, role: 'owner', createdAt: new Date().toISOString() })
      }),
    )
    expect((await accept({ token })).status).toBe(409)
    expect((await shop.call('GET', `/team/invitations/${id}`)).status).toBe(200)
  })
})

describe('PATCH, DELETE /team/{id}', () => {
  test('role and name change one by one, and null clears the name', async () => {
    const id = await member('ada@example.com')
    expect((await shop.call('PATCH', `/team/${id}`, { role: 'admin' })).body).toMatchObject({ id, role: 'admin', name: 'ada' })
    expect((await shop.call('PATCH', `/team/${id}`, { name: 'Ada' })).body).toMatchObject({ role: 'admin', name: 'Ada' })
    expect((await shop.call('PATCH', `/team/${id}`, {})).body).toMatchObject({ role: 'admin', name: 'Ada' })
    expect((await shop.call('PATCH', `/team/${id}`, { name: null, email: 'eve@example.com', id: 'x' })).body).toMatchObject({
      id,
      role: 'admin',
      name: null,
      email: 'ada@example.com',
    })
    for (const body of [{ role: 'boss' }, { role: null }, { name: '' }, { name: 'n'.repeat(101) }]) {
      const answer = await shop.call('PATCH', `/team/${id}`, body)
      expect([answer.status, answer.body.details[0].path]).toEqual([400, Object.keys(body)])
    }
  })

  test('a member who is removed is gone and may be invited again', async () => {
    const id = await member('ada@example.com')
    const answer = await shop.call('DELETE', `/team/${id}`)
    expect([answer.status, answer.body]).toEqual([200, { ok: true, deleted: 1 }])
    expect((await shop.call('DELETE', `/team/${id}`)).status).toBe(404)
    expect((await shop.call('PATCH', `/team/${id}`, { role: 'admin' })).status).toBe(404)
    expect((await invite('ada@example.com')).status).toBe(201)
  })

  test("another store's id, a random one and none at all answer the same 404", async () => {
    const other = await app.newStore()
    const theirs = await member('ada@example.com', 'staff', other)
    for (const method of ['PATCH', 'DELETE']) {
      const answers = await Promise.all(
        [theirs, Bun.randomUUIDv7(), 'none', '1'].map((id) =>
          shop.call(method, `/team/${id}`, method === 'PATCH' ? { role: 'admin' } : undefined),
        ),
      )
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [404, answers[0]!.text]))
    }
    expect((await team(other))[0]).toMatchObject({ id: theirs, role: 'staff' })
  })

  test('the last owner can be neither removed nor demoted', async () => {
    const [ada, bob] = [await member('ada@example.com', 'owner'), await member('bob@example.com', 'admin')]
    for (const answer of [
      await shop.call('DELETE', `/team/${ada}`),
      await shop.call('PATCH', `/team/${ada}`, { role: 'admin' }),
      await shop.call('PATCH', `/team/${ada}`, { role: 'staff', name: 'No' }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('last owner')])
    }
    expect((await shop.call('PATCH', `/team/${ada}`, { role: 'owner', name: 'Ada' })).body).toMatchObject({ role: 'owner', name: 'Ada' })
    expect((await shop.call('PATCH', `/team/${bob}`, { role: 'owner' })).status).toBe(200)
    expect((await shop.call('PATCH', `/team/${ada}`, { role: 'staff' })).status).toBe(200)
    expect((await shop.call('DELETE', `/team/${bob}`)).status).toBe(409)
    expect(await owners()).toEqual(['bob@example.com'])
  })

  test('two owners removed or demoted at once: exactly one 409', async () => {
    for (const take of [
      (id: string) => shop.call('DELETE', `/team/${id}`),
      (id: string) => shop.call('PATCH', `/team/${id}`, { role: 'staff' }),
    ]) {
      shop = await app.newStore()
      const ids = [await member('ada@example.com', 'owner'), await member('bob@example.com', 'owner')]
      expect((await Promise.all(ids.map(take))).map(({ status }) => status).sort()).toEqual([200, 409])
      expect((await owners()).length).toBe(1)
    }
  })
})

describe('POST /team/transfer-ownership', () => {
  const transfer = (memberId: unknown) => shop.call('POST', '/team/transfer-ownership', { memberId })

  test('the member becomes the owner, the earlier owners become admins', async () => {
    await member('ada@example.com', 'owner')
    await member('bob@example.com', 'owner')
    const cy = await member('cy@example.com')
    const { status, body } = await transfer(cy)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: cy, email: 'cy@example.com', role: 'owner' })
    expect((await team()).map(({ role }) => role)).toEqual(['admin', 'admin', 'owner'])
    expect((await transfer(cy)).body.role).toBe('owner')
    expect(await owners()).toEqual(['cy@example.com'])
  })

  test("a member that is missing or another store's is 400 at memberId, and nothing changes", async () => {
    await member('ada@example.com', 'owner')
    const theirs = await member('bob@example.com', 'staff', await app.newStore())
    const answers = [await transfer(theirs), await transfer(Bun.randomUUIDv7())]
    expect(answers[0]!.text).toBe(answers[1]!.text)
    answers.push(await transfer('none'), await transfer(null), await transfer(undefined))
    for (const { status, body } of answers) expect([status, body.details[0].path]).toEqual([400, ['memberId']])
    expect(answers.at(-1)!.body.details[0].code).toBe('required')
    expect(await owners()).toEqual(['ada@example.com'])
  })

  test('transfers at once leave one owner', async () => {
    const ids = [await member('ada@example.com', 'owner'), await member('bob@example.com'), await member('cy@example.com')]
    expect((await Promise.all(ids.map(transfer))).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await owners()).length).toBe(1)
  })
})
