/**
 * Whose mail a visitor reads: known of who has opened the shop by the link of a mail. It is what points ask for, since whoever knows an
 * address may write it into a cart. The links that a checkout or a look-up leads to prove nothing.
 */
import { eq } from 'drizzle-orm'
import { customers } from '../../../db/store/orders.ts'
import { availablePoints } from '../../marketing/loyalty/points.ts'
import type { OrderLink } from '../../store/mails/shop-links.ts'
import { normalizeEmail } from '../../values/email.ts'
import type { Visit } from './visit.ts'

const COOKIE = 'reader'

/** Notes whose mail was read, when the link was one of a mail. */
export function noteReader(visit: Visit, { mailed, email }: OrderLink) {
  if (mailed && email) visit.seal(COOKIE, { email: normalizeEmail(email) })
}

/** Whether the visitor has shown that an address is theirs. */
export const reads = (visit: Visit, email: string | null): boolean =>
  email !== null && visit.sealed<{ email: string }>(COOKIE)?.email === normalizeEmail(email)

/** The points that the visitor may pay with; 0 for an address that is not shown to be theirs. */
export async function pointsOf(visit: Visit, email: string | null): Promise<number> {
  if (!reads(visit, email)) return 0
  const now = visit.app.services.clock.now().toISOString()
  return visit.app.store(visit.session.store.id, async ({ read }) => {
    const [customer] = await read
      .select({ id: customers.id })
      .from(customers)
      .where(eq(customers.email, normalizeEmail(email!)))
    return customer ? Math.max(0, await availablePoints(read, customer.id, now)) : 0
  })
}
