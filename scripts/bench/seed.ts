/** The bench's data: one store with products, orders, and carts that are ready to be bought, written in a few seconds. */
import { eq } from 'drizzle-orm'
import { openRegistry } from '../../db/control/open.ts'
import { inserter, type Db } from '../../db/driver.ts'
import { databaseName, openDatabase, type Location } from '../../db/open.ts'
import { carts } from '../../db/store/checkout.ts'
import { settings } from '../../db/store/store.ts'
import { newStore, type FirstKeys } from '../new-store.ts'
import { choices, type Choose } from './random.ts'
import { makeRoom } from '../seed/seeding.ts'
import { seedCatalog, seedProducts, type Catalog } from './seed-catalog.ts'
import { seedCustomers } from './seed-customers.ts'
import { seedOrders, settleOrders } from './seed-orders.ts'

const SEED = 20_26
const CURRENCY = 'usd'
const SECOND_CURRENCY = 'eur'
const CART_TTL_MS = 30 * 24 * 60 * 60 * 1000
/** What is stored in one transaction. */
const PRODUCTS_AT_ONCE = 500
const ORDERS_AT_ONCE = 5_000
const CARTS_AT_ONCE = 20_000

/** What the load generator needs to know of the data. */
export interface Seeded {
  storeId: string
  /** The name of the store's database. */
  database: string
  keys: FirstKeys
  /** A storefront key of another store, in which there is nothing. */
  otherKey: string
  productIds: string[]
  orderIds: string[]
  variantIds: string[]
  methodId: string
  couponCode: string
  cartIds: string[]
}

interface Amounts {
  products: number
  orders: number
  carts: number
}

const insertCart = inserter(carts)

/** Carts with one item and the coupon, as a buyer leaves them before checkout. */
async function seedCarts(tx: Db, choose: Choose, catalog: Catalog, about: { count: number; nowMs: number }): Promise<string[]> {
  const now = new Date(about.nowMs).toISOString()
  const ids: string[] = []
  for (let i = 0; i < about.count; i++) {
    const id = Bun.randomUUIDv7()
    await insertCart(tx, {
      id,
      currency: CURRENCY,
      email: null,
      items: [{ id: Bun.randomUUIDv7(), variantId: choose.one(catalog.variants).id, bundleId: null, quantity: 1 }],
      couponIds: [catalog.coupon.id],
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

/** Makes a store with this much data at `location`; its databases are closed, and whole in their files, when it resolves. */
export async function seed(location: Location, amounts: Amounts): Promise<Seeded> {
  const { registry, close } = await openRegistry(location)
  const { id, keys } = await newStore(registry, {
    name: 'Bench store',
    plan: 'growth',
    currency: CURRENCY,
    locale: 'en-US',
    aiBuilt: false,
  })
  const other = await newStore(registry, { name: 'Other store', plan: 'growth', currency: CURRENCY, locale: 'en-US', aiBuilt: false })
  const database = databaseName(id, 'live')
  const handle = await openDatabase(location, database, 'store')
  const choose = choices(SEED)
  const nowMs = Date.now()
  const now = new Date(nowMs).toISOString()
  await makeRoom(handle)
  const catalog = await handle.write(async (tx) => {
    await tx
      .update(settings)
      .set({ enabledCurrencies: [CURRENCY, SECOND_CURRENCY] })
      .where(eq(settings.id, 1))
    return seedCatalog(tx, now)
  })
  await inParts(amounts.products, PRODUCTS_AT_ONCE, (from, to) =>
    handle.write((tx) => seedProducts(tx, choose, catalog, { count: to - from, now, currency: CURRENCY })),
  )
  const customerIds = await handle.write((tx) => seedCustomers(tx, now))
  const orderIds: string[] = []
  let redeemed = 0
  await inParts(amounts.orders, ORDERS_AT_ONCE, async (from, to) => {
    const about = { count: amounts.orders, nowMs, currency: CURRENCY, customerIds, from, to }
    const part = await handle.write((tx) => seedOrders(tx, choose, catalog, about))
    orderIds.push(...part.ids)
    redeemed += part.redeemed
  })
  if (amounts.orders) await handle.write((tx) => settleOrders(tx, catalog, { orders: amounts.orders, redeemed }))
  const cartIds: string[] = []
  while (cartIds.length < amounts.carts) {
    const count = Math.min(CARTS_AT_ONCE, amounts.carts - cartIds.length)
    cartIds.push(...(await handle.write((tx) => seedCarts(tx, choose, catalog, { count, nowMs }))))
  }
  await handle.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  handle.close()
  close()
  return {
    storeId: id,
    database,
    keys,
    otherKey: other.keys.storefront,
    productIds: catalog.productIds,
    orderIds,
    variantIds: catalog.variants.map((variant) => variant.id),
    methodId: catalog.method.id,
    couponCode: catalog.coupon.code,
    cartIds,
  }
}
