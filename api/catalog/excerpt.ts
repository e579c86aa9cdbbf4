/** Excerpts of what a search has found: some words around the first that was meant, in time that the length of the text bounds. */
import { normal } from '../values/compared.ts'

/** Words of an excerpt, and how many of them stand before the first that was found. */
const WORDS = 16
const BEFORE = 6
/** No excerpt is longer, whatever its words are. */
const LENGTH_MAX = 600
/** Characters that are read for the excerpts of one search; the rest of them begin where their text begins. */
const READ_MAX = 100_000

const PLAIN = /^[\w]*$/
const plain = (word: string) => (PLAIN.test(word) ? word : normal(word, 'NFD').replace(/\p{M}/gu, '')).toLowerCase()

/** Makes excerpts for one search of `words`: what was found of them stands between `**`. */
export function excerpts(words: readonly string[]) {
  const sought = words.map(plain)
  const isMeant = (word: string) => {
    const found = plain(word)
    return sought.some((beginning) => found.startsWith(beginning))
  }
  let left = READ_MAX

  /** Where the first word that was meant stands among the words before it; null when it is not there. */
  function firstIn(text: string): number[] | null {
    const before: number[] = []
    for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      if (match.index > left) break
      before.push(match.index)
      if (isMeant(match[0])) {
        left -= match.index
        return before
      }
    }
    left -= Math.min(left, text.length)
    return null
  }

  /** Some words of a text from one of them on. */
  function from(text: string, start: number): string {
    let marked = start > 0 ? '…' : ''
    let end = start
    let count = 0
    for (const { 0: word, index } of text.slice(start).matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      if (count++ === WORDS) return `${marked.trimEnd()}…`
      marked += text.slice(end, start + index) + (isMeant(word) ? `**${word}**` : word)
      end = start + index + word.length
    }
    return marked + text.slice(end)
  }

  /** The excerpt around a word that was found in the text, else in the name; the beginning of the text when neither has it as written. */
  const short = (text: string) => text.trim().slice(0, LENGTH_MAX).toWellFormed()
  return ({ name, body }: { name: string; body: string }): string => {
    for (const text of [body, name]) {
      const found = firstIn(text)
      if (found) return short(from(text, found.length > BEFORE + 1 ? found[found.length - 1 - BEFORE]! : 0))
    }
    return short(from(body || name, 0))
  }
}
