/** The seed's ways to ship and coupons. What is there already is used, not made again. */
import { fold } from '../../api/values/slug.ts'
import type { Db } from '../../db/driver.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { coupons } from '../../db/store/marketing.ts'
import { actingAt, amount, DAY_MS, FOUNDED_DAYS_AGO, type Seeding } from './seeding.ts'

/** Ways to ship, unless the store has some. */
/** In hundredths: what is more is sent for nothing, by the first method. */
const FREE_FROM = 9_900

export async function seedShippingMethods(tx: Db, { settings: { currency, enabledCurrencies }, nowMs }: Seeding) {
  if (await tx.$count(shippingMethods)) return
  const { clock, now } = actingAt(nowMs - FOUNDED_DAYS_AGO * DAY_MS)
  const method = (
    name: string,
    type: 'courier' | 'pickup_point' | 'in_store',
    price: number,
    position: number,
    days: [number, number],
  ) => ({
    id: clock.id(),
    name,
    type,
    price: amount(price, currency),
    position,
    minShippingTime: days[0],
    maxShippingTime: days[1],
    description: null,
    freeShippingThreshold: type === 'courier' && position === 0 ? amount(FREE_FROM, currency) : null,
    countries: [],
    taxRateId: null,
    currencyPrices: Object.fromEntries(
      enabledCurrencies
        .filter((code) => code !== currency)
        .map((code) => [
          code,
          { price: amount(price, code), freeShippingThreshold: type === 'courier' && position === 0 ? amount(FREE_FROM, code) : null },
        ]),
    ),
    folded: fold(`${name}\n`),
    createdAt: now,
    updatedAt: now,
  })
  await tx
    .insert(shippingMethods)
    .values([
      method('Standard', 'courier', 490, 0, [2, 4]),
      method('Express', 'courier', 1_290, 1, [1, 1]),
      method('Pickup point', 'pickup_point', 290, 2, [2, 5]),
      method('Collect in store', 'in_store', 0, 3, [0, 0]),
    ])
}

/** Three coupons, each unless its code is taken: a running one, one for a fixed amount, one that has ended. */
export async function seedCoupons(tx: Db, { settings: { currency }, nowMs }: Seeding) {
  const { clock, now } = actingAt(nowMs - FOUNDED_DAYS_AGO * DAY_MS)
  const coupon = (code: string, worth: { percentage: number } | { amount: number }, more: object = {}) => ({
    id: clock.id(),
    code,
    folded: fold(code),
    type: 'percentage' in worth ? ('percentage' as const) : ('fixed' as const),
    percentage: null,
    amount: null,
    ...worth,
    timesRedeemed: 0,
    maxUses: null,
    startDate: null,
    endDate: null,
    minProductCount: null,
    maxProductCount: null,
    productIds: [],
    collectionIds: [],
    categoryIds: [],
    brandIds: [],
    currencyAmounts: {},
    createdAt: now,
    updatedAt: now,
    ...more,
  })
  await tx
    .insert(coupons)
    .values([
      coupon('WELCOME10', { percentage: 10 }),
      coupon('FIVEOFF', { amount: amount(500, currency) }, { minProductCount: 2 }),
      coupon('SUMMER25', { percentage: 25 }, { endDate: new Date(nowMs - 45 * DAY_MS).toISOString() }),
    ])
    .onConflictDoNothing()
}
