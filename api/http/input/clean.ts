/** Cleaning what comes in: unknown fields are dropped and noted, defaults filled in, UUIDs and lines written as they are stored. */
import { isDeepStrictEqual } from 'node:util'
import type { Notes, Place } from './notes.ts'
import { ONE_LINE, type TProperties, type TSchema } from '../schema.ts'

export type Clean = (value: unknown, above: Place | null, notes: Notes) => unknown

/** The same part of several schemas, where they have it. */
const within = (schemas: readonly TSchema[], part: (schema: TSchema) => TSchema | undefined): TSchema[] =>
  schemas.flatMap((schema) => part(schema) ?? []).flatMap((schema) => (schema.anyOf ? (schema.anyOf as TSchema[]) : [schema]))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Makes the function that cleans a value of `schema`; null when there is nothing to do. `shown`: what answers show in the same place,
 * which is no unknown field, so that what was read can be sent back. A strict object keeps what it doesn't
 * know, to be refused by name.
 */
export function cleaner(schema: TSchema, shown: readonly TSchema[] = []): Clean | null {
  if (schema.format === 'uuid') return (value) => (typeof value === 'string' ? value.toLowerCase() : value)
  if (schema.pattern === ONE_LINE) return (value) => (typeof value === 'string' ? value.trim() : value)
  if (schema.type === 'object' && schema.properties && !schema.additionalProperties) return ofObject(schema, shown)
  if (schema.type === 'object' && schema.patternProperties) {
    const [entry] = Object.values(schema.patternProperties as TProperties)
    const clean = cleaner(
      entry!,
      within(shown, (other) => Object.values((other.patternProperties ?? {}) as TProperties)[0]),
    )
    return clean && ofEntries(clean)
  }
  if (schema.type === 'array' && schema.items) {
    const item = cleaner(
      schema.items as TSchema,
      within(shown, ({ items }) => items),
    )
    if (!item) return null
    // What is longer than it may be is refused: nobody looks into it.
    const most = (schema.maxItems as number | undefined) ?? Infinity
    return (value, above, notes) =>
      Array.isArray(value) && value.length <= most ? value.map((each, i) => item(each, { above, name: String(i) }, notes)) : value
  }
  if (schema.anyOf) {
    const parts = (schema.anyOf as TSchema[]).filter((part) => part.type !== 'null')
    return parts.length === 1 ? cleaner(parts[0]!, shown) : null
  }
  return null
}

const ofEntries =
  (clean: Clean): Clean =>
  (value, above, notes) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, clean(each, { above, name }, notes)])) : value

/** How many fields that it doesn't know a strict object keeps: more are not named either. */
const KEPT_MAX = 50

interface Field {
  name: string
  /** The name that answers show it under, where that is another one. */
  also: string | undefined
  clean: Clean | null
  fallback: unknown
}

function ofObject(schema: TSchema, shown: readonly TSchema[]): Clean {
  const fields = Object.entries(schema.properties as TProperties).map(([name, field]): Field => {
    const also = field['x-also'] as string | undefined
    const seen = within(shown, ({ properties }) => properties?.[name] ?? (also && properties?.[also]))
    return { name, also, clean: cleaner(field, seen), fallback: field.default }
  })
  const names = fields.map(({ name }) => name)
  const known = new Set([...names, ...fields.flatMap(({ also }) => also ?? [])])
  const seen = new Set(shown.flatMap((other) => Object.keys(other.properties ?? {})))
  const isStrict = schema.additionalProperties === false
  const wrapped = schema['x-wrapped'] as string | undefined
  return (sent, above, notes) => {
    const value = wrapped === undefined ? sent : unwrapped(sent, wrapped, above, notes)
    if (!isObject(value)) return value
    const result: Record<string, unknown> = {}
    for (const { name, also, clean, fallback } of fields) {
      const given = also === undefined ? own(value, name) : ownOr(value, name, also, above, notes)
      // A place has the name that was sent.
      const place = { above, name: also !== undefined && own(value, name) === undefined ? also : name }
      if (given !== undefined) result[name] = clean ? clean(given, place, notes) : given
      else if (fallback !== undefined) result[name] = structuredClone(fallback)
    }
    let kept = 0
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue
      if (seen.has(name) && (above === null || !isStrict)) notes.shown(above, name, value[name])
      else if (!isStrict) notes.field(above, name, names)
      else if (kept++ < KEPT_MAX) keep(result, name, value[name])
    }
    return result
  }
}

/** Whatever the name is: `__proto__` is no field of an object that it is assigned to. */
const keep = (result: object, name: string, value: unknown) =>
  Object.defineProperty(result, name, { value, enumerable: true, configurable: true, writable: true })

const own = (value: Record<string, unknown>, name: string) => (Object.hasOwn(value, name) ? value[name] : undefined)

/** A field under its own name or the one that answers show; both with different values are refused. */
function ownOr(value: Record<string, unknown>, name: string, also: string, above: Place | null, notes: Notes) {
  const [given, other] = [own(value, name), own(value, also)]
  if (given !== undefined && other !== undefined && !isDeepStrictEqual(given, other)) notes.differs(above, name, also)
  return given === undefined ? other : given
}

/** The fields of a body that an answer holds in one field, joined with those beside it: `{loyalty: {…}}`. */
function unwrapped(value: unknown, name: string, above: Place | null, notes: Notes): unknown {
  if (!isObject(value)) return value
  const inner = own(value, name)
  if (inner === undefined) return value
  if (!isObject(inner)) {
    notes.problems.push({ code: 'invalid_type', message: 'must be an object', path: [name] })
    return value
  }
  const { [name]: _, ...beside } = value
  for (const [field, given] of Object.entries(beside))
    if (own(inner, field) !== undefined && !isDeepStrictEqual(inner[field], given)) notes.differs({ above, name }, field, field)
  return { ...beside, ...inner }
}
