/** The floor's door: the statements of a check-in, to be run in a transaction of its own. */
import { createHash } from 'node:crypto'
import type { Database } from 'bun:sqlite'

type Row = Record<string, any>

/** Checks guests in over one database. */
export function door(db: Database) {
  const found = db.prepare(
    'select s.*, o.status as order_status, o.name as buyer from seats s join orders o on o.id = s.order_id where s.token_hash = ?',
  )
  const checkIn = db.prepare('update seats set checked_in_at = ?, checked_in_by = ? where id = ? and checked_in_at is null')
  const tell = db.prepare("insert into outbox (id, event, payload, created_at) values (?, 'ticket.checked_in', ?, ?)")
  const note = db.prepare(
    'insert into audit_log (id, key_id, key_name, method, path, resource, request_id, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  return (token: string, by: string) => {
    const now = new Date().toISOString()
    const seat = found.get(createHash('sha256').update(token).digest('base64url')) as Row | null
    if (!seat || seat.state !== 'valid') throw new Error('no such ticket')
    if (seat.checked_in_at !== null) return { checkedInAt: seat.checked_in_at, checkedInBy: seat.checked_in_by, alreadyCheckedIn: true }
    checkIn.run(now, by, seat.id)
    tell.run(Bun.randomUUIDv7(), JSON.stringify({ productId: seat.product_id, seatId: seat.id, orderId: seat.order_id }), now)
    note.run(Bun.randomUUIDv7(), seat.id, 'floor', 'POST', '/tickets/attendee/{token}/checkin', 'tickets', Bun.randomUUIDv7(), now)
    return { checkedInAt: now, checkedInBy: by, alreadyCheckedIn: false }
  }
}
