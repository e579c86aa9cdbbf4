/** Wishlists (document 3): the variants that a customer wants to remember. */
import { and, desc, eq, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { products, variants } from '../../../db/store/catalog.ts'
import { customers } from '../../../db/store/orders.ts'
import { wishlistItems } from '../../../db/store/visitors.ts'
import { resource } from '../../http/route.ts'
import { deleted, Deleted, Named, Nullable, Paging, Type, Uuid } from '../../http/schema.ts'
import { conflict, missing } from '../../values/refusal.ts'
import { available, isOnSale } from './on-sale.ts'

const ITEMS_MAX = 500
const scope = ['customers:write', 'storefront:write'] as const
const common = { scope, tool: 'wishlist' } as const

const WishlistItem = Named('WishlistItem', {
  variantId: Uuid(),
  productId: Uuid(),
  name: Type.String({ description: 'Of the product', examples: ['Linen shirt'] }),
  variantName: Type.String(),
  slug: Type.String(),
  image: Nullable(Type.String()),
  available: Type.Boolean({ description: 'It can be bought now' }),
  addedAt: Type.String(),
})
const Wishlist = Named('Wishlist', {
  customerId: Uuid(),
  data: Type.Array(WishlistItem, { description: 'What was added last comes first; what is not for sale is left out' }),
  meta: Type.Object({ count: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() }),
})

async function requireCustomer(db: Reader, id: string) {
  if (!(await db.$count(customers, eq(customers.id, id)))) throw missing('customer')
}

async function read(db: Reader, customerId: string, { limit, offset }: { limit: number; offset: number }) {
  await requireCustomer(db, customerId)
  const { createdAt, variantId } = wishlistItems
  const rows = await db
    .select({
      ...{
        variantId,
        productId: products.id,
        name: products.name,
        variantName: variants.name,
        slug: products.slug,
        images: products.images,
      },
      ...{ available, addedAt: createdAt, isThere: sql<boolean>`${isOnSale}`.mapWith(Boolean) },
    })
    .from(wishlistItems)
    .innerJoin(variants, eq(variants.id, variantId))
    .innerJoin(products, eq(products.id, variants.productId))
    .where(eq(wishlistItems.customerId, customerId))
    .orderBy(desc(createdAt), desc(variantId))
    .limit(ITEMS_MAX)
  const shown = rows.filter((row) => row.isThere)
  const data = shown.slice(offset, offset + limit).map((row) => ({ ...row, image: row.images[0] ?? null }))
  return { customerId, data, meta: { count: shown.length, offset, limit } }
}

export const wishlistRoutes = resource('content', '/wishlists')
  .get(
    '/{customerId}',
    {
      operationId: 'getWishlist',
      summary: "Read a customer's wishlist",
      ...common,
      query: Paging(50),
      responses: { 200: Wishlist },
      stored: true,
    },
    ({ db, params, query }) => read(db, params.customerId, query),
  )
  .put(
    '/{customerId}/items/{variantId}',
    {
      operationId: 'addToWishlist',
      summary: 'Put a variant on a wishlist',
      description: 'One that is on it stays where it is. At most 500.',
      ...common,
      unaudited: true,
      responses: { 200: Wishlist },
      refuses: [409],
    },
    ({ params: { customerId, variantId }, write, now, storefront }) =>
      write(async (tx) => {
        await requireCustomer(tx, customerId)
        const [variant] = await tx
          .select({ id: variants.id })
          .from(variants)
          .innerJoin(products, eq(products.id, variants.productId))
          .where(and(eq(variants.id, variantId), storefront ? isOnSale : undefined))
        if (!variant) throw missing('variant')
        const own = eq(wishlistItems.customerId, customerId)
        const isKnown = (await tx.$count(wishlistItems, and(own, eq(wishlistItems.variantId, variantId)))) > 0
        if (!isKnown && (await tx.$count(wishlistItems, own)) >= ITEMS_MAX) throw conflict(`a wishlist has at most ${ITEMS_MAX} items`)
        await tx.insert(wishlistItems).values({ customerId, variantId, createdAt: now }).onConflictDoNothing()
        return read(tx, customerId, { limit: 50, offset: 0 })
      }),
  )
  .delete(
    '/{customerId}/items/{variantId}',
    {
      operationId: 'removeFromWishlist',
      summary: 'Take a variant off a wishlist',
      ...common,
      unaudited: true,
      responses: { 200: Deleted },
    },
    ({ params: { customerId, variantId }, write }) =>
      write(async (tx) => {
        const gone = await tx
          .delete(wishlistItems)
          .where(and(eq(wishlistItems.customerId, customerId), eq(wishlistItems.variantId, variantId)))
          .returning({ id: wishlistItems.variantId })
        if (!gone.length) throw missing('wishlist item')
        return deleted
      }),
  )
