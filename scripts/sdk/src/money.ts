/** Amounts as people read them. `Intl` alone is not enough: it shows some currencies, such as the forint, with fewer decimals than ISO 4217. */

const NONE = new Set('bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'.split(' '))
const THREE = new Set('bhd iqd jod kwd lyd omr tnd'.split(' '))

/** How many decimals the amounts of a currency have, after ISO 4217: 0, 2 or 3. */
export function decimalsOf(currency: string): number {
  const code = currency.toLowerCase()
  return NONE.has(code) ? 0 : THREE.has(code) ? 3 : 2
}

/** A price of the catalog, which is in major units, as text in a language: `formatPrice(49.9, 'usd', 'en-US')` is `$49.90`. */
export function formatPrice(price: number, currency: string, locale?: string): string {
  const decimals = decimalsOf(currency)
  const options = { style: 'currency', currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals } as const
  return new Intl.NumberFormat(locale, options).format(price)
}

/** An amount of a cart or an order, which is in minor units (`totalCents`), as text: `formatCents(1250, 'jpy', 'en-US')` is `¥1,250`. */
export const formatCents = (cents: number, currency: string, locale?: string): string =>
  formatPrice(cents / 10 ** decimalsOf(currency), currency, locale)
