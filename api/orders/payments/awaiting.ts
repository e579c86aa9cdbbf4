/** How long an order that a checkout left unpaid waits for its money (document 3, Orders), and who looks when that is over. */
import type { Db } from '../../../db/driver.ts'
import type { Settings } from '../../http/route.ts'
import type { Moment } from '../../values/clock.ts'
import { enqueueBy } from '../../jobs/queue.ts'
import { UNPAID } from '../../store/unpaid.ts'
import type { OrderRow } from '../order.ts'

/** A buyer at Stripe is at the till. */
const STRIPE_MS = 2 * 3_600_000

export type Awaiting = NonNullable<OrderRow['awaiting']>

/** How long an order waits, in ms. Where Stripe is not configured any more, one at Stripe can only be paid by hand. */
export const waitMs = (awaiting: Awaiting, { checkout }: Pick<Settings, 'checkout'>, hasProvider: boolean) =>
  awaiting === 'stripe' && hasProvider ? STRIPE_MS : checkout.unpaidHours * 3_600_000

/** The columns of a new order that wait for its money; only what a checkout left unpaid does. */
export function awaitingOf(order: { cartId: string | null; payment: { method: string; paid: boolean } | null }, now: string) {
  const isAwaited = order.cartId !== null && order.payment !== null && !order.payment.paid
  const awaiting: Awaiting | null = !isAwaited ? null : order.payment!.method === 'stripe' ? 'stripe' : 'hand'
  return { awaiting, awaitingSince: isAwaited ? now : null }
}

/** Sees to it that somebody looks once an order has waited long enough. */
export async function askForLook(tx: Db, moment: Moment, { awaiting }: Pick<OrderRow, 'awaiting'>, settings: Settings) {
  if (awaiting === null) return
  await enqueueBy(tx, moment, { ...UNPAID, dueAt: new Date(Date.parse(moment.now) + waitMs(awaiting, settings, true)).toISOString() })
}
