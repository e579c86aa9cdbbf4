/** Search (document 3, Catalog): ranked full text over everything that a storefront shows. */
import { Counted, Named, OneOf, Text, Type, Uuid } from '../../http/schema.ts'
import { resource } from '../../http/route.ts'
import { wrong } from '../../values/refusal.ts'
import { matchExpression, wordsIn } from './search-index.ts'
import { namesOf, rank, TYPES } from './search-ranking.ts'
import { Lang } from '../shapes.ts'

const Hit = Named('SearchResult', {
  type: OneOf(TYPES),
  id: Uuid(),
  slug: Type.String(),
  name: Type.String(),
  snippet: Type.String({ description: 'Text around what was found, found words between ** and **' }),
  score: Type.Number({ description: 'Higher is better' }),
})

export const search = resource('catalog', '/search').get(
  '',
  {
    operationId: 'search',
    summary: 'Search the catalog',
    scope: 'storefront:read',
    responses: { 200: Counted(Hit) },
    description:
      'Every word must occur; words match from their beginning, diacritics do not matter. Only what is published is found by storefront keys.',
    query: {
      q: Text(1, 200, { description: 'What to look for' }),
      types: Type.Optional(Type.String({ maxLength: 100, description: `Some of ${TYPES.join(', ')}, separated by commas` })),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
      lang: Lang,
    },
    stored: true,
  },
  async ({ db, query, storefront, settings }) => {
    let types: readonly string[] = query.types === undefined ? TYPES : query.types.split(',').map((type) => type.trim())
    for (const type of types) if (!(TYPES as readonly string[]).includes(type)) throw wrong('types', `must be some of ${TYPES.join(', ')}`)
    const words = wordsIn(query.q)
    const expression = matchExpression(query.q)
    if (!expression) return { data: [], meta: { count: 0 } }
    const { locale, tools } = await settings()
    if (!tools.blog) types = types.filter((type) => type !== 'post')
    const lang = query.lang && query.lang !== locale ? query.lang : ''
    const { ranked, count } = await rank(db, { expression, words, types, lang, storefront, limit: query.limit })
    const shown = await namesOf(db, ranked, lang)
    const data = ranked.flatMap(({ type, id, score, snippet }) => {
      const names = shown.get(id)
      return names ? [{ type, id, ...names, snippet, score: Math.round(score * 1e6) / 1e6 }] : []
    })
    return { data, meta: { count } }
  },
)
