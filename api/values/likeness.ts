/** How much words are alike: to name what somebody may have meant. */

/** Longer words are like none. */
const LETTERS_MAX = 64
/** Two rows of the table of edits, used again for each pair of words: making them anew costs ten times as much as filling them. */
let above = new Uint8Array(LETTERS_MAX + 1)
let row = new Uint8Array(LETTERS_MAX + 1)

/** Edits (insert, delete, replace) between two words, at most `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most || a.length > LETTERS_MAX || b.length > LETTERS_MAX) return most + 1
  for (let j = 0; j <= b.length; j++) row[j] = j
  for (let i = 1; i <= a.length; i++) {
    ;[above, row] = [row, above]
    let least = (row[0] = i)
    const letter = a.charCodeAt(i - 1)
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (letter === b.charCodeAt(j - 1) ? 0 : 1)
      const edits = Math.min(above[j]! + 1, row[j - 1]! + 1, replaced)
      row[j] = edits
      if (edits < least) least = edits
    }
    if (least > most) return most + 1
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
