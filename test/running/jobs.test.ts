/** `stoa jobs` beside a server that runs, and what `stoa doctor` says before and after. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../db/open.ts'
import { readConfig } from '../../api/server/config.ts'
import { jobs } from '../../db/store/store.ts'
import { call, cleanUp, createStore, folder, seedInto, startStoa, stoa, stoaJson, type Started } from './processes.ts'

let dataDir: string
let server: Started
let stores: Awaited<ReturnType<typeof createStore>>[]
beforeAll(async () => {
  dataDir = folder()
  stores = [await createStore(dataDir, 'Nord'), await createStore(dataDir, 'Süd')]
  for (const { id } of stores) await seedInto(dataDir, id, { products: 2, customers: 1, orders: 1 })
  server = await startStoa({ DATA_DIR: dataDir })
})
afterAll(cleanUp)

async function givenUp(storeId: string, kind: string, subject: string): Promise<string> {
  const { database } = readConfig({ DATA_DIR: dataDir })
  const [id, at] = [Bun.randomUUIDv7(), new Date().toISOString()]
  const store = await openStore(database, storeId, 'live')
  await store.write((tx) =>
    tx.insert(jobs).values({
      ...{ id, kind, subject, dueAt: at, attempts: 0, asked: 1, createdAt: at, updatedAt: at },
      ...{ failedAt: at, error: 'connect ECONNREFUSED 127.0.0.1:25' },
    }),
  )
  store.close()
  return id
}
const doctor = async (): Promise<{ ok: boolean; message: string }> =>
  JSON.parse((await stoa(dataDir, 'doctor', '--json')).stdout).checks.find(({ name }: { name: string }) => name === 'jobs')
const listed = async (...more: string[]) => (await stoaJson(dataDir, 'jobs', 'list', ...more)).data

describe('stoa jobs', () => {
  test('lists what was given up in all stores, has a server run it again, and doctor is content', async () => {
    const [nord, south] = stores
    expect(await listed()).toEqual([])
    expect((await stoa(dataDir, 'jobs', 'list')).stdout).toBe('none\n')
    const { data } = (await call(server.api, nord!.keys.admin, 'GET', '/orders')).body
    const mail = await givenUp(nord!.id, 'order.mail', `order-confirmation ${data[0].id}`)
    const post = await givenUp(south!.id, 'post.visible', Bun.randomUUIDv7())
    expect(await doctor()).toMatchObject({ ok: false, message: expect.stringContaining('2 given up') })
    expect((await listed()).map(({ id }: { id: string }) => id).toSorted()).toEqual([mail, post].toSorted())
    expect(await listed('--store', south!.slug)).toEqual([
      expect.objectContaining({
        ...{ storeId: south!.id, environment: 'live', id: post, kind: 'post.visible', state: 'given_up' },
        error: 'connect ECONNREFUSED 127.0.0.1:25',
      }),
    ])
    expect(await listed('--kind', 'order.tickets')).toEqual([])
    expect((await stoa(dataDir, 'jobs', 'list')).stdout).toContain(mail)
    expect(await stoaJson(dataDir, 'jobs', 'retry', mail)).toMatchObject({ retried: 1, jobs: [{ id: mail, storeId: nord!.id }], left: [] })
    // The server looks after a third of a lease.
    const isDone = async () =>
      (await call(server.api, nord!.keys.admin, 'GET', `/jobs/${mail}`)).status === 404 && (await listed('--store', nord!.id)).length === 0
    while (!(await isDone())) await Bun.sleep(200)
    expect(await stoaJson(dataDir, 'jobs', 'drop', post)).toMatchObject({ dropped: 1 })
    expect(await doctor()).toMatchObject({ ok: true, message: 'none was given up' })
  }, 60_000)

  test('--all leaves what can only be dropped, and says why', async () => {
    const [nord] = stores
    const publish = await givenUp(nord!.id, 'builder.publish', Bun.randomUUIDv7())
    const retried = await stoaJson(dataDir, 'jobs', 'retry', '--all')
    expect(retried).toMatchObject({ retried: 0, left: [{ id: publish, error: expect.stringContaining('only dropped') }] })
    const refused = await stoa(dataDir, 'jobs', 'retry', publish)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('POST /publish begins another')])
    expect(await stoaJson(dataDir, 'jobs', 'drop', '--all', '--store', nord!.id)).toMatchObject({ dropped: 1, left: [] })
  }, 60_000)

  test('refuses an id of none, and a retry of nothing in particular', async () => {
    const none = await stoa(dataDir, 'jobs', 'drop', Bun.randomUUIDv7())
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^error: no job .+ was given up: see jobs list$/m)])
    for (const args of [['retry'], ['drop', 'x', '--all'], ['list', '--state', 'lost']])
      expect([args, (await stoa(dataDir, 'jobs', ...args)).code]).toEqual([args, 2])
  }, 60_000)
})
