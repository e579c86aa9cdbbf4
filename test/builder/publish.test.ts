import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import git from 'isomorphic-git'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeDeployment } from '../../api/builder/publishing/make.ts'
import { publishStorefront } from '../../api/builder/publishing/publish-job.ts'
import type { Running } from '../../api/jobs/kind.ts'
import { servicesFor } from '../../api/services.ts'
import { deployments, projects } from '../../db/control/tables.ts'
import { Handles } from '../../db/handles.ts'
import { publishes } from '../../db/store/builder.ts'
import { openShop, type PublishedShop } from './published.ts'

let shop: PublishedShop
let project: string
beforeAll(async () => {
  shop = await openShop({ env: { SECRET_KEY: 'b1946ac92492d2347c6235b4d2611184', METRICS: '1' } })
  project = join(shop.config.dataDir, 'builder', shop.store.id)
})
afterAll(() => shop?.close())

const page = (name: string) => join(project, 'src/pages', name)
/** Publishes with one more page in the workspace, which goes again with the next save. */
async function withPage(name: string, source: string) {
  writeFileSync(page(name), source)
  try {
    return await shop.publish()
  } finally {
    Bun.spawnSync(['rm', page(name)])
  }
}

describe('publishing', () => {
  test('a store that is not AI-built has no deployment; nothing is at its host', async () => {
    const { keys } = await shop.another('plain', { aiBuilt: false })
    for (const [method, path] of [
      ['POST', '/publish'],
      ['GET', '/publish/dpl_x'],
    ])
      expect(await shop.call(method!, path!, undefined, keys.admin)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('no platform-managed deployment') },
      })
    expect((await shop.call('POST', '/publish', undefined, shop.store.keys.staging)).status).toBe(400)
    expect((await shop.visit('plain.localhost', '/')).status).toBe(404)
    expect((await shop.visit('shop.localhost', '/')).status).toBe(404)
  })

  test('is queued, built, verified and live; of twenty at once one is taken', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => shop.call('POST', '/publish')))
    expect(all.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(all.filter(({ status }) => status === 409)).toHaveLength(19)
    const { body } = all.find(({ status }) => status === 202)!
    expect(body).toEqual({
      publishId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'queued',
      deploymentId: expect.stringMatching(/^dpl_[a-z0-9]{24}$/),
      deploymentUrl: `http://${body.deploymentId}.localhost:${shop.api.port}`,
      inspectorUrl: expect.stringContaining('/builds/'),
      savedChanges: false,
    })
    const seen = new Set<string>()
    const metrics = async () => (await fetch(`${shop.api.url}/metrics`)).text()
    const made = /^stoa_build_seconds_count\{kind="publish",outcome="made"\} 1$/m
    expect(await metrics()).not.toMatch(made)
    let now: any
    do {
      ;({ body: now } = await shop.call('GET', `/publish/${body.publishId}`))
      seen.add(`${now.status} ${now.readyState}`)
      await Bun.sleep(20)
    } while (['queued', 'building', 'verifying'].includes(now.status))
    expect(await metrics()).toMatch(made)
    expect((await shop.call('GET', '/usage')).body.builds.used).toBe(1)
    expect(now, now.reason).toMatchObject({
      status: 'live',
      readyState: 'READY',
      reason: null,
      deploymentId: body.deploymentId,
      url: body.deploymentUrl,
    })
    expect([...seen]).toEqual(expect.arrayContaining(['building BUILDING', 'live READY']))
    const log = await fetch(body.inspectorUrl)
    expect(log.status).toBe(200)
    expect(await log.text()).toContain('checking out')
    expect((await fetch(`${body.inspectorUrl.slice(0, -3)}abc`)).status).toBe(404)
  })

  test('serves pages, their Markdown, and what machines read, on the store’s own host alone', async () => {
    const home = await shop.visit('shop.localhost', '/')
    expect(home.status).toBe(200)
    expect(await home.text()).toContain('<h1>Shop shop</h1>')
    const twin = await shop.visit('shop.localhost', '/products', { headers: { accept: 'text/markdown' } })
    expect(twin.headers.get('content-type')).toContain('text/markdown')
    expect(await twin.text()).toContain('# Everything')
    for (const path of ['/llms.txt', '/sitemap.xml', '/robots.txt', '/feed.xml', '/index.md', '/products.md'])
      expect([path, (await shop.visit('shop.localhost', path)).status]).toEqual([path, 200])
    const again = await shop.visit('shop.localhost', '/', { headers: { 'if-none-match': home.headers.get('etag')! } })
    expect(again.status).toBe(304)
    expect((await shop.visit('shop.localhost', '/products/')).headers.get('location')).toBe('/products')
    expect((await shop.visit('127.0.0.1', '/products')).status).toBe(404)
    expect((await shop.visit('shop.localhost', '/api/v1/me')).status).toBe(401)
  })

  test('saves what was changed in the workspace, and tells so', async () => {
    writeFileSync(page('about.astro'), '<html lang="en"><head><title>About</title></head><body><h1>About us</h1></body></html>')
    const verdict = await shop.publish()
    expect(verdict).toMatchObject({ status: 'live', trigger: { savedChanges: true } })
    expect(await (await shop.visit('shop.localhost', '/about')).text()).toContain('About us')
    expect(await shop.publish()).toMatchObject({ status: 'live', commitSha: verdict.commitSha, trigger: { savedChanges: false } })
  })

  test('git can clone the project by its path, and push to it', async () => {
    const clone = join(shop.config.dataDir, 'clone')
    const git = (...command: string[]) => Bun.spawnSync(['git', '-C', clone, '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...command])
    if (Bun.spawnSync(['git', 'clone', '-q', project, clone]).exitCode !== 0) throw new Error('git can not clone')
    writeFileSync(join(clone, 'src/pages/pushed.astro'), '<html lang="en"><head><title>P</title></head><body><p>pushed</p></body></html>')
    git('add', '-A')
    git('commit', '-qm', 'One more page')
    const { exitCode, stderr } = git('push', '-q', 'origin', 'main')
    expect(exitCode, stderr.toString()).toBe(0)
    expect(await shop.publish()).toMatchObject({ status: 'live' })
    expect((await shop.visit('shop.localhost', '/pushed')).status).toBe(200)
  }, 30_000)

  test('only the last verdict can be read; a deployment by its id and by its host', async () => {
    const first = await shop.publish()
    const second = await shop.publish()
    expect((await shop.call('GET', `/publish/${first.publishId}`)).status).toBe(404)
    for (const name of [second.deploymentId, `${second.deploymentId}.localhost`, 'shop.localhost', `shop.localhost:${shop.api.port}`])
      expect((await shop.call('GET', `/publish/${encodeURIComponent(name)}`)).body).toEqual({
        id: second.deploymentId,
        url: second.url,
        readyState: 'READY',
      })
    expect((await shop.call('GET', `/publish/${first.deploymentId}`)).body).toMatchObject({ id: first.deploymentId })
    const other = await shop.another('other')
    for (const name of [second.deploymentId, 'shop.localhost', second.publishId])
      expect((await shop.call('GET', `/publish/${name}`, undefined, other.keys.admin)).status).toBe(404)
  }, 30_000)
})

