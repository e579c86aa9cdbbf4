/** The tools of a store's MCP server: the operations asked for most by their names, and four that find, describe, read and call all others. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Session } from '../../db/control/registry.ts'
import { hasScope, mayCall } from '../http/auth.ts'
import { placeOf } from '../http/documentation.ts'
import { isSchema, type Route } from '../http/route.ts'
import { describing } from '../openapi/described.ts'
import { scopesOf } from '../openapi/document.ts'
import { exampleOf } from '../openapi/examples.ts'
import { listOf } from '../openapi/operations.ts'
import { invalid, Refusal } from '../values/refusal.ts'
import type { Catalogue, Operation } from './catalogue.ts'
import type { Tools } from './endpoint.ts'
import { NAMED } from './named-tools.ts'
import { trimmed } from './trim.ts'

interface Caller {
  session: Session
  /** Where the content site is. */
  contentUrl: string
  /** Has an operation carried out; `from` is the byte of its answer to begin at. */
  ask(route: Route, given: Record<string, unknown>): Promise<{ response: Response; from: number }>
  broken(error: unknown): void
}

/** How many operations a search names. */
const FOUND = 8

const text = (property: Record<string, unknown>) => ({ type: 'string', ...property })

const CALLING: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    operationId: text({ description: 'Such as `createRefund`' }) as never,
    arguments: { type: 'object', description: 'As describe_operation gives them: those of path, query and body side by side' },
  },
  required: ['operationId'],
  additionalProperties: false,
}

