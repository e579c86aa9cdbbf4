import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { form, png } from '../content/pictures.ts'
import { call, cleanUp, createStore, folder, run, startApi, startStoa, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

const BUN = process.execPath

interface Store {
  id: string
  slug: string
  keys: { admin: string; staging: string }
}

async function installation(count: number): Promise<{ dataDir: string; stores: Store[] }> {
  const dataDir = folder()
  const stores: Store[] = []
  for (let i = 0; i < count; i++) stores.push(await createStore(dataDir, `Shop ${i}`))
  return { dataDir, stores }
}

const add = async (api: string, key: string, name: string) =>
  expect((await call(api, key, 'POST', '/products', { name, price: 5 })).status).toBe(201)
const names = async (api: string, key: string): Promise<string[]> =>
  (await call(api, key, 'GET', '/products?limit=100')).body.data.map(({ name }: { name: string }) => name).sort()
/** A command, killed when `isSo`, which is looked at while it stands still; whether that came before its end. */
async function killedWhen(dataDir: string, args: string[], isSo: () => boolean): Promise<boolean> {
  const { child, ended } = run([BUN, 'scripts/stoa.ts', ...args], { DATA_DIR: dataDir })
  while (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGSTOP')
    child.kill(isSo() ? 'SIGKILL' : 'SIGCONT')
    await Bun.sleep(1)
  }
  const { code, stderr } = await ended
  if (code) throw new Error(stderr)
  return code === null
}

describe('stoa backup and restore', () => {
  test('take a whole installation to another machine, live: stores, sandboxes, keys, images and secrets', async () => {
    const { dataDir, stores } = await installation(2)
    const [one, two] = stores as [Store, Store]
    const { api } = await startApi({ DATA_DIR: dataDir, RATE_LIMIT: '0' })
    await add(api, one.keys.admin, 'Kettle')
    await add(api, two.keys.staging, 'Paper kettle')
    const uploaded = await fetch(`${api}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${one.keys.admin}` },
      body: form(await png(20, 10)),
    })
    const { url } = (await uploaded.json()) as { url: string }
    const target = `${folder()}/backup`
    const said = await stoaJson(dataDir, 'backup', '--to', target)
    expect(said).toMatchObject({ folder: target, hasSecretKey: true, failed: [], stores: stores.map(({ id, slug }) => ({ id, slug })) })
    expect(statSync(target).mode & 0o777).toBe(0o700)
    const [generation] = readdirSync(target).filter((name) => name !== 'installation.json')
    const files = readdirSync(`${target}/${generation}`).sort()
    expect(files).toEqual(['control.db', 'secret.key', ...stores.map(({ id }) => `store-${id}.tar`)].sort())
    for (const name of files) expect(statSync(`${target}/${generation}/${name}`).mode & 0o777, name).toBe(0o600)

    const elsewhere = `${folder()}/data`
    expect((await stoa(elsewhere, 'restore', '--from', target)).code).toBe(2)
    expect(existsSync(elsewhere)).toBe(false)
    expect(await stoaJson(elsewhere, 'restore', '--from', target, '--yes')).toMatchObject({
      restored: stores.map(({ id }) => id),
      failed: [],
      kept: [],
      setAside: [],
      hasNewSecret: true,
    })
    expect(statSync(`${elsewhere}/secret.key`).mode & 0o777).toBe(0o600)
    expect(readFileSync(`${elsewhere}/secret.key`)).toEqual(readFileSync(`${dataDir}/secret.key`))
    const moved = await startApi({ DATA_DIR: elsewhere, RATE_LIMIT: '0' })
    expect(moved.running.stdout).not.toContain('Demo store')
    expect(await names(moved.api, one.keys.admin)).toEqual(['Kettle'])
    expect(await names(moved.api, two.keys.staging)).toEqual(['Paper kettle'])
    expect((await fetch(url.replace(api, moved.api))).status).toBe(200)
    expect((await stoa(elsewhere, 'doctor')).code).toBe(0)
  })

  test('put an installation that runs back; what was made since stays, and a revoked key stays revoked', async () => {
    const { dataDir, stores } = await installation(1)
    const [one] = stores as [Store]
    const lost = await stoaJson(dataDir, 'key', 'create', '--store', one.id)
    const { api } = await startStoa({ DATA_DIR: dataDir, WORKERS: '2', RATE_LIMIT: '0' })
    await add(api, one.keys.admin, 'Kettle')
    const target = folder()
    await stoaJson(dataDir, 'backup', '--to', target)
    await add(api, one.keys.admin, 'Pan')
    await stoaJson(dataDir, 'backup', '--to', target)
    // The one before is gone, and nothing else is left.
    expect(readdirSync(target)).toHaveLength(2)
    await add(api, one.keys.admin, 'Pot')
    await stoaJson(dataDir, 'key', 'revoke', lost.id)
    const later = await createStore(dataDir, 'Later')
    await add(api, later.keys.admin, 'Cup')
    expect(await stoaJson(dataDir, 'restore', '--from', target, '--yes')).toMatchObject({
      restored: [one.id],
      kept: [later.id],
      hasNewSecret: false,
    })
    for (let i = 0; i < 6; i++) expect(await names(api, one.keys.admin)).toEqual(['Kettle', 'Pan'])
    expect(await names(api, later.keys.admin)).toEqual(['Cup'])
    expect((await call(api, lost.key, 'GET', '/me')).status).toBe(401)
  })

  test('keep the last backup of a store that can not be used, and back up all others', async () => {
    const { dataDir, stores } = await installation(2)
    const [good, bad] = stores as [Store, Store]
    const target = folder()
    const first = await stoaJson(dataDir, 'backup', '--to', target)
    writeFileSync(`${dataDir}/store-${bad.id}.db`, 'no database')
    const { code, stdout, stderr } = await stoa(dataDir, 'backup', '--to', target, '--json')
    expect(code).toBe(1)
    const kept = first.stores.find(({ id }: Store) => id === bad.id).createdAt
    expect(JSON.parse(stdout).failed).toEqual([
      { id: bad.id, slug: bad.slug, error: expect.stringContaining('file is not a database'), kept },
    ])
    expect(stderr).toContain(`its backup of ${kept} is kept`)
    writeFileSync(`${dataDir}/control.db`, 'no database either')
    for (const suffix of ['-wal', '-shm']) rmSync(`${dataDir}/control.db${suffix}`, { force: true })
    const { setAside, restored } = await stoaJson(dataDir, 'restore', '--from', target, '--yes')
    expect(restored).toEqual([good.id, bad.id])
    expect(setAside).toEqual([expect.stringContaining('control.db.unusable-'), expect.stringContaining(`store-${bad.id}.db.unusable-`)])
    const { api } = await startApi({ DATA_DIR: dataDir })
    for (const { keys } of stores) expect((await call(api, keys.admin, 'GET', '/products')).status).toBe(200)
  })

  test('refuse what is damaged, no backup, or somebody else’s folder, and change nothing', async () => {
    const { dataDir, stores } = await installation(1)
    const target = folder()
    await stoaJson(dataDir, 'backup', '--to', target)
    const files = () => readdirSync(dataDir).filter((name) => !/-(wal|shm)$/.test(name))
    const before = files()
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await stoa(dataDir, ...args)
      expect([code, stdout, files()]).toEqual([1, '', before])
      return stderr
    }
    const [generation] = readdirSync(target).filter((name) => name !== 'installation.json')
    const file = `${target}/${generation}/store-${stores[0]!.id}.tar`
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(file, bytes)
    expect(await refused('restore', '--from', target, '--yes')).toContain('is damaged: ')
    expect(await refused('restore', '--from', folder(), '--yes')).toContain('is no backup of an installation')
    const foreign = folder()
    writeFileSync(`${foreign}/letter.txt`, '')
    expect(await refused('backup', '--to', foreign)).toContain('has other files in it')
    expect(readdirSync(foreign)).toEqual(['letter.txt'])
  })
})