describe('a build that goes wrong leaves what is live as it is', () => {
  test('names the first error of the build', async () => {
    const verdict = await withPage('broken.astro', '---\nimport { nothing } from "../nowhere.ts"\n---\n<p>{nothing}</p>')
    expect(verdict).toMatchObject({ status: 'failed', readyState: 'ERROR', reason: expect.stringContaining('nowhere') })
    expect((await shop.visit('shop.localhost', '/')).status).toBe(200)
  })

  test('a link in the project is refused', async () => {
    symlinkSync('/etc/passwd', page('passwd.txt'))
    try {
      expect(await shop.publish()).toMatchObject({ status: 'failed', reason: expect.stringContaining('symbolic link') })
    } finally {
      Bun.spawnSync(['rm', page('passwd.txt')])
    }
  })

  test('a page that is no template is named, and so is one that can not be filled in', async () => {
    const cart = page('[...lang]/cart.astro')
    const source = readFileSync(cart, 'utf8')
    try {
      writeFileSync(cart, source.replace('[% for warning in cart.warnings %]', '[% for warning in %]'))
      expect(await shop.publish()).toMatchObject({ status: 'failed', reason: expect.stringContaining('/cart') })
    } finally {
      writeFileSync(cart, source)
    }
  })

  test('a project without a home page is not shown', async () => {
    const home = page('[...lang]/index.astro')
    const source = readFileSync(home, 'utf8')
    Bun.spawnSync(['rm', home])
    try {
      expect(await shop.publish()).toMatchObject({ status: 'failed', reason: expect.stringContaining('home page') })
    } finally {
      writeFileSync(home, source)
    }
  })

  test('what is written without an end is cut off', async () => {
    const verdict = await withPage(
      'endless.json.ts',
      'for (;;) console.log("x".repeat(100_000))\nexport const GET = () => new Response("{}")',
    )
    expect(verdict).toMatchObject({ status: 'failed', reason: expect.stringContaining('of output') })
    expect(readFileSync(join(shop.config.dataDir, 'builds/logs', `${shop.store.id}.log`)).length).toBeLessThan(1_100_000)
  })
})

