/**
 * The list of products (document 3, Catalog): which ones, in which order. SQLite can't know how many rows a condition leaves, so
 * the text of each query says where to begin: at what a narrow filter finds, else along the index of the order.
 */
import { and, asc, desc, eq, gte, lte, sql, type SQL } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import { compile, holds, named, type Compiled, type Reader } from '../../db/driver.ts'
import { products, productPrices } from '../../db/store/catalog.ts'
import { Money, OneOf, Paging, Type, Uuid, type Static, type TObject } from '../http/schema.ts'
import { toMinor } from '../values/money.ts'
import { productsByIds, viewProducts, type View } from './read.ts'
import { foundAmong, matchExpression, SEEN } from './search/search-index.ts'
import { Currency, Lang, PRODUCT_STATUSES } from './shapes.ts'

/** The query parameters of the list. */
export const Filters = {
  ...Paging(10),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Words in name, summary, content, tags or SKU, from their beginning' })),
  status: Type.Optional(OneOf(PRODUCT_STATUSES)),
  categoryId: Type.Optional(Uuid()),
  subcategories: Type.Boolean({ default: false, description: 'With `categoryId`: also what is in the categories below it' }),
  collectionId: Type.Optional(Uuid()),
  brandId: Type.Optional(Uuid()),
  tag: Type.Optional(Type.String({ maxLength: 100 })),
  minPrice: Type.Optional(Money()),
  maxPrice: Type.Optional(Money()),
  inStock: Type.Optional(Type.Boolean()),
  includeEvents: Type.Boolean({ default: false }),
  sort: OneOf(['newest', 'price', '-price', 'name'], { default: 'newest' }),
  lang: Lang,
  currency: Currency,
}
type Filters = Static<TObject<typeof Filters>>
type Sort = Filters['sort']

/** The condition of each filter, over named values, so that a list with the same filters is compiled once. */
const CONDITIONS: Record<string, () => SQL> = {
  noEvents: () => eq(products.isEvent, false),
  published: () => eq(products.status, 'published'),
  status: () => eq(products.status, named('status')),
  query: () => foundAmong(products.id, 'product', named('expression')),
  seenQuery: () => foundAmong(products.id, 'product', named('expression'), SEEN),
  symbols: () => sql`(${holds(products.name, named('part'))} or ${holds(products.summary, named('part'))})`,
  categoryId: () => eq(products.categoryId, named('categoryId')),
  categoryTree: () => sql`${products.categoryId} in (with recursive below(id, depth) as (
    select ${named('categoryId')}, 0 union all select c.id, depth + 1 from categories c join below on c.parent_id = below.id where depth < 10
  ) select id from below)`,
  collectionId: () => sql`${products.id} in (select product_id from collection_products where collection_id = ${named('collectionId')})`,
  brandId: () => eq(products.brandId, named('brandId')),
  tag: () => sql`${products.id} in (select product_id from product_tags where tag = ${named('tag')})`,
  minPrice: () => gte(productPrices.price, named('minPrice')),
  maxPrice: () => lte(productPrices.price, named('maxPrice')),
  inStock: () => eq(products.inStock, true),
  notInStock: () => eq(products.inStock, false),
  unpriced: () =>
    sql`not exists (select 1 from product_prices p where p.product_id = ${products.id} and p.currency = ${named('currency')})`,
}
/** Conditions that most products meet; the + keeps SQLite from beginning there. */
const BROAD: Record<string, () => SQL> = {
  noEvents: () => sql`+${products.isEvent} = 0`,
  published: () => sql`+${products.status} = 'published'`,
}
/** The same of prices alone: the products that do not meet them are few, and have indexes of their own. */
const OF_PRICES: Record<string, () => SQL> = {
  noEvents: () =>
    sql`not exists (select 1 from products p indexed by products_newest where p.is_event = 1 and p.id = ${productPrices.productId})`,
  published: () =>
    sql`not exists (select 1 from products p indexed by products_unpublished where p.id = ${productPrices.productId} and p.status <> 'published')`,
  minPrice: CONDITIONS.minPrice!,
  maxPrice: CONDITIONS.maxPrice!,
}
/** Filters that leave few products: these are looked up, then sorted. */
const isNarrow = (filters: readonly string[]) =>
  filters.some((name) => ['query', 'seenQuery', 'categoryId', 'categoryTree', 'collectionId', 'brandId', 'tag'].includes(name))

const ORDERS: Record<Sort, () => SQL[]> = {
  newest: () => [desc(products.id)],
  name: () => [asc(products.foldedName), asc(products.id)],
  price: () => [asc(productPrices.price), asc(productPrices.productId)],
  '-price': () => [desc(productPrices.price), desc(productPrices.productId)],
}
const isByPrice = (sort: Sort) => sort === 'price' || sort === '-price'

const on = () => and(eq(productPrices.productId, products.id), eq(productPrices.currency, named('currency')))
/** Where a query reads; a CROSS JOIN reads its left table first. `listing`: the index that has all columns but texts, by id. */
const SOURCES = {
  products: (table: SQL) => table,
  pricesOfProducts: (table: SQL) => sql`${table} cross join ${productPrices} on ${on()}`,
  productsByPrice: (table: SQL) => sql`${productPrices} cross join ${table} on ${on()}`,
}
/** Filters that name products by a list of ids. */
const LISTS_OF_IDS = ['query', 'seenQuery', 'collectionId', 'tag']

/** The source of a query as it stands in its text; narrow columns are read of products that are not found by an index of their own. */
function sourceOf(source: keyof typeof SOURCES, filters: readonly string[], sort: Sort): SQL {
  const has = (...names: string[]) => names.some((name) => filters.includes(name))
  const byId = source === 'productsByPrice' || has(...LISTS_OF_IDS)
  const inOrder = sort === 'newest' && has('inStock', 'notInStock') && !has('categoryId', 'categoryTree', 'brandId')
  return SOURCES[source](!has('symbols') && (byId || inOrder) ? sql`${products} indexed by products_listing` : sql`${products}`)
}

