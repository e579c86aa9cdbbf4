/** What pages say to search engines and assistants (schema.org). */
import { activeVariants, canBuy, priceIn } from './money.ts'
import { pathIn, pathOf, productPath, shop, storeIn } from './store.ts'
import type { Bundle, Language, Post, Product } from './types.ts'

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

/** A set, at what its parts cost together without the discount; null: one of them can't be sold. */
export const bundleLd = (bundle: Bundle, language: Language, images: string[], price: number | null) => {
  const url = absolute(pathIn(language, pathOf('bundles', bundle)))
  return {
    ...CONTEXT,
    '@graph': [
      {
        '@type': 'Product',
        name: bundle.name,
        url,
        ...(bundle.summary ? { description: bundle.summary } : {}),
        ...(images.length ? { image: images.slice(0, 5).map(absolute) } : {}),
        ...(price === null ? {} : { offers: [{ '@type': 'Offer', url, price, priceCurrency: shop.currency.toUpperCase() }] }),
      },
      crumbs(language, [{ name: bundle.name, path: pathOf('bundles', bundle) }]),
    ],
  }
}

export const blogLd = (name: string, posts: Post[], language: Language) => ({
  ...CONTEXT,
  '@type': 'Blog',
  name,
  url: absolute(pathIn(language, '/blog')),
  blogPost: posts.map((post) => about(post, language)),
  publisher: { '@type': 'Organization', name: shop.name, url: shop.base },
})

export const contactLd = (name: string, language: Language) => ({
  ...CONTEXT,
  '@type': 'ContactPage',
  name,
  url: absolute(pathIn(language, '/contact')),
  mainEntity: { '@type': 'Organization', name: shop.name, url: shop.base, ...(shop.contactEmail ? { email: shop.contactEmail } : {}) },
})

const about = (post: Post, language: Language) => ({
  '@type': 'BlogPosting',
  headline: post.title,
  url: absolute(pathIn(language, `/blog/${post.slug}`)),
  ...(post.publishedAt ? { datePublished: post.publishedAt } : {}),
  ...(post.image ? { image: absolute(post.image) } : {}),
})

export const postLd = (post: Post, language: Language) => ({
  ...CONTEXT,
  ...about(post, language),
  dateModified: post.updatedAt,
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

/** A list; `trail` is where it is in the shop, itself the last. */
export const listLd = (name: string, products: Product[], language: Language, trail: { name: string; path: string }[] = []) => ({
  ...CONTEXT,
  '@graph': [
    {
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
    },
    ...(trail.length ? [crumbs(language, trail)] : []),
  ],
})
