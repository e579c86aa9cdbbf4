/** Agents: the official clients of the Model Context Protocol, the newest and the one before it, connected to an app in this process. */
import { Client as NewestClient, StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

type Fetch = (request: Request) => Promise<Response>

/** What an agent sees of a tool's answer. */
export interface Told {
  isError: boolean
  /** The first part, read as JSON; the text itself where it is a piece of one. */
  value: any
  texts: string[]
  bytes: number
}

export interface Agent {
  client: Client | NewestClient
  tools(): Promise<{ name: string; inputSchema: any; annotations?: any; description?: string }[]>
  call(name: string, given?: Record<string, unknown>): Promise<Told>
  close(): Promise<void>
}

function told({ isError, content }: { isError?: boolean; content: unknown }): Told {
  const texts = (content as { text: string }[]).map(({ text }) => text)
  let value: unknown = texts[0]
  try {
    value = JSON.parse(texts[0]!)
  } catch {}
  return { isError: isError ?? false, value, texts, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) }
}

const over = (fetch: Fetch) => ((url: URL | string, init?: RequestInit) => fetch(new Request(url, init))) as typeof globalThis.fetch

function agentOf(client: Client | NewestClient): Agent {
  const any = client as Client
  return {
    client,
    tools: async () => (await any.listTools()).tools,
    call: async (name, given = {}) => told((await any.callTool({ name, arguments: given })) as { content: unknown }),
    close: () => client.close(),
  }
}

/** An agent with a key, over the client that most have installed. */
export async function agent(fetch: Fetch, key: string | null, url = 'http://localhost:3000/mcp'): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = key === null ? {} : { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: over(fetch), requestInit }))
  return agentOf(client)
}

/** The same over the newest client, which speaks the newest protocol where the server does. */
export async function newestAgent(
  fetch: Fetch,
  key: string | null,
  url = 'http://localhost:3000/mcp',
): Promise<Agent & { version: string }> {
  const client = new NewestClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = key === null ? {} : { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new NewestTransport(new URL(url), { fetch: over(fetch), requestInit }))
  return { ...agentOf(client), version: client.getNegotiatedProtocolVersion()! }
}
