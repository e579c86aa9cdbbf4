import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import LibsqlFile from 'libsql'
import { create, extract } from 'tar'
import { afterAll, describe, expect, test } from 'vitest'
import { call, cleanUp, createStore, folder, seedInto, startApi, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

interface Shop {
  dataDir: string
  id: string
  admin: string
  /** A backup with two orders. */
  file: string
}

const seed = ({ dataDir, id }: Pick<Shop, 'dataDir' | 'id'>, orders: number) => seedInto(dataDir, id, { products: 2, customers: 2, orders })

async function shop(): Promise<Shop> {
  const dataDir = folder()
  const { id, keys } = await createStore(dataDir, 'Atelier')
  const file = `${folder()}/backup.tar`
  await seed({ dataDir, id }, 2)
  await stoaJson(dataDir, 'store', 'backup', id, '--to', file)
  return { dataDir, id, admin: keys.admin, file }
}

const path = ({ dataDir, id }: Shop) => `${dataDir}/store-${id}.db`
/** The numbers of the orders of a store, in order; and the highest number that it has given. */
function numbers(at: Shop): { orders: number[]; given: number } {
  const file = new LibsqlFile(path(at))
  const all = (text: string) => (file.prepare(text).raw(true).all() as [number][]).map(([value]) => value)
  const found = {
    orders: all('SELECT lookup FROM orders ORDER BY lookup'),
    given: all("SELECT value FROM counters WHERE name = 'order'")[0]!,
  }
  file.close()
  return found
}

/** Takes the log into the file, and lets nothing be left beside it. */
function settle(file: string) {
  const connection = new LibsqlFile(file)
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  connection.close()
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
}

const DAMAGE: [string, number, (file: string) => void][] = [
  ['file is not a database', 2002, (file) => writeFileSync(file, 'no database, '.repeat(1_000))],
  ['malformed', 2002, (file) => writeFileSync(file, readFileSync(file).subarray(0, 20_000))],
  [
    'schema version 99',
    1005,
    (file) => {
      const connection = new LibsqlFile(file)
      connection.exec('PRAGMA user_version = 99')
      connection.close()
      settle(file)
    },
  ],
  ['is empty', 2002, (file) => truncateSync(file, 0)],
  ['is missing', 2002, (file) => rmSync(file)],
]

describe('store restore of a database that is unusable', () => {
  test.each(DAMAGE)('(%s) needs no --yes, keeps the file under another name, and gives no number again', async (says, given, damage) => {
    const at = await shop()
    await seed(at, 3)
    settle(path(at))
    damage(path(at))
    const damaged = existsSync(path(at)) ? readFileSync(path(at)) : null
    const { api } = await startApi({ DATA_DIR: at.dataDir })
    expect((await call(api, at.admin, 'GET', '/orders')).status).toBe(503)
    const { stdout } = await stoa(at.dataDir, 'doctor')
    expect(stdout).toContain(says)

    const { setAside } = await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file)
    expect(setAside).toEqual(damaged ? [expect.stringContaining(`${path(at)}.unusable-`)] : [])
    for (const name of setAside) expect(readFileSync(name).equals(damaged!)).toBe(true)
    expect((await call(api, at.admin, 'GET', '/orders')).body.meta.count).toBe(2)
    // Where the file can't tell, those that it may have given are passed over.
    expect(numbers(at)).toEqual({ orders: [1001, 1002], given })
    expect((await stoaJson(at.dataDir, 'migrate')).failed).toBe(0)
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    expect(readdirSync(at.dataDir).filter((name) => name.includes(at.id))).toEqual([])
  })
})

