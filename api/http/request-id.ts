/** What is known of a request beside what it asks for: its name in the answer and in the log (`X-Request-Id`, document 3), and how it came. */
import type { Clock } from '../values/clock.ts'

/** The pattern of an id that a client may give its request; any other is as if it had sent none. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id that the client gave a request, or one made here. */
export function requestIdOf(request: Request, clock: Clock): string {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : clock.id()
}

/** The ways by which a request comes: sent by HTTP, or made for a tool of the MCP server. The audit log and the log of requests tell. */
export const VIA = ['http', 'mcp'] as const
type Via = (typeof VIA)[number]

const ofTools = new WeakSet<Request>()

/** Notes that a request was made for a tool, by this process. */
export const comesByMcp = (request: Request) => void ofTools.add(request)

export const viaOf = (request: Request): Via => (ofTools.has(request) ? 'mcp' : 'http')