describe.skipIf(process.platform !== 'linux')('a hostile project', () => {
  test('reads no file outside, no secret, reaches no network, kills nobody and outlives nothing', async () => {
    const asked: string[] = []
    const canary = createServer((socket) => void (asked.push('tcp'), socket.destroy())).listen(0, '127.0.0.1')
    await new Promise((resolve) => canary.once('listening', resolve))
    const { port } = canary.address() as { port: number }
    const source = `
import { readFileSync, readdirSync, writeFileSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
const tried = {}
const attempt = async (name, work) => { try { tried[name] = String(await work()).slice(0, 100) } catch (error) { tried[name] = 'refused ' + (error.code ?? error.message) } }
await attempt('passwd', () => readFileSync('/etc/passwd', 'utf8'))
await attempt('secret', () => readFileSync('${shop.config.dataDir}/secret.key', 'utf8'))
await attempt('control', () => readFileSync('${shop.config.dataDir}/control.db').length)
await attempt('stores', () => readdirSync('${shop.config.dataDir}').join())
await attempt('parent', () => readFileSync('/proc/${process.pid}/environ', 'utf8'))
await attempt('kill', () => process.kill(${process.pid}, 0))
await attempt('write', () => writeFileSync('${shop.config.dataDir}/builder/owned', 'x'))
await attempt('fetch', async () => (await fetch('http://127.0.0.1:${port}/')).status)
await attempt('api', async () => (await fetch('http://127.0.0.1:${shop.api.port}/healthz')).status)
await attempt('udp', async () => { const { createSocket } = await import('node:dgram'); const s = createSocket('udp4'); await new Promise((y, n) => { s.once('error', n); s.send('x', ${port}, '127.0.0.1', (e) => e ? n(e) : y()) }) })
await attempt('connect', () => new Promise((y, n) => connect(${port}, '127.0.0.1', y).once('error', n)))
await attempt('link', () => symlinkSync('/etc/passwd', process.env.HOME + '/p') ?? readFileSync(process.env.HOME + '/p', 'utf8'))
 export const GET = () => new Response(JSON.stringify({ tried, env: Object.keys(process.env).sort(), values: Object.values(process.env).join(' ') }))
`
    const verdict = await withPage('hostile.json.ts', source)
    expect(verdict, verdict.reason).toMatchObject({ status: 'live' })
    const { tried, env, values } = (await (await shop.visit('shop.localhost', '/hostile.json')).json()) as {
      tried: Record<string, string>
      env: string[]
      values: string
    }
    for (const [name, outcome] of Object.entries(tried)) expect([name, outcome]).toEqual([name, expect.stringMatching(/^refused|^null$/)])
    expect(values).not.toContain('b1946ac92492d2347c6235b4d2611184')
    expect(env.filter((name) => /KEY|SECRET|TOKEN|DATABASE|DATA_DIR/.test(name))).toEqual([])
    expect(asked).toEqual([])
    expect(existsSync(join(shop.config.dataDir, 'builder/owned'))).toBe(false)
    canary.close()
  })

  test.each([
    ['a link in the place of its output', "symlinkSync('/etc', folder + '/out-0')", 'no folder'],
    ['a file in the place of its output', "writeFileSync(folder + '/out-0', 'x')", 'no folder'],
    [
      'a link to what has no end in the place of its hashes',
      "mkdirSync(folder + '/out-0'); symlinkSync('/dev/zero', folder + '/after-0.json')",
      'no plain file',
    ],
    [
      'a pipe in the place of its hashes',
      "mkdirSync(folder + '/out-0'); spawnSync('/usr/bin/mkfifo', [folder + '/after-0.json'])",
      'no plain file',
    ],
    [
      'more hashes than pages have',
      "mkdirSync(folder + '/out-0'); writeFileSync(folder + '/after-0.json', Buffer.alloc(40 * 1024 * 1024, 32))",
      'more than 33554432 bytes',
    ],
  ])('that leaves %s is read no further, and nothing of it is served', async (_, code, reason) => {
    const config = join(project, 'astro.config.mjs')
    const before = readFileSync(config, 'utf8')
    const head =
      "import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'\nimport { spawnSync } from 'node:child_process'\nimport { resolve } from 'node:path'\n"
    writeFileSync(config, `${head}const folder = resolve(process.cwd(), '..')\n${code}\nprocess.exit(0)\n`)
    try {
      const verdict = await shop.publish()
      expect(verdict).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining(reason),
      })
      expect((await shop.visit(`${verdict.deploymentId}.localhost`, '/passwd')).status).toBe(404)
    } finally {
      writeFileSync(config, before)
    }
  })

  test('has no rights of root, and no memory that outlives it', async () => {
    const source = `
import { dlopen, FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'
const { u64, i64 } = FFIType
const { symbols } = dlopen('libc.so.6', { syscall: { args: [u64, u64, u64, u64], returns: i64 } })
const numbers = process.arch === 'x64' ? { shmget: 29, chroot: 161, keyctl: 250, memfd: 319 } : { shmget: 194, chroot: 51, keyctl: 219, memfd: 279 }
const refused = Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, Number(symbols.syscall(BigInt(number), 0n, 4096n, 0o1666n))]))
 export const GET = () => new Response(JSON.stringify({ refused, status: readFileSync('/proc/self/status', 'utf8') }))
`
    expect(await withPage('rights.json.ts', source)).toMatchObject({ status: 'live' })
    const { refused, status } = (await (await shop.visit('shop.localhost', '/rights.json')).json()) as any
    expect(refused).toEqual({ shmget: -1, chroot: -1, keyctl: -1, memfd: -1 })
    // At most to read, below the folders that it may read anyway.
    expect(/CapEff:\s+(\w+)/.exec(status)![1]).toMatch(/^0{15}[04]$/)
    if (process.getuid!() === 0) expect(Number(/Uid:\s+(\d+)/.exec(status)![1])).toBeGreaterThan(60_000)
  })

  test('reaches the server by neither its process, nor paths, nor what Bun reads before a program begins', async () => {
    const secret = join(shop.config.dataDir, 'control.db')
    const limits = () => readFileSync(`/proc/${process.pid}/limits`, 'utf8')
    const before = [statSync(secret).mode, limits()]
    const preload = `
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { chmodSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
const { u64, i64 } = FFIType
const { symbols } = dlopen('libc.so.6', { syscall: { args: [u64, u64, u64, u64, u64], returns: i64 } })
const attempt = (work) => { try { return String(work()) } catch (error) { return error.code } }
const few = new BigInt64Array([20n, 20n])
const limit = process.arch === 'x64' ? 302n : 261n
globalThis.said = {
  read: attempt(() => readFileSync('${secret}', 'utf8')), mode: attempt(() => chmodSync('${secret}', 0o777)),
  times: attempt(() => utimesSync('${secret}', 1, 1)), user: process.getuid(),
  limits: Number(symbols.syscall(limit, ${process.pid}n, 7n, BigInt(ptr(few)), 0n)),
}
`
    const files = [join(project, 'bunfig.toml'), join(project, 'preload.mjs')] as const
    writeFileSync(files[0], 'preload = ["./preload.mjs"]\n')
    writeFileSync(files[1], preload)
    try {
      const verdict = await withPage('preload.json.ts', 'export const GET = () => new Response(JSON.stringify(globalThis.said))')
      expect(verdict, verdict.reason).toMatchObject({ status: 'live' })
    } finally {
      for (const file of files) rmSync(file)
    }
    const said = await (await shop.visit('shop.localhost', '/preload.json')).json()
    expect(said).toMatchObject({ read: 'EACCES', mode: 'EACCES', times: 'EACCES', limits: -1 })
    if (process.getuid!() === 0) expect((said as { user: number }).user).toBeGreaterThan(60_000)
    expect([statSync(secret).mode, limits()]).toEqual(before)
  })

  test.each([
    ['a page without an end', "'<!doctype html><script'.repeat(100_000)", 'more than 2 MB'],
    [
      'a script for each page',
      "Array.from({ length: 101 }, (_, n) => '<script>' + n + '</script>').join('')",
      'more than 100 different scripts',
    ],
  ])('that makes %s is told what is too much', async (_, text, reason) => {
    const source = `export const getStaticPaths = () => [{ params: { page: 'much.html' } }]
 export const GET = () => new Response(${text})`
    expect(await withPage('[page].ts', source)).toMatchObject({ status: 'failed', reason: expect.stringContaining(reason) })
  })

  test('a process that it leaves behind ends with the build', async () => {
    const mark = `stoa-left-behind-${process.pid}`
    const source = `
import { spawn } from 'node:child_process'
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ${mark}'], { stdio: 'ignore', detached: true }).on('error', () => {}).unref()
 export const GET = () => new Response('{}')
`
    await withPage('left.json.ts', source)
    const running = readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
    expect(running).toEqual([])
  })

  test('a page under the API’s path, or of another host, is not shown for it', async () => {
    mkdirSync(page('api/v1'), { recursive: true })
    writeFileSync(page('api/v1/me.json.ts'), 'export const GET = () => new Response("{}")')
    writeFileSync(page('healthz.txt.ts'), 'export const GET = () => new Response("mine")')
    expect(await shop.publish()).toMatchObject({ status: 'live' })
    expect((await shop.visit('shop.localhost', '/api/v1/me')).status).toBe(401)
    expect((await shop.visit('shop.localhost', '/api/v1/me.json')).status).toBe(404)
    expect(await (await shop.visit('127.0.0.1', '/healthz')).json()).toMatchObject({ ok: true })
  })
})

