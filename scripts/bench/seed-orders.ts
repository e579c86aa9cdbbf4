/** The bench's orders: customers, orders of the last months with lines, payments and shipments, and the stock that they hold or took. */
import { eq } from 'drizzle-orm'
import { price } from '../../api/pricing/price.ts'
import { compile, inserter, named, type Db } from '../../db/driver.ts'
import { inventoryMovements, variants } from '../../db/store/catalog.ts'
import { couponRedemptions, coupons } from '../../db/store/marketing.ts'
import { orderLines, orders, shipments } from '../../db/store/orders.ts'
import { payments } from '../../db/store/payments.ts'
import { counters } from '../../db/store/store.ts'
import type { Choose } from './random.ts'
import { ADDRESS, customerEmail, CUSTOMERS } from './seed-customers.ts'
import type { Catalog, SeededVariant } from './seed-catalog.ts'

const LINES_MAX = 3
const UNITS_MAX = 4
const COUPON_SHARE = 0.2
/** The number before a store's first order. */
const NUMBER_BASE = 1_000
/** What became of orders, about as often as in a store that works. */
const STATUSES = ['pending', 'paid', 'processing', 'shipped', 'completed', 'completed', 'completed', 'completed'] as const
const OPEN: ReadonlySet<string> = new Set(['pending', 'paid', 'processing'])
const MINUTE_MS = 60_000

const insertOrder = inserter(orders)
const insertLine = inserter(orderLines)
const insertPayment = inserter(payments)
const insertShipment = inserter(shipments)
const insertMovement = inserter(inventoryMovements)
const insertRedemption = inserter(couponRedemptions)

interface About {
  count: number
  nowMs: number
  currency: string
}

/** What one order is made of, before it is stored. */
interface Draft {
  id: string
  lookup: number
  status: (typeof STATUSES)[number]
  at: string
  customer: { id: string; n: number }
  wanted: { variant: SeededVariant; quantity: number }[]
  hasCoupon: boolean
}

const priced = (draft: Draft, catalog: Catalog) =>
  price({
    lines: draft.wanted.map(({ variant, quantity }) => ({
      itemId: variant.id,
      productId: variant.productId,
      collectionIds: [],
      categoryIds: [],
      brandId: null,
      quantity,
      unitPrice: variant.price,
      taxRate: catalog.taxRate,
      bundle: null,
    })),
    promotions: [],
    shippable: true,
    loyalty: null,
    taxesIncluded: true,
    now: draft.at,
    shipping: { price: catalog.method.price, freeShippingThreshold: null, taxRate: catalog.taxRate },
    coupons: draft.hasCoupon
      ? [
          {
            ...catalog.coupon,
            type: 'percentage',
            amount: null,
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
          },
        ]
      : [],
  })

