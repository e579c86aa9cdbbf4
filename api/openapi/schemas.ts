/** The schemas of the routes as JSON Schema 2020-12, the form that OpenAPI 3.1 takes; those that have a name stand in `components`. */
import type { TProperties, TSchema } from '../http/schema.ts'

export type Json = Record<string, any>

/** Shows a schema: in place, or as a `$ref` when it has a name. `filled`: a body, whose defaults the server fills in. */
export type Show = (schema: TSchema, filled: boolean) => Json

/** The parts of a schema that an example or a name looks into. */
export const fieldsOf = (schema: TSchema) => schema.properties as TProperties | undefined
/** The parts of a union that are not null. */
export const solid = (schema: TSchema) => (schema.anyOf as TSchema[]).filter((part) => part.type !== 'null')

/** Turns one schema into JSON Schema; `show` shows what is inside. */
function plain(schema: TSchema, filled: boolean, show: Show): Json {
  const { $id, type, description, properties, required, items, anyOf, allOf, patternProperties, additionalProperties, ...rest } =
    schema as Json
  const result: Json = { ...(type ? { type } : {}), ...(description ? { description } : {}), ...Object.fromEntries(Object.entries(rest)) }
  if (properties) {
    // Of a body that takes no unknown fields the server fills in nothing.
    const open = filled && additionalProperties === undefined
    result.properties = Object.fromEntries(Object.entries(properties as TProperties).map(([name, field]) => [name, show(field, open)]))
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

/**
 * Shows schemas, and gathers those that have an `$id` in `components`, beside those that are there; a name that would stand for two
 * schemas is refused.
 */
export function gathering(components: Map<string, Json>): Show {
  const gathered = { true: new WeakSet<TSchema>(), false: new WeakSet<TSchema>() }
  const show: Show = (schema, filled) => {
    const { $id } = schema
    if (!$id) return plain(schema, filled, show)
    if (!gathered[`${filled}`].has(schema)) {
      gathered[`${filled}`].add(schema)
      const shown = plain(schema, filled, show)
      if (!Bun.deepEquals(components.get($id) ?? shown, shown)) throw new Error(`two schemas are called ${$id}`)
      components.set($id, shown)
    }
    return { $ref: `#/components/schemas/${$id}` }
  }
  return show
}
