/** What opens the page of an order in a store's own shop. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { seats } from '../../../db/store/events.ts'
import { orders } from '../../../db/store/orders.ts'
import type { OrderLink } from '../../store/mails/shop-links.ts'

/** The link of an order: with the code of its tickets when it has some. */
export async function orderLinkOf(db: Reader, { id, email }: { id: string; email: string | null }): Promise<OrderLink> {
  const [row] = await db
    .select({ code: orders.accessCode })
    .from(orders)
    .innerJoin(seats, eq(seats.orderId, orders.id))
    .where(eq(orders.id, id))
    .limit(1)
  return { id, code: row?.code ?? null, ...(email === null ? {} : { email }) }
}
