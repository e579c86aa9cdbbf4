/** How orders are listed: each filter has an index in the order of the list. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FileConnection, ServerConnection } from '../../db/connection.ts'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
let app: TestApp
let shop: TestStore
let planner: Handle
const asked: string[] = []
const originals = [FileConnection, ServerConnection].map((kind) => [kind.prototype, kind.prototype.rows] as const)
for (const [prototype, rows] of originals)
  prototype.rows = function (this: never, text: string, params: unknown[]) {
    asked.push(text)
    return (rows as (text: string, params: unknown[]) => unknown[][]).call(this, text, params)
  } as never
beforeAll(async () => {
  app = await testApp({ rememberedBytes: 0 })
  shop = await app.newStore()
  planner = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
})
afterAll(() => {
  for (const [prototype, rows] of originals) prototype.rows = rows as never
  planner.close()
  return app.close()
})

test.each([
  ['status=paid', 'status'],
  ['paymentStatus=unpaid', 'payment_status'],
  ['source=admin', 'source'],
  ['workstation=unassigned', 'workstation_id'],
  [`workstation=${NOBODY}`, 'workstation_id'],
  [`customerId=${NOBODY}`, 'customer_id'],
  ['from=2026-01-01T00:00:00Z', 'created_at'],
])('?%s is looked up in an index, and not sorted', async (filter, column) => {
  asked.length = 0
  expect((await shop.call('GET', `/orders?${filter}`)).status).toBe(200)
  const statements = asked.filter((text) => /from "orders"/.test(text))
  expect(statements.length).toBe(2)
  for (const text of statements) {
    const plan = await planner.connection.rows(`explain query plan ${text}`, Array((text.match(/\?/g) ?? []).length).fill(null))
    const steps = plan.map((row) => String(row[3]))
    expect(steps).toEqual([expect.stringMatching(new RegExp(`^SEARCH orders USING (COVERING )?INDEX \\w+ \\(${column}[=>]`))])
  }
})
