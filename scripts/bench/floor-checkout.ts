/** The floor's carts and checkout: the statements of a cart and of an order, each in a transaction of its own. */
import type { Database } from 'bun:sqlite'
import { fold } from '../../api/values/slug.ts'
import { cartOf, parsed, textOf } from './floor-cart.ts'
import { pricing, type Item } from './floor-price.ts'
import type { reads } from './floor-reads.ts'

type Row = Record<string, any>

const DAY_MS = 86_400_000
const FIRST_NUMBER = 1_001

const insertInto = (db: Database, table: string, columns: string) =>
  db.prepare(
    `insert into ${table} (${columns}) values (${columns
      .split(',')
      .map(() => '?')
      .join()})`,
  )
const secret = () => Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')

/** Carts and checkout over one database. */
export function buying(db: Database, { orderOf }: Pick<ReturnType<typeof reads>, 'orderOf'>) {
  const price = pricing(db)
  const settings = db.prepare('select * from settings')
  const cartById = db.prepare('select * from carts where id = ?')
  const insertCart = insertInto(
    db,
    'carts',
    'id, currency, email, items, coupon_ids, loyalty_points, shipping_method_id, shipping_address, billing_address, pickup_point, pickup_location_id, note, order_id, expires_at, created_at, updated_at',
  )
  const saveItems = db.prepare('update carts set items = ?, expires_at = ?, updated_at = ? where id = ?')
  const convertCart = db.prepare('update carts set order_id = ?, placed = ?, updated_at = ? where id = ?')
  const reserve = db.prepare(
    'update variants set reserved = reserved + ? where id = ? and tracked = 1 and (backorder = 1 or quantity - reserved >= ?)',
  )
  const redeem = db.prepare(
    'update coupons set times_redeemed = times_redeemed + 1 where id = ? and (max_uses is null or times_redeemed < max_uses)',
  )
  const customerByEmail = db.prepare('select id, name, phone from customers where email = ?')
  const insertCustomer = insertInto(db, 'customers', 'id, email, name, phone, created_at, updated_at')
  const nextNumber = db.prepare(
    `insert into counters (name, value) values ('order', ${FIRST_NUMBER}) on conflict (name) do update set value = value + 1 returning value`,
  )
  const insertOrder = insertInto(
    db,
    'orders',
    `id, lookup, source, status, payment_status, customer_id, email, name, folded_name, phone, currency, taxes_included, subtotal_cents, discount_cents, shipping_cents, tax_cents,
    total_cents, paid_cents, refunded_cents, shipping_address, billing_address, shipping_method_id, shipping_name, shipping_tax_cents, pickup_point, pickup_location_id, coupons, points_earned,
    points_redeemed, access_code, workstation_id, packed_at, paid_at, note, cancel_reason, cart_id, created_at, updated_at`,
  )
  const insertRedemption = insertInto(db, 'coupon_redemptions', 'coupon_id, order_id, created_at')
  const insertLine = insertInto(
    db,
    'order_lines',
    `id, order_id, position, variant_id, product_id, bundle_id, name, sku, quantity, unit_price_cents, discount_cents, tax_cents, total_cents, shippable,
    open_quantity, held, shipped_quantity, refunded_quantity, booking_slot_id`,
  )
  const insertPayment = insertInto(
    db,
    'payments',
    'id, order_id, method, status, amount_cents, currency, reference, provider_id, created_at, updated_at',
  )
  const insertEvent = insertInto(db, 'outbox', 'id, event, payload, created_at')

  const expiry = (now: string, shop: Row) => new Date(Date.parse(now) + JSON.parse(shop.checkout).cartTtlDays * DAY_MS).toISOString()
  const emit = (event: string, payload: unknown, now: string) => insertEvent.run(Bun.randomUUIDv7(), event, JSON.stringify(payload), now)

  function customerOf(email: string, name: string, now: string): string {
    const known = customerByEmail.get(email) as Row | null
    if (known) return known.id
    const id = Bun.randomUUIDv7()
    insertCustomer.run(id, email, name, null, now, now)
    emit('customer.created', { customerId: id }, now)
    return id
  }

  function place(cart: Row, body: Row, shop: Row, now: string) {
    const address = {
      name: null,
      company: null,
      line1: null,
      line2: null,
      city: null,
      state: null,
      postalCode: null,
      country: null,
      phone: null,
      ...body.shippingAddress,
    }
    const sum = price(
      { items: JSON.parse(cart.items), couponIds: JSON.parse(cart.coupon_ids), methodId: body.shippingMethodId, country: address.country },
      shop.taxes_included === 1,
      now,
    )
    for (const { item, row } of sum.lines) if (reserve.run(item.quantity, row.id, item.quantity).changes !== 1) throw new Error('sold out')
    for (const coupon of sum.coupons) if (redeem.run(coupon.id).changes !== 1) throw new Error('the coupon is used up')
    const customerId = customerOf(body.email, body.name, now)
    const { value: lookup } = nextNumber.get() as Row
    const id = Bun.randomUUIDv7()
    const order = {
      id,
      lookup,
      source: 'storefront',
      status: 'pending',
      payment_status: 'unpaid',
      customer_id: customerId,
      email: body.email,
      name: body.name,
      folded_name: fold(body.name),
      phone: null,
      currency: cart.currency,
      taxes_included: shop.taxes_included,
      subtotal_cents: sum.subtotal,
      discount_cents: sum.discount,
      shipping_cents: sum.shipping,
      tax_cents: sum.tax,
      total_cents: sum.total,
      paid_cents: 0,
      refunded_cents: 0,
      shipping_address: JSON.stringify(address),
      billing_address: JSON.stringify(address),
      shipping_method_id: sum.method!.id,
      shipping_name: sum.method!.name,
      shipping_tax_cents: sum.shippingTax,
      pickup_point: textOf(cart.pickup_point),
      pickup_location_id: null,
      coupons: JSON.stringify(sum.coupons.map(({ code, discountCents }) => ({ code, discountCents }))),
      points_earned: 0,
      points_redeemed: 0,
      access_code: secret(),
      workstation_id: null,
      packed_at: null,
      paid_at: null,
      note: cart.note,
      cancel_reason: null,
      cart_id: cart.id,
      created_at: now,
      updated_at: now,
    }
    insertOrder.run(...Object.values(order))
    for (const coupon of sum.coupons) insertRedemption.run(coupon.id, id, now)
    const lines = sum.lines.map(({ item, row, name, discount, tax, total }, position) => ({
      id: Bun.randomUUIDv7(),
      order_id: id,
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
    }))
    for (const line of lines) insertLine.run(...Object.values(line))
    const payment = {
      id: Bun.randomUUIDv7(),
      orderId: id,
      method: body.paymentMethod,
      status: 'pending',
      amountCents: sum.total,
      currency: cart.currency,
      reference: null,
      createdAt: now,
    }
    insertPayment.run(payment.id, id, payment.method, payment.status, payment.amountCents, payment.currency, null, null, now, now)
    emit('order.created', { orderId: id, orderNumber: String(lookup) }, now)
    const bought = {
      ...cart,
      email: body.email,
      shipping_method_id: sum.method!.id,
      shipping_address: order.shipping_address,
      order_id: id,
      updated_at: now,
    }
    convertCart.run(id, JSON.stringify(cartOf(bought, JSON.parse(cart.items), sum)), now, cart.id)
    return { order: orderOf(order, lines), payment }
  }

  return {
    /** Runs `fn` as one durable transaction. */
    durably: db.transaction(<T>(fn: () => T): T => fn()).immediate,
    createCart() {
      const now = new Date().toISOString()
      const shop = settings.get() as Row
      const cart = {
        id: Bun.randomUUIDv7(),
        currency: shop.currency,
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
        expires_at: expiry(now, shop),
        created_at: now,
        updated_at: now,
      }
      insertCart.run(...Object.values(cart))
      return cartOf(cart, [], null)
    },
    addItem(id: string, body: { variantId: string; quantity: number }) {
      const now = new Date().toISOString()
      const shop = settings.get() as Row
      const cart = cartById.get(id) as Row
      const items = JSON.parse(cart.items) as Item[]
      const known = items.find((item) => item.variantId === body.variantId)
      if (known) known.quantity += body.quantity
      else items.push({ id: Bun.randomUUIDv7(), variantId: body.variantId, bundleId: null, quantity: body.quantity })
      const priced = price(
        {
          items,
          couponIds: JSON.parse(cart.coupon_ids),
          methodId: cart.shipping_method_id,
          country: parsed(cart.shipping_address)?.country ?? null,
        },
        shop.taxes_included === 1,
        now,
      )
      if (priced.lines.some(({ row, item }) => row.tracked && !row.backorder && row.quantity - row.reserved < item.quantity))
        throw new Error('out of stock')
      cart.expires_at = expiry(now, shop)
      cart.updated_at = now
      saveItems.run(JSON.stringify(items), cart.expires_at, now, id)
      return cartOf(cart, items, priced)
    },
    checkOut(id: string, body: Row) {
      const now = new Date().toISOString()
      const shop = settings.get() as Row
      const cart = cartById.get(id) as Row
      if (cart.order_id !== null) throw new Error('the cart is an order already')
      return place(cart, body, shop, now)
    },
  }
}
