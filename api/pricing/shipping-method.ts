/** Shipping methods and pickup locations as far as prices depend on them. */
import { eq } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { pickupLocations, shippingMethods } from '../../db/store/checkout.ts'
import type { Settings } from '../http/route.ts'

export const SHIPPING_TYPES = ['courier', 'parcel', 'pickup_point', 'in_store'] as const
/** A shipping method as it is stored. */
export type MethodRow = typeof shippingMethods.$inferSelect

/** The price of a method in a currency, in minor units; null when the merchant set no price in it. */
export function methodPrice(
  row: Pick<MethodRow, 'price' | 'freeShippingThreshold' | 'currencyPrices'>,
  currency: string,
  settings: Settings,
): { price: number; freeShippingThreshold: number | null } | null {
  return currency === settings.currency
    ? { price: row.price, freeShippingThreshold: row.freeShippingThreshold }
    : (row.currencyPrices[currency] ?? null)
}

const methodById = compile((db) =>
  db
    .select()
    .from(shippingMethods)
    .where(eq(shippingMethods.id, named('id'))),
)

/** The method with this id; null when there is none. */
export const readMethod = async (db: Reader, id: string | null) =>
  id === null ? null : (((await methodById.get(db, { id })) as MethodRow | undefined) ?? null)

const locationById = compile((db) =>
  db
    .select({ id: pickupLocations.id })
    .from(pickupLocations)
    .where(eq(pickupLocations.id, named('id'))),
)

/** Whether a pickup location is in the store. */
export const isLocation = async (db: Reader, id: string): Promise<boolean> => (await locationById.get(db, { id })) !== undefined
