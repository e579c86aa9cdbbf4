/** Numbers that a store gives once: what it has given is kept through every restore, so that none is given to two customers. */
import { inArray } from 'drizzle-orm'
import type { FileConnection } from './connection.ts'
import type { Reader } from './driver.ts'
import type { Environment } from './open.ts'
import { counters } from './store/store.ts'

/** The highest number given, by counter. */
export type Given = Record<string, number>
export type Numbers = Partial<Record<Environment, Given>>

/** The counters whose values are told to customers. */
const COUNTERS = ['order', 'invoice']
/** The number before the first order's. */
const BEFORE_FIRST: Given = { order: 1_000 }
/** Numbers that are passed over when a database is replaced that can't tell how many it has given since anybody looked. */
const UNKNOWN_LEAP = 1_000

/** The highest numbers that the database of a file has given. */
export function numbersIn(connection: Pick<FileConnection, 'rows'>): Given {
  const names = COUNTERS.map((name) => `'${name}'`).join(', ')
  const rows = connection.rows(`SELECT name, value FROM counters WHERE name IN (${names})`, []) as [string, number][]
  return Object.fromEntries(rows)
}

/** The highest numbers that an open store has given. */
export async function numbersOf(db: Reader): Promise<Given> {
  const rows = await db.select().from(counters).where(inArray(counters.name, COUNTERS))
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** The higher of each number. */
export function higher(...all: (Given | undefined)[]): Given {
  const result: Given = {}
  for (const given of all) for (const [name, value] of Object.entries(given ?? {})) result[name] = Math.max(result[name] ?? 0, value)
  return result
}

/** Numbers so far above `given` that nobody was given one of those that follow. */
export const leapt = (given: Given): Given =>
  Object.fromEntries(Object.entries(higher(BEFORE_FIRST, given)).map(([name, value]) => [name, value + UNKNOWN_LEAP]))