describe('refreshes', () => {
  test('a change is live within seconds after its minute', async () => {
    const before = await shop.publish()
    // A minute has passed since.
    await shop.registry((registry) =>
      registry.change((tx) =>
        tx
          .update(deployments)
          .set({ createdAt: new Date(Date.now() - 60_000).toISOString() })
          .where(eq(deployments.id, before.deploymentId)),
      ),
    )
    const { body } = await shop.call('GET', '/products?limit=1&sort=name')
    const [product] = body.data
    await shop.call('PATCH', `/products/${product.id}`, { name: 'A name that is new' })
    const started = Date.now()
    let text = ''
    while (!text.includes('A name that is new') && Date.now() - started < 20_000) {
      await Bun.sleep(500)
      text = await (await shop.visit('shop.localhost', `/products/${product.slug}`)).text()
    }
    expect(text).toContain('A name that is new')
    expect((await shop.call('GET', '/publish/shop.localhost')).body.id).not.toBe(before.deploymentId)
  }, 30_000)
})

describe('what is taken over', () => {
  test('is what a build of everything would make, whatever was changed', async () => {
    const { call } = shop
    const made = async (method: string, path: string, body: unknown) => {
      const { status, body: answer } = await call(method, path, body)
      expect([path, status < 300, JSON.stringify(answer)]).toEqual([path, true, expect.anything()])
      return answer
    }
    const said = (text: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] })
    const first = async (list: string) => (await call('GET', `${list}?limit=1`)).body.data[0]
    const [parent, product, brand] = await Promise.all(['/categories', '/products', '/brands'].map(first))
    const child = await made('POST', '/categories', { name: 'Below', parentId: parent.id })
    await made('PUT', '/legal-pages/terms', { title: 'Terms', content: said('What holds.') })
    const price = [{ name: 'One', price: 10, stock: { quantity: 3 } }]
    const other = await made('POST', '/products', { name: 'Zither', brandId: brand.id, categoryId: child.id, variants: price })
    const variants = [other, product].map((each) => ({ variantId: each.variants[0].id }))
    await made('POST', '/bundles', { name: 'Both', variants, discountPercentage: 10 })
    expect(await shop.publish()).toMatchObject({ status: 'live' })

    await made('PATCH', `/brands/${brand.id}`, { name: 'Another brand' })
    await made('PUT', '/legal-pages/terms', { title: 'Other terms', content: said('What holds.') })
    await made('POST', '/posts', { title: 'The first post', content: said('Hello.'), status: 'published' })
    await made('PATCH', `/products/${other.id}`, { name: 'Another zither' })
    const pages = async () => {
      const { status, deploymentId } = await shop.publish()
      expect(status).toBe('live')
      const root = join(shop.config.dataDir, 'deployments', deploymentId)
      const names = (readdirSync(root, { recursive: true }) as string[]).filter((name) => /\.(html|md|xml|txt)$/.test(name))
      return new Map(names.toSorted().map((name) => [name, readFileSync(join(root, name), 'utf8')]))
    }
    const partly = await pages()
    writeFileSync(join(project, 'note.txt'), 'Another commit: nothing can be taken over.')
    const whole = await pages()
    expect([...partly.keys()]).toEqual([...whole.keys()])
    for (const [name, text] of whole) expect(partly.get(name) === text, name).toBe(true)
    expect(whole.get(`products/${product.slug}.html`)).toContain('Other terms')
  }, 60_000)
})

