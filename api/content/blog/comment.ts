/** A comment on a post (document 1): its shapes, and its finding. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { posts } from '../../../db/store/blog.ts'
import { postComments } from '../../../db/store/visitors.ts'
import { Named, Nullable, Type, Uuid } from '../../http/schema.ts'
import { missing } from '../../values/refusal.ts'
import { SignalsShape } from '../visitors/submission.ts'

const shown = {
  id: Uuid(),
  author: Type.String({ examples: ['Ada Lovelace'] }),
  content: Type.String(),
  createdAt: Type.String(),
}
/** What visitors see. */
export const PublicComment = Named('PublicComment', shown)
/** What moderators see. */
export const PostComment = Named('PostComment', {
  ...shown,
  postId: Uuid(),
  email: Type.String(),
  approved: Type.Boolean(),
  userId: Nullable(Type.String()),
  post: Type.Object({ id: Uuid(), title: Type.String(), slug: Type.String() }),
  signals: SignalsShape,
  updatedAt: Type.String(),
})

const { id, postId, author, email, content, approved, userId, signals, createdAt, updatedAt } = postComments
/** The columns of a comment as moderators see it, beside its post. */
export const moderated = {
  ...{ id, postId, author, email, content, approved, userId, signals, createdAt, updatedAt },
  post: { id: posts.id, title: posts.title, slug: posts.slug },
}

/** A comment by its id, as moderators see it; or 404. */
export async function findComment(db: Reader, commentId: string) {
  const [row] = await db.select(moderated).from(postComments).innerJoin(posts, eq(posts.id, postId)).where(eq(id, commentId))
  if (!row) throw missing('comment')
  return row
}
