/** Ids and slugs in requests: those of other resources are in the store, those that are made are free. */
import { and, gte, inArray, lt, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/driver.ts'
import { wrong } from './http/refusal.ts'
import { isUuid } from './http/schema.ts'
import { freeSlug, slugOf } from './slug.ts'

/** A table whose rows have a slug of their own. */
type Sluggish = SQLiteTable & { slug: SQLiteColumn; id: SQLiteColumn }

/** The slug to store: the one given (409 when another row has it, by UNIQUE), or a free one made from the name. */
export async function slugFor(tx: Db, table: Sluggish, given: string | undefined, name: string): Promise<string> {
  if (given !== undefined) {
    if (isUuid(given)) throw wrong('slug', 'must not look like an id')
    return given
  }
  const slug = slugOf(name)
  // '.' follows '-': this range is the slug itself and all that continue it with a hyphen.
  const taken = await tx
    .select({ slug: sql<string>`${table.slug}` })
    .from(table)
    .where(and(gte(table.slug, slug), lt(table.slug, `${slug}.`)))
  return freeSlug(
    slug,
    taken.map((row) => row.slug),
  )
}

/** Refuses with 400 at `path` (of the field, or of the id at an index) unless every id is a row of `table`. */
export async function requireIds(
  tx: Db,
  table: SQLiteTable & { id: SQLiteColumn },
  ids: readonly (string | null | undefined)[],
  path: string | ((i: number) => string),
) {
  const wanted = [...new Set(ids.filter((id): id is string => typeof id === 'string'))]
  if (!wanted.length) return
  const found = new Set<string>()
  for (let i = 0; i < wanted.length; i += 500) {
    for (const row of await tx
      .select({ id: sql<string>`${table.id}` })
      .from(table)
      .where(inArray(table.id, wanted.slice(i, i + 500))))
      found.add(row.id)
  }
  const at = ids.findIndex((id) => typeof id === 'string' && !found.has(id))
  if (at < 0) return
  const field = typeof path === 'function' ? path(at) : ids.length > 1 || path.endsWith('s') ? `${path}.${at}` : path
  throw wrong(field, 'no such resource in this store')
}
