/** Seats: one for each unit of a ticket, made with its order, with a token that opens it and nothing else. */
import { createHash } from 'node:crypto'
import { and, desc, eq, inArray, ne, sql } from 'drizzle-orm'
import { inserter, type Db } from '../../db/driver.ts'
import { seats } from '../../db/store/events.ts'
import type { Owner } from '../outside/files.ts'
import type { Secrets } from '../outside/secrets.ts'
import { newToken } from '../store/link-token.ts'
import type { Moment } from '../values/clock.ts'
import { fold } from '../values/slug.ts'

/** What a token is found by: it can't be made back into the token. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url')

/** A token is sealed for its seat alone. */
const placeOf = (seatId: string) => `seat ${seatId}`
/** The token of a seat; null when it was sealed with another key. */
export const tokenOf = (secrets: Secrets, seat: { id: string; token: string }) => secrets.open<string>(seat.token, placeOf(seat.id))

const insertSeat = inserter(seats)

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
export async function issueSeats(tx: Db, { clock, now }: Moment, sealing: Sealing, { order, lines }: Bought) {
  for (const line of lines) {
    if (!line.ticket) continue
    for (let position = 0; position < line.quantity; position++) {
      const id = clock.id()
      const token = newToken(sealing.owner)
      await insertSeat(tx, {
        ...{ id, productId: line.productId!, orderId: order.id, lineId: line.id, position },
        state: order.status === 'pending' ? 'held' : 'valid',
        tokenHash: hashOf(token),
        token: sealing.secrets.seal(token, placeOf(id)),
        ...{ buyerEmail: order.email, name: null, foldedName: fold(order.name ?? ''), email: null, bio: null },
        ...{ socialProfileUrl: null, photoId: null, listed: false, checkedInAt: null, checkedInBy: null, createdAt: now, updatedAt: now },
      })
    }
  }
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
