/** The generated part of the package: types by openapi-typescript, and a resource for each first part of a path, made from the routes. */
import openapiTS, { astToString } from 'openapi-typescript'
import { placeOf } from '../../api/http/documentation.ts'
import { isSchema, type Route } from '../../api/http/route.ts'
import { openapi, scopesOf } from '../../api/openapi/document.ts'
import { ERROR_SCHEMAS } from '../../api/openapi/errors.ts'
import { isForPrograms, listOf } from '../../api/openapi/operations.ts'
import { resources } from '../../api/resources.ts'
import { webhookEvents } from '../../api/webhook-events.ts'
import { methodOf, resourceOf } from './names.ts'

type Json = Record<string, any>

/** The routes that the package has. */
export const called: readonly Route[] = resources.flatMap((resource) => resource.routes).filter(isForPrograms)

/** The shapes of a document; refusals are a class of the package, which has their details. */
const shapesOf = ({ components }: Json): Json =>
  Object.fromEntries(Object.entries(components.schemas).filter(([name]) => name === 'ErrorDetail' || !(name in ERROR_SCHEMAS)))

/** The document without what only readers need: examples, headers, refusals. */
function lean(document: Json): Json {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, part]) => (name === 'example' || name === 'examples' ? [] : [[name, strip(part)]])),
    )
  }
  const paths = Object.fromEntries(
    Object.entries(document.paths as Record<string, Json>).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses }]) => [
          method,
          {
            operationId,
            parameters: parameters.filter((parameter: Json) => parameter.in === 'path' || parameter.in === 'query'),
            ...(requestBody ? { requestBody } : {}),
            responses: Object.fromEntries(
              Object.entries(responses as Record<string, Json>)
                .filter(([status]) => status < '300')
                .map(([status, { headers: _, ...answer }]) => [status, { ...answer, description: '' }]),
            ),
          },
        ]),
      ),
    ]),
  )
  return { ...document, paths: strip(paths), webhooks: {}, components: { schemas: strip(shapesOf(document)) } }
}

/** The source of all shapes and of what each operation takes and answers. */
export async function schemaSource(document: Json): Promise<string> {
  const source = astToString(await openapiTS(lean(document) as never, { defaultNonNullable: false, alphabetize: false }))
  const [, components] = source.split(/^(?=export interface components )/m)
  const lines = components!
    .replace(/^export type \$defs.*\n/m, '')
    .replace(/^ +(header|cookie|headers)\??: (never|\{\n +\[name: string\]: unknown;\n +\});\n/gm, '')
    .replace(/^ +\/\*\* @description *\*\/\n/gm, '')
    .replace(/^ +(responses|parameters|requestBodies|headers|pathItems): never;\n/gm, '')
    // Two spaces instead of four.
    .replace(/^( +)/gm, (space) => ' '.repeat(Math.ceil(space.length / 2)))
  return `/** The shapes of what the store API takes and answers. Made from its OpenAPI document. */\n${lines}`
}

/** The document that the types are made from. */
export const documentOf = (version: string): Json => openapi(called, { baseUrl: '/api/v1', version, contentUrl: '', events: webhookEvents })

const LISTS = { cursor: 'c', offset: 'l', whole: 'w' }

/** The mark of a list: how it goes on, and the most entries of a page. */
function markOf(route: Route): string | null {
  const list = listOf(route)
  return list && LISTS[list.by] + (list.pageMax ?? '')
}

/** The line of an operation (see `operation.ts` of the package). */
export function lineOf(route: Route): string {
  const { method, path, query, options } = route
  const marks = [
    options.body || options.upload ? 'b' : null,
    query && !options.body && !options.upload ? 'q' : null,
    markOf(route),
    options.scope === 'public' ? 'p' : null,
    Object.values(options.responses).some((answer) => !isSchema(answer)) ? 'f' : null,
  ]
  return [method, path, ...marks.filter(Boolean)].join(' ')
}

