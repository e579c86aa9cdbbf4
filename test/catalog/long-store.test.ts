/** A store whose tables are long: what reads them through is not done in the event loop, and says the same. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { seedStore } from '../../scripts/seed.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { seeStatements } from '../plans.ts'
import { create, names, parallel, read } from './shop.ts'

const PRODUCTS = 5_100
const here: string[] = []
const beside: string[] = []
const end = seeStatements(['file.rows', 'file.row', 'aside.rows'], (text, _, __, way) => (way === 'aside.rows' ? beside : here).push(text))

let app: TestApp
let shop: TestStore
let live: Handle
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  live = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
  await seedStore(live, { products: PRODUCTS, customers: 0, orders: 0 })
}, 120_000)
afterAll(() => {
  end()
  live.close()
  return app.close()
})

const isFile = !process.env.DATABASE_URL
const asStorefront = (path: string) => read(shop, path, shop.keys.storefront)
/** The statements that a request runs in the event loop and beside it. */
async function statementsOf(path: string, key: string) {
  here.length = beside.length = 0
  const answer = await read(shop, path, key)
  return { answer, here: [...here], beside: [...beside] }
}

describe.runIf(isFile)('what reads a long table through', () => {
  test.each([
    '/products',
    '/products?sort=-price&inStock=true',
    '/products?sort=name&inStock=false&offset=20',
    '/products?query=linen',
    '/products?query=%25',
    '/products?tag=gift&minPrice=10&maxPrice=500&sort=price',
    '/products?currency=usd&offset=2000',
    '/products?lang=pl-PL',
    '/variants',
    '/variants?offset=2000',
    '/search?q=a',
    '/search?q=linen&types=product',
    '/search?q=s&lang=pl-PL&limit=100',
  ])('%s is read beside the event loop', async (path) => {
    for (const key of [shop.keys.storefront, shop.keys.admin]) {
      const seen = await statementsOf(path, key)
      expect(seen.beside.length).toBeGreaterThan(0)
      expect(seen.here.filter((text) => /count\(\*\)|offset \?|search_fts/.test(text))).toEqual([])
    }
  })
})

describe('a search in a long store', () => {
  /** The ranking by its definition: every document that matches, with its score, its type and whether a storefront sees it. */
  async function expected(expression: string, storefront: boolean, limit: number) {
    const rows = (await live.read
      .all(sql`with hits as materialized (select d.entity as entity, d.entity_id as id, -bm25(search_fts, 10.0, 1.0, 2.0) as score
        from search_fts join search_documents d on d.id = search_fts.rowid where search_fts match ${expression} and d.locale = '')
      select id, score from hits where not ${storefront ? 1 : 0} or entity <> 'product' or id in (select id from products where status = 'published')
      order by score desc, id`)) as never as [string, number][]
    return { ids: rows.slice(0, limit).map(([id]) => id), count: rows.length }
  }

  test.each([
    ['a', '"a" *', 10],
    ['s', '"s" *', 100],
    ['linen', '"linen" *', 25],
    ['made', '"made" *', 10],
    ['soft lin', '"soft" * AND "lin" *', 10],
  ])('%s: the best of all that match, and how many those are', async (q, expression, limit) => {
    for (const storefront of [true, false]) {
      const { data, meta } = await read(
        shop,
        `/search?q=${encodeURIComponent(q)}&limit=${limit}`,
        shop.keys[storefront ? 'storefront' : 'admin'],
      )
      const wanted = await expected(expression, storefront, limit)
      expect({ ids: data.map(({ id }: { id: string }) => id), count: meta.count }).toEqual(wanted)
      for (const { snippet, score } of data) expect([snippet.includes('**'), typeof score]).toEqual([true, 'number'])
    }
  })

  test('is ranked once for all who ask the same while nothing changes', async () => {
    const rankings = () => [...here, ...beside].filter((text) => /bm25/.test(text)).length
    here.length = beside.length = 0
    const answers = await parallel(20, () => asStorefront('/search?q=e&limit=7'))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    await asStorefront('/search?q=e&limit=7')
    expect(rankings()).toBe(1)
    await asStorefront('/search?q=e&limit=8')
    expect(rankings()).toBe(2)
  })

  test('finds each change at once', async () => {
    const count = async (q = 'a') => (await asStorefront(`/search?q=${q}`)).meta.count
    const before = await count()
    const product = await create(shop, '/products', { name: 'Aardvark aaaa', status: 'draft' })
    expect(await count()).toBe(before)
    for (const [status, more] of [
      ['published', 1],
      ['hidden', 0],
      ['published', 1],
    ] as const) {
      await shop.call('PATCH', `/products/${product.id}`, { status })
      expect([status, await count()]).toEqual([status, before + more])
    }
    const brand = await create(shop, '/brands', { name: 'Aaaa brand' })
    expect(await count()).toBe(before + 2)
    await shop.call('PATCH', `/brands/${brand.id}`, { active: false })
    expect(await count()).toBe(before + 1)
    await shop.call('PATCH', `/products/${product.id}`, { name: 'Zebra', slug: 'zebra' })
    expect(names(await asStorefront('/search?q=zebra'))).toEqual(['Zebra'])
    await shop.call('DELETE', `/products/${product.id}`)
    await shop.call('DELETE', `/brands/${brand.id}`)
    expect([await count(), await count('zebra')]).toEqual([before, 0])
  })

  test('shows a translation that is new', async () => {
    const [{ id }] = (await asStorefront('/search?q=linen&lang=pl-PL&types=product')).data
    await shop.call('PUT', `/products/${id}/translations/pl-PL`, { name: 'Lniany linen linen', slug: 'lniany' })
    const { data } = await asStorefront('/search?q=linen&lang=pl-PL&types=product')
    expect(data[0]).toMatchObject({ id, name: 'Lniany linen linen', slug: 'lniany' })
  })
})

