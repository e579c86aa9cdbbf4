/** The package as it is published: its names, its types, its size, and its archive, installed into an empty folder. */
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { extract } from 'tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { called, lineOf, schemaSource } from '../../scripts/sdk/generate.ts'
import { methodOf, resourceOf } from '../../scripts/sdk/names.ts'
import { archiveOf, buildPackage, PACKAGE } from '../../scripts/sdk/pack.ts'
import { readPages } from '../../site/lib/content.ts'
import { readConfig } from '../../api/server/config.ts'
import { serveSite } from '../../site/server.ts'
import { openSite } from '../site/site.ts'
import { version } from '../../package.json'
import { documentWith, released } from '../contract/released.ts'
import { PICTURE } from '../docs/picture.ts'
import { variablesOf } from '../docs/store.ts'
import { folderFor } from '../folder.ts'
import { testApp, type TestApp } from '../harness.ts'
import { bundled } from './runtimes.ts'
import { NODE_TYPES, problemsIn, run } from './strict.ts'

const root = (path: string) => new URL(`../../${path}`, import.meta.url).pathname

/** The programs of a page, as one module. */
const programOf = (path: string) =>
  readPages(root(''))
    .pages.find((page) => page.path === path)!
    .code.filter(({ language, meta }) => language === 'ts' && !meta.includes('norun'))
    .map(({ text }) => text)
    .join('\n')

describe('names', () => {
  test('each operation is a method of a resource, and no two are the same', () => {
    const names = called.map((route) => `${resourceOf(route.path)}.${methodOf(route)}`)
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    for (const name of names) expect(name).toMatch(/^[a-z][A-Za-z]*\.([a-z][A-Za-z]*|\(\))$/)
    expect(names).toEqual(
      expect.arrayContaining(['carts.checkout', 'carts.addItem', 'products.list', 'taxRates.list', 'search.()', 'publish.()', 'me.get']),
    )
  })

  test('a line says how a call becomes a request', () => {
    const line = (id: string) => lineOf(called.find(({ options }) => options.operationId === id)!)
    expect(line('listProducts')).toBe('GET /products q l100')
    expect(line('checkOutCart')).toBe('POST /carts/{id}/checkout b')
    expect(line('listAuditLog')).toBe('GET /audit-log q c100')
    expect(line('listCustomers')).toBe('GET /customers q l100')
    expect(line('changeInventory')).toBe('POST /inventory/bulk b')
    expect(line('getPostFeed')).toContain(' f')
  })
})

