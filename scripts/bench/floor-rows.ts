/** The rows that the floor writes: carts, and orders with their lines and payments. Their columns are the names of their members. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { fold } from '../../api/values/slug.ts'
import { textOf } from './floor-cart.ts'
import type { Priced } from './floor-price.ts'

type Row = Record<string, any>

const NO_ADDRESS = {
  name: null,
  company: null,
  line1: null,
  line2: null,
  city: null,
  state: null,
  postalCode: null,
  country: null,
  phone: null,
}

const SEAL_KEY = randomBytes(32)

const secret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')

/** An address with all its parts. */
export const addressOf = (given: Row): Row => ({ ...NO_ADDRESS, ...given })

/** A cart with nothing in it. */
export const cartRow = (currency: string, expiresAt: string, now: string) => ({
  id: Bun.randomUUIDv7(),
  currency,
  email: null,
  items: '[]',
  coupon_ids: '[]',
  loyalty_points: 0,
  shipping_method_id: null,
  shipping_address: null,
  billing_address: null,
  pickup_point: null,
  pickup_location_id: null,
  note: null,
  order_id: null,
  expires_at: expiresAt,
  created_at: now,
  updated_at: now,
})

/** A cart that has become an order. */
export const boughtCart = (cart: Row, order: Row): Row => ({
  ...cart,
  email: order.email,
  shipping_method_id: order.shipping_method_id,
  shipping_address: order.shipping_address,
  order_id: order.id,
  updated_at: order.created_at,
})

/** What becomes an order: a cart, what it is worth, who buys it, and where it goes. */
interface Purchase {
  cart: Row
  priced: Priced
  buyer: { customerId: string; email: string; name: string }
  address: Row
  isTaxIncluded: boolean
}

/** An order that waits for its payment. */
export const orderRow = ({ cart, priced, buyer, address, isTaxIncluded }: Purchase, lookup: number, now: string) => ({
  id: Bun.randomUUIDv7(),
  lookup,
  source: 'storefront',
  status: 'pending',
  payment_status: 'unpaid',
  customer_id: buyer.customerId,
  email: buyer.email,
  name: buyer.name,
  folded_name: fold(buyer.name),
  phone: null,
  currency: cart.currency,
  taxes_included: Number(isTaxIncluded),
  subtotal_cents: priced.subtotal,
  discount_cents: priced.discount,
  shipping_cents: priced.shipping,
  tax_cents: priced.tax,
  total_cents: priced.total,
  paid_cents: 0,
  refunded_cents: 0,
  shipping_address: JSON.stringify(address),
  billing_address: JSON.stringify(address),
  shipping_method_id: priced.method!.id,
  shipping_name: priced.method!.name,
  shipping_tax_cents: priced.shippingTax,
  pickup_point: textOf(cart.pickup_point),
  pickup_location_id: null,
  coupons: JSON.stringify(priced.coupons.map(({ code, discountCents }) => ({ code, discountCents }))),
  points_earned: 0,
  points_redeemed: 0,
  access_code: secret(),
  workstation_id: null,
  packed_at: null,
  paid_at: null,
  note: cart.note,
  locale: null,
  cancel_reason: null,
  cart_id: cart.id,
  created_at: now,
  updated_at: now,
})

/** A line of an order; what of it is not shipped yet is all of it. */
export const lineRow = ({ item, row, name, discount, tax, total }: Priced['lines'][number], orderId: string, position: number) => ({
  id: Bun.randomUUIDv7(),
  order_id: orderId,
  position,
  variant_id: row.id,
  product_id: row.product_id,
  bundle_id: null,
  name,
  sku: row.sku,
  quantity: item.quantity,
  unit_price_cents: row.price,
  discount_cents: discount,
  tax_cents: tax,
  total_cents: total,
  shippable: row.shippable,
  open_quantity: item.quantity,
  held: row.tracked,
  shipped_quantity: 0,
  refunded_quantity: 0,
  booking_slot_id: null,
  ticket: row.is_event,
})

/** A seat of a line: sealed with a key, found by its hash. */
export function seatRow(order: Row, line: Row, position: number) {
  const [id, token] = [Bun.randomUUIDv7(), randomBytes(33).toString('base64url')]
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', SEAL_KEY, nonce).setAAD(Buffer.from(`seat ${id}`))
  const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(token), 'utf8'), cipher.final(), cipher.getAuthTag()])
  return {
    ...{ id, product_id: line.product_id, order_id: order.id, line_id: line.id, position, state: 'held' },
    ...{ token_hash: createHash('sha256').update(token).digest('base64url'), token: `v1.${sealed.toString('base64url')}` },
    ...{ buyer_email: order.email, name: null, folded_name: order.folded_name, email: null, bio: null, social_profile_url: null },
    ...{ photo_id: null, listed: 0, checked_in_at: null, checked_in_by: null, created_at: order.created_at, updated_at: order.created_at },
  }
}

/** A payment that nobody has made yet. */
export const paymentRow = (order: Row, method: string, now: string) => ({
  id: Bun.randomUUIDv7(),
  order_id: order.id,
  method,
  status: 'pending',
  amount_cents: order.total_cents,
  currency: order.currency,
  reference: null,
  provider_id: null,
  created_at: now,
  updated_at: now,
})
