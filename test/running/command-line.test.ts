import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../api/server/config.ts'
import { databaseName, openDatabase } from '../../db/open.ts'
import { addons } from '../../db/store/addons.ts'
import { sealed } from '../../api/carriers/addon.ts'
import { secretsWith } from '../../api/outside/secrets.ts'
import { jobs } from '../../db/store/store.ts'
import { SCOPES } from '../../db/control/scopes.ts'
import { call, cleanUp, createStore, folder, run, seedInto, startStoa, stoa, stoaJson, type Started } from './processes.ts'

let dataDir: string
let server: Started
let store: { id: string; slug: string; keys: { admin: string; storefront: string; staging: string } }
beforeAll(async () => {
  dataDir = folder()
  store = await stoaJson(
    dataDir,
    'store',
    'create',
    '--name',
    'Łódź Kettles',
    '--plan',
    'scale',
    '--currency',
    'EUR',
    '--locale',
    'pl-PL',
    '--ai-built',
  )
  server = await startStoa({ DATA_DIR: dataDir })
})
afterAll(cleanUp)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const get = async (key: string, path: string) => await call(server.api, key, 'GET', path)

describe('stoa store', () => {
  test('create prints the store and its three keys', async () => {
    expect(store).toEqual({
      id: expect.stringMatching(UUID),
      slug: 'lodz-kettles',
      keys: {
        admin: expect.stringMatching(/^sk-(?!s-)/),
        storefront: expect.stringMatching(/^sk-(?!s-)/),
        staging: expect.stringMatching(/^sk-s-/),
      },
    })
    const { store: seen, key } = (await get(store.keys.admin, '/me')).body
    expect(seen).toMatchObject({ id: store.id, name: 'Łódź Kettles', plan: 'scale', currency: 'eur', locale: 'pl-PL', aiBuilt: true })
    expect(key).toMatchObject({ environment: 'live', scopes: null })
    expect((await get(store.keys.storefront, '/me')).body.key.scopes).toEqual([
      'storefront:read',
      'storefront:write',
      'cart:write',
      'order:lookup',
    ])
    expect((await get(store.keys.staging, '/me')).body.key).toMatchObject({ environment: 'sandbox', scopes: null })
  })

  test('a store made beside a running server is served at once; a taken name gets the next slug', async () => {
    const second = await stoaJson(dataDir, 'store', 'create', '--name', 'Łódź Kettles')
    expect(second.slug).toBe('lodz-kettles-2')
    expect((await get(second.keys.admin, '/me')).body.store).toMatchObject({
      plan: 'starter',
      currency: 'usd',
      locale: 'en-US',
      aiBuilt: false,
    })
  })

  test('create refuses what is no currency, locale, slug or plan with 2, and a taken slug with 1', async () => {
    for (const args of [
      ['--currency', 'xxq'],
      ['--locale', 'english'],
      ['--slug', 'A b'],
      ['--slug', store.id],
      ['--plan', 'huge'],
    ]) {
      const { code, stdout, stderr } = await stoa(dataDir, 'store', 'create', '--name', 'x', ...args, '--json')
      expect([code, stdout], args.join(' ')).toEqual([2, ''])
      expect(stderr).toContain(args[1]!)
    }
    expect(await stoa(dataDir, 'store', 'create', '--name', 'x', '--slug', store.slug, '--json')).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: the slug ${store.slug} is taken: choose another one\n`,
    })
  })

  test('update changes what the platform decides, and servers see it', async () => {
    const { id } = await stoaJson(dataDir, 'store', 'create', '--name', 'Plain')
    expect(
      await stoaJson(dataDir, 'store', 'update', id, '--plan', 'growth', '--ai-built', '--email-domain-verified', 'true'),
    ).toMatchObject({ id, slug: 'plain', plan: 'growth', aiBuilt: true, emailDomainVerified: true })
    expect(await stoaJson(dataDir, 'store', 'update', id, '--email-domain-verified', 'false')).toMatchObject({
      plan: 'growth',
      aiBuilt: true,
      emailDomainVerified: false,
    })
    const quotas = async (disk: string, builds: string) => {
      await stoaJson(dataDir, 'store', 'update', id, '--disk-quota-mb', disk, '--builds-per-day', builds)
      return (await stoaJson(dataDir, 'store', 'update', id, '--plan', 'growth')) as object
    }
    expect(await quotas('70', '3')).toMatchObject({ diskQuotaMb: 70, buildsPerDay: 3 })
    expect(await quotas('plan', 'plan')).toMatchObject({ diskQuotaMb: 50_000, buildsPerDay: 200 })
    expect((await stoa(dataDir, 'store', 'update', id, '--disk-quota-mb', 'much')).code).toBe(2)
    expect((await stoa(dataDir, 'store', 'update', id)).code).toBe(2)
    expect((await stoa(dataDir, 'store', 'update', crypto.randomUUID(), '--plan', 'scale')).code).toBe(1)
  })

  test('list shows all stores; delete needs --yes, and takes keys and databases with it', async () => {
    const gone = await stoaJson(dataDir, 'store', 'create', '--name', 'Gone')
    const ids = async () => (await stoaJson(dataDir, 'store', 'list')).data.map(({ id }: { id: string }) => id)
    expect(await ids()).toContain(gone.id)
    expect((await get(gone.keys.admin, '/products')).status).toBe(200)
    expect((await stoa(dataDir, 'store', 'delete', gone.id)).code).toBe(2)
    expect(await stoaJson(dataDir, 'store', 'delete', gone.id, '--yes')).toEqual({ ok: true, deleted: 1, id: gone.id })
    expect(await ids()).not.toContain(gone.id)
    expect((await get(gone.keys.admin, '/me')).status).toBe(401)
    expect(readdirSync(dataDir).filter((file) => file.includes(gone.id))).toEqual([])
    expect((await stoa(dataDir, 'store', 'delete', gone.id, '--yes')).code).toBe(1)
  })
})

describe('stoa key', () => {
  test('a key is shown once, limited to its scopes, and useless once revoked', async () => {
    const { id, key } = await stoaJson(
      dataDir,
      'key',
      'create',
      '--store',
      store.id,
      '--name',
      'till',
      '--scopes',
      'orders:read, storefront:read',
    )
    expect((await get(key, '/me')).body.key).toEqual({ id, name: 'till', environment: 'live', scopes: ['orders:read', 'storefront:read'] })
    const listed = await stoaJson(dataDir, 'key', 'list', '--store', store.id)
    const { lastUsedAt, ...row } = listed.data.find((row: { id: string }) => row.id === id)
    expect(lastUsedAt === null || lastUsedAt.endsWith(':00:00.000Z')).toBe(true)
    expect(row).toEqual({
      id,
      name: 'till',
      prefix: key.slice(0, 8),
      environment: 'live',
      scopes: ['orders:read', 'storefront:read'],
      createdAt: expect.any(String),
      expiresAt: null,
      revokedAt: null,
    })
    expect(JSON.stringify(listed)).not.toContain(key)
    const revoked = await stoaJson(dataDir, 'key', 'revoke', id)
    expect(revoked).toEqual({ id, revokedAt: expect.stringMatching(/^20.*Z$/) })
    expect((await get(key, '/me')).status).toBe(401)
    // Whoever looks into what a key was used for needs the first time.
    expect(await stoaJson(dataDir, 'key', 'revoke', id)).toEqual(revoked)
  })

  test('an empty name is a usage error that names the option, for a key as for a store', async () => {
    for (const command of [
      ['key', 'create', '--store', store.id],
      ['store', 'create'],
    ])
      for (const name of ['', '  ']) {
        const { code, stdout, stderr } = await stoa(dataDir, ...command, '--name', name)
        expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/--name <name>.* is invalid/)])
      }
  })

  test('--scopes given twice counts twice', async () => {
    const scopes = ['--scopes', 'orders:read,team:read', '--scopes', 'team:read', '--scopes', 'cart:write']
    const { key } = await stoaJson(dataDir, 'key', 'create', '--store', store.id, ...scopes)
    expect((await get(key, '/me')).body.key.scopes).toEqual(['orders:read', 'team:read', 'cart:write'])
  })

  test('--expires ends a key, and takes an instant of the future alone', async () => {
    const { id, key } = await stoaJson(dataDir, 'key', 'create', '--store', store.id, '--expires', '2999-12-31T23:00:00-01:00')
    expect((await get(key, '/me')).status).toBe(200)
    const { data } = await stoaJson(dataDir, 'key', 'list', '--store', store.id)
    expect(data.find((row: { id: string }) => row.id === id).expiresAt).toBe('3000-01-01T00:00:00.000Z')
    for (const expires of ['2020-01-01T00:00:00Z', '2999-12-31', 'tomorrow', '']) {
      const { code, stderr } = await stoa(dataDir, 'key', 'create', '--store', store.id, '--expires', expires)
      expect([code, stderr]).toEqual([2, expect.stringMatching(/--expires <instant>.* is invalid/)])
    }
    // Read from the API, which notes the use of a key itself.
    const [used] = (await get(store.keys.admin, '/api-keys?limit=1')).body.data
    expect(used).toMatchObject({ name: 'admin', lastUsedAt: expect.stringMatching(/:00:00.000Z$/) })
  })

  test('--staging makes a key of the sandbox; an unknown scope is a usage error that lists all 24', async () => {
    const { key } = await stoaJson(dataDir, 'key', 'create', '--store', store.slug, '--staging')
    expect(key).toMatch(/^sk-s-/)
    const { code, stderr } = await stoa(dataDir, 'key', 'create', '--store', store.id, '--scopes', 'orders:read,orders:delete')
    expect(code).toBe(2)
    expect(stderr).toContain('orders:delete')
    expect(SCOPES).toHaveLength(24)
    for (const scope of SCOPES) expect(stderr).toContain(scope)
    expect((await stoa(dataDir, 'key', 'create', '--store', store.id, '--scopes', ' ')).code).toBe(2)
    expect((await stoa(dataDir, 'key', 'create', '--store', store.id, '--scopes', 'orders:read', '--scopes', '')).code).toBe(2)
    expect((await stoa(dataDir, 'key', 'revoke', crypto.randomUUID())).code).toBe(1)
  })
})

test('stoa team add makes a member; the same address again is refused', async () => {
  const member = await stoaJson(
    dataDir,
    'team',
    'add',
    '--store',
    store.id,
    '--email',
    'Ada@Example.COM',
    '--name',
    'Ada',
    '--role',
    'owner',
  )
  expect(member).toEqual({ id: expect.stringMatching(UUID), email: 'ada@example.com', role: 'owner' })
  expect((await get(store.keys.admin, '/team')).body.data).toMatchObject([
    { id: member.id, email: 'ada@example.com', name: 'Ada', role: 'owner' },
  ])
  expect(await stoa(dataDir, 'team', 'add', '--store', store.id, '--email', 'ada@example.com')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: ada@example.com is a member of ${store.slug} already\n`,
  })
  expect((await stoa(dataDir, 'team', 'add', '--store', store.id, '--email', 'nobody')).code).toBe(2)
})

