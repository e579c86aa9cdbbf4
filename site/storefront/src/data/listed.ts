/** All pages that are to be found, in all languages: what sitemaps and llms.txt are made of. */
import { pathIn, pathOf, productPath, shop, storeIn } from './store.ts'
import type { Language, LegalKind } from './types.ts'
import { wordsIn } from '../text/text.ts'

export interface Listed {
  path: string
  name: string
  about: string | null
  changed: string | null
  kind: string
}

export function listedIn(language: Language): Listed[] {
  const t = wordsIn(language)
  const { catalog, goods, events } = storeIn(language)
  const entry = (kind: string, path: string, name: string, about: string | null = null, changed: string | null = null): Listed => ({
    kind,
    path: pathIn(language, path),
    name,
    about,
    changed,
  })
  return [
    entry('shop', '/', shop.name),
    entry('shop', '/products', t('all')),
    entry('shop', '/contact', t('contact')),
    ...(['categories', 'collections', 'brands'] as const).flatMap((kind) =>
      catalog[kind]
        .filter((group) => group.kind !== 'event-group')
        .map((group) => entry(kind, pathOf(kind, group), group.name, group.description?.text ?? null)),
    ),
    ...goods.map((product) => entry('products', productPath(product), product.name, product.summary, product.updatedAt)),
    ...catalog.bundles.map((bundle) => entry('bundles', pathOf('bundles', bundle), bundle.name, bundle.summary)),
    ...(shop.tools.events
      ? [
          entry('events', '/events', t('events')),
          ...events.map((product) => entry('events', productPath(product), product.name, product.summary, product.updatedAt)),
        ]
      : []),
    ...(shop.tools.blog
      ? [
          entry('blog', '/blog', t('blog')),
          ...catalog.posts.map((post) => entry('blog', `/blog/${post.slug}`, post.title, post.excerpt, post.updatedAt)),
        ]
      : []),
    ...(Object.keys(catalog.legal) as LegalKind[])
      .filter((kind) => catalog.legal[kind]?.content)
      .map((kind) => entry('legal', `/legal/${kind}`, catalog.legal[kind]!.title ?? t(kind), null, catalog.legal[kind]!.updatedAt)),
  ]
}
