/** Asking for a mail about an order, in the transaction of what it tells of. */
import type { Db } from '../../../db/driver.ts'
import { settingsIn } from '../../http/call.ts'
import { enqueueBy } from '../../jobs/queue.ts'
import type { Moment } from '../../values/clock.ts'
import { NO_REVIEW_REQUEST } from '../../store/settings-shape.ts'
import { later } from '../../values/time.ts'
import type { OrderRow } from '../order.ts'

/** The job that sends one; its subject is `{kind} {id}`. */
export const ORDER_MAIL = 'order.mail'

/** Marketplaces write to their buyers themselves, and who buys at a counter has the receipt. */
const MAILED: ReadonlySet<OrderRow['source']> = new Set(['storefront', 'admin', 'wholesale'])

const DAY_MS = 86_400_000

type OrderMail = 'order-confirmation' | 'shipment' | 'shipped' | 'refund' | 'review-request'

/** Has a mail sent about an order, or about a shipment or refund of it, if the store sends any. */
export async function askForMail(tx: Db, moment: Moment, { id, source }: Pick<OrderRow, 'id' | 'source'>, kind: OrderMail, about = id) {
  if (!MAILED.has(source)) return
  const { email, reviewRequest } = await settingsIn(tx)
  if (!email.outboundEnabled) return
  if (kind !== 'review-request') return enqueueBy(tx, moment, { kind: ORDER_MAIL, subject: `${kind} ${about}`, dueAt: moment.now })
  const { enabled, afterDays } = reviewRequest ?? NO_REVIEW_REQUEST
  if (enabled) await enqueueBy(tx, moment, { kind: ORDER_MAIL, subject: `${kind} ${about}`, dueAt: later(moment.now, afterDays * DAY_MS) })
}
