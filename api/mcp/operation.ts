/** An operation of the API as a tool: the schema of its arguments, what may happen when it is called, and the request that a call makes. */
import type { Route } from '../http/route.ts'
import { PATH_MAX_LENGTH } from '../http/routing/router.ts'
import { ONE_LINE, Type, type TProperties, type TSchema } from '../http/schema.ts'
import { inside } from '../outside/storefronts.ts'
import { isForPrograms } from '../openapi/operations.ts'
import { fieldsOf as fieldsIn, gathering, type Json } from '../openapi/schemas.ts'
import { pathParameters } from '../openapi/parameters.ts'
import { pathOf } from '../http/url.ts'
import { invalid, Refusal } from '../values/refusal.ts'

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

/** Whether a model can call it: what programs call, but for forms that take a file alone. */
export const isCallable = (route: Route) => isForPrograms(route) && !(route.options.upload && !route.options.body)

const fieldsOf = (schema: TSchema | null | undefined): TProperties => (schema && fieldsIn(schema)) ?? {}

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

/** A query of everything that an operation takes is shorter. */
const QUERY_MAX_LENGTH = 8_192
/** More arguments than any operation has. */
const ARGUMENTS_MAX = 500

const wrongType = (name: string, expected: string) => invalid([{ code: 'invalid_type', message: `must be ${expected}`, path: [name] }])

/** A value as an address has it. */
function inQuery(name: string, value: unknown): string {
  if (typeof value === 'string' ? value.isWellFormed() : typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw wrongType(name, 'a string, a number, true or false, or a list of them')
}

/** The query as it stands in an address: lists with commas, absent values left out. */
function queryOf(given: readonly [string, unknown][]): string {
  const present = given.filter(([, value]) => value !== undefined && value !== null)
  const pairs = present.map(([name, value]) => [
    name.toWellFormed(),
    Array.isArray(value) ? value.map((part) => inQuery(name, part)).join(',') : inQuery(name, value),
  ])
  return pairs.length ? `?${new URLSearchParams(pairs)}` : ''
}

/** A request as a call of a tool makes it, with what its path names. */
export interface Made {
  request: Request
  params: Record<string, string>
  /** The byte of the answer to begin at. */
  from: number
}

interface Caller {
  signal: AbortSignal
  /** Where the paths of the API begin. */
  prefix: string
}

/** The request of a call. Refuses with 400 or 414 what can't be one. */
export function requestOf(route: Route, given: Record<string, unknown>, { signal, prefix }: Caller): Made {
  const { idempotencyKey, ifMatch, answerFrom, ...rest } = given
  const sent = Object.entries(rest)
  if (sent.length > ARGUMENTS_MAX) throw new Refusal(400, `a call has at most ${ARGUMENTS_MAX} arguments`)
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const params = Object.fromEntries(names.map((name) => [name, nameIn(rest, name)]))
  const path = prefix + route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
  if (path.length > PATH_MAX_LENGTH) throw new Refusal(414, `the path has more than ${PATH_MAX_LENGTH} characters`)
  const { body } = route.options
  const isInBody = (name: string) =>
    body !== undefined && (Object.hasOwn(fieldsOf(body), name) || !Object.hasOwn(fieldsOf(route.query), name))
  const others = sent.filter(([name]) => !Object.hasOwn(params, name))
  const inBody = others.filter(([name]) => isInBody(name))
  const target = path + queryOf(others.filter(([name]) => !isInBody(name)))
  if (target.length - path.length > QUERY_MAX_LENGTH) throw new Refusal(414, `the query has more than ${QUERY_MAX_LENGTH} characters`)
  const hasBody = body !== undefined && (inBody.length > 0 || !route.options.bodyOptional)
  const request = inside(target, {
    method: route.method,
    headers: {
      // A model that misspells a field hears of it.
      prefer: 'handling=strict',
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...headerOf('idempotency-key', 'idempotencyKey', idempotencyKey, 200),
      ...headerOf('if-match', 'ifMatch', ifMatch, 1_000),
    },
    ...(hasBody ? { body: JSON.stringify(Object.fromEntries(inBody)) } : {}),
    signal,
  })
  // Of `..` an address makes something else.
  if (pathOf(request.url) !== path) throw invalid([{ code: 'custom', message: 'is no id', path: names.slice(0, 1) }])
  return { request, params, from: placeIn(answerFrom) }
}

/** A header made of an argument; none without it. */
function headerOf(header: string, name: string, value: unknown, maxLength: number): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'string') throw wrongType(name, 'a string')
  if (value.length <= maxLength && /^[\x20-\x7e]+$/.test(value)) return { [header]: value }
  throw invalid([{ code: 'invalid_string', message: `takes 1 to ${maxLength} printable ASCII characters`, path: [name] }])
}

/** The byte of an answer to begin at. */
function placeIn(value: unknown): number {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  throw wrongType('answerFrom', 'a whole number from 0')
}

/** The value of a part of a path. */
function nameIn(given: Record<string, unknown>, name: string): string {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if ((typeof value === 'string' && value && value.isWellFormed()) || typeof value === 'number') return String(value)
  if (value === undefined || value === '') throw invalid([{ code: 'required', message: 'is required', path: [name] }])
  throw wrongType(name, 'a string')
}
