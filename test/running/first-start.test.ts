import { existsSync, readdirSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { call, cleanUp, folder, keysOf, run, startStoa, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

const BUN = process.execPath
const START = [BUN, 'scripts/start.ts']
const storesIn = (dataDir: string) => new Set(readdirSync(dataDir).flatMap((name) => /^store-(.{36})/.exec(name)?.[1] ?? []))

describe('the first start', () => {
  // Told to stop as the first file of the demo store is there, and later.
  test.each([0, 100, 300])('stopped %i ms into making the demo store shows its keys, or has made none', async (ms) => {
    const dataDir = `${folder()}/data`
    const first = run(START, { DATA_DIR: dataDir })
    while (!existsSync(dataDir) || !storesIn(dataDir).size) await Bun.sleep(1)
    await Bun.sleep(ms)
    first.child.kill('SIGTERM')
    const { code, stdout } = await first.ended
    expect(code).toBe(0)
    const keys = keysOf(stdout)
    const stores = (await stoaJson(dataDir, 'store', 'list')).data
    expect(stores.map(({ slug }: { slug: string }) => slug)).toEqual(keys.admin ? ['demo'] : [])
    const second = await startStoa({ DATA_DIR: dataDir })
    const { admin } = keys.admin ? keys : keysOf(second.running.stdout)
    expect((await call(second.api, admin, 'GET', '/orders')).body.meta.count).toBe(30)
  })

  test('killed while it makes the demo store, the next one makes it anew', async () => {
    const dataDir = `${folder()}/data`
    const first = run(START, { DATA_DIR: dataDir })
    while (!existsSync(dataDir) || !storesIn(dataDir).size) await Bun.sleep(1)
    first.child.kill('SIGKILL')
    await first.ended
    const [left] = storesIn(dataDir)
    expect((await stoaJson(dataDir, 'store', 'list')).data).toEqual([])
    // What was cut off goes with a command.
    expect(await stoaJson(dataDir, 'store', 'delete', left!, '--yes')).toMatchObject({ deleted: 1, id: left })
    expect([...storesIn(dataDir)]).toEqual([])
    const second = await startStoa({ DATA_DIR: dataDir })
    expect((await call(second.api, keysOf(second.running.stdout).admin, 'GET', '/orders')).body.meta.count).toBe(30)
  })

  test('refuses ports that are the same, or taken, before it makes anything', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const port = String(taken.port)
    try {
      for (const workers of ['1', '2']) {
        const refused = async (env: Record<string, string>) => {
          const dataDir = `${folder()}/data`
          const { code, stdout, stderr } = await run(START, { DATA_DIR: dataDir, WORKERS: workers, ...env }).ended
          expect([code, stdout, existsSync(dataDir)]).toEqual([1, '', false])
          return stderr
        }
        expect(await refused({ API_PORT: '48123', SITE_PORT: '48123' })).toMatch(/^API_PORT and SITE_PORT are both 48123: .*\n$/)
        expect(await refused({ SITE_PORT: port })).toMatch(new RegExp(`^SITE_PORT ${port} is in use .*\n$`))
        expect(await refused({ API_PORT: port })).toMatch(new RegExp(`^API_PORT ${port} is in use .*\n$`))
      }
    } finally {
      await taken.stop(true)
    }
  })
})

test('a command that reads makes no data folder: one that was mistyped stays away', async () => {
  const dataDir = `${folder()}/typo`
  for (const args of [
    ['store', 'list'],
    ['key', 'list', '--store', 'demo'],
    ['store', 'backup', 'demo', '--to', `${folder()}/b.tar`],
    ['seed', '--store', 'demo'],
  ]) {
    expect(await stoa(dataDir, ...args), args.join(' ')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: there is nothing in .*\/typo yet: check DATA_DIR .*\n$/),
    })
    expect(existsSync(dataDir)).toBe(false)
  }
})
