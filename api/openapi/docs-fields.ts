/** Fields of schemas as rows of a table, for the reference page. */
import { html, phrase, type Html, type Part } from '../values/html.ts'
import type { Json } from './schemas.ts'

/** How deep a body's fields are listed in place. */
const DEPTH_MAX = 4

const nameOf = (schema: Json): string | null => (typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1)! : null)

/** What `$ref` refers to, or the thing itself. */
export function resolve(document: Json, thing: Json): Json {
  if (typeof thing.$ref !== 'string') return thing
  return thing.$ref
    .split('/')
    .slice(1)
    .reduce((at: Json, part: string) => at[part], document)
}

const joined = (parts: Part[], between: string) => parts.map((part, i) => (i ? [between, part] : part))

/** The type of a schema in words, named schemas as links. */
export function typeOf(schema: Json): Part {
  const name = nameOf(schema)
  if (name) return html`<a href="#schema-${name}">${name}</a>`
  if (schema.anyOf) return joined(schema.anyOf.map(typeOf), ' or ')
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  const types: string[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'anything']
  const values = Object.values(schema.patternProperties ?? {}).concat(
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : [],
  )[0] as Json | undefined
  return joined(
    types.map((type) =>
      type === 'array'
        ? ['list of ', typeOf(schema.items ?? {})]
        : type === 'object' && values && !schema.properties
          ? ['object of ', typeOf(values)]
          : type,
    ),
    ' or ',
  )
}

/** The bounds of a schema in words. */
export function boundsOf(schema: Json): Part {
  const parts: Part[] = []
  const range = (low: unknown, high: unknown, unit = '') => {
    if (low !== undefined && high !== undefined) parts.push(`${low} to ${high}${unit}`)
    else if (low !== undefined) parts.push(`at least ${low}${unit}`)
    else if (high !== undefined) parts.push(`at most ${high}${unit}`)
  }
  if (schema.enum)
    parts.push([
      'one of ',
      joined(
        schema.enum.filter((value: unknown) => value !== null).map((value: unknown) => html`<code>${String(value)}</code>`),
        ', ',
      ),
    ])
  range(schema.minimum, schema.maximum)
  if (schema.exclusiveMinimum !== undefined) parts.push(`more than ${schema.exclusiveMinimum}`)
  if (schema.maxLength === 0) parts.push('empty')
  else range(schema.minLength || undefined, schema.maxLength, ' characters')
  range(schema.minItems, schema.maxItems, ' entries')
  range(schema.minProperties, schema.maxProperties, ' fields')
  if (schema.format) parts.push(schema.format)
  if (schema.pattern) parts.push(html`matches <code>${schema.pattern}</code>`)
  if (schema.default !== undefined) parts.push(html`default <code>${JSON.stringify(schema.default)}</code>`)
  if (schema.anyOf) for (const part of schema.anyOf) if (!part.$ref && part.type !== 'null') parts.push(boundsOf(part))
  if (schema.items && !schema.items.$ref && schema.items.type !== 'object') parts.push(boundsOf(schema.items))
  return joined(
    parts.filter((part) => !Array.isArray(part) || part.length),
    '; ',
  )
}

/** Said more quietly; nothing when there is nothing to say. */
export const soft = (part: Part): Part => (Array.isArray(part) && !part.length ? null : html`<span class="soft">${part}</span>`)

interface Row {
  path: string
  schema: Json
  required: boolean
}

/** The object that a field holds, alone or in a list: what is listed below it. */
function below(document: Json, schema: Json, open: boolean): { suffix: string; schema: Json } | null {
  if (schema.$ref) return open ? below(document, resolve(document, schema), open) : null
  if (schema.properties) return { suffix: '', schema }
  if (schema.items) {
    const inner = below(document, schema.items, open)
    return inner && { suffix: `[]${inner.suffix}`, schema: inner.schema }
  }
  for (const part of schema.anyOf ?? []) {
    const inner = below(document, part, open)
    if (inner) return inner
  }
  return null
}

function rowsOf(document: Json, schema: Json, open: boolean, prefix = '', depth = 0): Row[] {
  return Object.entries((schema.properties as Record<string, Json>) ?? {}).flatMap(([name, field]) => {
    const path = prefix + name
    const inner = depth < DEPTH_MAX ? below(document, field, open) : null
    const row = { path, schema: field, required: schema.required?.includes(name) ?? false }
    return inner ? [row, ...rowsOf(document, inner.schema, open, `${path}${inner.suffix}.`, depth + 1)] : [row]
  })
}

/** The fields of a schema, those of inner objects below it; `open` lists the fields of named schemas too. */
export function fieldsOf(document: Json, schema: Json, open: boolean): Row[] {
  const whole = below(document, schema, true)
  return whole ? rowsOf(document, whole.schema, open) : []
}

/** A table of the fields of a schema. */
export function fieldsTable(document: Json, schema: Json, open: boolean): Html | null {
  const rows = fieldsOf(document, schema, open)
  if (!rows.length) return null
  return html`<div class="scroll"><table><thead><tr><th>Field</th><th>Type</th><th>Description</th></tr></thead><tbody>${rows.map(
    ({ path, schema: field, required }) => html`
<tr><td><code>${path}</code>${required && html` <span class="needed">required</span>`}</td><td>${typeOf(field)}</td><td>${field.description && html`${phrase(field.description)} `}${soft(boundsOf(field))}</td></tr>`,
  )}</tbody></table></div>`
}