const pages = new Map<string, Compiled<never>>()
const counts = new Map<string, Compiled<never>>()

/** Sets of filters whose queries are kept; the one unused for longest goes first. A visitor can think of tens of thousands. */
const KEPT_MAX = 300

/** A query compiled once for a set of filters. */
function remembered(queries: Map<string, Compiled<never>>, key: string, build: (db: Reader) => { prepare(): unknown }): Compiled<never> {
  const query = queries.get(key) ?? (compile(build) as Compiled<never>)
  queries.delete(key)
  queries.set(key, query)
  if (queries.size > KEPT_MAX) queries.delete(queries.keys().next().value!)
  return query
}

/** The ids of a page; `priced`: of those with a price in the currency alone. */
async function page(
  db: Reader,
  filters: readonly string[],
  sort: Sort,
  priced: boolean,
  values: Record<string, unknown>,
): Promise<string[]> {
  const narrow = isNarrow(filters)
  const source = !priced ? 'products' : isByPrice(sort) && !narrow ? 'productsByPrice' : 'pricesOfProducts'
  // Categories, brands and names have an index of their own, which status and events are no part of.
  const elsewhere =
    filters.includes('categoryId') || filters.includes('categoryTree') || filters.includes('brandId') || (sort === 'name' && !narrow)
  const query = remembered(pages, `${filters.join()} ${sort} ${priced}`, (blank) =>
    blank
      .select({ id: sql<string>`"products"."id"`.mapWith(products.id) })
      .from(sourceOf(source, filters, sort))
      .where(and(...filters.map((name) => ((elsewhere && BROAD[name]) || CONDITIONS[name]!)())))
      .orderBy(...ORDERS[sort]())
      .limit(named('limit'))
      .offset(named('offset')),
  )
  return ((await query.all(placeFor(db, filters), values)) as { id: string }[]).map((row) => row.id)
}

/** Signs are looked for in each summary, of 5,000 characters: some of them cost as much as many others. */
const LONG_SUMMARIES = 200
const placeFor = (db: Reader, filters: readonly string[]) =>
  filters.includes('symbols')
    ? aside(db, 'products', { search: true, longRows: LONG_SUMMARIES })
    : aside(db, 'products', { search: filters.includes('query') })

async function count(db: Reader, filters: readonly string[], priced: boolean, values: Record<string, unknown>): Promise<number> {
  const source = !priced ? 'products' : isNarrow(filters) ? 'pricesOfProducts' : 'productsByPrice'
  const ofPrices = priced && filters.every((name) => OF_PRICES[name])
  const query = remembered(counts, `${filters.join()} ${priced}`, (blank) => {
    const counted = blank.select({ count: sql<number>`count(*)` })
    return ofPrices
      ? counted.from(productPrices).where(and(eq(productPrices.currency, named('currency')), ...filters.map((name) => OF_PRICES[name]!())))
      : counted.from(sourceOf(source, filters, 'newest')).where(and(...filters.map((name) => CONDITIONS[name]!())))
  })
  return ((await query.get(placeFor(db, filters), values)) as { count: number }).count
}

/** The names of the filters that a request sets, and the values that they take; null when nothing can match. */
function filtersOf(query: Filters, view: View, currency: string) {
  if (view.storefront && query.status !== undefined && query.status !== 'published') return null
  const filters: string[] = (['categoryId', 'collectionId', 'brandId', 'tag', 'minPrice', 'maxPrice'] as const).filter(
    (name) => query[name] !== undefined,
  )
  if (query.subcategories && query.categoryId !== undefined) filters[filters.indexOf('categoryId')] = 'categoryTree'
  const values: Record<string, unknown> = { ...query, currency }
  if (!query.includeEvents) filters.push('noEvents')
  if (view.storefront || query.status === 'published') filters.push('published')
  else if (query.status !== undefined) filters.push('status')
  if (query.inStock !== undefined) filters.push(query.inStock ? 'inStock' : 'notInStock')
  const text = query.query?.trim()
  if (text) {
    values.expression = matchExpression(text)
    values.part = text
    // What has no word in it ("%", an emoji) is not in the index.
    filters.push(values.expression === null ? 'symbols' : view.storefront ? 'seenQuery' : 'query')
  }
  for (const bound of ['minPrice', 'maxPrice'] as const)
    if (query[bound] !== undefined) values[bound] = toMinor(query[bound], currency, bound)
  return { filters, values }
}

/** A page of the products that a request asks for, and how many there are. By price, those that have none come last. */
export async function listProducts(db: Reader, query: Filters, view: View) {
  const found = filtersOf(query, view, view.currency ?? view.settings.currency)
  if (!found) return { data: [], count: 0 }
  const { filters, values } = found
  const { sort, limit, offset } = query
  const pricedAlone = view.currency !== null || query.minPrice !== undefined || query.maxPrice !== undefined
  const total = await count(db, filters, pricedAlone, values)
  if (offset >= total) return { data: [], count: total }
  const ids = await page(db, filters, sort, pricedAlone || isByPrice(sort), values)
  if (isByPrice(sort) && !pricedAlone && ids.length < limit) {
    const priced = ids.length ? offset + ids.length : await count(db, filters, true, values)
    ids.push(
      ...(await page(db, [...filters, 'unpriced'], 'newest', false, {
        ...values,
        limit: limit - ids.length,
        offset: Math.max(0, offset - priced),
      })),
    )
  }
  return { data: await viewProducts(db, await productsByIds(db, ids), view), count: total }
}