test('pages with the same Markdown are taken over each, and each as itself when the other changes', async () => {
  const twins = await Promise.all([1, 2].map(() => shop.call('POST', '/categories', { name: 'Twins' })))
  const [one, other] = twins.map(({ body }) => body as { id: string; slug: string })
  expect(await shop.publish()).toMatchObject({ status: 'live' })
  const markdown = async (slug: string) => (await shop.visit('shop.localhost', `/categories/${slug}.md`)).text()
  const before = await markdown(other!.slug)
  expect(await markdown(one!.slug)).toBe(before)
  // Neither has changed, then the one whose file the other was served by.
  await shop.call('POST', '/products', { name: 'Beside the twins', price: 5 })
  expect(await shop.publish()).toMatchObject({ status: 'live', reason: null })
  await shop.call('PATCH', `/categories/${one!.id}`, { name: 'No twin' })
  expect(await shop.publish()).toMatchObject({ status: 'live', reason: null })
  expect([await markdown(other!.slug), (await markdown(one!.slug)).includes('No twin')]).toEqual([before, true])
  for (const { id } of [one!, other!]) expect((await shop.call('DELETE', `/categories/${id}`)).status).toBe(200)
  expect(await shop.publish()).toMatchObject({ status: 'live' })
}, 60_000)

