/** What visitors write of a product, and see of what others wrote (document 1, Reviews). */
import { and, desc, eq, sql } from 'drizzle-orm'
import { reviews } from '../../../db/store/visitors.ts'
import { findProduct, viewOf } from '../../catalog/read.ts'
import { Lang } from '../../catalog/shapes.ts'
import { resource } from '../../http/route.ts'
import { Body, Label, Named, Nullable, Paging, Text, Type } from '../../http/schema.ts'
import { emit } from '../../store/outbox.ts'
import { isEmail, normalizeEmail } from '../../values/email.ts'
import { wrong } from '../../values/refusal.ts'
import { PublicReview } from './review.ts'

const ReviewInput = Body(
  'ReviewInput',
  [{ author: 'Ada Lovelace', email: 'ada@example.com', content: 'It has lasted for three winters.', rating: 5 }],
  {
    author: Label(100),
    email: Text(3, 254, { description: 'Shown to moderators alone' }),
    content: Text(1, 5_000, { description: 'Plain text' }),
    rating: Type.Integer({ minimum: 1, maximum: 5 }),
  },
)

export const productReviewRoutes = resource('content', '/products/{idOrSlug}/reviews')
  .get(
    '',
    {
      operationId: 'listProductReviews',
      summary: "List a product's reviews",
      description: 'Those that are approved, newest first.',
      scope: 'storefront:read',
      tool: 'reviews',
      query: { ...Paging(10), lang: Lang },
      responses: {
        200: Named('ProductReviews', {
          data: Type.Array(PublicReview),
          meta: Type.Object({ count: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() }),
          summary: Type.Object({
            averageRating: Nullable(Type.Number(), { description: 'Null while there is none' }),
            reviewCount: Type.Integer(),
          }),
        }),
      },
      stored: true,
    },
    async (call) => {
      const { db, params, query } = call
      const { limit, offset } = query
      const { id, ratingSum, ratingCount: reviewCount } = await findProduct(db, params.idOrSlug, await viewOf(call))
      const page = db
        .select({ id: reviews.id })
        .from(reviews)
        .where(and(eq(reviews.productId, id), sql`${reviews.approved} = 1`))
        .orderBy(desc(reviews.createdAt), desc(reviews.id))
        .limit(limit)
        .offset(offset)
        .as('page')
      const data = await db
        .select({
          ...{ id: reviews.id, author: reviews.author, content: reviews.content, rating: reviews.rating, createdAt: reviews.createdAt },
        })
        .from(page)
        .innerJoin(reviews, eq(reviews.id, page.id))
        .orderBy(desc(reviews.createdAt), desc(reviews.id))
      const averageRating = reviewCount ? Math.round((ratingSum / reviewCount) * 100) / 100 : null
      return { data, meta: { count: reviewCount, offset, limit }, summary: { averageRating, reviewCount } }
    },
  )
  .post(
    '',
    {
      operationId: 'createReview',
      summary: 'Write a review of a product',
      description: 'It is shown once somebody has approved it.',
      scope: 'storefront:write',
      tool: 'reviews',
      unaudited: true,
      body: ReviewInput,
      responses: { 201: PublicReview },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, clock, now, params } = call
        const { id: productId } = await findProduct(tx, params.idOrSlug, { lang: null, storefront: call.storefront })
        const [author, content] = [body.author.trim(), body.content.trim()]
        if (!author) throw wrong('author', 'must not be blank')
        if (!content) throw wrong('content', 'must not be blank')
        if (!isEmail(body.email.trim())) throw wrong('email', 'must be an email address')
        const row = {
          ...{ id: clock.id(), productId, author, email: normalizeEmail(body.email), content, rating: body.rating },
          ...{ approved: false, createdAt: now, updatedAt: now },
        }
        await tx.insert(reviews).values(row)
        await emit(tx, clock, now, 'review.created', { reviewId: row.id, productId })
        return row
      }),
  )
