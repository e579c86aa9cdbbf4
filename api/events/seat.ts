/** Seats: one for each unit of a ticket, made with its order, with a token that opens it and nothing else. */
import { createHash } from 'node:crypto'
import { and, desc, eq, inArray, ne, sql } from 'drizzle-orm'
import { compile, named, type Db } from '../../db/driver.ts'
import { seats } from '../../db/store/events.ts'
import type { Owner } from '../outside/files.ts'
import type { Secrets } from '../outside/secrets.ts'
import { newToken } from '../store/links/link-token.ts'
import type { Moment } from '../values/clock.ts'
import { fold } from '../values/slug.ts'

/** What a token is found by: it can't be made back into the token. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url')

/** A token is sealed for its seat alone. */
export const placeOf = (seatId: string) => `seat ${seatId}`
/** The token of a seat; null when it was sealed with another key. */
export const tokenOf = (secrets: Secrets, seat: { id: string; token: string }) => secrets.open<string>(seat.token, placeOf(seat.id))

/** Seats of one order, from a JSON list of `[id, product, line, position, hash, sealed token]`, in the order of the table's columns. */
const insertSeats = compile((db) =>
  db.insert(seats).select(sql`select value ->> 0, value ->> 1, ${named('orderId')}, value ->> 2, value ->> 3, ${named('state')},
    value ->> 4, value ->> 5, ${named('email')}, null, ${named('foldedName')}, null, null, null, null, 0, null, null, ${named('now')}, ${named('now')}
    from json_each(${named('rows')})`),
)
/**
 * Seats that one statement makes. A statement for each would cost more the more seats there are: inside of a savepoint SQLite walks through
 * what it has noted for undoing at the end of each.
 */
const INSERTED_AT_ONCE = 200
/** Seats of one order: more are several orders. */
export const SEATS_MAX = 1_000

/** The order whose seats are made, and the lines of it that are tickets. */
interface Bought {
  order: { id: string; email: string; name: string | null; status: string }
  lines: readonly { id: string; productId: string | null; quantity: number; ticket: boolean }[]
}

/** What tokens are sealed with, and the store that they name. */
export interface Sealing {
  secrets: Secrets
  owner: Owner
}

/** Makes the seats of an order, in its transaction. */
export async function issueSeats(tx: Db, { clock, now }: Moment, { secrets, owner }: Sealing, { order, lines }: Bought) {
  const rows: (string | number)[][] = []
  for (const { ticket, id: lineId, productId, quantity } of lines)
    for (let position = 0; ticket && position < quantity; position++) {
      const [id, token] = [clock.id(), newToken(owner)]
      rows.push([id, productId!, lineId, position, hashOf(token), secrets.seal(token, placeOf(id))])
    }
  const state = order.status === 'pending' ? 'held' : 'valid'
  const common = { orderId: order.id, state, email: order.email, foldedName: fold(order.name ?? ''), now }
  for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE)
    await insertSeats.run(tx, { ...common, rows: JSON.stringify(rows.slice(from, from + INSERTED_AT_ONCE)) })
}

/** Units of a line were given back: so many seats are no longer any, those first that nobody has come to or put a name on. */
export async function voidSeats(tx: Db, lineId: string, orderId: string, units: number) {
  const given = tx
    .select({ id: seats.id })
    .from(seats)
    .where(and(eq(seats.orderId, orderId), eq(seats.lineId, lineId), ne(seats.state, 'void')))
    .orderBy(sql`${seats.checkedInAt} is not null`, sql`${seats.name} is not null`, desc(seats.position))
    .limit(units)
  await tx.update(seats).set({ state: 'void' }).where(inArray(seats.id, given))
}
