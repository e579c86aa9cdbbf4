/** What is asked of a store's database, and how SQLite plans to answer it. */
import { AsideReader } from '../db/aside.ts'
import { FileConnection, ServerConnection } from '../db/connection.ts'
import type { Handle } from '../db/open.ts'

/** The statement itself, where its rows are read as one text (`db/driver.ts`). */
export const unpacked = (text: string) => /^with t\([\w,]+\) as \((.*)\) select json_group_array\(.*\) from t$/s.exec(text)?.[1] ?? text

/** How many rows a statement has read: those of `rows`, the one of `row`, or those that it gives as one text. */
export function rowsIn(text: string, answer: unknown): number {
  const found = (answer ?? []) as unknown[]
  if (unpacked(text) !== text) return (JSON.parse(found[0] as string) as unknown[]).length
  return Array.isArray(found[0]) || !found.length ? found.length : 1
}

type Run = (this: unknown, text: string, params: unknown[]) => unknown
/** How statements are run: on a file, on a libSQL server (whose `row` is one of its `rows`), beside the event loop. */
const HOW = { file: FileConnection.prototype, server: ServerConnection.prototype, aside: AsideReader.prototype } as const
type How = `${keyof typeof HOW}.${'rows' | 'row' | 'run'}`

/**
 * Shows what is asked of any database from now on, and what is answered, until the function that it gives is called. An answer
 * that is there at once stays so: files of one worker share connections, and who runs a statement may not wait for it.
 */
export function seeStatements(ways: How[], see: (text: string, params: unknown[], answer: unknown, way: How) => void): () => void {
  const originals = ways.map((way): [How, Record<string, Run>, string, Run] => {
    const [kind, name] = way.split('.') as [keyof typeof HOW, string]
    const prototype = HOW[kind] as unknown as Record<string, Run>
    return [way, prototype, name, prototype[name]!]
  })
  for (const [way, prototype, name, original] of originals)
    prototype[name] = function (text, params) {
      const seen = (answer: unknown) => (see(text, params, answer, way), answer)
      const answer = original.call(this, text, params)
      return answer instanceof Promise ? answer.then(seen) : seen(answer)
    }
  return () => {
    for (const [, prototype, name, original] of originals) prototype[name] = original
  }
}

/** Sees every statement that reads, until it ends. */
interface Watch {
  /** The statements that some work asks of stores' databases. */
  of(work: () => Promise<unknown>): Promise<string[]>
  end(): void
}

export function watchStatements(): Watch {
  let asked: string[] | null = null
  const end = seeStatements(['file.rows', 'file.row', 'server.rows', 'aside.rows'], (text) => {
    if (!/^pragma/i.test(text)) asked?.push(unpacked(text))
  })
  return {
    async of(work) {
      asked = []
      try {
        await work()
        // What stands in the control database is no store's.
        return asked.filter((text) => !/"(api_keys|changes|store_room|stores)"|^select max\(rowid\)/.test(text))
      } finally {
        asked = null
      }
    },
    end,
  }
}

export interface Plan {
  steps: string[]
  /** Those that read a table, or nearly all of it, from one end to the other. */
  scans: string[]
}
/** Columns in which most rows are alike: an index that is asked for these alone gives nearly the whole table. */
const ALIKE = new Set(['is_event', 'status', 'active', 'tracked', 'currency', 'entity', 'locale', 'kind'])

/** The table that a step of a plan reads, whatever the statement calls it; empty when it reads none. */
export function tableOf(text: string, step: string): string {
  const name = /^(?:SCAN|SEARCH) (\w+)/.exec(step)?.[1] ?? ''
  const named = text.matchAll(
    /\b(?:from|join|,)\s+"?(\w+)"?(?:\s+(?:as\s+)?"?(?!on\b|where\b|join\b|left\b|inner\b|cross\b|order\b|group\b|limit\b)(\w+)"?)?/gi,
  )
  return new Map([...named].map(([, table, alias]) => [alias ?? table!, table!])).get(name) ?? name
}

/** SQLite's plan of a statement; of its scans, those of tables that grow. */
export async function planOf(planner: Handle, text: string, isGrowing: (table: string) => boolean): Promise<Plan> {
  const rows = await planner.connection.rows(`explain query plan ${text}`, Array((text.match(/\?/g) ?? []).length).fill(null))
  const steps = rows.map((row) => String(row[3]))
  const scans = steps.filter((step) => {
    const [, kind, , columns] = /^(SCAN|SEARCH) \w+(?: USING (?:COVERING )?(INDEX|INTEGER PRIMARY KEY) ?\w* ?\(([^)]*)\))?/.exec(step) ?? []
    if (kind === undefined || !isGrowing(tableOf(text, step))) return false
    // The least or the most of an index is at its end.
    return kind === 'SCAN' || (columns?.split(' AND ').every((part) => ALIKE.has(/^<?\w+/.exec(part)![0])) ?? false)
  })
  return { steps, scans }
}

/**
 * A page that is read along an index, without sorting what it reads: it ends where the page ends. One whose rows are joined to it
 * afterwards (`page`) may sort these; what is read for them is no page any more.
 */
export function isPage(text: string, { steps, scans }: Plan) {
  const joined = steps.indexOf('SCAN page')
  const own = joined < 0 ? steps : steps.slice(0, joined)
  return / limit \?/.test(text) && !own.includes('USE TEMP B-TREE FOR ORDER BY') && scans.every((scan) => own.includes(scan))
}

/** A count over an index alone; which variants are active stands in none. */
export const isCount = (text: string, { scans }: Plan) =>
  /^select count\(\*\)/.test(text) && scans.every((step) => / COVERING INDEX /.test(step) || step.startsWith('SCAN variants'))
