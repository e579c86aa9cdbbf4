/** Pages as Markdown, for those who read text: agents, and people with a terminal. */
import { homeIn } from './home.ts'
import { activeVariants, canBuy, hasRange, isSoldOut, money, priceBefore } from './money.ts'
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

/** Said first: whoever reads one page finds the others. */
const ALL = `> All pages: ${shop.base}/llms.txt\n\n`
/** A page of Markdown from its parts; empty ones are left out. */
const page = (...parts: (string | null | undefined | false)[]) => `${ALL}${parts.filter(Boolean).join('\n\n')}\n`

/** A product in a list: what its card says, and its summary. */
export function line(product: Product, language: Language): string {
  const t = wordsIn(language)
  const brand = product.brandId && storeIn(language).brand.get(product.brandId)
  const amount = (price: number) => money(price, shop.currency, language)
  const before = priceBefore(product)
  const price = product.price === null ? '' : hasRange(product) ? t('from', { price: amount(product.price) }) : amount(product.price)
  const said = [brand && plain(brand.name), price, before && `${t('before')} ${amount(before)}`].filter(Boolean).join(' ')
  const off = isSoldOut(product) ? `, ${t('soldOut')}` : ''
  const { event } = product
  const held = event?.startsAt ? `${event.startsAt}${event.location ? `, ${plain(event.location)}` : ''}. ` : ''
  const summary = product.summary ? `. ${plain(product.summary).slice(0, 160)}` : ''
  return `- ${link(language, product.name, productPath(product))}: ${held}${said}${off}${summary}`
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
  const { lead, areas, news, feature, events, posts } = homeIn(language)
  const lines = (products: readonly Product[]) => products.map((product) => line(product, language)).join('\n')
  const part = (title: string, text: string) => text && `## ${plain(title)}\n\n${text}`
  return page(
    `# ${plain(shop.name)}`,
    part(t('categories'), areas.map(({ category }) => `- ${link(language, category.name, pathOf('categories', category))}`).join('\n')),
    part(t('new'), lines(lead ? [lead, ...news] : news)),
    feature && part(feature.collection.name, lines(feature.products)),
    part(t('events'), lines(events)),
    part(
      t('blog'),
      posts
        .map(({ title, slug, excerpt }) => `- ${link(language, title, `/blog/${slug}`)}${excerpt ? `: ${plain(excerpt)}` : ''}`)
        .join('\n'),
    ),
    `- ${link(language, t('all'), '/products')}\n- ${link(language, t('contact'), '/contact')}`,
  )
}