describe('what pages say of themselves', () => {
  const home = () => `shop.localhost:${shop.api.port}`
  const read = async (path: string) => (await shop.visit(home(), path)).text()

  test('each kind that is found has what it is as JSON-LD, and a picture where it has one', async () => {
    const map = await read('/sitemap.xml')
    const paths = [...map.matchAll(/<loc>([^<]+)/g)].map(([, url]) => new URL(url!).pathname)
    const kinds = new Map(paths.map((path) => [path.split('/').slice(1, -1).join('/') || path, path]))
    const typesOf = (value: unknown): string[] =>
      value !== null && typeof value === 'object'
        ? Object.entries(value).flatMap(([name, part]) => (name === '@type' ? [String(part)] : typesOf(part)))
        : []
    const found: Record<string, string[]> = {}
    for (const [kind, path] of kinds) {
      const html = await read(path)
      const json = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1]
      if (json === undefined) continue
      const all = typesOf(JSON.parse(json))
      found[kind] = [...new Set(all)]
      const image = /property="og:image" content="([^"]+)"/.exec(html)?.[1]
      if (image) expect((await shop.visit(home(), new URL(image).pathname)).status, image).toBe(200)
    }
    expect(found).toMatchObject({
      '/': ['OnlineStore', 'WebSite', 'SearchAction', 'EntryPoint'],
      '/products': ['CollectionPage', 'ItemList', 'ListItem'],
      '/blog': ['Blog', 'BlogPosting', 'Organization'],
      '/contact': ['ContactPage', 'Organization'],
      products: expect.arrayContaining(['Product', 'Offer', 'BreadcrumbList']),
      categories: ['CollectionPage', 'ItemList', 'ListItem', 'BreadcrumbList'],
      brands: ['CollectionPage', 'ItemList', 'ListItem', 'BreadcrumbList'],
      bundles: ['Product', 'Offer', 'BreadcrumbList', 'ListItem'],
      blog: ['BlogPosting', 'Organization'],
    })
  })
})

