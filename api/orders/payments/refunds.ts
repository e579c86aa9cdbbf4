/** Refunds of an order (document 3, Orders): by amount or by line, never more than was paid. */
import { desc, eq } from 'drizzle-orm'
import { refunds } from '../../../db/store/payments.ts'
import { resource } from '../../http/route.ts'
import { Body, Nullable, Page, Paging, Text, Type, Uuid } from '../../http/schema.ts'
import { actingOf } from '../change.ts'
import { Amount, findOrder } from '../order.ts'
import { askForRefund } from './provider.ts'
import { refund, Refund } from './refund.ts'

const RefundInput = Body(
  'RefundInput',
  [{ amountCents: 1999, reason: 'Counted by hand', restock: true }],
  {
    amountCents: Type.Optional(Amount),
    lines: Type.Optional(
      Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer({ minimum: 1, maximum: 10_000 }) }), { minItems: 1, maxItems: 500 }),
    ),
    reason: Type.Optional(Nullable(Text(0, 500))),
    restock: Type.Optional(Type.Boolean({ default: true })),
  },
  // Nobody takes back what a misspelt field has refunded or put on sale again.
  { additionalProperties: false },
)

export const refundRoutes = resource('orders', '/orders')
  .post(
    '/{id}/refunds',
    {
      operationId: 'createRefund',
      summary: 'Refund an order',
      description: 'Never more than was paid. `restock` false writes the units off.',
      scope: 'orders:write',
      body: RefundInput,
      responses: { 201: Refund },
    },
    (call) =>
      call.write(async (tx) => {
        const row = await refund(tx, actingOf(call), await findOrder(tx, call.params.id), call.body)
        askForRefund(call, row)
        return row
      }),
  )
  .get(
    '/{id}/refunds',
    {
      operationId: 'listRefunds',
      summary: "List an order's refunds",
      scope: 'orders:read',
      query: Paging(50),
      responses: { 200: Page(Refund) },
      stored: true,
    },
    async ({ db, params, query: { limit, offset } }) => {
      const { id } = await findOrder(db, params.id)
      const rows = await db.select().from(refunds).where(eq(refunds.orderId, id)).orderBy(desc(refunds.id)).limit(limit).offset(offset)
      return { data: rows, meta: { count: await db.$count(refunds, eq(refunds.orderId, id)), offset, limit } }
    },
  )