describe('store restore of a store that is there', () => {
  test('asks for --yes, and numbers of orders go on from the highest that was given', async () => {
    const at = await shop()
    await seed(at, 3)
    const { code, stdout, stderr } = await stoa(at.dataDir, 'store', 'restore', at.id, '--from', at.file)
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/^error: this replaces what the store .* has now .*: add --yes\n$/),
    ])
    expect(numbers(at)).toEqual({ orders: [1001, 1002, 1003, 1004, 1005], given: 1005 })
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file, '--yes')
    expect(numbers(at)).toEqual({ orders: [1001, 1002], given: 1005 })
    await seed(at, 1)
    expect(numbers(at).orders).toEqual([1001, 1002, 1006])
    // Also when it was deleted meanwhile.
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file)
    expect(numbers(at)).toEqual({ orders: [1001, 1002], given: 1006 })
  })

  test('sends no mail a second time that has left, and none to who wants none', async () => {
    const at = await shop()
    const { api } = await startApi({ DATA_DIR: at.dataDir })
    const ask = async (method: string, url: string, body?: unknown) => (await call(api, at.admin, method, url, body)).body
    await ask('PATCH', '/settings', { email: { outboundEnabled: true, domain: 'mail.shop.example' } })
    await stoaJson(at.dataDir, 'store', 'update', at.id, '--email-domain-verified', 'true')
    const variant = { price: 5, shippable: false, stock: { quantity: 0 } }
    const { variants } = await ask('POST', '/products', { name: 'Wanted', status: 'published', variants: [variant] })
    const variantId = variants[0].id
    for (const name of ['ada', 'bea']) await ask('POST', '/availability-notifications', { variantId, email: `${name}@example.com` })
    const about = await ask('POST', '/support-cases', { email: 'cleo@example.com', subject: 'A seam', message: 'It is open.' })
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', at.file)
    const folder = `${at.dataDir}/mail`
    const mails = () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.eml')) : [])
    const until = async (count: number) => {
      for (let i = 0; i < 100 && mails().length < count; i++) await Bun.sleep(50)
      return mails().length
    }
    await ask('POST', `/support-cases/${about.id}/messages`, { message: 'We mend it.' })
    await ask('PATCH', `/inventory/${variantId}`, { quantity: 3 })
    expect(await until(3)).toBe(3)
    const [ada] = (await ask('GET', '/availability-notifications')).data.filter(({ email }: any) => email === 'ada@example.com')
    const live = new LibsqlFile(path(at))
    const [token] = live.prepare('SELECT token FROM availability_notifications WHERE id = ?').raw(true).get(ada.id) as [string]
    live.close()
    expect((await fetch(`${api}/api/v1/availability-notifications/stop/${token}`, { method: 'POST' })).status).toBe(200)
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file, '--yes')
    const states = (await ask('GET', '/availability-notifications')).data.map(({ email, status }: any) => [email, status])
    expect(states.toSorted()).toEqual([
      ['ada@example.com', 'stopped'],
      ['bea@example.com', 'sent'],
    ])
    await ask('PATCH', `/inventory/${variantId}`, { quantity: 3 })
    // One who asks now is told, alone.
    await ask('PATCH', `/inventory/${variantId}`, { quantity: 0 })
    await ask('POST', '/availability-notifications', { variantId, email: 'dora@example.com' })
    await ask('PATCH', `/inventory/${variantId}`, { quantity: 3 })
    expect(await until(4)).toBe(4)
    await Bun.sleep(300)
    expect(mails()).toHaveLength(4)
  })

  test('brings back no address that has unsubscribed, and no invitation that was withdrawn', async () => {
    const at = await shop()
    const { api } = await startApi({ DATA_DIR: at.dataDir })
    const ask = async (method: string, url: string, body?: unknown) => (await call(api, at.admin, method, url, body)).body
    for (const name of ['ada', 'bea']) await ask('POST', '/subscribers', { email: `${name}@example.com` })
    const invitation = await ask('POST', '/team/invitations', { email: 'eve@example.com', role: 'staff' })
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', at.file)
    await ask('POST', '/subscribers', { email: 'cleo@example.com' })
    const live = new LibsqlFile(path(at))
    const tokens = live.prepare('SELECT token FROM subscribers ORDER BY email').raw(true).all() as [string][]
    live.close()
    // The first one was subscribed when the backup was made, the last one was not known.
    for (const i of [0, 2]) await fetch(`${api}/api/v1/subscribers/unsubscribe/${tokens[i]![0]}`, { method: 'POST' })
    await ask('DELETE', `/team/invitations/${invitation.id}`)
    const before = await ask('GET', '/subscribers')
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file, '--yes')
    const after = await ask('GET', '/subscribers')
    const states = (page: typeof after) => page.data.map(({ email, status }: { email: string; status: string }) => [email, status])
    expect(states(before)).toEqual([
      ['cleo@example.com', 'unsubscribed'],
      ['bea@example.com', 'active'],
      ['ada@example.com', 'unsubscribed'],
    ])
    expect(states(after)).toEqual(states(before))
    for (const [status, count] of [
      ['active', 1],
      ['unsubscribed', 2],
      ['pending', 0],
    ])
      expect((await ask('GET', `/subscribers?status=${status}`)).meta.count, String(status)).toBe(count)
    expect((await ask('GET', '/team/invitations')).data).toEqual([])
  })
})

