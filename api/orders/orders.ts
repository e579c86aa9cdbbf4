/** Orders (document 3): what was bought, and what became of it. */
import { and, desc, eq } from 'drizzle-orm'
import { seats } from '../../db/store/events.ts'
import { ORDER_STATUSES } from '../../db/store/orders.ts'
import { payments } from '../../db/store/payments.ts'
import { conflict } from '../values/refusal.ts'
import { askAgain } from '../events/ticket-mail.ts'
import { resource } from '../http/route.ts'
import { Body, Label, Named, Nullable, OneOf, Page, Text, Type, Uuid } from '../http/schema.ts'
import { actingOf, cancel, dueCents, move, pay, setOrder } from './change.ts'
import { Amount, findOrder, isReady, onlyLooksUp, Order, orderView, Payment, readLines, readOrder, type OrderRow } from './order.ts'
import { listOrders, OrderFilters } from './order-list.ts'
import { askForRefund, giveUpIntents } from './payments/provider.ts'
import { OrderInput, record } from './record.ts'
import { refundRest } from './payments/refund.ts'
import { assignmentOf } from './workstations/packing.ts'
import { requireWorkstation } from './workstations/workstation.ts'

const OrderPatch = Body('OrderPatch', [{ status: 'pending', note: 'Made from European linen.', packed: true }], {
  status: Type.Optional(OneOf(ORDER_STATUSES)),
  workstationId: Type.Optional(Nullable(Uuid())),
  note: Type.Optional(Nullable(Text(0, 2000))),
  packed: Type.Optional(Type.Boolean()),
})
const PaymentInput = Body('PaymentInput', [{ amountCents: 1999, method: 'bank transfer', reference: 'PAY-2026-0042' }], {
  amountCents: Amount,
  method: Label(50),
  reference: Type.Optional(Nullable(Text(0, 200))),
})

export const orderRoutes = resource('orders', '/orders')
  .get(
    '',
    {
      operationId: 'listOrders',
      summary: 'List orders',
      description: 'Newest first.',
      scope: 'orders:read',
      query: OrderFilters,
      responses: { 200: Page(Order) },
      stored: true,
    },
    ({ db, query }) => listOrders(db, query),
  )
  .post(
    '',
    {
      operationId: 'createOrder',
      summary: 'Record an order taken elsewhere',
      scope: 'orders:write',
      body: OrderInput,
      responses: { 201: Order },
    },
    (call) =>
      call.write((tx) => {
        return record(tx, call)
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getOrder',
      summary: 'Read an order',
      scope: ['orders:read', 'order:lookup'],
      responses: { 200: Order },
      stored: true,
    },
    ({ db, params, session }) => readOrder(db, params.id, onlyLooksUp(session)),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateOrder',
      summary: 'Change an order',
      scope: 'orders:write',
      body: OrderPatch,
      responses: { 200: Order },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body } = call
        const order = await findOrder(tx, call.params.id)
        const workstationId = body.workstationId ? await requireWorkstation(tx, body.workstationId) : null
        // In an order that comes back as it was read, what it is already is no move, and where it waits already no decision.
        const isWhole = Object.keys(body).length > 1
        const assigned = body.workstationId !== undefined && !(isWhole && workstationId === order.workstationId)
        if (isWhole && body.status === order.status) delete body.status
        if (body.status === 'refunded') askForRefund(call, await refundRest(tx, actingOf(call), order))
        else if (body.status !== undefined) await move(tx, actingOf(call), order, body.status)
        if (body.status === 'cancelled' || body.status === 'paid') giveUpIntents(call, order)
        const columns: Partial<OrderRow> = {
          ...(assigned ? { workstationId, workstationBy: 'hand' as const } : {}),
          ...(body.note === undefined ? {} : { note: body.note }),
          ...(body.packed === undefined ? {} : { packedAt: body.packed ? (order.packedAt ?? call.now) : null }),
        }
        // Unpacked, it is ready to pack again.
        if (body.packed === false && !assigned && isReady(order)) Object.assign(columns, await assignmentOf(tx, order))
        if (Object.keys(columns).length) await setOrder(tx, order, actingOf(call), columns)
        return orderView(order, await readLines(tx, order.id))
      }),
  )
  .post(
    '/{id}/payments',
    {
      operationId: 'createPayment',
      summary: 'Record a payment',
      description: 'Marks the order paid when its total is reached.',
      scope: 'orders:write',
      body: PaymentInput,
      responses: { 201: Payment },
    },
    (call) =>
      call.write(async (tx) => {
        const order = await findOrder(tx, call.params.id)
        const due = dueCents(order)
        if (order.status !== 'pending') throw conflict(`an order that is ${order.status} takes no payment`)
        if (call.body.amountCents > due) throw conflict(`only ${due} is due`, { dueCents: due })
        await pay(tx, actingOf(call), order, call.body.amountCents, { method: call.body.method, reference: call.body.reference ?? null })
        giveUpIntents(call, order)
        const [row] = await tx.select().from(payments).where(eq(payments.orderId, order.id)).orderBy(desc(payments.id)).limit(1)
        return row!
      }),
  )
  .post(
    '/{id}/tickets/send',
    {
      operationId: 'sendTickets',
      summary: 'Mail the tickets of an order again',
      description: 'To its address, as when it was paid. 409 when it has none that are paid, or the store sends no mail.',
      scope: 'orders:write',
      responses: { 202: Named('TicketsSent', { message: Type.String() }) },
    },
    (call) =>
      call.write(async (tx) => {
        const order = await findOrder(tx, call.params.id)
        const { email, tools } = await call.settings()
        if (!email.outboundEnabled || !tools.events)
          throw conflict('the store sends no tickets: email.outboundEnabled or tools.events is off')
        if (!(await tx.$count(seats, and(eq(seats.orderId, order.id), eq(seats.state, 'valid')))))
          throw conflict('the order has no tickets that are paid')
        await askAgain(tx, call, order.id)
        return { message: `the tickets are being sent to ${order.email}` }
      }),
  )
  .post(
    '/{id}/cancel',
    {
      operationId: 'cancelOrder',
      summary: 'Cancel an order',
      description: 'Stock and coupon uses come back; what was paid is refunded separately.',
      scope: 'orders:write',
      body: Body('CancelOrderInput', [{ reason: 'Counted by hand' }], { reason: Type.Optional(Nullable(Text(0, 500))) }),
      responses: { 200: Order },
    },
    (call) =>
      call.write(async (tx) => {
        const order = await findOrder(tx, call.params.id)
        await cancel(tx, actingOf(call), order, call.body.reason ?? null)
        giveUpIntents(call, order)
        return orderView(order, await readLines(tx, order.id))
      }),
  )
