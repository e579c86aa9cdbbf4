/** What the requests of pages ask for: the operation of the store API, the status that it answers, and the same call in TypeScript. */
import { resources } from '../../api/resources.ts'
import { isForPrograms } from '../../api/openapi/operations.ts'
import { isSchema, type Route } from '../../api/http/route.ts'
import type { TProperties } from '../../api/http/schema.ts'
import { methodOf, resourceOf } from '../../scripts/sdk/names.ts'
import { curlOf, written, type Curl, type Piece } from './curl.ts'
import { CODE_COLUMNS, wrapped } from './wrapped.ts'

const routes: readonly Route[] = resources.flatMap((resource) => resource.routes)
const API = '$STORE_URL/api/v1'
const formOf = (method: string, parts: readonly string[]) => `${method} ${parts.length} ${parts[1]}`
/** The routes with the parts of their paths, by what is the same in all requests for them: the first part of a path is never a name. */
const byForm = Map.groupBy(
  routes.map((route) => ({ route, own: route.path.split('/') })),
  ({ route, own }) => formOf(route.method, own),
)

interface Request {
  curl: Curl
  route: Route
  /** What the path names, in its order, as it stands in the command. */
  params: Piece[][]
  query: [name: string, value: Piece[]][]
}

/** The pieces of a text in which variables stand by their names. */
const piecesOf = (text: string): Piece[] =>
  text.split(/(\$\w+)/).flatMap((part): Piece[] => (part ? [part.startsWith('$') ? { variable: part.slice(1) } : { text: part }] : []))

/** The route that a path leads to, and what it names: a literal part goes before a name. */
function routeOf(method: string, path: string): { route: Route; params: string[] } | null {
  const parts = path.split('/')
  let best: { route: Route; params: string[] } | null = null
  for (const { route, own } of byForm.get(formOf(method, parts)) ?? []) {
    if (!own.every((part, i) => part.startsWith('{') || part === parts[i])) continue
    const params = parts.filter((_, i) => own[i]!.startsWith('{'))
    if (!best || params.length < best.params.length) best = { route, params }
  }
  return best
}

interface Called {
  route: Route
  /** The variable that has the key; null without one. */
  key: string | null
}

/** The operations that commands call, also where a pipe or a loop is around them. */
export function calledIn(text: string): Called[] {
  return text
    .split(/\bcurl\b/)
    .slice(1)
    .flatMap((command) => {
      const [, path] = /\$STORE_URL\/api\/v1(\/[^"'\s?]*)/.exec(command) ?? []
      const method = /-X\s+([A-Z]+)/.exec(command)?.[1] ?? (/\s-(d|F)\s/.test(command) ? 'POST' : 'GET')
      const found = path && routeOf(method, path)
      return found ? { route: found.route, key: /Bearer \$(\w+)/.exec(command)?.[1] ?? null } : []
    })
}

/** What the package calls its operations: `carts.create`. */
const names = new Map(
  routes.filter(isForPrograms).map((route) => {
    const method = methodOf(route)
    return [route, `${resourceOf(route.path)}${method === '()' ? '' : `.${method}`}`] as const
  }),
)
const named = new Map([...names].map(([route, name]) => [name, route]))
/** The operations that a program calls by the package. */
export const programmed = (text: string): Route[] =>
  [...text.matchAll(/\b\w+\.([a-z]\w+(?:\s*\.[a-z]\w+)?)\(/g)].flatMap(([, name]) => named.get(name!.replace(/\s/g, '')) ?? [])

/** The request that a block of shell makes; null where it makes another, or more than one. */
export function requestOf(text: string): Request | null {
  const curl = curlOf(text)
  if (!curl) return null
  const url = written(curl.url)
  if (!url.startsWith(API)) return null
  const [path = '', query = ''] = url.slice(API.length).split('?')
  const found = routeOf(curl.method, path)
  if (!found) return null
  const pairs = query
    .split('&')
    .filter(Boolean)
    .map((pair): [string, Piece[]] => {
      const [name = '', value = ''] = pair.split('=')
      return [decodeURIComponent(name), piecesOf(decodeURIComponent(value))]
    })
  return { curl, route: found.route, params: found.params.map(piecesOf), query: pairs }
}

/** The status of a request that succeeds. */
export const statusOf = ({ route }: Request): number => Number(Object.keys(route.options.responses)[0] ?? 204)

const camel = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`

/** Pieces as an expression. */
function expression(pieces: readonly Piece[]): string {
  if (pieces.length === 1 && 'variable' in pieces[0]!) return camel(pieces[0].variable)
  if (pieces.every((piece) => 'text' in piece)) return quoted(pieces.map((piece) => (piece as { text: string }).text).join(''))
  return `\`${pieces.map((piece) => ('text' in piece ? piece.text.replace(/[\\`$]/g, '\\$&') : `\${${camel(piece.variable)}}`)).join('')}\``
}