/** The signature of a method, with its documentation. */
function signatureOf(route: Route): string {
  const { path, query, options } = route
  const { operationId: id, summary, description, body, bodyOptional, upload, responses } = options
  const scopes = scopesOf(route)
  const first = Object.values(responses)[0]
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  const needsQuery = ((query?.required ?? []) as string[]).some((name) => (query!.properties as Json)[name].default === undefined)
  const input = upload
    ? [`body${bodyOptional ? '?' : ''}: ${body ? `Body<'${id}'> | ` : ''}FormData`]
    : body
      ? [`body${bodyOptional ? '?' : ''}: Body<'${id}'>`]
      : query
        ? [`query${needsQuery ? '' : '?'}: Query<'${id}'>`]
        : []
  const type =
    first === undefined
      ? 'Answered<never>'
      : !isSchema(first)
        ? `Answered<${/^text\/|\+xml/.test([first].flat()[0]!) ? 'string' : 'Blob'}>`
        : listOf(route)
          ? `List<Answer<'${id}'>, Item<'${id}'>>`
          : `Answered<Answer<'${id}'>>`
  const text = [
    `${summary}.`,
    ...(description ? [description.replaceAll('*/', '* /').replace(/\n+/g, '\n   * ')] : []),
    scopes.length ? `Needs \`${scopes.join('` or `')}\`.` : options.scope === 'public' ? 'Needs no key.' : 'Takes any key.',
    `\`${route.method} ${path}\`: ${placeOf(route)}`,
  ]
  const method = methodOf(route)
  return `  /**\n   * ${text.join('\n   * ')}\n   */\n  ${method === '()' ? '' : method}(${[...params, ...input, 'options?: CallOptions'].join(', ')}): ${type}\n`
}

const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1)

/** The source of all resources, and of a client with all of them. */
export function resourcesSource(): string {
  const byResource = Map.groupBy(called, ({ path }) => resourceOf(path))
  const parts = [...byResource].map(([name, routes]) => {
    const lines = routes.map((route) => `  ${methodOf(route) === '()' ? "'()'" : methodOf(route)}: '${lineOf(route)}',\n`).join('')
    return `export interface ${capital(name)}Api {\n${routes.map(signatureOf).join('')}}\nexport const ${name} = /* @__PURE__ */ resource<${capital(name)}Api>({\n${lines}})\n`
  })
  const names = [...byResource.keys()]
  return [
    '/** The resources of the store API, each with its operations. Made from its routes. */',
    "import type { Answered, List } from './answered.ts'",
    "import { createStoa, type CallOptions, type StoaOptions } from './client.ts'",
    "import { resource } from './operation.ts'",
    "import type { Answer, Body, Item, Query } from './types.ts'",
    '',
    ...parts,
    '/** A client with all resources. `createStoa` makes one with those that are named, from which a bundler leaves the others out. */',
    'export interface Stoa {',
    ...names.map((name) => `  readonly ${name}: ${capital(name)}Api`),
    '}',
    'export class Stoa {',
    '  constructor(options: StoaOptions) {',
    `    Object.assign(this, createStoa(options, { ${names.join(', ')} }))`,
    '  }',
    '}',
    '',
  ].join('\n')
}

/** The source of the names of all shapes, and of the events of webhooks. */
export function modelsSource(document: Json): string {
  const schemas = Object.keys(shapesOf(document))
  const events = Object.entries(document.webhooks as Record<string, Json>).map(([type, { post }]) => {
    const { $ref } = post.requestBody.content['application/json'].schema.properties.data
    return [type, $ref ? `Schemas['${$ref.split('/').at(-1)}']` : 'Record<string, unknown>'] as const
  })
  return [
    '/** The shapes of the store API by their names, and what webhooks tell. Made from its OpenAPI document. */',
    "import type { components } from './schema.ts'",
    '',
    "type Schemas = components['schemas']",
    ...schemas.map((name) => `export type ${name} = Schemas['${name}']`),
    '',
    'interface Told<Type extends string, Data> {',
    '  /** The same at each try: who has it already has been told. */',
    '  id: string',
    '  type: Type',
    '  /** When it happened. */',
    '  timestamp: string',
    '  data: Data',
    '}',
    '/** What a webhook is told: `type` says which of them it is. */',
    'export type WebhookEvent =',
    ...events.map(([type, data]) => `  | Told<'${type}', ${data}>`),
    // What `POST /webhooks/{id}/test` has sent.
    `  | Told<'webhook.test', { webhookId: string }>`,
    '',
  ].join('\n')
}
