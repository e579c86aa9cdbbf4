/** The schemas of the routes as JSON Schema 2020-12, the form that OpenAPI 3.1 takes; those that have a name stand in `components`. */
import { isSchema, type Route } from '../http/route.ts'
import type { TProperties, TSchema } from '../http/schema.ts'

export type Json = Record<string, any>

/** Shows a schema: in place, or as a `$ref` when it has a name. `filled`: a body, whose defaults the server fills in. */
export type Show = (schema: TSchema, filled: boolean) => Json

/** The parts of a schema that an example or a name looks into. */
export const fieldsOf = (schema: TSchema) => schema.properties as TProperties | undefined
/** The parts of a union that are not null. */
export const solid = (schema: TSchema) => (schema.anyOf as TSchema[]).filter((part) => part.type !== 'null')

/** The schemas directly inside one, each with the field that holds it, and whether the server fills defaults in there. */
function inside(schema: TSchema, filled: boolean): { field: string; schema: TSchema; filled: boolean }[] {
  const parts: { field: string; schema: TSchema; filled: boolean }[] = []
  const open = filled && schema.additionalProperties === undefined
  for (const [field, part] of Object.entries(fieldsOf(schema) ?? {})) parts.push({ field, schema: part, filled: open })
  if (schema.items) parts.push({ field: '[]', schema: schema.items as TSchema, filled })
  for (const part of schema.anyOf ?? []) parts.push({ field: '', schema: part, filled: filled && solid(schema).length === 1 })
  for (const part of schema.allOf ?? []) parts.push({ field: '', schema: part, filled: false })
  for (const part of Object.values(schema.patternProperties ?? {})) parts.push({ field: '{}', schema: part as TSchema, filled: false })
  if (typeof schema.additionalProperties === 'object')
    parts.push({ field: '{}', schema: schema.additionalProperties as TSchema, filled: false })
  return parts
}

/** Whether a body may leave out what an answer always has. */
const fills = (schema: TSchema, filled: boolean): boolean =>
  filled &&
  ((schema.additionalProperties === undefined && Object.values(fieldsOf(schema) ?? {}).some((field) => field.default !== undefined)) ||
    inside(schema, filled).some((part) => fills(part.schema, part.filled)))

const REST = new Set(['type', 'required', 'properties', 'description', 'examples', '$id'])

/** The identity of an object schema: its `$id`, else its very fields and its other keywords. `Type.Optional` copies a schema, but not its fields. */
function identities() {
  const numbers = new Map<object, number>()
  return (schema: TSchema, filled: boolean): string | null => {
    const fields = fieldsOf(schema)
    if (!fields) return null
    if (schema.$id) return `${schema.$id} ${fills(schema, filled)}`
    if (!numbers.has(fields)) numbers.set(fields, numbers.size)
    const rest = Object.entries(schema).filter(([name]) => !REST.has(name))
    return `${numbers.get(fields)} ${JSON.stringify(rest)} ${fills(schema, filled)}`
  }
}

const pascal = (text: string) =>
  text.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '').replace(/^./, (c) => c.toUpperCase())
/** What an operation is about: `createCoupon` is about `Coupon`, `checkOutCart` about `Cart`. */
const noun = (op: string) => op.replace(/^[a-z]+((Out|In|Up|Off)(?=[A-Z]))?/, '') || `${pascal(op)}Result`
const singular = (text: string) =>
  text.endsWith('ies')
    ? `${text.slice(0, -3)}y`
    : /(ss|us)$/.test(text)
      ? text
      : text.endsWith('sses')
        ? text.slice(0, -2)
        : text.replace(/s$/, '')

/** The schema of a list's entries, or null for an answer that is no list. */
function entryOf(schema: TSchema): TSchema | null {
  const fields = fieldsOf(schema)
  const list = fields?.data ?? fields?.items
  return list?.type === 'array' && fields?.id === undefined ? (list.items as TSchema) : null
}

interface Wish {
  schema: TSchema
  filled: boolean
  names: string[]
}

/** The names that the routes suggest, the best first: what is read, what changes answer, what lists hold, what bodies are. */
function wishes(routes: readonly Route[]): Wish[] {
  const answers = routes.flatMap(({ method, options }) =>
    Object.values(options.answers)
      .filter(isSchema)
      .map((schema) => ({ method, op: options.op, schema })),
  )
  const whole = answers.filter(({ schema }) => fieldsOf(schema) && !entryOf(schema))
  const named = ({ op, schema }: { op: string; schema: TSchema }): Wish => ({
    schema,
    filled: false,
    names: [noun(op), `${pascal(op)}Answer`],
  })
  return [
    ...whole.filter(({ method }) => method === 'GET').map(named),
    ...whole.filter(({ method }) => method !== 'GET').map(named),
    ...answers.flatMap(({ op, schema }) => {
      const entry = entryOf(schema)
      const name = singular(noun(op))
      return entry ? [{ schema: entry, filled: false, names: [name, `${name}Item`, `${pascal(op)}Item`] }] : []
    }),
    ...routes.flatMap(({ method, options: { op, body } }) => {
      if (!body) return []
      const name = method === 'PATCH' ? `${noun(op)}Patch` : op.startsWith('create') ? `${noun(op)}Input` : `${pascal(op)}Input`
      return [{ schema: body, filled: true, names: [name, `${pascal(op)}Body`] }]
    }),
  ]
}

