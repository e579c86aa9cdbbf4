/** Seats and places under load, over two processes: full is full, what was acknowledged is there, and each guest comes in once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { openShop, tally, type Reply, type Server, type Shop } from './servers.ts'

let shop: Shop
let servers: Server[]
beforeAll(async () => {
  shop = await openShop()
  servers = [await shop.start(), await shop.start()]
})
afterAll(() => shop.close())

/** Guests of one event; by hand, `STORM_SEATS=10000` prints how long a check-in takes. */
const SEATS = Number(process.env.STORM_SEATS ?? 1_000)
const SCANNERS = 20

/** Buyers and scanners spread over the processes. */
const send = (n: number, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  shop.call(servers[n % servers.length]!, method, path, body, headers)
const many = <T>(count: number, run: (i: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => run(i)))
const noServerError = (replies: readonly Reply[]) => expect(replies.filter(({ status }) => status >= 500)).toEqual([])

async function newEvent(capacity: number | null) {
  const { event } = (await send(0, 'POST', '/events', { name: `Show ${crypto.randomUUID()}`, price: '10', capacity })).body
  const variantId = (await send(0, 'GET', `/products/${event.id}`)).body.variants[0].id as string
  return { id: event.id as string, variantId }
}
async function newSlot(maxCapacity: number) {
  const thing = { name: `Chair ${crypto.randomUUID()}`, status: 'published', variants: [{ price: 10, bookable: true, shippable: false }] }
  const variantId = (await send(0, 'POST', '/products', thing)).body.variants[0].id as string
  const times = { startsAt: '2099-12-05T10:00:00Z', endsAt: '2099-12-05T11:00:00Z' }
  const slot = { productVariantId: variantId, ...times, maxCapacity, status: 'published' }
  return { id: (await send(0, 'POST', '/booking-slots', slot)).body.id as string, variantId }
}
const cartWith = async (n: number, item: object) => (await send(n, 'POST', '/carts', { items: [item] })).body.id as string
const checkOut = (n: number, cart: string) =>
  send(n, 'POST', `/carts/${cart}/checkout`, { email: `b${n}@example.com`, name: `Buyer ${n}`, paymentMethod: 'test' })
/** The first row of a query on the store's own file. */
const row = (query: ReturnType<typeof sql>) =>
  shop.inside(async ({ read }) => Object.values((await read.all<Record<string, number>>(query))[0]!).map(Number))

/** What holds of all that is stored, whoever was killed when. */
async function expectWhole() {
  const wrong = sql`select
    (select count(*) from events e join variants v on v.id = e.variant_id where v.tracked and (v.reserved > v.quantity
      or v.reserved <> (select count(*) from seats s where s.product_id = e.product_id and s.state <> 'void'))),
    (select count(*) from events e where e.sold <> (select count(*) from seats s where s.product_id = e.product_id and s.state = 'valid')),
    (select count(*) from order_lines l where l.ticket and l.open_quantity <> (select count(*) from seats s where s.line_id = l.id and s.state <> 'void')),
    (select count(*) from seats s where not exists (select 1 from order_lines l where l.id = s.line_id and l.order_id = s.order_id)),
    (select count(*) from seats) - (select count(distinct token_hash) from seats),
    (select count(*) from booking_slots b where b.booked_count > b.max_capacity
      or b.booked_count <> (select coalesce(sum(quantity), 0) from bookings k where k.slot_id = b.id)),
    (select count(*) from order_lines l where l.booking_slot_id is not null and l.open_quantity <> coalesce((select quantity from bookings k where k.line_id = l.id), 0)),
    (select count(*) from bookings k where not exists (select 1 from order_lines l where l.id = k.line_id and l.order_id = k.order_id))`
  expect(await row(wrong)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
}

/** Reads an event again and again until `stop`: what is sold and what is left are what there is, at every read. */
function watch({ id, variantId }: { id: string; variantId: string }) {
  let stopped = false
  const reads = { count: 0, wrong: [] as unknown[] }
  const watching = (async () => {
    for (let n = 0; !stopped; n++) {
      const { quantity, reserved, available } = (await send(n, 'GET', `/variants/${variantId}`)).body.stock
      const { ticketsSold, event } = (await send(n, 'GET', `/events/${id}`)).body.event
      reads.count++
      if (reserved + available !== quantity || ticketsSold > event.capacity)
        reads.wrong.push({ quantity, reserved, available, ticketsSold, event })
    }
  })()
  return async () => {
    stopped = true
    await watching
    expect(reads.wrong).toEqual([])
    expect(reads.count).toBeGreaterThan(0)
  }
}

describe('over two processes', () => {
  test('500 buyers of 50 seats buy exactly 50, each with its own seat', async () => {
    const event = await newEvent(50)
    const carts = await many(500, (i) => cartWith(i, { variantId: event.variantId }))
    const stop = watch(event)
    const replies = await many(500, (i) => checkOut(i, carts[i]!))
    await stop()
    noServerError(replies)
    expect(tally(replies)).toEqual({ 201: 50, 409: 450 })
    const { total, attendees } = (await send(0, 'GET', `/events/${event.id}/checkins`)).body
    expect([total, new Set(attendees.map(({ token }: { token: string }) => token)).size]).toEqual([50, 50])
    await expectWhole()
  })

  test('the capacity that changes meanwhile is never under what is sold', async () => {
    const event = await newEvent(20)
    const carts = await many(200, (i) => cartWith(i, { variantId: event.variantId, quantity: 1 + (i % 2) }))
    const capacities = [40, 10, 60, 25, 80, 1, 50, 30, 45]
    const changes = (async () => {
      const replies = []
      for (const [n, capacity] of capacities.entries()) {
        replies.push(await send(n, 'PATCH', `/events/${event.id}`, { capacity }))
        const [quantity, reserved] = await row(sql`select quantity, reserved from variants where id = ${event.variantId}`)
        expect(reserved).toBeLessThanOrEqual(quantity!)
      }
      return replies
    })()
    const replies = await many(200, (i) => checkOut(i, carts[i]!))
    const changed = await changes
    noServerError([...replies, ...changed])
    expect(Object.keys(tally(changed)).every((status) => status === '200' || status === '409')).toBe(true)
    const sold = replies.filter(({ status }) => status === 201).reduce((sum, { body }) => sum + body.order.lines[0].quantity, 0)
    const { event: seen, ticketsSold } = (await send(0, 'GET', `/events/${event.id}`)).body.event
    expect(ticketsSold).toBe(sold)
    expect(sold).toBeLessThanOrEqual(seen.capacity)
    await expectWhole()
  })

  test('40 buyers of one to three places never book more than the ten there are', async () => {
    const slot = await newSlot(10)
    const carts = await many(40, (i) => cartWith(i, { variantId: slot.variantId, bookingSlotId: slot.id, quantity: 1 + (i % 3) }))
    const changes = many(6, (i) => send(i, 'PATCH', `/booking-slots/${slot.id}`, { maxCapacity: [4, 10, 6, 12, 2, 10][i] }))
    const replies = await many(40, (i) => checkOut(i, carts[i]!))
    noServerError([...replies, ...(await changes)])
    await send(0, 'PATCH', `/booking-slots/${slot.id}`, { maxCapacity: 12 })
    const rest = await many(12, async (i) => checkOut(i, await cartWith(i, { variantId: slot.variantId, bookingSlotId: slot.id })))
    noServerError(rest)
    expect((await send(1, 'GET', `/booking-slots/${slot.id}`)).body).toMatchObject({ bookedCount: 12, spotsRemaining: 0, status: 'full' })
    await expectWhole()
  })

  test('20 scanners, copies and lines that are cut let each guest in once, and the first time stays', async () => {
    const event = await newEvent(null)
    for (let sold = 0; sold < SEATS; sold += 1_000) {
      const quantity = Math.min(1_000, SEATS - sold)
      const order = { customer: { email: 'big@example.com' }, items: [{ variantId: event.variantId, quantity }], paid: true }
      expect((await send(0, 'POST', '/orders', order)).status).toBe(201)
    }
    const { attendees } = (await send(0, 'GET', `/events/${event.id}/checkins`)).body
    const first = new Map<string, string>()
    const took: number[] = []
    let welcome = 0
    await many(SCANNERS, async (scanner) => {
      for (let i = scanner; i < SEATS * 1.2; i += SCANNERS) {
        // A fifth are copies, which come to another scanner.
        const { token } = attendees[Math.floor(i % SEATS)]
        const scan = { 'idempotency-key': `${scanner}-${i}` }
        // The answer of every seventh is lost on its way, so it is sent again.
        for (let again = i % 7 === 0 ? 2 : 1; again > 0; again--) {
          const started = performance.now()
          const { status, body } = await send(
            scanner + again,
            'POST',
            `/tickets/attendee/${token}/checkin`,
            { by: `Door ${scanner}` },
            scan,
          )
          took.push(performance.now() - started)
          expect(status).toBe(200)
          expect(body.checkedInAt).toBe(first.get(token) ?? body.checkedInAt)
          first.set(token, body.checkedInAt)
          if (again === 1 && !body.alreadyCheckedIn) welcome++
        }
      }
    })
    expect([welcome, first.size]).toEqual([SEATS, SEATS])
    const roster = (await send(1, 'GET', `/events/${event.id}/checkins`)).body
    expect(roster.checkedIn).toBe(SEATS)
    for (const { token, checkedInAt } of roster.attendees)
      if (first.get(token) !== checkedInAt) throw new Error(`${token} came at another time`)
    took.sort((a, b) => a - b)
    if (process.env.STORM_SEATS)
      console.log(
        `${took.length} check-ins: p50 ${took[took.length >> 1]!.toFixed(1)} ms, p99 ${took[Math.floor(took.length * 0.99)]!.toFixed(1)} ms`,
      )
    expect(await row(sql`select count(*) from outbox where event = 'ticket.checked_in' and payload ->> 'productId' = ${event.id}`)).toEqual(
      [SEATS],
    )
  }, 300_000)
})

test('after kill -9 in the middle every acknowledged ticket, place and check-in is there, and no seat without its order', async () => {
  const acknowledged = new Map<string, { kind: 'ticket' | 'slot'; quantity: number }>()
  const cameIn = new Map<string, string>()
  for (let kill = 0; kill < 3; kill++) {
    const event = await newEvent(100_000)
    const slot = await newSlot(100_000)
    let blowing = true
    const before = acknowledged.size
    const buy = async (buyer: number) => {
      for (let n = 0; blowing; n++) {
        const kind = (buyer + n) % 2 ? 'ticket' : 'slot'
        const quantity = 1 + (n % 3)
        const item = kind === 'ticket' ? { variantId: event.variantId } : { variantId: slot.variantId, bookingSlotId: slot.id }
        try {
          const { status, body } = await checkOut(buyer, await cartWith(buyer, { ...item, quantity }))
          if (status !== 201) continue
          acknowledged.set(body.order.id, { kind, quantity })
          if (kind === 'slot') continue
          const code = `/tickets/${body.order.accessCode}?email=b${buyer}@example.com`
          const { token } = (await send(buyer, 'GET', code)).body.lines[0].seats[0]
          const came = await send(buyer, 'POST', `/tickets/attendee/${token}/checkin`, {})
          if (came.status === 200) cameIn.set(token, came.body.checkedInAt)
        } catch {
          /* the servers are gone: what they did not acknowledge may or may not be there */
        }
      }
    }
    const buyers = many(16, buy)
    const started = performance.now()
    while (performance.now() - started < 700 || (acknowledged.size - before < 20 && performance.now() - started < 30_000))
      await Bun.sleep(20)
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    blowing = false
    await buyers
    expect(acknowledged.size - before).toBeGreaterThanOrEqual(20)
    servers = [await shop.start(), await shop.start()]
    await expectWhole()
  }
  await shop.inside(async ({ read }) => {
    const held = sql`select o.id, (select count(*) from seats s where s.order_id = o.id and s.state = 'valid'),
      (select coalesce(sum(quantity), 0) from bookings k where k.order_id = o.id) from orders o`
    const rows = new Map(
      (await read.all(held)).map((found) => Object.values(found as object) as [string, number, number]).map(([id, ...rest]) => [id, rest]),
    )
    for (const [id, { kind, quantity }] of acknowledged) expect(rows.get(id)).toEqual(kind === 'ticket' ? [quantity, 0] : [0, quantity])
    expect((await read.all(sql`pragma integrity_check`)).length).toBe(1)
  })
  for (const [token, at] of [...cameIn].slice(-50))
    expect((await send(0, 'POST', `/tickets/attendee/${token}/checkin`, {})).body).toMatchObject({
      checkedInAt: at,
      alreadyCheckedIn: true,
    })
}, 180_000)
