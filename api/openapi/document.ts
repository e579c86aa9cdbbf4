/** The OpenAPI 3.1 document of the store API, made from the very routes and schemas that answer (document 1, Versioning). */
import { LIMITS, PLANS } from '../values/plans.ts'
import { OVERVIEW, placeOf, roomPage } from '../http/documentation.ts'
import { header, HEADERS, LIMITED_HEADERS, PARAMETERS, READ_HEADERS, ROOMS } from './common.ts'
import { ERROR_SCHEMAS, failure, failureOr, failures } from './errors.ts'
import { describing } from './described.ts'
import { exampleOf } from './examples.ts'
import { parametersOf } from './parameters.ts'
import { gathering, type Json, type Show } from './schemas.ts'
import { isSchema, type AnswerBody, type Room, type Route } from '../http/route.ts'
import type { TSchema } from '../http/schema.ts'

/** The settings of a document. */
export interface DocumentOptions {
  /** Where the paths start: a path on the same host, or an absolute URL. */
  baseUrl: string
  version: string
  /** Where the content site is, without a slash at the end. */
  contentUrl: string
  events: readonly ToldEvent[]
}

/** An event that webhooks get: when it happens, and the shape of its `data`. */
export interface ToldEvent {
  type: string
  room: Room
  when: string
  data: TSchema
}

/** The part of a document that the description of one route needs. */
interface Context {
  show: Show
  failed: Set<number>
  contentUrl: string
}

const DESCRIPTION = `An online-store backend. Every API key belongs to one store, and sees nothing of any other.

**Keys.** Send \`Authorization: Bearer <API_KEY>\`. Keys that start with \`sk-s-\` open the store's sandbox. A key may be limited to scopes; each operation names the one it needs.

**Lists.** \`limit\` and \`offset\` page through them; \`meta.count\` counts all that match.

**Money.** Decimal numbers in major units in the catalog and settings; integer minor units in fields that end in \`Cents\`.

**Errors.** Always \`{"error": "…"}\`; failed checks add \`details\`, a missing scope adds \`hint\`.`

/** The scopes of which a key needs one; none: any key, or no key. */
export const scopesOf = ({ options: { scope } }: Route): readonly string[] =>
  scope === 'public' || scope === 'any key' ? [] : typeof scope === 'string' ? [scope] : scope

/** The requirements of a route as a sentence: the scopes of the key, and the plan of its store. */
function access(route: Route): string {
  const { plan } = route.options
  return plan ? `${scopeOf(route)} Needs the plan ${PLANS.filter((name) => LIMITS[name][plan]).join(' or ')}.` : scopeOf(route)
}

function scopeOf(route: Route): string {
  const scopes = scopesOf(route).map((scope) => `\`${scope}\``)
  if (route.options.scope === 'public') return 'Needs no key.'
  return scopes.length === 0
    ? 'Any key may call it.'
    : scopes.length === 1
      ? `Needs the scope ${scopes[0]}.`
      : `Needs one of the scopes ${scopes.join(', ')}.`
}

/** The statuses that a route may refuse with, whatever it is about: by its method, its path and who may call it. */
export function refusedAnyway(route: Route): Set<number> {
  const { method, path, options } = route
  const keyed = options.scope !== 'public'
  const statuses = new Set([400, 429, 500])
  if (keyed) statuses.add(401)
  if (keyed || options.owner || method !== 'GET') for (const status of [503, 507]) statuses.add(status)
  if (scopesOf(route).length) statuses.add(403)
  if ((path.includes('{') && keyed) || options.tool) statuses.add(404)
  if (method !== 'GET') for (const status of [408, 413]) statuses.add(status)
  if (options.body || options.upload) statuses.add(415)
  if (keyed && method === 'POST') for (const status of [409, 422]) statuses.add(status)
  if (keyed && method !== 'GET' && method !== 'POST') statuses.add(412)
  return statuses
}

/** The statuses that a route may refuse with. */
const refused = (route: Route) => [...refusedAnyway(route).union(new Set(route.options.refuses))].toSorted((a, b) => a - b)

const REASONS: Record<number, string> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted: the rest happens later',
  204: 'Done, nothing to say',
  302: 'Look there',
  304: 'Unchanged',
}

const otherThanJson = (type: string): [string, Json] => [
  type,
  {
    schema:
      type === 'application/json'
        ? { type: 'object' }
        : { type: 'string', ...(type.startsWith('text/') ? {} : { contentMediaType: type }) },
  },
]

function success(route: Route, status: number, answer: AnswerBody, show: Show): Json {
  const { method, options } = route
  const headers = { ...LIMITED_HEADERS, ...READ_HEADERS }
  if (method === 'GET' && status === 200) headers.ETag = header('ETag')
  if (method === 'POST' && options.scope !== 'public') headers['Idempotent-Replayed'] = header('Replayed')
  const description = REASONS[status] ?? 'Done'
  if (status === 204) return { description, headers }
  if (!isSchema(answer)) {
    const types = [answer].flat().map((type) => otherThanJson(type.split(';')[0]!.trim()))
    return { description, headers, content: Object.fromEntries(types) }
  }
  return {
    description,
    headers,
    content: {
      'application/json': { schema: show(answer, false), example: exampleOf(answer) },
    },
  }
}

function requestBody(route: Route, show: Show): Json {
  const { body, bodyOptional, upload } = route.options
  if (!body && !upload) return {}
  const content: Json = {}
  if (body) content['application/json'] = { schema: show(body, true), example: exampleOf(body) }
  if (upload) content['multipart/form-data'] = { schema: show(upload, true), example: exampleOf(upload) }
  return { requestBody: { required: !bodyOptional, content } }
}

