/** Ids and slugs in requests: those of other resources are in the store, those that are made are free. */
import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { compile, named, type Db } from '../../../db/driver.ts'
import { wrong } from '../../values/refusal.ts'
import { isUuid } from '../../values/uuid.ts'
import { slugOf } from '../../values/slug.ts'

/** A table whose rows have a slug of their own. */
type Sluggish = SQLiteTable & { slug: SQLiteColumn; id: SQLiteColumn }

/**
 * The first free of `slug`, `slug-2`, `slug-3`, … in one statement that looks a few slugs up: steps that double find a free number
 * behind one that is taken, halves of the last step the place where the taken ones end. Numbers freed further down stay free.
 */
const freeSlugIn = (table: Sluggish) => {
  const taken = (number: string) =>
    sql`exists (select 1 from ${table} where ${sql.identifier('slug')} = ${named('slug')} || '-' || ${sql.raw(number)})`
  const middle = '((low + high) / 2)'
  return compile((db) =>
    db
      .select({
        slug: sql<string>`case when not exists (select 1 from ${table} where ${sql.identifier('slug')} = ${named('slug')}) then ${named('slug')} else (
      with recursive steps(low, high) as (select 1, 2 union all select high, 2 * high - 1 from steps where ${taken('high')}),
      halves(low, high) as (select max(low), max(high) from steps union all
        select iif(${taken(middle)}, ${sql.raw(middle)}, low), iif(${taken(middle)}, high, ${sql.raw(middle)}) from halves where high - low > 1)
      select ${named('slug')} || '-' || min(high) from halves) end`,
      })
      .from(sql`(select 1)`),
  )
}
const freeSlugs = new Map<Sluggish, ReturnType<typeof freeSlugIn>>()

/** The slug to store: the one given (409 when another row has it, by UNIQUE), or a free one made from the name. */
export async function slugFor(tx: Db, table: Sluggish, given: string | undefined, name: string): Promise<string> {
  if (given !== undefined) {
    if (isUuid(given)) throw wrong('slug', 'must not look like an id')
    return given
  }
  let free = freeSlugs.get(table)
  if (!free) freeSlugs.set(table, (free = freeSlugIn(table)))
  return ((await free.get(tx, { slug: slugOf(name) })) as { slug: string }).slug
}

const idsIn = (table: Listed) =>
  compile((db) =>
    db
      .select({ id: sql<string>`${table.id}` })
      .from(table)
      .where(sql`${table.id} in (select value from json_each(${named('ids')}))`),
  )
type Listed = SQLiteTable & { id: SQLiteColumn }
const idsOf = new Map<Listed, ReturnType<typeof idsIn>>()

/** Refuses with 400 at `path` (of the field, or of the id at an index) unless every id is a row of `table`. */
export async function requireIds(
  tx: Db,
  table: Listed,
  ids: readonly (string | null | undefined)[],
  path: string | ((i: number) => string),
) {
  const wanted = [...new Set(ids.filter((id): id is string => typeof id === 'string'))]
  if (!wanted.length) return
  let query = idsOf.get(table)
  if (!query) idsOf.set(table, (query = idsIn(table)))
  const found = new Set(((await query.all(tx, { ids: JSON.stringify(wanted) })) as { id: string }[]).map((row) => row.id))
  const at = ids.findIndex((id) => typeof id === 'string' && !found.has(id))
  if (at < 0) return
  const field = typeof path === 'function' ? path(at) : ids.length > 1 || path.endsWith('s') ? `${path}.${at}` : path
  throw wrong(field, 'no such resource in this store')
}
