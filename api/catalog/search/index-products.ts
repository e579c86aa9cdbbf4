/** The search documents of products, by which their words find them, made anew from what is stored. */
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../../db/driver.ts'
import { products, variants } from '../../../db/store/catalog.ts'
import { searchDocuments } from '../../../db/store/search.ts'
import { indexDocuments, textOf, UNSEEN, type Document } from './search-index.ts'

const ids = sql`(select value from json_each(${named('ids')}))`
const textsOf = compile((db) =>
  db
    .select({ id: products.id, name: products.name, summary: products.summary, tags: products.tags, content: products.content })
    .from(products)
    .where(sql`${products.id} in ${ids}`),
)
const codesOf = compile((db) =>
  db
    .select({ productId: variants.productId, sku: variants.sku, active: variants.active })
    .from(variants)
    .where(and(sql`${variants.productId} in ${ids}`, isNotNull(variants.sku)))
    .orderBy(variants.productId, variants.position, variants.id),
)
const deleteUnseen = compile((db) =>
  db
    .delete(searchDocuments)
    .where(and(eq(searchDocuments.entity, 'product'), sql`${searchDocuments.entityId} in ${ids}`, eq(searchDocuments.locale, UNSEEN))),
)

type Texts = Pick<typeof products.$inferSelect, 'id' | 'name' | 'summary' | 'tags' | 'content'>
type Code = Pick<typeof variants.$inferSelect, 'productId' | 'sku' | 'active'>

/** Puts products, as they are stored now, into the search index. */
export async function indexProducts(tx: Db, productIds: readonly string[]) {
  const values = { ids: JSON.stringify(productIds) }
  const codes = new Map<string, Code[]>(productIds.map((id) => [id, []]))
  for (const code of (await codesOf.all(tx, values)) as Code[]) codes.get(code.productId)!.push(code)
  const seen: Document[] = []
  const unseen: Document[] = []
  for (const { id, name, summary, tags, content } of (await textsOf.all(tx, values)) as Texts[]) {
    const document = (locale: string, some: Code[]): Document => ({
      entity: 'product',
      entityId: id,
      locale,
      name,
      body: [summary ?? '', ...some.map(({ sku }) => sku), tags.join(' '), textOf(content)].join(' '),
    })
    const all = codes.get(id)!
    const active = all.filter((code) => code.active)
    seen.push(document('', active))
    if (active.length < all.length) unseen.push(document(UNSEEN, all))
  }
  await indexDocuments(tx, [...seen, ...unseen])
  const secretive = new Set(unseen.map(({ entityId }) => entityId))
  const open = productIds.filter((id) => !secretive.has(id))
  if (open.length) await deleteUnseen.run(tx, { ids: JSON.stringify(open) })
}

/** Puts one into it. */
export const indexProduct = (tx: Db, id: string) => indexProducts(tx, [id])
