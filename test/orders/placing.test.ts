/** Many orders on their way to workstations: what places one, and what places all, reads no more than it needs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { testApp, type TestApp } from '../harness.ts'
import { seeStatements, unpacked } from '../plans.ts'
import { made, newShop, type Shop } from '../shop.ts'

/** More than are moved at a time. */
const MANY = 410
let app: TestApp
let shop: Shop
let planner: Handle
let variantId: string
const asked: { text: string; params: unknown[] }[] = []
const end = seeStatements(['file.rows', 'file.row', 'server.rows'], (text, params) => asked.push({ text: unpacked(text), params }))
beforeAll(async () => {
  app = await testApp()
  shop = await newShop(app, { plan: 'growth' })
  planner = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
  variantId = await shop.variant({ stock: { quantity: 1_000 } })
})
afterAll(() => {
  end()
  planner.close()
  return app.close()
})

const record = async (source = 'admin') =>
  made(
    await shop.call('POST', '/orders', {
      source,
      customer: { email: 'ada@example.com' },
      items: [{ variantId, quantity: 1, unitPrice: 5 }],
      paid: true,
    }),
  )
const table = async (name: string) => made(await shop.call('POST', '/workstations', { name }))
const put = async (rules: object[]) => (await shop.call('PUT', '/workstations/rules', { rules })).body
const waitingAt = async (id: string) => (await shop.get(`/orders?workstation=${id}&limit=1`)).body.meta.count
const planOf = async (text: string) =>
  (await planner.connection.rows(`explain query plan ${text}`, Array((text.match(/\?/g) ?? []).length).fill(null))).map((row) =>
    String(row[3]),
  )

test('all orders that wait are placed, evenly, and all of them are placed again when a workstation closes', async () => {
  for (let n = 0; n < MANY; n += 41) await Promise.all(Array.from({ length: 41 }, () => record()))
  const [a, b] = [await table('A'), await table('B')]
  expect((await put([{ workstationIds: [a.id, b.id] }])).placedOrderCount).toBe(MANY)
  expect([await waitingAt(a.id), await waitingAt(b.id)]).toEqual([MANY / 2, MANY / 2])
  expect((await put([{ workstationIds: [a.id, b.id] }])).placedOrderCount).toBe(0)
  expect((await shop.call('PATCH', `/workstations/${b.id}`, { active: false })).body.releasedOrderCount).toBe(MANY / 2)
  expect([await waitingAt(a.id), await waitingAt(b.id)]).toEqual([MANY, 0])
  expect((await shop.call('DELETE', `/workstations/${a.id}`)).body.releasedOrderCount).toBe(MANY)
  expect(await waitingAt('unassigned')).toBe(MANY)
})

test('those that wait undecided are found in parts, along an index', async () => {
  const a = await table('C')
  asked.length = 0
  expect((await put([{ workstationIds: [a.id] }])).placedOrderCount).toBe(MANY)
  const found = asked.filter(({ text }) => /^select .* from "orders" .* limit \?$/.test(text))
  expect(found).toHaveLength(3)
  expect(await planOf(found[0]!.text)).toEqual([
    expect.stringMatching(
      /^SEARCH orders USING INDEX orders_waiting \(workstation_id=\? AND workstation_by=\? AND \(created_at,id\)>\(\?,\?\)\)/,
    ),
  ])
})

test('to place one order, the queues of the rule that it meets are counted, and no others', async () => {
  const [d, e] = [await table('D'), await table('E')]
  await put([
    { sources: ['wholesale'], workstationIds: [d.id] },
    { sources: ['admin'], workstationIds: [e.id] },
  ])
  asked.length = 0
  expect((await record('admin')).workstationId).toBe(e.id)
  const counted = asked.filter(({ text }) => text.includes('select count(*) from "orders"'))
  expect(counted.map(({ params }) => params.filter((value) => String(value).startsWith('[')))).toEqual([[JSON.stringify([e.id])]])
})
