/** The paths of the API that are nearest to one that leads nowhere. */
import { likeness, wordsOf } from '../../values/likeness.ts'

/** How many paths are named. */
const NAMED = 3
/** The characters that are read of a path that was asked for: no path of the API is as long. */
const CHARACTERS_MAX = 300
const WORDS_MAX = 6
/** Words that stand before every path. */
const SILENT = new Set(['api', 'v1'])

/** How deep a path is below the prefix of the API. */
const partsOf = (path: string) =>
  path
    .replace(/^\/api(\/v\d+)?(?=\/)/, '')
    .split('/')
    .filter(Boolean).length
/** The words of a path, without those that stand before every one. */
const own = (path: string) => wordsOf(path).filter((word) => !SILENT.has(word))

interface Known {
  path: string
  words: readonly string[]
  parts: number
}

export class NearestPaths {
  readonly #known: readonly Known[]
  /** The words of all paths. */
  readonly #words: readonly string[]

  /** Takes the paths as templates, such as `/orders/{id}`. */
  constructor(paths: Iterable<string>) {
    this.#known = [...new Set(paths)].map((path) => ({ path, words: own(path.replace(/\{\w+\}/g, '')), parts: partsOf(path) }))
    this.#words = [...new Set(this.#known.flatMap(({ words }) => words))]
  }

  /** The templates that are most like a path, best first; none when nothing is like it. */
  to(asked: string): string[] {
    const start = asked.slice(0, CHARACTERS_MAX)
    const words = [...new Set(own(start))].slice(0, WORDS_MAX)
    const parts = partsOf(start)
    const alike = words.map((word) => new Map(this.#words.map((other) => [other, likeness(word, other)])))
    const likely = this.#known
      .map((known) => ({ path: known.path, score: scoreOf(known, alike, parts) }))
      .filter(({ score }) => score > 0.5)
      .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    return likely
      .filter(({ score }) => score > likely[0]!.score * 0.7)
      .slice(0, NAMED)
      .map(({ path }) => path)
  }
}

/** The score of a path: of two that have the words, the one with fewer others ranks higher, and then the one that is as deep. */
function scoreOf(known: Known, alike: readonly ReadonlyMap<string, number>[], parts: number): number {
  let score = -0.05 * known.words.length - 0.01 * Math.abs(known.parts - parts)
  for (const scores of alike) score += Math.max(0, ...known.words.map((word) => scores.get(word)!))
  return score
}
