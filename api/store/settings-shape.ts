/** The settings on the wire: what is read, what may be changed (document 3, Store, settings, team, keys). */
import type { Settings as Stored } from '../http/route.ts'
import {
  Count,
  CountryCode,
  CurrencyCode,
  Email,
  Label,
  Line,
  Named,
  Nullable,
  OneOf,
  Text,
  Type,
  Uuid,
  type Static,
  type TProperties,
} from '../http/schema.ts'
import { LOOKUP_RESULTS, proofOf } from './email-domain.ts'

/** Text that ends up in mail headers and on labels. */
const optionalLine = (maxLength: number) => Nullable(Line(0, maxLength))
const hours = Nullable(Type.Number({ minimum: 0, maximum: 8_760 }))
const minutes = Nullable(Type.Number({ minimum: 0, maximum: 10_080 }))

const plain = {
  name: Label(200, { examples: ['Atelier Nord'] }),
  contactEmail: Nullable(Email()),
  defaultLanguage: Text(2, 10),
  taxesIncluded: Type.Boolean(),
  lowStockThreshold: Count(),
  timezone: Text(1, 64, {
    description: 'IANA name: what a day is in analytics, and where dates without a time are entered',
    examples: ['Europe/Warsaw'],
  }),
}
const address = {
  company: optionalLine(200),
  line1: optionalLine(200),
  line2: optionalLine(200),
  city: optionalLine(100),
  state: optionalLine(100),
  postalCode: optionalLine(20),
  country: Nullable(CountryCode()),
}
/** Objects that are merged field by field. */
export const groups = {
  tools: {
    events: Type.Boolean(),
    bookings: Type.Boolean(),
    reviews: Type.Boolean(),
    blog: Type.Boolean(),
    loyalty: Type.Boolean(),
    wishlist: Type.Boolean(),
  },
  checkout: {
    requirePhone: Type.Boolean(),
    guestCheckout: Type.Boolean(),
    cartTtlDays: Type.Integer({ minimum: 1, maximum: 365 }),
    unpaidHours: Type.Integer({ minimum: 1, maximum: 720, description: 'So long an order that is paid by hand waits for its money' }),
  },
  payments: { testMode: Type.Boolean() },
  booking: { cancellationHours: hours, bufferMinutes: minutes, autoConfirm: Nullable(Type.Boolean()) },
  welcomeOffer: { enabled: Type.Boolean(), couponId: Nullable(Uuid()) },
  reviewRequest: {
    enabled: Type.Boolean({ description: 'Buyers are asked for a review by mail' }),
    afterDays: Type.Integer({ minimum: 1, maximum: 60, description: 'So many days after an order was delivered or completed' }),
  },
}
/** Buyers are not asked for reviews unless a store says so. */
export const NO_REVIEW_REQUEST = { enabled: false, afterDays: 14 }
const email = {
  fromName: optionalLine(100),
  fromAddress: Nullable(Email()),
  outboundEnabled: Type.Boolean(),
  domain: Nullable(Text(1, 253)),
  doubleOptIn: Type.Boolean({ description: 'New subscribers confirm by mail' }),
}
const languages = Type.Record(Type.String(), Type.Boolean(), { description: 'By locale; the base locale stays enabled' })
const currencies = (code: typeof plain.defaultLanguage) =>
  Type.Array(code, { maxItems: 200, description: 'Lowercase; the base currency is always among them' })

const { tools, checkout, payments, booking, welcomeOffer, reviewRequest } = groups
export const Settings = Named('Settings', {
  ...plain,
  address: Type.Object(address),
  enabledLanguages: languages,
  enabledCurrencies: currencies(Type.String()),
  currency: Type.String({ description: 'Base currency' }),
  locale: Type.String({ description: 'Base locale' }),
  tools: Type.Object(tools),
  checkout: Type.Object(checkout),
  payments: Type.Object(payments),
  booking: Type.Object(booking),
  welcomeOffer: Type.Object(welcomeOffer),
  reviewRequest: Type.Object(reviewRequest),
  email: Type.Object({
    ...email,
    domainVerified: Type.Boolean(),
    dns: Nullable(
      Type.Object({ type: Type.Literal('TXT'), name: Type.String({ examples: ['_stoa.shop.example.com'] }), value: Type.String() }),
      {
        description: 'The record to publish, so that the domain can be verified',
      },
    ),
    lastCheck: Nullable(
      Type.Object({
        name: Type.String({ description: 'The name that was asked for' }),
        expected: Type.String({ description: 'The value that it must have' }),
        found: Type.Array(Type.String(), { description: 'The TXT records that are there, at most 10' }),
        result: OneOf(LOOKUP_RESULTS),
        at: Type.String(),
      }),
      { description: 'What the last check of the record found' },
    ),
  }),
  updatedAt: Type.String(),
})

const part = <T extends TProperties>(fields: T) => Type.Partial(Type.Object(fields))
export const SettingsPatch = Type.Partial(
  Type.Object({
    ...plain,
    address: part(address),
    enabledLanguages: languages,
    enabledCurrencies: currencies(CurrencyCode()),
    tools: part(tools),
    checkout: part(checkout),
    payments: part(payments),
    booking: part(booking),
    welcomeOffer: part(welcomeOffer),
    reviewRequest: part(reviewRequest),
    email: part(email),
  }),
  {
    $id: 'SettingsPatch',
    examples: [
      { contactEmail: 'ada@example.com', defaultLanguage: 'en-US', taxesIncluded: true, lowStockThreshold: 100, timezone: 'Europe/Warsaw' },
    ],
  },
)
export type Patch = Static<typeof SettingsPatch>

const NO_ADDRESS = { company: null, line1: null, line2: null, city: null, state: null, postalCode: null, country: null }

/** The settings as they are answered. */
export function view(row: Stored) {
  const {
    name,
    contactEmail,
    currency,
    locale,
    defaultLanguage,
    enabledLanguages,
    enabledCurrencies,
    taxesIncluded,
    lowStockThreshold,
    timezone,
    updatedAt,
  } = row
  return {
    name,
    contactEmail,
    address: { ...NO_ADDRESS, ...row.address },
    currency,
    locale,
    defaultLanguage,
    enabledLanguages,
    enabledCurrencies,
    taxesIncluded,
    tools: row.tools,
    checkout: row.checkout,
    payments: row.payments,
    email: {
      ...row.email,
      doubleOptIn: row.email.doubleOptIn ?? false,
      domainVerified: row.emailDomainVerified,
      dns: row.email.domain === null ? null : proofOf(row.email.domain, row.emailDomainToken),
      lastCheck: row.emailDomainCheck as Static<typeof Settings>['email']['lastCheck'],
    },
    booking: row.booking,
    welcomeOffer: row.welcomeOffer,
    reviewRequest: row.reviewRequest ?? NO_REVIEW_REQUEST,
    lowStockThreshold,
    timezone,
    updatedAt,
  }
}
