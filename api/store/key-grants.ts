/** The limits of the keys that a key makes or ends: no key gives more than it has itself, in scopes, in environments and in time. */
import type { Session } from '../../db/control/registry.ts'
import type { Environment } from '../../db/open.ts'
import { Refusal, wrong } from '../values/refusal.ts'
import { utc } from '../values/time.ts'

/** The scopes that the calling key lacks, in words; null when there are none. */
function lacking({ scopes: own }: Session, scopes: readonly string[] | null): string | null {
  if (own === null) return null
  if (scopes === null) return 'a key without restriction'
  return scopes.filter((scope) => !own.has(scope)).join(', ') || null
}

/** Refuses with 403 what would open more than the calling key does. */
export function refuseWider(session: Session, scopes: readonly string[] | null, environment: Environment) {
  if (environment === 'live' && session.environment === 'sandbox') throw new Refusal(403, 'a sandbox key makes keys of the sandbox alone')
  const wider = lacking(session, scopes)
  if (wider === null) return
  throw new Refusal(403, `this key can't give what it lacks: ${wider}`, {
    hint: `Name scopes that it has: ${[...session.scopes!].join(', ')}`,
  })
}

/** Refuses with 403 to end a key that may more than the calling one. */
export function refuseEnding(session: Session, scopes: readonly string[] | null) {
  const wider = lacking(session, scopes)
  if (wider === null) return
  throw new Refusal(403, `this key can't delete one that may more than itself: ${wider}`, {
    hint: 'Delete it with a key that has its scopes',
  })
}

/** When a key made by one that ends at `own` ends: as asked for, else as `usual`, but never after that. Null: never. */
export function endWithin(own: string | null, asked: string | null | undefined, usual: string | null, now: string): string | null {
  if (asked === undefined) return own !== null && (usual === null || usual > own) ? own : usual
  const at = utc(asked)
  if (at !== null && at <= now) throw wrong('expiresAt', 'must be in the future')
  if (own === null || (at !== null && at <= own)) return at
  throw new Refusal(403, `this key can't give what it lacks: an expiresAt ${at === null ? 'of null' : `after its own (${own})`}`, {
    hint: `Leave expiresAt out, or name an instant until ${own}, when the calling key expires`,
  })
}