describe('a workspace that is not up', () => {
  const head = () => join(shop.config.dataDir, 'builder', shop.store.id, '.git')

  test('is made in the background where it is not there, whatever becomes of the request', async () => {
    const other = await shop.another('empty')
    const folder = join(shop.config.dataDir, 'builder', other.id)
    rmSync(folder, { recursive: true })
    const publish = () =>
      fetch(`${shop.api.url}/api/v1/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${other.keys.admin}`, 'idempotency-key': crypto.randomUUID() },
      })
    const refused = await publish()
    expect([refused.status, refused.headers.get('retry-after'), (await refused.json()).error]).toEqual([
      409,
      '5',
      'the design workspace is being made: try again in a moment',
    ])
    for (const deadline = Date.now() + 5_000; !existsSync(folder) && Date.now() < deadline;) await Bun.sleep(50)
    expect((await publish()).status).toBe(202)
    while ((await shop.visit('empty.localhost', '/')).status !== 200) await Bun.sleep(50)
  }, 30_000)

  test('is refused at once where it is made to be without an end, and nobody else waits', async () => {
    const at = { fs, dir: project }
    const main = join(head(), 'refs/heads/main')
    const sha = readFileSync(main, 'utf8').trim()
    let tree = await git.writeTree({ ...at, tree: [] })
    for (let depth = 0; depth < 8; depth++)
      tree = await git.writeTree({
        ...at,
        tree: Array.from({ length: 20 }, (_, n) => ({ mode: '040000', path: `d${n}`, oid: tree, type: 'tree' })),
      })
    const author = { name: 'Eve', email: 'eve@example.com', timestamp: 1, timezoneOffset: 0 }
    const bomb = await git.writeCommit({ ...at, commit: { message: 'x', tree, parent: [sha], author, committer: author } })
    const started = performance.now()
    try {
      writeFileSync(main, `${bomb}\n`)
      expect(await shop.call('POST', '/publish')).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('more than 2000 folders') },
      })
    } finally {
      writeFileSync(main, `${sha}\n`)
    }
    writeFileSync(join(project, 'large.bin'), '')
    truncateSync(join(project, 'large.bin'), 1_500 * 1024 * 1024)
    expect(await shop.call('POST', '/publish')).toMatchObject({ status: 409, body: { error: expect.stringContaining('more than 100 MB') } })
    rmSync(join(project, 'large.bin'))
    expect(performance.now() - started).toBeLessThan(10_000)
  }, 20_000)

  test('tells nothing of what its references lead to', async () => {
    const secret = 'ab'.repeat(32)
    writeFileSync(join(shop.config.dataDir, 'not-yours'), secret)
    for (const [name, make] of [
      ['refs/heads/main', (path: string) => writeFileSync(path, 'ref: ../../../not-yours\n')],
      ['refs/heads/main', (path: string) => symlinkSync(join(shop.config.dataDir, 'not-yours'), path)],
      ['HEAD', (path: string) => symlinkSync(join(shop.config.dataDir, 'not-yours'), path)],
      ['HEAD', (path: string) => writeFileSync(path, 'ref: ../../../not-yours\n')],
      ['objects/info/alternates', (path: string) => (mkdirSync(join(path, '..'), { recursive: true }), writeFileSync(path, '/etc\n'))],
    ] as const) {
      const path = join(head(), name)
      const before = existsSync(path) ? readFileSync(path) : null
      rmSync(path, { force: true })
      make(path)
      const answer = await shop.call('POST', '/publish')
      rmSync(path)
      if (before) writeFileSync(path, before)
      expect([name, answer.status]).toEqual([name, 409])
      expect(JSON.stringify(answer.body)).not.toContain(secret.slice(0, 20))
    }
  }, 20_000)

  test('is put right by a push, when what was pushed before could not be built', async () => {
    const clone = join(shop.config.dataDir, 'clone-with-a-link')
    const run = (...command: string[]) => {
      const { exitCode, stderr } = Bun.spawnSync(command, { cwd: existsSync(clone) ? clone : undefined })
      expect([command.join(' '), exitCode, stderr.toString()]).toEqual([command.join(' '), 0, expect.anything()])
    }
    const commit = () => run('git', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qam', 'x')
    run('git', 'clone', '-q', project, clone)
    symlinkSync('/etc/passwd', join(clone, 'src/link.txt'))
    run('git', 'add', '.')
    commit()
    run('git', 'push', '-q')
    expect(await shop.publish()).toMatchObject({ status: 'failed', reason: expect.stringContaining('symbolic link') })
    rmSync(join(clone, 'src/link.txt'))
    commit()
    run('git', 'push', '-q')
    expect(await shop.publish()).toMatchObject({ status: 'live', trigger: { savedChanges: false } })
  }, 30_000)

  test('is refused with what is wrong where no Git can read it, and where it is on another branch', async () => {
    const branch = join(head(), 'refs/heads/main')
    const sha = readFileSync(branch, 'utf8')
    const publish = () => shop.call('POST', '/publish')
    try {
      writeFileSync(branch, `${'0'.repeat(39)}1\n`)
      expect(await publish()).toMatchObject({
        status: 409,
        body: { error: expect.stringMatching(/^the design workspace is not up: the repository/) },
      })
      rmSync(branch)
      expect(await publish()).toMatchObject({
        status: 409,
        body: { error: 'the design workspace is not up: the repository has no branch main' },
      })
    } finally {
      writeFileSync(branch, sha)
    }
    writeFileSync(join(head(), 'HEAD'), 'ref: refs/heads/other\n')
    expect(await publish()).toMatchObject({ status: 409, body: { error: expect.stringContaining('on the branch other') } })
    writeFileSync(join(head(), 'HEAD'), 'ref: refs/heads/main\n')
    expect((await shop.publish()).status).toBe('live')
  }, 30_000)
})

