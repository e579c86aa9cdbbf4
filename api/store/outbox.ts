/** The outbox: what happened, written in the transaction of the change, for those outside (document 3, Webhook events). */
import { compile, named, type Db } from '../../db/driver.ts'
import { outbox } from '../../db/store/store.ts'
import type { Clock } from '../values/clock.ts'

type StoreEvent =
  | 'order.created'
  | 'order.paid'
  | 'order.cancelled'
  | 'order.refunded'
  | 'order.shipped'
  | 'product.created'
  | 'product.updated'
  | 'product.deleted'
  | 'inventory.low'
  | 'customer.created'
  | 'review.created'
  | 'newsletter.sent'
  | 'newsletter.failed'
  | 'booking.created'
  | 'booking.cancelled'
  | 'ticket.checked_in'
  | 'publish.live'
  | 'publish.failed'

const insertEvent = compile((db) =>
  db.insert(outbox).values({ id: named('id'), event: named('event'), payload: named('payload'), createdAt: named('createdAt') }),
)

/** Records an event; it is there if and only if the change is. */
export async function emit(tx: Db, clock: Clock, now: string, event: StoreEvent, payload: Record<string, unknown>) {
  await insertEvent.run(tx, { id: clock.id(), event, payload, createdAt: now })
}
