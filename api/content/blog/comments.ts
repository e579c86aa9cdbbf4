/** What visitors write below a post, and see of what others wrote (document 1, Blog comments). */
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { postComments } from '../../../db/store/visitors.ts'
import { Lang } from '../../catalog/shapes.ts'
import { resource } from '../../http/route.ts'
import { Body, Label, Page, Paging, Text } from '../../http/schema.ts'
import { startOf } from '../visitors/shown-page.ts'
import { formInput, screen, writer, written } from '../visitors/submission.ts'
import { PublicComment } from './comment.ts'
import { findPost, postViewOf } from './post.ts'

const CommentInput = Body('PostCommentInput', [{ author: 'Ada Lovelace', email: 'ada@example.com', content: 'Cool water works.' }], {
  author: Label(100),
  email: Text(3, 254, { description: 'Shown to moderators alone' }),
  content: Text(1, 5_000, { description: 'Plain text' }),
  ...formInput,
})

export const commentRoutes = resource('content', '/posts/{idOrSlug}/comments')
  .get(
    '',
    {
      operationId: 'listComments',
      summary: "List a post's comments",
      description: 'Those that are approved, newest first.',
      scope: 'storefront:read',
      tool: 'blog',
      query: { ...Paging(20), lang: Lang },
      responses: { 200: Page(PublicComment) },
    },
    async (call) => {
      const { db, params, query } = call
      const { limit, offset } = query
      const { id: postId, commentCount: count } = await findPost(db, params.idOrSlug, await postViewOf(call))
      const start = await startOf(db, postId, offset)
      const { id, author, content, createdAt } = postComments
      const data = start
        ? await db
            .select({ id, author, content, createdAt })
            .from(postComments)
            .where(and(eq(postComments.postId, postId), sql`${postComments.approved} = 1`, lt(postComments.seq, start.before)))
            .orderBy(desc(postComments.seq))
            .limit(limit)
            .offset(start.skip)
        : []
      return { data, meta: { count, offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createComment',
      summary: 'Write a comment on a post',
      description: 'It is shown once somebody has approved it.',
      scope: 'storefront:write',
      query: { lang: Lang },
      tool: 'blog',
      unaudited: true,
      body: CommentInput,
      responses: { 201: PublicComment },
    },
    (call) => {
      const { body, clock, now, params } = call
      const [author, content, email] = [written(body, 'author'), written(body, 'content'), writer(body)]
      call.countSubmission()
      return call.write(async (tx) => {
        const { id: postId } = await findPost(tx, params.idOrSlug, await postViewOf(call))
        const signals = await screen(tx, call, { kind: 'comment', about: postId, email, text: content })
        const own = { id: clock.id(), postId, author, email, content, approved: false, userId: null, createdAt: now, updatedAt: now }
        const seq = sql<number>`(select coalesce(max(seq), 0) + 1 from post_comments where post_id = ${postId})`
        await tx.insert(postComments).values({ ...own, signals, seq })
        return own
      })
    },
  )
