/** How much words are alike: to name what somebody may have meant. */

/** Edits (insert, delete, replace) between two words, at most `most`. */
export function distance(a: string, b: string, most: number): number {
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

/** The words of a path, without those of one letter. */
export const wordsOf = (path: string) =>
  path
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1)

/** How many slips a word of this length may have: two in a short one make another word. */
const editsIn = (word: string) => (word.length > 5 ? 2 : 1)

/** How much two words are alike: the same, nearly, one the beginning of the other, or not at all. */
export function likeness(word: string, other: string): number {
  if (word === other) return 2
  if (word.length < 3) return 0
  const most = editsIn(word)
  if (word.length > 3 && distance(word, other, most) <= most) return 1.2
  return other.startsWith(word) || word.startsWith(other) ? 0.8 : 0
}
