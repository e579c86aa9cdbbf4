/** A review of a product (document 1): its shapes, and its finding. */
import { eq, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { reviews } from '../../../db/store/visitors.ts'
import { Named, Type, Uuid } from '../../http/schema.ts'
import { Teller } from '../../store/outbox.ts'
import type { Moment } from '../../values/clock.ts'
import { missing } from '../../values/refusal.ts'
import { SignalsShape } from '../visitors/submission.ts'

const shown = {
  id: Uuid(),
  author: Type.String({ examples: ['Ada Lovelace'] }),
  content: Type.String(),
  rating: Type.Integer({ examples: [5] }),
  createdAt: Type.String(),
}
/** What visitors see. */
export const PublicReview = Named('PublicReview', shown)
/** What moderators see. */
export const Review = Named('Review', {
  ...shown,
  productId: Uuid(),
  email: Type.String(),
  approved: Type.Boolean(),
  verified: Type.Boolean({ description: 'The address has an order of the product that was paid and not given back' }),
  signals: SignalsShape,
  updatedAt: Type.String(),
})

export const reviewTold = new Teller('content', ['review.created'], Review)

/** The columns of a review as moderators see it; whoever has bought under that address is looked up with it. */
export const moderated = {
  ...{ id: reviews.id, productId: reviews.productId, author: reviews.author, email: reviews.email, content: reviews.content },
  ...{ rating: reviews.rating, approved: reviews.approved, createdAt: reviews.createdAt, updatedAt: reviews.updatedAt },
  signals: reviews.signals,
  verified: sql<boolean>`exists (
    select 1 from customers c join orders o on o.customer_id = c.id join order_lines l on l.order_id = o.id
    where c.email = "reviews"."email" and l.product_id = "reviews"."product_id" and l.refunded_quantity < l.quantity
      and o.status not in ('pending', 'cancelled', 'refunded'))`.mapWith(Boolean),
}

/** A review by its id, as moderators see it; or 404. */
export async function findReview(db: Reader, id: string) {
  const [row] = await db.select(moderated).from(reviews).where(eq(reviews.id, id))
  if (!row) throw missing('review')
  return row
}

type NewReview = Pick<typeof reviews.$inferInsert, 'productId' | 'author' | 'email' | 'content' | 'rating' | 'signals'>

/** Keeps a review, not approved. */
export async function addReview(tx: Db, { clock, now }: Moment, given: NewReview) {
  const own = { ...given, id: clock.id(), approved: false, createdAt: now, updatedAt: now }
  const seq = sql<number>`(select coalesce(max(seq), 0) + 1 from reviews where product_id = ${given.productId})`
  await tx.insert(reviews).values({ ...own, seq })
  await reviewTold.tell(tx, { clock, now }, 'review.created', {
    about: own.id,
    payload: { reviewId: own.id, productId: own.productId },
    show: () => findReview(tx, own.id),
  })
  return own
}