describe('a collection of more products than a request can name', () => {
  const put = (id: string, body: unknown) => shop.call('PATCH', `/collections/${id}`, body)

  test('shows the first 5,000 and how many there are, and is not cut down to what it showed', async () => {
    const all = ((await live.read.all(sql`select id from products order by id`)) as never as [string][]).map(([id]) => id)
    const { id, productIds, productCount } = await create(shop, '/collections', { name: 'All', productIds: all.slice(0, 5_000) })
    expect([productIds, productCount]).toEqual([all.slice(0, 5_000), 5_000])
    expect((await put(id, { productIds: productIds.toReversed() })).body.productIds).toEqual(productIds.toReversed())
    const last = await create(shop, '/products', { name: 'Last', collectionIds: [id] })
    const seen = await read(shop, `/collections/${id}`)
    expect([seen.productIds, seen.productCount]).toEqual([productIds.toReversed(), 5_001])
    const refused = await put(id, { productIds: seen.productIds })
    expect([refused.status, refused.body.error, refused.body.productCount]).toEqual([409, expect.stringContaining('5001'), 5_001])
    expect((await put(id, { name: 'Nearly all' })).body.productCount).toBe(5_001)
    expect((await read(shop, `/products?collectionId=${id}&limit=1`)).meta.count).toBe(5_001)
    const [{ count }] = (await live.read
      .all(
        sql`select json_object('count', count(*)) from products p join collection_products m on m.product_id = p.id where m.collection_id = ${id} and p.status = 'published'`,
      )
      .then((rows: any) => rows.map(([text]: [string]) => JSON.parse(text)))) as [{ count: number }]
    const shown = await asStorefront(`/collections/${id}`)
    expect([shown.productCount, shown.productIds.length, new Set(shown.productIds).size]).toEqual([count, count, count])
    expect((await put(id, { productIds: [] })).body).toMatchObject({ productIds: [], productCount: 0 })
    expect((await put(id, { productIds: [last.id] })).body).toMatchObject({ productIds: [last.id], productCount: 1 })
  })

  test('a list names at most 5,000 over all collections of its page', async () => {
    await parallel(96, (i) => create(shop, '/collections', { name: `Small ${i}` }))
    const { data } = await read(shop, '/collections?limit=100')
    expect(data).toHaveLength(100)
    for (const { productIds, productCount } of data) expect(productIds.length).toBe(Math.min(productCount, 50))
    expect(Math.max(...data.map(({ productCount }: { productCount: number }) => productCount))).toBeGreaterThan(1_000)
  })
})
