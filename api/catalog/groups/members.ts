/** The products of collections, in their order: as many as an answer can carry, and how many there are. */
import { eq, sql } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { compile, named, type Db, type Reader } from '../../../db/driver.ts'
import { collectionProducts, products } from '../../../db/store/catalog.ts'
import { conflict } from '../../values/refusal.ts'
import { requireIds } from '../../http/input/references.ts'

/** Ids that a request, or an answer, has at most: the collections of a list share them. */
export const MEMBERS_MAX = 5_000
/** Products that one statement adds to a collection: about 10 µs each. */
const AT_ONCE = 500

/** A storefront sees published products; the others are few, and have an index of their own. */
const published = sql.raw(
  "not exists (select 1 from products p indexed by products_unpublished where p.id = m.product_id and p.status <> 'published')",
)
const membersQuery = (storefront: boolean) => {
  const of = sql`from collection_products m where m.collection_id = value ${storefront ? sql`and ${published}` : sql``}`
  return compile((db) =>
    db
      .select({
        id: sql<string>`value`,
        count: sql<number>`(select count(*) ${of})`,
        ids: sql<string>`(select json_group_array(product_id) from (select m.product_id ${of} order by m.position limit ${named('most')}))`,
      })
      .from(sql`json_each(${named('ids')})`),
  )
}
const MEMBERS = { team: membersQuery(false), storefront: membersQuery(true) }

interface Members {
  productIds: string[]
  productCount: number
}

/** The first products of some collections, and how many each has. */
export async function membersOf(db: Reader, ids: readonly string[], storefront: boolean): Promise<Map<string, Members>> {
  if (!ids.length) return new Map()
  const most = Math.floor(MEMBERS_MAX / ids.length)
  const query = MEMBERS[storefront ? 'storefront' : 'team']
  const rows = await query.all(aside(db, 'collection_products'), { ids: JSON.stringify(ids), most })
  return new Map(
    (rows as { id: string; count: number; ids: string }[]).map((row) => [
      row.id,
      { productIds: JSON.parse(row.ids) as string[], productCount: row.count },
    ]),
  )
}

const countOf = compile((db) =>
  db
    .select({ count: sql<number>`count(*)` })
    .from(collectionProducts)
    .where(eq(collectionProducts.collectionId, named('collectionId'))),
)
const insertMembers = compile((db) =>
  db.insert(collectionProducts).select(sql`select ${named('collectionId')}, value, key + ${named('from')} from json_each(${named('ids')})`),
)

/**
 * Makes these the products of a collection, in this order. Refused where an answer could not show all that there are: what was read and
 * sent back would take the rest out.
 */
export async function replaceMembers(tx: Db, collectionId: string, ids: readonly string[]) {
  await requireIds(tx, products, ids, 'productIds')
  const { count } = (await countOf.get(tx, { collectionId })) as { count: number }
  if (ids.length && count > MEMBERS_MAX)
    throw conflict(
      `the collection has ${count} products, more than productIds can name: change collectionIds of the products, or empty it first`,
      { productCount: count },
    )
  await tx.delete(collectionProducts).where(eq(collectionProducts.collectionId, collectionId))
  for (let from = 0; from < ids.length; from += AT_ONCE)
    await insertMembers.run(tx, { collectionId, ids: JSON.stringify(ids.slice(from, from + AT_ONCE)), from })
}
