/** Orders (document 3): what was bought, and what became of it. */
import { and, desc, eq, gte, isNull, lt, or, sql } from 'drizzle-orm'
import { variants } from '../../db/store/catalog.ts'
import type { CartItem } from '../../db/store/checkout.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { ORDER_SOURCES, ORDER_STATUSES, orders, PAYMENT_STATUSES, payments, refunds } from '../../db/store/orders.ts'
import type { Db } from '../../db/driver.ts'
import { contains } from '../catalog/groups.ts'
import { requireIds } from '../catalog/write.ts'
import { AddressInput, addressOf } from '../checkout/address.ts'
import { emailOf } from '../checkout/carts.ts'
import type { Provider } from '../checkout/payment.ts'
import { quote } from '../checkout/quote.ts'
import { normalizeEmail } from '../email.ts'
import { conflict, wrong } from '../http/refusal.ts'
import { resource, type Call } from '../http/route.ts'
import { Instant, Money, Nullable, OneOf, Page, Paging, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { toMinor } from '../money.ts'
import { utc } from '../time.ts'
import { cancel, dueCents, move, pay, setOrder, type About } from './change.ts'
import { findOrder, onlyLooksUp, Order, orderView, Payment, paymentView, readLines, readOrder, viewOrders, type OrderRow } from './order.ts'
import { place } from './place.ts'
import { refund, Refund, refundRest, refundView, requestRefund, type RefundRow } from './refund.ts'

const Filters = {
  ...Paging(20), status: Type.Optional(OneOf(ORDER_STATUSES)), paymentStatus: Type.Optional(OneOf(PAYMENT_STATUSES)), source: Type.Optional(OneOf(ORDER_SOURCES)),
  workstation: Type.Optional(Type.String({ maxLength: 36, description: 'A workstation id, or `unassigned`' })), customerId: Type.Optional(Uuid()),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Order number, or part of email or name' })), from: Type.Optional(Instant()), to: Type.Optional(Instant({ description: 'Exclusive' })),
}
const OrderInput = Type.Object({
  source: Type.Optional(OneOf(ORDER_SOURCES)), customer: Type.Object({ email: Text(3, 254), name: Type.Optional(Nullable(Text(0, 200))), phone: Type.Optional(Nullable(Text(0, 40))) }),
  items: Type.Array(Type.Object({ variantId: Uuid(), quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })), unitPrice: Type.Optional(Money()) }), { minItems: 1, maxItems: 200 }),
  currency: Type.Optional(Type.String({ pattern: '^[A-Za-z]{3}$' })), shippingAddress: Type.Optional(Nullable(AddressInput)), billingAddress: Type.Optional(Nullable(AddressInput)),
  shippingMethodId: Type.Optional(Nullable(Uuid())), paid: Type.Optional(Type.Boolean()), note: Type.Optional(Nullable(Text(0, 2000))),
})
const OrderPatch = Type.Object({
  status: Type.Optional(OneOf(ORDER_STATUSES)), workstationId: Type.Optional(Nullable(Uuid())), note: Type.Optional(Nullable(Text(0, 2000))), packed: Type.Optional(Type.Boolean()),
})
const Amount = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const PaymentInput = Type.Object({ amountCents: Amount, method: Text(1, 50), reference: Type.Optional(Nullable(Text(0, 200))) })
const RefundInput = Type.Object({
  amountCents: Type.Optional(Amount), lines: Type.Optional(Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer({ minimum: 1, maximum: 10_000 }) }), { minItems: 1, maxItems: 500 })),
  reason: Type.Optional(Nullable(Text(0, 500))), restock: Type.Optional(Type.Boolean({ default: true })),
})

const aboutOf = (call: Pick<Call, 'outside' | 'now' | 'session'>): About => ({ outside: call.outside, now: call.now, keyId: call.session.key.id })

