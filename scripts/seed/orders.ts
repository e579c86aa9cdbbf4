/** The seed's customers and orders: placed, paid, shipped and refunded by the functions that the API does it with. */
import { asc } from 'drizzle-orm'
import { putBack } from '../../api/catalog/stock.ts'
import { quote } from '../../api/pricing/quote.ts'
import { cancel, move, noteShipment, shipUnits } from '../../api/orders/change.ts'
import { readLines, type OrderRow } from '../../api/orders/order.ts'
import { place } from '../../api/orders/place.ts'
import { refund } from '../../api/orders/payments/refund.ts'
import { slugOf } from '../../api/values/slug.ts'
import { inserter, type Db, type Reader } from '../../db/driver.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { coupons } from '../../db/store/marketing.ts'
import { customerAddresses, customers, shipments } from '../../db/store/orders.ts'
import type { Address } from '../../db/store/store.ts'
import { actingAt, DAY_MS, HOUR_MS, type Seeding } from './seeding.ts'
import { FIRST_NAMES, LAST_NAMES, PLACES } from './words.ts'

/** Orders lie in this many days before now. */
export const PERIOD_DAYS = 90
const SOURCES = [
  'storefront',
  'storefront',
  'storefront',
  'storefront',
  'storefront',
  'storefront',
  'marketplace_a',
  'wholesale',
  'admin',
  'counter',
] as const
/** Units that a delivery brings when an order finds too few. */
const DELIVERY_UNITS = 100

const insertCustomer = inserter(customers)
const insertAddress = inserter(customerAddresses)
const insertShipment = inserter(shipments)

/** What orders choose from. */
export interface Pool {
  variantIds: string[]
  customers: { email: string; name: string | null; phone: string | null }[]
  methods: (typeof shippingMethods.$inferSelect)[]
  coupons: { id: string }[]
}

/** Adds a customer with one or two addresses; `number` tells namesakes apart. */
export async function seedCustomer(tx: Db, { choose, nowMs }: Seeding, number: number) {
  const { clock, now } = actingAt(nowMs - choose.whole(PERIOD_DAYS, 365) * DAY_MS - choose.whole(0, DAY_MS))
  const [first, last] = [choose.one(FIRST_NAMES), choose.one(LAST_NAMES)]
  const id = clock.id()
  const phone = choose.chance(0.5) ? `+1 503 555 ${String(number % 10_000).padStart(4, '0')}` : null
  await insertCustomer(tx, {
    id,
    email: `${slugOf(first)}.${slugOf(last)}.${number}@example.com`,
    name: `${first} ${last}`,
    phone,
    createdAt: now,
    updatedAt: now,
  })
  for (const { street, ...place } of choose.some(PLACES, choose.chance(0.2) ? 2 : 1)) {
    await insertAddress(tx, {
      id: clock.id(),
      customerId: id,
      name: `${first} ${last}`,
      company: null,
      line1: `${street} ${choose.whole(1, 180)}`,
      line2: null,
      phone,
      ...place,
      createdAt: now,
    })
  }
}

/** The customers that orders choose from, in an order that does not depend on ids. */
export const customerPool = (db: Reader, limit = 20_000) =>
  db
    .select({ email: customers.email, name: customers.name, phone: customers.phone })
    .from(customers)
    .orderBy(asc(customers.email))
    .limit(limit)

/** The methods and coupons that orders choose from. */
export const offerPool = async (db: Reader) => ({
  methods: await db.select().from(shippingMethods).orderBy(asc(shippingMethods.position), asc(shippingMethods.name)),
  coupons: await db.select({ id: coupons.id }).from(coupons).orderBy(asc(coupons.code)),
})

/** Quotes what was chosen; where the shelf has too few, a delivery comes first. */
async function quoted(tx: Db, { settings }: Seeding, atMs: number, cart: Parameters<typeof quote>[1]) {
  const { clock, now, keyId } = actingAt(atMs)
  const first = await quote(tx, cart, settings, now)
  const short = first.warnings.filter((warning) => warning.code === 'out_of_stock')
  if (!short.length) return first
  for (const { variantId } of short)
    await putBack(tx, variantId!, DELIVERY_UNITS, { id: clock.id(), reason: 'delivery', orderId: null, keyId, createdAt: now })
  return quote(tx, cart, settings, now)
}

