/**
 * The API reference in Markdown: operations and fields of an OpenAPI document, in words. The pages of the content site and `/docs` are
 * made of it.
 */
import { ONE_LINE } from '../http/schema.ts'
import type { Json } from './schemas.ts'

/** How deep a body's fields are listed in place. */
const DEPTH_MAX = 4
/** Statuses that nearly every operation may answer with: each form of the reference explains them once. */
export const COMMON: readonly string[] = ['304', '401', '408', '413', '415', '422', '429', '500', '503']

export const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
/** A cell of a table: one line, in which a bar is no border. */
const cell = (text: string) => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
const row = (...cells: string[]) => `| ${cells.map(cell).join(' | ')} |`
const table = (head: string[], rows: string[]) =>
  rows.length ? [row(...head), `|${'---|'.repeat(head.length)}`, ...rows].join('\n') : null
const sentence = (...parts: (string | undefined)[]) =>
  parts.flatMap((part) => (part ? part[0]!.toUpperCase() + part.slice(1) : [])).join('. ')

/** The thing that a `$ref` refers to; a thing without one is itself. */
export function resolve(document: Json, thing: Json): Json {
  if (typeof thing.$ref !== 'string') return thing
  return thing.$ref
    .split('/')
    .slice(1)
    .reduce((at: Json, part: string) => at[part], document)
}

/** The name of a schema, alone or as one of several; null when it has none. */
const nameOf = (schema: Json): string | null =>
  schema.$ref ? schema.$ref.split('/').at(-1) : (schema.anyOf?.map(nameOf).find(Boolean) ?? null)

/** Where a number ends because every number ends somewhere. */
const FAR = 1e9
const shortened = (bound: unknown) => (typeof bound === 'number' && Math.abs(bound) >= FAR ? undefined : bound)

/** Formats and patterns in words. */
const IN_WORDS: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'a time as in RFC 3339',
  date: 'a day, `YYYY-MM-DD`',
  uri: 'an address with http or https',
  email: 'an email address',
  country: 'a country code of two letters',
  [ONE_LINE]: 'one line',
  '^[0-9]{1,15}$': 'digits',
  '^[1-5]$': '`1` to `5`',
  '^[a-z]{2,3}-[A-Z]{2}$': 'a language and a country, such as `en-US`',
  '^[A-Za-z]{3}$': 'a currency code of three letters',
  '^[A-Za-z]{2}$': 'a country code of two letters',
  '^@?[^\\s/@\\u0000-\\u001f\\u007f]+$': 'no spaces and no `/`; an `@` may stand before it',
  '^[a-z0-9]+(-[a-z0-9]+)*$': 'small letters and digits, with single hyphens between them',
  '^[a-z0-9-]+$': 'small letters, digits and hyphens',
  '^#[0-9A-Fa-f]{6}$': 'a colour such as `#1d4ed8`',
  '^[A-Za-z0-9][A-Za-z0-9 _-]{0,99}$': 'letters, digits, spaces, `_` and `-`',
  '^[\\x21-\\x7e]+$': 'ASCII without spaces',
  '^\\.*[\\x21-\\x2d\\x2f-\\x7e][\\x21-\\x7e]*$': 'ASCII without spaces, and not dots alone',
  '^\\d{1,10}(\\.\\d{1,4})?$': 'a number with at most four decimals',
  '\\S': 'not blank',
  '^(https?://.*|/.*)?$': 'an address, or a path',
}

