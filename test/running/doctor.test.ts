import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import LibsqlFile from 'libsql'
import { afterAll, expect, test } from 'vitest'
import { checkFiles } from '../../scripts/check-files.ts'
import { examine } from '../../scripts/doctor.ts'
import { cleanUp, createStore, folder, run, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

const databases = async (dataDir: string): Promise<string> =>
  JSON.parse((await stoa(dataDir, 'doctor', '--json')).stdout).checks.find(({ name }: { name: string }) => name === 'databases').message

/** A store with some data, all of it in its file. */
async function store(): Promise<{ dataDir: string; id: string; path: string }> {
  const dataDir = folder()
  const { id } = await createStore(dataDir, 'Atelier')
  await stoaJson(dataDir, 'seed', '--store', id, '--products', '60', '--customers', '20', '--orders', '20')
  const path = `${dataDir}/store-${id}.db`
  const file = new LibsqlFile(path)
  file.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  file.close()
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  return { dataDir, id, path }
}

test('doctor says that published shops take no cards without the third key of Stripe', async () => {
  const keys = { STRIPE_SECRET_KEY: 'sk_test_a', STRIPE_WEBHOOK_SECRET: 'whsec_a' }
  const told = async (env: Record<string, string>) => (await examine({ DATA_DIR: folder(), ...env }))[0]!
  expect(await told(keys)).toMatchObject({ ok: true, message: expect.stringContaining('take no cards: STRIPE_PUBLISHABLE_KEY is not set') })
  expect((await told({ ...keys, STRIPE_PUBLISHABLE_KEY: 'pk_test_a' })).message).not.toContain('cards')
  expect((await told({})).message).not.toContain('cards')
})

test('doctor finds pages that were overwritten, though the file opens', async () => {
  const { dataDir, id, path } = await store()
  const bytes = readFileSync(path)
  expect(bytes.length).toBeGreaterThan(4096 * 110)
  // Behind what is looked at when it is opened.
  bytes.fill(0, bytes.length - 4096 * 60)
  writeFileSync(path, bytes)
  expect(await databases(dataDir)).toMatch(
    new RegExp(
      `^1 can't be used, such as store-${id}: it is damaged \\(.+\\); restore it: npm run -s stoa -- store restore ${id} --from FILE$`,
    ),
  )
})

test('doctor calls a newer schema newer, of a store as of the control database, and says what to start', async () => {
  const { dataDir, id, path } = await store()
  const newer = (name: string) => {
    const file = new LibsqlFile(name)
    file.exec('PRAGMA user_version = 99')
    file.close()
  }
  newer(path)
  expect(await databases(dataDir)).toMatch(
    new RegExp(
      `store-${id}: the database has schema version 99, this program knows \\d+: it was written by a newer release; start that release again, or `,
    ),
  )
  newer(`${dataDir}/control.db`)
  expect(await databases(dataDir)).toMatch(
    /^the control database can't be opened \(the database has schema version 99, .*newer release\): .*start that release again/,
  )
})

test.runIf(process.getuid?.() === 0)('doctor calls a file that this user may not touch so, and not damaged', async () => {
  const { dataDir, id, path } = await store()
  chmodSync(dataDir, 0o777)
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      chmodSync(`${dataDir}/control.db${suffix}`, 0o666)
    } catch {
      /* it is not there */
    }
  }
  chmodSync(path, 0o600)
  const asNobody = ['setpriv', '--reuid', '65534', '--clear-groups', process.execPath, 'scripts/stoa.ts', 'doctor', '--json']
  const { stdout, stderr } = await run(asNobody, { DATA_DIR: dataDir, HOME: '/tmp' }).ended
  expect(stdout, stderr).toContain(`store-${id}: ${path} can't be read and written (EACCES); give it to the user that Stoa runs as`)
})

test('doctor names what cut-off commands left, and migrate removes it', async () => {
  const { dataDir } = await store()
  const gone = run(['true'])
  await gone.ended
  const made = await Bun.$`ls -a ${dataDir}`.text()
  expect(made).not.toContain('.stoa-')
  const host = new Bun.CryptoHasher('sha256')
    .update((await import('node:os')).hostname())
    .digest('hex')
    .slice(0, 8)
  mkdirSync(`${dataDir}/.stoa-${host}-${gone.child.pid}-abc`)
  writeFileSync(`${dataDir}/store-x.db.new-${host}-${gone.child.pid}`, '')
  // One of a process that runs is left alone.
  mkdirSync(`${dataDir}/.stoa-${host}-${process.pid}-abc`)
  expect(await databases(dataDir)).toBe('2 commands were cut off and left something behind: run stoa migrate, which removes it')
  await stoaJson(dataDir, 'migrate')
  expect((await Bun.$`ls -a ${dataDir}`.text()).match(/^(\.stoa-.*|.*\.new-.*)$/gm)).toEqual([`.stoa-${host}-${process.pid}-abc`])
})

// On a machine that is very busy the answer may come before the clock is looked at.
test('a file that takes too long holds nobody up', { retry: 3 }, async () => {
  const { path } = await store()
  expect(await checkFiles([path, path], undefined, 0)).toEqual([
    { path, damage: null, isUnknown: true },
    { path, damage: null, isUnknown: true },
  ])
  expect(await checkFiles([path])).toEqual([{ path, damage: null, isUnknown: false }])
})
