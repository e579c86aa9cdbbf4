/** Search (document 3, Catalog): ranked full text over everything that a storefront shows. */
import { sql } from 'drizzle-orm'
import { Counted, Text, OneOf, Type, Uuid } from '../http/schema.ts'
import { resource } from '../http/route.ts'
import { wrong } from '../http/refusal.ts'
import { matchExpression, UNSEEN, type Found } from './search-index.ts'
import { Lang } from './shapes.ts'

const TYPES = ['product', 'category', 'collection', 'brand', 'post'] as const
/**
 * Where the words were found, as it was written: in the text, else in the name. Words that only the folded form has are found, and
 * not marked.
 */
const marked = (column: number) => sql.raw(`snippet(search_fts, ${column}, '**', '**', '…', 16)`)
const excerpt = sql`trim(case when instr(${marked(1)}, '**') then ${marked(1)} when instr(${marked(0)}, '**') or d.body = '' then ${marked(0)} else ${marked(1)} end)`

const Hit = Type.Object({
  type: OneOf(TYPES),
  id: Uuid(),
  slug: Type.String(),
  name: Type.String(),
  snippet: Type.String({ description: 'Text around what was found, found words between ** and **' }),
  score: Type.Number({ description: 'Higher is better' }),
})

/** The tables that hits of a type are joined with, and what a storefront may see of them. */
const SOURCES: Record<Exclude<Found, 'post'>, { table: string; visible: string }> = {
  product: { table: 'products', visible: "t.status = 'published'" },
  category: { table: 'categories', visible: 't.active = 1' },
  collection: { table: 'collections', visible: 't.active = 1' },
  brand: { table: 'brands', visible: 't.active = 1' },
}

export const search = resource('catalog', '/search').get(
  '',
  {
    op: 'search',
    summary: 'Search the catalog',
    scope: 'storefront:read',
    answers: { 200: Counted(Hit) },
    description:
      'Every word must occur; words match from their beginning, diacritics do not matter. Only what is published is found by storefront keys.',
    query: {
      q: Text(1, 200, { description: 'What to look for' }),
      types: Type.Optional(Type.String({ maxLength: 100, description: `Some of ${TYPES.join(', ')}, separated by commas` })),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
      lang: Lang,
    },
  },
  async ({ db, query, storefront, settings }) => {
    const types = query.types === undefined ? TYPES : query.types.split(',').map((type) => type.trim())
    for (const type of types) if (!(TYPES as readonly string[]).includes(type)) throw wrong('types', `must be some of ${TYPES.join(', ')}`)
    const expression = matchExpression(query.q)
    if (!expression) return { data: [], meta: { count: 0 } }
    const { locale } = await settings()
    const lang = query.lang && query.lang !== locale ? query.lang : ''
    // One row for each entity: its best document in the base language or in the one asked for.
    const parts = (Object.keys(SOURCES) as (keyof typeof SOURCES)[])
      .filter((type) => types.includes(type))
      .map((type) => {
        const { table, visible } = SOURCES[type]
        return sql`select ${type} as type, t.id as id, coalesce(tr.slug, t.slug) as slug, coalesce(json_extract(tr.fields, '$.name'), t.name) as name, f.snippet as snippet, f.score as score
        from found f join ${sql.raw(table)} t on t.id = f.entity_id left join translations tr on tr.entity = ${type} and tr.entity_id = t.id and tr.locale = ${lang}
        where f.entity = ${type} ${storefront ? sql.raw(`and ${visible}`) : sql``}`
      })
    if (!parts.length) return { data: [], meta: { count: 0 } }
    const rows = (await db.all<Record<string, unknown>>(sql`with hits as materialized (
        select d.entity as entity, d.entity_id as entity_id, -bm25(search_fts, 10.0, 1.0, 2.0) as score, ${excerpt} as snippet
        from search_fts cross join search_documents d on d.id = search_fts.rowid where search_fts match ${expression} and d.locale in ('', ${lang}${storefront ? sql`` : sql`, ${UNSEEN}`})),
      found as (select entity, entity_id, max(score) as score, snippet from hits group by entity, entity_id)
      select type, id, slug, name, snippet, score, count(*) over () as total from (${sql.join(parts, sql` union all `)}) order by score desc, id limit ${query.limit}`)) as never as unknown[][]
    const data = rows.map(([type, id, slug, name, snippet, score]) => ({
      type,
      id,
      slug,
      name,
      snippet,
      score: Math.round(Number(score) * 1e6) / 1e6,
    }))
    return { data, meta: { count: Number(rows[0]?.[6] ?? 0) } }
  },
)
