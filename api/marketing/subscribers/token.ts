/** The token of an address that gets newsletters. */
import { createHmac } from 'node:crypto'
import type { Owner } from '../../outside/files.ts'
import { SECRET_BYTES, tokenWith } from '../../store/links/link-token.ts'

/**
 * The token of an address, the same whenever it subscribes: the way out in an old mail works for whoever was deleted and has come
 * back. It can't be made without the store's own secret.
 */
export const tokenFor = (owner: Owner, email: string, secret: string): string =>
  tokenWith(owner, createHmac('sha256', secret).update(`unsubscribe ${email}`).digest().subarray(0, SECRET_BYTES))
