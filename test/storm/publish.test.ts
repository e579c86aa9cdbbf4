/** Publishes of several stores at once, while the server, and a build of it, are killed at each of their states. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureProject } from '../../api/builder/project/workspace.ts'
import { killableStores } from './killable.ts'

const STORES = 5
const AT_ONCE = 20
const ENDED = ['live', 'domain_pending', 'failed']

let shops: Awaited<ReturnType<typeof killableStores>>

beforeAll(async () => {
  shops = await killableStores({ count: STORES, products: 3 }, ensureProject)
})
afterAll(() => shops?.close())

/** The connection may be one of the server that was killed. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  return work().catch(() => Bun.sleep(200).then(work))
}

const call = async (n: number, method: string, path: string) => {
  const response = await fetch(`${shops.server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${shops.stores[n]!.keys.admin}`, connection: 'close' },
  })
  return { status: response.status, body: (await response.json()) as any }
}
const home = (n: number) => fetch(`${shops.server.url}/`, { headers: { host: `shop-${n}.localhost`, connection: 'close' } })

/** Waits until the publish of a store has ended. */
async function verdict(n: number, id: string) {
  for (;;) {
    const { body } = await again(() => call(n, 'GET', `/publish/${id}`))
    if (ENDED.includes(body.status)) return body
    await Bun.sleep(100)
  }
}

/** Processes of builds that run. */
const builds = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      const command = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
      return command.includes(join(shops.folder, 'builds')) && /build-[0-9a-f-]{36}\.mjs/.test(command)
    } catch {
      return false
    }
  })

test('twenty publishes over five stores each end in their right status, and the live shops are never down', async () => {
  const first = await Promise.all(shops.stores.map((_, n) => call(n, 'POST', '/publish')))
  for (const [n, { body }] of first.entries()) expect(await verdict(n, body.publishId)).toMatchObject({ status: 'live' })
  let [down, asked] = [0, 0]
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      for (const n of shops.stores.keys()) {
        asked++
        if ((await home(n)).status !== 200) down++
      }
      await Bun.sleep(20)
    }
  })()
  const triggered = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, i) => call(i % STORES, 'POST', '/publish').then((answer) => ({ ...answer, n: i % STORES }))),
  )
  const taken = triggered.filter(({ status }) => status === 202)
  expect(taken).toHaveLength(STORES)
  expect(triggered.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - STORES)
  for (const { n, body } of taken)
    expect(await verdict(n, body.publishId)).toMatchObject({ status: 'live', deploymentId: body.deploymentId })
  isOver = true
  await watching
  expect([down, asked > 100]).toEqual([0, true])
}, 120_000)

test.each(['queued', 'building', 'verifying'] as const)(
  'a server that is killed while a publish is %s goes on with it at its next start',
  async (state) => {
    const before = await (await again(() => home(0))).text()
    const { body } = await again(() => call(0, 'POST', '/publish'))
    for (;;) {
      const { body: now } = await call(0, 'GET', `/publish/${body.publishId}`)
      if (now.status === state || ENDED.includes(now.status)) break
      await Bun.sleep(1)
    }
    await shops.server.kill()
    // Nothing of a build outlives the process that it is for.
    await Bun.sleep(300)
    expect(builds()).toEqual([])
    await shops.server.start()
    expect(await (await again(() => home(0))).text()).toBe(before)
    expect(await verdict(0, body.publishId)).toMatchObject({ status: 'live', deploymentId: body.deploymentId })
    expect((await home(0)).status).toBe(200)
  },
  60_000,
)

test('a build that is killed fails with a reason, and the live shop stays', async () => {
  const { body } = await again(() => call(1, 'POST', '/publish'))
  while (!builds().length) await Bun.sleep(5)
  for (const pid of builds()) process.kill(Number(pid), 'SIGKILL')
  expect(await verdict(1, body.publishId)).toMatchObject({ status: 'failed', reason: expect.stringContaining('SIGKILL') })
  expect((await home(1)).status).toBe(200)
}, 30_000)

test('a publish that kills its server is begun again once, and then given up', async () => {
  const { body } = await again(() => call(2, 'POST', '/publish'))
  for (let attempt = 0; attempt < 2; attempt++) {
    while (!builds().length) await Bun.sleep(5)
    await shops.server.kill()
    await shops.server.start()
  }
  expect(await verdict(2, body.publishId)).toMatchObject({ status: 'failed', reason: expect.stringContaining('the process ended') })
  expect((await home(2)).status).toBe(200)
  const anew = await again(() => call(2, 'POST', '/publish'))
  expect(await verdict(2, anew.body.publishId)).toMatchObject({ status: 'live' })
}, 90_000)
