/** The moderation of comments (document 1): a queue that is read, published and cleared. */
import { and, desc, eq, or } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { holds } from '../../../db/driver.ts'
import { posts } from '../../../db/store/blog.ts'
import { postComments } from '../../../db/store/visitors.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Page, Paging, Type } from '../../http/schema.ts'
import { bulkInput, decide, Moderated } from '../visitors/bulk.ts'
import { findComment, moderated, PostComment } from './comment.ts'

const reads = { scope: 'content:read', tool: 'blog' } as const
const changes = { scope: 'content:write', tool: 'blog' } as const

const Decision = Body('PostCommentPatch', [{ approved: true }], { approved: Type.Boolean() })
const BulkInput = bulkInput('BulkCommentsInput')

/** What looks through so many comments costs as much as what reads many rows. */
const LONG_COMMENTS = 100

export const postCommentRoutes = resource('content', '/post-comments')
  .get(
    '',
    {
      operationId: 'listPostComments',
      summary: 'List comments to moderate',
      description: 'Newest first, those that wait included.',
      ...reads,
      query: {
        ...Paging(20),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of content, author or email' })),
        approved: Type.Optional(Type.Boolean({ description: 'Left out: all' })),
      },
      responses: { 200: Page(PostComment) },
      stored: true,
    },
    async ({ db, query: { limit, offset, query, approved } }) => {
      const { author, email, content, createdAt, id } = postComments
      const where = and(
        approved === undefined ? undefined : eq(postComments.approved, approved),
        query === undefined ? undefined : or(...[content, author, email].map((column) => holds(column, query))),
      )
      const far = aside(db, 'post_comments', { search: query !== undefined, longRows: query === undefined ? undefined : LONG_COMMENTS })
      const page = far
        .select({ id })
        .from(postComments)
        .where(where)
        .orderBy(desc(createdAt), desc(id))
        .limit(limit)
        .offset(offset)
        .as('page')
      const data = await far
        .select(moderated)
        .from(page)
        .crossJoin(postComments)
        .innerJoin(posts, eq(posts.id, postComments.postId))
        .where(eq(id, page.id))
        .orderBy(desc(createdAt), desc(id))
      return { data, meta: { count: await far.$count(postComments, where), offset, limit } }
    },
  )
  .post(
    '/bulk',
    {
      operationId: 'moderateComments',
      summary: 'Approve, take back or delete comments',
      description: 'Up to 100 at once, by `approved` or `"delete": true`. Ids that are gone are passed over.',
      ...changes,
      body: BulkInput,
      responses: { 200: Moderated },
    },
    ({ body, write, now }) => write((tx) => decide(tx, postComments, body, now)),
  )
  .get(
    '/{id}',
    { operationId: 'getPostComment', summary: 'Read a comment', ...reads, responses: { 200: PostComment }, stored: true },
    ({ db, params }) => findComment(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updatePostComment',
      summary: 'Publish a comment, or take it back',
      ...changes,
      body: Decision,
      responses: { 200: PostComment },
    },
    ({ params, body, write, now }) =>
      write(async (tx) => {
        const { id } = await findComment(tx, params.id)
        await tx.update(postComments).set({ approved: body.approved, updatedAt: now }).where(eq(postComments.id, id))
        return findComment(tx, id)
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deletePostComment', summary: 'Delete a comment', ...changes, responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await findComment(tx, params.id)
        await tx.delete(postComments).where(eq(postComments.id, id))
        return deleted
      }),
  )
