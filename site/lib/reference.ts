/**
 * The generated parts of the API reference: fields and operations as Markdown, from the OpenAPI document that the store API makes of
 * the very schemas that its handlers use.
 */
import { resources } from '../../api/resources.ts'
import { fieldsOf, resolve } from '../../api/http/docs-fields.ts'
import { openapi } from '../../api/http/openapi.ts'
import type { Json } from '../../api/http/openapi-schemas.ts'
import { version } from '../../package.json'

/** The OpenAPI document of the store API, made without a database: routes are data. */
export const storeApi = (): Json =>
  openapi(
    resources({} as never).flatMap(({ routes }) => routes),
    { baseUrl: '/api/v1', version, contentUrl: '' },
  )

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** Statuses that nearly every operation may answer with: the overview explains them once. */
const COMMON = new Set(['304', '401', '413', '415', '422', '429', '500', '503'])
const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
/** A cell of a table: one line, in which a bar is no border. */
const cell = (text: string) => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
const row = (...cells: string[]) => `| ${cells.map(cell).join(' | ')} |`

/** The type of a schema in words. */
function typeOf(schema: Json): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.const !== undefined) return code(schema.const)
  const values = Object.values(schema.patternProperties ?? {}).concat(
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : [],
  )[0] as Json | undefined
  const one = (type: string) => {
    if (type === 'array') return `list of ${typeOf(schema.items ?? {})}`
    return type === 'object' && values && !schema.properties ? `object of ${typeOf(values)}` : type
  }
  return (Array.isArray(schema.type) ? schema.type : [schema.type ?? 'anything']).map(one).join(' or ')
}

const range = (low: unknown, high: unknown, unit = '') => {
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`
  if (low !== undefined) return `at least ${low}${unit}`
  return high === undefined ? '' : `at most ${high}${unit}`
}

/** The bounds of a schema in words. */
function boundsOf(schema: Json): string {
  const values = schema.enum?.filter((value: unknown) => value !== null)
  return [
    values ? `one of ${values.map(code).join(', ')}` : '',
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum === undefined ? '' : `more than ${schema.exclusiveMinimum}`,
    range(schema.minLength || undefined, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    schema.format ?? '',
    schema.default === undefined ? '' : `default ${code(schema.default)}`,
    ...(schema.anyOf ?? []).filter((part: Json) => !part.$ref && part.type !== 'null').map(boundsOf),
    schema.items && !schema.items.$ref && schema.items.type !== 'object' ? boundsOf(schema.items) : '',
  ]
    .filter(Boolean)
    .join('; ')
}

const sentence = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('. ')

/** The fields of a schema as a table, of a body with those of named schemas in it; null when it has none. */
function fieldsTable(document: Json, schema: Json, isBody: boolean): string | null {
  const rows = fieldsOf(document, schema, isBody)
  if (!rows.length) return null
  return [
    '| Field | Type | Meaning |',
    '|---|---|---|',
    ...rows.map((field) =>
      row(
        `${code(field.path)}${isBody && field.required ? ' (required)' : ''}`,
        typeOf(field.schema),
        sentence(field.schema.description, boundsOf(field.schema)),
      ),
    ),
  ].join('\n')
}

function parametersTable(document: Json, parameters: Json[]): string | null {
  const listed = parameters.map((parameter) => resolve(document, parameter)).filter((parameter) => parameter.in !== 'header')
  if (!listed.length) return null
  return [
    '| Parameter | In | Type | Meaning |',
    '|---|---|---|---|',
    ...listed.map((parameter) =>
      row(
        `${code(parameter.name)}${parameter.required ? ' (required)' : ''}`,
        parameter.in,
        typeOf(parameter.schema),
        sentence(parameter.description, boundsOf(parameter.schema)),
      ),
    ),
  ].join('\n')
}

/** What an operation answers, a line for each status. */
function answers(document: Json, operation: Json): string {
  return Object.entries(operation.responses as Record<string, Json>)
    .filter(([status]) => !COMMON.has(status))
    .map(([status, answer]) => {
      const { description, content } = resolve(document, answer)
      const [type, body] = Object.entries((content ?? {}) as Record<string, Json>)[0] ?? []
      const what =
        type === 'application/json' && Number(status) < 300
          ? `, ${typeOf(body!.schema)}`
          : type && type !== 'application/json'
            ? `, ${Object.keys(content).map(code).join(', ')}`
            : ''
      return `- ${code(Number(status))} ${description}${what}`
    })
    .join('\n')
}

function operationOf(document: Json, path: string, method: string): string {
  const operation = document.paths[path][method] as Json
  const body = operation.requestBody?.content?.['application/json']?.schema
  return [
    `### ${operation.summary}`,
    `${code(`${method.toUpperCase()} ${document.servers[0].url}${path}`)}`,
    operation.description,
    parametersTable(document, operation.parameters ?? []),
    body && fieldsTable(document, body, true) ? `The body:\n\n${fieldsTable(document, body, true)}` : null,
    `It answers, beside [what every operation may](/docs/api-reference/overview#statuses):\n\n${answers(document, operation)}`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** Replaces the directions of a page by what they ask for; `problem` hears of one that names nothing of the API. */
export function withReference(body: string, document: Json, problem: (text: string) => void): string {
  return body.replace(/^<!-- (\w+) (.+?) -->$/gm, (whole, what: string, names: string) => {
    const missing = (name: string) => {
      problem(`names ${name}, which the store API does not have`)
      return whole
    }
    if (what === 'fields') {
      const schema = document.components.schemas[names]
      return schema ? (fieldsTable(document, schema, false) ?? whole) : missing(names)
    }
    if (what !== 'operations') return missing(what)
    return names
      .split(/\s+/)
      .map((path) => {
        const methods = document.paths[path]
        if (!methods) return missing(path)
        return METHODS.filter((method) => methods[method])
          .map((method) => operationOf(document, path, method))
          .join('\n\n')
      })
      .join('\n\n')
  })
}
