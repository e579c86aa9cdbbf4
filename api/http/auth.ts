/** The caller of a request: its key, how often the key may call, and what it and its store may do. */
import { STOREFRONT_SCOPES, type Registry, type Session } from '../../db/control/registry.ts'
import { cheapestWith, LIMITS } from '../values/plans.ts'
import type { Owner } from '../outside/files.ts'
import type { RateLimiter } from '../server/rate-limit.ts'
import { Refusal } from '../values/refusal.ts'
import type { Route } from './route.ts'

/** The database that a session opens: its store's live one, or the sandbox. */
export const ownerOf = ({ session }: { session: Session }): Owner => ({ storeId: session.store.id, environment: session.environment })

/** The session of the request's bearer key; 401 without one that is known. */
export async function authenticate(registry: Registry, request: Request, now: Date): Promise<Session> {
  const header = request.headers.get('authorization')
  const secret = header && /^bearer /i.test(header) ? header.slice(7).trim() : null
  const session = secret ? await registry.session(secret, now) : null
  if (!session)
    throw new Refusal(
      401,
      secret ? 'invalid API key' : 'missing API key: send Authorization: Bearer <API_KEY>',
      {},
      { 'www-authenticate': 'Bearer' },
    )
  return session
}

/**
 * Counts the request against the rate of whoever sends it (a key's id, a client's address), and says so in the headers; 429 when there
 * is nothing left.
 */
export function limit(limiter: RateLimiter, name: string, headers: Record<string, string>) {
  const standing = limiter.take(name)
  headers['ratelimit-policy'] = limiter.policy
  headers.ratelimit = `"default";r=${standing.remaining};t=${standing.resetSeconds}`
  if (standing.retryAfterSeconds) {
    throw new Refusal(
      429,
      `too many requests: wait ${standing.retryAfterSeconds} s`,
      {},
      { 'retry-after': String(standing.retryAfterSeconds) },
    )
  }
}

/** Whether a key has the scope of a route. */
export const hasScope = ({ options: { scope } }: Route, { scopes }: Session) =>
  scopes === null || scope === 'any key' || scope === 'public' || [scope].flat().some((name) => scopes.has(name))

/** Refuses with 403 when the key lacks the scope of the route. */
export function allow(route: Route, session: Session) {
  if (hasScope(route, session)) return
  const any = [route.options.scope].flat()
  const { store } = session
  const hint = `Create a key with ${any.length > 1 ? 'one of these scopes' : 'this scope'}: POST /api-keys, or npm run -s stoa -- key create --store ${store.id} --scopes ${any[0]}`
  throw new Refusal(403, `this key lacks the scope ${any.join(' or ')}`, { hint })
}

const known = new WeakMap<Session, boolean>()

/** Whether a key carries storefront scopes alone: it never sees drafts or hidden things. */
export function isStorefront(session: Session): boolean {
  let answer = known.get(session)
  if (answer === undefined) {
    answer = session.scopes !== null && [...session.scopes].every((scope) => STOREFRONT_SCOPES.includes(scope))
    known.set(session, answer)
  }
  return answer
}

const hasPlan = ({ options: { plan } }: Route, { store }: Session) => !plan || LIMITS[store.plan][plan]

/** Whether a key may call a route: it has the scope, and its store the plan. */
export const mayCall = (route: Route, session: Session) => hasScope(route, session) && hasPlan(route, session)

/** Refuses with 403 when the store's plan lacks what the route needs. */
export function requirePlan(route: Route, session: Session) {
  if (hasPlan(route, session)) return
  const { store } = session
  const plan = route.options.plan!
  throw new Refusal(403, `the plan of this store has no ${plan}: it takes ${cheapestWith(plan)} or more`, {
    plan: store.plan,
  })
}