async function seedOrder(tx: Db, draft: Draft, catalog: Catalog, { currency }: About) {
  const { id, lookup, status, at, customer, wanted } = draft
  const { lines, coupons: used, ...sum } = priced(draft, catalog)
  const paid = status !== 'pending'
  const open = OPEN.has(status)
  await insertOrder(tx, {
    id,
    lookup,
    source: 'storefront',
    status,
    paymentStatus: paid ? 'paid' : 'unpaid',
    customerId: customer.id,
    email: customerEmail(customer.n),
    name: `Customer ${customer.n}`,
    foldedName: `customer ${customer.n}`,
    phone: null,
    currency,
    taxesIncluded: true,
    subtotalCents: sum.subtotal,
    discountCents: sum.discount,
    shippingCents: sum.shipping,
    taxCents: sum.tax,
    totalCents: sum.total,
    paidCents: paid ? sum.total : 0,
    refundedCents: 0,
    shippingAddress: ADDRESS,
    billingAddress: ADDRESS,
    shippingMethodId: catalog.method.id,
    shippingName: catalog.method.name,
    shippingTaxCents: sum.shippingTax,
    pickupPoint: null,
    pickupLocationId: null,
    coupons: used.map(({ code, discount }) => ({ code, discountCents: discount })),
    pointsEarned: 0,
    pointsRedeemed: 0,
    pointsTakenBack: 0,
    earnedParts: null,
    promotions: [],
    accessCode: Bun.randomUUIDv7().replaceAll('-', ''),
    workstationId: null,
    packedAt: null,
    paidAt: paid ? at : null,
    note: null,
    cancelReason: null,
    cartId: null,
    createdAt: at,
    updatedAt: at,
  })
  if (draft.hasCoupon) await insertRedemption(tx, { couponId: catalog.coupon.id, orderId: id, createdAt: at })
  const shipped: { lineId: string; quantity: number }[] = []
  for (const [position, { variant, quantity }] of wanted.entries()) {
    const lineId = Bun.randomUUIDv7()
    await insertLine(tx, {
      id: lineId,
      orderId: id,
      position,
      variantId: variant.id,
      productId: variant.productId,
      bundleId: null,
      name: variant.name,
      sku: variant.sku,
      quantity,
      unitPriceCents: variant.price,
      discountCents: lines[position]!.discount,
      taxCents: lines[position]!.tax,
      totalCents: lines[position]!.total,
      shippable: true,
      openQuantity: open ? quantity : 0,
      held: true,
      shippedQuantity: open ? 0 : quantity,
      refundedQuantity: 0,
      bookingSlotId: null,
    })
    if (open) variant.reserved += quantity
    else {
      variant.quantity -= quantity
      shipped.push({ lineId, quantity })
      await insertMovement(tx, {
        id: Bun.randomUUIDv7(),
        variantId: variant.id,
        delta: -quantity,
        reason: `order ${lookup}`,
        orderId: id,
        keyId: null,
        createdAt: at,
      })
    }
  }
  if (shipped.length)
    await insertShipment(tx, {
      id: Bun.randomUUIDv7(),
      orderId: id,
      lines: shipped,
      carrier: 'Courier',
      trackingNumber: `T${lookup}`,
      trackingUrl: null,
      createdAt: at,
    })
  await insertPayment(tx, {
    id: Bun.randomUUIDv7(),
    orderId: id,
    method: 'manual',
    status: paid ? 'succeeded' : 'pending',
    amountCents: sum.total,
    currency,
    reference: null,
    providerId: null,
    createdAt: at,
    updatedAt: at,
  })
}

/** Records orders, one a minute until now: those from one number to another of all. Returns their ids, and how many used the coupon. */
export async function seedOrders(
  tx: Db,
  choose: Choose,
  catalog: Catalog,
  about: About & { from: number; to: number; customerIds: string[] },
): Promise<{ ids: string[]; redeemed: number }> {
  const { count, nowMs, customerIds } = about
  const ids: string[] = []
  let redeemed = 0
  for (let i = about.from; i < about.to; i++) {
    const atMs = nowMs - (count - i) * MINUTE_MS
    const n = choose.whole(0, CUSTOMERS - 1)
    const wanted = new Map<string, Draft['wanted'][number]>()
    for (let line = choose.whole(1, LINES_MAX); line > 0; line--) {
      const variant = choose.one(catalog.variants)
      wanted.set(variant.id, { variant, quantity: choose.whole(1, UNITS_MAX) })
    }
    const draft: Draft = {
      id: Bun.randomUUIDv7('hex', atMs),
      lookup: NUMBER_BASE + 1 + i,
      status: choose.one(STATUSES),
      at: new Date(atMs).toISOString(),
      customer: { id: customerIds[n]!, n },
      wanted: [...wanted.values()],
      hasCoupon: choose.chance(COUPON_SHARE),
    }
    await seedOrder(tx, draft, catalog, about)
    if (draft.hasCoupon) redeemed++
    ids.push(draft.id)
  }
  return { ids, redeemed }
}

const setStock = compile((db) =>
  db
    .update(variants)
    .set({ quantity: named('quantity'), reserved: named('reserved') } as never)
    .where(eq(variants.id, named('id'))),
)

/** Leaves the stock, the coupon and the next number as all orders left them. */
export async function settleOrders(tx: Db, catalog: Catalog, { orders: count, redeemed }: { orders: number; redeemed: number }) {
  for (const { id, quantity, reserved } of catalog.variants) await setStock.run(tx, { id, quantity, reserved })
  await tx.update(coupons).set({ timesRedeemed: redeemed }).where(eq(coupons.id, catalog.coupon.id))
  await tx.insert(counters).values({ name: 'order', value: NUMBER_BASE + count })
}
