import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, read, refusal } from './shop.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
})
afterAll(() => app.close())

const RATE = { rate: 5 }
const ENTITIES = [
  ['/products', {}],
  ['/categories', {}],
  ['/collections', {}],
  ['/brands', {}],
  ['/bundles', {}],
  ['/tax-rates', RATE],
] as const

test.each(ENTITIES)('a name of %s is one line, not blank, and taken without the space around it', async (path, rest) => {
  const made = await create(shop, path, { name: '  Linen shirt ', ...rest })
  expect(made.name).toBe('Linen shirt')
  for (const [name, code] of [
    ['', 'too_small'],
    ['   ', 'too_small'],
    ['\u00a0\u2003', 'too_small'],
    ['a\nb', 'invalid_string'],
    ['a\tb', 'invalid_string'],
  ] as const) {
    expect(refusal(await shop.call('POST', path, { name, ...rest })), name).toBe(`400 ${code} name`)
    expect(refusal(await shop.call('PATCH', `${path}/${made.id}`, { name })), name).toBe(`400 ${code} name`)
  }
  expect((await read(shop, `${path}/${made.id}`)).name).toBe('Linen shirt')
})

test('so are SKUs, barcodes, tags and the names of variants', async () => {
  const product = await create(shop, '/products', {
    name: 'x',
    tags: [' linen '],
    variants: [{ price: 1, name: ' M ', sku: ' SKU1 ', barcode: ' 40 ' }],
  })
  expect([product.tags, product.variants[0]]).toMatchObject([['linen'], { name: 'M', sku: 'SKU1', barcode: '40' }])
  expect((await shop.call('POST', '/products', { name: 'y', price: 1, sku: 'SKU1 ' })).status).toBe(409)
  for (const [field, value] of Object.entries({ name: ' ', sku: ' ', barcode: ' ' }))
    expect(refusal(await shop.call('POST', '/products', { name: 'x', variants: [{ price: 1, [field]: value }] }))).toBe(
      `400 too_small variants.0.${field}`,
    )
  expect(refusal(await shop.call('POST', '/products', { name: 'x', tags: ['  '] }))).toBe('400 too_small tags.0')
})

test('query of categories, collections and brands finds the names that the view shows', async () => {
  for (const [kind, path] of [
    ['category', '/categories'],
    ['collection', '/collections'],
  ] as const) {
    const { id } = await create(shop, path, { name: `Shoes of ${kind}` })
    expect((await shop.call('PUT', `${path}/${id}/translations/pl-PL`, { name: 'Buty i Żagle' })).status).toBe(200)
    const found = async (query: string) => (await read(shop, `${path}?${query}`)).meta.count
    for (const text of ['buty', 'Shoes of', 'i %C5%BB', '%C5%BCagle']) expect(await found(`lang=pl-PL&query=${text}`), text).toBe(1)
    expect([await found('query=buty'), await found('lang=de-DE&query=buty')]).toEqual([0, 0])
  }
})

test('a cursor that this list did not give is refused by name', async () => {
  const { variants } = await create(shop, '/products', { name: 'x', price: 1 })
  for (const path of ['/inventory', `/inventory/${variants[0].id}/movements`])
    expect(refusal(await shop.call('GET', `${path}?cursor=zzz`))).toBe('400 invalid_string cursor')
})

test('a quantity under what orders hold is refused by that name on the variant, too', async () => {
  const { variants } = await create(shop, '/products', { name: 'x', price: 1, stock: { quantity: 5 } })
  const { id } = variants[0]
  await create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: id, quantity: 3 }] })
  const { status, body } = await shop.call('PATCH', `/variants/${id}`, { stock: { quantity: 2 } })
  expect([status, body]).toEqual([
    409,
    expect.objectContaining({ error: "the quantity can't fall under the 3 that orders hold", variantId: id, reserved: 3 }),
  ])
})
