/** Translations (document 1, Localization): one entity and one locale per call; the body is the whole translation. */
import { and, eq, ne } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { translations, type TranslationFields } from '../../db/store/translations.ts'
import { conflict, wrong } from '../values/refusal.ts'
import { Body, Named, Nullable, RichDocument, Type, Uuid, type Static } from '../http/schema.ts'
import { isUuid } from '../values/uuid.ts'
import { resource, type Call, type Params } from '../http/route.ts'
import { isLocale } from '../values/locales.ts'
import { requireRichText } from '../values/rich-text.ts'
import { findGroup } from './groups/groups.ts'
import { findProduct } from './read.ts'
import type { Translated } from './translated.ts'
import { indexDocument, textOf, unindexDocument } from './search/search-index.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
/** A document, or nothing; of a group, whose description may be text, text too. */
const document = (textMax: number) => Type.Optional(Nullable(Type.Union([RichDocument(), Type.String({ maxLength: textMax })])))
const strict = { additionalProperties: false }
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
    name: text(300),
    slug: text(200),
    summary: text(5000),
    badgeContent: text(200),
    seoTitle: text(300),
    seoDescription: text(1000),
    content: document(0),
  },
  strict,
)
const GroupFields = Body(
  'TranslateCollectionInput',
  [{ name: 'Linen shirt', slug: 'linen-shirt', seoTitle: 'Spring collection', seoDescription: 'Made from European linen.' }],
  {
    name: text(300),
    slug: text(200),
    seoTitle: text(300),
    seoDescription: text(1000),
    description: document(100_000),
    longDescription: document(100_000),
  },
  strict,
)
const answer = <K extends string>(name: string, id: K) =>
  Named(name, { ok: Type.Literal(true), [id]: Uuid(), locale: Type.String(), deleted: Type.Boolean() })

/** The fields that are not blank: what is omitted falls back to the base language. */
function filled(body: Record<string, unknown>): TranslationFields {
  const entries = Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null && value !== ''))
}

async function requireLocale(call: Call<unknown, unknown, Params<'/{locale}'>>): Promise<string> {
  const locale = call.params.locale
  if (!isLocale(locale)) throw wrong('locale', 'is not a supported locale')
  if (locale === (await call.settings()).locale) throw wrong('locale', "is the store's base locale: change the entity itself")
  return locale
}

/** Stores, replaces or (with nothing in it) deletes the translation of one entity. */
async function put(tx: Db, entity: Translated, entityId: string, locale: string, fields: TranslationFields, now: string): Promise<boolean> {
  const where = and(eq(translations.entity, entity), eq(translations.entityId, entityId), eq(translations.locale, locale))
  if (!Object.keys(fields).length) {
    await tx.delete(translations).where(where)
    if (entity !== 'post') await unindexDocument(tx, entity, entityId, locale)
    return true
  }
  const { slug } = fields
  if (slug !== undefined) {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw wrong('slug', 'must be lowercase letters, digits and single hyphens')
    if (isUuid(slug)) throw wrong('slug', 'must not look like an id')
    if (
      await tx.$count(
        translations,
        and(
          eq(translations.entity, entity),
          eq(translations.locale, locale),
          eq(translations.slug, slug),
          ne(translations.entityId, entityId),
        ),
      )
    ) {
      throw conflict(`the slug ${slug} already exists for ${locale}`)
    }
  }
  const row = { entity, entityId, locale, slug: slug ?? null, fields, updatedAt: now }
  await tx
    .insert(translations)
    .values(row)
    .onConflictDoUpdate({ target: [translations.entity, translations.entityId, translations.locale], set: row })
  const body = [fields.summary, textOf(fields.content), textOf(fields.description), textOf(fields.longDescription)]
    .filter(Boolean)
    .join(' ')
  await indexDocument(tx, entity, entityId, locale, fields.name ?? '', body)
  return false
}

const about = (what: string) =>
  `The body is the whole translation; omitted or blank fields fall back to the base language, an empty body deletes it. 409 when another ${what} has the slug in this locale.`

async function translate(
  call: Call<unknown, Static<typeof ProductFields> | Static<typeof GroupFields>, Params<'/{locale}'>>,
  entity: Translated,
  find: (tx: Db) => Promise<{ id: string }>,
) {
  const locale = await requireLocale(call)
  requireRichText(
    call.body as { content?: unknown; description?: unknown; longDescription?: unknown },
    'content',
    'description',
    'longDescription',
  )
  return call.write(async (tx) => {
    const { id } = await find(tx)
    return { ok: true as const, [`${entity}Id`]: id, locale, deleted: await put(tx, entity, id, locale, filled(call.body), call.now) }
  })
}

const everyone = { lang: null, storefront: false }

export const translationRoutes = [
  resource('catalog', '/products').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateProduct',
      summary: 'Translate a product',
      description: about('product'),
      scope: 'catalog:write',
      body: ProductFields,
      responses: { 200: answer('TranslateProductAnswer', 'productId') },
      refuses: [409],
    },
    (call) => translate(call, 'product', (tx) => findProduct(tx, call.params.idOrSlug, everyone)),
  ),
  resource('catalog', '/collections').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateCollection',
      summary: 'Translate a collection',
      description: about('collection'),
      scope: 'catalog:write',
      body: GroupFields,
      responses: { 200: answer('TranslateCollectionAnswer', 'collectionId') },
      refuses: [409],
    },
    (call) => translate(call, 'collection', (tx) => findGroup(tx, 'collection', call.params.idOrSlug, everyone)),
  ),
  resource('catalog', '/categories').put(
    '/{idOrSlug}/translations/{locale}',
    {
      operationId: 'translateCategory',
      summary: 'Translate a category',
      description: about('category'),
      scope: 'catalog:write',
      body: GroupFields,
      responses: { 200: answer('TranslateCategoryAnswer', 'categoryId') },
      refuses: [409],
    },
    (call) => translate(call, 'category', (tx) => findGroup(tx, 'category', call.params.idOrSlug, everyone)),
  ),
]
