/** The catalog that every side has: the same products under the same slugs, each with two variants and a price of its own. */

export const PRODUCTS = 1_000
/** Products of one list. */
export const LIST = 20
export const PAGES = PRODUCTS / LIST
/** Products that are read by themselves: all of them would take the slow ones long to be checked. */
export const READ = 200
/** Carts with one line that are there to be read. */
export const CARTS = 50
const FIRST_CENTS = 1_000
/** From one product to the next; the second variant of a product lies between. */
const STEP_CENTS = 10

interface Product {
  name: string
  slug: string
  description: string
  variants: { name: string; sku: string; cents: number }[]
}

/** The products in their order; no two variants cost the same, so that a price tells which one it is. */
export const catalog: readonly Product[] = Array.from({ length: PRODUCTS }, (_, i) => ({
  name: `Product ${i + 1}`,
  slug: `product-${i + 1}`,
  description: `Product ${i + 1} in a few words: what it is made of, what it is for, and how it wants to be looked after once it is yours.`,
  variants: ['Small', 'Large'].map((name, k) => ({
    name,
    sku: `P${i + 1}-${name[0]}`,
    cents: FIRST_CENTS + i * STEP_CENTS + (k * STEP_CENTS) / 2,
  })),
}))

/** The nth of the products that are read by themselves: from all over the catalog. */
export const readAt = (n: number): Product => catalog[n * (PRODUCTS / READ)]!

/** The price of a product's first variant, by its slug. */
export const centsBySlug: ReadonlyMap<string, number> = new Map(catalog.map(({ slug, variants }) => [slug, variants[0]!.cents]))
