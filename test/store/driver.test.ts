/** Queries give the same rows whether they are handed over one by one or as one text. */
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compile, fromJson, named } from '../../db/driver.ts'
import type { Handle } from '../../db/open.ts'
import { brands, products, variants } from '../../db/store/catalog.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
const inStore = <T>(look: (store: Handle) => Promise<T>) => app.handles.use(shop.store.id, 'live', look)
const NAMES = ['"quoted" \\ back\\slash', 'line\nbreak\ttab', 'żółć 🧥 \u2028', "it's; -- no comment", '\u0001 control']
beforeAll(async () => {
  app = await testApp()
  shop = await newShop(app)
  const { id: brandId } = made(await shop.post('/brands', { name: 'Northwind' }))
  for (const [i, name] of NAMES.entries())
    made(
      await shop.post('/products', {
        name: 'Shirt',
        summary: name,
        brandId: i % 2 ? brandId : null,
        seo: { title: name },
        tags: ['new', `tag ${i}`],
        variants: [
          { price: 10 + i / 100, options: { size: `${i}"` }, weightGrams: i ? 100 : null, stock: { quantity: i } },
          { price: 1, sku: `B${i}`, options: { size: 'none' }, dimensionsMm: { length: 1.5, width: 0.1, height: null } },
        ],
      }),
    )
})
afterAll(() => app.close())

const QUERIES = {
  'whole rows, in their order': compile((db) => db.select().from(variants).orderBy(asc(variants.price), asc(variants.id))),
  'rows of a condition': compile((db) =>
    db
      .select()
      .from(products)
      .where(sql`${products.summary} in (select value from json_each(${named('names')}))`),
  ),
  'rows that a join did not find': compile((db) =>
    db.select({ product: products, brand: brands }).from(products).leftJoin(brands, eq(brands.id, products.brandId)).orderBy(products.id),
  ),
  'what is computed': compile((db) =>
    db
      .select({
        name: products.summary,
        tags: sql<string[]>`(select json_group_array(tag) from product_tags where product_id = ${products.id})`.mapWith(fromJson),
      })
      .from(products)
      .orderBy(products.id),
  ),
  'no rows': compile((db) => db.select().from(products).where(eq(products.id, 'none'))),
}

/** The rows as libSQL hands them over, one by one, decoded by Drizzle itself. */
async function plainly(store: Handle, query: (typeof QUERIES)[keyof typeof QUERIES], values: Record<string, unknown>) {
  const asked: { text: string; params: unknown[] }[] = []
  const { connection } = store
  const { row } = connection
  Object.assign(connection, {
    row: (text: string, params: unknown[]) => (asked.push({ text, params }), row.call(connection, text, params)),
  })
  const found = await query.all(store.read, values)
  Object.assign(connection, { row })
  const [, columns, text] = /^with t\((.*?)\) as \((.*)\) select json_group_array/s.exec(asked[0]!.text)!
  const rows = await connection.rows(text!, asked[0]!.params)
  return { found, rows, width: columns!.split(',').length }
}

test.each(Object.entries(QUERIES))('%s come as one text', async (_, query) => {
  const { found, rows, width } = await inStore((store) => plainly(store, query, { names: JSON.stringify(NAMES) }))
  expect(found).toHaveLength(rows.length)
  const flat = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).length ? Object.values(value) : [value]
  for (const [i, row] of rows.entries()) {
    expect(row).toHaveLength(width)
    const parts = Object.values(found[i] as object)
    const values = parts.length < row.length ? parts.flatMap((part) => (part === null ? Array(row.length).fill(null) : flat(part))) : parts
    const wire = (value: unknown) =>
      typeof value === 'object' && value !== null ? JSON.stringify(value) : typeof value === 'boolean' ? Number(value) : value
    expect(values.slice(0, row.length).map(wire)).toEqual([...row])
  }
})

test('a real number keeps all its digits: it is not read so', async () => {
  const exact = 0.1 + 0.2
  await inStore(async ({ read }) => {
    expect(
      (
        await read
          .select({ half: sql<number>`0.1 + 0.2` })
          .from(products)
          .limit(1)
      )[0]!.half,
    ).toBe(exact)
  })
})

test('columns keep their kinds', async () => {
  const rows = (await inStore(({ read }) => QUERIES['whole rows, in their order'].all(read))) as (typeof variants.$inferSelect)[]
  expect(rows).toHaveLength(2 * NAMES.length)
  const [first] = rows.filter(({ sku }) => sku === 'B0')
  expect([first!.active, first!.price, first!.options, first!.dimensionsMm]).toEqual([
    true,
    100,
    { size: 'none' },
    { length: 1.5, width: 0.1, height: null },
  ])
})
