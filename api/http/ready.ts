/** A route made ready to answer: its schemas compiled at their first use, not at start, and its results turned into bodies. */
import { parser, type Parser, type QueryParser } from './input/check.ts'
import { placeOf } from './documentation.ts'
import { isSchema, Reply, type Route } from './route.ts'
import { Type, type TProperties, type TSchema } from './schema.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export interface Ready {
  route: Route
  query: QueryParser
  body: Parser<unknown> | null
  /** Of a route that takes a form: the field of its file, and how large that may be. */
  form: { parser: Parser<unknown>; field: string; maxBytes: number | undefined } | null
  answers: Map<number, Parser<unknown>>
  /** Of a plain return value. */
  status: number
  type: string
  /** The page about it, for those whom it refuses. */
  documentation: string
}

const NO_QUERY = Type.Object({})

/** `shown`: what answers show of what the route is about, which is no unknown field of its body. */
export function readied(route: Route, contentUrl: string, shown: readonly TSchema[]): Ready {
  const [status, first] = Object.entries(route.options.answers)[0] ?? ([200, JSON_TYPE] as const)
  return {
    route,
    query: { schema: route.query ?? NO_QUERY, check: parser(route.query ?? NO_QUERY) },
    body: route.options.body ? parser(route.options.body, shown) : null,
    form: formOf(route),
    answers: new Map(),
    status: Number(status),
    documentation: contentUrl + placeOf(route),
    type: isSchema(first) ? JSON_TYPE : [first].flat()[0]!,
  }
}

/** The bodies that answers of a route, of the GET of its path, and of what a POST makes, are described by. */
export function shownBy({ method, path }: Route, routes: readonly Route[]): TSchema[] {
  const isAbout = (other: Route) =>
    other.path === path
      ? other.method === method || other.method === 'GET'
      : method === 'POST' && /^\/\{\w+\}$/.test(other.path.slice(path.length)) && other.path.startsWith(path) && other.method === 'GET'
  return routes.filter(isAbout).flatMap(({ options }) => Object.values(options.answers).filter(isSchema))
}

function formOf({ options: { upload, uploadMaxBytes } }: Route): Ready['form'] {
  if (!upload) return null
  const [field] = Object.entries(upload.properties as TProperties).find(([, schema]) => schema.contentMediaType)!
  return { parser: parser(upload), field, maxBytes: uploadMaxBytes }
}

export const statusOf = (ready: Ready, result: unknown) => (result instanceof Reply ? result.status : ready.status)

/** The body of a result; `checked`: throws when it does not match the schema that describes it. */
export function encoded(ready: Ready, result: unknown, checked: boolean): string {
  const body = result instanceof Reply ? result.body : result
  if (checked) check(ready, statusOf(ready, result), body)
  return typeof body === 'string' && ready.type !== JSON_TYPE ? body : JSON.stringify(body ?? null)
}

/** The bytes of a result that is no text; null for all others. */
export const bytesOf = (result: unknown): Uint8Array | null =>
  result instanceof Reply && result.body instanceof Uint8Array ? result.body : null

function check({ route, answers }: Ready, status: number, body: unknown) {
  const schema = route.options.answers[status]
  if (schema === undefined) throw new Error(`${route.options.op} answers ${status}, which it does not describe`)
  if (!isSchema(schema)) return
  let check = answers.get(status)
  if (!check) answers.set(status, (check = parser(schema)))
  const problems = check.problems(JSON.parse(JSON.stringify(body)))
  if (problems.length) throw new Error(`${route.options.op}: the answer does not match its schema: ${JSON.stringify(problems)}`)
}
