/** Host names, in the one form in which they are stored and compared. */
import { domainToASCII } from 'node:url'

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The ASCII, lowercase form of a public host name (`münchen.de` is `xn--mnchen-3ya.de`), or null: a protocol, a port, a path, an
 * address in digits and a name without a dot are none.
 */
export function hostname(text: string): string | null {
  // What a URL parser would cut off or decode is refused before it sees it.
  if (text.length > 253 || /[\s\p{Cc}\p{Cf}/\\:?#@%[\]]/u.test(text)) return null
  const ascii = domainToASCII(text)
  const labels = ascii.split('.')
  if (ascii.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null
  return /[a-z]/.test(labels.at(-1)!) ? ascii : null
}
