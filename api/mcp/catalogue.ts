/** The operations that tools can call, found by what somebody wants to do: SQLite's full-text index in memory, made at its first use. */
import { Database } from 'bun:sqlite'
import type { Route } from '../http/route.ts'
import type { Json } from '../openapi/schemas.ts'
import { phrasesOf } from '../values/phrases.ts'
import { hintsOf } from './hints.ts'
import { argumentsOf, isCallable, OWN } from './operation.ts'
import { ownWordsFor } from './words.ts'

/** How much a word counts in the name, the summary, the path, the arguments, and the description. */
const RANK = 'bm25(operations, 4.0, 8.0, 2.0, 0.7, 1.0)'
/** How much less one of our words counts that stands for one of theirs, and how much more one that stands for two. */
const INSTEAD = 0.7
const TOGETHER = 2
/** The characters of a question that are read. */
const QUERY_MAX = 200

/** An operation as a tool. */
export interface Operation {
  id: string
  route: Route
  hints: ReturnType<typeof hintsOf>
  /** The JSON Schema of its arguments. */
  readonly input: Json
  /** Its arguments in one line: `code, type, value, maxUses?`. */
  readonly signature: string
}

const spaced = (name: string) => name.replace(/([a-z])([A-Z])/g, '$1 $2')

function operationOf(route: Route): Operation {
  let input: Json | undefined
  const own = {
    id: route.options.operationId,
    route,
    hints: hintsOf(route),
    get input() {
      return (input ??= argumentsOf(route))
    },
    get signature() {
      const required = new Set(own.input.required as string[] | undefined)
      return Object.keys(own.input.properties)
        .filter((name) => !Object.hasOwn(OWN, name))
        .map((name) => (required.has(name) ? name : `${name}?`))
        .join(', ')
    },
  }
  return own
}

export class Catalogue {
  readonly #operations: ReadonlyMap<string, Operation>
  #index: Database | undefined

  constructor(routes: readonly Route[]) {
    this.#operations = new Map(routes.filter(isCallable).map((route) => [route.options.operationId, operationOf(route)]))
  }

  get(id: string): Operation | undefined {
    return this.#operations.get(id)
  }

  get size(): number {
    return this.#operations.size
  }

  get all(): Iterable<Operation> {
    return this.#operations.values()
  }

  /** The operations that have words of the text, best first. */
  find(text: string): Operation[] {
    const phrases = phrasesOf(text.slice(0, QUERY_MAX))
    const matches = (this.#index ??= this.#indexed()).query<{ id: string; score: number }, [string]>(
      `select id, -${RANK} as score from operations where operations match ?`,
    )
    const scores = new Map<string, number>()
    // Word by word: what has all words is worth more than what has one of them often.
    const add = (looked: readonly (readonly [match: string, worth: number])[]) => {
      const best = new Map<string, number>()
      for (const [match, worth] of looked)
        for (const { id, score } of matches.all(match)) best.set(id, Math.max(best.get(id) ?? 0, (score + 1) * worth))
      for (const [id, score] of best) scores.set(id, (scores.get(id) ?? 0) + score)
    }
    for (const [i, { word, phrase }] of phrases.entries()) {
      add([[phrase, 1], ...ownWordsFor(word).map((own) => [`"${own}"`, INSTEAD] as const)])
      const both = i > 0 ? ownWordsFor(`${phrases[i - 1]!.word}-${word}`) : []
      if (both.length) add(both.map((own) => [`"${own}"`, TOGETHER] as const))
    }
    return [...scores].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([id]) => this.#operations.get(id)!)
  }

  #indexed(): Database {
    const database = new Database(':memory:')
    database.run(
      `create virtual table operations using fts5(name, summary, path, arguments, description, id unindexed, tokenize = 'porter unicode61')`,
    )
    const insert = database.prepare('insert into operations values (?, ?, ?, ?, ?, ?)')
    database.transaction(() => {
      for (const { id, route, input } of this.all) {
        const { summary, description = '' } = route.options
        insert.run(spaced(id), summary, route.path, Object.keys(input.properties).map(spaced).join(' '), description, id)
      }
    })()
    return database
  }
}
