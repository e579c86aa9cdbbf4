/** Coupon codes (document 3, Decisions): 1-64 printable characters without spaces or `/`, compared after NFC, otherwise exactly. */
import { isUuid } from '../../values/uuid.ts'
import { invalid, wrong } from '../../values/refusal.ts'
import { normal } from '../../values/compared.ts'

/** The form in which a code is stored and looked up. */
export const codeOf = (text: string) => normal(text.trim())

/** The code of a request; refuses one that could be taken for an id or can't stand in a path. */
export function newCode(text: string): string {
  const code = codeOf(text)
  const length = [...code].length
  if (length < 1) throw invalid([{ code: 'too_small', message: 'must have at least 1 character', path: ['code'], minimum: 1 }])
  if (length > 64) throw invalid([{ code: 'too_big', message: 'must have at most 64 characters', path: ['code'], maximum: 64 }])
  if (/[\s/\p{C}\p{Z}]/u.test(code)) throw wrong('code', 'must be printable, without spaces or /')
  // A path segment of dots means this folder, or the one above: such a code could not be addressed.
  if (code === '.' || code === '..') throw wrong('code', 'must not be a dot or two')
  if (isUuid(code)) throw wrong('code', 'must not look like an id')
  return code
}
