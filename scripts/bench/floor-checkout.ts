/** The floor's carts, from the first item to the order: the statements of each step, to be run in a transaction of its own. */
import type { Database, Statement } from 'bun:sqlite'
import { cartOf, parsed } from './floor-cart.ts'
import { pricing, type Item, type Priced } from './floor-price.ts'
import type { reads } from './floor-reads.ts'
import { addressOf, boughtCart, cartRow, lineRow, orderRow, paymentRow, seatRow } from './floor-rows.ts'

type Row = Record<string, any>

const DAY_MS = 86_400_000
const FIRST_NUMBER = 1_001

const expiry = (shop: Row, now: string) => new Date(Date.parse(now) + JSON.parse(shop.checkout).cartTtlDays * DAY_MS).toISOString()

const prepareInsert = (db: Database, table: string, columns: string[]) =>
  db.prepare(`insert into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`)

/** Inserts rows of one shape: the statement is prepared with the columns of the first one. */
function inserting(db: Database, table: string): (row: Row) => void {
  let statement: Statement | undefined
  return (row) => {
    statement ??= prepareInsert(db, table, Object.keys(row))
    statement.run(...Object.values(row))
  }
}

const statements = (db: Database) => ({
  settings: db.prepare('select * from settings'),
  cartById: db.prepare('select * from carts where id = ?'),
  insertCart: inserting(db, 'carts'),
  saveItems: db.prepare('update carts set items = ?, expires_at = ?, updated_at = ? where id = ?'),
  convertCart: db.prepare('update carts set order_id = ?, placed = ?, updated_at = ? where id = ?'),
  reserve: db.prepare(
    'update variants set reserved = reserved + ? where id = ? and tracked = 1 and (backorder = 1 or quantity - reserved >= ?)',
  ),
  redeem: db.prepare(
    'update coupons set times_redeemed = times_redeemed + 1 where id = ? and (max_uses is null or times_redeemed < max_uses)',
  ),
  customerByEmail: db.prepare('select id, name, phone from customers where email = ?'),
  insertCustomer: inserting(db, 'customers'),
  nextNumber: db.prepare(
    `insert into counters (name, value) values ('order', ${FIRST_NUMBER}) on conflict (name) do update set value = value + 1 returning value`,
  ),
  insertOrder: inserting(db, 'orders'),
  insertRedemption: inserting(db, 'coupon_redemptions'),
  insertLine: inserting(db, 'order_lines'),
  insertSeat: inserting(db, 'seats'),
  insertPayment: inserting(db, 'payments'),
  insertEvent: inserting(db, 'outbox'),
})

/** A payment as Stoa answers it. */
const paymentOf = (row: Row) => ({
  id: row.id,
  orderId: row.order_id,
  method: row.method,
  status: row.status,
  amountCents: row.amount_cents,
  currency: row.currency,
  reference: row.reference,
  createdAt: row.created_at,
})

/** Carts over one database. */
export class Carts {
  readonly #sql: ReturnType<typeof statements>
  readonly #price: ReturnType<typeof pricing>
  readonly #orderOf: ReturnType<typeof reads>['orderOf']

  constructor(db: Database, { orderOf }: Pick<ReturnType<typeof reads>, 'orderOf'>) {
    this.#sql = statements(db)
    this.#price = pricing(db)
    this.#orderOf = orderOf
  }

  create() {
    const now = new Date().toISOString()
    const shop = this.#sql.settings.get() as Row
    const cart = cartRow(shop.currency, expiry(shop, now), now)
    this.#sql.insertCart(cart)
    return cartOf(cart, [], null)
  }

