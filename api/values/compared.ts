/** Texts as they are compared: in one of Unicode's normal forms, and as parts of others. */

/** More marks in a row than any language has: a normal form puts each run in order, one mark past the others (UAX #15, D4). */
const RUN = /(?:(?!\u034f)[\p{M}\u0e33\u0eb3\uff9e\uff9f]){30}(?=(?!\u034f)[\p{M}\u0e33\u0eb3\uff9e\uff9f])/gu
/** The combining grapheme joiner: nothing is moved past it, and nobody sees it. */
const JOINER = '\u034f'

/** A text in a normal form. Runs of marks that are longer than 30 are divided, as Unicode's stream-safe format does. */
export const normal = (text: string, form: 'NFC' | 'NFD' | 'NFKC' = 'NFC'): string => text.replace(RUN, `$&${JOINER}`).normalize(form)

/** The pattern of `like … escape '\\'` for what contains `text`; `%`, `_` and `\` mean themselves. */
export const contains = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
