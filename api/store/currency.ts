/** The currencies of a store: its own, and those that its settings enable. */
import { wrong } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import { isCurrency } from '../values/money.ts'

/** Where to enable a currency, for whoever may. */
const HOW_TO_ENABLE = 'PATCH /settings enables a currency by its name in enabledCurrencies'

/** The currency that a request names in its field `currency`, in lowercase; the store's own when it names none, 400 when it is not enabled. */
export function currencyOf(code: string | undefined, settings: Settings): string {
  const currency = code?.toLowerCase() ?? settings.currency
  if (!isCurrency(currency)) throw wrong('currency', 'is not a currency of ISO 4217')
  if (currency !== settings.currency && !settings.enabledCurrencies.includes(currency))
    throw wrong('currency', `is not an enabled currency of the store: ${HOW_TO_ENABLE}`)
  return currency
}

/**
 * What the field `path` of a request sets by currency: the lowercase code, the value, and where that stands. Refuses what is no
 * currency, one given twice in other letters, and the store's own, whose value is that of the field `own`.
 */
export function byCurrency<T>(given: Record<string, T> | undefined, settings: Settings, { path, own }: { path: string; own: string }) {
  const result = new Map<string, { value: T; at: string }>()
  for (const [code, value] of Object.entries(given ?? {})) {
    const [currency, at] = [code.toLowerCase(), `${path}.${code}`]
    if (!isCurrency(code)) throw wrong(at, 'is not a currency')
    if (currency === settings.currency) throw wrong(at, `is the store's own currency: use ${own}`)
    if (result.has(currency)) throw wrong(at, 'must not repeat a currency')
    result.set(currency, { value, at })
  }
  return result
}
