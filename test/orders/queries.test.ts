/** How orders are listed: each filter has an index in the order of the list. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { watchStatements } from '../plans.ts'

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
let app: TestApp
let shop: TestStore
let planner: Handle
const watch = watchStatements()
beforeAll(async () => {
  app = await testApp({ rememberedBytes: 0 })
  shop = await app.newStore()
  planner = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
})
afterAll(() => {
  watch.end()
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
  const asked = await watch.of(async () => expect((await shop.call('GET', `/orders?${filter}`)).status).toBe(200))
  const statements = asked.filter((text) => /from "orders"/.test(text))
  expect(statements.length).toBe(2)
  for (const text of statements) {
    const plan = await planner.connection.rows(`explain query plan ${text}`, Array((text.match(/\?/g) ?? []).length).fill(null))
    const steps = plan.map((row) => String(row[3]))
    expect(steps).toEqual([expect.stringMatching(new RegExp(`^SEARCH orders USING (COVERING )?INDEX \\w+ \\(${column}[=>]`))])
  }
})
