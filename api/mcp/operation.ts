/** An operation of the API as a tool: the schema of its arguments, what may happen when it is called, and the request that a call makes. */
import type { Route } from '../http/route.ts'
import { isSchema } from '../http/route.ts'
import { ONE_LINE, Type, type TProperties, type TSchema } from '../http/schema.ts'
import { inside } from '../outside/storefronts.ts'
import { gathering, type Json } from '../openapi/schemas.ts'
import { pathParameters } from '../openapi/parameters.ts'
import { pathOf } from '../http/url.ts'
import { invalid } from '../values/refusal.ts'
import type { ReadOn } from './trim.ts'

/** Arguments beside those that the operation itself takes. */
export const OWN = {
  idempotencyKey: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'A new random value: sent again with the same arguments, the call is done once',
  }),
  ifMatch: Type.String({ description: 'ETag: refused with 412 when it has changed since' }),
  answerFrom: Type.Integer({ minimum: 0, description: 'Reads on: `next.answerFrom` of the part before' }),
}

/** Whether a model can call it: not pages for people, nor what only a payment provider or a form with a file can send. */
export function isCallable({ options: { operationId, responses, body, upload } }: Route): boolean {
  const answers = Object.values(responses).flat()
  const isPage = answers.some((answer) => typeof answer === 'string' && /^(text\/html|text\/javascript)/.test(answer))
  const isFormAlone = upload !== undefined && body === undefined
  return !isPage && !isFormAlone && operationId !== 'receiveStripeEvent'
}

const fieldsOf = (schema: TSchema | null | undefined) => (schema?.properties ?? {}) as TProperties

/** The arguments that an operation takes beside its own. */
function ownOf({ method, options: { scope } }: Route): (keyof typeof OWN)[] {
  if (method === 'GET') return ['answerFrom']
  return scope === 'public' ? [] : method === 'POST' ? ['idempotencyKey'] : ['ifMatch']
}

/** Bounds that say nothing: every text is a line, every number ends somewhere. */
const isTelling = ([name, value]: [string, unknown]) =>
  !(
    name === 'examples' ||
    (name === 'pattern' && value === ONE_LINE) ||
    (name === 'minLength' && value === 0) ||
    (/imum$/i.test(name) && typeof value === 'number' && Math.abs(value) >= 1e9)
  )

/** A schema without references, which clients follow in different ways, and without what says nothing. */
function whole(value: unknown, components: ReadonlyMap<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((part) => whole(part, components))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...rest } = value as Json
  if ($ref) return whole({ ...components.get($ref.split('/').at(-1)!), ...rest }, components)
  // The names of fields are no keywords.
  const parts = Object.entries(rest).filter((entry) => typeof entry[1] === 'object' || isTelling(entry))
  return Object.fromEntries(parts.filter(([name]) => name !== 'examples').map(([name, part]) => [name, whole(part, components)]))
}

/** The JSON Schema of all arguments: those of the path, the body and the query side by side; what is needed comes first. */
export function argumentsOf(route: Route): Json {
  const components = new Map<string, Json>()
  const show = gathering(components)
  const { body, bodyOptional } = route.options
  const path = pathParameters(route.path).map(({ name, description }) => [name, { type: 'string', description }] as const)
  const query = route.query && (whole(show(route.query, true), components) as Json)
  const sent = body && (whole(show(body, true), components) as Json)
  const own = ownOf(route).map((name) => [name, show(OWN[name], true)] as const)
  const required = new Set([...path.map(([name]) => name), ...((!bodyOptional && sent?.required) || []), ...(query?.required ?? [])])
  const fields = { ...query?.properties, ...sent?.properties }
  const isNeeded = (name: string) => required.has(name)
  const names = [...Object.keys(fields).filter(isNeeded), ...Object.keys(fields).filter((name) => !isNeeded(name))]
  return {
    type: 'object',
    properties: Object.fromEntries([...path, ...names.map((name) => [name, fields[name]] as const), ...own]),
    ...(required.size ? { required: [...required] } : {}),
    additionalProperties: sent?.additionalProperties ?? sent?.patternProperties !== undefined,
  }
}

/** The query as it stands in an address: lists with commas, absent values left out. */
function queryOf(given: [string, unknown][]): string {
  const search = new URLSearchParams()
  for (const [name, value] of given)
    if (value !== undefined && value !== null)
      search.set(name, Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value))
  return search.size ? `?${search}` : ''
}

/** A request as a call of a tool makes it, with what its path names. */
interface Made {
  request: Request
  params: Record<string, string>
  /** The byte of the answer to begin at. */
  from: number
}

interface Caller {
  authorization: string
  signal: AbortSignal
  /** Where the paths of the API begin. */
  prefix: string
}

/** The request of a call. Refuses with 400 what can't be one. */
export function requestOf(route: Route, given: Record<string, unknown>, { authorization, signal, prefix }: Caller): Made {
  const { idempotencyKey, ifMatch, answerFrom, ...rest } = given
  const params = Object.fromEntries([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, nameIn(rest, name!)]))
  const path = prefix + route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
  const { body } = route.options
  const isInBody = (name: string) => body !== undefined && (name in fieldsOf(body) || !(name in fieldsOf(route.query)))
  const sent = Object.entries(rest).filter(([name]) => !(name in params))
  const [inBody, inQuery] = [sent.filter(([name]) => isInBody(name)), sent.filter(([name]) => !isInBody(name))]
  const hasBody = body !== undefined && (inBody.length > 0 || !route.options.bodyOptional)
  const request = inside(path + queryOf(inQuery), {
    method: route.method,
    headers: {
      authorization,
      // A model that misspells a field hears of it.
      prefer: 'handling=strict',
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(typeof idempotencyKey === 'string' ? { 'idempotency-key': header(idempotencyKey, 'idempotencyKey') } : {}),
      ...(typeof ifMatch === 'string' ? { 'if-match': header(ifMatch, 'ifMatch') } : {}),
    },
    ...(hasBody ? { body: JSON.stringify(Object.fromEntries(inBody)) } : {}),
    signal,
  })
  // Of `..` an address makes something else.
  if (pathOf(request.url) !== path) throw invalid([{ code: 'custom', message: 'is no id', path: Object.keys(params).slice(0, 1) }])
  return { request, params, from: typeof answerFrom === 'number' && answerFrom > 0 ? Math.floor(answerFrom) : 0 }
}

/** A value for a header. */
function header(value: string, name: string): string {
  if (/^[\x20-\x7e]{1,1000}$/.test(value)) return value
  throw invalid([{ code: 'invalid_string', message: 'takes 1 to 1000 printable ASCII characters', path: [name] }])
}

/** The value of a part of a path. */
function nameIn(given: Record<string, unknown>, name: string): string {
  const value = given[name]
  if ((typeof value === 'string' && value) || typeof value === 'number') return String(value)
  throw invalid([
    value === undefined || value === ''
      ? { code: 'required', message: 'is required', path: [name] }
      : { code: 'invalid_type', message: 'must be a string', path: [name] },
  ])
}

/** How the answer of an operation is read on where it is too long. */
export function readOnOf({ query, options }: Route): ReadOn {
  const answer = Object.values(options.responses)[0]
  const isList = answer !== undefined && isSchema(answer) && fieldsOf(answer).data?.type === 'array'
  if (!isList || !query) return 'text'
  return 'offset' in fieldsOf(query) ? 'offset' : 'limit' in fieldsOf(query) ? 'limit' : 'text'
}
