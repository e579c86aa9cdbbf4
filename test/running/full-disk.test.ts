/** A server whose disk is full, or fails: what it answers and says meanwhile, and that it goes on without a restart. */
import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { png } from '../content/pictures.ts'
import { cleanUp, createStore, folder, run, type Running, seedInto, stoaJson } from './processes.ts'
import { limitedFiles, smallFileSystem, type Place } from './small-disk.ts'

const places: Place[] = []
afterAll(async () => {
  for (const place of places) place.remove()
  await cleanUp()
})

const full = smallFileSystem(24 * 1024 * 1024)
const failing = limitedFiles()
places.push(...(full ? [full] : []), failing)

const json = { 'content-type': 'application/json' }

async function started(place: Place) {
  const { id, keys } = await createStore(place.path, 'Shop')
  const running = place.start([process.execPath, 'api/main.ts'], { DATA_DIR: place.path, LOG: 'warn', RATE_LIMIT: '2000:4000' })
  const [, api] = await running.says(/Store API +(\S+)\/api\/v1/)
  const send = (method: string, path: string, body?: unknown, key = keys.admin) =>
    fetch(`${api}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body instanceof FormData || body === undefined ? {} : json) },
      body: body instanceof FormData ? body : body === undefined ? undefined : JSON.stringify(body),
    })
  return { id, keys, api: api!, running, send, ready: () => fetch(`${api}/readyz`) }
}

const until = async (isSo: () => Promise<boolean>) => {
  for (const deadline = Date.now() + 20_000; !(await isSo()); await Bun.sleep(100))
    if (Date.now() > deadline) throw new Error('it did not come to that')
}
const warnings = ({ stdout }: Running) =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
const namesOf = async (send: Awaited<ReturnType<typeof started>>['send']) => {
  const names: string[] = []
  for (let offset = 0; ; offset += 100) {
    const { data } = (await (await send('GET', `/brands?limit=100&offset=${offset}`)).json()) as { data: { name: string }[] }
    names.push(...data.map(({ name }) => name))
    if (data.length < 100) return names.toSorted()
  }
}

/** What was begun and not ended: files on trial, copies, images without a row. */
const leftovers = (dataDir: string) =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (/\.(new|template)-|^\.ready/.test(entry.name) || entry.parentPath.includes('media')))
    .map(({ name }) => name)

/** What a data folder has, without the logs of its databases: one goes when its database is opened and closed once more. */
const namesIn = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .toSorted()

describe.each([
  // Where nobody may mount a file system, the limit of the system stands for both.
  { title: 'a disk that is full', place: full ?? failing, status: full ? 507 : 503, words: full ? 'the disk is full' : "can't be" },
  { title: "a disk that can't be written", place: failing, status: 503, words: "the disk can't be" },
])('$title', ({ place, status, words }) => {
  test('refuses every write with what is wrong, goes on reading, loses nothing, and is written again without a restart', async () => {
    const { api, keys, running, send, ready } = await started(place)
    const kept: string[] = []
    const write = async (name: string, key = keys.admin) => {
      const answer = await send('POST', '/brands', { name }, key)
      if (answer.status === 201) kept.push(name)
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: (await answer.json()) as { error: string } }
    }
    for (let i = 0; i < 20; i++) await write(`before ${i}`)
    expect(kept).toHaveLength(20)
    // Keys that nobody has used: each needs a place in the table of the rate limits, which others have not needed.
    const fresh: string[] = []
    for (let i = 0; i < 30; i++) fresh.push(((await (await send('POST', '/api-keys', { name: `${i}` })).json()) as { key: string }).key)
    expect((await ready()).status).toBe(200)
    expect((await send('GET', '/brands', undefined, keys.staging)).status).toBe(200)

    await place.fill()
    const refused: Awaited<ReturnType<typeof write>>[] = []
    for (let i = 0; i < 300 && refused.length < 200; i++) {
      const answer = await write(`meanwhile ${i}`, fresh[i % fresh.length])
      if (answer.status !== 201) refused.push(answer)
    }
    // Not a single one passes once the first has been refused.
    expect(refused.slice(0, 200).map((answer) => answer.status)).toEqual(Array(200).fill(status))
    expect(refused[0]!.retryAfter).toMatch(/^\d+$/)
    expect(refused[0]!.body.error).toMatch(/^the server's disk (is full|can't be read or written)/)
    const form = new FormData()
    form.set('file', new File([await png(900, 600)], 'cup.png'))
    expect((await send('POST', '/media', form)).status).toBe(status)
    const together = await Promise.all(Array.from({ length: 50 }, (_, i) => write(`together ${i}`)))
    expect(new Set(together.map((answer) => answer.status))).toEqual(new Set([status]))
    expect(await namesOf(send)).toEqual(kept.toSorted())
    const notReady = await ready()
    expect(notReady.status).toBe(503)
    expect(((await notReady.json()) as { error: string }).error).toContain(words)
    expect((await fetch(`${api}/healthz`)).status).toBe(200)

    await place.free()
    await until(async () => (await ready()).status === 200)
    expect((await write('after')).status).toBe(201)
    expect(await namesOf(send)).toEqual(kept.toSorted())
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect(leftovers(place.path)).toEqual([])
    // Hundreds of refusals: the first is told of, then how many there were.
    const told = warnings(running)
    expect(told.length).toBeLessThan(20)
    expect(told.reduce((sum, { repeated = 1 }) => sum + repeated, 0)).toBeGreaterThanOrEqual(250)
  })
})

test.skipIf(!full)('keys are changed wholly or not at all, however little room there is', async () => {
  const place = smallFileSystem(24 * 1024 * 1024)!
  places.push(place)
  const { running, send } = await started(place)
  const keys = async () =>
    ((await (await send('GET', '/api-keys?limit=100')).json()) as { data: object[] }).data.map((key) => ({ ...key, lastUsedAt: 0 }))
  const made: string[] = []
  for (let i = 0; i < 3; i++) made.push(((await (await send('POST', '/api-keys', { name: `${i}` })).json()) as { id: string }).id)
  let refused = 0
  // Page by page: somewhere in between there is room for what the registry writes, and none for what the store does.
  for (let pages = 0; pages < 24; pages++) {
    const before = await keys()
    await place.fill()
    truncateSync(join(place.path, 'ballast'), statSync(join(place.path, 'ballast')).size - pages * 4_096)
    const answer = await send(
      'POST',
      pages % 2 ? `/api-keys/${made[0]}/rotate` : '/api-keys',
      pages % 2 ? { graceMinutes: 600 } : { name: 'more' },
    )
    if (answer.status >= 500) {
      refused++
      expect([pages, await keys()]).toEqual([pages, before])
    } else if (pages % 2) made[0] = ((await answer.json()) as { id: string }).id
    await place.free()
    await until(async () => (await send('POST', '/brands', { name: `brand ${pages}` })).status === 201)
  }
  expect(refused).toBeGreaterThan(0)
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('a server that has no room for the table of rate limits counts them in its own memory, and says so', async () => {
  const dataDir = folder()
  const { keys } = await createStore(dataDir, 'Shop')
  // Enough for what SQLite writes of a request, less than the table.
  const command = ['prlimit', '--fsize=600000:600000', process.execPath, 'api/main.ts']
  const running = run(command, { DATA_DIR: dataDir, LOG: 'warn', RATE_LIMIT: '1:3' })
  const [, api] = await running.says(/Store API +(\S+)\/api\/v1/)
  const me = () => fetch(`${api}/api/v1/me`, { headers: { authorization: `Bearer ${keys.admin}` } })
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await me()).status)
  expect(statuses.slice(0, 3)).toEqual([200, 200, 200])
  expect(statuses).toContain(429)
  await running.says(/each process counts its own rate-limits/)
  expect(readdirSync(dataDir).filter((name) => name.includes('-limits'))).toEqual([])
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('a store that there is no room for leaves nothing behind', async () => {
  const dataDir = folder()
  await createStore(dataDir, 'Shop')
  const before = namesIn(dataDir)
  const command = ['prlimit', '--fsize=300000:300000', process.execPath, 'scripts/stoa.ts', 'store', 'create', '--name', 'Large']
  const { code, stderr } = await run(command, { DATA_DIR: dataDir }).ended
  expect(code).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(namesIn(dataDir)).toEqual(before)
  expect((await stoaJson(dataDir, 'store', 'list')).data).toHaveLength(1)
})

test('a backup that there is no room to unpack is not called damaged', async () => {
  const dataDir = folder()
  const { id } = await createStore(dataDir, 'Shop')
  const file = join(folder(), 'shop.stoa')
  await stoaJson(dataDir, 'store', 'backup', id, '--to', file)
  await stoaJson(dataDir, 'store', 'delete', id, '--yes')
  const before = namesIn(dataDir)
  const restore = [process.execPath, 'scripts/stoa.ts', 'store', 'restore', id, '--from', file]
  const { code, stderr } = await run(['prlimit', '--fsize=300000:300000', ...restore], { DATA_DIR: dataDir }).ended
  expect(code).toBe(1)
  expect(stderr).toContain('there is no room to unpack')
  expect(stderr).not.toContain('damaged')
  expect(namesIn(dataDir)).toEqual(before)
  expect((await run(restore, { DATA_DIR: dataDir }).ended).stderr).toBe('')
})

test.runIf(full !== null)(
  'a storefront whose build has no room fails with that reason, ends no server, stays as it was, and is built once there is room',
  async () => {
    const place = smallFileSystem(192 * 1024 * 1024)!
    places.push(place)
    const { id, keys } = await createStore(place.path, 'Shop')
    await stoaJson(place.path, 'store', 'update', id, '--ai-built')
    await seedInto(place.path, id, { products: 100, customers: 1, orders: 0 })
    const running = place.start([process.execPath, 'api/main.ts'], { DATA_DIR: place.path, LOG: 'warn', RATE_LIMIT: '0' })
    const [, api] = await running.says(/Store API +(\S+)\/api\/v1/)
    const send = async (method: string, path: string) => {
      const answer = await fetch(`${api}/api/v1${path}`, { method, headers: { authorization: `Bearer ${keys.admin}` } })
      return { status: answer.status, body: (await answer.json()) as { publishId: string; status: string; reason: string } }
    }
    const publish = async () => {
      let begun = await send('POST', '/publish')
      for (; begun.status !== 202; begun = await send('POST', '/publish')) await Bun.sleep(100)
      for (;;) {
        const { body } = await send('GET', `/publish/${begun.body.publishId}`)
        if (['live', 'failed'].includes(body.status)) return body
        await Bun.sleep(50)
      }
    }
    const home = async () => (await fetch(`${api}/`, { headers: { host: 'shop.localhost' } })).status
    const first = await publish()
    expect([first.status, first.reason]).toEqual(['live', null])
    const ballast = join(place.path, 'ballast')
    for (const room of [6_000, 1_500, 700]) {
      await place.fill()
      truncateSync(ballast, statSync(ballast).size - room * 1024)
      expect([room, await publish()]).toEqual([
        room,
        expect.objectContaining({ status: 'failed', reason: expect.stringContaining("the server's disk is full") }),
      ])
      expect([await home(), running.child.exitCode]).toEqual([200, null])
      await place.free()
    }
    expect(await publish()).toMatchObject({ status: 'live' })
  },
  120_000,
)
