/** The pages whose addresses are nearest to one that leads nowhere. */
import { likeness, wordsOf } from '../../api/values/likeness.ts'

/** How many pages are named. */
const NAMED = 3

/** Words of every address, and those of the areas, which say little by themselves. */
const SILENT = ['api', 'md', 'html']
const AREAS = ['docs', 'help', 'blog', 'changelog']
/** What is asked for with more words than any page has is not read further. */
const ASKED_MAX = 10
const READ_MAX = 300

export class Nearest {
  /** The words of all paths, each with the paths that have it: few words stand in many paths. */
  readonly #paths = new Map<string, string[]>()

  constructor(readonly paths: readonly string[]) {
    for (const path of paths)
      for (const word of new Set(wordsOf(path))) {
        const known = this.#paths.get(word)
        if (known) known.push(path)
        else this.#paths.set(word, [path])
      }
  }

  /** The paths that are most like the one asked for, best first; at least the front page of its area, or none. */
  to(whole: string): string[] {
    const asked = whole.slice(0, READ_MAX)
    const words = [...new Set(wordsOf(asked))].filter((word) => !SILENT.includes(word)).slice(0, ASKED_MAX)
    const generic = this.#scores(words.filter((word) => !AREAS.includes(word)))
    const area = this.#scores(words.filter((word) => AREAS.includes(word)))
    const likely = [...generic]
      // Of two pages that have the words, the one with fewer others is meant.
      .map(([path, own]) => ({ path, own, less: wordsOf(path).length * 0.05 }))
      .filter(({ own, less }) => own - less > 0.5)
      .map(({ path, own, less }) => ({ path, score: own + (area.get(path) ?? 0) - less }))
      .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    const front = `/${asked.replace(/^\/api(?=\/)/, '').split('/')[1]}`
    if (!likely.length) return this.paths.filter((path) => path === front && front !== '/')
    return likely
      .filter(({ score }) => score > likely[0]!.score * 0.7)
      .slice(0, NAMED)
      .map(({ path }) => path)
  }

  /** How much each path that has any of these words, or nearly, is like all of them. */
  #scores(words: readonly string[]): Map<string, number> {
    const scores = new Map<string, number>()
    for (const word of words) {
      const best = new Map<string, number>()
      for (const [other, paths] of this.#paths) {
        const alike = likeness(word, other)
        if (alike) for (const path of paths) best.set(path, Math.max(alike, best.get(path) ?? 0))
      }
      for (const [path, alike] of best) scores.set(path, (scores.get(path) ?? 0) + alike)
    }
    return scores
  }
}
