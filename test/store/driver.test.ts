/** Queries compiled once for all stores: the rows that they give, one by one and as one text. */
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
        half: sql<number>`${products.ratingCount} + 0.1`,
      })
      .from(products)
      .orderBy(products.id),
  ),
  'no rows': compile((db) => db.select().from(products).where(eq(products.id, 'none'))),
}

test.each(Object.entries(QUERIES))('%s are the same as one text', async (_, query) => {
  const names = JSON.stringify(NAMES)
  const [all, packed] = await inStore(({ read }) => Promise.all([query.all(read, { names }), query.packed(read, { names })]))
  expect(packed).toEqual(all)
})

test('columns keep their kinds', async () => {
  const rows = (await inStore(({ read }) => QUERIES['whole rows, in their order'].packed(read))) as (typeof variants.$inferSelect)[]
  expect(rows).toHaveLength(2 * NAMES.length)
  const [first] = rows.filter(({ sku }) => sku === 'B0')
  expect([first!.active, first!.price, first!.options, first!.dimensionsMm]).toEqual([
    true,
    100,
    { size: 'none' },
    { length: 1.5, width: 0.1, height: null },
  ])
})
