/** The job that shows a scheduled post in searches once it is public; lists, the post itself and the feed go by the time alone. */
import { eq } from 'drizzle-orm'
import { posts } from '../../../db/store/blog.ts'
import type { JobKind } from '../../jobs/kind.ts'
import { timesOf } from './post.ts'

export const showPost: JobKind = {
  retriesMs: [1_000, 10_000, 60_000, 600_000],
  async run({ store, subject, clock, held }) {
    const now = clock.now().toISOString()
    return store.write(async (tx) => {
      await held(tx)
      const [post] = await tx.select().from(posts).where(eq(posts.id, subject))
      if (!post || post.status !== 'published') return
      const { visible } = timesOf(post, now)
      if (!visible) return post.publishedAt!
      await tx.update(posts).set({ visible }).where(eq(posts.id, subject))
    })
  },
}
