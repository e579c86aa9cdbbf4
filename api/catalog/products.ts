/** Products (document 3, Catalog): what a store sells. */
import { and, asc, desc, eq, gte, lte, sql, type SQL } from 'drizzle-orm'
import { compile, named, type Compiled, type Db } from '../../db/driver.ts'
import { products, productPrices, translations, variants } from '../../db/store/catalog.ts'
import { emit } from '../store/outbox.ts'
import { wrong } from '../http/refusal.ts'
import { resource, type Call } from '../http/route.ts'
import { deleted, Deleted, Money, OneOf, Page, Paging, Type, Uuid, type Static, type TObject } from '../http/schema.ts'
import { toMinor } from '../money.ts'
import { requireRichText } from '../rich-text.ts'
import { contains } from './groups.ts'
import { findProduct, productsByIds, readProduct, viewOf, viewProducts, type View } from './read.ts'
import { foundAmong, matchExpression, SEEN, unindexDocument } from './search-index.ts'
import { Currency, Lang, Product, ProductInput, ProductItem, ProductPatch, PRODUCT_STATUSES } from './shapes.ts'
import { addVariant, changeVariant, indexProduct, refreshPrices, refuseWhileOrdered, replaceCollections, replaceTags, requireLinks, slugFor, writing } from './write.ts'

const Filters = {
  ...Paging(10), query: Type.Optional(Type.String({ maxLength: 200, description: 'Words in name, summary or SKU' })),
  status: Type.Optional(OneOf(PRODUCT_STATUSES)), categoryId: Type.Optional(Uuid()), collectionId: Type.Optional(Uuid()), brandId: Type.Optional(Uuid()),
  tag: Type.Optional(Type.String({ maxLength: 100 })), minPrice: Type.Optional(Money()), maxPrice: Type.Optional(Money()), inStock: Type.Optional(Type.Boolean()),
  includeEvents: Type.Boolean({ default: false }), sort: OneOf(['newest', 'price', '-price', 'name'], { default: 'newest' }), lang: Lang, currency: Currency,
}
type Filters = Static<TObject<typeof Filters>>

const available = sql`exists (select 1 from ${variants} v where v.product_id = ${products.id} and v.active = 1 and (v.tracked = 0 or v.backorder = 1 or v.quantity > v.reserved))`

/** The condition of each filter, over named values, so that a list with the same filters is compiled once. */
const CONDITIONS: Record<string, () => SQL> = {
  noEvents: () => eq(products.isEvent, false),
  status: () => eq(products.status, named('status') as never),
  query: () => foundAmong(products.id, 'product', named('expression')),
  seenQuery: () => foundAmong(products.id, 'product', named('expression'), SEEN),
  symbols: () => sql`(${products.name} like ${named('part')} escape '\\' or ${products.summary} like ${named('part')} escape '\\')`,
  categoryId: () => eq(products.categoryId, named('categoryId')),
  collectionId: () => sql`${products.id} in (select product_id from collection_products where collection_id = ${named('collectionId')})`,
  brandId: () => eq(products.brandId, named('brandId')),
  tag: () => sql`${products.id} in (select product_id from product_tags where tag = ${named('tag')})`,
  minPrice: () => gte(productPrices.price, named('minPrice')),
  maxPrice: () => lte(productPrices.price, named('maxPrice')),
  inStock: () => available,
  notInStock: () => sql`not ${available}`,
}
const ORDERS: Record<Filters['sort'], () => SQL[]> = {
  newest: () => [desc(products.id)], name: () => [asc(products.name), asc(products.id)],
  price: () => [asc(productPrices.price), asc(products.id)], '-price': () => [desc(productPrices.price), desc(products.id)],
}
/** Of a list by price that has them too, those without one come last. */
const unpricedLast = sql`${productPrices.price} is null`

const lists = new Map<string, { page: Compiled<never>, count: Compiled<never> }>()

