/** The currencies of a store: its own, and those that its settings enable. */
import { wrong } from './http/refusal.ts'
import type { Settings } from './http/route.ts'

/** The currency that a request names in its field `currency`, in lowercase; the store's own when it names none, 400 when it is not enabled. */
export function currencyOf(code: string | undefined, settings: Settings): string {
  const currency = code?.toLowerCase() ?? settings.currency
  if (currency !== settings.currency && !settings.enabledCurrencies.includes(currency))
    throw wrong('currency', 'is not an enabled currency of the store')
  return currency
}
