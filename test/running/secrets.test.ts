/** The rotation of the key that seals: beside a server that runs, over a kill, with the key in a file and in the environment. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'
import { keysIn } from '../../api/server/key-file.ts'
import { secretsWith } from '../../api/outside/secrets.ts'
import { readConfig } from '../../api/server/config.ts'
import { sealingsOf } from '../../api/sealed-values.ts'
import { sealSecret, secretsOf } from '../../api/store/webhooks/webhook.ts'
import { openStore } from '../../db/open.ts'
import { webhooks } from '../../db/store/store.ts'
import { call, cleanUp, createStore, folder, ROOT, run, startStoa, stoa, stoaJson, type Env } from './processes.ts'

afterAll(cleanUp)

const [FIRST, SECOND] = ['591785b794601e212b260e25925636fd', '7d793037a0760186574b0282f2f435e7'] as const
const IDEMPOTENT = { 'idempotency-key': 'once' }
const HOOK = { url: 'https://hooks.example.com/', events: ['order.paid'] }

type Store = Awaited<ReturnType<typeof createStore>>
/** Has something of every kind sealed that a running server seals by itself: a webhook's secret, a ticket, a kept answer. */
async function sealSome(api: string, { keys: { admin } }: Store) {
  const post = async (path: string, body: unknown) => (await call(api, admin, 'POST', path, body)).body
  const hook = await fetch(`${api}/api/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', ...IDEMPOTENT },
    body: JSON.stringify(HOOK),
  })
  expect(hook.status).toBe(201)
  const { event } = await post('/events', { name: 'Workshop', price: '25', startsAt: '2099-12-05T10:00:00Z', location: 'Hall', guest: 'A' })
  const { variants } = (await call(api, admin, 'GET', `/products/${event.id}`)).body
  const cart = await post('/carts', { items: [{ variantId: variants[0].id, quantity: 3 }] })
  const { order } = await post(`/carts/${cart.id}/checkout`, { email: 'ada@example.com', paymentMethod: 'test' })
  return { secret: (await hook.json()).secret as string, code: order.accessCode as string }
}
type Some = Awaited<ReturnType<typeof sealSome>>

/** What still opens of it: how many tickets show their token, and the answer that is kept. */
async function opens(api: string, { keys: { admin } }: Store, { secret, code }: Some) {
  const found = (await call(api, admin, 'GET', `/tickets/${code}?email=ada@example.com`)).body
  const again = await fetch(`${api}/api/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', ...IDEMPOTENT },
    body: JSON.stringify(HOOK),
  })
  const tokens = found.lines[0].seats.filter(({ token }: { token: string | null }) => token !== null).length
  return { tokens, answer: again.status === 201 && (await again.json()).secret === secret }
}
const ALL = { tokens: 3, answer: true }

const credentials = async (env: Env) => {
  const { stdout } = await run([process.execPath, 'scripts/stoa.ts', 'doctor', '--json'], env).ended
  return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'credentials') as { ok: boolean; message: string }
}
const rotated = async (env: Env, ...more: string[]) => {
  const { code, stdout, stderr } = await run([process.execPath, 'scripts/stoa.ts', 'secrets', 'rotate', '--json', ...more], env).ended
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

describe('the key in the data folder', () => {
  test('is replaced beside a server that runs, which goes on without a restart', async () => {
    const dataDir = folder()
    const store = await createStore(dataDir, 'Nord')
    const server = await startStoa({ DATA_DIR: dataDir })
    const some = await sealSome(server.api, store)
    const [before] = keysIn(dataDir)
    // A webhook, three tickets, the answers to the request with a key.
    expect(await rotated({ DATA_DIR: dataDir }, '--new')).toEqual({ sealedAnew: 5, current: 0, closed: 0, failed: [] })
    expect(keysIn(dataDir)).toHaveLength(2)
    expect(await opens(server.api, store, some)).toEqual(ALL)
    expect(await credentials({ DATA_DIR: dataDir })).toMatchObject({
      ok: true,
      message: 'none are stored; nothing needs a key before the newest: run stoa secrets forget',
    })
    expect(await stoaJson(dataDir, 'secrets', 'forget')).toEqual({ forgotten: 1 })
    expect(keysIn(dataDir)).not.toContain(before)
    await Bun.sleep(1_100)
    expect(await opens(server.api, store, some)).toEqual(ALL)
    expect(await rotated({ DATA_DIR: dataDir })).toEqual({ sealedAnew: 0, current: 5, closed: 0, failed: [] })
  }, 60_000)

  test('is not forgotten while something needs it', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'Nord')
    const [old] = keysIn(dataDir)
    await seal(dataDir, id, old!, 3)
    const { addKey } = await import('../../api/server/key-file.ts')
    addKey(dataDir)
    expect((await credentials({ DATA_DIR: dataDir })).message).toContain(
      '3 sealed values need a key before the newest: run stoa secrets rotate',
    )
    const refused = await stoa(dataDir, 'secrets', 'forget')
    expect([refused.code, refused.stderr]).toEqual([1, 'error: 3 values need a key before the newest: run stoa secrets rotate first\n'])
    expect(keysIn(dataDir)).toHaveLength(2)
  }, 60_000)
})

