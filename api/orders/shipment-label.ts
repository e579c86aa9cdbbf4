/** The link of a shipment to its carrier: decided when it is made, and kept as it was then. */
import { eq, inArray } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { addons, CARRIERS, TEMPLATES, type ShipmentLabel, type Template } from '../../db/store/addons.ts'
import { variants } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import type { Address } from '../../db/store/store.ts'
import { conflict } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import { Named, Nullable, OneOf, Type } from '../http/schema.ts'
import { environmentOf, isManageable, type AddonRow } from '../carriers/addon.ts'
import type { LabelContent } from '../carriers/labels/layout.ts'
import { isBarcodable, numberOf, templateFor } from '../carriers/labels/parcel.ts'
import type { OrderRow, Units } from './order.ts'

/** The label of a shipment on the wire. */
export const LabelView = Nullable(
  Named('ShipmentLabel', {
    addonName: OneOf(CARRIERS, { examples: ['carrier_b'] }),
    environment: OneOf(['live', 'test'], { description: 'Whose credentials it was made with; a label of `test` can not be shipped' }),
    number: Type.String({ description: 'What the barcode says', examples: ['1Z999AA10123456784'] }),
    template: Nullable(OneOf(TEMPLATES), { description: 'Parcel size of carrier_b' }),
  }),
  { description: 'Null unless the shipping method is linked to a carrier, and that carrier brings it' },
)

/** The facts that decide about the label of a shipment, besides its order. */
interface Shipping {
  shipmentId: string
  units: readonly Units[]
  carrier: string | null
  trackingNumber: string | null
  template: Template | undefined
  isSandbox: boolean
  settings: Settings
}

async function sizesOf(tx: Db, units: readonly Units[]) {
  const ids = [...new Set(units.flatMap(({ line }) => line.variantId ?? []))]
  const rows = await tx
    .select({ id: variants.id, weightGrams: variants.weightGrams, dimensionsMm: variants.dimensionsMm })
    .from(variants)
    .where(inArray(variants.id, ids))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const sized = units.map(({ line, quantity }) => {
    const row = line.variantId === null ? undefined : byId.get(line.variantId)
    return { quantity, size: row?.dimensionsMm ?? null, grams: row?.weightGrams ?? null }
  })
  const weightGrams = sized.some(({ grams }) => grams === null)
    ? null
    : sized.reduce((sum, { grams, quantity }) => sum + grams! * quantity, 0)
  return { sized, weightGrams }
}

function templateOf(addon: AddonRow, given: Template | undefined, sized: Parameters<typeof templateFor>[0]): Template | null {
  if (addon.name !== 'carrier_b') return null
  const template = given ?? templateFor(sized) ?? addon.config.fallbackTemplate
  if (!template)
    throw conflict('carrier_b needs a parcel size: send template, give the products dimensions, or set its fallbackTemplate', {
      hint: `template is one of ${TEMPLATES.join(', ')}`,
    })
  return template
}

/** The label of a shipment that is being made; null when no connected carrier brings it. Refuses with 409 a parcel of unknown size. */
export async function labelFor(tx: Db, order: OrderRow, shipping: Shipping): Promise<ShipmentLabel | null> {
  const { shipmentId, units, carrier, trackingNumber, isSandbox, settings } = shipping
  const [linked] = await tx
    .select({ addon: addons, method: shippingMethods })
    .from(shippingMethods)
    .innerJoin(addons, eq(addons.id, shippingMethods.addonId))
    .where(eq(shippingMethods.id, order.shippingMethodId ?? ''))
  // A parcel that is given to somebody else has their label.
  if (!linked || (carrier !== null && carrier !== linked.addon.name)) return null
  const { addon, method } = linked
  const environment = environmentOf(addon)
  if (!environment) return null
  const { sized, weightGrams } = await sizesOf(tx, units)
  const service = method.addonData?.service
  return {
    addonName: addon.name,
    environment: isSandbox ? 'test' : environment,
    number: trackingNumber !== null && isBarcodable(trackingNumber) ? trackingNumber : numberOf(shipmentId),
    service: typeof service === 'string' || typeof service === 'number' ? String(service).slice(0, 100) : method.type,
    template: templateOf(addon, shipping.template, sized),
    sender: { ...settings.address, name: settings.name },
    weightGrams,
  }
}

/** Whether a carrier still has what a label was made with. */
export const isStillConnected = (addon: AddonRow | undefined, { environment }: ShipmentLabel): boolean =>
  addon !== undefined && (!isManageable(addon.name) || addon[environment] !== null)

/** Countries whose addresses have the postal code behind the city. */
const CODE_LAST = new Set(['US', 'CA', 'AU', 'NZ', 'GB', 'IE', 'IN'])
const countryNames = new Intl.DisplayNames('en', { type: 'region' })
const joined = (...parts: (string | null | undefined)[]) => parts.filter(Boolean).join(' ')

/** An address as lines, the name first. */
function linesOf({ name, company, line1, line2, city, state, postalCode, country, phone }: Address): string[] {
  const place = CODE_LAST.has(country ?? '') ? joined(city, state, postalCode) : joined(postalCode, city, state)
  const land = country && /^[A-Z]{2}$/.test(country) ? `${country} ${countryNames.of(country)!.toUpperCase()}` : country
  return [name, company, line1, line2, place, land, phone].filter((line): line is string => Boolean(line?.trim()))
}

/** The fields of a pickup point that a label shows, in the order in which they are read. */
const POINT_FIELDS = ['id', 'code', 'name', 'address', 'line1', 'street', 'postalCode', 'city']

function pointLines(point: Record<string, unknown> | null): string[] {
  const texts = POINT_FIELDS.flatMap((field) => {
    const value = point?.[field]
    return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 200) : []
  }).filter((text) => text.trim())
  const [first, ...rest] = texts
  return first === undefined ? [] : rest.length ? [first, rest.join(', ')] : [first]
}

/** The texts on the label of a shipment. */
export function contentOf(
  order: OrderRow,
  label: ShipmentLabel,
  shipment: { createdAt: string; trackingNumber: string | null },
): Omit<LabelContent, 'bars'> {
  const { addonName, service, weightGrams, template, number } = label
  const to = order.shippingAddress ?? {}
  const tracked = shipment.trackingNumber !== null && shipment.trackingNumber !== number ? shipment.trackingNumber : null
  return {
    carrier: `Carrier ${addonName.slice(-1).toUpperCase()}`,
    service: service.replaceAll('_', ' '),
    reference: `Order ${order.lookup}`,
    date: shipment.createdAt.slice(0, 10),
    sender: linesOf(label.sender),
    recipient: linesOf({ ...to, name: to.name ?? order.name, phone: to.phone ?? order.phone }),
    pickupPoint: pointLines(order.pickupPoint),
    facts: [
      joined(weightGrams === null ? null : `${weightGrams / 1000} kg`, template && `Size: ${template}`),
      tracked === null ? '' : `Tracking: ${tracked}`,
    ],
    number,
    isTest: label.environment === 'test',
  }
}
