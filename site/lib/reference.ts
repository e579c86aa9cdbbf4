/**
 * The generated parts of the API reference: fields and operations as Markdown, from the OpenAPI document that the store API makes of
 * the very schemas that its handlers use.
 */
import { resources } from '../../api/resources.ts'
import { fieldsOf, resolve } from '../../api/openapi/docs-fields.ts'
import { openapi } from '../../api/openapi/document.ts'
import type { Json } from '../../api/openapi/schemas.ts'
import { scopesTable } from './scopes.ts'
import { version } from '../../package.json'

/** The OpenAPI document of the store API, made without a database: routes are data. */
export const storeApi = (): Json =>
  openapi(
    resources.flatMap(({ routes }) => routes),
    { baseUrl: '/api/v1', version, contentUrl: '' },
  )

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** Statuses that nearly every operation may answer with: the overview explains them once. */
const COMMON = new Set(['304', '401', '408', '413', '415', '422', '429', '500', '503'])
const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
/** A cell of a table: one line, in which a bar is no border. */
const cell = (text: string) => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
const row = (...cells: string[]) => `| ${cells.map(cell).join(' | ')} |`

/** The type of a schema in words. */
function typeOf(schema: Json): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.contentMediaType) return 'file'
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
    schema.maxLength === 0 ? 'empty' : range(schema.minLength || undefined, schema.maxLength, ' characters'),
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

/** The name of the schema that a field has, alone or as one of several; null when it has none. */
const nameOf = (schema: Json): string | null => (schema.$ref ? typeOf(schema) : (schema.anyOf?.map(nameOf).find(Boolean) ?? null))

/** The fields of a schema as a table, of a body with those of named schemas in it, each of which is listed once; null when it has none. */
function fieldsTable(document: Json, schema: Json, isBody: boolean): string | null {
  const listed = new Map<string, string>()
  const left: string[] = []
  const rows = fieldsOf(document, schema, isBody).flatMap(({ path, schema: field, required }) => {
    if (left.some((prefix) => path.startsWith(prefix))) return []
    const name = isBody ? nameOf(field) : null
    const before = name && listed.get(name)
    if (before) left.push(`${path}.`, `${path}[].`)
    else if (name) listed.set(name, path)
    const meaning = sentence(field.description, boundsOf(field), before ? `fields as of ${code(before)}` : '')
    return row(`${code(path)}${isBody && required ? ' (required)' : ''}`, typeOf(field), meaning)
  })
  return rows.length ? ['| Field | Type | Meaning |', '|---|---|---|', ...rows].join('\n') : null
}

/** Ids of the path that say no more than their name does: the overview says once what takes their place. */
const isPlainId = (parameter: Json) => parameter.in === 'path' && /(^id|Id|^idOr[A-Z]\w+)$/.test(parameter.name)

function parametersTable(document: Json, parameters: Json[]): string | null {
  const listed = parameters
    .map((parameter) => resolve(document, parameter))
    .filter((parameter) => parameter.in !== 'header' && !isPlainId(parameter))
  if (!listed.length) return null
  return [
    '| Parameter | Type | Meaning |',
    '|---|---|---|',
    ...listed.map((parameter) =>
      row(
        `${code(parameter.name)}${parameter.in === 'query' ? (parameter.required ? ' (required)' : '') : ` (${parameter.in})`}`,
        typeOf(parameter.schema),
        sentence(parameter.description, boundsOf(parameter.schema)),
      ),
    ),
  ].join('\n')
}

/** What a body of an answer is: the name of its schema, or its fields. */
function bodyOf(schema: Json): string {
  if (!schema.properties) return typeOf(schema)
  const fields = Object.entries(schema.properties as Record<string, Json>)
  return fields.map(([name, field]) => (field.type === 'array' ? `${code(name)} (${typeOf(field)})` : code(name))).join(', ')
}

/** What an operation answers, and the statuses that it refuses with, which the overview explains. */
function answers(document: Json, operation: Json): string {
  const all = Object.entries(operation.responses as Record<string, Json>).filter(([status]) => !COMMON.has(status))
  const done = all
    .filter(([status]) => Number(status) < 400)
    .map(([status, answer]) => {
      const content = Object.entries((resolve(document, answer).content ?? {}) as Record<string, Json>)
      const what = content.map(([type, { schema }]) => (type === 'application/json' ? bodyOf(schema) : code(type))).join(', ')
      return `${code(Number(status))}${what ? `: ${what}` : ''}`
    })
  const refusals = all.filter(([status]) => Number(status) >= 400).map(([status]) => code(Number(status)))
  return `Answers ${done.join('; ')}.${refusals.length ? ` Refuses with ${refusals.join(', ')}.` : ''}`
}

/** The forms that a body may have, each with its fields. */
function bodies(document: Json, operation: Json): string[] {
  const content = Object.entries((operation.requestBody?.content ?? {}) as Record<string, Json>)
  return content.flatMap(([type, { schema }]) => {
    const fields = fieldsTable(document, schema, true)
    return fields ? `${type === 'application/json' ? 'The body' : `The body as ${code(type)}`}:\n\n${fields}` : []
  })
}

function operationOf(document: Json, path: string, method: string): string {
  const operation = document.paths[path][method] as Json
  return [
    `### ${operation.summary}`,
    `${code(`${method.toUpperCase()} ${document.servers[0].url}${path}`)}`,
    operation.description,
    parametersTable(document, operation.parameters ?? []),
    ...bodies(document, operation),
    answers(document, operation),
  ]
    .filter(Boolean)
    .join('\n\n')
}

const STATUSES =
  'What the statuses mean, and which of them every operation may answer with, is said [once for all](/docs/api-reference/overview#statuses).'

/** Replaces the directions of a page by what they ask for; `problem` hears of one that names nothing of the API. */
export function withReference(body: string, document: Json, problem: (text: string) => void): string {
  return body.replace(/^<!-- (\w+) ?(.*?) -->$/gm, (whole, what: string, names: string) => {
    const missing = (name: string) => {
      problem(`names ${name}, which the store API does not have`)
      return whole
    }
    if (what === 'scopes') return scopesTable(document)
    if (what === 'fields') {
      const schema = document.components.schemas[names]
      return schema ? (fieldsTable(document, schema, false) ?? whole) : missing(names)
    }
    if (what !== 'operations') return missing(what)
    const operations = names
      .split(/\s+/)
      .map((path) => {
        const methods = document.paths[path]
        if (!methods) return missing(path)
        return METHODS.filter((method) => methods[method])
          .map((method) => operationOf(document, path, method))
          .join('\n\n')
      })
      .join('\n\n')
    return `${STATUSES}\n\n${operations}`
  })
}
