/** Which pages there are of each kind, and what each of them is made of: one whose parts are as they were is not made again. */
import { onePage, pagesOf, sameIn, shop, storeIn, type Store } from './store.ts'
import type { Group, LegalKind, Product } from './types.ts'

export type GroupKind = 'categories' | 'collections' | 'brands'

/** What a card shows of a product. */
const card = ({ content: _, reviews: __, ...rest }: Product) => rest
const slugs = (kind: Parameters<typeof sameIn>[1], id: string) => shop.languages.map((language) => sameIn(language, kind, id)?.slug)

/** The products of a category with all below it, of a collection in its own order, or of a brand. */
export function productsIn(kind: GroupKind, store: Store, group: Group): Product[] {
  if (kind === 'collections') return store.inCollection(group)
  return kind === 'brands' ? store.byBrand(group.id) : store.idsBelow(group.id).flatMap((id) => store.inCategory(id))
}

export const productPages = () =>
  pagesOf('products', (store) =>
    store.goods.map((item) => ({
      slug: item.slug,
      item,
      of: [
        item,
        item.brandId && store.brand.get(item.brandId),
        item.collectionIds.map((id) => store.collection.get(id)?.name),
        store.relatedTo(item).map(card),
        item.variants.some(({ bookable }) => bookable) &&
          store.catalog.slots.filter(({ productVariantId }) => item.variants.some(({ id }) => id === productVariantId)),
        slugs('products', item.id),
      ],
    })),
  )

/** The pages of groups; their lists show as many products as stand in the page. */
export const groupPages = (kind: GroupKind) =>
  pagesOf(kind, (store) =>
    store.catalog[kind]
      .filter((group) => group.kind !== 'event-group')
      .map((item) => {
        const products = productsIn(kind, store, item)
        return {
          slug: item.slug,
          item,
          of: [
            item,
            products.slice(0, 24).map(card),
            products.map(({ id, name, slug, price }) => [id, name, slug, price]),
            slugs(kind, item.id),
          ],
        }
      }),
  )

export const bundlePages = () =>
  pagesOf('bundles', (store) =>
    store.catalog.bundles.map((item) => ({
      slug: item.slug,
      item,
      of: [item, item.parts.map(({ productId }) => store.product.get(productId))],
    })),
  )
export const eventPages = () =>
  shop.tools.events
    ? pagesOf('events', (store) => store.events.map((item) => ({ slug: item.slug, item, of: [item, slugs('products', item.id)] })))
    : []
export const postPages = () =>
  shop.tools.blog
    ? pagesOf('blog', (store) => store.catalog.posts.map((item) => ({ slug: item.slug, item, of: [item, slugs('posts', item.id)] })))
    : []

/** The legal pages that are written. */
export const legalPages = () =>
  onePage().flatMap(({ params, props }) => {
    const { legal } = storeIn(props.language).catalog
    return (Object.keys(legal) as LegalKind[])
      .filter((kind) => legal[kind]?.content)
      .map((kind) => ({ params: { ...params, kind }, props: { ...props, kind } }))
  })