/** Writes webhooks whose secrets a key has sealed. */
async function seal(dataDir: string, storeId: string, key: string, count: number) {
  const owner = { storeId, environment: 'live' as const }
  const secrets = secretsWith(key)
  const live = await openStore(readConfig({ DATA_DIR: dataDir }).database, storeId, 'live')
  const at = new Date().toISOString()
  for (let from = 0; from < count; from += 1_000)
    await live.write((tx) =>
      tx.insert(webhooks).values(
        Array.from({ length: Math.min(1_000, count - from) }, () => {
          const id = Bun.randomUUIDv7()
          const secret = sealSecret(secrets, owner, id, `whsec_${id}`)
          return { id, url: 'https://hooks.example.com/', events: [], active: false, secret, failures: 0, createdAt: at, updatedAt: at }
        }),
      ),
    )
  live.close()
}

describe('SECRET_KEY', () => {
  test('is replaced with the one before beside it, and that one is not needed afterwards', async () => {
    const dataDir = folder()
    const store = await createStore(dataDir, 'Nord')
    const first = await startStoa({ DATA_DIR: dataDir, SECRET_KEY: FIRST })
    const some = await sealSome(first.api, store)
    first.running.child.kill('SIGTERM')
    await first.running.ended
    const both = { DATA_DIR: dataDir, SECRET_KEY: SECOND, SECRET_KEY_OLD: FIRST }
    const second = await startStoa(both)
    expect(await opens(second.api, store, some)).toEqual(ALL)
    expect(await rotated(both)).toEqual({ sealedAnew: 5, current: 0, closed: 0, failed: [] })
    expect((await credentials(both)).message).toContain('nothing needs a key before the newest: take SECRET_KEY_OLD away')
    expect((await run([process.execPath, 'scripts/stoa.ts', 'secrets', 'rotate', '--new'], both).ended).code).toBe(1)
    second.running.child.kill('SIGTERM')
    await second.running.ended
    const third = await startStoa({ DATA_DIR: dataDir, SECRET_KEY: SECOND })
    expect(await opens(third.api, store, some)).toEqual(ALL)
  }, 90_000)

  test('leaves nothing unreadable when its change is killed in the middle, and goes on where it was', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'Nord')
    const count = 20_000
    await seal(dataDir, id, FIRST, count)
    const env = { DATA_DIR: dataDir, SECRET_KEY: SECOND, SECRET_KEY_OLD: FIRST }
    const keys = { newest: secretsWith(SECOND), all: secretsWith(SECOND, FIRST) }
    const live = await openStore(readConfig(env).database, id, 'live')
    const sealings = () => sealingsOf(live.read, { storeId: id, environment: 'live' }, keys)
    const begun = run([process.execPath, 'scripts/stoa.ts', 'secrets', 'rotate'], env)
    const first = async () =>
      (
        await live.read
          .select()
          .from(webhooks)
          .orderBy(sql`rowid`)
          .limit(1)
      )[0]!
    const isBegun = async () => {
      const row = await first()
      return secretsOf(keys.newest, { storeId: id, environment: 'live' }, row, '') !== null
    }
    while (!(await isBegun())) await Bun.sleep(1)
    begun.child.kill('SIGKILL')
    await begun.ended
    const left = await sealings()
    expect([left.closed, left.newest + left.old]).toEqual([0, count])
    expect(left.newest).toBeGreaterThan(0)
    expect(left.old).toBeGreaterThan(0)
    expect(await rotated(env)).toEqual({ sealedAnew: left.old, current: left.newest, closed: 0, failed: [] })
    expect(await sealings()).toEqual({ newest: count, old: 0, closed: 0 })
    live.close()
  }, 90_000)
})

test('what is sealed and stored is on the list of what is sealed anew', () => {
  const files = readdirSync(join(ROOT, 'api'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const sealing = files.filter((path) => /\bseal\(/.test(readFileSync(join(ROOT, 'api', path), 'utf8'))).toSorted()
  const stored = ['builder/feedback/session.ts', 'carriers/addon.ts', 'events/seat.ts', 'http/idempotency.ts', 'store/webhooks/webhook.ts']
  // Links, forms and cookies: they leave, and open with the keys before for as long as these are there.
  const leaving = [
    ...['builder/publishing/inspector.ts', 'builder/shop/cart-actions.ts', 'builder/shop/proven.ts', 'builder/shop/visit.ts'],
    ...['content/visitors/form-token.ts', 'orders/mails/review-link.ts', 'store/mails/shop-links.ts'],
  ]
  const own = ['server/key-file.ts', 'outside/secrets.ts', 'sealed-values.ts'].toSorted()
  expect(sealing).toEqual([...stored, ...leaving, ...own].toSorted())
  const list = readFileSync(join(ROOT, 'api/sealed-values.ts'), 'utf8')
  for (const path of stored) expect(list).toContain(`'./${path}'`)
})