function operation(route: Route, { show, failed, contentUrl }: Context): Json {
  const { options, room } = route
  const scopes = scopesOf(route)
  const responses: Json = {}
  for (const [status, answer] of Object.entries(options.responses)) responses[status] = success(route, Number(status), answer, show)
  if (route.method === 'GET' && responses[200])
    responses[304] = { description: REASONS[304], headers: { 'X-Request-Id': header('RequestId'), ETag: header('ETag') } }
  for (const status of refused(route)) {
    failed.add(status)
    responses[status] = responses[status] ? failureOr(status, responses[status]) : failure(status)
  }
  return {
    operationId: options.operationId,
    tags: [room],
    summary: options.summary,
    description: [options.description, access(route)].filter(Boolean).join('\n\n'),
    externalDocs: { url: contentUrl + placeOf(route) },
    security: options.scope === 'public' ? [] : scopes.length ? scopes.map((scope) => ({ bearer: [scope] })) : [{ bearer: [] }],
    ...(scopes.length ? { 'x-scopes': scopes } : {}),
    parameters: parametersOf(route, show),
    ...requestBody(route, show),
    responses,
  }
}

/** A delivery, as a receiver has to take it (Standard Webhooks). */
function webhook({ type, room, when, data }: ToldEvent, { show, contentUrl }: Context): Json {
  const timestamp = '2030-06-01T11:00:00.000Z'
  const schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: { type: { const: type }, timestamp: { type: 'string', format: 'date-time' }, data: show(data, false) },
  }
  const header = (name: string, description: string) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } })
  return {
    post: {
      operationId: `on${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: [room],
      summary: when,
      externalDocs: { url: `${contentUrl}/docs/api-reference/webhooks` },
      security: [],
      parameters: [
        header('webhook-id', 'The same at each try of the same event'),
        header('webhook-timestamp', 'Seconds since 1970, of this try'),
        header('webhook-signature', '`v1,` and a base64 HMAC-SHA256 over id, timestamp and body; one for each secret'),
      ],
      requestBody: { required: true, content: { 'application/json': { schema, example: { type, timestamp, data: exampleOf(data) } } } },
      responses: { '2XX': { description: 'Taken' }, 410: { description: 'Gone: the webhook is turned off' } },
    },
  }
}

/** The members of `components` that something in `document` refers to, directly or through another. */
function used(components: Record<string, Record<string, Json>>, document: Json): Record<string, Record<string, Json>> {
  const found = new Set<string>()
  const visit = (value: unknown) => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const id = `${kind}/${name}`
      if (found.has(id)) continue
      found.add(id)
      visit(components[kind!]![name!])
    }
  }
  visit(document)
  return Object.fromEntries(
    Object.entries(components).map(([kind, members]) => [
      kind,
      Object.fromEntries(Object.entries(members).filter(([name]) => kind === 'securitySchemes' || found.has(`${kind}/${name}`))),
    ]),
  )
}

/** Describes `routes`; the same routes give the same document, byte for byte. */
export function openapi(routes: readonly Route[], { baseUrl, version, contentUrl, events }: DocumentOptions): Json {
  const schemas = new Map(Object.entries(ERROR_SCHEMAS))
  const context: Context = { show: gathering(schemas), failed: new Set(), contentUrl }
  const paths: Record<string, Json> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = describing(operation(route, context)) as Json
  const webhooks = Object.fromEntries(events.map((event) => [event.type, webhook(event, context)]))
  const rooms = new Set(routes.map(({ room }) => room))
  return {
    openapi: '3.1.1',
    info: { title: 'Store API', version, description: DESCRIPTION },
    externalDocs: { description: 'What all operations share', url: contentUrl + OVERVIEW },
    servers: [{ url: baseUrl, description: 'This server' }],
    security: [{ bearer: [] }],
    tags: Object.entries(ROOMS)
      .filter(([name]) => rooms.has(name as Room))
      .map(([name, description]) => ({ name, description, externalDocs: { url: contentUrl + roomPage(name as Room) } })),
    paths,
    ...(events.length ? { webhooks } : {}),
    components: used(
      {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key of the store: `sk-…`, or `sk-s-…` for its sandbox' },
        },
        parameters: PARAMETERS,
        headers: HEADERS,
        responses: failures(context.failed),
        schemas: Object.fromEntries(
          [...Object.entries(ERROR_SCHEMAS), ...[...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))].map(([name, schema]) => [
            name,
            describing(schema, name) as Json,
          ]),
        ),
      },
      { paths, webhooks },
    ),
  }
}

/** The part of a document that is about one room, with what it refers to: a document by itself. */
export function roomOf(document: Json, room: Room): Json {
  const paths: Record<string, Json> = {}
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    const own = Object.entries(methods).filter(([, { tags }]) => tags.includes(room))
    if (own.length) paths[path] = Object.fromEntries(own)
  }
  const tags = document.tags.filter(({ name }: Json) => name === room)
  const { webhooks: told = {}, ...rest } = document
  const webhooks = Object.fromEntries(Object.entries(told as Record<string, Json>).filter(([, { post }]) => post.tags.includes(room)))
  const hasAny = Object.keys(webhooks).length > 0
  return { ...rest, tags, paths, ...(hasAny ? { webhooks } : {}), components: used(document.components, { paths, webhooks }) }
}
