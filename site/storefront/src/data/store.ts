/** The store's data, read once for a build, and the ways to look things up in it. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle, Catalog, Group, Language, Post, Product, Shop } from './types.ts'

const folder = process.env.STOA_DATA ?? './data'
const read = <T>(name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T

export const shop = read<Shop>('shop.json')

interface Pictured {
  width: number
  height: number
  /** Of its renditions, `{folder}{width}.webp`. */
  widths: number[]
}
const pictured = read<Record<string, Pictured>>('pictures.json')
/** The folder of a picture of the store's library, with its size and renditions; null for one that is elsewhere. */
export function pictureOf(src: string | null | undefined): (Pictured & { folder: string }) | null {
  const folder = src?.startsWith('/cdn/') ? src.slice(0, src.lastIndexOf('/') + 1) : ''
  const known = pictured[folder]
  return known ? { ...known, folder } : null
}

/** The catalog in one language, and its parts by their ids. */
export class Store {
  readonly catalog: Catalog
  readonly product: ReadonlyMap<string, Product>
  readonly category: ReadonlyMap<string, Group>
  readonly brand: ReadonlyMap<string, Group>
  readonly collection: ReadonlyMap<string, Group>
  readonly #byCategory = new Map<string | null, Product[]>()

  constructor(readonly language: Language) {
    this.catalog = read<Catalog>(`${language.code}.json`)
    const byId = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))
    this.product = byId(this.catalog.products)
    this.category = byId(this.catalog.categories)
    this.brand = byId(this.catalog.brands)
    this.collection = byId(this.catalog.collections)
    for (const product of this.goods) {
      const list = this.#byCategory.get(product.categoryId)
      if (list) list.push(product)
      else this.#byCategory.set(product.categoryId, [product])
    }
  }

  /** What is sold by itself: everything but events, the newest first. */
  get goods(): Product[] {
    return this.catalog.products.filter(({ event }) => !event)
  }

  get events(): Product[] {
    const date = ({ event }: Product) => event!.startsAt ?? '9'
    return this.catalog.products.filter(({ event }) => event).toSorted((a, b) => (date(a) < date(b) ? -1 : 1))
  }

  /** Categories of the top, or below another one, in the order in which they were made. */
  categoriesIn(parentId: string | null): Group[] {
    return this.catalog.categories.filter((category) => (category.parentId ?? null) === parentId)
  }

  /** A category with all below it. */
  idsBelow(id: string): string[] {
    return [id, ...this.categoriesIn(id).flatMap((child) => this.idsBelow(child.id))]
  }

  inCategory(id: string): Product[] {
    return this.#byCategory.get(id) ?? []
  }

  inCollection({ productIds = [] }: Group): Product[] {
    return productIds.flatMap((id) => this.product.get(id) ?? [])
  }

  byBrand(id: string): Product[] {
    return this.goods.filter(({ brandId }) => brandId === id)
  }

  readonly #places = new Map<Product, number>()
  /** Where a product stands in its category. */
  #placeOf(product: Product): number {
    if (!this.#places.has(product))
      for (const [at, other] of this.inCategory(product.categoryId ?? '').entries()) this.#places.set(other, at)
    return this.#places.get(product) ?? 0
  }

  /** Up to four others of its category, the ones made next to it. */
  relatedTo(product: Product): Product[] {
    const others = this.inCategory(product.categoryId ?? '')
    const at = this.#placeOf(product)
    return Array.from({ length: Math.min(4, others.length - 1) }, (_, next) => others[(at + 1 + next) % others.length]!)
  }
}

const stores = new Map<string, Store>()
/** The store in a language. */
export function storeIn(language: Language): Store {
  let store = stores.get(language.code)
  if (!store) stores.set(language.code, (store = new Store(language)))
  return store
}

/** The path of a page in a language: `/de/products/tasse`, `/` for the home page. */
export const pathIn = (language: Language, path: string) => (language.path ? `/${language.path}${path === '/' ? '' : path}` : path)

