/** Tokens of the links in mails and on tickets: the store that they are about, and 128 bits that only their reader has. */
import type { Owner } from '../../outside/files.ts'

const STORE_BYTES = 16
export const SECRET_BYTES = 16

/** The token of a secret of 16 bytes, in a store. */
export function tokenWith({ storeId, environment }: Owner, secret: Uint8Array): string {
  const store = Buffer.from(storeId.replaceAll('-', ''), 'hex')
  return Buffer.concat([store, Buffer.of(environment === 'live' ? 0 : 1), secret]).toString('base64url')
}

/** A token that nobody can guess: 44 characters. */
export const newToken = (owner: Owner): string => tokenWith(owner, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))

/** The store that a token is about; null for what is no token. */
export function ownerOfToken(token: string): Owner | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== STORE_BYTES + 1 + SECRET_BYTES || bytes.toString('base64url') !== token || bytes[STORE_BYTES]! > 1) return null
  const hex = bytes.toString('hex', 0, STORE_BYTES)
  const storeId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { storeId, environment: bytes[STORE_BYTES] === 0 ? 'live' : 'sandbox' }
}
