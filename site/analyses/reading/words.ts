/** What pages say, cut to what is shown of it. */

/** White space collapsed, cut to so many characters; null for nothing. */
export function shortened(text: string | null | undefined, max: number): string | null {
  const plain = (text ?? '')
    .slice(0, max * 8)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed()
  if (!plain) return null
  const characters = Array.from(plain)
  return characters.length > max ? characters.slice(0, max).join('').trimEnd() : plain
}

/** Of an address, in characters. */
const ADDRESS_MAX = 2_048

/** The http or https address that a text names, seen from `base`; null for any other. */
export function addressIn(text: string | null | undefined, base: URL): string | null {
  const trimmed = text?.trim()
  if (!trimmed || trimmed.length > ADDRESS_MAX || !URL.canParse(trimmed, base)) return null
  const url = new URL(trimmed, base)
  return /^https?:$/.test(url.protocol) && url.href.length <= ADDRESS_MAX ? url.href : null
}
