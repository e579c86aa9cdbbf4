/** Deployments in an S3 store (document 4, `S3_*`): kept there whole, fetched where they are not, and removed. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, extract } from 'tar'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clearDeployments } from '../../api/builder/publishing/housekeeping.ts'
import { servicesFor } from '../../api/services.ts'
import { DeploymentFiles } from '../../db/deployment-files.ts'
import { s3Double, type S3Double } from '../doubles/s3.ts'
import { openShop, type PublishedShop } from './published.ts'

let s3: S3Double
let shop: PublishedShop
let first: { deploymentId: string }
beforeAll(async () => {
  s3 = await s3Double()
  shop = await openShop({ env: s3.env, products: 3 })
  first = await shop.publish()
  expect(first).toMatchObject({ status: 'live' })
}, 60_000)
beforeEach(() => {
  Object.assign(s3, { mood: 'well', refuses: null, seen: [] })
})
afterAll(async () => {
  await shop?.close()
  s3?.close()
})

const keyOf = (id: string) => `deployments/${shop.store.id}/${id}.tar.zst`
const folderOf = (id: string) => join(shop.config.dataDir, 'deployments', id)
const home = (path = '/', encoding = 'identity') =>
  shop.visit(`shop.localhost:${shop.api.port}`, path, { headers: { 'accept-encoding': encoding } })
const files = (folder: string) => (readdirSync(folder, { recursive: true }) as string[]).toSorted()

describe('a deployment in an S3 store', () => {
  test('is one archive there, and served from the data folder', async () => {
    expect([...s3.objects.keys()].filter((key) => key.startsWith('deployments/'))).toEqual([keyOf(first.deploymentId)])
    expect(s3.objects.get(keyOf(first.deploymentId))!.type).toBe('application/zstd')
    expect((await home()).status).toBe(200)
    expect(s3.seen).toEqual([])
    expect(readdirSync(join(shop.config.dataDir, 'builds')).filter((name) => name.includes('.tar'))).toEqual([])
  })

  test('is fetched where its files are not, once for all who ask at the same time, the same as it was', async () => {
    const [page, list] = [await (await home()).text(), files(folderOf(first.deploymentId))]
    await shop.restart()
    rmSync(join(shop.config.dataDir, 'deployments'), { recursive: true })
    s3.seen = []
    const all = await Promise.all(Array.from({ length: 20 }, () => home()))
    expect(await Promise.all(all.map((answer) => answer.text()))).toEqual(all.map(() => page))
    expect(s3.seen).toEqual([`GET ${keyOf(first.deploymentId)}`])
    // As they are: what is compressed is made when somebody asks for it, and says the same.
    expect(files(folderOf(first.deploymentId))).toEqual(list.filter((path) => !/\.(br|gz|zst)$/.test(path)))
    for (const path of ['/', '/index.md', ...[.../(?:href|src)="(\/_astro\/[^"]+)"/g[Symbol.matchAll](page)].map(([, asset]) => asset!)]) {
      const identity = await home(path, 'identity')
      const bytes = Buffer.from(await identity.arrayBuffer())
      expect([identity.status, identity.headers.get('content-encoding'), bytes.length > 0]).toEqual([200, null, true])
      for (const encoding of ['br', 'zstd', 'gzip']) {
        const answer = await home(path, encoding)
        expect(answer.headers.get('content-encoding'), path).toBe(encoding)
        expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
        expect(answer.headers.get('etag')).not.toBe(identity.headers.get('etag'))
      }
    }
    expect(readdirSync(join(shop.config.dataDir, 'deployments'))).toEqual([first.deploymentId])
  })

  test('whose store is away is a page that says to come back, and is there once the store is', async () => {
    await shop.restart()
    rmSync(folderOf(first.deploymentId), { recursive: true, force: true })
    s3.mood = 'down'
    const answer = await home()
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    s3.mood = 'well'
    expect((await home()).status).toBe(200)
  })

  /** The archive with another manifest in it. */
  const withManifest = async (tar: Uint8Array, change: (manifest: any) => unknown) => {
    const folder = mkdtempSync(join(tmpdir(), 'stoa-archive-'))
    try {
      writeFileSync(join(folder, 'in.tar'), Bun.zstdDecompressSync(tar))
      await extract({ file: join(folder, 'in.tar'), cwd: folder })
      rmSync(join(folder, 'in.tar'))
      const path = join(folder, 'manifest.json')
      writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))))
      const out = join(shop.config.dataDir, 'changed.tar')
      await create({ file: out, cwd: folder }, ['.'])
      return Bun.zstdCompressSync(readFileSync(out))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const entry = { type: 'text/plain', etags: { identity: '"x"' }, immutable: false }
  test.each<[string, (tar: Uint8Array) => Uint8Array | Promise<Uint8Array>]>([
    ['cut off', (tar) => tar.subarray(0, tar.length >> 1)],
    [
      'without its manifest',
      (tar) => {
        const plain = Bun.zstdDecompressSync(tar)
        return Bun.zstdCompressSync(plain.subarray(0, plain.indexOf('./manifest.json')))
      },
    ],
    ['no archive', () => new TextEncoder().encode('<html>maintenance</html>')],
    ['with a manifest of null', (tar) => withManifest(tar, () => null)],
    ['with an empty manifest', (tar) => withManifest(tar, () => ({}))],
    ["with another deployment's manifest", (tar) => withManifest(tar, (own) => ({ ...own, id: 'dpl_other' }))],
    ["with another store's manifest", (tar) => withManifest(tar, (own) => ({ ...own, storeId: crypto.randomUUID() }))],
    ['without an address', (tar) => withManifest(tar, (own) => ({ ...own, base: '' }))],
    ...['../../secret.key', '/etc/passwd', 'a/../../../control.db', '..\\secret', ''].map(
      (file) =>
        [
          `with a path to ${JSON.stringify(file)}`,
          (tar: Uint8Array) => withManifest(tar, (own) => ({ ...own, files: { ...own.files, '/x.txt': { ...entry, file } } })),
        ] as [string, (tar: Uint8Array) => Promise<Uint8Array>],
    ),
  ])('whose archive is %s is not served, and leaves nothing', async (_, spoil) => {
    const object = s3.objects.get(keyOf(first.deploymentId))!
    const whole = object.bytes
    await shop.restart()
    rmSync(folderOf(first.deploymentId), { recursive: true, force: true })
    object.bytes = await spoil(whole)
    try {
      expect((await home()).status).toBe(503)
      expect((await home('/x.txt')).status).toBe(503)
      expect(readdirSync(join(shop.config.dataDir, 'deployments'))).toEqual([])
    } finally {
      object.bytes = whole
    }
    await shop.restart()
    expect((await home()).status).toBe(200)
  })

  test('that becomes too much is not unpacked, and holds up nobody', async () => {
    const object = s3.objects.get(keyOf(first.deploymentId))!
    const whole = object.bytes
    const [folder, tar] = [mkdtempSync(join(tmpdir(), 'stoa-bomb-')), join(shop.config.dataDir, 'bomb.tar')]
    writeFileSync(join(folder, 'zeros'), '')
    truncateSync(join(folder, 'zeros'), 300 * 1024 ** 2)
    await create({ file: tar, cwd: folder }, ['./zeros'])
    object.bytes = Bun.zstdCompressSync(readFileSync(tar))
    rmSync(folder, { recursive: true })
    rmSync(tar)
    await shop.restart()
    rmSync(folderOf(first.deploymentId), { recursive: true, force: true })
    expect((await home()).status).toBe(503)
    // What has just failed is not tried again for each who asks.
    s3.seen = []
    expect((await home()).status).toBe(503)
    expect(s3.seen).toEqual([])
    object.bytes = whole
    await shop.restart()
    expect((await home()).status).toBe(200)
  }, 30_000)

  test('that can not be read keeps nobody from publishing', async () => {
    const object = s3.objects.get(keyOf(first.deploymentId))!
    const whole = object.bytes
    await shop.restart()
    rmSync(folderOf(first.deploymentId), { recursive: true, force: true })
    object.bytes = whole.subarray(0, 100)
    expect((await home()).status).toBe(503)
    const live = await shop.publish()
    expect([live.status, (await home()).status]).toEqual(['live', 200])
    object.bytes = whole
  }, 60_000)

  test('whose files are removed under the server is fetched again', async () => {
    expect((await home('/products')).status).toBe(200)
    rmSync(join(shop.config.dataDir, 'deployments'), { recursive: true })
    for (const path of ['/contact', '/products', '/', '/cart', '/favicon.svg'])
      expect([path, (await home(path)).status]).toEqual([path, 200])
  })

  test('of which a part was removed is fetched again; what is no deployment is never a path', async () => {
    const [id] = readdirSync(join(shop.config.dataDir, 'deployments'))
    rmSync(join(folderOf(id!), 'manifest.json'))
    const deployments = new DeploymentFiles(shop.config)
    expect(await deployments.fetch(shop.store.id, id!)).toBe(true)
    for (const name of ['../victim', '', 'dpl_x/../../victim'])
      s3.objects.set(`deployments/${shop.store.id}/${name}.tar.zst`, { bytes: new Uint8Array(1), type: '', at: new Date(0) })
    expect(await deployments.keptBefore(shop.store.id, new Date())).not.toContain('../victim')
    await expect(deployments.remove(shop.store.id, '../victim')).rejects.toThrow('is no deployment')
    for (const key of s3.objects.keys()) if (key.includes('victim') || key.endsWith('/.tar.zst')) s3.objects.delete(key)
  })

  test('may have files of the project that are called like ours', async () => {
    const folder = join(shop.config.dataDir, 'builder', shop.store.id, 'public')
    const own = { 'manifest.json': '{"name":"A web app"}', 'same.json': '{"name":"A web app"}', 'archive.tar.zst': 'An archive.' }
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(own)) writeFileSync(join(folder, name), text)
    const { status, deploymentId } = await shop.publish()
    expect(status).toBe('live')
    const all = () => Promise.all(Object.keys(own).map(async (name) => [name, await (await home(`/${name}`)).text()]))
    expect(Object.fromEntries(await all())).toEqual(own)
    rmSync(folderOf(deploymentId), { recursive: true })
    await shop.restart()
    expect(Object.fromEntries(await all())).toEqual(own)
    for (const name of Object.keys(own)) rmSync(join(folder, name))
  }, 60_000)

  test('a publish waits for a store that is away, while the live one stays, and is built once', async () => {
    const page = await (await home()).text()
    const { body } = await shop.call('POST', '/publish')
    s3.refuses = 'deployments/'
    while (s3.seen.filter((line) => line.startsWith('PUT deployments/')).length < 3) await Bun.sleep(20)
    expect(await (await home()).text()).toBe(page)
    expect((await shop.call('GET', `/publish/${body.publishId}`)).body.status).toBe('building')
    s3.refuses = null
    const log = join(shop.config.dataDir, 'builds/logs', `${shop.store.id}.log`)
    const written = readFileSync(log, 'utf8')
    for (let status = ''; status !== 'live'; await Bun.sleep(50)) {
      status = (await shop.call('GET', `/publish/${body.publishId}`)).body.status
      expect(status).not.toBe('failed')
    }
    expect(readFileSync(log, 'utf8')).toBe(written)
    expect(s3.objects.has(keyOf(body.deploymentId))).toBe(true)
  }, 60_000)

  test('goes from both places when nobody needs it, with what a crash has left there', async () => {
    const live = await shop.publish()
    const lost = `deployments/${shop.store.id}/dpl_lost.tar.zst`
    const young = `deployments/${shop.store.id}/dpl_young.tar.zst`
    s3.objects.set(lost, { bytes: new Uint8Array(1), type: '', at: new Date(Date.now() - 2 * 86_400_000) })
    s3.objects.set(young, { bytes: new Uint8Array(1), type: '', at: new Date(Date.now() + 2 * 86_400_000) })
    await shop.registry(async (registry) => {
      const services = await servicesFor(shop.config, { registry, baseUrl: shop.url, port: shop.api.port })
      const later = new Date(Date.now() + 86_400_000 + 60_000)
      await clearDeployments({ ...services, clock: { ...services.clock, now: () => later } })
    })
    const left = [...s3.objects.keys()].filter((key) => key.startsWith('deployments/'))
    expect(left).toContain(keyOf(live.deploymentId))
    expect(left).toContain(young)
    expect(left).not.toContain(lost)
    expect(left.filter((key) => key.includes('dpl_') && key !== young).toSorted()).toEqual(
      readdirSync(join(shop.config.dataDir, 'deployments'))
        .map((id) => keyOf(id))
        .toSorted(),
    )
    expect(existsSync(folderOf(live.deploymentId))).toBe(true)
  }, 60_000)

  test('two processes that fetch it at once both have it', async () => {
    const [id] = readdirSync(join(shop.config.dataDir, 'deployments'))
    rmSync(folderOf(id!), { recursive: true })
    const both = [new DeploymentFiles(shop.config), new DeploymentFiles(shop.config)]
    expect(await Promise.all(both.map((each) => each.fetch(shop.store.id, id!)))).toEqual([true, true])
    expect(await both[0]!.fetch(shop.store.id, 'dpl_nothing')).toBe(false)
    expect(readdirSync(join(shop.config.dataDir, 'deployments')).filter((name) => name.includes('.new-'))).toEqual([])
  })
})
