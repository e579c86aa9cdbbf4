import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { folderFor } from '../folder.ts'
import { realClock } from '../../api/values/clock.ts'
import { createLog } from '../../api/server/log.ts'
import { MAILS_KEPT, pruneMails } from '../../api/outside/mail-folder.ts'
import { goRound } from '../../api/maintenance-rounds.ts'
import { sweep } from '../../api/maintenance.ts'
import { historyOf } from '../../db/control/history.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
})
afterAll(() => app.close())

const DAY_MS = 86_400_000
const sweepAfter = (ms: number) =>
  app.handles.use(shop.store.id, 'live', (store) =>
    sweep(store, { storeId: shop.store.id, environment: 'live' }, null, { ...realClock, now: () => new Date(Date.now() + ms) }),
  )
const count = (table: string) =>
  app.handles.use(shop.store.id, 'live', async ({ read }) =>
    Number(Object.values((await read.all<Record<string, number>>(sql.raw(`select count(*) from ${table}`)))[0]!)[0]),
  )

test('a sweep forgets what has expired, and nothing before', async () => {
  await shop.call('POST', '/brands', { name: 'Audited' }, { headers: { 'idempotency-key': 'k' } })
  const product = (await shop.call('POST', '/products', { name: 'Cup', price: 2, stock: { quantity: 9 } })).body
  await shop.call('POST', '/carts', {})
  const bought = (await shop.call('POST', '/carts', { items: [{ variantId: product.variants[0].id }] })).body
  const shippingMethodId = (await shop.call('POST', '/shipping', { name: 'Shop', type: 'in_store', price: 0 })).body.id
  await shop.call('POST', `/carts/${bought.id}/checkout`, { email: 'a@example.com', paymentMethod: 'manual', shippingMethodId })
  const all = async () => ({
    carts: await count('carts'),
    keys: await count('idempotency_keys'),
    events: await count('outbox'),
    audit: await count('audit_log'),
    orders: await count('orders'),
  })

  const before = await all()
  expect(before).toMatchObject({ carts: 2, keys: 1, orders: 1 })
  await sweepAfter(DAY_MS - 60_000)
  expect(await all()).toEqual(before)
  await sweepAfter(DAY_MS + 60_000)
  expect(await all()).toEqual({ ...before, keys: 0 })
  await sweepAfter(11 * DAY_MS + 60_000)
  expect(await all()).toEqual({ ...before, keys: 0, events: 0 })
  await sweepAfter(31 * DAY_MS)
  // The cart that became an order stays: who checks it out again is told which order it is.
  expect(await all()).toEqual({ ...before, keys: 0, events: 0, carts: 1 })
  await sweepAfter(401 * DAY_MS)
  expect(await all()).toEqual({ carts: 1, keys: 0, events: 0, audit: 0, orders: 1 })
})

test('events of the payment provider are forgotten once none of them can come again', async () => {
  await app.handles.use(shop.store.id, 'live', (store) =>
    store.write(async (tx) => {
      await tx.run(sql`insert into provider_events values ('evt_1', ${new Date().toISOString()})`)
    }),
  )
  await sweepAfter(34 * DAY_MS)
  expect(await count('provider_events')).toBe(1)
  await sweepAfter(36 * DAY_MS)
  expect(await count('provider_events')).toBe(0)
})

test('mails in files are kept for a month, and only the newest when there are many', async () => {
  const folder = folderFor('mails')
  const now = new Date()
  const write = (name: string, days: number) => {
    writeFileSync(join(folder, name), 'x')
    utimesSync(join(folder, name), now, new Date(now.getTime() - days * DAY_MS))
  }
  for (const [name, days] of [
    ['old.eml', 31],
    ['half.eml.part', 31],
    ['new.eml', 29],
    ['notes.txt', 99],
  ] as const)
    write(name, days)
  expect(await pruneMails(folder, now, false)).toBe(0)
  expect(await pruneMails(folder, now, true)).toBe(2)
  expect(readdirSync(folder).toSorted()).toEqual(['new.eml', 'notes.txt'])
  for (let i = 0; i < MAILS_KEPT + 4; i++) write(`m${i}.eml`, i < 4 ? 3 : 1)
  expect(await pruneMails(folder, now, false)).toBe(5)
  const left = new Set(readdirSync(folder))
  expect([left.size, ['m0.eml', 'm3.eml', 'new.eml'].filter((name) => left.has(name))]).toEqual([MAILS_KEPT + 1, []])
  rmSync(folder, { recursive: true })
  expect(await pruneMails(folder, now, true)).toBe(0)
})