describe('types', () => {
  test('name what is wrong before a buyer does', async () => {
    const folder = folderFor('sdk-types')
    symlinkSync(root('node_modules'), join(folder, 'node_modules'))
    writeFileSync(
      join(folder, 'right.ts'),
      `import { createStoa, carts, Stoa, StoaError, verifyWebhook, type Body, type Cart, type Item, type Product } from 'stoa-sdk'
const maybe = undefined as string | undefined
const stoa = new Stoa({ url: 'x', key: maybe })
new Stoa({ url: 'x', key: async () => 'k' })
for await (const product of stoa.products.list({ limit: 2 })) { const name: string = product.name; name.length }
for await (const customer of stoa.customers.list()) { const email: string = customer.email; email.length }
const page = await stoa.coupons.list()
const count: number = page.meta.count
const label: Blob = await stoa.orders.getShipmentLabel('a', 'b')
const feed: string = await stoa.posts.getFeed()
const made: Body<'createCoupon'> = { code: 'A', type: 'percentage', value: 10 }
const { data, etag } = await stoa.products.get('linen-shirt').withResponse()
const product: Product = data
const all: Item<'listProducts'>[] = await stoa.products.list().all()
await stoa.products.update('x', { price: 1 }, { ifMatch: etag })
const cart: Cart = await createStoa({ url: 'x' }, { carts }).carts.create({})
const event = await verifyWebhook('', new Headers(), 'whsec_')
if (event.type === 'order.paid') event.data.totalCents.toFixed()
if (event.type === 'webhook.test') console.log(event.data.webhookId, event.id)
if (event.type === 'inventory.low') event.data.available.toFixed()
try {} catch (error) { if (error instanceof StoaError) error.details[0]?.path.join() }
export { all, count, label, feed, made, etag, product, cart }
`,
    )
    writeFileSync(
      join(folder, 'wrong.ts'),
      `import { createStoa, carts, Stoa } from 'stoa-sdk'
const stoa = new Stoa({ url: 'x' })
stoa.products.list({ sort: 'cheapest' })
stoa.carts.create({ items: [{ variant: 'v' }] })
stoa.orders.get()
stoa.coupons.create({ code: 'A' })
const order = await stoa.orders.get('o'); order.totalPrice
createStoa({ url: 'x' }, { carts }).products
stoa.search()
stoa.carts.checkout('c', { paymentMethod: 'test' }, { querry: {} })
new Stoa({ key: 'k' })
`,
    )
    expect(await problemsIn(folder, ['right.ts'], { exactOptionalPropertyTypes: true })).toEqual([])
    const lines = (await problemsIn(folder, ['wrong.ts'])).map((problem) => Number(/wrong\.ts\((\d+)/.exec(problem)![1]))
    expect([...new Set(lines)]).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11])
  }, 60_000)

  test('only grow: what a program of the last release sends and reads, it still may', async () => {
    const folder = folderFor('sdk-released')
    const [was, is] = [await released(), documentWith()]
    writeFileSync(join(folder, 'was.ts'), await schemaSource(was))
    writeFileSync(join(folder, 'is.ts'), await schemaSource(is))
    const calls = readFileSync(root('scripts/sdk/src/types.ts'), 'utf8')
    for (const name of ['was', 'is']) writeFileSync(join(folder, `calls-${name}.ts`), calls.replace('./schema.ts', `./${name}.js`))
    const ids = Object.values(was.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids.length).toBeGreaterThan(240)
    const checks = ids.map(
      (id) =>
        `export const ${id} = (sent: Was.Body<'${id}'>, asked: Was.Query<'${id}'>, answer: Is.Answer<'${id}'>): [Is.Body<'${id}'>, Is.Query<'${id}'>, Was.Answer<'${id}'>] => [sent, asked, answer]`,
    )
    writeFileSync(
      join(folder, 'grown.ts'),
      `import type * as Was from './calls-was.js'\nimport type * as Is from './calls-is.js'\n${checks.join('\n')}\n`,
    )
    expect(await problemsIn(folder, ['grown.ts'])).toEqual([])
    // The check can fail: a field that is gone, and one that is needed from now on.
    const coupon = is.components.schemas.Coupon
    delete coupon.properties.code
    is.components.schemas.CouponInput.required.push('maxUses')
    writeFileSync(join(folder, 'is.ts'), await schemaSource(is))
    const broken = await problemsIn(folder, ['grown.ts'])
    expect(broken.length).toBeGreaterThan(2)
  }, 60_000)
})

describe('size', () => {
  const sizeOf = async (source: string) => {
    const folder = folderFor('sdk-size')
    symlinkSync(root('node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'entry.ts'), source)
    const script = await bundled(join(folder, 'entry.ts'))
    return { script, compressed: Bun.gzipSync(script, { level: 9 }).length }
  }

  test('a client for carts is under 12 KB compressed, and has nothing of the other resources in it', async () => {
    const { script, compressed } = await sizeOf(
      `import { createStoa, carts, StoaError } from 'stoa-sdk'; globalThis.shop = [createStoa({ url: location.origin }, { carts }), StoaError]`,
    )
    expect(compressed).toBeLessThan(12_000)
    expect(script).toContain('/carts/{id}/checkout')
    for (const other of ['/newsletters', '/team', '/orders/{id}', 'webhook-signature']) expect(script).not.toContain(other)
    // What the page about it says.
    expect(Math.ceil(compressed / 1000)).toBe(6)
  })

  test('all of it is what its page says', async () => {
    const { compressed } = await sizeOf(`import { Stoa } from 'stoa-sdk'; globalThis.shop = new Stoa({ url: location.origin })`)
    expect(Math.round(compressed / 1000)).toBe(8)
  })
})

describe('the archive', () => {
  const unpacked = async (file: string) => {
    const folder = folderFor('sdk-archive')
    await extract({ file, cwd: folder })
    return new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.\w+$/.test(path))
        .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
    )
  }

  test('of this release is what its sources make: npm run sdk', async () => {
    const parent = folderFor('sdk-built')
    symlinkSync(root('node_modules'), join(parent, 'node_modules'))
    const folder = join(parent, 'package')
    await buildPackage(folder)
    const archive = await unpacked(archiveOf(version))
    expect([...archive.keys()].toSorted()).toEqual(
      ['package.json', 'README.md', ...readdirSync(join(folder, 'dist')).map((name) => `dist/${name}`)]
        .map((path) => `package/${path}`)
        .toSorted(),
    )
    for (const [path, text] of archive) expect([path, text === readFileSync(join(folder, '..', path), 'utf8')]).toEqual([path, true])
    // And what programs in this repository import.
    expect(readFileSync(join(PACKAGE, 'dist/resources.js'), 'utf8')).toBe(archive.get('package/dist/resources.js'))
  }, 60_000)

  test('depends on nothing but openapi-fetch, and has no side effects', async () => {
    const manifest = JSON.parse((await unpacked(archiveOf(version))).get('package/package.json')!)
    expect(manifest).toMatchObject({
      name: 'stoa-sdk',
      version,
      type: 'module',
      sideEffects: false,
      dependencies: { 'openapi-fetch': expect.any(String) },
    })
    expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch'])
    expect([manifest.devDependencies, manifest.scripts]).toEqual([undefined, undefined])
  })
})

