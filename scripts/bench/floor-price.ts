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

/** Pricing over one database: reads what the price of a cart depends on, and sums up. */
export function pricing(db: Database) {
  const sold =
    db.prepare(`select variants.id, variants.product_id, variants.name, variants.sku, variants.price, variants.prices, variants.tracked, variants.quantity, variants.reserved, variants.backorder,
    variants.shippable, variants.bookable, variants.tax_rate_id, variants.active, products.name as product_name, products.status, products.images, products.category_id, products.brand_id,
    (select json_group_array(collection_id) from collection_products where product_id = products.id) as collection_ids
    from variants join products on products.id = variants.product_id where variants.id in (select value from json_each(?))`)
  const rates = db.prepare('select id, rate, countries, "default" from tax_rates limit 1000')
  const promotions = db.prepare('select * from promotions where active = 1 and (ends_at is null or ends_at > ?) limit 500')
  const coupons = db.prepare('select * from coupons where id in (select value from json_each(?))')
  const method = db.prepare('select * from shipping_methods where id = ?')

  const rateFor = (all: Row[], id: string | null, country: string | null) => {
    const applies = (rate: Row) => {
      const countries = JSON.parse(rate.countries)
      return !countries.length || country === null || countries.includes(country)
    }
    return all.find((rate) => (id === null ? rate.default === 1 : rate.id === id) && applies(rate))?.rate ?? 0
  }

  return (
    cart: { items: Item[]; couponIds: string[]; methodId: string | null; country: string | null },
    taxesIncluded: boolean,
    now: string,
  ): Priced => {
    const found = new Map((sold.all(JSON.stringify(cart.items.map((item) => item.variantId))) as Row[]).map((row) => [row.id, row]))
    const allRates = rates.all() as Row[]
    if (promotions.all(now).length) throw new Error('the floor knows no promotions')
    const used = cart.couponIds.length ? (coupons.all(JSON.stringify(cart.couponIds)) as Row[]) : []
    const way = cart.methodId === null ? undefined : (method.get(cart.methodId) as Row)
    const taxOf = (amount: number, rate: number) => Math.round((amount * rate) / (taxesIncluded ? WHOLE + rate : WHOLE))
    const lines = cart.items.map((item): Line => {
      const row = found.get(item.variantId!)!
      return {
        item,
        row,
        name: row.name === row.product_name ? row.name : `${row.product_name} – ${row.name}`,
        discount: 0,
        total: row.price * item.quantity,
        tax: 0,
      }
    })
    const taken = used.map(({ id, code, percentage }) => {
      let discountCents = 0
      for (const line of lines) {
        const off = Math.round((line.total * percentage) / 100)
        line.total -= off
        line.discount += off
        discountCents += off
      }
      return { id, code, discountCents }
    })
    let subtotal = 0,
      discount = 0,
      tax = 0
    for (const line of lines) {
      line.tax = taxOf(line.total, rateFor(allRates, line.row.tax_rate_id, cart.country))
      subtotal += line.row.price * line.item.quantity
      discount += line.discount
      tax += line.tax
    }
    const isFree = way?.free_shipping_threshold != null && subtotal > way.free_shipping_threshold
    const shipping = way && !isFree && lines.some((line) => line.row.shippable) ? way.price : 0
    const shippingTax = way ? taxOf(shipping, rateFor(allRates, way.tax_rate_id, cart.country)) : 0
    tax += shippingTax
    return {
      lines,
      coupons: taken,
      method: way,
      subtotal,
      discount,
      shipping,
      shippingTax,
      tax,
      total: subtotal - discount + shipping + (taxesIncluded ? 0 : tax),
    }
  }
}
