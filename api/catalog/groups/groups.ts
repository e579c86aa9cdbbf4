/** The shared part of categories, collections and brands: finding one by id or slug, and laying a translation over it. */
import { contains } from '../../values/compared.ts'
import { and, eq, inArray, sql, type InferSelectModel, type SQL } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { brands, categories, collections } from '../../../db/store/catalog.ts'
import { translations, type TranslationFields } from '../../../db/store/translations.ts'
import { missing } from '../../values/refusal.ts'
import { Paging, RichTextOrText, Slug, Type } from '../../http/schema.ts'
import { isUuid } from '../../values/uuid.ts'
import type { View } from '../read.ts'
import { idOfTranslatedSlug, seoOf, translationsFor } from '../translated.ts'
import { foundAmong, indexDocument, textOf, unindexDocument } from '../search/search-index.ts'
import { Lang, Seo } from '../shapes.ts'

const TABLES = { category: categories, collection: collections, brand: brands }
export type Group = keyof typeof TABLES
type Row<G extends Group> = InferSelectModel<(typeof TABLES)[G]>

/** The fields that all three take on the way in. */
export const groupInput = {
  slug: Type.Optional(Slug()),
  description: Type.Optional(RichTextOrText()),
  active: Type.Optional(Type.Boolean()),
  seo: Type.Optional(Seo),
}
/** The input that shows or hides one; a new one is shown unless the request says otherwise. */
export const activeInput = { active: Type.Optional(Type.Boolean({ default: true })) }

/** The query parameters that the lists of all three take. */
export const groupFilters = {
  ...Paging(10),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name' })),
  active: Type.Optional(Type.Boolean()),
  lang: Lang,
}

/** The condition of a list: the rows that the parameters ask for, for a storefront the active ones alone. */
export function groupCondition(
  kind: Group,
  { query, active }: { query?: string; active?: boolean },
  { lang, storefront }: Pick<View, 'lang' | 'storefront'>,
) {
  const column = TABLES[kind].active
  return and(
    query === undefined ? undefined : nameContains(kind, query, lang),
    active === undefined ? undefined : eq(column, active),
    storefront ? eq(column, true) : undefined,
  )
}

/** A category, collection or brand by id or slug (a slug of the view's language first); a storefront sees active ones alone. */
export async function findGroup<G extends Group>(
  db: Reader,
  kind: G,
  idOrSlug: string,
  view: Pick<View, 'lang' | 'storefront'>,
): Promise<Row<G>> {
  const table = TABLES[kind] as typeof categories
  const key = isUuid(idOrSlug) ? idOrSlug : ((await idOfTranslatedSlug(db, kind, view.lang, idOrSlug)) ?? idOrSlug)
  const [row] = await db
    .select()
    .from(table)
    .where(eq(isUuid(key) ? table.id : table.slug, key))
  if (!row || (view.storefront && !row.active)) throw missing(kind)
  return row as Row<G>
}

interface Translatable {
  id: string
  name: string
  slug: string
  description: unknown
  longDescription?: unknown
  seo: Partial<Record<'title' | 'description' | 'canonical', string | null>>
}

/** The row with a translation over it: what is not translated keeps the default language. */
export function overlay<T extends Translatable>(row: T, t: TranslationFields | undefined): T {
  const seo = seoOf(row.seo, t)
  const longDescription = 'longDescription' in row ? { longDescription: t?.longDescription ?? row.longDescription } : {}
  return {
    ...row,
    name: t?.name ?? row.name,
    slug: t?.slug ?? row.slug,
    description: t?.description ?? row.description,
    ...longDescription,
    seo,
  }
}

/** Rows with their translations over them, in the view's language. */
export async function overlayAll<T extends Translatable>(db: Reader, kind: Group, rows: T[], lang: string | null): Promise<T[]> {
  const translated = await translationsFor(
    db,
    kind,
    lang,
    rows.map((row) => row.id),
  )
  return rows.map((row) => overlay(row, translated.get(row.id)))
}

/** All translations of some entities, as lists show them. */
export async function translationLists(
  db: Reader,
  kind: Group,
  ids: string[],
): Promise<Map<string, ({ locale: string } & TranslationFields)[]>> {
  const result = new Map<string, ({ locale: string } & TranslationFields)[]>(ids.map((id) => [id, []]))
  if (!ids.length) return result
  for (const row of await db
    .select()
    .from(translations)
    .where(and(eq(translations.entity, kind), inArray(translations.entityId, ids)))) {
    result.get(row.entityId)!.push({ locale: row.locale, ...row.fields })
  }
  return result
}

/** Puts one, as it is stored now, into the search index. */
export const indexGroup = (tx: Db, kind: Group, row: Translatable) =>
  indexDocument(tx, kind, row.id, '', row.name, [textOf(row.description), textOf(row.longDescription)].join(' '))

/** Removes what hangs on one that is being deleted. */
export async function forget(tx: Db, kind: Group, id: string) {
  await tx.delete(translations).where(and(eq(translations.entity, kind), eq(translations.entityId, id)))
  await unindexDocument(tx, kind, id)
}

/**
 * Condition: the name, or the one that a view in `lang` shows, contains `text`. LIKE knows the case of ASCII letters alone; the
 * index knows that of all, from the beginning of a word.
 */
function nameContains(kind: Group, text: string, lang: string | null): SQL {
  const { id, name } = TABLES[kind]
  const pattern = contains(text)
  const parts = [sql`${name} like ${pattern} escape '\\'`]
  if (lang !== null)
    parts.push(sql`exists (select 1 from ${translations} t where t.entity = ${kind} and t.entity_id = ${id} and t.locale = ${lang}
      and json_extract(t.fields, '$.name') like ${pattern} escape '\\')`)
  if (/[^\x00-\x7f]/.test(text) && /^[\p{L}\p{M}\p{N}\s]+$/u.test(text))
    parts.push(foundAmong(id, kind, `{name} : "${text}" *`, sql`d.locale in ('', ${lang})`))
  return sql`(${sql.join(parts, sql` or `)})`
}
