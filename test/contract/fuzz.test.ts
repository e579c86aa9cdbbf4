/** Every operation with made-up requests: whatever comes in, no answer is a failure of the server, a 422 or an undescribed status. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp, type TestStore } from '../harness.ts'
import { Requests } from './arbitrary.ts'
import { Caller, fill, nobody, operationsOf, type Operation } from './operations.ts'
import { idFor, seed, type Known } from './seed.ts'

/** `FUZZ_SEED=7 FUZZ_RUNS=500` tries others, and more. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_301)
const RUNS = Number(process.env.FUZZ_RUNS ?? 50)

const app = await testApp()
const document = (await app.send('GET', '/openapi')).body
const operations = operationsOf(document)

/** What takes things away, or turns tools off, comes after the rest. */
const order = ({ method, path }: Operation) =>
  path.startsWith('/settings') ? 3 : method === 'DELETE' ? 2 : /(cancel|finalize|transfer|reset)/.test(path) ? 1 : 0

let shop: TestStore
let known: Known
beforeAll(async () => {
  shop = await app.newStore({ plan: 'scale', aiBuilt: true })
  known = await seed(operations, app.send, shop.keys.admin)
})
afterAll(() => app.close())

test(`${RUNS} made-up requests to each operation, seed ${SEED}`, async () => {
  const caller = new Caller(app.send, shop.keys.admin)
  const requests = new Requests(document, known)
  const id = fc.oneof(
    { weight: 7, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...known.values()) },
    { weight: 1, arbitrary: fc.constantFrom(nobody(), 'x', '%00', '%F0%9F%91%A9', '..%2F', '%2F', 'x'.repeat(500), "'--", '__proto__') },
  )
  const headers = fc.oneof(
    { weight: 12, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'if-match': '*' },
        { 'if-match': 'x' },
        { 'if-none-match': '*' },
        { 'if-none-match': ',,"' },
        { 'accept-language': '\u00ff' },
      ),
    },
  )
  const keys = fc.oneof(
    { weight: 10, arbitrary: fc.constant(shop.keys.admin) },
    { weight: 1, arbitrary: fc.constantFrom(shop.keys.storefront, shop.keys.staging) },
  )
  for (const [i, operation] of operations.toSorted((a, b) => order(a) - order(b)).entries()) {
    const request = fc.record({
      ids: fc.array(id, { minLength: operation.params.length, maxLength: operation.params.length }),
      search: requests.search(operation.query),
      raw: operation.body ? requests.body(operation.body.schema, operation.body.example) : fc.constant(undefined),
      headers,
      key: keys,
    })
    for (const { ids, search, raw, headers: extra, key } of fc.sample(request, { seed: SEED + i, numRuns: RUNS })) {
      const chosen = [...ids]
      const path = operation.path.replace(
        /\{(\w+)\}/g,
        (_, name: string, at: number) => chosen.shift() ?? fill(`{${name}}`, () => idFor(known)(name, operation.path.slice(0, at - 1))),
      )
      const { status, body } = await caller.call(operation, search ? `${path}?${search}` : path, undefined, { raw, headers: extra, key })
      // What follows meets resources in many states, not always the first one.
      if (
        status === 201 &&
        key === shop.keys.admin &&
        operation.method === 'POST' &&
        typeof body?.id === 'string' &&
        caller.calls % 3 === 0
      )
        known.set(operation.path, body.id)
    }
  }
  expect(caller.calls).toBe(operations.length * RUNS)
  caller.verify()
}, 180_000)

test('the store still works afterwards', async () => {
  for (const { method, path, params, isPublic } of operations) {
    if (method !== 'GET' || params.length || isPublic) continue
    expect((await shop.call('GET', path)).status, path).toBeLessThan(500)
  }
})
