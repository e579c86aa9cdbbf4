/** The pages whose addresses are nearest to one that leads nowhere. */

/** How many pages are named. */
const NAMED = 3

/** Edits (insert, delete, replace) between two words, at most `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    if (Math.min(...next) > most) return most + 1
    row = next
  }
  return row[b.length]!
}

const wordsOf = (path: string) =>
  path
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1)

/** How many slips a word of this length may have: two in a short one make another word. */
const editsIn = (word: string) => (word.length > 5 ? 2 : 1)

/** The words of a path that an address has, whole or nearly. */
function likeness(asked: readonly string[], path: string): number {
  const words = wordsOf(path)
  let score = 0
  for (const word of asked) {
    if (words.includes(word)) score += 2
    else if (word.length > 3 && words.some((other) => distance(word, other, editsIn(word)) <= editsIn(word))) score += 1.2
    else if (word.length > 3 && words.some((other) => other.startsWith(word) || word.startsWith(other))) score += 0.8
  }
  // Of two pages that have the words, the one with fewer others is meant.
  return score - words.length * 0.05
}

/** The paths among `paths` that are most like the one asked for, best first; none when nothing is like it. */
export function nearest(asked: string, paths: Iterable<string>): string[] {
  const words = wordsOf(asked.slice(0, 300)).filter((word) => !['api', 'md', 'html'].includes(word))
  const generic = words.filter((word) => !['docs', 'help', 'blog', 'changelog'].includes(word))
  if (!generic.length) return []
  const likely = [...paths]
    .map((path) => ({ path, score: likeness(words, path), own: likeness(generic, path) }))
    .filter(({ own }) => own > 0.5)
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
  return likely
    .filter(({ score }) => score > likely[0]!.score * 0.7)
    .slice(0, NAMED)
    .map(({ path }) => path)
}
