/**
 * The HTTP side of an MCP server (Streamable HTTP): without sessions, each answer JSON, for the newest protocol and for those before it. The
 * store's and the content site's server are both made of it.
 */
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
  type Implementation,
  type Tool,
} from '@modelcontextprotocol/server'
import type { Allowance } from '../http/input/body.ts'
import { readBytes } from '../http/input/bytes.ts'
import { decoded, parsed } from '../http/input/json.ts'
import { Refusal } from '../values/refusal.ts'

/** The tools that one caller has. */
export interface Tools {
  list: readonly Tool[]
  /** What is refused is a result that says so; what is thrown is told to nobody but `broken`. */
  call(name: string, given: Record<string, unknown>): Promise<CallToolResult>
  broken(error: unknown): void
}

/** What a server says of itself. */
export interface Identity extends Implementation {
  /** For the model: what this is, and how to go about it. */
  instructions: string
}

/** How long a message may take to arrive. */
const MESSAGE_MAX_MS = 30_000
/** Messages that an older client may send in one request. */
const BATCH_MAX = 10
/** Names in a message, those of its arguments aside, and arguments of a call. */
const NAMES_MAX = 1_000

const JSON_RPC = { parse: -32700, invalid: -32600, unknown: -32601 }

/** An answer to what never becomes a call: an error of JSON-RPC that belongs to no message, or to `id`. */
const errorAnswer = (status: number, code: number, message: string, id: unknown = null, headers: Record<string, string> = {}) =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status, headers: { 'cache-control': 'no-store', ...headers } })

/**
 * Refuses what is no message: another method than POST (there is no stream to open and no session to end), and pages of other origins,
 * which a browser may have been tricked into asking this host. Null: go on.
 */
export function refuseUnfit(request: Request, origins: readonly string[]): Response | null {
  const origin = request.headers.get('origin')
  if (origin !== null && !origins.includes(origin))
    return errorAnswer(403, JSON_RPC.invalid, 'pages of this origin may not ask this server')
  if (request.method !== 'POST') return errorAnswer(405, JSON_RPC.invalid, 'send messages with POST', null, { allow: 'POST' })
  if (!isJsonContentType(request.headers.get('content-type')))
    return errorAnswer(415, JSON_RPC.invalid, 'send messages as application/json')
  return null
}

interface Message {
  method: string
  id: unknown
}
interface Messages {
  /** As it is answered. */
  body: unknown
  messages: Message[]
}

const isMessage = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
/** A method as text; what is none is refused by whoever answers. */
const methodOf = (message: unknown) => (isMessage(message) && typeof message.method === 'string' ? message.method : '')

/** How many of so many names are left when those of a value are counted, with all that are below it; negative: too many. */
function leftOf(value: unknown, left: number, without?: string): number {
  if (typeof value !== 'object' || value === null) return left
  for (const name in value) {
    if (left-- <= 0) return -1
    if (name !== without) left = leftOf((value as Record<string, unknown>)[name], left)
  }
  return left
}

/** Whether a message has more names than any client sends. They are checked one by one; those below its arguments are only handed on. */
function isTooWide(message: unknown): boolean {
  if (!isMessage(message)) return false
  const { params } = message
  if (leftOf(message, NAMES_MAX, 'params') < 0 || leftOf(params, NAMES_MAX, 'arguments') < 0) return true
  const given = isMessage(params) ? params.arguments : undefined
  return isMessage(given) && Object.keys(given).length > NAMES_MAX
}

/** The JSON of a request, within the limits of a body of the API; an answer when it is none. */
async function readMessage(request: Request, { share, maxBytes }: Allowance): Promise<{ body: unknown } | Response> {
  const tooLarge = () => new Refusal(413, `the message has more than ${maxBytes} bytes`)
  const bytes = await readBytes(request, { maxBytes, tooLarge, share, deadlineMs: MESSAGE_MAX_MS })
  try {
    return { body: parsed(decoded(bytes)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return errorAnswer(400, JSON_RPC.parse, error.message)
  }
}

/** The messages of a request; an answer when it has none, or too many of them. Refuses what is too large, or comes too slowly. */
export async function readMessages(request: Request, allowance: Allowance): Promise<Messages | Response> {
  const read = await readMessage(request, allowance)
  if (read instanceof Response) return read
  let { body } = read
  if (Array.isArray(body)) {
    if (body.length === 0 || body.length > BATCH_MAX) return errorAnswer(400, JSON_RPC.invalid, `send 1 to ${BATCH_MAX} messages at once`)
    const ids = body.filter(isMessage).flatMap(({ id }) => (typeof id === 'string' || typeof id === 'number' ? [id] : []))
    if (new Set(ids).size < ids.length) return errorAnswer(400, JSON_RPC.invalid, 'two messages have the same id')
    // It could end a call of its own batch alone, which would have no answer then.
    body = body.filter((message) => methodOf(message) !== 'notifications/cancelled')
  }
  const all = Array.isArray(body) ? body : [body]
  if (!all.length) return new Response(null, { status: 202 })
  if (all.some(isTooWide))
    return errorAnswer(400, JSON_RPC.invalid, `a message has at most ${NAMES_MAX} names in it, and as many arguments`)
  const messages = all.map((message) => ({ method: methodOf(message), id: isMessage(message) ? (message.id ?? null) : null }))
  // It would keep a connection open for news that never come: the tools of a server change with its release alone.
  const waiting = messages.find(({ method }) => method === 'subscriptions/listen')
  if (waiting) return errorAnswer(404, JSON_RPC.unknown, 'there is nothing to subscribe to', waiting.id)
  return { body, messages }
}

/** Who has hung up is answered nothing; the log has the status that nginx gives it. */
const GONE = 499

/** A server for one request. */
function serverWith({ instructions, ...identity }: Identity, tools: Tools, signal: AbortSignal): Server {
  const server = new Server(identity, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.list] }))
  let before: Promise<unknown> = Promise.resolve()
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given } }) => {
    // One after the other, with a turn for other requests in between, and none for a client that is gone.
    const call = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      if (signal.aborted) return failed('the client is gone')
      try {
        return await tools.call(name, given ?? {})
      } catch (error) {
        if (!signal.aborted) tools.broken(error)
        return failed('internal error')
      }
    }
    const mine = before.then(call)
    before = mine
    return mine
  })
  return server
}

const failed = (error: string): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ status: 500, error }) }],
  isError: true,
})

/** Answers the messages of a request, whose body has been read, with the tools of its caller. */
export async function answerMessages(request: Request, body: unknown, identity: Identity, tools: Tools): Promise<Response> {
  const { signal } = request
  // What is asked for is JSON, whatever else a client could read; and its host need not be one.
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  const head = new Request('http://localhost/mcp', { method: 'POST', headers, signal })
  const { promise: gone, resolve } = Promise.withResolvers<Response>()
  const leave = () => resolve(new Response(null, { status: GONE }))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    if (!(await isLegacyRequest(head, body))) {
      const handler = createMcpHandler(() => serverWith(identity, tools, signal), { legacy: 'reject' })
      return await Promise.race([handler.fetch(head, { parsedBody: body }), gone])
    }
    return await Promise.race([handshaken(head, body, serverWith(identity, tools, signal)), gone])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** The answer to a request of the protocols that begin with a handshake. */
async function handshaken(request: Request, body: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    await server.close()
  }
}
