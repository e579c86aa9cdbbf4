import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newKey } from '../../db/control/keys.ts'
import { Registry } from '../../db/control/registry.ts'
import { apiKeys } from '../../db/control/tables.ts'
import { auditLog } from '../../db/store/store.ts'
import { serverClient, ServerConnection } from '../../db/connection.ts'
import { migrations } from '../../db/migrate.ts'
import { createDatabase, fileOf, openDatabase, removeDatabase } from '../../db/open.ts'
import LibsqlFile from 'libsql'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

const HOUR_MS = 3_600_000
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

const after = (ms: number) => new Date(app.clock.now.getTime() + ms).toISOString()
const me = (key: string) => app.send('GET', '/me', undefined, { key })
const listed = async (key = shop.keys.admin) => (await app.send('GET', '/api-keys?limit=100', undefined, { key })).body.data as any[]
const make = async (body: object, key = shop.keys.admin) => app.send('POST', '/api-keys', body, { key })
const idOf = async (key: string) => (await me(key)).body.key.id as string

describe('making a key', () => {
  test('shows it once, and lists it without it', async () => {
    const expiresAt = after(HOUR_MS)
    const made = await make({ name: 'Till', scopes: ['orders:read', 'cart:write', 'orders:read'], environment: 'live', expiresAt })
    expect(made.status).toBe(201)
    const { key, ...shown } = made.body
    expect(key).toMatch(/^sk-[0-9a-f]{48}$/)
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Till',
      prefix: key.slice(0, 8),
      scopes: ['orders:read', 'cart:write'],
      environment: 'live',
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      expiresAt,
    })
    const list = await shop.call('GET', '/api-keys')
    expect(list.body.data.find(({ id }: any) => id === shown.id)).toEqual(shown)
    expect(list.body.meta).toEqual({ count: 4, offset: 0, limit: 50 })
    expect(list.text).not.toContain(key)
    expect((await me(key)).body.key).toMatchObject({ id: shown.id, scopes: ['orders:read', 'cart:write'] })
  })

  test('without more than a name it may what its maker may, where its maker may', async () => {
    expect((await make({ name: 'A' })).body).toMatchObject({ scopes: null, environment: 'live', expiresAt: null })
    expect((await make({ name: 'A' }, shop.keys.staging)).body).toMatchObject({ scopes: null, environment: 'sandbox' })
    const limited = await shop.keyWith('store:admin', 'orders:read')
    expect((await make({ name: 'A' }, limited)).body).toMatchObject({ scopes: ['store:admin', 'orders:read'] })
  })

  test('none opens more than the key that makes it', async () => {
    const limited = await shop.keyWith('store:admin', 'orders:read')
    expect((await make({ name: 'A', scopes: ['orders:read'] }, limited)).status).toBe(201)
    const wider = await make({ name: 'A', scopes: ['orders:read', 'orders:write'] }, limited)
    expect([wider.status, wider.body.error]).toEqual([403, expect.stringContaining('orders:write')])
    expect((await make({ name: 'A', scopes: null }, limited)).status).toBe(403)
    expect((await make({ name: 'A', environment: 'live' }, shop.keys.staging)).status).toBe(403)
    const sandboxed = await make({ name: 'A', environment: 'sandbox' })
    expect([sandboxed.status, sandboxed.body.key.slice(0, 5)]).toEqual([201, 'sk-s-'])
    expect((await make({ name: 'A' }, await shop.keyWith('team:write'))).status).toBe(403)
  })

  test('none outlasts the key that makes it', async () => {
    const expiresAt = after(HOUR_MS)
    const short = (await make({ name: 'short', expiresAt })).body
    expect((await make({ name: 'A' }, short.key)).body.expiresAt).toBe(expiresAt)
    expect((await make({ name: 'A', expiresAt }, short.key)).status).toBe(201)
    expect((await make({ name: 'A', expiresAt: after(HOUR_MS / 2) }, short.key)).status).toBe(201)
    for (const later of [null, after(2 * HOUR_MS)]) {
      const { status, body } = await make({ name: 'A', expiresAt: later }, short.key)
      expect([status, body.error, body.hint]).toEqual([403, expect.stringContaining('expiresAt'), expect.stringContaining(expiresAt)])
    }
  })

  test.each([
    [{ name: 'A', scope: ['storefront:read'] }, 'unknown field scope: did you mean scopes?'],
    [{ name: 'A', expiresat: '2030-01-01T00:00:00Z' }, 'unknown field expiresat: did you mean expiresAt?'],
  ])('a limit that is misspelt makes no key: %j', async (body, message) => {
    const answer = await shop.call('POST', '/api-keys', body)
    expect([answer.status, answer.body.details[0].message]).toEqual([400, message])
  })

  test.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'A', scopes: [] }, 'scopes'],
    [{ name: 'A', scopes: ['orders:delete'] }, 'scopes.0'],
    [{ name: 'A', environment: 'staging' }, 'environment'],
    [{ name: 'A', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ name: 'A', expiresAt: 'tomorrow' }, 'expiresAt'],
  ])('%j is 400 and names %s', async (body, path) => {
    const answer = await make(body)
    expect([answer.status, answer.body.details[0].path.join('.')]).toEqual([400, path])
  })

  test('a store has a bounded number of keys, and forgets those that ended long ago', async () => {
    await app.registry.change(async (tx) => {
      for (let i = 0; i < 1_010; i++) await tx.insert(apiKeys).values(rowOf('live', true))
      for (let i = 2; i < 99; i++) await tx.insert(apiKeys).values(rowOf('live', false))
    })
    expect((await make({ name: 'the hundredth' })).status).toBe(201)
    expect((await make({ name: 'one too many' })).status).toBe(409)
    const kept = (await app.registry.listKeys(shop.store.id)).filter(({ revokedAt }) => revokedAt !== null)
    expect(kept.length).toBe(1_000)
    expect(
      (await app.send('POST', `/api-keys/${await idOf(shop.keys.admin)}/rotate`, { graceMinutes: 0 }, { key: shop.keys.admin })).status,
    ).toBe(201)
  })

  test('the sandbox takes no place from the live keys, nor from what is known of them', async () => {
    await app.registry.change(async (tx) => {
      for (let i = 0; i < 600; i++) await tx.insert(apiKeys).values([rowOf('live', true), rowOf('sandbox', true)])
      for (let i = 1; i < 100; i++) await tx.insert(apiKeys).values(rowOf('sandbox', false))
    })
    expect((await make({ name: 'one too many' }, shop.keys.staging)).status).toBe(409)
    expect((await make({ name: 'one too many', environment: 'sandbox' })).status).toBe(409)
    expect((await make({ name: 'live' })).status).toBe(201)
    const kept = (await app.registry.listKeys(shop.store.id)).filter(({ revokedAt }) => revokedAt !== null)
    expect(kept.length).toBe(1_200)
  })

  const rowOf = (environment: 'live' | 'sandbox', ended: boolean) => ({
    ...newKey({ storeId: shop.store.id, name: 'many', environment, scopes: null }, new Date()).row,
    revokedAt: ended ? after(0) : null,
  })
})

