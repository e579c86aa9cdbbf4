/** The floor's carts on the wire. */
import type { Item, Priced } from './floor-price.ts'

type Row = Record<string, any>

/** What a JSON column holds. */
export const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))

/** What goes into a JSON column. */
export const textOf = (value: unknown) => (value == null ? null : JSON.stringify(value))

/** A cart as Stoa answers it. */
export function cartOf(row: Row, items: Item[], priced: Priced | null) {
  return {
    id: row.id,
    currency: row.currency,
    email: row.email,
    items: items.map((item, i) => {
      const { row: sold, name, discount, total } = priced!.lines[i]!
      return {
        id: item.id,
        variantId: item.variantId,
        name,
        image: JSON.parse(sold.images)[0] ?? null,
        productId: sold.product_id,
        quantity: item.quantity,
        unitPriceCents: sold.price,
        discountCents: discount,
        totalCents: total,
        bookingSlotId: null,
        bundleId: item.bundleId,
      }
    }),
    loyaltyPoints: row.loyalty_points,
    shippingMethodId: row.shipping_method_id,
    shippingAddress: parsed(row.shipping_address),
    billingAddress: parsed(row.billing_address),
    pickupPoint: parsed(row.pickup_point),
    pickupLocationId: row.pickup_location_id,
    note: row.note,
    orderId: row.order_id,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    coupons: priced?.coupons.map(({ code, discountCents }) => ({ code, discountCents })) ?? [],
    promotions: [],
    subtotalCents: priced?.subtotal ?? 0,
    discountCents: priced?.discount ?? 0,
    shippingCents: priced?.shipping ?? 0,
    taxCents: priced?.tax ?? 0,
    totalCents: priced?.total ?? 0,
    warnings: [],
  }
}
