/** Room "content": what visitors of a store write. Nothing of it is shown before somebody has approved it. */
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { flag, id, instant } from '../columns.ts'
import { products } from './catalog.ts'

/** Reviews of products; triggers keep the sum and the number of those that are approved in their product. */
export const reviews = sqliteTable(
  'reviews',
  {
    id: id(),
    productId: text()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    author: text().notNull(),
    email: text().notNull(),
    content: text().notNull(),
    rating: integer().notNull(),
    approved: flag().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    check('reviews_rating', sql`${t.rating} between 1 and 5`),
    index('reviews_created').on(t.createdAt, t.id),
    index('reviews_approved').on(t.approved, t.createdAt, t.id),
    index('reviews_rating').on(t.rating, t.createdAt, t.id),
    index('reviews_product').on(t.productId, t.createdAt, t.id),
    /** What visitors see of a product. */
    index('reviews_shown')
      .on(t.productId, t.createdAt, t.id)
      .where(sql`${t.approved} = 1`),
  ],
)
