/** What mails and paper say of seats: the event, when and where it is, and who comes. */
import { asc, eq, sql, type SQL } from 'drizzle-orm'
import type { Reader } from '../../db/driver.ts'
import { products } from '../../db/store/catalog.ts'
import { events, seats } from '../../db/store/events.ts'
import { orders } from '../../db/store/orders.ts'
import type { Settings } from '../http/route.ts'
import { spoken } from '../values/time.ts'

const columns = {
  ...{ id: seats.id, token: seats.token, state: seats.state, name: seats.name, seatCreatedAt: seats.createdAt },
  ...{ status: orders.status, lookup: orders.lookup, buyer: orders.name, email: orders.email, accessCode: orders.accessCode },
  locale: orders.locale,
  ...{ productId: products.id, event: products.name, summary: products.summary },
  ...{ startsAt: events.startsAt, location: events.location, guest: events.guest, guestLabel: events.guestLabel },
  createdAt: events.createdAt,
  updatedAt: sql<string>`max(${events.updatedAt}, ${products.updatedAt})`,
}
export type PrintedSeat = Awaited<ReturnType<typeof printedSeats>>[number]

/** Seats with all that is said of them, in the order in which they were bought. */
export const printedSeats = (db: Reader, where: SQL, limit: number) =>
  db
    .select(columns)
    .from(seats)
    .innerJoin(orders, eq(orders.id, seats.orderId))
    .innerJoin(products, eq(products.id, seats.productId))
    .innerJoin(events, eq(events.productId, seats.productId))
    .where(where)
    .orderBy(asc(seats.lineId), asc(seats.position))
    .limit(limit)

/** Date, place and guest of honour, as people read them where the store is; those that there are. */
export function factsOf({ startsAt, location, guest, guestLabel }: PrintedSeat, { timezone, locale }: Settings): string[] {
  const host = guest && (guestLabel ? `${guestLabel}: ${guest}` : guest)
  return [startsAt && spoken(startsAt, timezone, locale), location, host].filter((fact): fact is string => Boolean(fact))
}
