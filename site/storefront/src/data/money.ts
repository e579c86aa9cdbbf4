/** Prices as people read them, in each currency that they were set in. */
import { shop } from './store.ts'
import type { Language, Product, Variant } from './types.ts'

const formats = new Map<string, Intl.NumberFormat>()

/** `19.99` as `$19.99`. */
export function money(amount: number, currency: string, { code }: Language): string {
  const key = `${code} ${currency}`
  let format = formats.get(key)
  if (!format) formats.set(key, (format = new Intl.NumberFormat(code, { style: 'currency', currency: currency.toUpperCase() })))
  return format.format(amount)
}

/** The price of a variant in a currency; undefined where the merchant set none. */
export const priceIn = ({ price, prices }: Pick<Variant, 'price' | 'prices'>, currency: string): number | undefined =>
  currency === shop.currency ? (price ?? undefined) : prices[currency]

/** The prices of something in all currencies, as texts: what the host shows to those who chose another one. */
export const texts = (thing: Pick<Variant, 'price' | 'prices'>, language: Language): Record<string, string> =>
  Object.fromEntries(
    shop.currencies.flatMap((currency) => {
      const amount = priceIn(thing, currency)
      return amount === undefined ? [] : [[currency, money(amount, currency, language)]]
    }),
  )

export const activeVariants = ({ variants }: Product) => variants.filter(({ active }) => active).toSorted((a, b) => a.position - b.position)
export const canBuy = ({ stock, price }: Variant) => price !== null && (!stock.tracked || stock.backorder || stock.available > 0)
export const isSoldOut = (product: Product) => !activeVariants(product).some(canBuy)
/** Whether its variants have different prices. */
export const hasRange = (product: Product) => new Set(activeVariants(product).map(({ price }) => price)).size > 1

/** What a product cost before it was reduced; null for one that is not. */
export function priceBefore(product: Product): number | null {
  const cheapest = activeVariants(product).find(({ price }) => price === product.price)
  return cheapest?.compareAtPrice && product.price !== null && cheapest.compareAtPrice > product.price ? cheapest.compareAtPrice : null
}