/** The list query for a set of filters, an order, and whether prices matter; there are at most some thousand such sets. */
function listQuery(filters: string[], sort: Filters['sort'], priced: 'no' | 'if any' | 'must') {
  const key = `${filters.join()} ${sort} ${priced}`
  const known = lists.get(key)
  if (known) return known
  const where = () => and(...filters.map((name) => CONDITIONS[name]!()))
  const order = () => priced === 'if any' ? [unpricedLast, ...ORDERS[sort]()] : ORDERS[sort]()
  const on = () => and(eq(productPrices.productId, products.id), eq(productPrices.currency, named('currency')))
  const joined = <Q>(query: Q): Q => priced === 'no' ? query : ((query as never as { innerJoin: Function, leftJoin: Function })[priced === 'must' ? 'innerJoin' : 'leftJoin'](productPrices, on()) as Q)
  const made = {
    page: compile((db) => joined(db.select({ id: products.id }).from(products).$dynamic()).where(where()).orderBy(...order()).limit(named('limit')).offset(named('offset'))) as never as Compiled<never>,
    count: compile((db) => joined(db.select({ count: sql<number>`count(*)` }).from(products).$dynamic()).where(where())) as never as Compiled<never>,
  }
  lists.set(key, made)
  return made
}

async function list({ db, query }: Pick<Call<Filters>, 'db' | 'query'>, view: View) {
  const currency = view.currency ?? view.settings.currency
  const filters = (['status', 'categoryId', 'collectionId', 'brandId', 'tag', 'minPrice', 'maxPrice'] as const).filter((name) => query[name] !== undefined) as string[]
  if (!query.includeEvents) filters.unshift('noEvents')
  if (query.inStock !== undefined) filters.push(query.inStock ? 'inStock' : 'notInStock')
  if (view.storefront && !filters.includes('status')) filters.unshift('status')
  const values: Record<string, unknown> = { ...query, currency, status: view.storefront ? 'published' : query.status }
  if (query.query?.trim()) {
    values.expression = matchExpression(query.query)
    values.part = contains(query.query.trim())
    // What has no word in it ("%", an emoji) is not in the index.
    filters.push(values.expression === null ? 'symbols' : view.storefront ? 'seenQuery' : 'query')
  }
  if (view.storefront && query.status !== undefined && query.status !== 'published') return { data: [], count: 0 }
  for (const bound of ['minPrice', 'maxPrice'] as const) if (query[bound] !== undefined) values[bound] = toMinor(query[bound]!, currency, bound)
  const priced = view.currency !== null || query.minPrice !== undefined || query.maxPrice !== undefined ? 'must' : query.sort === 'price' || query.sort === '-price' ? 'if any' : 'no'
  const { page, count } = listQuery(filters, query.sort, priced)
  const total = (await count.get(db, values) as { count: number }).count
  const ids = (await page.all(db, values) as { id: string }[]).map((row) => row.id)
  return { data: await viewProducts(db, await productsByIds(db, ids), view), count: total }
}

/** The fields of a product's own row that a request sets. */
const OWN = ['name', 'summary', 'content', 'badgeContent', 'status', 'images', 'brandId', 'categoryId', 'tags', 'seo'] as const
const ownColumns = (body: Record<string, unknown>) => Object.fromEntries(OWN.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]))
const VARIANT_FIELDS = ['price', 'sku', 'stock', 'compareAtPrice', 'prices'] as const

/** Adds a product with its variants; the caller is inside a transaction. */
export async function insertProduct(tx: Db, call: Call<never, Static<typeof ProductInput>>) {
  const { body, outside, now } = call
  const settings = await call.settings()
  const about = writing(call as never)
  const id = outside.id()
  if (body.variants && VARIANT_FIELDS.some((field) => body[field] !== undefined)) throw wrong('variants', 'give either variants, or price, sku and stock of a single one')
  if (!body.variants && body.price === undefined && VARIANT_FIELDS.some((field) => body[field] !== undefined)) throw wrong('price', 'is needed for sku, stock or prices')
  requireRichText(body, 'content')
  await requireLinks(tx, body)
  await tx.insert(products).values({
    summary: null, content: null, badgeContent: null, status: 'published', images: [], brandId: null, categoryId: null, tags: [], seo: {}, isEvent: false, ratingSum: 0, ratingCount: 0,
    createdAt: now, updatedAt: now, name: body.name, ...ownColumns(body), id, slug: await slugFor(tx, products, body.slug, body.name),
  })
  const inputs = body.variants ?? (body.price === undefined ? [] : [{ price: body.price, sku: body.sku, stock: body.stock, compareAtPrice: body.compareAtPrice, prices: body.prices }])
  for (const [i, input] of inputs.entries()) {
    await addVariant(tx, about, id, input, settings, { name: inputs.length > 1 ? `${body.name} ${i + 1}` : body.name, position: input.position ?? i, path: body.variants && `variants.${i}` })
  }
  await replaceTags(tx, id, body.tags ?? [])
  await replaceCollections(tx, id, body.collectionIds ?? [])
  await refreshPrices(tx, id, settings.currency)
  await indexProduct(tx, id)
  await emit(tx, outside, now, 'product.created', { productId: id })
  return id
}