const FINDING: Tool[] = [
  {
    name: 'search_operations',
    title: 'Find operations by what they do',
    description:
      'Finds operations of the store API that this key may call. Use it for whatever no other tool does, then call_operation; describe_operation first where the arguments do not speak for themselves.',
    inputSchema: {
      type: 'object',
      properties: { query: text({ minLength: 1, maxLength: 200, description: 'What you want to do, such as `refund an order`' }) },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'describe_operation',
    title: 'The arguments of an operation, and what it answers',
    description: 'The JSON Schema of the arguments that call_operation takes for one operation, an example of its answer, and its page.',
    inputSchema: {
      type: 'object',
      properties: { operationId: text({ description: 'Such as `createRefund`' }) },
      required: ['operationId'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'read_operation',
    title: 'Call an operation that only reads',
    description: 'The same as call_operation for operations that search_operations marks as `readOnly`; refuses all others.',
    inputSchema: CALLING,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'call_operation',
    title: 'Call an operation',
    description:
      'Calls any operation that search_operations finds. What may happen depends on the operation: search_operations and describe_operation say whether it only reads, or changes what is there.',
    inputSchema: CALLING,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
]

const said = (value: unknown): CallToolResult => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })
/** A refusal of the API, or one made here, in one form. */
function refused(status: number, body: object, wait: string | null | undefined): CallToolResult {
  return { ...said({ status, ...body, ...(wait ? { retryAfterSeconds: Number(wait) } : {}) }), isError: true }
}

const describedBy = ({ options: { summary, description } }: Route) => (description ? `${summary}. ${description}` : summary)

/** An operation as a tool of its own; made once. */
const named = new WeakMap<Operation, Tool>()
function toolOf(operation: Operation): Tool {
  const known = named.get(operation)
  if (known) return known
  const { id, route, hints, input } = operation
  const { summary } = route.options
  const tool: Tool = {
    name: id,
    title: summary,
    description: describedBy(route),
    inputSchema: input as Tool['inputSchema'],
    annotations: hints,
  }
  named.set(operation, tool)
  return tool
}

/** What a search and a description say of an operation in common. */
const briefly = ({ id, route, hints }: Operation) => ({
  operationId: id,
  summary: route.options.summary,
  ...(hints.readOnlyHint ? { readOnly: true } : {}),
  ...(hints.destructiveHint ? { destructive: true } : {}),
})

export class StoreTools implements Tools {
  constructor(
    readonly catalogue: Catalogue,
    readonly caller: Caller,
  ) {}

  get list(): readonly Tool[] {
    const own = NAMED.map((id) => this.catalogue.get(id)!).filter((operation) => this.#isOpen(operation))
    return [...own.map(toolOf), ...FINDING]
  }

  broken(error: unknown) {
    this.caller.broken(error)
  }

  async call(name: string, given: Record<string, unknown>): Promise<CallToolResult> {
    try {
      const operation = NAMED.includes(name) ? this.catalogue.get(name) : undefined
      if (operation) return await this.#run(operation, given)
      if (name === 'call_operation') return await this.#run(this.#operation(given), argumentsIn(given))
      if (name === 'read_operation') return await this.#run(reading(this.#operation(given)), argumentsIn(given))
      if (name === 'search_operations') return said(this.#search(given))
      if (name === 'describe_operation') return said(this.#describe(this.#operation(given)))
      throw new Refusal(404, `there is no tool ${name.slice(0, 100)}`, {
        hint: 'search_operations finds what there is',
        nearest: this.#nearest(name),
      })
    } catch (error) {
      if (error instanceof Refusal) return refused(error.status, error.body, error.headers['retry-after'])
      throw error
    }
  }

  #isOpen({ route }: Operation): boolean {
    return mayCall(route, this.caller.session)
  }

  /** What keeps the caller from an operation. */
  #needs({ route }: Operation): string {
    return hasScope(route, this.caller.session) ? 'another plan' : scopesOf(route).join(' or ')
  }

  #search({ query }: Record<string, unknown>) {
    if (typeof query !== 'string' || !query.trim())
      throw invalid([{ code: 'required', message: 'is required: what you want to do', path: ['query'] }])
    const found = this.catalogue.find(query)
    const open = found.filter((operation) => this.#isOpen(operation))
    const closed = found.slice(0, FOUND).filter((operation) => !open.includes(operation))
    return {
      operations: open.slice(0, FOUND).map((operation) => ({ ...briefly(operation), arguments: operation.signature })),
      ...(closed.length
        ? { closedToThisKey: closed.map((operation) => ({ operationId: operation.id, needs: this.#needs(operation) })) }
        : {}),
    }
  }

  /** The operation that is named; 404 with those that may be meant. */
  #operation({ operationId }: Record<string, unknown>): Operation {
    if (typeof operationId !== 'string') throw invalid([{ code: 'required', message: 'is required', path: ['operationId'] }])
    const operation = this.catalogue.get(operationId)
    if (operation) return operation
    throw new Refusal(404, `there is no operation ${operationId.slice(0, 100)}`, { nearest: this.#nearest(operationId) })
  }

  /** Operations that a name may mean. */
  #nearest(name: string): string[] {
    const words = name.slice(0, 100).replace(/([a-z])([A-Z])/g, '$1 $2')
    return this.catalogue
      .find(words)
      .slice(0, 3)
      .map(({ id }) => id)
  }

  #describe(operation: Operation) {
    const { route, input } = operation
    const { method, path, options } = route
    const [status, answer] = Object.entries(options.responses)[0] ?? []
    const scopes = scopesOf(route)
    return {
      ...briefly(operation),
      ...(options.description ? { description: options.description } : {}),
      request: `${method} ${path}`,
      ...(scopes.length ? { needs: scopes.join(' or ') } : {}),
      arguments: describing(input, options.body?.$id),
      ...(options.body ? { example: exampleOf(options.body) } : {}),
      ...(answer && isSchema(answer) ? { answers: { status: Number(status), example: exampleOf(answer) } } : {}),
      documentationUrl: this.caller.contentUrl + placeOf(route),
    }
  }

  async #run({ route }: Operation, given: Record<string, unknown>): Promise<CallToolResult> {
    const { response, from } = await this.caller.ask(route, given)
    return answered(route, response, from)
  }
}

/** The same operation, where it only reads. */
function reading(operation: Operation): Operation {
  if (operation.hints.readOnlyHint) return operation
  throw new Refusal(403, `${operation.id} does more than read`, { hint: 'use call_operation' })
}

function argumentsIn({ operationId: _, arguments: given, ...flat }: Record<string, unknown>): Record<string, unknown> {
  const outside = Object.keys(flat)
  if (outside.length)
    throw invalid([
      { code: 'unrecognized_keys', message: 'belongs into arguments', path: [outside[0]!.slice(0, 100)], keys: outside.slice(0, 20) },
    ])
  if (given === undefined) return {}
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Record<string, unknown>
  throw invalid([{ code: 'invalid_type', message: 'must be an object', path: ['arguments'] }])
}

/** An answer of the API as the result of a tool. */
async function answered(route: Route, response: Response, from: number): Promise<CallToolResult> {
  const type = response.headers.get('content-type') ?? ''
  if (!response.ok) return refused(response.status, (await response.json()) as object, response.headers.get('retry-after'))
  if (response.status === 204) return said({ status: 204 })
  const isText = /^(application\/json|text\/|application\/atom\+xml)/.test(type)
  if (!isText) {
    const bytes = await response.arrayBuffer()
    return said({ type, bytes: bytes.byteLength, hint: `a file: get it by HTTP, ${route.method} ${route.path}, with the same key` })
  }
  const rest = route.method === 'GET' ? null : 'this was done; read the rest of it with the operation that reads it'
  const list = listOf(route)
  const parts = trimmed(await response.text(), { list: type.startsWith('application/json') ? list : null, from, rest })
  // What is changed under it is refused when somebody was faster: of one thing, not of a list.
  const etag = route.method === 'GET' && !list ? response.headers.get('etag') : null
  if (etag !== null && parts.length === 1) parts.push(JSON.stringify({ etag }))
  return { content: parts.map((part) => ({ type: 'text', text: part })) }
}