describe('killed in the middle', () => {
  test('a backup leaves the one before, and the next one clears up', async () => {
    const { dataDir, stores } = await installation(4)
    const target = folder()
    await stoaJson(dataDir, 'backup', '--to', target)
    const manifest = () => readFileSync(`${target}/installation.json`, 'utf8')
    let before = manifest()
    for (const archives of [0, 2]) {
      const isSo = () => {
        const files = readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((name) => name.startsWith('.stoa-'))
        return files.length > 0 && files.filter((name) => name.endsWith('.tar')).length >= archives
      }
      // One that is done between two looks is no such case, and is the one before the next.
      while (!(await killedWhen(dataDir, ['backup', '--to', target], isSo))) before = manifest()
      expect(manifest()).toBe(before)
      const elsewhere = folder()
      expect((await stoaJson(elsewhere, 'restore', '--from', target, '--yes')).restored).toEqual(stores.map(({ id }) => id))
    }
    await stoaJson(dataDir, 'backup', '--to', target)
    expect(readdirSync(target).sort()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 'installation.json'])
    expect(manifest()).not.toBe(before)
  })

  test('a restore is done to its end by the next start', async () => {
    const { dataDir, stores } = await installation(4)
    const { running, api } = await startApi({ DATA_DIR: dataDir, RATE_LIMIT: '0' })
    const target = folder()
    for (const { keys } of stores) await add(api, keys.admin, 'Kettle')
    await stoaJson(dataDir, 'backup', '--to', target)
    for (const { keys } of stores) await add(api, keys.admin, 'Pan')
    const journal = `${dataDir}/restoring.json`
    const isSo = () => existsSync(journal) && JSON.parse(readFileSync(journal, 'utf8')).done.length > 0
    while (!(await killedWhen(dataDir, ['restore', '--from', target, '--yes'], isSo)));
    // Each store is what it was before or what it was at the backup, and all of them take orders meanwhile.
    for (const { keys } of stores) expect([['Kettle'], ['Kettle', 'Pan']]).toContainEqual(await names(api, keys.admin))
    expect((await stoa(dataDir, 'doctor')).stdout).toContain('a restore was cut off')
    running.child.kill('SIGTERM')
    await running.ended
    const again = await startStoa({ DATA_DIR: dataDir, RATE_LIMIT: '0' })
    for (const { keys } of stores) expect(await names(again.api, keys.admin)).toEqual(['Kettle'])
    expect(existsSync(journal)).toBe(false)
    expect(readdirSync(dataDir).filter((name) => name.startsWith('.stoa-'))).toEqual([])
    expect((await stoa(dataDir, 'doctor')).code).toBe(0)
  })

  test('a delete is done to its end by the same command, or by migrate', async () => {
    const { dataDir, stores } = await installation(2)
    for (const { id } of stores) {
      const left = () => readdirSync(dataDir).some((name) => name === `store-${id}-sandbox.db`) && !existsSync(`${dataDir}/store-${id}.db`)
      await killedWhen(dataDir, ['store', 'delete', id, '--yes'], left)
    }
    const first = await stoa(dataDir, 'store', 'delete', stores[0]!.id, '--yes')
    // It may have been done when it was killed.
    expect(first.code === 0 || first.stderr.includes('there is no store')).toBe(true)
    await stoaJson(dataDir, 'migrate')
    expect(readdirSync(dataDir).filter((name) => name.startsWith('store-'))).toEqual([])
  })
})