test('more rows than one transaction takes go in several', async () => {
  await app.handles.use(shop.store.id, 'live', (store) =>
    store.write(async (tx) => {
      for (let i = 0; i < 1201; i++)
        await tx.run(
          sql`insert into outbox (id, event, payload, created_at) values (${Bun.randomUUIDv7()}, 'product.updated', '{}', '2020-01-01T00:00:00.000Z')`,
        )
    }),
  )
  await sweepAfter(0)
  expect(await count('outbox')).toBe(0)
})

describe('rounds over all stores', () => {
  const round = (signal = new AbortController().signal) => {
    const looked: string[] = []
    const runner = { look: async (storeId: string, environment: string) => void looked.push(`${storeId} ${environment}`) }
    const needs = {
      services: app.services,
      handles: app.handles,
      runner,
      mailFolder: app.mailFolder,
      log: createLog('silent'),
    }
    return goRound(needs, signal).then((swept) => ({ swept, looked }))
  }
  const expired = () =>
    app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        await tx.run(
          sql`insert into outbox (id, event, payload, created_at) values (${Bun.randomUUIDv7()}, 'product.updated', '{}', '2020-01-01T00:00:00.000Z')`,
        )
      }),
    )

  test('are made by one process at a time, and all look for jobs', async () => {
    await expired()
    const rounds = await Promise.all(Array.from({ length: 4 }, () => round()))
    expect(rounds.map(({ swept }) => swept).toSorted()).toEqual([false, false, false, true])
    for (const { looked } of rounds) expect(looked).toEqual([`${shop.store.id} live`, `${shop.store.id} sandbox`])
    expect(await count('outbox')).toBe(0)
    // Until the pause is over nobody begins another one.
    await expired()
    app.clock.advance(9 * 60_000)
    expect((await round()).swept).toBe(false)
    expect(await count('outbox')).toBe(1)
    app.clock.advance(60_000)
    expect((await round()).swept).toBe(true)
    expect(await count('outbox')).toBe(0)
  })

  test('go on after a process that died in the middle of one', async () => {
    app.clock.advance(3_600_000)
    const stopped = new AbortController()
    stopped.abort()
    expect((await round(stopped.signal)).swept).toBe(true)
    expect((await round()).swept).toBe(false)
    app.clock.advance(2 * 60_000)
    expect((await round()).swept).toBe(true)
  })
})

test('a round has the registry remember the numbers that were given, and writes nothing when there are none', async () => {
  const own = await testApp()
  const [selling, idle] = [await own.newStore(), await own.newStore()]
  const needs = {
    services: own.services,
    handles: own.handles,
    runner: { look: async () => {} },
    mailFolder: own.mailFolder,
    log: createLog('silent'),
  }
  const order = async () => {
    const product = (await selling.call('POST', '/products', { name: 'Cup', price: 2, stock: { quantity: 9 } })).body
    const cart = (await selling.call('POST', '/carts', { items: [{ variantId: product.variants[0].id }] })).body
    const shippingMethodId = (await selling.call('POST', '/shipping', { name: 'Shop', type: 'in_store', price: 0 })).body.id
    const bought = { email: 'a@example.com', paymentMethod: 'manual', shippingMethodId }
    expect((await selling.call('POST', `/carts/${cart.id}/checkout`, bought)).status).toBe(201)
  }
  const remembered = async () => (await historyOf(own.registry.control.read, selling.store.id))?.numbers.live
  try {
    for (const number of [1001, 1002]) {
      await order()
      own.clock.advance(3_600_000)
      await goRound(needs, new AbortController().signal)
      expect(await remembered()).toEqual({ order: number })
    }
    expect(await historyOf(own.registry.control.read, idle.store.id)).toBeUndefined()
  } finally {
    await own.close()
  }
})
