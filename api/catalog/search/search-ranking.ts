/** The search of a store, best hits first: ranked over the full-text index alone, named from the tables afterwards. */
import { sql, type SQL } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { compile, named, type Reader } from '../../../db/driver.ts'
import { searchChanges } from '../../../db/store/search.ts'
import { excerpts } from '../excerpt.ts'
import { UNSEEN } from './search-index.ts'

export const TYPES = ['product', 'category', 'collection', 'brand', 'post'] as const
/** The tables that hits of a type are named from. */
const TABLES = { product: 'products', category: 'categories', collection: 'collections', brand: 'brands', post: 'posts' } as const
/** The column of each that is its name. */
const nameOf = (type: Type) => (type === 'post' ? 'title' : 'name')
type Type = keyof typeof TABLES

interface Search {
  expression: string
  /** The words that were typed, for the excerpts. */
  words: readonly string[]
  types: readonly string[]
  /** The locale whose translations are searched too; empty for none. */
  lang: string
  storefront: boolean
  limit: number
}
interface Ranked {
  type: Type
  id: string
  score: number
  snippet: string
}
interface Ranking {
  ranked: Ranked[]
  /** All that match. */
  count: number
}

/** The condition on a document that storefronts may not see; there is an index of unpublished products, which are few. */
const HIDDEN = sql`case d.entity
  when 'product' then exists (select 1 from products t indexed by products_unpublished where t.id = d.entity_id and t.status <> 'published')
  when 'category' then exists (select 1 from categories t where t.id = d.entity_id and t.active = 0)
  when 'collection' then exists (select 1 from collections t where t.id = d.entity_id and t.active = 0)
  when 'post' then exists (select 1 from posts t indexed by posts_hidden where t.id = d.entity_id and t.visible = 0)
  else exists (select 1 from brands t where t.id = d.entity_id and t.active = 0) end`

/**
 * The statement of a search. It ranks ids and counts them, and reads the texts of the best alone: a word of one letter occurs in
 * nearly all documents. The + keeps SQLite from asking the index for each of them anew.
 */
function statement({ expression, types, lang, storefront, limit }: Search): SQL {
  const locales: SQL[] = [sql`''`]
  if (lang) locales.push(sql`${lang}`)
  if (!storefront) locales.push(sql`${UNSEEN}`)
  // An entity counts once: by its best document of those that are searched.
  const [score, group] = locales.length > 1 ? [sql`max(score)`, sql`group by d.entity, d.entity_id`] : [sql`score`, sql``]
  return sql`with hits as materialized (
      select rowid as document, -bm25(search_fts, 10.0, 1.0, 2.0) as score from search_fts where search_fts match ${expression}),
    found as materialized (
      select d.entity as entity, d.entity_id as entity_id, ${score} as score, document from hits cross join search_documents d indexed by search_documents_owner on d.id = document
      where d.locale in (${sql.join(locales, sql`, `)}) and d.entity in (select value from json_each(${JSON.stringify(types)}))
        ${storefront ? sql`and not ${HIDDEN}` : sql``} ${group}),
    best as materialized (select entity, entity_id, score, document from found order by score desc, entity_id limit ${limit})
    select best.entity, best.entity_id, score, d.name, d.body, (select count(*) from found) from best join search_documents d on d.id = document
    order by score desc, best.entity_id`
}

/** A document may have 20,000 characters, and each of its words be one that is sought: a few of them cost as much as many others. */
const LONG_DOCUMENTS = 40

async function ranking(db: Reader, search: Search): Promise<Ranking> {
  const rows = (await aside(db, 'search_documents', { longRows: LONG_DOCUMENTS, search: true }).all(statement(search))) as [
    Type,
    string,
    number,
    string,
    string,
    number,
  ][]
  const excerptOf = excerpts(search.words)
  const ranked = rows.map(([type, id, score, name, body]) => ({ type, id, score, snippet: excerptOf({ name, body }) }))
  return { ranked, count: rows[0]?.[5] ?? 0 }
}

/** A ranking of more than this is remembered until something changes that can be found; so many of a store. */
const COSTLY = 1_000
const REMEMBERED_MAX = 200
const remembered = new WeakMap<Reader, { version: number; rankings: Map<string, Promise<Ranking>> }>()
const versionOf = compile((db) => db.select({ n: searchChanges.n }).from(searchChanges))

/** The best of what a search finds. Who asks the same at the same time, or again before anything has changed, is answered by one ranking. */
export async function rank(db: Reader, search: Search): Promise<Ranking> {
  const { n: version } = (await versionOf.get(db)) as { n: number }
  let known = remembered.get(db)
  if (known?.version !== version) remembered.set(db, (known = { version, rankings: new Map() }))
  const { rankings } = known
  const key = JSON.stringify(search)
  const before = rankings.get(key)
  if (before) return before
  const running = ranking(db, search)
  if (rankings.size >= REMEMBERED_MAX) rankings.delete(rankings.keys().next().value!)
  rankings.set(key, running)
  const forget = () => void rankings.delete(key)
  running.then(({ count }) => count <= COSTLY && forget(), forget)
  return running
}

const nameQuery = (type: Type) =>
  compile((db) =>
    db
      .select({
        id: sql<string>`t.id`,
        name: sql<string>`coalesce(json_extract(tr.fields, ${sql.raw(`'$.${nameOf(type)}'`)}), t.${sql.raw(nameOf(type))})`,
        slug: sql<string>`coalesce(tr.slug, t.slug)`,
      })
      .from(
        sql`${sql.raw(TABLES[type])} t left join translations tr on tr.entity = ${sql.raw(`'${type}'`)} and tr.entity_id = t.id and tr.locale = ${named('lang')}`,
      )
      .where(sql`t.id in (select value from json_each(${named('ids')}))`),
  )
const NAMES = {
  product: nameQuery('product'),
  category: nameQuery('category'),
  collection: nameQuery('collection'),
  brand: nameQuery('brand'),
  post: nameQuery('post'),
}

/** Names and slugs of what was found, in the language of the search, by id. */
export async function namesOf(db: Reader, ranked: readonly Ranked[], lang: string): Promise<Map<string, { slug: string; name: string }>> {
  const names = new Map<string, { slug: string; name: string }>()
  for (const type of new Set(ranked.map((hit) => hit.type))) {
    const ids = JSON.stringify(ranked.filter((hit) => hit.type === type).map(({ id }) => id))
    for (const { id, name, slug } of (await NAMES[type].all(db, { ids, lang })) as { id: string; name: string; slug: string }[])
      names.set(id, { slug, name })
  }
  return names
}
