/** Where the catalog and the blog show images: what shows them, its table, and the field that has their addresses. */
import { blogCategories, posts } from '../../../db/store/blog.ts'
import { brandKit } from '../../../db/store/pages.ts'
import { bundles } from '../../../db/store/bundles.ts'
import type { ImageEntity } from '../../http/route.ts'
import { brands, categories, collections, products } from '../../../db/store/catalog.ts'

/** What shows images of the library alone, and takes none by URL. */
export const LOGO_FIELDS = { brandKit: { table: brandKit, field: 'logo', column: brandKit.logo } } as const

export const IMAGE_FIELDS = {
  product: { table: products, field: 'images', column: products.images },
  bundle: { table: bundles, field: 'images', column: bundles.images },
  category: { table: categories, field: 'image', column: categories.image },
  collection: { table: collections, field: 'image', column: collections.image },
  post: { table: posts, field: 'image', column: posts.image },
  blogCategory: { table: blogCategories, field: 'image', column: blogCategories.image },
  brand: { table: brands, field: 'logo', column: brands.logo },
} as const satisfies Record<ImageEntity, unknown>

/** An image field as it is stored: a list of addresses, one, or none. */
export type Addresses = readonly string[] | string | null | undefined

/** The addresses of a field. */
export const listed = (addresses: Addresses): readonly string[] => (typeof addresses === 'string' ? [addresses] : (addresses ?? []))

/** The source that an address is read from: all of it but its fragment, which is for whoever shows it. */
export const sourceOf = (address: string) => address.split('#', 1)[0]!

/** The same field with the addresses of other sources in the place of some; fragments stay. */
export function replaced<A extends Addresses>(addresses: A, others: ReadonlyMap<string, string>): A {
  const other = (address: string) => {
    const source = sourceOf(address)
    const found = others.get(source)
    return found === undefined ? address : found + address.slice(source.length)
  }
  return (typeof addresses === 'string' ? other(addresses) : addresses?.map(other)) as A
}
