/** What a cart is worth, for the floor: variants, a percentage coupon, a shipping method and default taxes, as the seed has them. */
import type { Database } from 'bun:sqlite'

type Row = Record<string, any>
export interface Item {
  id: string
  variantId: string | null
  bundleId: string | null
  quantity: number
}

/** Percent times 10,000 in a whole. */
const WHOLE = 1_000_000

/** One line of a cart; amounts in minor units. */
interface Line {
  item: Item
  row: Row
  name: string
  discount: number
  total: number
  tax: number
}
export interface Priced {
  lines: Line[]
  coupons: { id: string; code: string; discountCents: number }[]
  method: Row | undefined
  subtotal: number
  discount: number
  shipping: number
  shippingTax: number
  tax: number
  total: number
}

/** What a price is asked for. */
interface Asked {
  items: Item[]
  couponIds: string[]
  methodId: string | null
  country: string | null
}
/** The tax of an amount by a rate's id; by the default rate without one. */
type TaxOf = (amount: number, rateId: string | null) => number

/** Taxes in a country, or in any while it is not known. */
function taxation(rates: Row[], country: string | null, isIncluded: boolean): TaxOf {
  const applies = (rate: Row) => {
    const countries = JSON.parse(rate.countries)
    return !countries.length || country === null || countries.includes(country)
  }
  return (amount, rateId) => {
    const rate = rates.find((row) => (rateId === null ? row.default === 1 : row.id === rateId) && applies(row))?.rate ?? 0
    return Math.round((amount * rate) / (isIncluded ? WHOLE + rate : WHOLE))
  }
}

/** A line before anything is taken off it. */
const lineOf = (item: Item, row: Row): Line => ({
  item,
  row,
  name: row.name === row.product_name ? row.name : `${row.product_name} – ${row.name}`,
  discount: 0,
  total: row.price * item.quantity,
  tax: 0,
})

/** Takes a coupon's percentage off each line; returns the coupon with what that came to. */
function takeCoupon({ id, code, percentage }: Row, lines: Line[]): Priced['coupons'][number] {
  let discountCents = 0
  for (const line of lines) {
    const off = Math.round((line.total * percentage) / 100)
    line.total -= off
    line.discount += off
    discountCents += off
  }
  return { id, code, discountCents }
}

/** What shipping costs; nothing before a method is chosen. */
function shippingOf(method: Row | undefined, lines: Line[], subtotal: number): number {
  if (!method) return 0
  const isFree = method.free_shipping_threshold != null && subtotal > method.free_shipping_threshold
  return !isFree && lines.some((line) => line.row.shippable) ? method.price : 0
}

/** Taxes the lines, from which all coupons have been taken, and sums up. */
function summed({ lines, coupons, method }: Pick<Priced, 'lines' | 'coupons' | 'method'>, taxOf: TaxOf, isTaxIncluded: boolean): Priced {
  let subtotal = 0
  let discount = 0
  let tax = 0
  for (const line of lines) {
    line.tax = taxOf(line.total, line.row.tax_rate_id)
    subtotal += line.row.price * line.item.quantity
    discount += line.discount
    tax += line.tax
  }
  const shipping = shippingOf(method, lines, subtotal)
  const shippingTax = method ? taxOf(shipping, method.tax_rate_id) : 0
  tax += shippingTax
  const total = subtotal - discount + shipping + (isTaxIncluded ? 0 : tax)
  return { lines, coupons, method, subtotal, discount, shipping, shippingTax, tax, total }
}

/** Pricing over one database: reads what the price of a cart depends on, and sums up. */
export function pricing(db: Database) {
  const sold =
    db.prepare(`select variants.id, variants.product_id, variants.name, variants.sku, variants.price, variants.prices, variants.tracked, variants.quantity, variants.reserved, variants.backorder,
    variants.shippable, variants.bookable, variants.tax_rate_id, variants.active, products.name as product_name, products.is_event, products.status, products.images, products.category_id, products.brand_id,
    (select json_group_array(collection_id) from collection_products where product_id = products.id) as collection_ids
    from variants join products on products.id = variants.product_id where variants.id in (select value from json_each(?))`)
  const rates = db.prepare('select id, rate, countries, "default" from tax_rates limit 1000')
  const promotions = db.prepare('select * from promotions where active = 1 and (ends_at is null or ends_at > ?) limit 500')
  const coupons = db.prepare('select * from coupons where id in (select value from json_each(?))')
  const methods = db.prepare('select * from shipping_methods where id = ?')

  return ({ items, couponIds, methodId, country }: Asked, isTaxIncluded: boolean, now: string): Priced => {
    const found = new Map((sold.all(JSON.stringify(items.map((item) => item.variantId))) as Row[]).map((row) => [row.id, row]))
    const taxOf = taxation(rates.all() as Row[], country, isTaxIncluded)
    if (promotions.all(now).length) throw new Error('the floor knows no promotions')
    const used = couponIds.length ? (coupons.all(JSON.stringify(couponIds)) as Row[]) : []
    const method = methodId === null ? undefined : (methods.get(methodId) as Row)
    const lines = items.map((item) => lineOf(item, found.get(item.variantId!)!))
    return summed({ lines, coupons: used.map((coupon) => takeCoupon(coupon, lines)), method }, taxOf, isTaxIncluded)
  }
}
