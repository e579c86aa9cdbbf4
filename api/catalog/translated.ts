/** Translations as they are read: the fields of entities, and the entity of a translated slug. */
import { and, eq, sql, type SQL } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import type { Seo } from '../../db/store/catalog.ts'
import { translations, type TranslationFields } from '../../db/store/translations.ts'

const idByTranslatedSlug = compile((db) =>
  db
    .select({ id: translations.entityId })
    .from(translations)
    .where(and(eq(translations.entity, named('entity')), eq(translations.locale, named('locale')), eq(translations.slug, named('slug')))),
)
/** `fields`: all of them, or those that a list shows. */
const reading = (fields: SQL) =>
  compile((db) =>
    db
      .select({ entityId: translations.entityId, fields: fields.mapWith(translations.fields) })
      .from(translations)
      .where(
        and(
          eq(translations.entity, named('entity')),
          eq(translations.locale, named('locale')),
          sql`${translations.entityId} in (select value from json_each(${named('ids')}))`,
        ),
      ),
  )
const READINGS = {
  whole: reading(sql`${translations.fields}`),
  // Contents may be as large as a page.
  brief: reading(sql`json_remove(${translations.fields}, '$.content')`),
}

/** The kinds of things whose texts can be translated. */
export type Translated = 'product' | 'collection' | 'category' | 'brand' | 'post'

/** The translated fields of some entities in one locale, by id; `brief`: without their contents. */
export async function translationsFor(
  db: Reader,
  entity: Translated,
  locale: string | null,
  ids: string[],
  extent: keyof typeof READINGS = 'whole',
): Promise<Map<string, TranslationFields>> {
  if (locale === null || !ids.length) return new Map()
  const rows = (await READINGS[extent].all(db, { entity, locale, ids: JSON.stringify(ids) })) as {
    entityId: string
    fields: TranslationFields
  }[]
  return new Map(rows.map((row) => [row.entityId, row.fields]))
}

/** The id of the entity whose slug in this locale is `slug`, if one is. */
export async function idOfTranslatedSlug(db: Reader, entity: Translated, locale: string | null, slug: string): Promise<string | null> {
  if (locale === null) return null
  return ((await idByTranslatedSlug.get(db, { entity, locale, slug })) as { id: string } | undefined)?.id ?? null
}

/** What search engines are told of a thing, with its translation over it. */
export const seoOf = (seo: Seo, t?: TranslationFields) => ({
  title: t?.seoTitle ?? seo.title ?? null,
  description: t?.seoDescription ?? seo.description ?? null,
  canonical: seo.canonical ?? null,
})
