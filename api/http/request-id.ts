/** `X-Request-Id`: what names a request in its answer and in the log (document 3). */
import type { Clock } from '../values/clock.ts'

/** The pattern of an id that a client may give its request; any other is as if it had sent none. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id that the client gave a request, or one made here. */
export function requestIdOf(request: Request, clock: Clock): string {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : clock.id()
}