function condition(query: Static<ReturnType<typeof Type.Object<typeof Filters>>>) {
  const text = query.query?.trim()
  const part = text ? contains(text) : ''
  // Emails are stored in lowercase beyond ASCII, which LIKE does not fold.
  const email = text ? contains(normalizeEmail(text)) : ''
  return and(
    query.status ? eq(orders.status, query.status) : undefined, query.paymentStatus ? eq(orders.paymentStatus, query.paymentStatus) : undefined,
    query.source ? eq(orders.source, query.source) : undefined,
    query.workstation === undefined ? undefined : query.workstation === 'unassigned' ? isNull(orders.workstationId) : eq(orders.workstationId, query.workstation),
    query.customerId ? eq(orders.customerId, query.customerId) : undefined, query.from ? gte(orders.createdAt, utc(query.from)) : undefined,
    query.to ? lt(orders.createdAt, utc(query.to)) : undefined,
    text ? or(/^\d{1,15}$/.test(text) ? eq(orders.lookup, Number(text)) : undefined, sql`${orders.email} like ${email} escape '\\'`, sql`${orders.name} like ${part} escape '\\'`) : undefined,
  )
}

async function record(tx: Db, call: Call<never, Static<typeof OrderInput>>) {
  const { body, outside, now } = call
  const settings = await call.settings()
  const currency = body.currency?.toLowerCase() ?? settings.currency
  if (currency !== settings.currency && !settings.enabledCurrencies.includes(currency)) throw wrong('currency', 'is not an enabled currency of the store')
  const email = emailOf(body.customer.email, 'customer.email')
  if (email === null) throw wrong('customer.email', 'must be an email address')
  for (const [i, item] of body.items.entries()) await requireIds(tx, variants, [item.variantId.toLowerCase()], `items.${i}.variantId`)
  await requireIds(tx, shippingMethods, [body.shippingMethodId?.toLowerCase()], 'shippingMethodId')
  const unitPrices = new Map<string, number>()
  const items = body.items.map((item, i): CartItem => {
    const id = outside.id()
    if (item.unitPrice !== undefined) unitPrices.set(id, toMinor(item.unitPrice, currency, `items.${i}.unitPrice`))
    return { id, variantId: item.variantId.toLowerCase(), bundleId: null, quantity: item.quantity ?? 1 }
  })
  const shippingAddress = addressOf(body.shippingAddress)
  const quoted = await quote(tx, { currency, items, couponIds: [], shippingMethodId: body.shippingMethodId?.toLowerCase() ?? null, shippingAddress, unitPrices }, settings, now)
  const unpriced = quoted.warnings.find((warning) => warning.code === 'no_price')
  if (unpriced) throw conflict(unpriced.message)
  if (quoted.knowsMethod && !quoted.method) throw conflict(`the shipping method has no price in ${currency.toUpperCase()}`)
  const placed = await place(tx, call, {
    id: outside.id(), quote: quoted, settings, source: body.source ?? 'admin', currency, email, name: body.customer.name?.trim() || null, phone: body.customer.phone?.trim() || null, shippingAddress,
    billingAddress: addressOf(body.billingAddress), pickupPoint: null, note: body.note ?? null, cartId: null,
    payment: body.paid ? { method: 'manual', paid: true, reference: null, providerId: null } : null,
  })
  return orderView(placed.order, placed.lines)
}

/** Gives up the PaymentIntents of an order that is cancelled, or paid otherwise, so that nobody pays for it any more. */
async function giveUpIntents(db: Db, orderId: string, provider: Provider) {
  for (const { providerId } of await db.select().from(payments).where(and(eq(payments.orderId, orderId), eq(payments.status, 'pending')))) {
    if (providerId) await provider.stripe.paymentIntents.cancel(providerId)
  }
}

