/** Where the catalog shows an image of the media library. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { brands, bundles, categories, collections, products } from '../../db/store/catalog.ts'
import { conflict } from '../http/refusal.ts'

/** Refuses to remove what a product or another resource of the catalog still shows. */
export async function requireUnused(tx: Db, path: string) {
  for (const [what, table, column] of [
    ['product', products, products.images],
    ['bundle', bundles, bundles.images],
    ['category', categories, categories.image],
    ['collection', collections, collections.image],
    ['brand', brands, brands.logo],
  ] as const) {
    const [user] = await tx
      .select({ id: table.id })
      .from(table)
      .where(sql`instr(${column}, ${path}) > 0`)
      .limit(1)
    if (user) throw conflict(`a ${what} still shows this image`, { [`${what}Id`]: user.id })
  }
}
