/** What the price of the largest cart costs: 500 lines under 500 promotions that name 500 products each, half of which are in the cart. */
import type { Promotion } from '../../api/checkout/discounts.ts'
import type { PriceLine } from '../../api/checkout/lines.ts'
import { price, type PriceInput } from '../../api/checkout/price.ts'
import { median } from './rounds.ts'

const COUNT = 500
const TIERS = 20
const WARM = 3
const ROUNDS = 15
const TYPES = ['percentage', 'fixed', 'volume', 'buy_x_get_y', 'free_shipping'] as const

export interface PriceLarge {
  medianMs: number
  worstMs: number
}

const id = (kind: number, n: number) => `01985d2c-7c00-7${String(kind).padStart(3, '0')}-8d1f-${String(n).padStart(12, '0')}`

const lineOf = (_: unknown, n: number): PriceLine => ({
  itemId: id(1, n),
  productId: id(2, n),
  collectionIds: [id(3, n % 50)],
  categoryIds: [id(4, n % 20), id(4, 20)],
  brandId: id(5, n % 30),
  quantity: 1 + (n % 7),
  unitPrice: 1_000 + ((n * 7_919) % 100_000),
  taxRate: 230_000,
  bundle: null,
})

/** Each kind of promotion in turn; they take so little that the last one still finds something. */
const promotionOf = (_: unknown, n: number): Promotion => ({
  id: id(6, n),
  name: 'Sale',
  type: TYPES[n % TYPES.length]!,
  percentage: 0.1,
  amount: 1_000,
  buyQuantity: 2,
  getQuantity: 1,
  getDiscountPercentage: 0.5,
  tiers: Array.from({ length: TIERS }, (__, tier) => ({ minQuantity: 1 + tier, percentage: 0.01 * (tier + 1) })),
  productIds: Array.from({ length: COUNT }, (__, product) => id(2, (n + 2 * product) % (2 * COUNT))),
  collectionIds: [],
  categoryIds: [],
  brandIds: [],
  startsAt: null,
  endsAt: null,
  active: true,
  priority: 0,
  stackable: true,
})

/** Prices the cart some times, each time from data that was just parsed, as it comes from the database. */
export function measurePrice(): PriceLarge {
  const text = JSON.stringify({
    lines: Array.from({ length: COUNT }, lineOf),
    promotions: Array.from({ length: COUNT }, promotionOf),
    coupons: [],
    loyalty: null,
    shipping: null,
    shippable: true,
    taxesIncluded: true,
    now: '2026-06-01T12:00:00.000Z',
  } satisfies PriceInput)
  const times: number[] = []
  for (let round = 0; round < WARM + ROUNDS; round++) {
    const input = JSON.parse(text) as PriceInput
    Bun.gc(true)
    const start = performance.now()
    const { discount } = price(input)
    if (round >= WARM) times.push(performance.now() - start)
    if (!discount) throw new Error('the promotions took nothing off')
  }
  return { medianMs: median(times), worstMs: Math.max(...times) }
}
