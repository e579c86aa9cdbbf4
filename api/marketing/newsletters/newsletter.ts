/** A newsletter: its row, and its shape on the wire. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { AUDIENCES, NEWSLETTER_STATUSES, newsletters } from '../../../db/store/newsletters.ts'
import { missing } from '../../values/refusal.ts'
import { Teller } from '../../store/outbox.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'

/** A newsletter on the wire. */
export const Newsletter = Named('Newsletter', {
  id: Uuid(),
  subject: Type.String(),
  content: Type.String({ description: 'Plain text' }),
  status: OneOf(NEWSLETTER_STATUSES),
  audience: OneOf(AUDIENCES),
  products: Type.Array(Type.Object({ productId: Uuid(), variantId: Nullable(Uuid()) })),
  scheduledAt: Nullable(Type.String()),
  recipientCount: Type.Integer({ description: 'Who has been sent it; 0 until it is sent' }),
  sentAt: Nullable(Type.String()),
  failedAt: Nullable(Type.String(), { examples: [null] }),
  errorMessage: Nullable(Type.String(), { examples: [null] }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

export const newsletterTold = new Teller('marketing', ['newsletter.sent', 'newsletter.failed'], Newsletter)

/** A newsletter as it is stored. */
export type NewsletterRow = typeof newsletters.$inferSelect

/** The row of a newsletter, or 404. */
export async function findNewsletter(db: Reader, id: string): Promise<NewsletterRow> {
  const [row] = await db.select().from(newsletters).where(eq(newsletters.id, id))
  if (!row) throw missing('newsletter')
  return row
}
