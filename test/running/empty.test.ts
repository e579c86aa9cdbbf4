import { readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import LibsqlFile from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { call, cleanUp, createStore, folder, run, startStoa, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

/** What a store's database can have lost so that a valid SQLite file is left. */
const LOST: [string, string, (path: string) => void][] = [
  [
    'everything',
    'the database is empty: it has no schema',
    (path) => {
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
      truncateSync(path, 0)
    },
  ],
  [
    'its settings',
    'the database is empty: it has no settings',
    (path) => {
      const file = new LibsqlFile(path)
      file.exec('DELETE FROM settings')
      file.close()
    },
  ],
]

describe.each(LOST)('a registered store whose database has lost %s', (_, what, lose) => {
  test.each(['', '-sandbox'])('is not usable (store-ID%s): everything says so, and its last backup stays', async (suffix) => {
    const dataDir = folder()
    const { id, keys } = await createStore(dataDir, 'Atelier')
    const other = await createStore(dataDir, 'Other')
    const target = folder()
    await stoaJson(dataDir, 'store', 'backup', id, '--to', `${target}/b.tar`)
    const good = readFileSync(`${target}/b.tar`)
    lose(`${dataDir}/store-${id}${suffix}.db`)

    const line = `${what}; restore it: npm run -s stoa -- store restore ${id} --from FILE`
    const doctor = await stoaChecks(dataDir)
    expect(doctor).toEqual([`databases: 1 can't be used, such as store-${id}${suffix}: ${line}`])
    const migrated = await stoa(dataDir, 'migrate', '--json')
    expect([migrated.code, JSON.parse(migrated.stdout)]).toEqual([
      1,
      { migrated: 0, current: 4, failed: 1, failures: [{ database: `store-${id}${suffix}`, error: line }] },
    ])
    expect(await stoa(dataDir, 'store', 'backup', id, '--to', `${target}/b.tar`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${line}\n`,
    })
    expect(readdirSync(target)).toEqual(['b.tar'])
    expect(readFileSync(`${target}/b.tar`).equals(good)).toBe(true)

    const { running, api } = await startStoa({ DATA_DIR: dataDir })
    expect(running.stderr).toContain(`store-${id}${suffix} is not usable, its store is not served: ${what}`)
    const [lost, whole] = suffix ? [keys.staging, keys.admin] : [keys.admin, keys.staging]
    for (let i = 0; i < 2; i++) expect((await call(api, lost, 'GET', '/products')).status).toBe(503)
    for (const key of [whole, other.keys.admin]) expect((await call(api, key, 'GET', '/products')).status).toBe(200)
  })
})

test("a store's name with the file of another store is not backed up over the last backup", async () => {
  const dataDir = folder()
  const { id } = await createStore(dataDir, 'Atelier')
  const other = await createStore(dataDir, 'Other')
  const target = folder()
  writeFileSync(`${target}/b.tar`, 'the last one')
  // A registered name with the file of another store: whole, and not what was asked for.
  for (const suffix of ['-wal', '-shm']) rmSync(`${dataDir}/store-${id}.db${suffix}`, { force: true })
  const file = new LibsqlFile(`${dataDir}/store-${other.id}.db`)
  file.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  file.close()
  writeFileSync(`${dataDir}/store-${id}.db`, readFileSync(`${dataDir}/store-${other.id}.db`))
  expect((await stoa(dataDir, 'store', 'backup', id, '--to', `${target}/b.tar`)).stderr).toBe(
    `error: the database is that of the store ${other.id}; restore it: npm run -s stoa -- store restore ${id} --from FILE\n`,
  )
  expect(readFileSync(`${target}/b.tar`, 'utf8')).toBe('the last one')
})

async function stoaChecks(dataDir: string): Promise<string[]> {
  const { stdout } = await run([process.execPath, 'scripts/stoa.ts', 'doctor', '--json'], { DATA_DIR: dataDir }).ended
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] }
  return checks.filter((check) => !check.ok).map(({ name, message }) => `${name}: ${message}`)
}
