import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import git from 'isomorphic-git'
import LibsqlFile from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { form, png } from '../content/pictures.ts'
import { call, cleanUp, createStore, folder, type StartedApi, startApi, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

interface Shop {
  dataDir: string
  id: string
  keys: { admin: string; staging: string }
  server: StartedApi
}

/** A store behind a running server. */
async function shop(env: Record<string, string> = {}): Promise<Shop> {
  const dataDir = folder()
  const { id, keys } = await createStore(dataDir, 'Atelier')
  return { dataDir, id, keys, server: await startApi({ DATA_DIR: dataDir, RATE_LIMIT: '0', ...env }) }
}

const create = async ({ server }: Shop, key: string, name: string): Promise<string> => {
  const { status, body } = await call(server.api, key, 'POST', '/products', { name, price: 9.5, stock: { quantity: 3 } })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.id
}
async function productsOf({ server }: { server: StartedApi }, key: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let offset = 0; ; offset += 100) {
    const { data } = (await call(server.api, key, 'GET', `/products?limit=100&offset=${offset}`)).body
    for (const { id } of data) ids.add(id)
    if (data.length < 100) return ids
  }
}
const found = async ({ server }: { server: StartedApi }, key: string, q: string): Promise<number> =>
  (await call(server.api, key, 'GET', `/search?q=${q}`)).body.meta.count

describe('store backup', () => {
  test('of a store under load has everything that was acknowledged before it began, and holds up no writer', async () => {
    const at = await shop({ WORKERS: '2' })
    const acknowledged: { id: string; at: number }[] = []
    let stopped = false
    const load = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; !stopped; i++)
        acknowledged.push({ id: await create(at, at.keys.admin, `Kettle ${writer} ${i}`), at: performance.now() })
    })
    while (acknowledged.length < 100) await Bun.sleep(10)
    const began = performance.now()
    const before = acknowledged.length
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    const during = acknowledged.length - before
    stopped = true
    await Promise.all(load)
    expect(during).toBeGreaterThan(20)

    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    const kept = await productsOf(at, at.keys.admin)
    expect(acknowledged.filter((product) => product.at < began && !kept.has(product.id))).toEqual([])
    expect(kept.size).toBeLessThan(acknowledged.length)
  })

  test('is one file for the eyes of its owner, and leaves nothing else behind', async () => {
    const { dataDir, id, keys } = await shop()
    const target = folder()
    await stoaJson(dataDir, 'store', 'backup', id, '--to', `${target}/b.tar`)
    expect(readdirSync(target)).toEqual(['b.tar'])
    expect(statSync(`${target}/b.tar`).mode & 0o777).toBe(0o600)
    expect(readFileSync(`${target}/b.tar`).includes(keys.admin)).toBe(false)
    expect(await stoa(dataDir, 'store', 'backup', crypto.randomUUID(), '--to', `${target}/none.tar`)).toMatchObject({ code: 1, stdout: '' })
    expect(await stoa(dataDir, 'store', 'backup', id, '--to', `${target}/none/b.tar`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("can't be written"),
    })
    expect(readdirSync(target)).toEqual(['b.tar'])
  })
})