const range = (least: unknown, most: unknown, unit = '') => {
  const [low, high] = [shortened(least), shortened(most)]
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`
  if (low !== undefined) return `at least ${low}${unit}`
  return high === undefined ? '' : `at most ${high}${unit}`
}

const wordsOf = ({ format, pattern }: Json): string => IN_WORDS[format ?? pattern] ?? format ?? (pattern ? `matches ${code(pattern)}` : '')

/** The bounds of a schema in words. */
function boundsOf(schema: Json): string {
  const values = schema.enum?.filter((value: unknown) => value !== null)
  return [
    values ? `one of ${values.map(code).join(', ')}` : '',
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum === undefined ? '' : `more than ${schema.exclusiveMinimum}`,
    schema.maxLength === 0 ? 'empty' : range(schema.minLength || undefined, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    range(schema.minProperties, schema.maxProperties, ' fields'),
    wordsOf(schema),
    schema.default === undefined ? '' : `default ${code(schema.default)}`,
    ...(schema.anyOf ?? []).filter((part: Json) => !part.$ref && part.type !== 'null').map(boundsOf),
    schema.items && !schema.items.$ref && schema.items.type !== 'object' ? boundsOf(schema.items) : '',
  ]
    .filter(Boolean)
    .join('; ')
}

interface Field {
  path: string
  schema: Json
  required: boolean
}

/** Ids of the path that say no more than their name does. */
const isPlainId = (parameter: Json) => parameter.in === 'path' && /(^id|Id|^idOr[A-Z]\w+)$/.test(parameter.name)

/** The reference of one document; `linked`: names of schemas and statuses lead to `#schema-…` and `#status-…`. */
export class Reference {
  readonly #document: Json
  readonly #linked: boolean

  constructor(document: Json, linked: boolean) {
    this.#document = document
    this.#linked = linked
  }

  #link(text: string, target: string) {
    return this.#linked ? `[${text}](#${target})` : text
  }

  /** The type of a schema in words. */
  typeOf(schema: Json): string {
    if (schema.$ref) return this.#link(nameOf(schema)!, `schema-${nameOf(schema)}`)
    if (schema.anyOf) return schema.anyOf.map((part: Json) => this.typeOf(part)).join(' or ')
    if (schema.const !== undefined) return code(schema.const)
    if (schema.contentMediaType) return 'file'
    const values = [...Object.values(schema.patternProperties ?? {}), schema.additionalProperties].find((part) => typeof part === 'object')
    const one = (type: string) => {
      if (type === 'array') return `list of ${this.typeOf(schema.items ?? {})}`
      return type === 'object' && values && !schema.properties ? `object of ${this.typeOf(values as Json)}` : type
    }
    return [schema.type ?? 'anything'].flat().map(one).join(' or ')
  }

  /** The object that a field holds, alone or in a list: what is listed below it. */
  #below(schema: Json, open: boolean): { suffix: string; schema: Json } | null {
    if (schema.$ref) return open ? this.#below(resolve(this.#document, schema), open) : null
    if (schema.properties) return { suffix: '', schema }
    if (schema.items) {
      const inner = this.#below(schema.items, open)
      return inner && { suffix: `[]${inner.suffix}`, schema: inner.schema }
    }
    for (const part of schema.anyOf ?? []) {
      const inner = this.#below(part, open)
      if (inner) return inner
    }
    return null
  }

  #fieldsIn(schema: Json, open: boolean, prefix = '', depth = 0): Field[] {
    return Object.entries((schema.properties as Record<string, Json>) ?? {}).flatMap(([name, field]) => {
      const path = prefix + name
      const inner = depth < DEPTH_MAX ? this.#below(field, open) : null
      const own = { path, schema: field, required: schema.required?.includes(name) ?? false }
      return inner ? [own, ...this.#fieldsIn(inner.schema, open, `${path}${inner.suffix}.`, depth + 1)] : [own]
    })
  }

  /** The fields of a schema as a table, of a body with those of named schemas in it, each of which is listed once; null when it has none. */
  fields(schema: Json, isBody: boolean): string | null {
    const whole = this.#below(schema, true)
    const listed = new Map<string, string>()
    const left: string[] = []
    const rows = (whole ? this.#fieldsIn(whole.schema, isBody) : []).flatMap(({ path, schema: field, required }) => {
      if (left.some((prefix) => path.startsWith(prefix))) return []
      const name = isBody ? nameOf(field) : null
      const before = name && listed.get(name)
      if (before) left.push(`${path}.`, `${path}[].`)
      else if (name) listed.set(name, path)
      const meaning = sentence(field.description, boundsOf(field), before ? `fields as of ${code(before)}` : '')
      return row(`${code(path)}${isBody && required ? ' (required)' : ''}`, this.typeOf(field), meaning)
    })
    return table(['Field', 'Type', 'Meaning'], rows)
  }

  #parameters(parameters: Json[]): string | null {
    const listed = parameters
      .map((parameter) => resolve(this.#document, parameter))
      .filter((parameter) => parameter.in !== 'header' && !isPlainId(parameter))
    const rows = listed.map(({ name, in: place, required, schema, description }) =>
      row(
        `${code(name)}${place === 'query' ? (required ? ' (required)' : '') : ` (${place})`}`,
        this.typeOf(schema),
        sentence(description, boundsOf(schema)),
      ),
    )
    return table(['Parameter', 'Type', 'Meaning'], rows)
  }

  /** The forms that a body may have, each with its fields. */
  #bodies({ requestBody }: Json): string[] {
    return Object.entries((requestBody?.content ?? {}) as Record<string, Json>).flatMap(([type, { schema }]) => {
      const fields = this.fields(schema, true)
      const body = type === 'application/json' ? 'The body' : `The body as ${code(type)}`
      return fields ? `${body}${requestBody.required ? '' : ', which may be left out'}:\n\n${fields}` : []
    })
  }

  /** The type of an answer's body: the name of its schema, or its fields. */
  #content(schema: Json): string {
    if (!schema.properties) return this.typeOf(schema)
    const fields = Object.entries(schema.properties as Record<string, Json>)
    return fields.map(([name, field]) => (field.type === 'array' ? `${code(name)} (${this.typeOf(field)})` : code(name))).join(', ')
  }

  /** The answers of an operation, and the statuses that it refuses with. */
  #answers({ responses }: Json): string {
    const all = Object.entries(responses as Record<string, Json>).filter(([status]) => !COMMON.includes(status))
    const done = all
      .filter(([status]) => Number(status) < 400)
      .map(([status, answer]) => {
        const content = Object.entries((resolve(this.#document, answer).content ?? {}) as Record<string, Json>)
        const what = content.map(([type, { schema }]) => (type === 'application/json' ? this.#content(schema) : code(type))).join(', ')
        return `${code(status)}${what ? `: ${what}` : ''}`
      })
    const refusals = all.filter(([status]) => Number(status) >= 400).map(([status]) => this.#link(code(status), `status-${status}`))
    return `Answers ${done.join('; ')}.${refusals.length ? ` Refuses with ${refusals.join(', ')}.` : ''}`
  }

  /** The text about an operation: who may call it and what it answers, what it does, and what it takes. */
  operation(operation: Json): string {
    const paragraphs = (operation.description as string).split('\n\n')
    const access = paragraphs.pop()
    return [`${access} ${this.#answers(operation)}`, ...paragraphs, this.#parameters(operation.parameters), ...this.#bodies(operation)]
      .filter(Boolean)
      .join('\n\n')
  }
}
