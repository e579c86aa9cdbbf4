import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, read } from './shop.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
})
afterAll(() => app.close())

test('a UUID in uppercase is the same UUID: in paths, in bodies and in queries', async () => {
  const [brand, category, collection, rate] = [
    await create(shop, '/brands', { name: 'x' }),
    await create(shop, '/categories', { name: 'x' }),
    await create(shop, '/collections', { name: 'x' }),
    await create(shop, '/tax-rates', { name: 'x', rate: 1 }),
  ]
  const up = (id: string) => id.toUpperCase()
  const made = await create(shop, '/products', {
    name: 'x',
    brandId: up(brand.id),
    categoryId: up(category.id),
    collectionIds: [up(collection.id)],
    variants: [{ price: 1, taxRateId: up(rate.id) }],
  })
  expect(made).toMatchObject({
    brandId: brand.id,
    categoryId: category.id,
    collectionIds: [collection.id],
    variants: [{ taxRateId: rate.id }],
  })
  const [{ id: variantId }] = made.variants
  expect((await create(shop, '/categories', { name: 'y', parentId: up(category.id) })).parentId).toBe(category.id)
  expect((await create(shop, '/collections', { name: 'y', productIds: [up(made.id)] })).productIds).toEqual([made.id])
  expect((await create(shop, '/bundles', { name: 'y', variants: [{ variantId: up(variantId) }] })).products).toMatchObject([{ variantId }])
  for (const filter of [`brandId=${up(brand.id)}`, `categoryId=${up(category.id)}`, `collectionId=${up(collection.id)}`])
    expect((await read(shop, `/products?${filter}`)).meta.count).toBe(1)
  expect((await read(shop, `/variants?productId=${up(made.id)}`)).meta.count).toBe(1)
  for (const path of [
    `/products/${up(made.id)}`,
    `/variants/${up(variantId)}`,
    `/inventory/${up(variantId)}/movements`,
    `/brands/${up(brand.id)}`,
    `/tax-rates/${up(rate.id)}`,
  ])
    await read(shop, path)
  for (const [method, path, body] of [
    ['PATCH', `/inventory/${up(variantId)}`, { adjust: 2 }],
    ['PATCH', `/variants/${up(variantId)}`, { price: 2 }],
    ['PUT', `/products/${up(made.id)}/translations/pl-PL`, { name: 'z' }],
    [
      'POST',
      '/inventory/bulk',
      {
        items: [
          { variantId: up(variantId), adjust: 1 },
          { variantId, adjust: 1 },
        ],
      },
    ],
  ] as const)
    expect((await shop.call(method, path, body)).status).toBe(200)
  expect((await read(shop, `/variants/${variantId}`)).stock.quantity).toBe(4)
  expect((await shop.call('POST', '/collections', { name: 'z', productIds: [made.id, up(made.id)] })).status).toBe(400)
})
