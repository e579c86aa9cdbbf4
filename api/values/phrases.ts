/** The words of what somebody searches for, as phrases of SQLite's full-text index. */
import { normal } from './compared.ts'

/** More words than these narrow nothing down. */
const WORDS_MAX = 8
/** What the last word may be the beginning of: with fewer letters, of too many. */
const BEGINNING = /[\p{L}\p{N}\p{M}]{3}$/u

/** Words that every passage has: who asks for them in a question means the others. */
const SILENT = new Set(
  'a an and are as at be by can could do does for from how i if in is it its many me much my of on or should that the their there this to was what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** One word of a question: `"refund"`, or what it may be the beginning of. */
interface Phrase {
  word: string
  phrase: string
}

/** The words of a text, each as a phrase: `order.paid` is one, in which `order` and `paid` stand together. */
export function phrasesOf(text: string): Phrase[] {
  const words = normal(text)
    .split(/[^\p{L}\p{N}\p{M}._-]+/u)
    .map((word) => word.replace(/^[._-]+/, ''))
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
  const telling = words.filter((word) => !SILENT.has(word.toLowerCase()))
  const last = words.at(-1) ?? ''
  // Two words may be one elsewhere: `back up` and `backup`.
  const joined = (word: string) => {
    const at = words.indexOf(word)
    const pairs = [
      [words[at - 1], word],
      [word, words[at + 1]],
    ]
    return pairs.filter((pair) => pair.every((one) => one && /^\p{L}{2,12}$/u.test(one))).map((pair) => `"${pair.join('')}"`)
  }
  return [...new Set(telling.length ? telling : words)].slice(0, WORDS_MAX).map((word) => {
    const ways = [`"${word}"`, ...(word === last && BEGINNING.test(last) ? [`"${word}" *`] : []), ...joined(word)]
    return { word, phrase: ways.length > 1 ? `(${ways.join(' OR ')})` : ways[0]! }
  })
}