describe('stoa', () => {
  test('wrong usage is exit 2 with nothing on standard output; asking for help is 0', async () => {
    for (const args of [[], ['store'], ['nope'], ['store', 'create'], ['store', 'list', '--nope'], ['key', 'create']])
      expect(await stoa(dataDir, ...args), args.join(' ')).toMatchObject({ code: 2, stdout: '' })
    const { code, stdout } = await stoa(dataDir, '--help')
    expect([code, ['store', 'key', 'team', 'backup', 'doctor', 'seed'].filter((name) => !stdout.includes(`\n  ${name} `))]).toEqual([0, []])
    expect((await stoa(dataDir, '--help', 'store')).stdout).toBe(stdout)
    expect((await stoa(dataDir, 'stroe', 'list', 'key')).stderr).toContain('Did you mean store?')
    expect((await stoa(dataDir, 'store', 'create', '--help')).stdout).toContain('--ai-built')
  })

  test('with --json, wherever it stands, the version and help are documents, too', async () => {
    const { version } = await Bun.file('package.json').json()
    expect((await stoa(dataDir, '--version')).stdout).toBe(`${version}\n`)
    for (const args of [
      ['--json', '--version'],
      ['--version', '--json'],
    ])
      expect(JSON.parse((await stoa(dataDir, ...args)).stdout)).toEqual({ version })
    for (const args of [
      ['--json', '--help'],
      ['--help', '--json'],
      ['help', '--json'],
      ['help', 'store', '--json'],
      ['store', '-h', '--json'],
    ]) {
      const { code, stdout, stderr } = await stoa(dataDir, ...args)
      expect([code, stderr], args.join(' ')).toEqual([0, ''])
      expect(JSON.parse(stdout), args.join(' ')).toEqual({ help: expect.stringMatching(/^Usage: stoa /) })
    }
    expect(await stoa(dataDir, '--json')).toMatchObject({ code: 2, stdout: '' })
  })

  test('through npm, standard output with --json is one document and nothing else', async () => {
    const { code, stdout } = await run(['npm', 'run', '-s', 'stoa', '--', 'store', 'list', '--json'], { DATA_DIR: dataDir }).ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout).meta.count).toBeGreaterThan(0)
  })

  test('a wrong configuration is one line on standard error', async () => {
    expect(await run([process.execPath, 'scripts/stoa.ts', 'store', 'list', '--json'], { DATA_DIR: dataDir, LOG: 'loud' }).ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: LOG is "loud": expected debug, info, warn or silent\n',
    })
  })
})

