/** `stoa seed`: fills a store with plausible data, by the functions that the API works with, so that it obeys the same rules. */
import { indexProducts } from '../api/catalog/search/index-products.ts'
import { settings as settingsTable } from '../db/store/store.ts'
import { customers } from '../db/store/orders.ts'
import { products } from '../db/store/catalog.ts'
import type { Handle } from '../db/open.ts'
import { seedGroups, seedProduct, sellable } from './seed/catalog.ts'
import { choosing } from './seed/choose.ts'
import { seedCoupons, seedShippingMethods } from './seed/offers.ts'
import { customerPool, offerPool, PERIOD_DAYS, seedCustomer, seedOrder, type Pool } from './seed/orders.ts'
import { DAY_MS, foundingWeeks, makeRoom, quietly, type Seeding } from './seed/seeding.ts'
import type { Db } from '../db/driver.ts'

/** How much to add. */
export interface Amounts {
  products: number
  customers: number
  orders: number
}
export const AMOUNTS: Amounts = { products: 50, customers: 20, orders: 30 }

/** Rows of one kind in one transaction: other writers wait no longer than that takes. */
const AT_ONCE = 500

/**
 * Adds data to a store; the same amounts in an empty store give the same data. Throws, before anything is written, when orders
 * would have nothing or nobody to choose from.
 */
export async function seedStore(store: Handle, amounts: Amounts, nowMs = Date.now()): Promise<Amounts> {
  const [settings] = await store.read.select().from(settingsTable)
  const before = { products: await store.read.$count(products), customers: await store.read.$count(customers) }
  const isSelling = (await sellable(store.read, 1)).length > 0
  if (amounts.orders && !((amounts.products || isSelling) && (amounts.customers || before.customers)))
    throw new Error('orders need products and customers: seed some of them too')
  await makeRoom(store)
  const seeding: Seeding = { choose: choosing(1 + before.products + 7 * before.customers), settings: settings!, nowMs }
  const inBatches = async <T>(count: number, one: (tx: Db, i: number) => Promise<T>, all?: (tx: Db, made: T[]) => Promise<void>) => {
    for (let from = 0; from < count; from += AT_ONCE) {
      await store.write((tx) =>
        quietly(tx, async () => {
          const made: T[] = []
          for (let i = from; i < Math.min(count, from + AT_ONCE); i++) made.push(await one(tx, i))
          await all?.(tx, made)
        }),
      )
    }
  }
  const groups = await store.write((tx) =>
    quietly(tx, async () => {
      await seedShippingMethods(tx, seeding)
      await seedCoupons(tx, seeding)
      return seedGroups(tx, seeding)
    }),
  )
  const { fromMs, toMs } = await foundingWeeks(store.read, nowMs)
  await inBatches(
    amounts.products,
    (tx, i) =>
      seedProduct(tx, seeding, groups, { atMs: fromMs + ((toMs - fromMs) * i) / amounts.products, isPublished: !isSelling && i === 0 }),
    indexProducts,
  )
  await inBatches(amounts.customers, (tx, i) => seedCustomer(tx, seeding, before.customers + i + 1))
  if (amounts.orders) {
    const pool: Pool = {
      variantIds: await sellable(store.read),
      customers: await customerPool(store.read),
      ...(await offerPool(store.read)),
    }
    const stepMs = (PERIOD_DAYS * DAY_MS) / amounts.orders
    await inBatches(amounts.orders, (tx, i) =>
      seedOrder(tx, seeding, pool, Math.floor(nowMs - (amounts.orders - i - seeding.choose.whole(0, 99) / 100) * stepMs)),
    )
  }
  return amounts
}
