/** An order: its rows, its shape on the wire, and the moves of its status (document 3, Orders). */
import { asc, eq, sql } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../db/driver.ts'
import { MAIL_ISSUES, ORDER_SOURCES, ORDER_STATUSES, orderLines, orders, PAYMENT_ISSUES, PAYMENT_STATUSES } from '../../db/store/orders.ts'
import type { payments } from '../../db/store/payments.ts'
import { missing, Refusal, wrong } from '../values/refusal.ts'
import { Cents, Named, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import type { Session } from '../../db/control/registry.ts'
import { AddressShape } from './address.ts'
import { AppliedPromotions } from '../pricing/applied.ts'
import { Teller } from '../store/outbox.ts'
import type { Moment } from '../values/clock.ts'

export type OrderRow = typeof orders.$inferSelect
export type LineRow = typeof orderLines.$inferSelect
export type PaymentRow = typeof payments.$inferSelect
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** Where a status may go; any other move is 409. */
export const MOVES: Record<OrderStatus, readonly OrderStatus[]> = {
  pending: ['paid', 'cancelled'],
  paid: ['processing', 'shipped', 'completed', 'cancelled', 'refunded'],
  processing: ['shipped', 'completed', 'cancelled', 'refunded'],
  shipped: ['delivered', 'completed', 'refunded'],
  delivered: ['completed', 'refunded'],
  completed: ['refunded'],
  cancelled: [],
  refunded: [],
}

/** Whether an order is paid for, and not sent yet: once it is not packed, it waits to be. */
export const isReady = ({ status }: Pick<OrderRow, 'status'>) => status === 'paid' || status === 'processing'

/** An amount that is paid or given back, in minor units. */
export const Amount = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const Line = Type.Object({
  id: Uuid(),
  variantId: Nullable(Uuid()),
  productId: Nullable(Uuid()),
  bundleId: Nullable(Uuid()),
  name: Type.String(),
  sku: Nullable(Type.String()),
  quantity: Type.Integer(),
  unitPriceCents: Cents(),
  discountCents: Cents(),
  taxCents: Cents(),
  totalCents: Cents(),
  shippedQuantity: Type.Integer(),
  refundedQuantity: Type.Integer(),
  bookingSlotId: Nullable(Uuid()),
})
const MailIssue = Type.Object({
  kind: Type.String({ description: 'The kind of its template', examples: ['order-confirmation'] }),
  about: Nullable(Uuid(), { description: 'The shipment or refund that it tells of; null: the order itself' }),
  status: OneOf(MAIL_ISSUES, {
    description:
      '`refused`: the mail server refused it for good; `given_up`: it was tried for long enough; `unknown`: the connection ended when it may have been taken',
  }),
  reason: Type.String({ description: 'What was said about it' }),
  at: Type.String({ description: 'When that was' }),
})
export const Order = Named('Order', {
  id: Uuid(),
  orderNumber: Type.String({ description: 'Gapless within the store' }),
  lookup: Type.Integer({ description: 'The order number as a number' }),
  source: OneOf(ORDER_SOURCES),
  status: OneOf(ORDER_STATUSES),
  paymentStatus: OneOf(PAYMENT_STATUSES),
  customer: Nullable(Type.Object({ id: Uuid(), email: Type.String(), name: Nullable(Type.String({ examples: ['Ada Lovelace'] })) }), {
    description: 'Null, like addresses and note, for a key that may only look orders up',
  }),
  lines: Type.Array(Line),
  currency: Type.String(),
  subtotalCents: Cents(),
  discountCents: Cents(),
  shippingCents: Cents(),
  taxCents: Cents(),
  totalCents: Cents(),
  paidCents: Cents(),
  refundedCents: Cents(),
  shippingAddress: AddressShape,
  billingAddress: AddressShape,
  shipping: Nullable(
    Type.Object({
      methodId: Nullable(Uuid()),
      name: Nullable(Type.String({ examples: ['Standard delivery'] })),
      priceCents: Cents(),
      pickupPoint: Nullable(Type.Object({}, { additionalProperties: true })),
    }),
  ),
  pickupLocationId: Nullable(Uuid()),
  coupons: Type.Array(Type.Object({ code: Type.String(), discountCents: Cents() })),
  promotions: AppliedPromotions,
  loyalty: Type.Object({ pointsEarned: Type.Integer(), pointsRedeemed: Type.Integer() }),
  accessCode: Type.Optional(Type.String({ description: "The buyer's capability; left out for a key that may only look orders up" })),
  workstationId: Type.Optional(Nullable(Uuid())),
  packedAt: Nullable(Type.String()),
  paidAt: Nullable(Type.String()),
  note: Nullable(Type.String()),
  lang: Nullable(Type.String(), { description: "The language of its mails; null: the store's own" }),
  cancelReason: Nullable(Type.String()),
  paymentIssue: Nullable(
    Type.Object({ code: OneOf(PAYMENT_ISSUES), message: Type.String(), reference: Type.String(), at: Type.String() }),
    { description: "What the payment provider did with the money that asks for the merchant's decision; `reference` is its id there" },
  ),
  mailIssues: Type.Array(MailIssue, {
    description: 'Mails about the order that did not arrive, or may not have; empty for a key that may only look orders up',
  }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const { accessCode: _, ...toldOfOrder } = Order.properties
/** What webhooks get: no capability of the buyer's. */
const OrderTold = Named('OrderEvent', toldOfOrder)
export const orderTold = new Teller(
  'orders',
  ['order.created', 'order.paid', 'order.cancelled', 'order.refunded', 'order.shipped'],
  OrderTold,
)
export const Payment = Named('Payment', {
  id: Uuid(),
  orderId: Uuid(),
  method: Type.String(),
  status: OneOf(['pending', 'succeeded', 'failed']),
  amountCents: Cents(),
  currency: Type.String(),
  reference: Nullable(Type.String()),
  clientSecret: Type.Optional(Type.String({ description: "Stripe's client secret, for the buyer's browser" })),
  createdAt: Type.String(),
})

/** Whether a key may look an order up by id, and no more: it gets nothing personal. */
export const onlyLooksUp = ({ scopes }: Session) => scopes !== null && !scopes.has('orders:read')

/** An order on the wire. */
export function orderView(row: OrderRow, lines: readonly LineRow[], limited = false) {
  const wire = {
    id: row.id,
    orderNumber: String(row.lookup),
    lookup: row.lookup,
    source: row.source,
    status: row.status,
    paymentStatus: row.paymentStatus,
    customer: limited ? null : { id: row.customerId, email: row.email, name: row.name },
    lines: lines.map((line) => ({
      id: line.id,
      variantId: line.variantId,
      productId: line.productId,
      bundleId: line.bundleId,
      name: line.name,
      sku: line.sku,
      quantity: line.quantity,
      unitPriceCents: line.unitPriceCents,
      discountCents: line.discountCents,
      taxCents: line.taxCents,
      totalCents: line.totalCents,
      shippedQuantity: line.shippedQuantity,
      refundedQuantity: line.refundedQuantity,
      bookingSlotId: line.bookingSlotId,
    })),
    currency: row.currency,
    subtotalCents: row.subtotalCents,
    discountCents: row.discountCents,
    shippingCents: row.shippingCents,
    taxCents: row.taxCents,
    totalCents: row.totalCents,
    paidCents: row.paidCents,
    refundedCents: row.refundedCents,
    shippingAddress: limited ? null : row.shippingAddress,
    billingAddress: limited ? null : row.billingAddress,
    shipping:
      row.shippingMethodId === null && row.pickupPoint === null && row.shippingName === null
        ? null
        : {
            methodId: row.shippingMethodId,
            name: row.shippingName,
            priceCents: row.shippingCents,
            pickupPoint: limited ? null : row.pickupPoint,
          },
    pickupLocationId: row.pickupLocationId,
    coupons: row.coupons,
    promotions: row.promotions,
    loyalty: { pointsEarned: row.pointsEarned, pointsRedeemed: row.pointsRedeemed },
    packedAt: row.packedAt,
    paidAt: row.paidAt,
    note: limited ? null : row.note,
    lang: row.locale,
    cancelReason: limited ? null : row.cancelReason,
    paymentIssue: limited ? null : row.paymentIssue,
    mailIssues: limited ? [] : (row.mailIssues ?? []),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
  return limited ? wire : { ...wire, accessCode: row.accessCode, workstationId: row.workstationId }
}

const orderById = compile((db) =>
  db
    .select()
    .from(orders)
    .where(eq(orders.id, named('id'))),
)
const linesOf = compile((db) =>
  db
    .select()
    .from(orderLines)
    .where(eq(orderLines.orderId, named('id')))
    .orderBy(asc(orderLines.position)),
)
const linesOfMany = compile((db) =>
  db
    .select()
    .from(orderLines)
    .where(sql`${orderLines.orderId} in (select value from json_each(${named('ids')}))`)
    .orderBy(asc(orderLines.orderId), asc(orderLines.position)),
)

/** The row of an order, or 404. */
export async function findOrder(db: Reader, id: string): Promise<OrderRow> {
  const row = (await orderById.get(db, { id })) as OrderRow | undefined
  if (row) return row
  if (/^\d{1,15}$/.test(id))
    throw new Refusal(404, 'order not found', { hint: `${id} is no id but may be an order number: GET /orders?query=${id}` })
  throw missing('order')
}

/** The lines of an order, in their order. */
export const readLines = (db: Reader, orderId: string) => linesOf.all(db, { id: orderId }) as Promise<LineRow[]>

/** Tells what has become of an order. `row` is as it is now; its lines are read where they are not at hand. */
export const tellOrder = (tx: Db, moment: Moment, types: Parameters<typeof orderTold.tell>[2], row: OrderRow, lines?: readonly LineRow[]) =>
  orderTold.tell(tx, moment, types, {
    about: row.id,
    payload: { orderId: row.id, orderNumber: String(row.lookup) },
    show: async () => orderView(row, lines ?? (await readLines(tx, row.id))),
  })

/** Some units of one line. */
export interface Units {
  line: LineRow
  quantity: number
}

/** The lines that a request names under `lines`; 400 for one that is not the order's, or that stands there twice. */
export function unitsOf(lines: readonly LineRow[], wanted: readonly { lineId: string; quantity: number }[]): Units[] {
  return wanted.map(({ lineId, quantity }, i) => {
    const line = lines.find((candidate) => candidate.id === lineId)
    if (!line) throw wrong(['lines', String(i), 'lineId'], 'is not a line of the order')
    if (wanted.findIndex((other) => other.lineId === lineId) !== i) throw wrong(['lines', String(i), 'lineId'], 'stands in the list twice')
    return { line, quantity }
  })
}

/** An order with its lines, as a session sees it. */
export async function readOrder(db: Reader, id: string, limited = false) {
  const row = await findOrder(db, id)
  return orderView(row, await readLines(db, row.id), limited)
}

/** Some orders with their lines, in the order of the rows. */
export async function viewOrders(db: Reader, rows: readonly OrderRow[]) {
  const lines = new Map<string, LineRow[]>(rows.map((row) => [row.id, []]))
  if (rows.length)
    for (const line of (await linesOfMany.all(db, { ids: JSON.stringify(rows.map((row) => row.id)) })) as LineRow[])
      lines.get(line.orderId)!.push(line)
  return rows.map((row) => orderView(row, lines.get(row.id)!))
}
