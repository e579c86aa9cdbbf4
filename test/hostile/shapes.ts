/** Texts that nobody means well with: seventeen shapes of them, made of what a function looks for, in any length. */

/** What a function looks for in a text. */
export interface Marks {
  /** What begins something, and what ends it. */
  pairs?: readonly (readonly [open: string, close: string])[]
  /** What separates, or stands alone. */
  marks?: readonly string[]
  /** Something whole, as it is meant. */
  items?: readonly string[]
}

/** A text of about `length` characters. */
export type TextOf = (length: number) => string

const filled = (unit: string, length: number) => unit.repeat(Math.max(1, Math.floor(length / unit.length)))
const again =
  (unit: string): TextOf =>
  (length) =>
    filled(unit, length)
/** A run between what it does not begin with and what it must not end with. */
const run =
  (unit: string, before = 'a', after = '\0'): TextOf =>
  (length) =>
    before + filled(unit, length) + after

const PAIRS = [
  ['<', '>'],
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
] as const
const MARKS = [',', ';', ':', '=', '@', '#', '%', '*', '_', '|', '?', '!']
const ITEMS = ['a1', 'shop.example.com', 'https://a.example/b?c=d#e', 'a@b.example']

/** The shapes for a function that looks for `marks`, by their names; those of one name differ in what they are made of. */
export function shapesOf({ pairs = [], marks = [], items = [] }: Marks = {}): [name: string, TextOf][] {
  const both = [...pairs, ...PAIRS]
  const alone = [...new Set([...both.flat(), ...marks, ...MARKS])]
  const whole = [...items, ...ITEMS]
  const shapes: Record<string, TextOf[]> = {
    'a mark alone': alone.map(again),
    'openings without an end': both.map(([open]) => again(`${open}a `)),
    'endings without a beginning': both.map(([, close]) => again(`a${close}`)),
    'openings and endings by turns': both.map(([open, close]) => again(`${open}a${close}`)),
    'openings inside of each other': both.map(
      ([open, close]) =>
        (length) =>
          filled(open, length / 2) + filled(close, length / 2),
    ),
    spaces: [run(' '), run(' ', ''), run('\t ')],
    newlines: [run('\n'), run('\r\n'), run('\n', '')],
    'one word': [run('a', ''), run('A', '-')],
    digits: [run('1', ''), run('0', '1', 'x')],
    'dots, dashes and slashes': ['.', '-', '/', 'a.', 'a-', 'a/', '/.'].map((unit) => run(unit)),
    backslashes: [run('\\'), run('\\\\"')],
    quotes: ['"', "'", '`', '"a'].map((unit) => run(unit)),
    'half entities': ['&', '&amp', '&#', '&#x4', '&lt;'].map((unit) => run(unit)),
    'characters of several bytes': ['😀', 'é', 'e\u0301', '中 '].map((unit) => run(unit)).concat(run('\u0301')),
    'halves of characters': ['\ud800', '\udc00', '\0', '\u2028'].map((unit) => run(unit)),
    'many that are whole': whole.flatMap((item) => [' ', ',', '\n', ''].map((between) => again(item + between))),
    'many that fail at their end': whole.flatMap((item) => [run(`${item.slice(0, -1)}\0`, ''), run(item, ''), again(item.slice(0, -1))]),
  }
  return Object.entries(shapes).flatMap(([name, texts]) => texts.map((textOf): [string, TextOf] => [name, textOf]))
}
