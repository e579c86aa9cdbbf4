/**
 * What the largest cart costs inside a write, which holds up all others: 500 lines under 500 promotions that name 500 products each, half
 * of which are in the cart, read from the database and priced.
 */
import { quote } from '../../api/pricing/quote.ts'
import { inserter, type Db } from '../../db/driver.ts'
import { openDatabase, type Handle } from '../../db/open.ts'
import { promotions } from '../../db/store/marketing.ts'
import { settings as settingsTable } from '../../db/store/store.ts'
import { sql } from 'drizzle-orm'
import { median } from './rounds.ts'
import { seed } from './seed.ts'

const COUNT = 500
const TIERS = 20
const WARM = 3
const ROUNDS = 15
const TYPES = ['percentage', 'fixed', 'volume', 'buy_x_get_y', 'free_shipping'] as const
const NOW = '2026-06-01T12:00:00.000Z'

export interface PriceLarge {
  medianMs: number
  worstMs: number
  /** The first price after a promotion was changed, which reads all of them. */
  changedMs: number
}

const insertPromotion = inserter(promotions)

/** Each kind of promotion in turn; they take so little that the last one still finds something. */
async function makePromotions(tx: Db, productIds: readonly string[]) {
  const others = Array.from({ length: COUNT }, () => Bun.randomUUIDv7())
  const all = productIds.flatMap((id, n) => [id, others[n]!])
  for (let n = 0; n < COUNT; n++) {
    const type = TYPES[n % TYPES.length]!
    await insertPromotion(tx, {
      id: Bun.randomUUIDv7(),
      name: 'Sale',
      type,
      percentage: type === 'percentage' ? 0.1 : null,
      amount: type === 'fixed' ? 1_000 : null,
      currencyAmounts: {},
      buyQuantity: 2,
      getQuantity: 1,
      getDiscountPercentage: 0.5,
      tiers: Array.from({ length: TIERS }, (_, tier) => ({ minQuantity: 1 + tier, percentage: 0.01 * (tier + 1) })),
      productIds: Array.from({ length: COUNT }, (_, product) => all[(n + 2 * product) % all.length]!),
      collectionIds: [],
      categoryIds: [],
      brandIds: [],
      active: true,
      priority: 0,
      stackable: true,
      createdAt: NOW,
      updatedAt: NOW,
    })
  }
}

/** A cart of one variant of each product. */
function cartOf({ cartCurrency, variantIds }: { cartCurrency: string; variantIds: readonly string[] }) {
  const items = variantIds.map((variantId, n) => ({ id: Bun.randomUUIDv7(), variantId, quantity: 1 + (n % 7) }))
  return { currency: cartCurrency, items, couponIds: [], shippingMethodId: null, shippingAddress: null }
}

async function priceOnce(store: Handle, cart: ReturnType<typeof cartOf>): Promise<number> {
  Bun.gc(true)
  return store.write(async (tx) => {
    const [settings] = await tx.select().from(settingsTable)
    const start = performance.now()
    const { price, lines } = await quote(tx, cart as never, settings!, NOW)
    const took = performance.now() - start
    if (!price.discount || lines.length !== COUNT) throw new Error('the promotions took nothing off')
    return took
  })
}

async function variantsOf(store: Handle, productIds: readonly string[]): Promise<string[]> {
  const rows = (await store.read.all(sql`select product_id, min(id) from variants group by product_id`)) as [string, string][]
  const first = new Map(rows)
  return productIds.map((id) => first.get(id)!)
}

/** Prices the cart some times in a store of its own. */
export async function measurePrice(folder: string): Promise<PriceLarge> {
  const location = { url: `file:${folder}/{name}.db` }
  // Some of them are drafts.
  const { database, productIds } = await seed(location, { products: COUNT * 2, orders: 0, carts: 0 })
  const sold = productIds.slice(0, COUNT)
  const store = await openDatabase(location, database, 'store')
  try {
    await store.write((tx) => makePromotions(tx, sold))
    const [{ currency }] = (await store.read.select({ currency: settingsTable.currency }).from(settingsTable)) as [{ currency: string }]
    const cart = cartOf({ cartCurrency: currency, variantIds: await variantsOf(store, sold) })
    const times: number[] = []
    const changed: number[] = []
    for (let round = 0; round < WARM + ROUNDS; round++) {
      await store.write((tx) => tx.run(sql`update promotions set name = 'Sale' where id = (select min(id) from promotions)`))
      const first = await priceOnce(store, cart)
      const again = await priceOnce(store, cart)
      if (round < WARM) continue
      changed.push(first)
      times.push(again)
    }
    return { medianMs: median(times), worstMs: Math.max(...times), changedMs: median(changed) }
  } finally {
    store.close()
  }
}
