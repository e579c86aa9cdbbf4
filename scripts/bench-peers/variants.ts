/** What is measured: calls, and for each system the ways in which it can be asked for what the call is about. */
import { CARTS, catalog, centsBySlug, LIST, PAGES, PRODUCTS, READ, readAt } from './catalog.ts'

export const CALLS = ['list', 'product', 'cart'] as const
type Call = (typeof CALLS)[number]
type System = 'floor' | 'stoa' | 'vendure' | 'medusa'

/** What each call is about. */
export const ABOUT: Record<Call, string> = {
  list: `a list of ${LIST} products with their prices, each page of ${PRODUCTS} in turn`,
  product: `one product by its slug, with its variants and prices, one of ${READ} in turn`,
  cart: `a cart with one line, one of ${CARTS} in turn`,
}

/** Different requests of a call. */
export const REQUESTS: Record<Call, number> = { list: PAGES, product: READ, cart: CARTS }

export interface Ask {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: unknown
}

/** A product or a line that an answer has; `cents` is the price of its first variant, or of the line. */
interface Item {
  slug: string | null
  cents: number
  quantity?: number
}

/** One way of asking one system. */
export interface Variant {
  call: Call
  system: System
  variant: string
  port: number
  ask: (n: number) => Ask
  /** The products or lines in an answer; throws where they are not where they belong. */
  found: (body: any) => Item[]
}

/** Amounts that a system tells in whole units of the currency. */
export const centsOf = (amount: number) => Math.round(amount * 100)

/** What is wrong with the nth answer of a call; null when it has exactly what was asked for. */
export function wrongWith(call: Call, n: number, items: readonly Item[]): string | null {
  if (call === 'list') {
    if (items.length !== LIST) return `${items.length} products instead of ${LIST}`
    if (new Set(items.map(({ slug }) => slug)).size !== LIST) return 'a product came twice'
    const odd = items.find(({ slug, cents }) => slug === null || centsBySlug.get(slug) !== cents)
    return odd ? `${odd.slug} at ${odd.cents} is not in the catalog` : null
  }
  const [item, ...more] = items
  if (!item || more.length) return `${items.length} instead of one`
  const { slug, variants } = call === 'product' ? readAt(n) : catalog[n]!
  if (call === 'product' && item.slug !== slug) return `${item.slug} instead of ${slug}`
  if (call === 'cart' && item.quantity !== 1) return `a line of ${item.quantity} instead of 1`
  return item.cents === variants[0]!.cents ? null : `a price of ${item.cents} instead of ${variants[0]!.cents}`
}
