/** The amount that a coupon or promotion takes off: a percentage, or a sum in the store's currency and others (document 1, Coupon). */
import { sql } from 'drizzle-orm'
import type { coupons, promotions } from '../../../db/store/marketing.ts'
import { byCurrency } from '../../store/currency.ts'
import { invalid } from '../../values/refusal.ts'
import type { Settings } from '../../http/route.ts'
import { Type, type Static } from '../../http/schema.ts'
import { toMajor, toMinor } from '../../values/money.ts'

/** Amounts of a request by currency code; one of 0 would take nothing off. */
export const Amounts = Type.Record(
  Type.String({ pattern: '^[A-Za-z]{3}$' }),
  Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }),
  { maxProperties: 200 },
)

/** The amounts of a request in minor units, by lowercase currency code. */
export const amountsOf = (given: Static<typeof Amounts> | undefined, settings: Settings): Record<string, number> =>
  Object.fromEntries(
    [...byCurrency(given, settings, { path: 'currencyAmounts', own: 'value' })].map(([currency, { value, at }]) => [
      currency,
      toMinor(value, currency, at),
    ]),
  )

/** Refuses a number outside of bounds that depend on another field, in the words of those that a schema has. */
export function requireWithin(field: string, value: number, minimum: number, maximum: number) {
  if (value < minimum) throw invalid([{ code: 'too_small', message: `must be at least ${minimum}`, path: [field], minimum }])
  if (value > maximum) throw invalid([{ code: 'too_big', message: `must be at most ${maximum}`, path: [field], maximum }])
}

interface Discount {
  percentage: number | null
  /** The amount in minor units of the store's currency; null unless the discount is a fixed one. */
  amount: number | null
  currencyAmounts: Record<string, number>
}

/** The amount in a currency, in minor units; null when the merchant set none in it, or it is no fixed one. */
const amountIn = (row: Discount, currency: string, settings: Settings): number | null =>
  row.amount === null || currency === settings.currency ? row.amount : (row.currencyAmounts[currency] ?? null)

/** Whether it applies in a currency: a percentage does in all of them, a fixed one in those that it has an amount in. */
export const isPricedIn = (row: Discount, currency: string, settings: Settings): boolean =>
  row.amount === null || amountIn(row, currency, settings) !== null

/** The rows that apply in a currency; undefined when all of them do. */
export const pricedIn = (table: typeof coupons | typeof promotions, currency: string, settings: Settings) =>
  currency === settings.currency
    ? undefined
    : sql`(${table.amount} is null or json_extract(${table.currencyAmounts}, ${`$.${currency}`}) is not null)`

/** `value` and `currencyAmounts` on the wire; `value` is a percentage, an amount in `currency`, or null. */
export function amountsView(row: Discount, currency: string, settings: Settings) {
  const amount = amountIn(row, currency, settings)
  return {
    value: row.percentage ?? (amount === null ? null : toMajor(amount, currency)),
    currencyAmounts: Object.fromEntries(Object.entries(row.currencyAmounts).map(([code, minor]) => [code, toMajor(minor, code)])),
  }
}
