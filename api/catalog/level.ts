/** What lies on the shelf of one variant, on the wire (document 3, Catalog). */
import { eq, sql } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { Named, Nullable, Type, Uuid, type Static } from '../http/schema.ts'
import { missing } from '../values/refusal.ts'

export const Level = Named('Stock', {
  variantId: Uuid(),
  productId: Uuid(),
  name: Type.String({ description: "The product's name, and the variant's when it differs" }),
  sku: Nullable(Type.String()),
  quantity: Type.Integer(),
  reserved: Type.Integer(),
  available: Type.Integer(),
})

export const columns = {
  variantId: variants.id,
  productId: variants.productId,
  productName: products.name,
  variantName: variants.name,
  sku: variants.sku,
  quantity: variants.quantity,
  reserved: variants.reserved,
  available: sql<number>`${variants.quantity} - ${variants.reserved}`.as('available'),
}
export function level(row: { productName: string; variantName: string } & Omit<Static<typeof Level>, 'name'>) {
  const { productName, variantName, ...rest } = row
  return { ...rest, name: variantName === productName ? productName : `${productName} – ${variantName}` }
}
const oneLevel = compile((db) =>
  db
    .select(columns)
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(eq(variants.id, named('id'))),
)
export async function levelOf(db: Reader, id: string) {
  const row = await oneLevel.get(db, { id })
  if (!row) throw missing('variant')
  return level(row)
}
