/** What the database itself refuses, whatever the code above it does: each CHECK, foreign key and type of `db/store/catalog.ts`. */
import { is, sql } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { constraintOf } from '../../db/errors.ts'
import type { Handle } from '../../db/open.ts'
import * as bundleTables from '../../db/store/bundles.ts'
import * as catalogTables from '../../db/store/catalog.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, NOBODY, parallel, read } from './shop.ts'

const catalog = { ...catalogTables, ...bundleTables }

let app: TestApp
let shop: TestStore
const ids = {} as Record<'product' | 'variant' | 'category' | 'brand' | 'collection' | 'bundle' | 'rate', string>
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  ids.rate = (await create(shop, '/tax-rates', { name: 'VAT', rate: 23 })).id
  ids.category = (await create(shop, '/categories', { name: 'Category' })).id
  ids.brand = (await create(shop, '/brands', { name: 'Brand' })).id
  const product = await create(shop, '/products', {
    name: 'Product',
    brandId: ids.brand,
    categoryId: ids.category,
    variants: [
      { price: 1, sku: 'A', taxRateId: ids.rate, stock: { quantity: 5 } },
      { price: 1, sku: 'B' },
    ],
    tags: ['t'],
  })
  Object.assign(ids, { product: product.id, variant: product.variants[0].id })
  ids.collection = (await create(shop, '/collections', { name: 'Collection', productIds: [product.id] })).id
  ids.bundle = (await create(shop, '/bundles', { name: 'Bundle', variants: [{ variantId: ids.variant }] })).id
  await shop.call('PUT', `/products/${ids.product}/translations/pl-PL`, { name: 'Produkt' })
})
afterAll(() => app.close())

const tables = (Object.values(catalog) as unknown[]).filter((value): value is SQLiteTable => is(value, SQLiteTable)).map(getTableConfig)
const inStore = <T>(fn: (store: Handle) => Promise<T>) => app.handles.use(shop.store.id, 'live', fn)

/** A statement with its parameters in the places of its question marks. */
const filled = (text: string, params: unknown[]) =>
  sql.join(text.split('?').flatMap((part, i) => (i ? [sql`${params[i - 1]}`, sql.raw(part)] : [sql.raw(part)])))

/** Which constraint refuses a statement, and what the message says. */
async function refused(text: string, ...params: unknown[]): Promise<string> {
  return inStore(async (store) => {
    try {
      await store.write((tx) => tx.run(filled(text, params)))
    } catch (error) {
      return `${constraintOf(error)?.kind} ${(error as Error).message}`
    }
    return 'taken'
  })
}

/** For each CHECK, statements that break it and nothing else. */
const BREAKING: Record<string, [string, keyof typeof ids][]> = {
  tax_rates_rate: [
    ['update tax_rates set rate = -1 where id = ?', 'rate'],
    ['update tax_rates set rate = 1000001 where id = ?', 'rate'],
  ],
  collections_kind: [
    ["update collections set kind = 'smart' where id = ?", 'collection'],
    ["update collections set kind = '' where id = ?", 'collection'],
  ],
  products_status: [
    ["update products set status = 'live' where id = ?", 'product'],
    ["update products set status = 'Draft' where id = ?", 'product'],
  ],
  products_rating: [
    ['update products set rating_count = -1 where id = ?', 'product'],
    ['update products set rating_sum = -1 where id = ?', 'product'],
  ],
  variants_price: [['update variants set price = -1 where id = ?', 'variant']],
  variants_quantity: [
    ['update variants set quantity = -1, tracked = 0 where id = ?', 'variant'],
    ['update variants set quantity = quantity - 6, backorder = 1 where id = ?', 'variant'],
  ],
  variants_reserved: [['update variants set reserved = -1 where id = ?', 'variant']],
  variants_available: [
    ['update variants set reserved = quantity + 1 where id = ?', 'variant'],
    ['update variants set quantity = 2, reserved = 3 where id = ?', 'variant'],
  ],
  bundles_status: [["update bundles set status = 'live' where id = ?", 'bundle']],
  bundles_discount: [
    ['update bundles set discount_percentage = -0.1 where id = ?', 'bundle'],
    ['update bundles set discount_percentage = 100.1 where id = ?', 'bundle'],
  ],
  bundle_variants_quantity: [
    ['update bundle_variants set quantity = 0 where bundle_id = ?', 'bundle'],
    ['update bundle_variants set quantity = -1 where bundle_id = ?', 'bundle'],
  ],
}

describe('CHECK', () => {
  test('each one of the catalog is tried', () => {
    expect(tables.flatMap(({ checks }) => checks.map(({ name }) => name)).toSorted()).toEqual(Object.keys(BREAKING).toSorted())
  })

  test.each(Object.entries(BREAKING))('%s', async (name, statements) => {
    for (const [text, id] of statements)
      expect([text, await refused(text, ids[id])]).toEqual([
        text,
        expect.stringMatching(new RegExp(`^check .*CHECK constraint failed: ${name}`)),
      ])
  })

  test('what backorder and untracked stock allow is taken', async () => {
    await inStore(async (store) => {
      for (const flags of ['backorder = 1', 'tracked = 0'])
        await store.write(async (tx) => {
          await tx.run(filled(`update variants set reserved = quantity + 1, ${flags} where id = ?`, [ids.variant]))
          await tx.run(filled('update variants set reserved = 0, backorder = 0, tracked = 1 where id = ?', [ids.variant]))
        })
    })
  })
})

