/** What the home page shows: as a page, and as Markdown. */
import { shop, storeIn } from './store.ts'
import type { Language } from './types.ts'

const [NEWS, AREAS, EVENTS, POSTS] = [8, 6, 3, 3]
/** A collection is shown that fills a row. */
const FEATURED_LEAST = 4

export function homeIn(language: Language) {
  const store = storeIn(language)
  const { goods, catalog, events } = store
  /** The newest with a picture, on top. */
  const lead = goods.find(({ images, variants }) => images.length && !variants.some(({ bookable }) => bookable))
  const areas = store
    .categoriesIn(null)
    .slice(0, AREAS)
    .map((category) => ({
      category,
      image:
        category.image ??
        store
          .idsBelow(category.id)
          .flatMap((id) => store.inCategory(id))
          .find((product) => product.images.length && product !== lead)?.images[0],
    }))
  const [feature] = catalog.collections
    .filter(({ kind }) => kind !== 'event-group')
    .map((collection) => ({ collection, products: store.inCollection(collection) }))
    .filter(({ products }) => products.length >= FEATURED_LEAST)
  return {
    lead,
    areas,
    news: goods.filter((product) => product !== lead).slice(0, NEWS),
    feature: feature && { ...feature, products: feature.products.slice(0, FEATURED_LEAST) },
    events: shop.tools.events ? events.filter(({ event }) => event?.startsAt).slice(0, EVENTS) : [],
    posts: shop.tools.blog ? catalog.posts.slice(0, POSTS) : [],
  }
}
