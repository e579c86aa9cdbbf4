import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { carriersDouble, connecting } from '../doubles/carriers.ts'
import { call, cleanUp, createStore, type Env, folder, run } from './processes.ts'

const carriers = carriersDouble()
afterAll(async () => {
  carriers.close()
  await cleanUp()
})

/** Runs the API while something is done with it. */
async function served<T>(env: Env, use: (api: string) => Promise<T>): Promise<{ result: T; output: string }> {
  const server = run([process.execPath, 'api/main.ts'], { LOG: 'debug', ...env })
  const [, api] = await server.says(/Store API +(\S+)\/api\/v1\n/)
  const result = await use(api!)
  server.child.kill('SIGTERM')
  const { code, stdout, stderr } = await server.ended
  expect(code).toBe(0)
  return { result, output: stdout + stderr }
}

const KEY = 'b1946ac92492d2347c6235b4d2611184'

test('credentials outlive the server, under the key that it made once or SECRET_KEY, and are nowhere to be read', async () => {
  const dataDir = folder()
  const env = { DATA_DIR: dataDir, CARRIER_B_LIVE_URL: carriers.urls.carrier_b.live! }
  const { keys } = await createStore(dataDir, 'Lockers')
  const ask = async (api: string, method: string, path: string, body?: unknown) => (await call(api, keys.admin, method, path, body)).body
  const token = async (api: string) => {
    const { id } = await ask(api, 'POST', '/carts', {})
    return (await ask(api, 'GET', `/carts/${id}/shipping-options`)).data[0].pointPicker.token
  }
  const connect = (api: string) =>
    ask(api, 'PUT', '/addons/carrier_b', connecting(carriers, 'carrier_b', { geowidgetToken: 'for-the-map' }))

  const first = await served(env, async (api) => {
    const status = await connect(api)
    await ask(api, 'POST', '/shipping', { name: 'Locker', type: 'pickup_point', price: 4, addonName: 'carrier_b' })
    return [status.connected, await token(api)]
  })
  expect(first.result).toEqual([true, 'for-the-map'])
  const file = join(dataDir, 'secret.key')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const key = readFileSync(file, 'utf8')

  expect((await served(env, token)).result).toBe('for-the-map')
  expect(readFileSync(file, 'utf8')).toBe(key)
  const other = await served({ ...env, SECRET_KEY: KEY }, async (api) => [
    await token(api),
    (await connect(api)).connected,
    await token(api),
  ])
  expect(other.result).toEqual([null, true, 'for-the-map'])

  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
  for (const text of [first.output, other.output, ...files]) {
    expect(text).not.toContain(carriers.known.token)
    expect(text).not.toContain('for-the-map')
  }
  expect(first.output).toContain('/addons/carrier_b')
})
