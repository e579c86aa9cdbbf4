/** Shipments (document 3): which units of an order left, with whom. Labels come with the carriers, in a later release. */
import { desc, eq } from 'drizzle-orm'
import { shipments } from '../../db/store/orders.ts'
import { conflict } from '../http/refusal.ts'
import { resource } from '../http/route.ts'
import { Nullable, Page, Paging, Text, Type, Uuid, WebUrl } from '../http/schema.ts'
import { aboutOf, noteShipment, shipUnits } from './change.ts'
import { findOrder, readLines, unitsOf, type LineRow, type OrderRow, type Units } from './order.ts'

const UnitsInput = Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer({ minimum: 1, maximum: 10_000 }) }), {
  minItems: 1,
  maxItems: 500,
})
const Shipment = Type.Object({
  id: Uuid(),
  orderId: Uuid(),
  lines: Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer() })),
  carrier: Nullable(Type.String()),
  trackingNumber: Nullable(Type.String()),
  trackingUrl: Nullable(Type.String()),
  createdAt: Type.String(),
})
const ShipmentInput = Type.Object({
  lines: Type.Optional(UnitsInput),
  carrier: Type.Optional(Nullable(Text(0, 100))),
  trackingNumber: Type.Optional(Nullable(Text(0, 200))),
  trackingUrl: Type.Optional(Nullable(WebUrl())),
})

/** All that can still ship of an order. */
const openUnits = (lines: readonly LineRow[]): Units[] =>
  lines.filter((line) => line.shippable && line.openQuantity > 0).map((line) => ({ line, quantity: line.openQuantity }))

/** Refuses units that can't leave. */
function requireShippable(order: OrderRow, units: readonly Units[]) {
  if (order.status !== 'paid' && order.status !== 'processing') throw conflict(`an order that is ${order.status} can't be shipped`)
  if (!units.length) throw conflict('nothing is left to ship')
  for (const { line, quantity } of units) {
    if (!line.shippable) throw conflict(`${line.name} is not shipped`, { lineId: line.id })
    if (quantity > line.openQuantity) throw conflict(`only ${line.openQuantity} of ${line.name} can still ship`, { lineId: line.id })
  }
}

export const shipmentRoutes = resource('orders', '/orders/{id}/shipments')
  .post(
    '',
    {
      op: 'createShipment',
      summary: 'Ship an order, or a part of it',
      scope: 'orders:write',
      body: ShipmentInput,
      answers: { 201: Shipment },
      refuses: [404, 409],
      description: 'Takes the units off the shelf. The order is `processing` while something is left, then `shipped`.',
    },
    (call) =>
      call.write(async (tx) => {
        const { body, outside, now } = call
        const about = aboutOf(call)
        const order = await findOrder(tx, call.params.id!)
        const lines = await readLines(tx, order.id)
        const units = body.lines ? unitsOf(lines, body.lines) : openUnits(lines)
        requireShippable(order, units)
        for (const { line, quantity } of units) await shipUnits(tx, about, order, line, quantity)
        await noteShipment(tx, about, order, lines)
        const row = {
          id: outside.id(),
          orderId: order.id,
          lines: units.map(({ line, quantity }) => ({ lineId: line.id, quantity })),
          carrier: body.carrier ?? null,
          trackingNumber: body.trackingNumber ?? null,
          trackingUrl: body.trackingUrl ?? null,
          createdAt: now,
        }
        await tx.insert(shipments).values(row)
        return row
      }),
  )
  .get(
    '',
    {
      op: 'listShipments',
      summary: "List an order's shipments",
      scope: 'orders:read',
      query: Paging(50),
      answers: { 200: Page(Shipment) },
      refuses: [404],
    },
    async ({ db, params, query: { limit, offset } }) => {
      const { id } = await findOrder(db, params.id!)
      return {
        data: await db.select().from(shipments).where(eq(shipments.orderId, id)).orderBy(desc(shipments.id)).limit(limit).offset(offset),
        meta: { count: await db.$count(shipments, eq(shipments.orderId, id)), offset, limit },
      }
    },
  )