test('a file without a name is a usage error; a folder is refused in one line', async () => {
  const dataDir = folder()
  const { id } = await createStore(dataDir, 'Atelier')
  const ask = (...args: string[]) => stoa(dataDir, 'store', ...args)
  for (const name of ['', ' ']) {
    const usage = (option: string) => ({ code: 2, stdout: '', stderr: expect.stringContaining(`'--${option} <file>'`) })
    expect(await ask('backup', id, '--to', name)).toEqual(usage('to'))
    expect(await ask('restore', id, '--from', name)).toEqual(usage('from'))
  }
  const target = folder()
  const changedMs = statSync(target).mtimeMs
  expect(await ask('backup', id, '--to', target)).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: ${target} is a folder: name the file to write\n`,
  })
  expect([readdirSync(target), statSync(target).mtimeMs]).toEqual([[], changedMs])
})

describe('store restore', () => {
  test('sends no newsletter again that went out after the backup: it waits for a person', async () => {
    const at = await shop({})
    const api = async (method: string, path: string, body?: unknown) => (await call(at.server.api, at.keys.admin, method, path, body)).body
    await stoaJson(at.dataDir, 'store', 'update', at.id, '--email-domain-verified', 'true')
    await api('PATCH', '/settings', { email: { outboundEnabled: true }, address: { line1: 'Long Lane 1', city: 'Gdynia' } })
    await api('POST', '/subscribers', { email: 'ada@example.com' })
    const draft = async () => (await api('POST', '/newsletters', { subject: 'Hello', content: 'All.' })).id as string
    const [soon, later] = [await draft(), await draft()]
    await api('POST', `/newsletters/${soon}/send`, { scheduledAt: new Date(Date.now() + 2_000).toISOString() })
    await api('POST', `/newsletters/${later}/send`, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    expect((await api('GET', `/newsletters/${soon}`)).status).toBe('scheduled')
    const mails = () => readdirSync(`${at.dataDir}/mail`).length
    while ((await api('GET', `/newsletters/${soon}`)).status !== 'sent') await Bun.sleep(50)
    expect(mails()).toBe(1)
    rmSync(`${at.dataDir}/mail`, { recursive: true })
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    expect(await api('GET', `/newsletters/${soon}`)).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringMatching(/^the store was restored from a backup/),
    })
    expect((await api('GET', `/newsletters/${later}`)).status).toBe('scheduled')
    await at.server.running.child.kill('SIGTERM')
    await at.server.running.ended
    const again = await startApi({ DATA_DIR: at.dataDir })
    await Bun.sleep(1_000)
    expect((await call(again.api, at.keys.admin, 'GET', `/newsletters/${soon}`)).body.status).toBe('failed')
    expect(existsSync(`${at.dataDir}/mail`)).toBe(false)
  })

  test('running servers see it at once: live data, sandbox, search and stock', async () => {
    const at = await shop({ WORKERS: '2' })
    const kettle = await create(at, at.keys.admin, 'Copper kettle')
    const sandboxed = await create(at, at.keys.staging, 'Paper kettle')
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    await create(at, at.keys.admin, 'Tin teapot')
    expect((await call(at.server.api, at.keys.admin, 'PATCH', `/products/${kettle}`, { name: 'Brass ewer' })).status).toBe(200)
    expect((await call(at.server.api, at.keys.staging, 'DELETE', `/products/${sandboxed}`)).status).toBe(200)
    expect([await found(at, at.keys.admin, 'copper'), await found(at, at.keys.admin, 'teapot')]).toEqual([0, 1])

    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    // Each of these goes to one worker or the other: all of them have to see it.
    for (let i = 0; i < 10; i++) {
      expect(await productsOf(at, at.keys.admin)).toEqual(new Set([kettle]))
      expect(await productsOf(at, at.keys.staging)).toEqual(new Set([sandboxed]))
      expect([
        await found(at, at.keys.admin, 'copper'),
        await found(at, at.keys.admin, 'teapot'),
        await found(at, at.keys.admin, 'ewer'),
      ]).toEqual([1, 0, 0])
    }
    // The index keeps following the products, and what is written now stays.
    const teapot = await create(at, at.keys.admin, 'Tin teapot')
    expect(await found(at, at.keys.admin, 'teapot')).toBe(1)
    await call(at.server.api, at.keys.admin, 'DELETE', `/products/${kettle}`)
    expect([await found(at, at.keys.admin, 'copper'), await productsOf(at, at.keys.admin)]).toEqual([0, new Set([teapot])])
  })

  test('while clients write, no write is answered with an error', async () => {
    const at = await shop()
    await create(at, at.keys.admin, 'First kettle')
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    let stopped = false
    const load = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; !stopped; i++) await create(at, at.keys.admin, `Pan ${writer} ${i}`)
    })
    await Bun.sleep(200)
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    stopped = true
    await Promise.all(load)
    expect(await found(at, at.keys.admin, 'kettle')).toBe(1)
  })

  test('on a new machine the store comes back with its id, slug and keys; a revoked key stays revoked', async () => {
    const at = await shop()
    const kettle = await create(at, at.keys.admin, 'Copper kettle')
    const revoked = await stoaJson(at.dataDir, 'key', 'create', '--store', at.id)
    await stoaJson(at.dataDir, 'key', 'revoke', revoked.id)
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)

    const dataDir = folder()
    const server = await startApi({ DATA_DIR: dataDir })
    expect(await stoaJson(dataDir, 'store', 'restore', at.id, '--from', file)).toMatchObject({ id: at.id, slug: 'atelier' })
    expect((await call(server.api, at.keys.admin, 'GET', '/me')).body.store).toMatchObject({ id: at.id, slug: 'atelier' })
    expect(await productsOf({ server }, at.keys.admin)).toEqual(new Set([kettle]))
    expect((await call(server.api, revoked.key, 'GET', '/me')).status).toBe(401)
    expect((await call(server.api, at.keys.staging, 'GET', '/me')).body.key.environment).toBe('sandbox')
  })

  test('a store that was deleted comes back beside a server that had it open, and what is written to it stays', async () => {
    const at = await shop()
    const kettle = await create(at, at.keys.admin, 'Copper kettle')
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    await create(at, at.keys.admin, 'Tin teapot')
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    const pan = await create(at, at.keys.admin, 'Iron pan')
    expect(await productsOf(at, at.keys.admin)).toEqual(new Set([kettle, pan]))
    at.server.running.child.kill('SIGKILL')
    await at.server.running.ended
    expect(await productsOf({ server: await startApi({ DATA_DIR: at.dataDir }) }, at.keys.admin)).toEqual(new Set([kettle, pan]))
  })

  test('images of live data and sandbox and files of messages come along, and go with their store', async () => {
    const at = await shop({ LOG: 'warn' })
    const add = async (key: string) => {
      const body = form(await png(20, 10))
      const response = await fetch(`${at.server.api}/api/v1/media`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })
      return (await response.json()) as { id: string; url: string; renditions: { url: string }[] }
    }
    const images = [await add(at.keys.admin), await add(at.keys.staging)]
    const urls = images.flatMap(({ url, renditions }) => [url, ...renditions.map((rendition) => rendition.url)])
    const bytesOf = (all: string[]) =>
      Promise.all(
        all.map(async (url) => {
          const response = await fetch(url)
          return response.ok ? Buffer.from(await response.arrayBuffer()).toString('base64') : response.status
        }),
      )
    const { body: about } = await call(at.server.api, at.keys.admin, 'POST', '/support-cases', {
      email: 'a@b.example',
      subject: 'x',
      message: 'x',
    })
    const body = form('%PDF-1.7 bill', { message: 'The bill.' })
    const url = `${at.server.api}/api/v1/support-cases/${about.id}`
    const headers = { authorization: `Bearer ${at.keys.admin}` }
    const [bill] = (await (await fetch(`${url}/messages`, { method: 'POST', headers, body })).json()).attachments
    const before = await bytesOf(urls)
    expect(before.every((bytes) => typeof bytes === 'string')).toBe(true)
    const file = `${folder()}/backup.tar`
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    const later = await add(at.keys.admin)
    expect((await call(at.server.api, at.keys.admin, 'DELETE', `/media/${images[0]!.id}`)).status).toBe(200)
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    expect(await bytesOf(urls)).toEqual(before)
    expect((await call(at.server.api, at.keys.admin, 'GET', `/media/${later.id}`)).status).toBe(404)

    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    expect(await bytesOf(urls)).toEqual(urls.map(() => 404))
    expect(readdirSync(`${at.dataDir}/media`)).toEqual([])
    const dataDir = folder()
    await stoaJson(dataDir, 'store', 'restore', at.id, '--from', file)
    const moved = await startApi({ DATA_DIR: dataDir })
    expect(await bytesOf(urls.map((url) => url.replace(at.server.api, moved.api)))).toEqual(before)
    const restored = await fetch(`${url}/attachments/${bill.id}`.replace(at.server.api, moved.api), { headers })
    expect([restored.status, await restored.text()]).toEqual([200, '%PDF-1.7 bill'])
  })

  test('the project of a storefront comes along with what is not committed, its key and its domain, and can be published', async () => {
    const dataDir = folder()
    const store = await stoaJson(dataDir, 'store', 'create', '--name', 'Atelier', '--slug', 'atelier', '--ai-built')
    const project = join(dataDir, 'builder', store.id)
    const repository = (at: string) => ({ fs, dir: join(at, 'builder', store.id) })
    writeFileSync(join(project, 'src/pages/saved.astro'), '<p>Saved</p>')
    await git.add({ ...repository(dataDir), filepath: 'src/pages/saved.astro' })
    const sha = await git.commit({ ...repository(dataDir), message: 'Save', author: { name: 'Ada', email: 'ada@example.com' } })
    writeFileSync(join(project, 'src/pages/unsaved.astro'), '<p>Unsaved</p>')
    // What Git would run, and what leads elsewhere, stays behind.
    mkdirSync(join(project, '.git/hooks'), { recursive: true })
    writeFileSync(join(project, '.git/hooks/post-receive'), 'touch /tmp/owned')
    symlinkSync('/etc/passwd', join(project, 'src/passwd'))
    const rows = (at: string, sql: string) => {
      const control = new LibsqlFile(join(at, 'control.db'))
      try {
        return control.prepare(sql).all() as Record<string, unknown>[]
      } finally {
        control.close()
      }
    }
    const now = new Date().toISOString()
    rows(
      dataDir,
      `INSERT INTO domains (domain, store_id, token, status, verified_at, created_at) VALUES ('shop.example', '${store.id}', 't', 'Valid Configuration', '${now}', '${now}') RETURNING 1`,
    )
    const file = `${folder()}/backup.tar`
    await stoaJson(dataDir, 'store', 'backup', store.id, '--to', file)
    rmSync(join(project, 'src/passwd'))

    const elsewhere = folder()
    await stoaJson(elsewhere, 'store', 'restore', store.id, '--from', file, '--ai-built')
    for (const at of [elsewhere, dataDir]) {
      expect(await git.resolveRef({ ...repository(at), ref: 'refs/heads/main' })).toBe(sha)
      const changed = (await git.statusMatrix(repository(at))).filter(([, head, work, stage]) => head !== work || work !== stage)
      expect(changed.map(([path]) => path)).toEqual(['src/pages/unsaved.astro'])
      expect(existsSync(join(at, 'builder', store.id, '.git/hooks'))).toBe(at === dataDir)
      // An archive proves nothing of a domain: elsewhere it is a claim, which DNS is asked about by the next round.
      expect(rows(at, 'SELECT domain, token, status, verified_at IS NULL AS pending FROM domains')).toEqual([
        at === dataDir
          ? { domain: 'shop.example', token: 't', status: 'Valid Configuration', pending: 0 }
          : { domain: 'shop.example', token: 't', status: 'Pending Verification', pending: 1 },
      ])
      expect(rows(at, 'SELECT key_id FROM projects')).toEqual(rows(dataDir, 'SELECT key_id FROM projects'))
    }
    const { status, savedChanges } = await stoaJson(elsewhere, 'publish', '--store', store.id, '--wait')
    expect([status, savedChanges]).toEqual([expect.stringMatching(/live|domain_pending/), true])
    expect(rows(elsewhere, "SELECT id FROM api_keys WHERE name = 'Published storefront'")).toHaveLength(1)
    // One that is there has a history of its own, which a restore leaves alone.
    const later = await git.resolveRef({ ...repository(elsewhere), ref: 'refs/heads/main' })
    await stoaJson(elsewhere, 'store', 'restore', store.id, '--from', file, '--yes')
    expect(await git.resolveRef({ ...repository(elsewhere), ref: 'refs/heads/main' })).toBe(later)
    await stoaJson(elsewhere, 'store', 'delete', store.id, '--yes')
    expect(readdirSync(join(elsewhere, 'builder'))).toEqual([])
    await stoaJson(elsewhere, 'store', 'restore', store.id, '--from', file)
    expect(await git.resolveRef({ ...repository(elsewhere), ref: 'refs/heads/main' })).toBe(sha)
  }, 60_000)

  test('a key revoked since the backup stays revoked', async () => {
    const at = await shop()
    const file = `${folder()}/backup.tar`
    const { id, key } = await stoaJson(at.dataDir, 'key', 'create', '--store', at.id)
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', file)
    await stoaJson(at.dataDir, 'key', 'revoke', id)
    await stoaJson(at.dataDir, 'store', 'restore', at.id, '--from', file, '--yes')
    expect((await call(at.server.api, key, 'GET', '/me')).status).toBe(401)
  })

  test('what is damaged, foreign or no backup is refused and changes nothing', async () => {
    const at = await shop()
    await create(at, at.keys.admin, 'Copper kettle')
    const files = folder()
    await stoaJson(at.dataDir, 'store', 'backup', at.id, '--to', `${files}/good.tar`)
    const other = await createStore(at.dataDir, 'Other')
    await create(at, at.keys.admin, 'Tin teapot')
    const bytes = readFileSync(`${files}/good.tar`)
    const flipped = Buffer.from(bytes)
    flipped[bytes.length >> 1]! ^= 1
    writeFileSync(`${files}/flipped.tar`, flipped)
    writeFileSync(`${files}/half.tar`, bytes.subarray(0, bytes.length >> 1))
    writeFileSync(`${files}/text.tar`, 'no backup')
    const refused = async (id: string, file: string) => {
      const { code, stdout, stderr } = await stoa(at.dataDir, 'store', 'restore', id, '--from', `${files}/${file}`, '--yes', '--json')
      expect([code, stdout, stderr.trim().split('\n').length], stderr).toEqual([1, '', 1])
      return stderr
    }
    expect(await refused(at.id, 'flipped.tar')).toContain('is damaged: its part')
    for (const file of ['half.tar', 'text.tar']) expect(await refused(at.id, file)).toMatch(/damaged|no backup/)
    expect(await refused(at.id, 'missing.tar')).toContain('there is no file')
    expect(await refused(other.id, 'good.tar')).toContain(`is a backup of the store ${at.id}`)
    expect((await productsOf(at, at.keys.admin)).size).toBe(2)
    expect(await productsOf(at, other.keys.admin)).toEqual(new Set())
    await stoaJson(at.dataDir, 'store', 'delete', at.id, '--yes')
    await createStore(at.dataDir, 'Taker', 'atelier')
    expect(await refused(at.id, 'good.tar')).toContain('the slug atelier of the backup belongs to the store')
    expect(existsSync(`${at.dataDir}/store-${at.id}.db`)).toBe(false)
    expect(readdirSync(at.dataDir).filter((name) => name.startsWith('.stoa-'))).toEqual([])
  })
})
