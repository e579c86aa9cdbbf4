/** The link of a shipping method to a carrier (document 1, Shipping method). */
import { eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { addons, CARRIERS, type Carrier } from '../../db/store/addons.ts'
import type { shippingMethods } from '../../db/store/checkout.ts'
import { invalid, wrong } from '../values/refusal.ts'
import { Nullable, OneOf, Type } from '../http/schema.ts'

type Row = typeof shippingMethods.$inferSelect
type Link = Pick<Row, 'addonId' | 'addonName' | 'addonData'>

export const AddonName = Nullable(OneOf(CARRIERS, { description: 'The carrier has to be connected first' }))
export const AddonData = Nullable(Type.Object({}, { additionalProperties: true, maxProperties: 50 }), {
  description: 'What the carrier needs: required for carrier_c with `id`, `name` and `service`, else made from the method',
})

const TITLES: Record<Carrier, string> = { carrier_a: 'Carrier A', carrier_b: 'Carrier B', carrier_c: 'Carrier C' }
/** The fields without which carrier_c can't take a method. */
const NEEDED = ['id', 'name', 'service'] as const

/** The carrier's data for a method that brings none of its own: the carrier itself, and the kind of delivery. */
const derivedData = (name: Carrier, type: Row['type']) => ({ id: name, name: TITLES[name], service: type })

const isFilled = (value: unknown) => (typeof value === 'string' ? value.trim() !== '' : Number.isFinite(value))

function requireNeeded(data: Record<string, unknown> | null | undefined) {
  if (!data) throw invalid([{ code: 'required', message: 'is required for carrier_c', path: ['addonData'] }])
  const details = NEEDED.filter((field) => !isFilled(data[field])).map((field) => ({
    code: data[field] === undefined ? ('required' as const) : ('invalid_type' as const),
    message: data[field] === undefined ? 'is required for carrier_c' : 'must be text or a number',
    path: ['addonData', field],
  }))
  if (details.length) throw invalid(details)
}

/** The link that a body asks for; none when it names no carrier. Refuses with 400 a carrier that is not connected. */
export async function linkOf(
  tx: Db,
  { type, addonName, addonData }: { type: Row['type']; addonName?: Carrier | null; addonData?: unknown },
): Promise<Link> {
  const data = addonData as Record<string, unknown> | null | undefined
  if (!addonName) {
    if (data) throw wrong('addonData', 'is for the carrier that addonName names')
    return { addonId: null, addonName: null, addonData: null }
  }
  const [addon] = await tx.select({ id: addons.id }).from(addons).where(eq(addons.name, addonName))
  if (!addon) throw wrong('addonName', 'the carrier is not connected')
  if (addonName === 'carrier_c') requireNeeded(data)
  return { addonId: addon.id, addonName, addonData: data ?? derivedData(addonName, type) }
}
