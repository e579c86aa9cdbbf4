/** Tokens of the links in mails: the store that they are about, and 128 bits that only the reader of the mail has. */
import { createHmac } from 'node:crypto'
import type { Environment } from '../../../db/open.ts'

const STORE_BYTES = 16
const SECRET_BYTES = 16

export interface Owner {
  storeId: string
  environment: Environment
}

function tokenOf({ storeId, environment }: Owner, secret: Uint8Array): string {
  const store = Buffer.from(storeId.replaceAll('-', ''), 'hex')
  return Buffer.concat([store, Buffer.of(environment === 'live' ? 0 : 1), secret]).toString('base64url')
}

/** A token that nobody can guess. */
export const newToken = (owner: Owner): string => tokenOf(owner, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))

/**
 * The token of an address, the same whenever it subscribes: the way out in an old mail works for whoever was deleted and has come
 * back. It can't be made without the store's own secret.
 */
export const tokenFor = (owner: Owner, email: string, secret: string): string =>
  tokenOf(owner, createHmac('sha256', secret).update(`unsubscribe ${email}`).digest().subarray(0, SECRET_BYTES))

/** The store that a token is about; null for what is no token. */
export function ownerOfToken(token: string): Owner | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== STORE_BYTES + 1 + SECRET_BYTES || bytes.toString('base64url') !== token || bytes[STORE_BYTES]! > 1) return null
  const hex = bytes.toString('hex', 0, STORE_BYTES)
  const storeId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { storeId, environment: bytes[STORE_BYTES] === 0 ? 'live' : 'sandbox' }
}
