/** The way of a buyer to what an order holds: its access code and the address that bought it (document 2, Authentication). */
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { orders } from '../../db/store/orders.ts'
import type { Guesses } from '../http/route.ts'
import { normalizeEmail } from '../values/email.ts'
import { missing } from '../values/refusal.ts'
import { hashOf } from './seat.ts'

/** The order of a code, or for a code that none has the newest one, which is read for the time that it takes. */
const orderByCode = compile((db) =>
  db
    .select({
      id: orders.id,
      lookup: orders.lookup,
      createdAt: orders.createdAt,
      status: orders.status,
      currency: orders.currency,
      totalGross: orders.totalCents,
      email: orders.email,
      name: orders.name,
      accessCode: orders.accessCode,
    })
    .from(orders)
    .where(sql`${orders.id} = coalesce((select id from orders where access_code = ${named('code')}), (select max(id) from orders))`),
)

/** Whether two addresses are one, in a time that tells nothing of either. */
const isSameAddress = (a: string, b: string) => timingSafeEqual(Buffer.from(hashOf(normalizeEmail(a))), Buffer.from(hashOf(b)))

interface Asked<T> {
  code: string
  email: string
  /** The name of what is looked for, for the 404. */
  what: string
  /** What there is of an order; it is asked with no order, too. */
  rowsOf: (orderId: string) => Promise<T[]>
}

/**
 * The order of an access code and what there is of it. An unknown code, another address and an order that has none take the same statements
 * and get the same 404; 429 after 20 wrong ones in a minute.
 */
export async function findBought<T>(db: Reader, guesses: Guesses, { code, email, what, rowsOf }: Asked<T>) {
  const bought = await guesses(`ticket ${hashOf(code)}`, async () => {
    const found = await orderByCode.get(db, { code })
    const isBuyer = isSameAddress(email, found?.email ?? '')
    const rows = await rowsOf(found && found.accessCode === code && isBuyer ? found.id : '')
    return found && rows.length ? { found, rows } : null
  })
  if (!bought) throw missing(what)
  const { accessCode: _, ...order } = bought.found
  return { order, rows: bought.rows }
}