describe('installed from its address', () => {
  let app: TestApp
  let api: Bun.Server<undefined>
  let site: ReturnType<typeof serveSite>
  const folder = folderFor('sdk-installed')
  beforeAll(async () => {
    app = await testApp()
    api = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.app.fetch(request) })
    await (await openSite()).stop()
    site = serveSite(readConfig({ SITE_PORT: '0', LOG: 'silent', DATA_DIR: folderFor('sdk-site') }), api.url.origin)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', type: 'module', private: true }))
    const { exitCode, output } = await run(folder, [
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `${site.url}/sdk/stoa-sdk-${version}.tgz`,
    ])
    expect([exitCode, output]).toEqual([0, expect.any(String)])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([api.stop(true), site.stop(), app.close()])
  })

  test.each(['quick-start', 'overview', 'installation'])(
    'the program of %s type-checks with strict, and runs under Bun and Node.js',
    async (page) => {
      const program = `${programOf(`/docs/commerce-sdk/${page}`)}\nexport {}\n`
      const file = `${page}.ts`
      writeFileSync(join(folder, file), program)
      writeFileSync(join(folder, 'node.d.ts'), NODE_TYPES)
      writeFileSync(join(folder, 'linen-shirt.jpg'), PICTURE)
      expect(await problemsIn(folder, [file, 'node.d.ts'])).toEqual([])
      writeFileSync(join(folder, `${page}.mjs`), new Bun.Transpiler({ loader: 'ts' }).transformSync(program))
      for (const command of [
        [process.execPath, file],
        ['node', `${page}.mjs`],
      ]) {
        const { exitCode, output } = await run(folder, command, await variablesOf(app, api.url.origin))
        expect([command, exitCode, exitCode ? output : '']).toEqual([command, 0, ''])
      }
    },
    120_000,
  )
})

test('the programs of all pages that use the package type-check with strict', async () => {
  const folder = folderFor('sdk-pages')
  symlinkSync(root('node_modules'), join(folder, 'node_modules'))
  const files = readPages(root(''))
    .pages.map(({ path }) => [`${path.slice(1).replaceAll('/', '-')}.ts`, programOf(path)] as const)
    .filter(([file, program]) => file.startsWith('docs-commerce-sdk-') && program.includes("from 'stoa-sdk'"))
  expect(files.length).toBeGreaterThan(10)
  for (const [file, program] of files) writeFileSync(join(folder, file), `${program}\nexport {}\n`)
  writeFileSync(join(folder, 'node.d.ts'), NODE_TYPES)
  expect(await problemsIn(folder, [...files.map(([file]) => file), 'node.d.ts'])).toEqual([])
}, 180_000)

test('the pages of the package name this release', () => {
  for (const page of ['commerce-sdk/quick-start', 'commerce-sdk/installation', 'api-reference/content-api'])
    expect(readFileSync(resolve(root(`content/docs/${page}.md`)), 'utf8')).toContain(`/sdk/stoa-sdk-${version}.tgz`)
})