/** Orders of a store whose payments go through `provider`. */
export function orderRoutes(provider: Provider | null) {
  const handOver = (call: Call<never, never>, row: RefundRow | null) => {
    if (row?.status === 'pending' && provider) call.after((store) => requestRefund(store, provider, row, aboutOf(call), { storeId: call.session.store.id, environment: call.session.environment }))
  }
  const noLongerDue = (call: Call<never, never>, order: OrderRow) => { if (provider && order.status !== 'pending') call.after((store) => giveUpIntents(store.read, order.id, provider)) }

  return resource('orders', '/orders')
    .get('', { op: 'listOrders', summary: 'List orders', description: 'Newest first.', scope: 'orders:read', query: Filters, answers: { 200: Page(Order) } }, async ({ db, query }) => {
      const where = condition(query)
      const rows = await db.select().from(orders).where(where).orderBy(desc(orders.createdAt), desc(orders.id)).limit(query.limit).offset(query.offset)
      return { data: await viewOrders(db, rows), meta: { count: await db.$count(orders, where), offset: query.offset, limit: query.limit } }
    })
    .post('', { op: 'createOrder', summary: 'Record an order taken elsewhere', scope: 'orders:write', body: OrderInput, answers: { 201: Order }, refuses: [409] }, (call) => call.write((tx) => record(tx, call as never)))
    .get('/{id}', { op: 'getOrder', summary: 'Read an order', scope: ['orders:read', 'order:lookup'], answers: { 200: Order }, refuses: [404], stored: true }, ({ db, params, session }) => readOrder(db, params.id!, onlyLooksUp(session)))
    .patch('/{id}', { op: 'updateOrder', summary: 'Change an order', scope: 'orders:write', body: OrderPatch, answers: { 200: Order }, refuses: [404, 409] }, (call) => call.write(async (tx) => {
      const { body } = call
      const order = await findOrder(tx, call.params.id!)
      if (body.workstationId) throw wrong('workstationId', 'no such resource in this store')
      if (body.status === 'refunded') handOver(call as never, await refundRest(tx, aboutOf(call), order))
      else if (body.status !== undefined) await move(tx, aboutOf(call), order, body.status)
      if (body.status === 'cancelled' || body.status === 'paid') noLongerDue(call as never, order)
      const columns: Partial<OrderRow> = {
        ...(body.workstationId === null ? { workstationId: null } : {}), ...(body.note === undefined ? {} : { note: body.note }),
        ...(body.packed === undefined ? {} : { packedAt: body.packed ? order.packedAt ?? call.now : null }),
      }
      if (Object.keys(columns).length) await setOrder(tx, order, aboutOf(call), columns)
      return orderView(order, await readLines(tx, order.id))
    }))
    .post('/{id}/payments', { op: 'createPayment', summary: 'Record a payment', description: 'Marks the order paid when its total is reached.', scope: 'orders:write', body: PaymentInput, answers: { 201: Payment }, refuses: [404, 409] },
      (call) => call.write(async (tx) => {
        const order = await findOrder(tx, call.params.id!)
        const due = dueCents(order)
        if (order.status !== 'pending') throw conflict(`an order that is ${order.status} takes no payment`)
        if (call.body.amountCents > due) throw conflict(`only ${due} is due`, { dueCents: due })
        await pay(tx, aboutOf(call), order, call.body.amountCents, { method: call.body.method, reference: call.body.reference ?? null })
        noLongerDue(call as never, order)
        const [row] = await tx.select().from(payments).where(eq(payments.orderId, order.id)).orderBy(desc(payments.id)).limit(1)
        return paymentView(row!)
      }))
    .post('/{id}/cancel', { op: 'cancelOrder', summary: 'Cancel an order', description: 'Stock and coupon uses come back; what was paid is refunded separately.', scope: 'orders:write', body: Type.Object({ reason: Type.Optional(Nullable(Text(0, 500))) }), answers: { 200: Order }, refuses: [404, 409] },
      (call) => call.write(async (tx) => {
        const order = await findOrder(tx, call.params.id!)
        await cancel(tx, aboutOf(call), order, call.body.reason ?? null)
        noLongerDue(call as never, order)
        return orderView(order, await readLines(tx, order.id))
      }))
    .post('/{id}/refunds', { op: 'createRefund', summary: 'Refund an order', description: 'Never more than was paid. `restock` false writes the units off.', scope: 'orders:write', body: RefundInput, answers: { 201: Refund }, refuses: [404, 409] },
      (call) => call.write(async (tx) => {
        const row = await refund(tx, aboutOf(call), await findOrder(tx, call.params.id!), call.body)
        handOver(call as never, row)
        return refundView(row)
      }))
    .get('/{id}/refunds', { op: 'listRefunds', summary: "List an order's refunds", scope: 'orders:read', query: Paging(50), answers: { 200: Page(Refund) }, refuses: [404] }, async ({ db, params, query: { limit, offset } }) => {
      const { id } = await findOrder(db, params.id!)
      const rows = await db.select().from(refunds).where(eq(refunds.orderId, id)).orderBy(desc(refunds.id)).limit(limit).offset(offset)
      return { data: rows.map(refundView), meta: { count: await db.$count(refunds, eq(refunds.orderId, id)), offset, limit } }
    })
}
