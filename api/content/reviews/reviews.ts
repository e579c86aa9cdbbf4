/** The moderation of reviews (document 1): a queue that is read, published and cleared. */
import { and, desc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { reviews } from '../../../db/store/visitors.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Page, Paging, Type, Uuid } from '../../http/schema.ts'
import { bulkInput, decide, Moderated } from '../visitors/bulk.ts'
import { findReview, moderated, Review } from './review.ts'

const reads = { scope: 'content:read', tool: 'reviews' } as const
const changes = { scope: 'content:write', tool: 'reviews' } as const

const Decision = Body('ReviewPatch', [{ approved: true }], { approved: Type.Boolean() })
const BulkInput = bulkInput('BulkReviewsInput')

export const reviewRoutes = resource('content', '/reviews')
  .get(
    '',
    {
      operationId: 'listReviews',
      summary: 'List reviews to moderate',
      description: 'Newest first, those that wait included.',
      ...reads,
      query: {
        ...Paging(10),
        approved: Type.Optional(Type.Boolean({ description: 'Left out: all' })),
        productId: Type.Optional(Uuid()),
        rating: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
      },
      responses: { 200: Page(Review) },
      stored: true,
    },
    async ({ db, query: { limit, offset, approved, productId, rating } }) => {
      const where = and(
        approved === undefined ? undefined : eq(reviews.approved, approved),
        productId === undefined ? undefined : eq(reviews.productId, productId),
        rating === undefined ? undefined : eq(reviews.rating, rating),
      )
      const far = aside(db, 'reviews')
      const page = far
        .select({ id: reviews.id })
        .from(reviews)
        .where(where)
        .orderBy(desc(reviews.createdAt), desc(reviews.id))
        .limit(limit)
        .offset(offset)
        .as('page')
      const data = await far
        .select(moderated)
        .from(page)
        .crossJoin(reviews)
        .where(eq(reviews.id, page.id))
        .orderBy(desc(reviews.createdAt), desc(reviews.id))
      return { data, meta: { count: await far.$count(reviews, where), offset, limit } }
    },
  )
  .post(
    '/bulk',
    {
      operationId: 'moderateReviews',
      summary: 'Approve, take back or delete reviews',
      description: 'Up to 100 at once, by `approved` or `"delete": true`. Ids that are gone are passed over.',
      ...changes,
      body: BulkInput,
      responses: { 200: Moderated },
    },
    ({ body, write, now }) => write((tx) => decide(tx, reviews, body, now)),
  )
  .get(
    '/{id}',
    { operationId: 'getReview', summary: 'Read a review', ...reads, responses: { 200: Review }, stored: true },
    ({ db, params }) => findReview(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateReview',
      summary: 'Publish a review, or take it back',
      ...changes,
      body: Decision,
      responses: { 200: Review },
    },
    ({ params, body, write, now }) =>
      write(async (tx) => {
        const { id } = await findReview(tx, params.id)
        await tx.update(reviews).set({ approved: body.approved, updatedAt: now }).where(eq(reviews.id, id))
        return findReview(tx, id)
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteReview', summary: 'Delete a review', ...changes, responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await findReview(tx, params.id)
        await tx.delete(reviews).where(eq(reviews.id, id))
        return deleted
      }),
  )
