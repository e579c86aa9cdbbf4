/** Email addresses: what counts as one, and the form in which two of them are the same person. */
import { hostname } from './hostname.ts'
import { normal } from './compared.ts'

const LOCAL = /^[^\s\p{Cc}\p{Cf}@<>()[\]\\,;:"]{1,64}$/u

/** Whether text is an address that mail can be sent to; its domain may be written in any script. */
export function isEmail(text: string): boolean {
  if (text.length > 254) return false
  const at = text.lastIndexOf('@')
  // The Greek question mark is a semicolon once it is NFC: what is checked is what will be stored.
  const local = normal(text.slice(0, at))
  return at > 0 && LOCAL.test(local) && !local.includes('..') && hostname(text.slice(at + 1)) !== null
}

/**
 * The form in which an address is stored and compared: trimmed, NFC, lowercase beyond ASCII (which SQLite's `lower` is not), the
 * domain in ASCII. A `+tag` stays, since it is another mailbox to some providers.
 */
export function normalizeEmail(text: string): string {
  const lower = normal(normal(text.trim()).toLowerCase())
  const at = lower.lastIndexOf('@')
  return lower.slice(0, at + 1) + (hostname(lower.slice(at + 1)) ?? lower.slice(at + 1))
}
