/** How the catalog is read: every statement of its lists and details, what SQLite plans for it, and that there are not more of them for longer lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { isCount, isPage, planOf as plan, watchStatements, type Plan } from '../plans.ts'
import { create, parallel, read } from './shop.ts'

/** Tables that grow with the catalog: a statement may look things up in them, not read them through. */
const GROWING = [
  'products',
  'variants',
  'product_tags',
  'product_prices',
  'collection_products',
  'inventory_movements',
  'translations',
  'search_documents',
  'bundle_variants',
  'audit_log',
  'orders',
  'order_lines',
]

let app: TestApp
let shop: TestStore
/** A connection of its own: EXPLAIN keeps what it has seen of the database open. */
let planner: Handle
const watch = watchStatements()

const ids: Record<string, string> = {}
/** As many of each thing, so that every list can be as long as asked. */
const MANY = 30
beforeAll(async () => {
  app = await testApp({ rememberedBytes: 0 })
  shop = await app.newStore()
  planner = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
  await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur'] })
  ids.category = (await create(shop, '/categories', { name: 'Category' })).id
  ids.brand = (await create(shop, '/brands', { name: 'Brand' })).id
  const made = await parallel(MANY, (i) =>
    create(shop, '/products', {
      name: `Product ${i}`,
      categoryId: ids.category,
      brandId: ids.brand,
      tags: ['tag'],
      status: i % 5 ? 'published' : 'draft',
      variants: [
        { price: i, prices: { eur: i }, sku: `SKU-${i}`, barcode: `B${i}`, stock: { quantity: i % 7 } },
        { price: i + 1, active: i % 2 === 0 },
      ],
    }),
  )
  Object.assign(ids, { product: made[1].id, slug: made[1].slug, variant: made[1].variants[0].id })
  ids.collection = (await create(shop, '/collections', { name: 'Collection', productIds: made.map(({ id }) => id) })).id
  ids.bundle = (
    await create(shop, '/bundles', { name: 'Bundle', variants: made.slice(0, 20).map(({ variants: [{ id }] }) => ({ variantId: id })) })
  ).id
  await parallel(MANY, (i) => create(shop, '/categories', { name: `C${i}` }))
  await parallel(MANY, (i) => create(shop, '/collections', { name: `L${i}`, productIds: made.slice(0, i % 5).map(({ id }) => id) }))
  await parallel(MANY, (i) => create(shop, '/brands', { name: `B${i}` }))
  await parallel(MANY, (i) => create(shop, '/bundles', { name: `S${i}`, variants: [{ variantId: ids.variant }] }))
  await parallel(MANY, (i) => create(shop, '/tax-rates', { name: `T${i}`, rate: i }))
  await parallel(MANY, (i) => shop.call('PATCH', `/inventory/${ids.variant}`, { adjust: i + 1 }))
  for (const { id } of made) await shop.call('PUT', `/products/${id}/translations/pl-PL`, { name: `Produkt ${id}`, slug: `produkt-${id}` })
  for (const [path, id] of [
    ['categories', ids.category],
    ['collections', ids.collection],
  ])
    await shop.call('PUT', `/${path}/${id}/translations/pl-PL`, { name: 'Nazwa', slug: 'nazwa' })
})
afterAll(() => {
  watch.end()
  planner.close()
  return app.close()
})

/** The statements that a request executes in the store. */
async function statementsOf(path: string, key: string): Promise<string[]> {
  await read(shop, path, key)
  return watch.of(() => read(shop, path, key))
}
const planOf = (text: string) => plan(planner, text, (table) => GROWING.includes(table))

const DETAILS = () => [
  `/products/${ids.product}`,
  `/products/${ids.slug}`,
  `/products/produkt-${ids.product}?lang=pl-PL`,
  `/products/${ids.product}?lang=pl-PL&currency=eur`,
  `/products/${ids.product}/variants`,
  `/variants/${ids.variant}`,
  `/inventory/${ids.variant}/movements`,
  `/categories/${ids.category}`,
  '/categories/nazwa?lang=pl-PL',
  `/collections/${ids.collection}`,
  '/collections/nazwa?lang=pl-PL',
  `/brands/${ids.brand}`,
  `/brands/${ids.brand}?lang=pl-PL`,
  `/bundles/${ids.bundle}`,
  '/search?q=product',
  '/search?q=produkt&lang=pl-PL',
]
const FILTERED = () => [
  '/products?query=product',
  `/products?categoryId=${ids.category}`,
  `/products?collectionId=${ids.collection}`,
  `/products?brandId=${ids.brand}`,
  '/products?tag=tag',
  '/products?minPrice=3&maxPrice=5&sort=price',
  `/products?categoryId=${ids.category}&sort=name`,
  `/products?brandId=${ids.brand}&sort=price`,
  `/products?brandId=${ids.brand}&status=published&minPrice=3`,
  '/products?query=product&inStock=true',
  `/products?categoryId=${ids.category}&sort=price&inStock=true`,
  '/products?query=product&sort=-price&lang=pl-PL',
  '/variants?sku=SKU-3',
  '/variants?barcode=B3',
  `/variants?productId=${ids.product}`,
  '/inventory?query=product',
  '/orders?minTotalCents=100&maxTotalCents=500',
  '/orders?minTotalCents=100&due=true',
]
const LISTS = () => [
  '/products',
  '/products?includeEvents=true',
  '/products?status=draft',
  '/products?sort=name',
  '/products?sort=name&status=published',
  '/products?inStock=true',
  '/products?minPrice=3',
  '/products?currency=eur&maxPrice=3',
  '/products?sort=price',
  '/products?sort=-price',
  '/products?sort=price&inStock=true',
  '/products?sort=price&currency=eur',
  '/products?sort=-price&currency=eur',
  '/products?sort=price&status=hidden',
  '/products?lang=pl-PL',
  '/variants',
  '/variants?currency=eur',
  '/inventory',
  '/categories?lang=pl-PL',
  '/collections?lang=pl-PL',
  '/brands?lang=pl-PL',
  '/bundles',
  '/tax-rates',
  '/orders',
  '/orders?status=pending',
  '/orders?due=true',
]

