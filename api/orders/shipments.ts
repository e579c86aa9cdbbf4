/** Shipments (document 3): which units of an order left, with whom, and the label of a linked carrier. */
import { and, desc, eq } from 'drizzle-orm'
import { LABEL_MODES, TEMPLATES } from '../../db/store/addons.ts'
import { shipments } from '../../db/store/orders.ts'
import { conflict, missing, Refusal } from '../values/refusal.ts'
import { Reply, resource } from '../http/route.ts'
import { Body, Line, Named, Nullable, OneOf, Page, Paging, Type, Uuid, WebUrl } from '../http/schema.ts'
import { findAddon } from '../carriers/addon.ts'
import { askForMail } from './mails/ask.ts'
import { actingOf, noteShipment, shipUnits } from './change.ts'
import { findOrder, readLines, unitsOf, type LineRow, type OrderRow, type Units } from './order.ts'
import { contentOf, isStillConnected, labelFor, LabelView } from './shipment-label.ts'

const UnitsInput = Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer({ minimum: 1, maximum: 10_000 }) }), {
  minItems: 1,
  maxItems: 500,
})
const Shipment = Named('Shipment', {
  id: Uuid(),
  orderId: Uuid(),
  lines: Type.Array(Type.Object({ lineId: Uuid(), quantity: Type.Integer() })),
  carrier: Nullable(Type.String({ examples: ['carrier_b'] })),
  trackingNumber: Nullable(Type.String()),
  trackingUrl: Nullable(Type.String()),
  label: LabelView,
  createdAt: Type.String(),
})
const ShipmentInput = Body('ShipmentInput', [{ template: 'small' }], {
  lines: Type.Optional(UnitsInput),
  carrier: Type.Optional(
    Nullable(Line(0, 100, { examples: ['carrier_b'] }), { description: 'Left out: the carrier that the shipping method is linked to' }),
  ),
  trackingNumber: Type.Optional(Nullable(Line(0, 200))),
  trackingUrl: Type.Optional(Nullable(WebUrl())),
  template: Type.Optional(OneOf(TEMPLATES, { description: "The parcel's size, for carrier_b; left out: by the products' dimensions" })),
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
      operationId: 'createShipment',
      summary: 'Ship an order, or a part of it',
      scope: 'orders:write',
      body: ShipmentInput,
      responses: { 201: Shipment },
      description: 'Takes the units off the shelf. The order is `processing` while something is left, then `shipped`.',
    },
    (call) =>
      call.write(async (tx) => {
        const { body, clock, now } = call
        const acting = actingOf(call)
        const order = await findOrder(tx, call.params.id)
        const lines = await readLines(tx, order.id)
        const units = body.lines ? unitsOf(lines, body.lines) : openUnits(lines)
        requireShippable(order, units)
        for (const { line, quantity } of units) await shipUnits(tx, acting, order, line, quantity)
        await noteShipment(tx, acting, order, lines)
        const id = clock.id()
        const carrier = body.carrier?.trim() || null
        const trackingNumber = body.trackingNumber?.trim() || null
        const label = await labelFor(tx, order, {
          shipmentId: id,
          units,
          carrier,
          trackingNumber,
          template: body.template,
          isSandbox: call.session.environment === 'sandbox',
          settings: await call.settings(),
        })
        const row = {
          id,
          orderId: order.id,
          lines: units.map(({ line, quantity }) => ({ lineId: line.id, quantity })),
          carrier: carrier ?? label?.addonName ?? null,
          trackingNumber,
          trackingUrl: body.trackingUrl ?? null,
          createdAt: now,
          label,
        }
        await tx.insert(shipments).values(row)
        await askForMail(tx, call, order, 'shipment', id)
        return row
      }),
  )
  .get(
    '',
    {
      operationId: 'listShipments',
      summary: "List an order's shipments",
      scope: 'orders:read',
      query: Paging(50),
      responses: { 200: Page(Shipment) },
      stored: true,
    },
    async ({ db, params, query: { limit, offset } }) => {
      const { id } = await findOrder(db, params.id)
      const rows = await db
        .select()
        .from(shipments)
        .where(eq(shipments.orderId, id))
        .orderBy(desc(shipments.id))
        .limit(limit)
        .offset(offset)
      return {
        data: rows,
        meta: { count: await db.$count(shipments, eq(shipments.orderId, id)), offset, limit },
      }
    },
  )
  .get(
    '/{shipmentId}/label',
    {
      operationId: 'getShipmentLabel',
      summary: "Print a shipment's label",
      description:
        'In the format of the carrier: for carrier_a its `labelMode`, a PDF for the others. It says what held when the shipment was made.',
      scope: 'orders:read',
      responses: { 200: ['application/pdf', 'application/zpl', 'application/epl', 'application/dpl'] },
      refuses: [409],
    },
    async ({ db, params }) => {
      const order = await findOrder(db, params.id)
      const [shipment] = await db
        .select()
        .from(shipments)
        .where(and(eq(shipments.id, params.shipmentId), eq(shipments.orderId, order.id)))
      if (!shipment) throw missing('shipment')
      const { label } = shipment
      if (!label) throw new Refusal(404, 'the shipment has no label: it was not given to a linked carrier')
      const addon = await findAddon(db, label.addonName)
      if (!isStillConnected(addon, label))
        throw conflict(`${label.addonName} is no longer connected for ${label.environment}: connect it again to print its labels`)
      // Fonts, barcodes and PDF are loaded by those alone who print.
      const { labelOf } = await import('../carriers/labels/label.ts')
      const mode = addon!.config.labelMode ?? LABEL_MODES[0]
      const { type, extension, bytes } = await labelOf(
        label.addonName,
        mode,
        contentOf(order, label, shipment),
        new Date(shipment.createdAt),
      )
      return new Reply(200, bytes, {
        'content-type': type,
        'content-disposition': `inline; filename="label-${order.lookup}-${shipment.id.slice(-12)}.${extension}"`,
      })
    },
  )