type Kind = 'products' | 'events' | 'categories' | 'collections' | 'brands' | 'bundles' | 'blog'
/** The path of a thing's page, without its language. */
export const pathOf = (kind: Kind, { slug }: { slug: string }) => `/${kind}/${slug}`
export const productPath = (product: Product) => pathOf(product.event ? 'events' : 'products', product)

type Listed = 'products' | 'categories' | 'collections' | 'brands' | 'bundles' | 'posts'
const byId = new Map<string, Map<string, Product | Group | Bundle | Post>>()
/** The same thing in another language: its slug may be translated. */
export function sameIn(language: Language, kind: Listed, id: string) {
  const key = `${language.code} ${kind}`
  let rows = byId.get(key)
  if (!rows) {
    const all = storeIn(language).catalog[kind] as (Product | Group | Bundle | Post)[]
    byId.set(key, (rows = new Map(all.map((row) => [row.id, row]))))
  }
  return rows.get(id)
}

/** Part of a build: its number, counted from 0, and how many there are. Large catalogs are built in parts, by one process each. */
const [part, parts] = (process.env.STOA_PART ?? '0/1').split('/').map(Number) as [number, number]

/** The hash of what a page was made of, by its path, in the build before: a page whose hash is the same is taken over from it. */
const before: Record<string, string> = existsSync(join(folder, 'before.json')) ? read('before.json') : {}
/** The same of this build, written when it ends for the next one. */
const hashes: Record<string, string> = {}
if (process.env.STOA_AFTER) process.on('exit', () => writeFileSync(process.env.STOA_AFTER!, JSON.stringify(hashes)))

/** The files of the fonts that pages name. */
const fonts = existsSync(join(folder, 'fonts/fonts.json')) ? readFileSync(join(folder, 'fonts/fonts.json'), 'utf8') : ''
/** What every page shows, or may show: the shop's facts, its fonts, the menus, and the names of brands on cards. */
const frame = (language: Language) => {
  const { catalog, events } = storeIn(language)
  const { categories, collections, brands, legal, posts } = catalog
  const named = (rows: Group[]) => rows.map(({ id, name, slug, parentId }) => [id, name, slug, parentId])
  const written = Object.entries(legal).map(([kind, page]) => [kind, page?.title, !page?.content])
  const groups = [categories, collections, brands].map(named)
  return JSON.stringify([shop, fonts, groups, written, events.length > 0, posts.length > 0, process.env.STOA_CODE])
}
const frames = new Map<string, string>()

interface Entry<T> {
  language: Language
  slug: string
  item: T
  /** All that the page is made of beside the frame. */
  of: unknown
}

/** The pages of a kind that this build makes: those of its part, without those that are as they were. */
export function pagesOf<T>(kind: string, items: (store: Store) => { slug: string; item: T; of: unknown }[]) {
  const entries: Entry<T>[] = shop.languages.flatMap((language) => items(storeIn(language)).map((entry) => ({ language, ...entry })))
  return entries.flatMap(({ language, slug, item, of }, at) => {
    if (at % parts !== part) return []
    const path = pathIn(language, `/${kind}/${slug}`)
    if (!frames.has(language.code)) frames.set(language.code, frame(language))
    const hash = createHash('sha256').update(frames.get(language.code)!).update(JSON.stringify(of)).digest('base64url').slice(0, 16)
    hashes[path] = hash
    return before[path] === hash ? [] : [{ params: { lang: language.path || undefined, slug }, props: { item, language } }]
  })
}

/** The paths of a page that is there once in each language: in the first part of a build alone. */
export const onePage = () =>
  part === 0 ? shop.languages.map((language) => ({ params: { lang: language.path || undefined }, props: { language } })) : []

/** Posts on a page of the journal. */
export const POSTS_SHOWN = 24