describe('no statement reads a growing table from end to end', () => {
  const checked = async (paths: string[], allowed: (text: string, plan: Plan) => boolean) => {
    const found: string[] = []
    for (const key of [shop.keys.admin, shop.keys.storefront]) {
      for (const path of paths) {
        if (key === shop.keys.storefront && /^\/(inventory|tax-rates|orders)/.test(path)) continue
        const statements = await statementsOf(path, key)
        // What a storefront may not ask for is answered without asking.
        if (!path.includes('status=')) expect([path, statements.length > 0]).toEqual([path, true])
        for (const text of statements) {
          const plan = await planOf(text)
          if (plan.scans.length && !allowed(text, plan)) found.push(`${path}: ${plan.steps.join(' | ')}: ${text}`)
        }
      }
    }
    expect(found).toEqual([])
  }

  test('to show one resource, or to search', () => checked(DETAILS(), () => false))
  test('to list what a filter finds', () => checked(FILTERED(), () => false))
  test('to list all, but for pages along an index and counts over one', () =>
    checked(LISTS(), (text, plan) => isPage(text, plan) || isCount(text, plan)))

  test('what is due, and a range of totals, have indexes of their own', async () => {
    for (const [path, index] of [
      ['/orders?due=true', 'orders_due'],
      ['/orders?minTotalCents=100', 'orders_total'],
    ] as const) {
      const texts = (await statementsOf(path, shop.keys.admin)).filter((text) => text.includes(' from "orders" where'))
      expect(texts).toHaveLength(2)
      for (const text of texts) expect((await planOf(text)).steps[0]).toContain(`INDEX ${index}`)
    }
  })

  test('to count what has a price, but for the prices: no product is looked up that is listed', async () => {
    for (const key of [shop.keys.admin, shop.keys.storefront])
      for (const path of ['/products?currency=eur', '/products?minPrice=3', '/products?currency=eur&maxPrice=3&sort=name']) {
        const [text] = (await statementsOf(path, key)).filter((one) => one.startsWith('select count(*) from "product_prices"'))
        const [first, ...others] = (await planOf(text!)).steps.filter((step) => /^(SCAN|SEARCH)/.test(step))
        expect(first).toMatch(/^SEARCH product_prices USING COVERING INDEX product_prices_price \(currency=/)
        for (const step of others) expect(step).toMatch(/^SEARCH p USING (COVERING INDEX products_newest|INDEX products_unpublished) /)
        expect(others).toHaveLength(key === shop.keys.storefront ? 2 : 1)
      }
  })

  test('a plan that does so is seen', async () => {
    for (const text of [
      'select * from products p where p.summary = ?',
      'select 1 from variants where name = ?',
      "select id from products where is_event = 0 and status = 'draft' and summary = ?",
      'select 1 from "search_documents" as d where d.entity = ?',
    ])
      expect([text, (await planOf(text)).scans.length]).toEqual([text, 1])
    for (const text of [
      'select * from products p where p.id = ?',
      'select 1 from search_documents where id = ?',
      'select 1 from "variants" v where v.sku = ?',
    ])
      expect([text, (await planOf(text)).scans]).toEqual([text, []])
  })
})

describe('the number of statements is independent of the length of a list', () => {
  test.each([
    '/products?',
    '/products?lang=pl-PL&',
    '/products?currency=eur&',
    '/products?query=product&sort=price&',
    '/variants?',
    '/inventory?',
    '/categories?lang=pl-PL&',
    '/collections?lang=pl-PL&',
    '/brands?lang=pl-PL&',
    '/bundles?',
    '/tax-rates?',
    '/search?q=product&',
  ])('%s', async (path) => {
    const one = await statementsOf(`${path}limit=1`, shop.keys.admin)
    const many = await statementsOf(`${path}limit=${MANY}`, shop.keys.admin)
    expect((await read(shop, `${path}limit=${MANY}`)).data.length).toBe(MANY)
    expect(many.length).toBe(one.length)
    expect(many.length).toBeLessThanOrEqual(6)
  })

  test('that of a detail is independent of what hangs on it', async () => {
    const lonely = await create(shop, '/products', { name: 'Lonely' })
    expect((await statementsOf(`/products/${ids.product}`, shop.keys.admin)).length).toBe(
      (await statementsOf(`/products/${lonely.id}`, shop.keys.admin)).length,
    )
    for (const [path, id] of [
      ['categories', ids.category],
      ['collections', ids.collection],
      ['bundles', ids.bundle],
    ]) {
      const empty = await create(shop, `/${path}`, { name: 'Empty' })
      const [full, bare] = [
        await statementsOf(`/${path}/${id}`, shop.keys.admin),
        await statementsOf(`/${path}/${empty.id}`, shop.keys.admin),
      ]
      expect(full.length - bare.length).toBeLessThanOrEqual(1)
    }
  })
})
