/** Lists of products that are made for one request: filtered, sorted, paged, searched for, or remembered. */
import type { Deployment } from '../builds/assemble.ts'
import type { Visit } from './visit.ts'

/** As many as a page of the storefront shows. */
const SHOWN = 24
const PAGE_MAX = 5_000
const SORTS = ['newest', 'price', '-price', 'name']

interface Variant {
  id: string
  price: number | null
  compareAtPrice: number | null
  active: boolean
  options: Record<string, string>
  name: string
  stock: { tracked: boolean; available: number; backorder: boolean }
}
interface Product {
  id: string
  name: string
  slug: string
  images: string[]
  price: number | null
  badgeContent: string | null
  brandId: string | null
  event: unknown
  variants: Variant[]
}

const canBuy = ({ price, stock }: Variant) => price !== null && (!stock.tracked || stock.backorder || stock.available > 0)

/** An amount in major units, as the visitor reads it. */
const major = (visit: Visit, amount: number) =>
  new Intl.NumberFormat(visit.language.code, { style: 'currency', currency: visit.currency.toUpperCase() }).format(amount)

/** Products as the cards of `LiveCard.astro` show them. */
async function cardsOf(visit: Visit, products: readonly Product[]) {
  const pictures = await visit.renditions(products.map(({ images }) => images[0]))
  const brands = new Map<string, string>()
  for (const { brandId } of products)
    if (brandId && !brands.has(brandId)) {
      const { status, body } = await visit.ask<{ name: string }>('GET', `/brands/${brandId}?${visit.query({ currency: undefined })}`)
      if (status === 200) brands.set(brandId, body.name)
    }
  return products.map((product) => {
    const active = product.variants.filter((variant) => variant.active)
    const [image] = product.images
    const cheapest = active.find(({ price }) => price === product.price)
    const wasDearer = cheapest?.compareAtPrice && product.price !== null && cheapest.compareAtPrice > product.price
    return {
      href: visit.at(`/${product.event ? 'events' : 'products'}/${product.slug}`),
      name: product.name,
      image: image ? (pictures.get(image)?.src ?? image) : null,
      srcset: image ? (pictures.get(image)?.srcset ?? null) : null,
      brand: product.brandId ? (brands.get(product.brandId) ?? null) : null,
      badge: product.badgeContent,
      price: product.price === null ? '–' : major(visit, product.price),
      isFrom: new Set(active.map(({ price }) => price)).size > 1,
      compareAt: wasDearer ? major(visit, cheapest!.compareAtPrice!) : null,
      soldOut: !active.some(canBuy),
    }
  })
}

const ASKED = /(?:^|&)(?:sort|min|max|stock|brand|category|page)=/
/** Whether a query asks something of a list; others, such as those of campaigns, are the page's own. */
export const isListQuery = (query: string) => ASKED.test(query)

type Kind = 'products' | 'categories' | 'collections' | 'brands'
/** What a list is of, by the path of its page; null for a page that is no list. */
export function listAt(deployment: Deployment, path: string): { kind: Kind; slug: string | null } | null {
  if (path === '/products') return { kind: 'products', slug: null }
  const [, kind, slug] = /^\/(categories|collections|brands)\/([^/]+)$/.exec(path) ?? []
  return kind && slug && Object.keys(deployment.pages).length ? { kind: kind as Kind, slug } : null
}

