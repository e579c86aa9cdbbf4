/** `stoa buy`: what it says where it can't buy; test/alone has it buy. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, cleanUp, createStore, folder, run, startApi } from './processes.ts'

let api: string
let keys: { admin: string; storefront: string }
const dataDir = folder()
beforeAll(async () => {
  ;({ keys } = await createStore(dataDir, 'Empty'))
  ;({ api } = await startApi({ DATA_DIR: dataDir }))
})
afterAll(cleanUp)

const buy = (env: Record<string, string>, ...args: string[]) =>
  run([process.execPath, 'scripts/stoa.ts', 'buy', ...args], { DATA_DIR: dataDir, STORE_URL: api, ...env }).ended

test.each([
  ['without a key', {}, [], /^error: STOREFRONT_KEY is not set: paste the line with export/, 1],
  ['with a key that there is not', { STOREFRONT_KEY: 'sk-0' }, [], /is refused with 401: invalid API key/, 1],
  [
    'where nothing answers',
    { STORE_URL: 'http://127.0.0.1:1', STOREFRONT_KEY: 'sk-0' },
    [],
    /^error: there is no answer at http:\/\/127\.0\.0\.1:1: start Stoa/,
    1,
  ],
  ['with what is no address', { STOREFRONT_KEY: 'sk-0' }, ['--url', 'shop'], /It is no address such as/, 2],
  ['with what is no country', { STOREFRONT_KEY: 'sk-0' }, ['--country', 'Poland'], /It is no code of a country/, 2],
])('%s it says what to do', async (_, env, args, expected, code) => {
  const ended = await buy(env as Record<string, string>, ...args)
  expect(ended.stderr).toMatch(expected)
  expect(ended.code).toBe(code)
})

test('buys what is in stock and is sent, and prints no key; of an empty store it says so', async () => {
  const env = { STOREFRONT_KEY: keys.storefront }
  expect((await buy(env)).stderr).toContain('has nothing in stock that could be sent')
  await call(api, keys.admin, 'POST', '/products', {
    name: 'Gift card',
    variants: [{ price: 90, shippable: false, stock: { quantity: 5 } }],
  })
  await call(api, keys.admin, 'POST', '/products', { name: "Ada's mug", variants: [{ price: 9, stock: { quantity: 1 } }] })
  expect((await buy(env)).stderr).toContain('nothing ships to US: name a country')
  await call(api, keys.admin, 'POST', '/shipping', { name: 'Post', type: 'courier', price: 3, countries: ['PL'] })
  const bought = await buy(env, '--country', 'pl', '--json')
  expect([bought.code, bought.stderr]).toEqual([0, ''])
  expect(JSON.parse(bought.stdout)).toMatchObject({
    status: 'paid',
    totalCents: 1200,
    currency: 'usd',
    email: 'ada@example.com',
    shop: null,
  })
  expect((await call(api, keys.admin, 'GET', '/orders')).body.data[0]).toMatchObject({ status: 'paid', lines: [{ name: "Ada's mug" }] })
  expect(bought.stdout).not.toContain(keys.storefront)
})
