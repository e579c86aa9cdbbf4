/** Texts that a pattern takes longest for: what it begins with, again and again, and then what it does not end with. */
import type { TextOf } from './shapes.ts'

/** What classes take, by the letter behind the backslash. */
const CLASSES: Record<string, string> = {
  ...{ d: '1', D: 'a', w: 'a', W: ' ', s: ' ', S: 'a', b: '', B: '', n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' },
  ...{ p: 'a', P: 'a', k: '' },
}
/** What one of them may be that a pattern takes, in the order in which it is tried. */
const CANDIDATES = [...'a1A-./ _@#"\'`<>&,;:=\n\t\r*!?%$()[]{}|\\~^+é😀\u0301\0\x1b…']

interface Piece {
  /** The pattern of the piece alone. */
  source: string
  /** What it takes, each of them one way. */
  samples: string[]
}

/** Where the group or class that begins at `at` ends. */
function endOf(source: string, at: number): number {
  if (source[at] === '[') {
    for (let i = at + 1; i < source.length; i++) {
      if (source[i] === '\\') i++
      else if (source[i] === ']') return i + 1
    }
    return source.length
  }
  for (let i = at + 1; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[' || source[i] === '(') i = endOf(source, i) - 1
    else if (source[i] === ')') return i + 1
  }
  return source.length
}

/** The ways of a pattern: what stands between its bars, those inside of groups left together. */
function waysOf(source: string): string[] {
  const ways: string[] = []
  let from = 0
  for (let i = 0; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[' || source[i] === '(') i = endOf(source, i) - 1
    else if (source[i] === '|') {
      ways.push(source.slice(from, i))
      from = i + 1
    }
  }
  return [...ways, source.slice(from)]
}

/** Whether the part of a class takes a character. */
function takes(source: string, flags: string, character: string): boolean {
  try {
    return new RegExp(`^${source}$`, flags.replace(/[gy]/g, '')).test(character)
  } catch {
    return false
  }
}

/** One way of a pattern as the pieces it is made of, without those that take nothing. */
function piecesOf(source: string, flags: string): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < source.length;) {
    let end = at + 1
    let samples: string[]
    const sign = source[at]!
    if (sign === '(') {
      end = endOf(source, at)
      const inner = source.slice(at + 1, end - 1).replace(/^\?(?::|<\w+>)/, '')
      // What only looks takes nothing, but names what is looked for.
      samples = /^\?/.test(inner) ? [''] : waysOf(inner).flatMap((way) => textsOf(piecesOf(way, flags)))
    } else if (sign === '[') {
      end = endOf(source, at)
      samples = CANDIDATES.filter((one) => takes(source.slice(at, end), flags, one)).slice(0, 3)
    } else if (sign === '\\') {
      const long = /^\\(?:u\{?[0-9a-f]{4,6}\}?|x[0-9a-f]{2}|p\{[^}]*\}|P\{[^}]*\}|k<\w+>)/i.exec(source.slice(at))?.[0]
      end = at + (long?.length ?? 2)
      const letter = source[at + 1]!
      samples = long
        ? [...CANDIDATES, '\ufeff', '\u2028'].filter((one) => takes(long, flags, one)).slice(0, 2)
        : [CLASSES[letter] ?? (/[1-9]/.test(letter) ? '' : letter)]
    } else if (sign === '.') samples = ['a', ' ']
    else if (sign === '^' || sign === '$') samples = ['']
    else samples = [sign]
    const times = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(source.slice(end))?.[0] ?? ''
    const least = Math.min(40, Number(/^\{(\d+)/.exec(times)?.[1] ?? 1))
    if (least > 1) samples = samples.map((one) => one.repeat(least))
    pieces.push({ source: source.slice(at, end + times.length), samples: samples.length ? samples : [''] })
    at = end + times.length
  }
  return pieces
}

/** Some texts that the pieces take one behind the other. */
function textsOf(pieces: readonly Piece[]): string[] {
  const most = Math.min(3, Math.max(1, ...pieces.map(({ samples }) => samples.length)))
  return Array.from({ length: most }, (_, i) => pieces.map(({ samples }) => samples[i % samples.length]).join(''))
}

const filled = (unit: string, length: number) => unit.repeat(Math.max(1, Math.floor(length / unit.length)))

/** Of each way through a pattern: each of its beginnings again and again, and each of its pieces, behind its beginning, without an end. */
export function textsAgainst(source: string, flags: string): [made: string, TextOf][] {
  const units = new Map<string, TextOf>()
  const add = (before: string, unit: string, after: string) => {
    if (!unit) return
    units.set(JSON.stringify([before, unit, after]), (length) => before + filled(unit, length) + after)
  }
  const ways = waysOf(source)
  for (const way of [...ways, ...innerWays(source)]) {
    const pieces = piecesOf(way, flags)
    let before = ''
    for (const [i, { samples }] of pieces.entries()) {
      for (const sample of samples) {
        add(before, sample, '\0')
        add('\0', sample, '\0')
        add(before, sample + sample + (pieces[i + 1]?.samples[0] ?? ''), '\0')
      }
      before += samples[0]
      add('', before, '')
      add('a', before, '\0')
      add('', `${before}\n`, '\0')
      add('', before + (samples.at(-1) ?? '').repeat(3), '\0')
    }
  }
  return [...units]
}

/** The ways of the groups of a pattern, as if each stood alone. */
function innerWays(source: string): string[] {
  const inner: string[] = []
  for (let i = 0; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[') i = endOf(source, i) - 1
    else if (source[i] === '(') inner.push(...waysOf(source.slice(i + 1, endOf(source, i) - 1).replace(/^\?(?::|<\w+>|[=!]|<[=!])/, '')))
  }
  return inner
}
