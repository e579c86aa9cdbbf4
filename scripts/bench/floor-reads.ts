/** The floor's reads: prepared statements, rows to JSON, nothing else. */
import type { Database } from 'bun:sqlite'

type Row = Record<string, any>

const MINOR_PER_MAJOR = 100

/** What the answers depend on beside the rows; read once, as a server that caches its settings does. */
interface Shop {
  currency: string
  enabledCurrencies: string[]
}

/** The store's settings. */
export function readShop(db: Database): Shop {
  const row = db.query('select currency, enabled_currencies from settings').get() as Row
  return { currency: row.currency, enabledCurrencies: JSON.parse(row.enabled_currencies) }
}

const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))

function majors(prices: Record<string, number>, shop: Shop) {
  const result: Record<string, number> = {}
  for (const code in prices)
    if (code !== shop.currency && shop.enabledCurrencies.includes(code)) result[code] = prices[code]! / MINOR_PER_MAJOR
  return result
}

function variantOf(row: Row, prices: Record<string, number>, shop: Shop) {
  return {
    id: row.id,
    productId: row.product_id,
    name: row.name,
    sku: row.sku,
    barcode: row.barcode,
    price: row.price / MINOR_PER_MAJOR,
    compareAtPrice: row.compare_at_price === null ? null : row.compare_at_price / MINOR_PER_MAJOR,
    prices: majors(prices, shop),
    options: JSON.parse(row.options),
    stock: {
      tracked: row.tracked === 1,
      quantity: row.quantity,
      reserved: row.reserved,
      available: row.quantity - row.reserved,
      backorder: row.backorder === 1,
    },
    weightGrams: row.weight_grams,
    dimensionsMm: parsed(row.dimensions_mm),
    shippable: row.shippable === 1,
    bookable: row.bookable === 1,
    taxRateId: row.tax_rate_id,
    position: row.position,
    active: row.active === 1,
  }
}

function productOf(row: Row, variants: Row[], shop: Shop) {
  let price: number | null = null
  const lowest: Record<string, number> = {}
  const views = []
  for (const variant of variants) {
    if (!variant.active) continue
    const prices = JSON.parse(variant.prices)
    if (price === null || variant.price < price) price = variant.price
    for (const code in prices) if (!(code in lowest) || prices[code] < lowest[code]!) lowest[code] = prices[code]
    views.push(variantOf(variant, prices, shop))
  }
  const seo = JSON.parse(row.seo)
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    summary: row.summary,
    badgeContent: row.badge_content,
    status: row.status,
    images: JSON.parse(row.images),
    price: price === null ? null : price / MINOR_PER_MAJOR,
    prices: majors(lowest, shop),
    brandId: row.brand_id,
    categoryId: row.category_id,
    collectionIds: JSON.parse(row.collection_ids),
    tags: JSON.parse(row.tags),
    seo: { title: seo.title ?? null, description: seo.description ?? null, canonical: seo.canonical ?? null },
    event: null,
    variants: views,
    rating: { average: row.rating_count ? Math.round((row.rating_sum / row.rating_count) * 100) / 100 : null, count: row.rating_count },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function lineOf(row: Row) {
  return {
    id: row.id,
    variantId: row.variant_id,
    productId: row.product_id,
    bundleId: row.bundle_id,
    name: row.name,
    sku: row.sku,
    quantity: row.quantity,
    unitPriceCents: row.unit_price_cents,
    discountCents: row.discount_cents,
    taxCents: row.tax_cents,
    totalCents: row.total_cents,
    shippedQuantity: row.shipped_quantity,
    refundedQuantity: row.refunded_quantity,
    bookingSlotId: row.booking_slot_id,
  }
}

function orderOf(row: Row, lines: Row[]) {
  return {
    id: row.id,
    orderNumber: String(row.lookup),
    lookup: row.lookup,
    source: row.source,
    status: row.status,
    paymentStatus: row.payment_status,
    customer: { id: row.customer_id, email: row.email, name: row.name },
    lines: lines.map(lineOf),
    currency: row.currency,
    subtotalCents: row.subtotal_cents,
    discountCents: row.discount_cents,
    shippingCents: row.shipping_cents,
    taxCents: row.tax_cents,
    totalCents: row.total_cents,
    paidCents: row.paid_cents,
    refundedCents: row.refunded_cents,
    shippingAddress: parsed(row.shipping_address),
    billingAddress: parsed(row.billing_address),
    shipping:
      row.shipping_method_id === null && row.pickup_point === null && row.shipping_name === null
        ? null
        : {
            methodId: row.shipping_method_id,
            name: row.shipping_name,
            priceCents: row.shipping_cents,
            pickupPoint: parsed(row.pickup_point),
          },
    pickupLocationId: row.pickup_location_id,
    coupons: JSON.parse(row.coupons),
    promotions: parsed(row.promotions ?? null) ?? [],
    loyalty: { pointsEarned: row.points_earned, pointsRedeemed: row.points_redeemed },
    packedAt: row.packed_at,
    paidAt: row.paid_at,
    note: row.note,
    lang: row.locale,
    cancelReason: row.cancel_reason,
    paymentIssue: parsed(row.payment_issue ?? null),
    mailIssues: parsed(row.mail_issues ?? null) ?? [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    accessCode: row.access_code,
    workstationId: row.workstation_id,
  }
}

const PRODUCT = `id, name, slug, summary, badge_content, status, images, brand_id, category_id, tags, seo, rating_sum, rating_count, created_at, updated_at,
  (select json_group_array(collection_id) from collection_products where product_id = products.id) as collection_ids`
const SEEN = "is_event = 0 and status = 'published'"

/** The reads over one database. */
export function reads(db: Database, shop: Shop) {
  const count = db.prepare(`select count(*) as count from products where ${SEEN}`)
  const page = db.prepare(`select ${PRODUCT} from products where ${SEEN} order by id desc limit ? offset ?`)
  const product = db.prepare(`select ${PRODUCT}, content from products where id = ?`)
  const changedAt = db.prepare('select updated_at from products where id = ?')
  const variantsOfMany = db.prepare(
    'select * from variants where product_id in (select value from json_each(?)) order by product_id, position, id',
  )
  const variantsOfOne = db.prepare('select * from variants where product_id = ? order by position, id')
  const order = db.prepare('select * from orders where id = ?')
  const lines = db.prepare('select * from order_lines where order_id = ? order by position')
  return {
    list(limit: number, offset: number) {
      const total = (count.get() as Row).count
      const rows = page.all(limit, offset) as Row[]
      const byProduct = new Map<string, Row[]>(rows.map((row) => [row.id, []]))
      for (const variant of variantsOfMany.all(JSON.stringify(rows.map((row) => row.id))) as Row[])
        byProduct.get(variant.product_id)!.push(variant)
      return { data: rows.map((row) => productOf(row, byProduct.get(row.id)!, shop)), meta: { count: total, offset, limit } }
    },
    product(id: string) {
      const row = product.get(id) as Row | null
      return row && { ...productOf(row, variantsOfOne.all(id) as Row[], shop), content: parsed(row.content) }
    },
    changedAt: (id: string) => (changedAt.get(id) as Row | null)?.updated_at as string | undefined,
    order(id: string) {
      const row = order.get(id) as Row | null
      return row && orderOf(row, lines.all(id) as Row[])
    },
    orderOf,
  }
}
