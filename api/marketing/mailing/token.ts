/** What links in mails carry: which store they are about, and 128 random bits that only the reader of the mail has. */
import type { Environment } from '../../../db/open.ts'

const STORE_BYTES = 16
const SECRET_BYTES = 16

/** A new token of a subscriber of a store. */
export function newToken(storeId: string, environment: Environment): string {
  const bytes = Buffer.alloc(STORE_BYTES + 1 + SECRET_BYTES)
  bytes.write(storeId.replaceAll('-', ''), 'hex')
  bytes[STORE_BYTES] = environment === 'live' ? 0 : 1
  crypto.getRandomValues(bytes.subarray(STORE_BYTES + 1))
  return bytes.toString('base64url')
}

/** The store that a token is about; null for what is no token. */
export function ownerOfToken(token: string): { storeId: string; environment: Environment } | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== STORE_BYTES + 1 + SECRET_BYTES || bytes.toString('base64url') !== token || bytes[STORE_BYTES]! > 1) return null
  const hex = bytes.toString('hex', 0, STORE_BYTES)
  const storeId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { storeId, environment: bytes[STORE_BYTES] === 0 ? 'live' : 'sandbox' }
}
