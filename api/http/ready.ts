/** A route made ready to answer: its schemas compiled at their first use, not at start, and its results turned into bodies. */
import { parser, type Parser, type QueryParser } from './input/check.ts'
import { placeOf } from './documentation.ts'
import { closed, projection, type Projection } from './projection.ts'
import { isSchema, Reply, type AnyCall, type Route } from './route.ts'
import type { ImageImport, Surroundings } from './surroundings.ts'
import { Type, type TProperties, type TSchema } from './schema.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export interface Ready {
  route: Route
  /** Runs before any transaction; null: nothing does. */
  prepare: ((call: AnyCall) => Promise<unknown>) | null
  handle(call: AnyCall): unknown
  query: QueryParser
  body: Parser<unknown> | null
  /** The form of a route that takes one: its parser, the field of its file, and the largest file in bytes. */
  form: { parser: Parser<unknown>; field: string; maxBytes: number | undefined } | null
  /** The projection of each status, which says what of a result goes out; `checks` tell in tests whether it may. */
  projections: Map<number, Projection>
  checks: Map<number, Parser<unknown>>
  /** The status of an answer when the handler returns a plain value. */
  status: number
  type: string
  /** The page about it, for those whom it refuses. */
  documentation: string
}

const NO_QUERY = Type.Object({})

/** `shown`: what answers show of what the route is about, which is no unknown field of its body. */
export function readied(
  route: Route,
  { contentUrl, images }: Pick<Surroundings, 'contentUrl' | 'images'>,
  shown: readonly TSchema[],
): Ready {
  const { body } = route.options
  const [status, first] = Object.entries(route.options.responses)[0] ?? ([200, JSON_TYPE] as const)
  return {
    route,
    ...steps(route, images),
    query: { schema: route.query ?? NO_QUERY, check: parser(route.query ?? NO_QUERY) },
    // What makes something new and is strict has nothing to be sent back.
    body: body ? parser(body, body.additionalProperties === false && route.method !== 'PATCH' ? [] : shown) : null,
    form: formOf(route),
    projections: new Map(),
    checks: new Map(),
    status: Number(status),
    documentation: contentUrl + placeOf(route),
    type: isSchema(first) ? JSON_TYPE : [first].flat()[0]!,
  }
}

/** The steps of a route before its transaction and in it; the image import stands around the handler of a route that takes images. */
function steps({ options, handler }: Route, images: ImageImport): Pick<Ready, 'prepare' | 'handle'> {
  const { images: entity, prepare } = options
  if (!entity) return { prepare: prepare ?? null, handle: handler }
  return { prepare: (call) => images.prepare(entity, call), handle: (call) => images.handle(entity, call, handler) }
}

/** The bodies that answers of a route, of the GET of its path, and of what a POST makes, are described by. */
export function shownBy({ method, path }: Route, routes: readonly Route[]): TSchema[] {
  const isAbout = (other: Route) =>
    other.path === path
      ? other.method === method || other.method === 'GET'
      : method === 'POST' && /^\/\{\w+\}$/.test(other.path.slice(path.length)) && other.path.startsWith(path) && other.method === 'GET'
  return routes.filter(isAbout).flatMap(({ options }) => Object.values(options.responses).filter(isSchema))
}

function formOf({ options: { upload, uploadMaxBytes } }: Route): Ready['form'] {
  if (!upload) return null
  // A form without a file has no field of that name.
  const [field] = Object.entries(upload.properties as TProperties).find(([, schema]) => schema.contentMediaType) ?? ['']
  return { parser: parser(upload), field, maxBytes: uploadMaxBytes }
}

export const statusOf = (ready: Ready, result: unknown) => (result instanceof Reply ? result.status : ready.status)

/** The body of an answer: the fields of a result that the schema of its status has; the text of an answer that is not JSON. */
export function bodyOf(ready: Ready, result: unknown): unknown {
  const status = statusOf(ready, result)
  const body = result instanceof Reply ? result.body : result
  const { operationId, responses } = ready.route.options
  const schema = responses[status]
  if (schema === undefined) throw new Error(`${operationId} answers ${status}, which it does not describe`)
  if (!isSchema(schema)) {
    if (typeof body !== 'string') throw new Error(`${operationId} answers no text`)
    return body
  }
  let project = ready.projections.get(status)
  if (!project) ready.projections.set(status, (project = projection(schema)))
  return project(body)
}

/** The text of a result; `checked`: throws when it does not match the schema that describes it. */
export function encoded(ready: Ready, result: unknown, checked: boolean): string {
  const body = bodyOf(ready, result)
  if (ready.type !== JSON_TYPE) return body as string
  const text = JSON.stringify(body ?? null)
  if (checked) check(ready, statusOf(ready, result), text)
  return text
}

/** The bytes of a result that is no text; null for all others. A `Blob` or a stream is read as it is sent, and brings its ETag. */
export const bytesOf = (result: unknown): Uint8Array | Blob | ReadableStream<Uint8Array> | null => {
  const body = result instanceof Reply ? result.body : null
  return body instanceof Uint8Array || body instanceof Blob || body instanceof ReadableStream ? body : null
}

function check({ route: { options }, checks }: Ready, status: number, text: string) {
  let check = checks.get(status)
  if (!check) checks.set(status, (check = parser(closed(options.responses[status] as TSchema))))
  const problems = check.problems(JSON.parse(text))
  if (problems.length) throw new Error(`${options.operationId}: the answer does not match its schema: ${JSON.stringify(problems)}`)
}
