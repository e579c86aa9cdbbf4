/** Postal and mail addresses of carts and orders. */
import type { Address } from '../../db/store/store.ts'
import { CountryCode, Named, Nullable, Text, Type, type Static } from '../http/schema.ts'
import { isEmail, normalizeEmail } from '../values/email.ts'
import { invalid, wrong } from '../values/refusal.ts'

const line = (maxLength = 200, options = {}) => Type.Optional(Nullable(Text(0, maxLength, options)))
const name = line(200, { examples: ['Ada Lovelace'] })

export const AddressInput = Named('ShippingAddressInput', {
  name,
  company: line(),
  line1: line(),
  line2: line(),
  city: line(),
  state: line(),
  postalCode: line(40),
  country: Type.Optional(Nullable(CountryCode())),
  phone: line(40),
})
export const AddressShape = Nullable(
  Named('ShippingAddress', {
    name,
    company: line(),
    line1: line(),
    line2: line(),
    city: line(),
    state: line(),
    postalCode: line(),
    country: line(),
    phone: line(),
  }),
)

/** An address as it is stored: blank lines are null, the country is upper case. */
export function addressOf(input: Static<typeof AddressInput> | null | undefined): Required<Address> | null {
  if (!input) return null
  const text = (value: string | null | undefined) => value?.trim() || null
  return {
    name: text(input.name),
    company: text(input.company),
    line1: text(input.line1),
    line2: text(input.line2),
    city: text(input.city),
    state: text(input.state),
    postalCode: text(input.postalCode),
    country: text(input.country)?.toUpperCase() ?? null,
    phone: text(input.phone),
  }
}

/** Refuses with 400 unless an address says enough to send something there. */
export function requireAddress(address: Address | null, path: string) {
  for (const field of ['line1', 'city', 'postalCode', 'country'] as const) {
    if (!address?.[field])
      throw invalid([
        { code: 'required', message: 'is required: something in the cart is shipped', path: address ? [path, field] : [path] },
      ])
  }
}

/** The stored form of an address for mail; refuses what is none, at `path`. */
export function emailOf(text: string | null | undefined, path = 'email'): string | null {
  if (text == null || !text.trim()) return null
  if (!isEmail(text.trim())) throw wrong(path, 'must be an email address')
  return normalizeEmail(text)
}
