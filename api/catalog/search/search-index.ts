/** The full-text index: what can be found, kept in the transaction of the change (SQLite FTS5, prefix search, folded text). */
import { and, eq, sql, type SQL } from 'drizzle-orm'
import { compile, named, type Db } from '../../../db/driver.ts'
import { searchDocuments } from '../../../db/store/search.ts'
import { fold } from '../../values/slug.ts'
import { normal } from '../../values/compared.ts'

type Found = 'product' | 'category' | 'collection' | 'brand' | 'post'

/** Stands for the locale of a product's second document, which has the SKUs of its inactive variants too: no storefront finds it. */
export const UNSEEN = 'unseen'

/** The text in a rich-text document, a string or null. */
export function textOf(content: unknown, budget = 20_000): string {
  if (typeof content === 'string') return content.slice(0, budget)
  const parts: string[] = []
  let left = budget
  const walk = (node: unknown, depth: number) => {
    if (left <= 0 || depth > 60 || typeof node !== 'object' || node === null) return
    const { text, content: children } = node as { text?: unknown; content?: unknown }
    if (typeof text === 'string') {
      parts.push(text)
      left -= text.length
    }
    if (Array.isArray(children)) for (const child of children) walk(child, depth + 1)
  }
  walk(content, 0)
  return parts.join(' ').slice(0, budget)
}

/** A text that can be found; `locale` is empty for the base language. */
export interface Document {
  entity: Found
  entityId: string
  locale: string
  name: string
  body: string
}

/** In one statement: FTS5 writes to disk what it has gathered whenever the next statement begins. */
const upsert = compile((db) =>
  db
    .insert(searchDocuments)
    .select(
      sql`select null, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 from json_each(${named('rows')}) where true`,
    )
    .onConflictDoUpdate({
      target: [searchDocuments.entity, searchDocuments.entityId, searchDocuments.locale],
      set: { name: sql`excluded.name`, body: sql`excluded.body`, folded: sql`excluded.folded` },
    }),
)

/** Puts documents into the index, or replaces them. */
export async function indexDocuments(tx: Db, documents: readonly Document[]) {
  const rows = documents.map(({ entity, entityId, locale, name, body }) => [entity, entityId, locale, name, body, fold(`${name} ${body}`)])
  await upsert.run(tx, { rows: JSON.stringify(rows) })
}

/** Puts one document into the index, or replaces it. */
export const indexDocument = (tx: Db, entity: Found, entityId: string, locale: string, name: string, body: string) =>
  indexDocuments(tx, [{ entity, entityId, locale, name, body }])

/** Takes an entity out of the index, in one locale or in all. */
export async function unindexDocument(tx: Db, entity: Found, entityId: string, locale?: string) {
  await tx
    .delete(searchDocuments)
    .where(
      and(
        eq(searchDocuments.entity, entity),
        eq(searchDocuments.entityId, entityId),
        locale === undefined ? undefined : eq(searchDocuments.locale, locale),
      ),
    )
}

/** The words of what somebody typed, at most 16, without those that say nothing beside another. */
export function wordsIn(typed: string): string[] {
  const words = (normal(typed).match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 16)
  // Whatever begins with the longer one begins with the shorter one, too.
  return words.filter((word, i) => !words.some((other, j) => other.startsWith(word) && (other !== word || j < i)))
}

/**
 * The FTS5 expression of what somebody typed: every word must occur, the last ones as prefixes; nothing typed can be syntax. Null
 * when there is no word in it.
 */
export function matchExpression(typed: string): string | null {
  const words = wordsIn(typed)
  if (!words.length) return null
  return words
    .map((word) => {
      const folded = fold(word)
        .match(/[a-z0-9]+/g)
        ?.join(' ')
      return folded && folded !== word ? `("${word}" * OR "${folded}" *)` : `"${word}" *`
    })
    .join(' AND ')
}

/**
 * Condition: the id is one that the expression finds among documents of this kind, of any language unless `documents` says which.
 * The CROSS JOIN asks the index first: the other way round it would be asked for each document of the store.
 */
export const foundAmong = (id: unknown, entity: Found, expression: unknown, documents: SQL = sql`1`) =>
  sql`${id} in (select d.entity_id from search_fts f cross join search_documents d indexed by search_documents_owner on d.id = f.rowid where search_fts match ${expression} and d.entity = ${entity} and ${documents})`
/** The documents that a storefront may find something in. */
export const SEEN = sql`d.locale <> ${sql.raw(`'${UNSEEN}'`)}`