/** The most that something may cost, in major units. */
const AMOUNT_MAX = 1_000_000_000
const number = (text: string | null) => {
  const value = text?.replace(',', '.')
  return value && /^\d{1,20}(\.\d{1,3})?$/.test(value) ? Math.min(AMOUNT_MAX, Number(value)) : undefined
}
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The view `list`; null when what it is of is not there any more. */
export async function listView(visit: Visit, { kind, slug }: { kind: Kind; slug: string | null }) {
  const given = visit.url.searchParams
  const id = (name: string) => (UUID.test(given.get(name) ?? '') ? given.get(name)! : undefined)
  const page = Math.min(PAGE_MAX, Math.max(1, Math.floor(number(given.get('page')) ?? 1)))
  const sort = SORTS.includes(given.get('sort') ?? '') ? given.get('sort')! : 'newest'
  const group =
    slug === null
      ? null
      : await visit.ask<{ id: string; name: string }>('GET', `/${kind}/${encodeURIComponent(slug)}?${visit.query({ currency: undefined })}`)
  if (group && group.status !== 200) return null
  const own = { categories: 'categoryId', collections: 'collectionId', brands: 'brandId', products: undefined }[kind]
  const filters = {
    min: number(given.get('min')),
    max: number(given.get('max')),
    stock: given.get('stock') === '1',
    brand: id('brand'),
    category: id('category'),
  }
  const query = {
    ...{
      limit: SHOWN,
      offset: (page - 1) * SHOWN,
      sort,
      minPrice: filters.min,
      maxPrice: filters.max,
      inStock: filters.stock ? 'true' : undefined,
    },
    ...{ brandId: filters.brand, categoryId: filters.category },
    ...(own && group ? { [own]: group.body.id } : {}),
    ...(kind === 'categories' || filters.category ? { subcategories: 'true' } : {}),
  }
  const { status, body } = await visit.ask<{ data: Product[]; meta: { count: number } }>('GET', `/products?${visit.query(query)}`)
  const found = status === 200 ? body : { data: [], meta: { count: 0 } }
  const pages = Math.max(1, Math.ceil(found.meta.count / SHOWN))
  if (page > pages) return null
  const path = visit.at(visit.path)
  const turn = (to: number) => {
    const next = new URLSearchParams(given)
    next.set('page', String(to))
    return `${path}?${next}`
  }
  return {
    title: group?.body.name ?? visit.shop.page(visit.at(visit.path))?.title.split(' – ')[0] ?? '',
    path,
    count: found.meta.count,
    cards: await cardsOf(visit, found.data),
    page,
    pages,
    previous: page > 1 ? turn(page - 1) : null,
    next: page < pages ? turn(page + 1) : null,
    filters: {
      ...filters,
      sort,
      of: { categories: 'category', collections: 'collection', brands: 'brand', products: '' }[kind],
      min: filters.min ?? '',
      max: filters.max ?? '',
    },
  }
}

/** The view `search`. */
export async function searchView(visit: Visit) {
  const q = (visit.url.searchParams.get('q') ?? '').trim().slice(0, 200)
  if (!q) return { q: '', count: 0, cards: [], hits: [] }
  const { body } = await visit.ask<{ data: { type: string; id: string; slug: string; name: string; snippet: string }[] }>(
    'GET',
    `/search?${visit.query({ currency: undefined, q, limit: 48 })}`,
  )
  const found = body.data ?? []
  const products: Product[] = []
  for (const { type, id } of found)
    if (type === 'product') {
      const { status, body: product } = await visit.ask<Product>('GET', `/products/${id}?${visit.query()}`)
      if (status === 200) products.push(product)
    }
  const FOLDERS: Record<string, string> = { category: 'categories', collection: 'collections', brand: 'brands', post: 'blog' }
  const hits = found
    .filter(({ type }) => FOLDERS[type])
    .map(({ type, slug, name, snippet }) => ({ name, href: visit.at(`/${FOLDERS[type]}/${slug}`), snippet: snippet.replaceAll('**', '') }))
  return { q, count: products.length + hits.length, cards: await cardsOf(visit, products), hits }
}

/** As many as a cookie holds. */
export const WISHES_MAX = 50
/** The variants that a visitor has saved: in a cookie, since nobody has proven who they are. */
export const wishesOf = (visit: Visit): string[] =>
  (visit.cookie('wishes') ?? '')
    .split('.')
    .filter((id) => UUID.test(id))
    .slice(0, WISHES_MAX)

/** The view `wishlist`. */
export async function wishlistView(visit: Visit) {
  const ids = wishesOf(visit)
  const items: object[] = []
  const images: (string | undefined)[] = []
  for (const id of ids) {
    const variant = await visit.ask<Variant & { productId: string }>('GET', `/variants/${id}?${visit.query({ lang: undefined })}`)
    const product =
      variant.status === 200
        ? await visit.ask<Product>('GET', `/products/${variant.body.productId}?${visit.query({ currency: undefined })}`)
        : null
    if (product?.status !== 200) continue
    images.push(product.body.images[0])
    items.push({
      variantId: id,
      name: product.body.name,
      options: Object.values(variant.body.options).join(', '),
      href: visit.at(`/products/${product.body.slug}`),
      image: product.body.images[0] ?? null,
      price: variant.body.price === null ? '–' : major(visit, variant.body.price),
      available: canBuy(variant.body),
    })
  }
  const pictures = await visit.renditions(images)
  return {
    items: items.map((item) => ({
      ...item,
      image: pictures.get((item as { image: string }).image)?.src ?? (item as { image: string | null }).image,
    })),
  }
}
