/**
 * JSON that others wrote. Every entrance reads it here, so that all have the same limits: how deep it nests is counted before it is parsed,
 * and what it holds can be stored. What that costs grows with the length of the text alone.
 */
import { invalid, Refusal } from '../../values/refusal.ts'

/** Deeper nesting than any document needs, far less than what overflows a stack. */
const DEPTH_MAX = 100
/** More names than any document needs: parsing takes a third of a microsecond for each. */
const NAMES_MAX = 20_000

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The text of bytes that are UTF-8; refuses others with 400. */
export function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Refusal(400, 'the body is not valid UTF-8')
  }
}

/** What is too much of a JSON text: brackets that nest, or names. What stands inside strings does not count. */
function tooMuchIn(text: string): string | null {
  let depth = 0
  let names = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (quoted) {
      if (c === 92) i++
      else if (c === 34) quoted = false
    } else if (c === 34) quoted = true
    else if (c === 91 || c === 123) {
      if (++depth > DEPTH_MAX) return `nests deeper than ${DEPTH_MAX} levels`
    } else if (c === 93 || c === 125) depth--
    else if (c === 58 && ++names > NAMES_MAX) return `has more than ${NAMES_MAX} names`
  }
  return null
}

/** The value of a JSON text. Refuses with 400 what nests too deep, and what is none. */
export function parsed(text: string): unknown {
  const tooMuch = tooMuchIn(text)
  if (tooMuch) throw new Refusal(400, `the body ${tooMuch}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'the body is not valid JSON')
  }
}

/** The value of a JSON text whose strings can all be stored. Refuses others with 400. */
export function storable(text: string): unknown {
  const value = parsed(text)
  if (hasBrokenEscape(text)) refuseBrokenText(value)
  return value
}

/** The unit of text that the four digits at `i` stand for. */
const unitAt = (text: string, i: number) => parseInt(text.slice(i, i + 4), 16)
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

/**
 * Whether a valid JSON text has an escape that makes NUL or half a character. It came as UTF-8, which has no halves, and NUL itself is
 * no JSON: only escapes can bring them in. Looking for them in the text costs a hundredth of looking through what it holds.
 */
function hasBrokenEscape(text: string): boolean {
  for (let i = text.indexOf('\\'); i >= 0; i = text.indexOf('\\', i)) {
    if (text[i + 1] !== 'u') {
      i += 2
      continue
    }
    const unit = unitAt(text, i + 2)
    i += 6
    if (unit === 0 || isLow(unit)) return true
    if (!isHigh(unit)) continue
    if (text[i] !== '\\' || text[i + 1] !== 'u' || !isLow(unitAt(text, i + 2))) return true
    i += 6
  }
  return false
}

/** NUL and lone surrogates can't be stored as text, so they are refused by field. */
export function refuseBrokenText(value: unknown) {
  const path = brokenIn(value)
  if (path) throw invalid([{ code: 'invalid_string', message: 'must be well-formed text without NUL', path }])
}

const isBroken = (text: string) => text.includes('\0') || !text.isWellFormed()

/** Where the first broken text is; null when there is none. Its path is put together on the way back: most bodies have no need of one. */
function brokenIn(value: unknown): string[] | null {
  if (typeof value === 'string') return isBroken(value) ? [] : null
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const inside = brokenIn(value[i])
      if (inside) return [String(i), ...inside]
    }
    return null
  }
  for (const name in value) {
    if (isBroken(name)) return []
    const inside = brokenIn((value as Record<string, unknown>)[name])
    if (inside) return [name, ...inside]
  }
  return null
}