async function changeProduct(tx: Db, call: Call<never, Static<typeof ProductPatch>>) {
  const { body, now, outside } = call
  const settings = await call.settings()
  const { id } = await findProduct(tx, call.params.idOrSlug!, { lang: null, storefront: false })
  requireRichText(body, 'content')
  await requireLinks(tx, body)
  const slug = body.slug === undefined ? {} : { slug: await slugFor(tx, products, body.slug, '') }
  await tx.update(products).set({ ...ownColumns(body), ...slug, updatedAt: now }).where(eq(products.id, id))
  if (VARIANT_FIELDS.some((field) => body[field] !== undefined)) {
    const rows = await tx.select().from(variants).where(eq(variants.productId, id)).limit(2)
    if (rows.length > 1) throw wrong(VARIANT_FIELDS.find((field) => body[field] !== undefined)!, 'the product has several variants: change them one by one')
    const { price, sku, stock, compareAtPrice, prices } = body
    if (rows[0]) await changeVariant(tx, writing(call as never), rows[0], { price, sku, stock, compareAtPrice, prices }, settings)
    else if (price === undefined) throw wrong('price', 'is needed for the first variant')
    else await addVariant(tx, writing(call as never), id, { price, sku, compareAtPrice, prices, stock: { tracked: true, quantity: 0, backorder: false, ...stock } }, settings, { name: body.name ?? 'Default', position: 0 })
  }
  if (body.tags) await replaceTags(tx, id, body.tags)
  if (body.collectionIds) await replaceCollections(tx, id, body.collectionIds)
  await refreshPrices(tx, id, settings.currency)
  await indexProduct(tx, id)
  await emit(tx, outside, now, 'product.updated', { productId: id })
  return id
}

const plainView = async (call: Call<never, never>): Promise<View> => ({ currency: null, lang: null, storefront: false, settings: await call.settings() })

export const productRoutes = resource('catalog', '/products')
  .get('', { op: 'listProducts', summary: 'List products', scope: 'storefront:read', query: Filters, answers: { 200: Page(ProductItem) } }, async (call) => {
    const { limit, offset } = call.query
    const { data, count } = await list(call, await viewOf(call))
    return { data, meta: { count, offset, limit } }
  })
  .post('', { op: 'createProduct', summary: 'Add a product', scope: 'catalog:write', body: ProductInput, answers: { 201: Product }, refuses: [409] },
    (call) => call.write(async (tx) => readProduct(tx, await insertProduct(tx, call as never), await plainView(call as never))))
  .get('/{idOrSlug}', { op: 'getProduct', summary: 'Read a product', scope: 'storefront:read', query: { lang: Lang, currency: Currency }, answers: { 200: Product }, refuses: [404], stored: true },
    async (call) => readProduct(call.db, call.params.idOrSlug!, await viewOf(call)))
  .patch('/{idOrSlug}', { op: 'updateProduct', summary: 'Change a product', scope: 'catalog:write', body: ProductPatch, answers: { 200: Product }, refuses: [404, 409] },
    (call) => call.write(async (tx) => readProduct(tx, await changeProduct(tx, call as never), await plainView(call as never))))
  .delete('/{idOrSlug}', { op: 'deleteProduct', summary: 'Remove a product', description: 'Refused while an open order has it.', scope: 'catalog:write', answers: { 200: Deleted }, refuses: [404, 409] },
    (call) => call.write(async (tx) => {
      const { id } = await findProduct(tx, call.params.idOrSlug!, { lang: null, storefront: false })
      await refuseWhileOrdered(tx, 'productId', id)
      await tx.delete(products).where(eq(products.id, id))
      await tx.delete(translations).where(and(eq(translations.entity, 'product'), eq(translations.entityId, id)))
      await unindexDocument(tx, 'product', id)
      await emit(tx, call.outside, call.now, 'product.deleted', { productId: id })
      return deleted
    }))
