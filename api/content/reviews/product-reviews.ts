/** What visitors write of a product, and see of what others wrote (document 1, Reviews). */
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { reviews } from '../../../db/store/visitors.ts'
import { findProduct, viewOf } from '../../catalog/read.ts'
import { Lang } from '../../catalog/shapes.ts'
import { resource } from '../../http/route.ts'
import { Body, Label, Named, Nullable, Paging, Text, Type } from '../../http/schema.ts'
import { startOf } from '../visitors/shown-page.ts'
import { formInput, screen, writer, written } from '../visitors/submission.ts'
import { addReview, PublicReview } from './review.ts'

const ReviewInput = Body(
  'ReviewInput',
  [{ author: 'Ada Lovelace', email: 'ada@example.com', content: 'It has lasted for three winters.', rating: 5 }],
  {
    author: Label(100),
    email: Text(3, 254, { description: 'Shown to moderators alone' }),
    content: Text(1, 5_000, { description: 'Plain text' }),
    rating: Type.Integer({ minimum: 1, maximum: 5 }),
    ...formInput,
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
      const start = await startOf(db, id, offset)
      const { id: key, author, content, rating, createdAt } = reviews
      const data = start
        ? await db
            .select({ id: key, author, content, rating, createdAt })
            .from(reviews)
            .where(and(eq(reviews.productId, id), sql`${reviews.approved} = 1`, lt(reviews.seq, start.before)))
            .orderBy(desc(reviews.seq))
            .limit(limit)
            .offset(start.skip)
        : []
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
      query: { lang: Lang },
      tool: 'reviews',
      unaudited: true,
      body: ReviewInput,
      responses: { 201: PublicReview },
    },
    (call) => {
      const { body, params } = call
      const [author, content, email] = [written(body, 'author'), written(body, 'content'), writer(body)]
      call.countSubmission()
      return call.write(async (tx) => {
        const { id: productId } = await findProduct(tx, params.idOrSlug, await viewOf(call))
        const signals = await screen(tx, call, { kind: 'review', about: productId, email, text: content })
        return addReview(tx, call, { productId, author, email, content, rating: body.rating, signals })
      })
    },
  )
