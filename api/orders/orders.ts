/** Orders (document 3): what was bought, and what became of it. */
import { and, desc, eq, gte, isNull, lt, or, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import { ORDER_SOURCES, ORDER_STATUSES, orders, PAYMENT_STATUSES } from '../../db/store/orders.ts'
import { payments } from '../../db/store/payments.ts'
import { contains } from '../catalog/groups.ts'
import type { Provider } from '../checkout/payment.ts'
import { normalizeEmail } from '../email.ts'
import { conflict, wrong } from '../http/refusal.ts'
import { resource } from '../http/route.ts'
import { CurrencyCode, Instant, isUuid, Label, Nullable, OneOf, Page, Paging, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { isCurrency } from '../money.ts'
import { fold } from '../slug.ts'
import { utc } from '../time.ts'
import { aboutOf, cancel, dueCents, move, pay, setOrder } from './change.ts'
import {
  Amount,
  findOrder,
  isReady,
  onlyLooksUp,
  Order,
  orderView,
  Payment,
  paymentView,
  readLines,
  readOrder,
  viewOrders,
  type OrderRow,
} from './order.ts'
import { askForRefund, giveUpIntents } from './provider.ts'
import { OrderInput, record } from './record.ts'
import { refundRest } from './refund.ts'
import { placementOf } from './packing.ts'
import { requireWorkstation } from './workstations.ts'

const Filters = {
  ...Paging(20),
  status: Type.Optional(OneOf(ORDER_STATUSES)),
  paymentStatus: Type.Optional(OneOf(PAYMENT_STATUSES)),
  source: Type.Optional(OneOf(ORDER_SOURCES)),
  workstation: Type.Optional(Type.String({ maxLength: 36, description: 'A workstation id, or `unassigned`' })),
  customerId: Type.Optional(Uuid()),
  currency: Type.Optional(CurrencyCode({ description: 'Those in this currency: an order is never priced in another' })),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Order number, or part of email or name' })),
  from: Type.Optional(Instant()),
  to: Type.Optional(Instant({ description: 'Exclusive' })),
}
const OrderPatch = Type.Object({
  status: Type.Optional(OneOf(ORDER_STATUSES)),
  workstationId: Type.Optional(Nullable(Uuid())),
  note: Type.Optional(Nullable(Text(0, 2000))),
  packed: Type.Optional(Type.Boolean()),
})
const PaymentInput = Type.Object({ amountCents: Amount, method: Label(50), reference: Type.Optional(Nullable(Text(0, 200))) })
function condition(query: Static<ReturnType<typeof Type.Object<typeof Filters>>>) {
  if (query.workstation !== undefined && query.workstation !== 'unassigned' && !isUuid(query.workstation))
    throw wrong('workstation', 'must be a workstation id, or unassigned')
  if (query.currency && !isCurrency(query.currency)) throw wrong('currency', 'is not a currency of ISO 4217')
  const text = query.query?.trim()
  const part = text ? contains(fold(text)) : ''
  // Emails are stored in lowercase beyond ASCII, which LIKE does not fold.
  const email = text ? contains(normalizeEmail(text)) : ''
  return and(
    query.status ? eq(orders.status, query.status) : undefined,
    query.paymentStatus ? eq(orders.paymentStatus, query.paymentStatus) : undefined,
    query.source ? eq(orders.source, query.source) : undefined,
    query.workstation === undefined
      ? undefined
      : query.workstation === 'unassigned'
        ? isNull(orders.workstationId)
        : eq(orders.workstationId, query.workstation.toLowerCase()),
    query.currency ? eq(orders.currency, query.currency.toLowerCase()) : undefined,
    query.customerId ? eq(orders.customerId, query.customerId) : undefined,
    query.from ? gte(orders.createdAt, utc(query.from)) : undefined,
    query.to ? lt(orders.createdAt, utc(query.to)) : undefined,
    text
      ? or(
          /^\d{1,15}$/.test(text) ? eq(orders.lookup, Number(text)) : undefined,
          sql`${orders.email} like ${email} escape '\\'`,
          sql`${orders.foldedName} like ${part} escape '\\'`,
        )
      : undefined,
  )
}

/** Orders of a store whose payments go through `provider`. */
export function orderRoutes(provider: Provider | null) {
  return resource('orders', '/orders')
    .get(
      '',
      {
        op: 'listOrders',
        summary: 'List orders',
        description: 'Newest first.',
        scope: 'orders:read',
        query: Filters,
        answers: { 200: Page(Order) },
      },
      async ({ db, query }) => {
        const where = condition(query)
        const far = aside(db, 'orders')
        const rows = await far
          .select()
          .from(orders)
          .where(where)
          .orderBy(desc(orders.createdAt), desc(orders.id))
          .limit(query.limit)
          .offset(query.offset)
        return {
          data: await viewOrders(db, rows),
          meta: { count: await far.$count(orders, where), offset: query.offset, limit: query.limit },
        }
      },
    )
    .post(
      '',
      {
        op: 'createOrder',
        summary: 'Record an order taken elsewhere',
        scope: 'orders:write',
        body: OrderInput,
        answers: { 201: Order },
        refuses: [409],
      },
      (call) => call.write((tx) => record(tx, call as never)),
    )
    .get(
      '/{id}',
      {
        op: 'getOrder',
        summary: 'Read an order',
        scope: ['orders:read', 'order:lookup'],
        answers: { 200: Order },
        refuses: [404],
        stored: true,
      },
      ({ db, params, session }) => readOrder(db, params.id!, onlyLooksUp(session)),
    )
    .patch(
      '/{id}',
      {
        op: 'updateOrder',
        summary: 'Change an order',
        scope: 'orders:write',
        body: OrderPatch,
        answers: { 200: Order },
        refuses: [404, 409],
      },
      (call) =>
        call.write(async (tx) => {
          const { body } = call
          const order = await findOrder(tx, call.params.id!)
          const workstationId = body.workstationId ? await requireWorkstation(tx, body.workstationId) : null
          if (body.status === 'refunded') askForRefund(provider, call as never, await refundRest(tx, aboutOf(call), order))
          else if (body.status !== undefined) await move(tx, aboutOf(call), order, body.status)
          if (body.status === 'cancelled' || body.status === 'paid') giveUpIntents(provider, call as never, order)
          const columns: Partial<OrderRow> = {
            ...(body.workstationId === undefined ? {} : { workstationId, workstationBy: 'hand' as const }),
            ...(body.note === undefined ? {} : { note: body.note }),
            ...(body.packed === undefined ? {} : { packedAt: body.packed ? (order.packedAt ?? call.now) : null }),
          }
          // Unpacked, it is ready to pack again.
          if (body.packed === false && body.workstationId === undefined && isReady(order))
            Object.assign(columns, await placementOf(tx, order))
          if (Object.keys(columns).length) await setOrder(tx, order, aboutOf(call), columns)
          return orderView(order, await readLines(tx, order.id))
        }),
    )
    .post(
      '/{id}/payments',
      {
        op: 'createPayment',
        summary: 'Record a payment',
        description: 'Marks the order paid when its total is reached.',
        scope: 'orders:write',
        body: PaymentInput,
        answers: { 201: Payment },
        refuses: [404, 409],
      },
      (call) =>
        call.write(async (tx) => {
          const order = await findOrder(tx, call.params.id!)
          const due = dueCents(order)
          if (order.status !== 'pending') throw conflict(`an order that is ${order.status} takes no payment`)
          if (call.body.amountCents > due) throw conflict(`only ${due} is due`, { dueCents: due })
          await pay(tx, aboutOf(call), order, call.body.amountCents, { method: call.body.method, reference: call.body.reference ?? null })
          giveUpIntents(provider, call as never, order)
          const [row] = await tx.select().from(payments).where(eq(payments.orderId, order.id)).orderBy(desc(payments.id)).limit(1)
          return paymentView(row!)
        }),
    )
    .post(
      '/{id}/cancel',
      {
        op: 'cancelOrder',
        summary: 'Cancel an order',
        description: 'Stock and coupon uses come back; what was paid is refunded separately.',
        scope: 'orders:write',
        body: Type.Object({ reason: Type.Optional(Nullable(Text(0, 500))) }),
        answers: { 200: Order },
        refuses: [404, 409],
      },
      (call) =>
        call.write(async (tx) => {
          const order = await findOrder(tx, call.params.id!)
          await cancel(tx, aboutOf(call), order, call.body.reason ?? null)
          giveUpIntents(provider, call as never, order)
          return orderView(order, await readLines(tx, order.id))
        }),
    )
}