  addItem(id: string, { variantId, quantity }: { variantId: string; quantity: number }) {
    const now = new Date().toISOString()
    const shop = this.#sql.settings.get() as Row
    const cart = this.#sql.cartById.get(id) as Row
    const items = JSON.parse(cart.items) as Item[]
    const known = items.find((item) => item.variantId === variantId)
    if (known) known.quantity += quantity
    else items.push({ id: Bun.randomUUIDv7(), variantId, bundleId: null, quantity })
    const country = parsed(cart.shipping_address)?.country ?? null
    const priced = this.#price(
      { items, couponIds: JSON.parse(cart.coupon_ids), methodId: cart.shipping_method_id, country },
      shop.taxes_included === 1,
      now,
    )
    if (priced.lines.some(({ row, item }) => row.tracked && !row.backorder && row.quantity - row.reserved < item.quantity))
      throw new Error('out of stock')
    cart.expires_at = expiry(shop, now)
    cart.updated_at = now
    this.#sql.saveItems.run(JSON.stringify(items), cart.expires_at, now, id)
    return cartOf(cart, items, priced)
  }

  /** Makes a cart an order. */
  checkOut(id: string, body: Row) {
    const now = new Date().toISOString()
    const shop = this.#sql.settings.get() as Row
    const cart = this.#sql.cartById.get(id) as Row
    if (cart.order_id !== null) throw new Error('the cart is an order already')
    const items = JSON.parse(cart.items) as Item[]
    const address = addressOf(body.shippingAddress)
    const isTaxIncluded = shop.taxes_included === 1
    const priced = this.#price(
      { items, couponIds: JSON.parse(cart.coupon_ids), methodId: body.shippingMethodId, country: address.country },
      isTaxIncluded,
      now,
    )
    this.#take(priced)
    const buyer = { customerId: this.#customerOf(body.email, body.name, now), email: body.email, name: body.name }
    const { value: lookup } = this.#sql.nextNumber.get() as Row
    const order = orderRow({ cart, priced, buyer, address, isTaxIncluded }, lookup, now)
    const lines = priced.lines.map((line, position) => lineRow(line, order.id, position))
    const payment = paymentRow(order, body.paymentMethod, now)
    this.#insert(order, priced.coupons, lines, payment)
    const placed = cartOf(boughtCart(cart, order), items, priced)
    this.#sql.convertCart.run(order.id, JSON.stringify(placed), now, cart.id)
    return { order: this.#orderOf(order, lines), payment: paymentOf(payment) }
  }

  /** Takes what an order needs: units of stock, and uses of coupons. */
  #take({ lines, coupons }: Priced) {
    for (const { item, row } of lines)
      if (this.#sql.reserve.run(item.quantity, row.id, item.quantity).changes !== 1) throw new Error('sold out')
    for (const coupon of coupons) if (this.#sql.redeem.run(coupon.id).changes !== 1) throw new Error('the coupon is used up')
  }

  /** The id of the customer with this address, who is made when there is none. */
  #customerOf(email: string, name: string, now: string): string {
    const known = this.#sql.customerByEmail.get(email) as Row | null
    if (known) return known.id
    const id = Bun.randomUUIDv7()
    this.#sql.insertCustomer({ id, email, name, phone: null, created_at: now, updated_at: now })
    this.#emit('customer.created', { customerId: id }, now)
    return id
  }

  #insert(order: Row, coupons: Priced['coupons'], lines: Row[], payment: Row) {
    this.#sql.insertOrder(order)
    for (const coupon of coupons) this.#sql.insertRedemption({ coupon_id: coupon.id, order_id: order.id, created_at: order.created_at })
    for (const line of lines) {
      this.#sql.insertLine(line)
      for (let n = 0; line.ticket && n < line.quantity; n++) this.#sql.insertSeat(seatRow(order, line, n))
    }
    this.#sql.insertPayment(payment)
    this.#emit('order.created', { orderId: order.id, orderNumber: String(order.lookup) }, order.created_at)
  }

  #emit(event: string, payload: object, now: string) {
    this.#sql.insertEvent({ id: Bun.randomUUIDv7(), event, payload: JSON.stringify(payload), created_at: now })
  }
}