describe('a key that has ended', () => {
  test('is refused as an unknown one is, also where it was known a moment ago', async () => {
    const { key, id } = (await make({ name: 'A', expiresAt: after(60_000) })).body
    const revoked = (await make({ name: 'B' })).body
    for (const secret of [key, revoked.key]) expect((await me(secret)).status).toBe(200)
    expect((await shop.call('DELETE', `/api-keys/${revoked.id}`)).body).toEqual({ ok: true, deleted: 1 })
    app.clock.advance(60_000)
    const answers = await Promise.all([key, revoked.key, 'sk-unknown'].map(me))
    const forms = answers.map(({ status, text, headers }) => [status, text, [...headers].filter(([name]) => name !== 'x-request-id')])
    expect(forms[0]![0]).toBe(401)
    expect(forms[0]).toEqual(forms[2])
    expect(forms[1]).toEqual(forms[2])
    expect((await listed()).map((row) => row.id)).toContain(id)
    expect((await listed()).map((row) => row.id)).not.toContain(revoked.id)
    expect((await shop.call('DELETE', `/api-keys/${revoked.id}`)).status).toBe(404)
    expect((await shop.call('DELETE', `/api-keys/${id}`)).status).toBe(200)
  })

  test('deletes and rotates neither the keys of another store, nor live ones from the sandbox', async () => {
    const other = await app.newStore()
    const [foreign, live] = [await idOf(other.keys.admin), await idOf(shop.keys.storefront)]
    for (const [id, key] of [
      [foreign, shop.keys.admin],
      [live, shop.keys.staging],
    ] as const) {
      expect((await app.send('DELETE', `/api-keys/${id}`, undefined, { key })).status).toBe(404)
      expect((await app.send('POST', `/api-keys/${id}/rotate`, {}, { key })).status).toBe(404)
    }
    expect((await listed(shop.keys.staging)).map(({ environment }) => environment)).toEqual(['sandbox'])
    expect((await me(other.keys.admin)).status).toBe(200)
  })

  test('was not ended by one that may less', async () => {
    const limited = await shop.keyWith('store:admin', 'orders:read')
    const remove = (id: string) => app.send('DELETE', `/api-keys/${id}`, undefined, { key: limited })
    const unrestricted = await remove(await idOf(shop.keys.admin))
    expect([unrestricted.status, unrestricted.body.error]).toEqual([403, expect.stringContaining('without restriction')])
    const writer = (await make({ name: 'writer', scopes: ['orders:read', 'orders:write'] })).body
    const wider = await remove(writer.id)
    expect([wider.status, wider.body.error]).toEqual([403, expect.stringContaining(': orders:write')])
    for (const key of [shop.keys.admin, writer.key]) expect((await me(key)).status).toBe(200)
    const reader = (await make({ name: 'reader', scopes: ['orders:read'] })).body
    expect((await remove(reader.id)).status).toBe(200)
    expect((await remove(await idOf(limited))).status).toBe(200)
  })

  test('is not the last that may administrate the store', async () => {
    const remove = async (key: string) => app.send('DELETE', `/api-keys/${await idOf(key)}`, undefined, { key })
    // Neither one of the sandbox, nor one that has expired, nor one that may other things could make another.
    await make({ name: 'expired', expiresAt: after(60_000) })
    await make({ name: 'reader', scopes: ['orders:read'] })
    app.clock.advance(60_000)
    expect((await remove(shop.keys.admin)).status).toBe(409)
    expect((await me(shop.keys.admin)).status).toBe(200)
    const second = (await make({ name: 'second', scopes: ['store:admin'] })).body.key
    expect((await remove(shop.keys.admin)).status).toBe(200)
    expect((await me(shop.keys.admin)).status).toBe(401)
    expect((await remove(second)).status).toBe(409)
    expect((await remove(shop.keys.staging)).status).toBe(200)
  })

  test('two that delete themselves at once leave one', async () => {
    const second = (await make({ name: 'second' })).body.key
    const ids = { [shop.keys.admin]: await idOf(shop.keys.admin), [second]: await idOf(second) }
    const answers = await Promise.all(Object.entries(ids).map(([key, id]) => app.send('DELETE', `/api-keys/${id}`, undefined, { key })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

describe('rotation', () => {
  const rotate = (id: string, body?: object, key = shop.keys.admin) => app.send('POST', `/api-keys/${id}/rotate`, body, { key })

  test('gives a key like the old one, which is taken until the grace is over', async () => {
    const expiresAt = after(90 * 24 * HOUR_MS)
    const old = (await make({ name: 'Till', scopes: ['orders:read'], expiresAt })).body
    const { status, body } = await rotate(old.id, { graceMinutes: 30 })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Till', scopes: ['orders:read'], environment: 'live', expiresAt, lastUsedAt: null })
    expect(body.id).not.toBe(old.id)
    expect((await Promise.all([old.key, body.key].map(me))).map((answer) => answer.status)).toEqual([200, 200])
    const ends = Date.parse((await listed()).find(({ id }) => id === old.id).expiresAt) - Date.now()
    expect(ends).toBeGreaterThan(29 * 60_000)
    expect(ends).toBeLessThanOrEqual(30 * 60_000)
    // Rotated again it would get the end of the grace for its own.
    const again = await rotate(old.id, { graceMinutes: 30 })
    expect([again.status, again.body.error]).toEqual([409, expect.stringContaining(body.id)])
    app.clock.advance(30 * 60_000)
    expect((await Promise.all([old.key, body.key].map(me))).map((answer) => answer.status)).toEqual([401, 200])
    expect((await rotate(body.id, { graceMinutes: 0, expiresAt: null })).body.expiresAt).toBeNull()
    expect((await me(body.key)).status).toBe(401)
  })

  test('ends a key no later than it would have ended, and needs no body', async () => {
    const soon = after(5 * 60_000)
    const old = (await make({ name: 'A', expiresAt: soon })).body
    expect((await rotate(old.id)).status).toBe(201)
    expect((await listed()).find(({ id }) => id === old.id).expiresAt).toBe(soon)
    const expired = (await make({ name: 'B', expiresAt: soon })).body
    app.clock.advance(5 * 60_000)
    expect((await rotate(expired.id)).status).toBe(409)
  })

  test('gives nobody more time than they have', async () => {
    const expiresAt = after(HOUR_MS)
    const short = (await make({ name: 'short', expiresAt })).body
    const lasting = (await make({ name: 'lasting' })).body
    for (const id of [short.id, lasting.id])
      for (const later of [null, after(2 * HOUR_MS)]) {
        const { status, body } = await rotate(id, { expiresAt: later }, short.key)
        expect([status, body.error]).toEqual([403, expect.stringContaining('expiresAt')])
      }
    expect((await rotate(lasting.id, {}, short.key)).body.expiresAt).toBe(expiresAt)
    expect((await rotate(short.id, {}, short.key)).body.expiresAt).toBe(expiresAt)
    const old = (await make({ name: 'old' })).body
    const next = (await rotate(old.id, { graceMinutes: 5 })).body
    expect((await make({ name: 'A', expiresAt: null }, old.key)).status).toBe(403)
    expect((await rotate(next.id, { expiresAt: null }, old.key)).status).toBe(403)
    const ends = (await listed()).find(({ id }) => id === old.id).expiresAt
    expect((await make({ name: 'A' }, old.key)).body.expiresAt).toBe(ends)
  })

  test('is bounded, and gives nobody more than they have', async () => {
    const limited = await shop.keyWith('store:admin')
    expect((await rotate(await idOf(shop.keys.admin), {}, limited)).status).toBe(403)
    expect((await rotate(await idOf(limited), {}, limited)).status).toBe(201)
    for (const graceMinutes of [-1, 10_081, 1.5]) {
      const { status, body } = await rotate(await idOf(shop.keys.admin), { graceMinutes })
      expect([status, body.details[0].path]).toEqual([400, ['graceMinutes']])
    }
  })
})

describe('when the store does not take in what is done to keys', () => {
  const rows = () => app.registry.listKeys(shop.store.id)
  const store = () => app.handles.use(shop.store.id, 'live', async (handle) => handle)

  test.each<Record<string, string>>([{}, { 'idempotency-key': 'once' }])('nothing of it has happened, with %j', async (headers) => {
    const till = (await make({ name: 'Till' })).body
    const [old, next] = [(await make({ name: 'Old' })).body, await idOf(shop.keys.admin)]
    expect((await app.send('POST', `/api-keys/${old.id}/rotate`, {}, { key: shop.keys.admin })).status).toBe(201)
    const refuse = 'create trigger refuse before insert on audit_log begin select raise(abort, "no room"); end'
    await (await store()).write((tx) => tx.run(sql.raw(refuse.replaceAll('"', "'"))))
    const before = await rows()
    for (const [method, path, body] of [
      ['POST', '/api-keys', { name: 'New' }],
      ['POST', `/api-keys/${till.id}/rotate`, { graceMinutes: 0 }],
      ['POST', `/api-keys/${next}/rotate`, {}],
      ['POST', `/api-keys/${old.id}/rotate`, {}],
      ['DELETE', `/api-keys/${till.id}`, undefined],
    ] as const) {
      const { status } = await app.send(method, path, body, { key: shop.keys.admin, headers })
      expect([method, path, status, await rows()]).toEqual([method, path, 500, before])
    }
    expect((await me(till.key)).status).toBe(200)
    await (await store()).write((tx) => tx.run(sql`drop trigger refuse`))
    expect((await app.send('DELETE', `/api-keys/${till.id}`, undefined, { key: shop.keys.admin })).status).toBe(200)
    expect((await me(till.key)).status).toBe(401)
  })

  test('a rotation that was cut off before its store had it can be done again, by the key itself too', async () => {
    const id = await idOf(shop.keys.admin)
    const rotate = (body?: object, key = shop.keys.admin) => app.send('POST', `/api-keys/${id}/rotate`, body, { key })
    const lost = (await rotate()).body
    // As a crash leaves it: the registry has the change, the store does not.
    await (await store()).write((tx) => tx.delete(auditLog))
    const next = await rotate()
    expect([next.status, next.body.expiresAt, next.body.scopes]).toEqual([201, null, null])
    expect([(await me(lost.key)).status, (await me(shop.keys.admin)).status]).toEqual([401, 200])
    app.clock.advance(61 * 60_000)
    expect([(await me(shop.keys.admin)).status, (await me(next.body.key)).status]).toEqual([401, 200])
  })

  test('one that was not is done again as long as nobody has used the new key, and gives nobody more time', async () => {
    const second = (await make({ name: 'second' })).body
    const id = await idOf(shop.keys.admin)
    const rotate = (body: object, key: string) => app.send('POST', `/api-keys/${id}/rotate`, body, { key })
    await rotate({}, shop.keys.admin)
    const graceEnds = (await listed()).find((row) => row.id === id).expiresAt
    expect((await rotate({ expiresAt: null }, shop.keys.admin)).status).toBe(403)
    expect((await rotate({}, shop.keys.admin)).body.expiresAt).toBe(graceEnds)
    const again = (await rotate({ expiresAt: null }, second.key)).body
    expect(again.expiresAt).toBeNull()
    expect((await listed(second.key)).filter(({ name }) => name === 'admin').map((row) => row.id)).toEqual([id, again.id])
    expect((await me(again.key)).status).toBe(200)
    expect((await rotate({}, second.key)).status).toBe(409)
  })
})

test('what is done to keys is audited', async () => {
  const made = (await make({ name: 'A' })).body
  await app.send('POST', `/api-keys/${made.id}/rotate`, { graceMinutes: 5 }, { key: shop.keys.admin })
  await shop.call('DELETE', `/api-keys/${made.id}`)
  const { data } = (await shop.call('GET', '/audit-log')).body
  expect(data.map(({ method, path, resource, keyName }: any) => [method, path, resource, keyName])).toEqual([
    ['DELETE', `/api/v1/api-keys/${made.id}`, 'api-keys', 'admin'],
    ['POST', `/api/v1/api-keys/${made.id}/rotate`, 'api-keys', 'admin'],
    ['POST', '/api/v1/api-keys', 'api-keys', 'admin'],
  ])
  expect(JSON.stringify(data)).not.toContain(made.key)
})

test('the last use is kept to the hour, and written once for many requests', async () => {
  app.clock.now = new Date('2030-06-01T10:59:00.000Z')
  const id = await idOf(shop.keys.storefront)
  const lastUse = async () => (await app.registry.listKeys(shop.store.id)).find((row) => row.id === id)!.lastUsedAt
  expect((await listed()).find((row) => row.id === id).lastUsedAt).toBe('2030-06-01T10:00:00.000Z')
  await app.registry.use.write()
  expect(await lastUse()).toBe('2030-06-01T10:00:00.000Z')

  const { version } = await watch()
  for (let i = 0; i < 50; i++) await me(shop.keys.storefront)
  await app.registry.use.write()
  expect(await version()).toBe(0)
  app.clock.advance(60_000)
  for (let i = 0; i < 50; i++) await me(shop.keys.storefront)
  expect(await version()).toBe(0)
  await app.registry.use.write()
  expect(await version()).toBe(1)
  expect(await lastUse()).toBe('2030-06-01T11:00:00.000Z')
  // A process with a clock behind takes nothing back.
  app.clock.now = new Date('2030-06-01T09:00:00.000Z')
  await me(shop.keys.storefront)
  await app.registry.use.write()
  expect(await lastUse()).toBe('2030-06-01T11:00:00.000Z')
})

/** Counts the changes of keys from now on, in the database itself. */
async function watch() {
  await app.registry.control.write(async (tx) => {
    await tx.run(sql`create table if not exists key_changes (count integer not null)`)
    await tx.run(sql`delete from key_changes`)
    await tx.run(sql`insert into key_changes values (0)`)
    await tx.run(sql`create trigger if not exists watch_keys after update on api_keys begin update key_changes set count = count + 1; end`)
  })
  return { version: async () => ((await app.registry.control.read.all(sql`select count from key_changes`)) as any[][])[0]![0] }
}

test('keys of an older release are kept: without restriction, without end, their beginning known from their next use on', async () => {
  const { location } = app
  const name = `old-${Bun.randomUUIDv7()}`
  const { row, secret } = newKey({ storeId: 's', name: 'old', environment: 'live', scopes: null }, new Date())
  const statements = [
    ...migrations('control')[0]!.map((statement) => statement.replace(/;\s*$/, '')),
    'PRAGMA user_version = 1',
    "insert into stores values ('s', 'Old', 'old', 'starter', 0, '2026-01-01T00:00:00.000Z')",
    `insert into api_keys values ('${row.id}', 's', 'old', 'live', null, '${row.hash}', '${row.createdAt}', null)`,
  ]
  const path = fileOf(location, name)
  if (path) {
    const file = new LibsqlFile(path)
    file.exec(statements.join(';\n'))
    file.close()
  } else {
    await createDatabase({ ...location, url: location.url }, name, 'control')
    const client = new ServerConnection(await serverClient(location, name))
    // What the newest migrations have made goes first: what refers to a table before that table.
    const tables = (
      await client.rows("select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by rowid desc", [])
    ).flat()
    await client.exec([...tables.map((table) => `drop table "${table}"`), ...statements, ''].join(';\n'))
    client.close()
  }
  const control = await openDatabase(location, name, 'control')
  try {
    const registry = new Registry(control, location)
    const session = await registry.session(secret)
    expect(session).toMatchObject({ scopes: null, key: { expiresAt: null, prefix: null, lastUsedAt: null } })
    expect(await registry.session(secret, new Date('2999-01-01'))).not.toBeNull()
    await registry.use.write()
    expect((await registry.listKeys('s'))[0]).toMatchObject({ prefix: secret.slice(0, 8), lastUsedAt: '2999-01-01T00:00:00.000Z' })
  } finally {
    control.close()
    await removeDatabase(location, name)
  }
})