describe('foreign keys', () => {
  test('are on, on every connection: of readers and of the writer, in both databases of every store', async () => {
    const stores = [shop, ...(await parallel(5, () => app.newStore()))]
    for (const { store } of stores) {
      for (const environment of ['live', 'sandbox'] as const) {
        await app.handles.use(store.id, environment, async (handle) => {
          expect(await handle.connection.rows('pragma foreign_keys', [])).toEqual([[1]])
          const [row] = await parallel(3, () => handle.write(async (tx) => tx.all('pragma foreign_keys' as never)))
          expect(Object.values(row![0] as object)).toEqual([1])
        })
      }
    }
  })

  const UPDATES: [string, string, keyof typeof ids][] = [
    ['categories', 'parent_id', 'category'],
    ['products', 'brand_id', 'product'],
    ['products', 'category_id', 'product'],
    ['variants', 'product_id', 'variant'],
    ['variants', 'tax_rate_id', 'variant'],
    ['product_tags', 'product_id', 'product'],
    ['product_prices', 'product_id', 'product'],
    ['collection_products', 'collection_id', 'collection'],
    ['collection_products', 'product_id', 'collection'],
    ['inventory_movements', 'variant_id', 'variant'],
    ['bundle_variants', 'bundle_id', 'bundle'],
    ['bundle_variants', 'variant_id', 'bundle'],
  ]
  const KEYS: Record<string, string> = {
    product_tags: 'product_id',
    product_prices: 'product_id',
    collection_products: 'collection_id',
    inventory_movements: 'variant_id',
    bundle_variants: 'bundle_id',
  }

  test('each one of the catalog is tried', () => {
    const described = tables.flatMap(({ name, foreignKeys }) =>
      foreignKeys.map((key) => `${name}.${key.reference().columns[0]!.name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}`),
    )
    expect(UPDATES.map(([table, column]) => `${table}.${column}`).toSorted()).toEqual(described.toSorted())
  })

  test.each(UPDATES)('%s.%s leads to a row', async (table, column, id) => {
    expect(await refused(`update ${table} set ${column} = ? where ${KEYS[table] ?? 'id'} = ?`, NOBODY, ids[id])).toMatch(/^foreign_key/)
  })

  test.each([
    ['categories', 'category'],
    ['brands', 'brand'],
    ['tax_rates', 'rate'],
  ] as const)('a row of %s that something names can not be deleted', async (table, id) => {
    expect(await refused(`delete from ${table} where id = ?`, ids[id])).toMatch(/^foreign_key/)
  })
})

describe('STRICT and UNIQUE', () => {
  test.each([
    ['products', 'rating_sum', 10.5],
    ['variants', 'price', 19.99],
    ['variants', 'quantity', 'many'],
    ['variants', 'reserved', 0.5],
    ['tax_rates', 'rate', '23%'],
    ['bundles', 'discount_percentage', 'ten'],
  ])('%s.%s takes no %s', async (table, column, value) => {
    expect(await refused(`update ${table} set ${column} = ?`, value)).toContain('cannot store')
  })

  test.each(
    tables.flatMap(({ name, columns }) =>
      columns
        .filter((column) => column.notNull && !column.primary)
        .map((column) => [name, column.name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)]),
    ),
  )('%s.%s is never null', async (table, column) => {
    expect(await refused(`update ${table} set "${column}" = null`)).toContain('NOT NULL')
  })

  test('slugs and SKUs are unique', async () => {
    for (const path of ['products', 'categories', 'brands', 'collections', 'bundles']) {
      const { id } = await create(shop, `/${path}`, { name: 'Second' })
      const [[slug]] = (await inStore(async ({ connection }) => connection.rows(`select slug from ${path} where id <> ?`, [id]))) as [
        [string],
      ]
      expect(await refused(`update ${path} set slug = ? where id = ?`, slug, id)).toMatch(/^unique/)
    }
    expect(await refused("update variants set sku = 'A' where sku = 'B'")).toMatch(/^unique/)
  })
})

test('nothing of all this has changed anything', async () => {
  expect(await read(shop, `/products/${ids.product}`)).toMatchObject({
    name: 'Product',
    status: 'published',
    price: 1,
    brandId: ids.brand,
    categoryId: ids.category,
    variants: [{ stock: { quantity: 5, reserved: 0 } }, { sku: 'B' }],
  })
  expect(
    await inStore(async ({ connection }) => [
      await connection.rows('pragma foreign_key_check', []),
      await connection.rows('pragma integrity_check', []),
    ]),
  ).toEqual([[], [['ok']]])
})
