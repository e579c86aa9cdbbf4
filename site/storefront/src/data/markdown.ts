/** Pages as Markdown, for those who read text: agents, and people with a terminal. */
import { activeVariants, canBuy, money } from './money.ts'
import { pathIn, pathOf, productPath, shop, storeIn } from './store.ts'
import type { Bundle, Group, Language, Post, Product, Text } from './types.ts'
import { dateIn, wordsIn } from '../text/text.ts'

/** Text of the store in a line of Markdown. */
export const plain = (text: string) =>
  text
    .replace(/[\\`*_[\]<>#|]/g, '\\$&')
    .replace(/\s+/g, ' ')
    .trim()
const written = (text: Text | undefined) =>
  (
    text?.markdown ??
    (text?.text
      ? text.text
          .split(/\n{2,}/)
          .map(plain)
          .join('\n\n')
      : '')
  ).trim()
const link = (language: Language, name: string, path: string) => `[${plain(name)}](${shop.base}${pathIn(language, path)})`

const END = `\n---\n\nAll pages: ${shop.base}/llms.txt\n`
/** A page of Markdown from its parts; empty ones are left out. */
const page = (...parts: (string | null | undefined | false)[]) => `${parts.filter(Boolean).join('\n\n')}\n${END}`

/** A product in a list. */
export function line(product: Product, language: Language): string {
  const price = product.price === null ? '' : `: ${money(product.price, shop.currency, language)}`
  const isOff = !activeVariants(product).some(canBuy)
  return `- ${link(language, product.name, productPath(product))}${price}${isOff ? `, ${wordsIn(language)('soldOut')}` : ''}${product.summary ? `. ${plain(product.summary).slice(0, 160)}` : ''}`
}

export function productMarkdown(product: Product, language: Language): string {
  const t = wordsIn(language)
  const store = storeIn(language)
  const brand = product.brandId && store.brand.get(product.brandId)
  const category = product.categoryId && store.category.get(product.categoryId)
  const rows = activeVariants(product).map((variant) => {
    const prices = shop.currencies.flatMap((currency) => {
      const amount = currency === shop.currency ? variant.price : variant.prices[currency]
      return amount === null || amount === undefined ? [] : [money(amount, currency, language)]
    })
    const name = Object.values(variant.options).join(', ') || variant.name
    const stock = !canBuy(variant) ? t('soldOut') : variant.stock.tracked ? `${variant.stock.available}` : t('inStockNow')
    return `| ${plain(name)} | ${prices.join(', ')} | ${stock} | ${plain(variant.sku ?? '')} | \`${variant.id}\` |`
  })
  const event = product.event
  return page(
    `# ${plain(product.name)}`,
    product.summary && plain(product.summary),
    [
      brand && `- ${t('brand')}: ${link(language, brand.name, pathOf('brands', brand))}`,
      category && `- ${t('category')}: ${link(language, category.name, pathOf('categories', category))}`,
      event?.startsAt && `- ${t('when')}: ${event.startsAt}`,
      event?.location && `- ${t('where')}: ${plain(event.location)}`,
      product.rating.average && `- ${t('reviews')}: ${t('basedOn', { rating: product.rating.average, count: product.rating.count })}`,
      product.images[0] && `- ${t('picture', { number: 1, name: plain(product.name) })}: ${new URL(product.images[0], shop.base).href}`,
    ]
      .filter(Boolean)
      .join('\n'),
    rows.length > 0 &&
      [`| ${t('variant')} | ${t('price')} | ${t('inStockNow')} | ${t('sku')} | id |`, '|---|---|---|---|---|', ...rows].join('\n'),
    written(product.content),
    ...(product.reviews?.length
      ? [
          `## ${t('reviews')}`,
          ...product.reviews.map(({ author, rating, content }) => `- ${rating}/5, ${plain(author)}: ${plain(content)}`),
        ]
      : []),
  )
}

export const groupMarkdown = (group: Group, products: Product[], language: Language): string =>
  page(
    `# ${plain(group.name)}`,
    written(group.description),
    products.length
      ? products
          .slice(0, 500)
          .map((product) => line(product, language))
          .join('\n')
      : wordsIn(language)('nothing'),
    products.length > 500 && wordsIn(language)('products', { count: products.length }),
    written(group.longDescription),
  )

export const postMarkdown = (post: Post, language: Language): string =>
  page(
    `# ${plain(post.title)}`,
    post.publishedAt && dateIn(post.publishedAt, language),
    post.excerpt && plain(post.excerpt),
    written(post.content),
  )

export function bundleMarkdown(bundle: Bundle, language: Language): string {
  const t = wordsIn(language)
  const store = storeIn(language)
  const percent = new Intl.NumberFormat(language.code, { style: 'percent', maximumFractionDigits: 1 }).format(
    bundle.discountPercentage / 100,
  )
  return page(
    `# ${plain(bundle.name)}`,
    bundle.summary && plain(bundle.summary),
    bundle.discountPercentage > 0 && t('bundleSaves', { percent }),
    bundle.parts
      .map(({ productId, quantity, productName }) => {
        const product = store.product.get(productId)
        return product ? `${line(product, language)} × ${quantity}` : `- ${plain(productName)} × ${quantity}`
      })
      .join('\n'),
    written(bundle.content),
  )
}

/** The answer of an endpoint that is Markdown. */
export const markdown = (text: string) => new Response(text, { headers: { 'content-type': 'text/markdown; charset=utf-8' } })

/** Any page of a title and parts. */
export const textMarkdown = (title: string, ...parts: (string | null | undefined | false)[]): string => page(`# ${plain(title)}`, ...parts)
export { link, written }

export function homeMarkdown(language: Language): string {
  const t = wordsIn(language)
  const store = storeIn(language)
  return page(
    `# ${plain(shop.name)}`,
    `## ${t('categories')}`,
    store.catalog.categories.map((category) => `- ${link(language, category.name, pathOf('categories', category))}`).join('\n'),
    `## ${t('new')}`,
    store.goods
      .slice(0, 24)
      .map((product) => line(product, language))
      .join('\n'),
    `- ${link(language, t('all'), '/products')}\n- ${link(language, t('contact'), '/contact')}`,
  )
}