test('what a process has built that died before it was registered is taken as it is', async () => {
  const { deploymentId, commitSha } = await shop.publish()
  const manifest = join(shop.config.dataDir, 'deployments', deploymentId, 'manifest.json')
  const built = statSync(manifest).mtimeMs
  await shop.registry((registry) =>
    registry.change(async (tx) => {
      await tx.update(projects).set({ liveId: null })
      await tx.delete(deployments).where(eq(deployments.id, deploymentId))
    }),
  )
  const { openRegistry } = await import('../../db/control/open.ts')
  const { registry, close } = await openRegistry(shop.config.database)
  const services = await servicesFor(shop.config, { registry, baseUrl: shop.api.url, port: shop.api.port })
  const job = { storeId: shop.store.id, clock: services.clock, signal: AbortSignal.timeout(20_000) } as Running
  const making = { id: deploymentId, kind: 'publish', commitSha, previousId: null, signal: job.signal } as const
  expect((await makeDeployment(services, job, making)).id).toBe(deploymentId)
  close()
  expect(statSync(manifest).mtimeMs).toBe(built)
  await Bun.sleep(300)
  expect((await shop.visit(`${deploymentId}.localhost`, '/')).status).toBe(200)
  expect((await shop.publish()).status).toBe('live')
}, 30_000)

test('a publish whose process died after the switch ends as live, and what is live is not looked at again, let alone thrown away', async () => {
  const { publishId, deploymentId } = await shop.publish()
  const folder = join(shop.config.dataDir, 'deployments', deploymentId)
  await shop.registry(async (registry) => {
    const services = await servicesFor(shop.config, { registry, baseUrl: shop.api.url, port: shop.api.port, listensOn: shop.api.listensOn })
    const handles = new Handles(shop.config.database, 2)
    await handles.use(shop.store.id, 'live', async (store) => {
      await store.write(
        async (tx) => void (await tx.update(publishes).set({ status: 'verifying', running: 1 }).where(eq(publishes.id, publishId))),
      )
      // A look at it would find this, and have it removed.
      writeFileSync(join(folder, 'cart.html'), '[% for %]')
      const job = {
        store,
        storeId: shop.store.id,
        environment: 'live',
        subject: publishId,
        clock: services.clock,
        signal: AbortSignal.timeout(20_000),
      }
      await publishStorefront(services).run({ ...job, ending: job.signal, held: async () => {}, progress: async () => {} } as Running)
    })
    handles.close()
  })
  expect((await shop.call('GET', `/publish/${publishId}`)).body).toMatchObject({ status: 'live', reason: null })
  expect(existsSync(join(folder, 'manifest.json'))).toBe(true)
  expect((await shop.visit('shop.localhost', '/')).status).toBe(200)
  expect((await shop.publish()).status).toBe('live')
}, 30_000)

test('a journal of many posts turns pages, in each language', async () => {
  const other = await shop.another('journal')
  const call = (method: string, path: string, body?: unknown) => shop.call(method, path, body, other.keys.admin)
  await call('PATCH', '/settings', { enabledLanguages: { 'en-US': true, 'de-DE': true } })
  for (let n = 0; n < 26; n++)
    expect((await call('POST', '/posts', { title: `Post ${n}`, slug: `post-${n}`, status: 'published', excerpt: 'x' })).status).toBe(201)
  const { body } = await call('POST', '/publish')
  while (!['live', 'failed'].includes((await call('GET', `/publish/${body.publishId}`)).body.status)) await Bun.sleep(100)
  const text = async (path: string) => (await shop.visit('journal.localhost', path)).text()
  const [first, second] = [await text('/blog'), await text('/de/blog/page/2')]
  expect([first.match(/<h2>Post \d/g)?.length, second.match(/<h2>Post \d/g)?.length]).toEqual([24, 2])
  expect(first).toContain('href="/blog/page/2"')
  expect(second).toContain('href="/de/blog"')
  expect((await shop.visit('journal.localhost', '/blog/page/3')).status).toBe(404)
}, 30_000)

describe('a store that is deleted', () => {
  test('takes its project along, and its host serves nothing any more', async () => {
    const other = await shop.another('gone')
    await shop.call('POST', '/publish', undefined, other.keys.admin)
    while ((await shop.visit('gone.localhost', '/')).status !== 200) await Bun.sleep(50)
    // In the middle of another one.
    expect((await shop.call('POST', '/publish', undefined, other.keys.admin)).status).toBe(202)
    const { PATH } = process.env
    const command = Bun.spawnSync([process.execPath, 'scripts/stoa.ts', 'store', 'delete', other.id, '--yes'], {
      env: { PATH, DATA_DIR: shop.config.dataDir },
    })
    expect(command.exitCode, command.stderr.toString()).toBe(0)
    await Bun.sleep(100)
    expect((await shop.visit('gone.localhost', '/')).status).toBe(404)
    expect(existsSync(join(shop.config.dataDir, 'builder', other.id))).toBe(false)
    await Bun.sleep(5_000)
    expect((await shop.visit('gone.localhost', '/')).status).toBe(404)
    expect((await shop.visit('shop.localhost', '/')).status).toBe(200)
  }, 30_000)
})
