/** Prices by currency, as requests give them. */
import { variants } from '../../db/store/catalog.ts'
import { wrong } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import { isCurrency, toMinor } from '../values/money.ts'

/** Prices of a request by lowercase currency, in minor units; refuses unknown currencies, the store's own, and too many decimals. */
export function pricesIn(prices: Record<string, number> | undefined, path: string, { currency }: Settings): Record<string, number> {
  const result: Record<string, number> = {}
  for (const [code, value] of Object.entries(prices ?? {})) {
    if (!isCurrency(code)) throw wrong(`${path}.${code}`, 'is not a currency')
    if (code.toLowerCase() === currency) throw wrong(`${path}.${code}`, "is the store's own currency: use price")
    if (Object.hasOwn(result, code.toLowerCase())) throw wrong(`${path}.${code}`, 'must not repeat a currency')
    result[code.toLowerCase()] = toMinor(value, code.toLowerCase(), `${path}.${code}`)
  }
  return result
}

/** Prices in currencies that are off now are not shown, so that nobody can send them back: they stay. */
export function keptPrices(row: typeof variants.$inferSelect, columns: Partial<typeof variants.$inferInsert>, settings: Settings) {
  if (!columns.prices) return columns
  const hidden = Object.entries(row.prices).filter(([code]) => !settings.enabledCurrencies.includes(code))
  return { ...columns, prices: { ...Object.fromEntries(hidden), ...columns.prices } }
}
