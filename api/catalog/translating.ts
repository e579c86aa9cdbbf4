/** How a thing is translated (document 1, Localization): one entity and one locale per call; the body is the whole translation. */
import { and, eq, ne } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { translations, type TranslationFields } from '../../db/store/translations.ts'
import { conflict, wrong } from '../values/refusal.ts'
import { Named, Nullable, RichDocument, Type, Uuid } from '../http/schema.ts'
import { isUuid } from '../values/uuid.ts'
import type { Call, Params } from '../http/route.ts'
import { isLocale } from '../values/locales.ts'
import { requireRichText } from '../values/rich-text/rich-text.ts'
import type { Translated } from './translated.ts'
import { indexDocument, textOf, unindexDocument } from './search/search-index.ts'

export const textInput = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
/** A document, or nothing; of a group, whose description may be text, text too. */
export const documentInput = (textMax: number) => Type.Optional(Nullable(Type.Union([RichDocument(), Type.String({ maxLength: textMax })])))
export const strict = { additionalProperties: false }
/** The answer of a translation. */
export const Translation = <K extends string>(name: string, id: K) =>
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
    await unindexDocument(tx, entity, entityId, locale)
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
  await indexDocument(tx, entity, entityId, locale, fields.name ?? fields.title ?? '', body)
  return false
}

/** What is said of an operation that translates. */
export const translationNotes = (what: string) =>
  `The body is the whole translation; omitted or blank fields fall back to the base language, an empty body deletes it. 409 when another ${what} has the slug in this locale.`

/** Translates the entity that `find` finds. */
export async function translate(
  call: Call<unknown, object, Params<'/{locale}'>>,
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
    return {
      ok: true as const,
      [`${entity}Id`]: id,
      locale,
      deleted: await put(tx, entity, id, locale, filled(call.body as Record<string, unknown>), call.now),
    }
  })
}