/** Marks a variable in JSON: no text has it. */
const MARK = '\ue000'

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** The variables of the call in TypeScript, without the key. */
export const variablesOf = ({ curl, params, query }: Request): string[] => {
  const sent = curl.headers.filter(([name]) => !OWN_HEADERS.has(name)).map(([, value]) => value)
  const pieces = [...params, ...query.map(([, value]) => value), ...sent, curl.body ?? []].flat()
  return [...new Set(pieces.flatMap((piece) => ('variable' in piece ? camel(piece.variable) : [])))]
}

/** A value of TypeScript; marks in its texts are variables. */
const TYPESCRIPT = {
  key: keyOf,
  text: (value: string) =>
    value.includes(MARK)
      ? expression(
          value
            .split(/(\ue000\w+\ue000)/)
            .flatMap((part): Piece[] => (part.startsWith(MARK) ? [{ variable: part.slice(1, -1) }] : part ? [{ text: part }] : [])),
        )
      : quoted(value),
  last: ',',
} as const

/** What a body says, with marks where variables stand; undefined where it is no JSON. */
function bodyOf({ body }: Curl): unknown {
  if (!body) return undefined
  try {
    return JSON.parse(marked(body))
  } catch {
    return undefined
  }
}

/** Pieces as one text, with marks where variables stand. */
const marked = (pieces: readonly Piece[]) =>
  pieces.map((piece) => ('text' in piece ? piece.text : `${MARK}${piece.variable}${MARK}`)).join('')

/** A value of a query in the type that its operation takes. */
function typed(pieces: readonly Piece[], schema: any): unknown {
  const kinds: string[] = [schema?.type, ...(schema?.anyOf ?? []).map(({ type }: any) => type)].flat()
  const text = marked(pieces)
  if (kinds.some((kind) => kind === 'integer' || kind === 'number') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return kinds.includes('boolean') && /^(true|false)$/.test(text) ? text === 'true' : text
}

/** The headers that the package sends itself. */
const OWN_HEADERS = new Set(['authorization', 'content-type'])
/** Others, by the options that stand for them. */
const OPTIONS: Record<string, string> = { 'idempotency-key': 'idempotencyKey', 'if-match': 'ifMatch', prefer: '' }

/** The arguments of the same call with the package; null for what the package does not have, or says in another way. */
export function argumentsOf({ curl, route, params, query }: Request): unknown[] | null {
  if (!names.has(route) || !Object.values(route.options.responses).every((answer) => answer === null || isSchema(answer))) return null
  const options: Record<string, unknown> = {}
  for (const [name, value] of curl.headers) {
    if (OWN_HEADERS.has(name)) continue
    if (!OPTIONS[name]) return null
    options[OPTIONS[name]] = marked(value)
  }
  const input = bodyOf(curl)
  if (curl.body && input === undefined) return null
  const hasBody = Boolean(route.options.body || route.options.upload)
  const fields = (route.query?.properties ?? {}) as TProperties
  const asked = query.length ? Object.fromEntries(query.map(([name, value]) => [name, typed(value, fields[name])])) : undefined
  // What an operation with a body is asked by its address stands among the options.
  if (asked && hasBody) options.query = asked
  const given = hasBody ? input : asked
  const hasOptions = Object.keys(options).length > 0
  return [
    ...params.map(marked),
    // Options come behind the body or the query.
    ...(given !== undefined ? [given] : hasOptions && (hasBody || route.query) ? [{}] : []),
    ...(hasOptions ? [options] : []),
  ]
}

/** The same call with the package; null where it has none. */
export function typescriptOf(request: Request): string | null {
  const values = argumentsOf(request)
  return values && callOf(`await stoa.${names.get(request.route)}`, values)
}

/** A call whose last argument opens where the line is too short, or with an argument a line. */
function callOf(called: string, values: readonly unknown[]): string {
  const flat = values.slice(0, -1).map((value) => wrapped(value, TYPESCRIPT, 0, -Infinity))
  const before = `${called}(${flat.map((arg) => `${arg}, `).join('')}`
  const last = values.length ? wrapped(values.at(-1), TYPESCRIPT, 0, before.length) : ''
  const line = `${before}${last})`
  if (line.split('\n').every((row) => row.length <= CODE_COLUMNS)) return line
  return `${called}(\n${values.map((value) => `  ${wrapped(value, TYPESCRIPT, 2)},\n`).join('')})`
}
