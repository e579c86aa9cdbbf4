import { copyFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { call, cleanUp, createStore, folder, run, startStoa, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

const BUN = process.execPath

describe.each(['1', '2'])('after a polite stop (WORKERS=%s)', (workers) => {
  test('the .db files are all that has to be copied', async () => {
    const dataDir = folder()
    const stores = []
    for (const name of ['One', 'Two', 'Three']) stores.push(await createStore(dataDir, name))
    const { running, api } = await startStoa({ DATA_DIR: dataDir, WORKERS: workers, RATE_LIMIT: '0' })
    for (const { keys } of stores)
      await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const key = i % 3 ? keys.admin : keys.staging
          expect((await call(api, key, 'POST', '/products', { name: `Kettle ${i}`, price: 5 })).status).toBe(201)
        }),
      )
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
    const copy = folder()
    for (const name of readdirSync(dataDir).filter((entry) => entry.endsWith('.db'))) copyFileSync(`${dataDir}/${name}`, `${copy}/${name}`)
    const again = await startStoa({ DATA_DIR: copy })
    for (const { keys } of stores)
      for (const [key, count] of [
        [keys.admin, 8],
        [keys.staging, 4],
      ] as const)
        expect((await call(again.api, key, 'GET', '/products?limit=1')).body.meta.count).toBe(count)
  })
})

describe('files of stores without a registry that knows them', () => {
  const lose: [string, (control: string) => void][] = [
    ['missing', (control) => ['', '-wal', '-shm'].forEach((suffix) => rmSync(control + suffix, { force: true }))],
    ['empty', (control) => (truncateSync(control, 0), ['-wal', '-shm'].forEach((suffix) => rmSync(control + suffix, { force: true })))],
  ]
  test.each(lose)('(control.db is %s) are not taken for a new installation, and the way out works', async (_, damage) => {
    const dataDir = folder()
    // By the command: a process that goes on lets go of a database's log when it collects what it no longer uses.
    const { id, keys } = await stoaJson(dataDir, 'store', 'create', '--name', 'Atelier')
    const other = await stoaJson(dataDir, 'store', 'create', '--name', 'Other')
    const file = `${folder()}/b.tar`
    await stoaJson(dataDir, 'store', 'backup', id, '--to', file)
    damage(`${dataDir}/control.db`)
    const before = readdirSync(dataDir)
    const line = /^(error: )?there are files of 2 stores \(such as store-.*\), but .*\/control\.db knows none: put back a copy of it, .*\n$/
    for (const WORKERS of ['1', '2'])
      expect(await run([BUN, 'scripts/start.ts'], { DATA_DIR: dataDir, WORKERS }).ended).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(line),
      })
    expect((await run([BUN, 'api/main.ts'], { DATA_DIR: dataDir }).ended).stderr).toMatch(line)
    expect((await stoa(dataDir, 'store', 'create', '--name', 'New')).stderr).toMatch(line)
    expect((await stoa(dataDir, 'doctor')).stdout).toMatch(/BROKEN {2}databases +there are files of 2 stores/)
    expect(readdirSync(dataDir)).toEqual(before)

    expect((await stoa(dataDir, 'store', 'restore', id, '--from', file)).code).toBe(2)
    await stoaJson(dataDir, 'store', 'restore', id, '--from', file, '--yes')
    const { api } = await startStoa({ DATA_DIR: dataDir })
    expect((await call(api, keys.admin, 'GET', '/me')).status).toBe(200)
    // What nobody needs any more is named, and goes.
    expect((await stoa(dataDir, 'doctor')).stdout).toMatch(new RegExp(`BROKEN {2}databases +.*store-${other.id}`))
    writeFileSync(`${dataDir}/store-${other.id}.db.unusable-20260101T000000Z`, '')
    expect(await stoaJson(dataDir, 'store', 'delete', other.id, '--yes')).toMatchObject({ deleted: 1, id: other.id })
    expect(readdirSync(dataDir).filter((name) => name.includes(other.id))).toEqual([])
    expect((await stoa(dataDir, 'doctor')).code).toBe(0)
  })
})