describe('stoa publish --wait', () => {
  test('sees to its end what a process has left that was killed, without a server', async () => {
    const folderOfIt = folder()
    const { id } = await createStore(folderOfIt, 'Left')
    await stoaJson(folderOfIt, 'store', 'update', id, '--ai-built')
    await seedInto(folderOfIt, id, { products: 2, customers: 1, orders: 0 })
    const begun = run([process.execPath, 'scripts/stoa.ts', 'publish', '--store', id, '--wait', '--json'], { DATA_DIR: folderOfIt })
    const isBuilt = () => existsSync(`${folderOfIt}/builds`) && readdirSync(`${folderOfIt}/builds`).some((name) => name.startsWith('dpl_'))
    while (!isBuilt()) await Bun.sleep(20)
    begun.child.kill('SIGKILL')
    await begun.ended
    expect(await stoaJson(folderOfIt, 'publish', '--store', id, '--wait')).toMatchObject({ status: 'live' })
    expect((await stoaJson(folderOfIt, 'deployments', '--store', id)).data).toHaveLength(2)
  }, 90_000)
})

describe('stoa doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const { code, stdout } = await run([process.execPath, 'scripts/stoa.ts', 'doctor', '--json'], env).ended
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { name: string; ok: boolean; message: string }[] }
    expect(code).toBe(ok ? 0 : 1)
    return { checks, broken: checks.filter((check) => !check.ok).map(({ name, message }) => `${name}: ${message}`) }
  }

  test('finds everything in order', async () => {
    const { checks, broken } = await doctor({ DATA_DIR: dataDir })
    expect(broken).toEqual([])
    expect(checks.map((check) => check.name)).toEqual([
      'configuration',
      'databases',
      'jobs',
      'credentials',
      'disk',
      'files',
      'builds',
      'chromium',
      'mail',
    ])
  })

  test('tells of jobs that were given up, with their error', async () => {
    const { id } = store
    const now = new Date().toISOString()
    const { database } = readConfig({ DATA_DIR: dataDir })
    const live = await openDatabase(database, databaseName(id, 'live'), 'store')
    await live.write((tx) =>
      tx.insert(jobs).values({
        ...{ id: Bun.randomUUIDv7(), kind: 'newsletter.deliver', subject: 'n1', dueAt: now, attempts: 5, asked: 1, createdAt: now },
        ...{ updatedAt: now, failedAt: now, error: 'connection refused' },
      }),
    )
    expect((await doctor({ DATA_DIR: dataDir })).broken).toEqual([
      `jobs: 1 given up, such as newsletter.deliver of store ${id} (n1): connection refused; mend the cause, then run stoa jobs retry --all, or drop them: see stoa jobs list`,
    ])
    await live.write((tx) => tx.delete(jobs))
    live.close()
  })

  test('tells of credentials that were sealed with another key', async () => {
    const { database } = readConfig({ DATA_DIR: dataDir })
    const live = await openDatabase(database, databaseName(store.id, 'live'), 'store')
    const text = sealed(secretsWith('a-key-of-another-time-0123456789abcdef'), 'carrier_b', 'live', { token: 't', orgId: '1' })
    const now = new Date().toISOString()
    await live.write((tx) =>
      tx
        .insert(addons)
        .values({ id: Bun.randomUUIDv7(), name: 'carrier_b', config: {}, live: text, test: null, createdAt: now, updatedAt: now }),
    )
    const message = `those of 1 addons were sealed with another key, such as carrier_b of store ${store.id}: put that SECRET_KEY (or secret.key) back, or connect them again`
    expect((await doctor({ DATA_DIR: dataDir })).broken).toEqual([`credentials: ${message}`])
    expect(
      (await doctor({ DATA_DIR: dataDir, SECRET_KEY: 'a-key-of-another-time-0123456789abcdef' })).broken.filter((line) =>
        line.startsWith('credentials'),
      ),
    ).toEqual([])
    await live.write((tx) => tx.delete(addons))
    live.close()
  })

  test('says what is broken and what to do, and makes nothing', async () => {
    const empty = `${folder()}/none`
    expect((await doctor({ DATA_DIR: empty })).broken).toEqual([])
    expect(existsSync(empty)).toBe(false)
    expect((await doctor({ DATA_DIR: empty, API_PORT: 'x' })).broken).toEqual([
      expect.stringMatching(/^configuration: API_PORT is "x": expected/),
    ])
    expect((await doctor({ DATA_DIR: empty, STRIPE_SECRET_KEY: 'sk_test_1' })).broken).toEqual([
      expect.stringContaining('STRIPE_WEBHOOK_SECRET'),
    ])
    const damaged = folder()
    writeFileSync(`${damaged}/control.db`, 'no database')
    expect((await doctor({ DATA_DIR: damaged })).broken).toEqual([
      expect.stringMatching(/^databases: the control database can't be opened \(file is not a database\): check DATA_DIR/),
    ])
  })

  test('says in the words of the start that the data folder is none, or can be none', async () => {
    const file = `${folder()}/file`
    writeFileSync(file, '')
    for (const at of [file, `${file}/below`]) {
      const { stderr } = await run([process.execPath, 'scripts/start.ts'], { DATA_DIR: at }).ended
      expect(stderr).toMatch(/^DATA_DIR .* can't be written \((EEXIST|ENOTDIR)\): .*\n$/)
      expect((await doctor({ DATA_DIR: at })).broken).toEqual([`disk: ${stderr.trim()}`])
    }
    expect((await doctor({ DATA_DIR: dataDir, DATABASE_URL: `file:${file}/below/{name}.db` })).broken).toEqual([
      expect.stringMatching(/^databases: .*\/file\/below can't be written \(ENOTDIR\): set DATABASE_URL/),
    ])
  })

  test('asks the mail server for its greeting', async () => {
    const mail = createServer((socket) => socket.end('220 mail.example ESMTP\r\n')).listen(0, '127.0.0.1')
    await new Promise((done) => mail.once('listening', done))
    const { port } = mail.address() as { port: number }
    expect((await doctor({ DATA_DIR: dataDir, SMTP_URL: `smtp://127.0.0.1:${port}` })).broken).toEqual([])
    await new Promise((done) => mail.close(done))
    expect((await doctor({ DATA_DIR: dataDir, SMTP_URL: `smtp://user:hunter2@127.0.0.1:${port}` })).broken).toEqual([
      expect.stringMatching(/^mail: 127\.0\.0\.1:\d+ does not greet .*: check SMTP_URL$/),
    ])
  })
})
