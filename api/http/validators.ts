/** ETags that held at a version of a store's data: who has one gets 304 without anything being read (RFC 9110, 13). */
import type { Session } from '../../db/control/registry.ts'
import type { Handle } from '../../db/open.ts'
import { isStorefront } from './auth.ts'
import { matches } from './etag.ts'

/** ETags remembered for each store: about 100 bytes each, at most 1 MB. */
const VALIDATORS_MAX = 2_000
/** A longer URL is worked out each time. */
const URL_MAX_LENGTH = 400

/** What an answer depends on beside the data: the URL and what the key may see; null when it is not worth remembering. */
export const validatorOf = (session: Session, { url }: Request): string | null =>
  url.length > URL_MAX_LENGTH ? null : `${isStorefront(session)}${url}`

/** Notes the ETag of an answer that was made at `version`. */
export function remember({ validators }: Handle, validator: string | null, version: number, etag: string) {
  if (validator === null) return
  if (validators.size >= VALIDATORS_MAX) validators.delete(validators.keys().next().value!)
  validators.set(validator, { version, etag })
}

/** The ETag that the client has and that held when nothing had been committed since; null when that is not known. */
export function unchangedSince({ validators }: Handle, validator: string | null, version: number, request: Request): string | null {
  const condition = request.headers.get('if-none-match')
  const known = condition === null || validator === null ? undefined : validators.get(validator)
  return known && known.version === version && matches(condition!, known.etag) ? known.etag : null
}