/** Every place of an object schema with at least two fields, below the roots that the routes give. */
function places(routes: readonly Route[], identity: (schema: TSchema, filled: boolean) => string | null) {
  const found = new Map<string, Wish & { count: number }>()
  const visit = (schema: TSchema, filled: boolean, field: string, within: string) => {
    const key = identity(schema, filled)
    if (key !== null && Object.keys(fieldsOf(schema)!).length > 1) {
      const known = found.get(key)
      if (known) known.count++
      else
        found.set(key, {
          schema,
          filled,
          count: schema.$id ? 2 : 1,
          names: [schema.$id ?? pascal(filled ? `${field}-input` : field), pascal(`${within}-${field}`), pascal(`${within}-${field}-part`)],
        })
      if (known) return
    }
    for (const part of inside(schema, filled))
      visit(part.schema, part.filled, /^\w+$/.test(part.field) ? part.field : part.field === '[]' ? singular(field) : field, within)
  }
  for (const { options } of routes)
    for (const answer of Object.values(options.answers)) if (isSchema(answer)) visit(answer, false, 'answer', options.op)
  for (const { options } of routes) if (options.body) visit(options.body, true, 'body', options.op)
  return [...found.values()].filter(({ count }) => count > 1)
}

/** Turns one schema into JSON Schema; `show` shows what is inside. */
function plain(schema: TSchema, filled: boolean, show: Show): Json {
  const { $id, type, description, properties, required, items, anyOf, allOf, patternProperties, additionalProperties, ...rest } =
    schema as Json
  const result: Json = { ...(type ? { type } : {}), ...(description ? { description } : {}), ...Object.fromEntries(Object.entries(rest)) }
  if (properties) {
    result.properties = {}
    const open = filled && additionalProperties === undefined
    for (const part of inside(schema, filled))
      if (properties[part.field] === part.schema) result.properties[part.field] = show(part.schema, part.filled)
    const needed = (required as string[] | undefined)?.filter((name) => !open || properties[name].default === undefined)
    if (needed?.length) result.required = needed
  }
  if (items) result.items = show(items, filled)
  if (allOf) result.allOf = allOf.map((part: TSchema) => show(part, false))
  if (additionalProperties !== undefined)
    result.additionalProperties = typeof additionalProperties === 'object' ? show(additionalProperties, false) : additionalProperties
  for (const [pattern, part] of Object.entries(patternProperties ?? {})) {
    if (pattern === '^(.*)$') result.additionalProperties = show(part as TSchema, false)
    else (result.patternProperties ??= {})[pattern] = show(part as TSchema, false)
  }
  return anyOf ? { ...union(schema, filled, show), ...result } : result
}

/** A union in its shortest form: literals are an enum, one type or null is a list of types. */
function union(schema: TSchema, filled: boolean, show: Show): Json {
  const parts = solid(schema)
  const nullable = parts.length < (schema.anyOf as TSchema[]).length
  if (parts.length > 1 && parts.every(({ const: value }) => typeof value === 'string')) {
    return nullable
      ? { type: ['string', 'null'], enum: [...parts.map((part) => part.const), null] }
      : { type: 'string', enum: parts.map((part) => part.const) }
  }
  const shown = parts.map((part) => show(part, filled && parts.length === 1))
  const only = shown[0]!
  if (nullable && shown.length === 1 && typeof only.type === 'string' && only.const === undefined) {
    return { ...only, type: [only.type, 'null'], ...(only.enum ? { enum: [...only.enum, null] } : {}) }
  }
  return { anyOf: nullable ? [...shown, { type: 'null' }] : shown }
}

/** Names the schemas of all routes; `show` gives the schema of one place, `components` the named ones. */
export function schemasOf(routes: readonly Route[]): { show: Show; components: Record<string, Json> } {
  const identity = identities()
  const names = new Map<string, string>()
  const taken = new Set(['Error', 'ValidationError', 'ScopeError'])
  const chosen: { name: string; schema: TSchema; filled: boolean }[] = []
  const choose = ({ schema, filled, names: wished }: Wish) => {
    const key = identity(schema, filled)
    if (key === null || names.has(key)) return
    const free = wished.find((name) => name && !taken.has(name)) ?? `${wished.at(-1)}${taken.size}`
    taken.add(free)
    names.set(key, free)
    chosen.push({ name: free, schema, filled })
  }
  const shared = places(routes, identity)
  for (const wish of shared) if (wish.schema.$id) choose(wish)
  for (const wish of wishes(routes)) choose(wish)
  for (const wish of shared) choose(wish)

  const show: Show = (schema, filled) => {
    const key = identity(schema, filled)
    const name = key === null ? undefined : names.get(key)
    return name ? { $ref: `#/components/schemas/${name}` } : plain(schema, filled, show)
  }
  const components: Record<string, Json> = {}
  for (const { name, schema, filled } of chosen.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    components[name] = plain(schema, filled, show)
  return { show, components }
}
