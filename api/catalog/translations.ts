/** Translations of the catalog (document 1, Localization). */
import { Body } from '../http/schema.ts'
import { resource } from '../http/route.ts'
import { findGroup } from './groups/groups.ts'
import { findProduct } from './read.ts'
import { documentInput, strict, textInput, translate, Translation, translationNotes } from './translating.ts'

const ProductFields = Body(
  'TranslateProductInput',
  [
    {
      name: 'Linen shirt',
      slug: 'linen-shirt',
      summary: 'Made from European linen.',
      badgeContent: 'Made from European linen.',
      seoTitle: 'Spring collection',
    },
  ],
  {
    name: textInput(300),
    slug: textInput(200),
    summary: textInput(5000),
    badgeContent: textInput(200),
    seoTitle: textInput(300),
    seoDescription: textInput(1000),
    content: documentInput(0),
  },
  strict,
)
const GroupFields = Body(
  'TranslateCollectionInput',
  [{ name: 'Linen shirt', slug: 'linen-shirt', seoTitle: 'Spring collection', seoDescription: 'Made from European linen.' }],
  {
    name: textInput(300),
    slug: textInput(200),
    seoTitle: textInput(300),
    seoDescription: textInput(1000),
    description: documentInput(100_000),
    longDescription: documentInput(100_000),
  },
  strict,
)
const everyone = { lang: null, storefront: false }

export const translationRoutes = [
  resource('catalog', '/products').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateProduct',
      summary: 'Translate a product',
      description: translationNotes('product'),
      scope: 'catalog:write',
      body: ProductFields,
      responses: { 200: Translation('TranslateProductAnswer', 'productId') },
      refuses: [409],
    },
    (call) => translate(call, 'product', (tx) => findProduct(tx, call.params.idOrSlug, everyone)),
  ),
  resource('catalog', '/collections').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateCollection',
      summary: 'Translate a collection',
      description: translationNotes('collection'),
      scope: 'catalog:write',
      body: GroupFields,
      responses: { 200: Translation('TranslateCollectionAnswer', 'collectionId') },
      refuses: [409],
    },
    (call) => translate(call, 'collection', (tx) => findGroup(tx, 'collection', call.params.idOrSlug, everyone)),
  ),
  resource('catalog', '/categories').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateCategory',
      summary: 'Translate a category',
      description: translationNotes('category'),
      scope: 'catalog:write',
      body: GroupFields,
      responses: { 200: Translation('TranslateCategoryAnswer', 'categoryId') },
      refuses: [409],
    },
    (call) => translate(call, 'category', (tx) => findGroup(tx, 'category', call.params.idOrSlug, everyone)),
  ),
]