/** The same backup with another manifest, and with what `tamper` makes of its database of live data. */
async function changed(at: Shop, change: (manifest: any) => void, tamper?: string): Promise<string> {
  const parts = folder()
  await extract({ file: at.file, cwd: parts })
  const manifest = JSON.parse(readFileSync(`${parts}/manifest.json`, 'utf8'))
  if (tamper) {
    const connection = new LibsqlFile(`${parts}/live.db`)
    connection.exec(tamper)
    connection.close()
    settle(`${parts}/live.db`)
    const bytes = readFileSync(`${parts}/live.db`)
    manifest.parts.live = { bytes: bytes.length, sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex') }
  }
  change(manifest)
  writeFileSync(`${parts}/manifest.json`, JSON.stringify(manifest))
  const file = `${folder()}/changed.tar`
  await create({ file, cwd: parts }, readdirSync(parts))
  return file
}

test('a backup that somebody has changed is refused in one line that says where, and nothing is made', async () => {
  const at = await shop()
  const dataDir = folder()
  mkdirSync(dataDir, { recursive: true })
  const same = () => {}
  const cases: [string, (manifest: any) => void, string?][] = [
    ['keys.0', (manifest) => (manifest.keys = [null])],
    ['keys.0.hash', ({ keys }) => delete keys[0].hash],
    ['store.slug', ({ store }) => (store.slug = {})],
    ['store.slug', ({ store }) => (store.slug = null)],
    ['schemaVersion', (manifest) => (manifest.schemaVersion = -5)],
    ['trigger thief', same, 'CREATE TRIGGER thief AFTER INSERT ON orders BEGIN DELETE FROM settings; END'],
    ['view orders_seen', same, 'CREATE VIEW orders_seen AS SELECT 1'],
    ['table mine', same, 'CREATE TABLE mine (a INTEGER)'],
    ['lacks the index', same, 'DROP INDEX audit_log_created'],
    ['schema', same, 'PRAGMA user_version = -5'],
  ]
  for (const [says, change, tamper] of cases) {
    const { code, stderr } = await stoa(dataDir, 'store', 'restore', at.id, '--from', await changed(at, change, tamper), '--yes')
    expect([code, stderr.trim().split('\n').length, stderr]).toEqual([1, 1, expect.stringContaining(says)])
    expect(stderr).not.toMatch(/TypeError|is not an object|SQLITE|bind/)
  }
  expect(readdirSync(dataDir).filter((name) => name.includes(at.id) || name.startsWith('.stoa-'))).toEqual([])
  expect((await stoa(dataDir, 'store', 'restore', at.id, '--from', await changed(at, same, 'VACUUM'))).code).toBe(0)
})

test('what the platform decides of a store is not taken from its backup', async () => {
  const at = await shop()
  await stoaJson(at.dataDir, 'store', 'update', at.id, '--plan', 'growth', '--email-domain-verified', 'true')
  const verified = "UPDATE settings SET email_domain_verified = 1, email = json_set(email, '$.domain', 'bank.example')"
  const file = await changed(at, ({ store }) => Object.assign(store, { plan: 'scale', aiBuilt: true }), verified)
  const restore = async (dataDir: string, ...more: string[]) => {
    const { plan, aiBuilt } = await stoaJson(dataDir, 'store', 'restore', at.id, '--from', file, '--yes', ...more)
    const database = new LibsqlFile(`${dataDir}/store-${at.id}.db`)
    const [[isVerified]] = database.prepare('SELECT email_domain_verified FROM settings').raw(true).all() as [[number]]
    database.close()
    return [plan, aiBuilt, isVerified]
  }
  // One that is there, one that was deleted, and one that nobody knows.
  expect(await restore(at.dataDir)).toEqual(['growth', false, 0])
  await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
  expect(await restore(at.dataDir)).toEqual(['growth', false, 0])
  const elsewhere = folder()
  expect(await restore(elsewhere)).toEqual(['starter', false, 0])
  expect(await restore(elsewhere, '--plan', 'growth')).toEqual(['growth', false, 0])
  expect(await restore(folder(), '--plan', 'growth', '--ai-built')).toEqual(['growth', true, 0])
  const { stdout } = await stoa(folder(), 'store', 'restore', at.id, '--from', file)
  expect(stdout).toContain('store update atelier --plan scale --ai-built')
  // What this very store has proven stays so.
  const database = new LibsqlFile(`${at.dataDir}/store-${at.id}.db`)
  database.exec(verified)
  database.close()
  expect(await restore(at.dataDir)).toEqual(['growth', false, 1])
})

describe('keys in a backup', () => {
  test('that belong to another store, or open one, are refused, and nothing is made', async () => {
    const at = await shop()
    const other = await createStore(at.dataDir, 'Other')
    const refused = async (file: string, dataDir: string) => {
      const { code, stderr } = await stoa(dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
      expect([code, readdirSync(dataDir).filter((name) => name.startsWith('.stoa-'))]).toEqual([1, []])
      return stderr
    }
    const elsewhere = folder()
    mkdirSync(elsewhere, { recursive: true })
    const foreign = await changed(at, ({ keys }) => (keys[0].storeId = other.id))
    expect(await refused(foreign, elsewhere)).toContain(`carries a key of another store`)
    expect(readdirSync(elsewhere).filter((name) => name.includes(at.id))).toEqual([])
    const hashes = new LibsqlFile(`${at.dataDir}/control.db`)
    const [[hash]] = hashes.prepare('SELECT hash FROM api_keys WHERE store_id = ?').raw(true).all(other.id) as [[string]]
    hashes.close()
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    const taken = await changed(at, ({ keys }) => (keys[0].hash = hash))
    expect(await refused(taken, at.dataDir)).toContain(`opens the store ${other.id}`)
    expect(readdirSync(at.dataDir).filter((name) => name.includes(at.id))).toEqual([])
  })

  test('that were revoked since stay revoked, also when the store was deleted meanwhile', async () => {
    const at = await shop()
    const lost = await stoaJson(at.dataDir, 'key', 'create', '--store', at.id)
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', at.file)
    await stoaJson(at.dataDir, 'key', 'revoke', lost.id)
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file)
    const { api } = await startApi({ DATA_DIR: at.dataDir })
    expect((await call(api, lost.key, 'GET', '/me')).status).toBe(401)
    expect((await call(api, at.admin, 'GET', '/me')).status).toBe(200)
  })

  test('that were replaced since do not come back without an end', async () => {
    const at = await shop()
    const { api } = await startApi({ DATA_DIR: at.dataDir })
    const old = (await call(api, at.admin, 'POST', '/api-keys', { name: 'till' })).body
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', at.file)
    expect((await call(api, at.admin, 'POST', `/api-keys/${old.id}/rotate`, { graceMinutes: 60 })).status).toBe(201)
    expect((await call(api, old.key, 'GET', '/me')).status).toBe(200)
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', at.file)
    expect((await call(api, old.key, 'GET', '/me')).status).toBe(401)
    expect((await call(api, at.admin, 'GET', '/me')).status).toBe(200)
  })
})
