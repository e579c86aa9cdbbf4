/** What pages say to search engines and assistants (schema.org). */
import { activeVariants, canBuy, priceIn } from './money.ts'
import { pathIn, productPath, shop, storeIn } from './store.ts'
import type { Language, Post, Product } from './types.ts'

const absolute = (path: string) => new URL(path, shop.base).href
const CONTEXT = { '@context': 'https://schema.org' }

const crumbs = (language: Language, trail: { name: string; path: string }[]) => ({
  '@type': 'BreadcrumbList',
  itemListElement: trail.map(({ name, path }, at) => ({
    '@type': 'ListItem',
    position: at + 1,
    name,
    item: absolute(pathIn(language, path)),
  })),
})

export function productLd(product: Product, language: Language, trail: { name: string; path: string }[]) {
  const url = absolute(pathIn(language, productPath(product)))
  const brand = product.brandId && storeIn(language).brand.get(product.brandId)
  const offers = activeVariants(product)
    .filter(({ price }) => price !== null)
    .map((variant) => ({
      '@type': 'Offer',
      url,
      price: priceIn(variant, shop.currency),
      priceCurrency: shop.currency.toUpperCase(),
      availability: `https://schema.org/${canBuy(variant) ? (variant.stock.tracked && variant.stock.available < 1 ? 'BackOrder' : 'InStock') : 'OutOfStock'}`,
      ...(variant.sku ? { sku: variant.sku } : {}),
    }))
  const own = {
    '@type': 'Product',
    name: product.name,
    url,
    ...(product.summary ? { description: product.summary } : {}),
    ...(product.images.length ? { image: product.images.slice(0, 5).map(absolute) } : {}),
    ...(brand ? { brand: { '@type': 'Brand', name: brand.name } } : {}),
    ...(offers.length ? { offers } : {}),
    ...(product.rating.average
      ? { aggregateRating: { '@type': 'AggregateRating', ratingValue: product.rating.average, reviewCount: product.rating.count } }
      : {}),
  }
  return { ...CONTEXT, '@graph': [own, crumbs(language, [...trail, { name: product.name, path: productPath(product) }])] }
}

export const eventLd = (product: Product, language: Language) => ({
  ...CONTEXT,
  '@type': 'Event',
  name: product.name,
  url: absolute(pathIn(language, productPath(product))),
  ...(product.summary ? { description: product.summary } : {}),
  ...(product.images.length ? { image: product.images.slice(0, 5).map(absolute) } : {}),
  ...(product.event?.startsAt ? { startDate: product.event.startsAt } : {}),
  ...(product.event?.location ? { location: { '@type': 'Place', name: product.event.location, address: product.event.location } } : {}),
  organizer: { '@type': 'Organization', name: shop.name, url: shop.base },
  offers: activeVariants(product).map((variant) => ({
    '@type': 'Offer',
    price: variant.price,
    priceCurrency: shop.currency.toUpperCase(),
    availability: `https://schema.org/${canBuy(variant) ? 'InStock' : 'SoldOut'}`,
  })),
})

export const postLd = (post: Post, language: Language) => ({
  ...CONTEXT,
  '@type': 'BlogPosting',
  headline: post.title,
  url: absolute(pathIn(language, `/blog/${post.slug}`)),
  ...(post.publishedAt ? { datePublished: post.publishedAt } : {}),
  dateModified: post.updatedAt,
  ...(post.image ? { image: absolute(post.image) } : {}),
  publisher: { '@type': 'Organization', name: shop.name },
})

export const shopLd = () => ({
  ...CONTEXT,
  '@graph': [
    {
      '@type': 'OnlineStore',
      name: shop.name,
      url: absolute('/'),
      ...(shop.looks.logo ? { logo: absolute(shop.looks.logo) } : {}),
      ...(shop.contactEmail ? { email: shop.contactEmail } : {}),
      ...(shop.socials.length ? { sameAs: shop.socials.map(({ url }) => url) } : {}),
    },
    {
      '@type': 'WebSite',
      name: shop.name,
      url: absolute('/'),
      potentialAction: {
        '@type': 'SearchAction',
        target: { '@type': 'EntryPoint', urlTemplate: `${absolute('/search')}?q={search_term_string}` },
        'query-input': 'required name=search_term_string',
      },
    },
  ],
})

export const listLd = (name: string, products: Product[], language: Language) => ({
  ...CONTEXT,
  '@type': 'CollectionPage',
  name,
  mainEntity: {
    '@type': 'ItemList',
    itemListElement: products.slice(0, 24).map((product, at) => ({
      '@type': 'ListItem',
      position: at + 1,
      url: absolute(pathIn(language, productPath(product))),
      name: product.name,
    })),
  },
})
