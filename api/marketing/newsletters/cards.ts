/** The products that a newsletter features, as they are when it is sent, each with its page in the shop. */
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { products, variants } from '../../../db/store/catalog.ts'
import type { Featured } from '../../../db/store/newsletters.ts'
import type { Settings } from '../../http/route.ts'
import { decimalsOf, toMajor } from '../../values/money.ts'
import type { ShopLinks } from '../../store/mails/shop-links.ts'
import type { Card } from './letter.ts'

/** An amount as people of the store's locale write it. */
function spelledPrice(minor: number, { currency, locale }: Pick<Settings, 'currency' | 'locale'>): string {
  const digits = decimalsOf(currency)
  const format = {
    style: 'currency',
    currency: currency.toUpperCase(),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const
  return new Intl.NumberFormat(locale, format).format(toMajor(minor, currency))
}

/** The cards of a newsletter, in its order; what is no longer sold is left out. */
export async function cardsOf(db: Reader, featured: readonly Featured[], settings: Settings, shop: ShopLinks | null): Promise<Card[]> {
  if (!featured.length) return []
  const rows = await db
    .select({
      productId: products.id,
      name: products.name,
      slug: products.slug,
      images: products.images,
      variantId: variants.id,
      variantName: variants.name,
      price: variants.price,
      compareAtPrice: variants.compareAtPrice,
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(
      and(
        inArray(
          products.id,
          featured.map(({ productId }) => productId),
        ),
        eq(products.status, 'published'),
        eq(variants.active, true),
      ),
    )
    .orderBy(asc(variants.price), asc(variants.position), asc(variants.id))
  return featured.flatMap(({ productId, variantId }) => {
    const row = rows.find((candidate) => candidate.productId === productId && (variantId === null || candidate.variantId === variantId))
    if (!row) return []
    const { name, slug, variantName, images, price, compareAtPrice } = row
    const reduced = compareAtPrice !== null && compareAtPrice > price
    return {
      name: variantId === null || variantName === name ? name : `${name} – ${variantName}`,
      image: images[0] ?? null,
      price: spelledPrice(price, settings),
      before: reduced ? spelledPrice(compareAtPrice, settings) : null,
      url: shop && shop.product(slug),
    }
  })
}