/** Places an order at a moment, and lets happen what has happened to an order of that age. */
export async function seedOrder(tx: Db, seeding: Seeding, pool: Pool, atMs: number) {
  const { choose, settings, nowMs } = seeding
  const customer = choose.one(pool.customers)
  const method = choose.one(pool.methods)
  const { street, ...place_ } = choose.one(PLACES)
  const shippingAddress: Address | null =
    method.type === 'in_store'
      ? null
      : { name: customer.name, company: null, line1: `${street} ${choose.whole(1, 180)}`, line2: null, phone: customer.phone, ...place_ }
  const items = choose
    .some(pool.variantIds, choose.chance(0.5) ? 1 : choose.whole(2, 4))
    .map((variantId) => ({ id: Bun.randomUUIDv7(), variantId, bundleId: null, quantity: choose.chance(0.75) ? 1 : choose.whole(2, 3) }))
  const cart = {
    currency: settings.currency,
    items,
    couponIds: pool.coupons.length && choose.chance(0.15) ? [choose.one(pool.coupons).id] : [],
    shippingMethodId: method.id,
    shippingAddress,
  }
  const isPaid = choose.chance(0.93)
  const about = actingAt(atMs)
  const { order } = await place(tx, about, {
    id: about.clock.id(),
    quote: await quoted(tx, seeding, atMs, cart),
    settings,
    source: choose.one(SOURCES),
    currency: settings.currency,
    email: customer.email,
    name: customer.name,
    phone: customer.phone,
    shippingAddress,
    billingAddress: null,
    pickupPoint: null,
    pickupLocationId: null,
    note: choose.chance(0.05) ? 'Please leave it with the neighbours.' : null,
    cartId: null,
    sealing: null,
    payment: { method: isPaid ? 'test' : 'manual', paid: isPaid, reference: null, providerId: null },
  })
  const ageDays = (nowMs - atMs) / DAY_MS
  if (isPaid) await follow(tx, seeding, order, { atMs, ageDays, isShipped: method.type !== 'in_store' })
  else if (ageDays > 3) await cancel(tx, actingAt(atMs + 3 * DAY_MS), order, 'not paid within three days')
}

/** A paid order's way: packed within a day, sent, delivered, and in some cases sent back. */
async function follow(
  tx: Db,
  { choose, nowMs }: Seeding,
  order: OrderRow,
  { atMs, ageDays, isShipped }: { atMs: number; ageDays: number; isShipped: boolean },
) {
  const after = (ms: number) => actingAt(Math.min(nowMs, atMs + ms))
  if (ageDays < 0.5) return
  if (choose.chance(0.02)) {
    await cancel(tx, after(4 * HOUR_MS), order, 'ordered twice')
    // Nothing had left the shelf: the cancellation has freed what the order held.
    return void (await refund(tx, after(4 * HOUR_MS), order, { amountCents: order.paidCents, reason: 'cancelled', restock: false }))
  }
  if (ageDays < 1.5) return move(tx, after(6 * HOUR_MS), order, 'processing')
  if (!isShipped) return move(tx, after(DAY_MS), order, 'completed')
  await ship(tx, after(DAY_MS), order)
  if (ageDays < 5) return
  await move(tx, after(4 * DAY_MS), order, 'delivered')
  if (ageDays < 14) return
  if (choose.chance(0.04)) return void (await refund(tx, after(9 * DAY_MS), order, { amountCents: order.paidCents, reason: 'sent back' }))
  if (choose.chance(0.04)) {
    const [line] = await readLines(tx, order.id)
    if (line!.totalCents > 0)
      await refund(tx, after(9 * DAY_MS), order, {
        lines: [{ lineId: line!.id, quantity: 1 }],
        reason: 'damaged on the way',
        restock: false,
      })
  }
  // Of an order of one unit that was everything.
  if (order.status !== 'refunded') await move(tx, after(13 * DAY_MS), order, 'completed')
}

async function ship(tx: Db, about: ReturnType<typeof actingAt>, order: OrderRow) {
  const lines = (await readLines(tx, order.id)).filter((line) => line.openQuantity > 0)
  const sent = lines.map((line) => ({ lineId: line.id, quantity: line.openQuantity }))
  for (const line of lines) await shipUnits(tx, about, order, line, line.openQuantity)
  await noteShipment(tx, about, order, lines)
  await insertShipment(tx, {
    id: about.clock.id(),
    orderId: order.id,
    lines: sent,
    carrier: 'Post',
    trackingNumber: `ST${String(order.lookup).padStart(9, '0')}`,
    trackingUrl: null,
    createdAt: about.now,
  })
}
