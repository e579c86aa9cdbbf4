/** The choices of a buyer (document 3): the shipping methods that serve a cart, with their prices for it. */
import { asc } from 'drizzle-orm'
import type { Reader } from '../../db/driver.ts'
import { addons, CARRIERS } from '../../db/store/addons.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { Currency } from '../catalog/shapes.ts'
import { resource } from '../http/route.ts'
import { Counted, Named, Nullable, OneOf, Type, Uuid, type Static } from '../http/schema.ts'
import { environmentOf, opened, type AddonRow } from '../carriers/addon.ts'
import type { CredentialsB } from '../outside/carriers.ts'
import type { Secrets } from '../outside/secrets.ts'
import { findCart, visitor, seenIn } from './cart.ts'
import { quote } from '../pricing/quote.ts'
import { methodPrice, SHIPPING_TYPES, type MethodRow } from '../pricing/shipping-method.ts'

const PointPicker = Named(
  'PointPicker',
  {
    environment: OneOf(['live', 'test']),
    token: Nullable(Type.String(), { description: "The geowidgetToken of carrier_b, which the carrier's widget wants in the browser" }),
  },
  { description: "Left out unless the carrier's point picker is to be shown: for a linked `pickup_point` or `parcel`" },
)
const Option = Named('ShippingOption', {
  id: Uuid(),
  name: Type.String({ examples: ['Standard delivery'] }),
  description: Nullable(Type.String()),
  type: OneOf(SHIPPING_TYPES, { examples: ['pickup_point'] }),
  priceCents: Type.Integer(),
  currency: Type.String(),
  minShippingTime: Nullable(Type.Integer()),
  maxShippingTime: Nullable(Type.Integer()),
  addonName: Nullable(OneOf(CARRIERS, { examples: ['carrier_b'] })),
  pointPicker: Type.Optional(PointPicker),
})

/** The settings with which the browser opens the picker of a connected carrier; null while it has no credentials. */
function pickerOf(addon: AddonRow, secrets: Secrets): Static<typeof PointPicker> | null {
  const environment = environmentOf(addon)
  if (!environment) return null
  // A server whose key has changed can't open it: the buyer still has to be shown what there is.
  const token = addon.name === 'carrier_b' ? (opened<CredentialsB>(secrets, addon, environment)?.geowidgetToken ?? null) : null
  return { environment, token }
}

/** The pickers of the carriers that the methods name, by carrier. */
async function pickersOf(db: Reader, methods: readonly MethodRow[], secrets: Secrets) {
  const rows = methods.some(hasPoints) ? await db.select().from(addons).limit(CARRIERS.length) : []
  return new Map(rows.map((row) => [row.name, pickerOf(row, secrets)]))
}

/** Whether a method is of a carrier that brings to points of its own. */
const hasPoints = ({ addonName, type }: MethodRow) => addonName !== null && (type === 'pickup_point' || type === 'parcel')

export const shippingOptionRoutes = resource('checkout', '/carts').get(
  '/{id}/shipping-options',
  {
    operationId: 'listShippingOptions',
    summary: 'Ways to ship a cart',
    description: "The methods that serve the cart's address, with what they cost for it.",
    ...visitor,
    query: { currency: Currency },
    responses: { 200: Counted(Option) },
  },
  async ({ db, services, params, query, now, settings: read }) => {
    const settings = await read()
    const cart = seenIn(await findCart(db, params.id, now), query, settings)
    const country = cart.shippingAddress?.country ?? null
    const quoted = await quote(db, { ...cart, shippingMethodId: null }, settings, now)
    const rows = await db.select().from(shippingMethods).orderBy(asc(shippingMethods.position), asc(shippingMethods.id)).limit(500)
    const pickers = await pickersOf(db, rows, services.secrets)
    const data: Static<typeof Option>[] = []
    for (const row of rows) {
      const cost = methodPrice(row, cart.currency, settings)
      if (!cost || (country !== null && row.countries.length && !row.countries.includes(country))) continue
      const free = quoted.price.freeShipping || (cost.freeShippingThreshold !== null && quoted.price.subtotal > cost.freeShippingThreshold)
      const picker = hasPoints(row) ? pickers.get(row.addonName!) : null
      data.push({
        id: row.id,
        name: row.name,
        description: row.description,
        type: row.type,
        priceCents: free ? 0 : cost.price,
        currency: cart.currency,
        minShippingTime: row.minShippingTime,
        maxShippingTime: row.maxShippingTime,
        addonName: row.addonName,
        ...(picker ? { pointPicker: picker } : {}),
      })
    }
    return { data, meta: { count: data.length } }
  },
)
