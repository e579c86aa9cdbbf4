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

/** The largest message, in bytes. */
export const MESSAGE_MAX_BYTES = 1_048_576
/** Messages that an older client may send in one request. */
const BATCH_MAX = 10

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

/** The messages of a body; an answer when it has none, or too many of them. */
export function messagesOf(text: string): { body: unknown; messages: Message[] } | Response {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return errorAnswer(400, JSON_RPC.parse, 'the message is no JSON')
  }
  const all = Array.isArray(body) ? body : [body]
  if (all.length === 0 || all.length > BATCH_MAX) return errorAnswer(400, JSON_RPC.invalid, `send 1 to ${BATCH_MAX} messages at once`)
  const messages = all
    .filter((message) => typeof message === 'object' && message !== null)
    .map(({ method, id }) => ({ method: String(method), id: id ?? null }))
  // It would keep a connection open for news that never come: the tools of a server change with its release alone.
  const waiting = messages.find(({ method }) => method === 'subscriptions/listen')
  if (waiting) return errorAnswer(404, JSON_RPC.unknown, 'there is nothing to subscribe to', waiting.id)
  return { body, messages }
}

/** A server for one request. */
function serverWith({ instructions, ...identity }: Identity, tools: Tools): Server {
  const server = new Server(identity, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.list] }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given } }) => {
    try {
      return await tools.call(name, given ?? {})
    } catch (error) {
      tools.broken(error)
      return { content: [{ type: 'text', text: JSON.stringify({ status: 500, error: 'internal error' }) }], isError: true }
    }
  })
  return server
}

/** Answers the messages of a request, whose body has been read, with the tools of its caller. */
export async function answerMessages(request: Request, body: unknown, identity: Identity, tools: Tools): Promise<Response> {
  // What is asked for is JSON, whatever else a client could read.
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  const head = new Request(request.url, { method: 'POST', headers, signal: request.signal })
  if (!(await isLegacyRequest(head, body)))
    return createMcpHandler(() => serverWith(identity, tools), { legacy: 'reject' }).fetch(head, { parsedBody: body })
  const server = serverWith(identity, tools)
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(head, { parsedBody: body })
  } finally {
    await server.close()
  }
}
