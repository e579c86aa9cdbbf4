/** The bench's data: the shop that `stoa seed` makes, with more on its shelves, and carts that are ready to be bought. */
import { asc, eq, sql } from 'drizzle-orm'
import { openRegistry } from '../../db/control/open.ts'
import { inserter, type Db, type Reader } from '../../db/driver.ts'
import { databaseName, openDatabase, type Location } from '../../db/open.ts'
import { products } from '../../db/store/catalog.ts'
import { carts, shippingMethods } from '../../db/store/checkout.ts'
import { seedEvent } from './event.ts'
import { coupons } from '../../db/store/marketing.ts'
import { customers, orders } from '../../db/store/orders.ts'
import { settings } from '../../db/store/store.ts'
import { newStore, type FirstKeys } from '../new-store.ts'
import { seedStore } from '../seed.ts'
import { sellable } from '../seed/catalog.ts'
import { choosing } from '../seed/choose.ts'

const SEED = 20_26
const CURRENCY = 'usd'
const SECOND_CURRENCY = 'eur'
const CUSTOMERS_MOST = 3_000
/** Added to the stock of each variant: more than any run sells. */
const MORE_UNITS = 100_000
const COUPON = 'WELCOME10'
const CART_TTL_MS = 30 * 24 * 60 * 60 * 1000
/** What is stored in one transaction. */
const CARTS_AT_ONCE = 20_000

/** What the load generator needs to know of the data. */
export interface Seeded {
  storeId: string
  /** The name of the store's database. */
  database: string
  keys: FirstKeys
  /** A storefront key of another store, in which there is nothing. */
  otherKey: string
  /** Published ones. */
  productIds: string[]
  orderIds: string[]
  /** What can be bought. */
  variantIds: string[]
  customerEmails: string[]
  methodId: string
  cartIds: string[]
  /** Carts with a ticket of an event, and seats of it whose guests have not come. */
  ticketCartIds: string[]
  tokens: string[]
}

interface Amounts {
  products: number
  orders: number
  carts: number
  ticketCarts?: number
  seats?: number
}

const insertCart = inserter(carts)

/** Carts with one item and the coupon, as a buyer leaves them before checkout. */
async function seedCarts(
  tx: Db,
  variantIds: readonly string[],
  couponIds: string[],
  about: { from: number; to: number; nowMs: number },
): Promise<string[]> {
  const choose = choosing(SEED + about.from)
  const now = new Date(about.nowMs).toISOString()
  const ids: string[] = []
  for (let i = about.from; i < about.to; i++) {
    const id = Bun.randomUUIDv7()
    await insertCart(tx, {
      id,
      currency: CURRENCY,
      email: null,
      items: [{ id: Bun.randomUUIDv7(), variantId: choose.one(variantIds), bundleId: null, quantity: 1 }],
      couponIds,
      loyaltyPoints: 0,
      shippingMethodId: null,
      shippingAddress: null,
      billingAddress: null,
      pickupPoint: null,
      pickupLocationId: null,
      note: null,
      orderId: null,
      expiresAt: new Date(about.nowMs + CART_TTL_MS).toISOString(),
      createdAt: now,
      updatedAt: now,
    })
    ids.push(id)
  }
  return ids
}

/** Does `count` of something in parts, one after the other. */
async function inParts(count: number, most: number, part: (from: number, to: number) => Promise<unknown>) {
  for (let from = 0; from < count; from += most) await part(from, Math.min(count, from + most))
}

/** What a store that sells has and a demo lacks: pictures, ratings, and stock that no run sells out. */
async function furnish(tx: Db) {
  await tx.run(sql`update variants set quantity = quantity + ${MORE_UNITS}`)
  await tx.run(sql`update products set rating_sum = 4 * (rowid % 40), rating_count = rowid % 40,
    images = json_array('https://cdn.shop.example/products/' || slug || '-1.jpg', 'https://cdn.shop.example/products/' || slug || '-2.jpg')`)
}

/** The ids that requests are made of. */
async function idsOf(db: Reader) {
  const ids = async (rows: Promise<{ id: string }[]>) => (await rows).map(({ id }) => id)
  const emails = await db.select({ email: customers.email }).from(customers).orderBy(asc(customers.id))
  return {
    productIds: await ids(db.select({ id: products.id }).from(products).where(eq(products.status, 'published')).orderBy(asc(products.id))),
    orderIds: await ids(db.select({ id: orders.id }).from(orders).orderBy(asc(orders.id))),
    variantIds: await sellable(db),
    customerEmails: emails.map(({ email }) => email),
    methodId: (await ids(db.select({ id: shippingMethods.id }).from(shippingMethods).where(eq(shippingMethods.position, 0))))[0]!,
  }
}

/** Makes a store with this much data at `location`; its databases are closed, and whole in their files, when it resolves. */
export async function seed(location: Location, amounts: Amounts): Promise<Seeded> {
  const { registry, close } = await openRegistry(location)
  const made = { plan: 'growth', currency: CURRENCY, locale: 'en-US', aiBuilt: false } as const
  const { id, keys } = await newStore(registry, { name: 'Bench store', ...made })
  const other = await newStore(registry, { name: 'Other store', ...made })
  const database = databaseName(id, 'live')
  const handle = await openDatabase(location, database, 'store')
  const nowMs = Date.now()
  await handle.write((tx) => tx.update(settings).set({ enabledCurrencies: [CURRENCY, SECOND_CURRENCY] }))
  await seedStore(
    handle,
    { products: amounts.products, customers: Math.min(CUSTOMERS_MOST, 20 + amounts.orders), orders: amounts.orders },
    nowMs,
  )
  await handle.write(furnish)
  const ids = await idsOf(handle.read)
  const [coupon] = await handle.read.select({ id: coupons.id }).from(coupons).where(eq(coupons.code, COUPON))
  const cartIds: string[] = []
  await inParts(amounts.carts, CARTS_AT_ONCE, async (from, to) => {
    cartIds.push(...(await handle.write((tx) => seedCarts(tx, ids.variantIds, [coupon!.id], { from, to, nowMs }))))
  })
  const show =
    amounts.seats || amounts.ticketCarts ? await handle.write((tx) => seedEvent(tx, amounts.seats ?? 0, { nowMs, secrets: null })) : null
  const ticketCartIds: string[] = []
  await inParts(amounts.ticketCarts ?? 0, CARTS_AT_ONCE, async (from, to) => {
    ticketCartIds.push(...(await handle.write((tx) => seedCarts(tx, [show!.variantId], [], { from, to, nowMs }))))
  })
  await handle.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  handle.close()
  close()
  return { storeId: id, database, keys, otherKey: other.keys.storefront, ...ids, cartIds, ticketCartIds, tokens: show?.tokens ?? [] }
}
