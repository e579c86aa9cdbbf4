/** Examples made from schemas: what they say themselves, else the same plausible value for each name of a field. */
import { FormatRegistry } from '@sinclair/typebox'
import { fieldsOf, solid } from './schemas.ts'
import { FIELDS, KEYS } from './words.ts'
import type { TSchema } from '../http/schema.ts'

/** How deep an example goes. */
const DEPTH_MAX = 8
/** The value that an example shows for a field for which no word is known. */
const TEXT = 'Linen shirt'
const INSTANT = '2026-03-03T12:00:00.000Z'
const NUMBER = 2

/** A UUID v7 of its own for each field name. */
function uuidFor(field: string): string {
  const hex = Bun.hash(field).toString(16).padStart(16, '0')
  return `01985d2c-7c00-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(4, 16)}`
}

const takes = (schema: TSchema, text: string) => {
  const length = [...text].length
  return (
    length >= (schema.minLength ?? 0) &&
    length <= (schema.maxLength ?? Infinity) &&
    (!schema.pattern || new RegExp(schema.pattern, 'u').test(text)) &&
    (!schema.format || (FormatRegistry.Get(schema.format)?.(text) ?? true))
  )
}

function textFor(schema: TSchema, field: string): string {
  if (schema.contentMediaType) return '@file'
  if (schema.format === 'uuid') return uuidFor(field)
  const known = FIELDS.get(field)
  return typeof known === 'string' && takes(schema, known) ? known : schema.format === 'date-time' ? INSTANT : TEXT
}

function numberFor(schema: TSchema, field: string): number {
  const low = schema.minimum ?? (schema.exclusiveMinimum !== undefined ? schema.exclusiveMinimum + 1 : -Infinity)
  const high = schema.maximum ?? (schema.exclusiveMaximum !== undefined ? schema.exclusiveMaximum - 1 : Infinity)
  const known = FIELDS.get(field)
  const wished = Math.min(high, Math.max(low, typeof known === 'number' ? known : NUMBER))
  const whole = schema.type === 'integer' ? Math.min(high, Math.max(low, Math.round(wished))) : wished
  return schema.multipleOf ? Math.ceil(whole / schema.multipleOf) * schema.multipleOf : whole
}

function objectFor(schema: TSchema, depth: number): Record<string, unknown> {
  const fields = fieldsOf(schema)!
  const result: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) result[name] = exampleOf(field, name, depth + 1)
  if (fields.slug && !fields.slug.examples && typeof result.slug === 'string' && typeof result.name === 'string') {
    const made = result.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    if (takes(fields.slug, made)) result.slug = made
  }
  return result
}

/** An example of what `schema` describes; `field` is what holds it. */
export function exampleOf(schema: TSchema, field = '', depth = 0): unknown {
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined && schema.default !== null && typeof schema.default !== 'object') return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) {
    const [first] = solid(schema)
    return !first || (depth > DEPTH_MAX && solid(schema).length < schema.anyOf.length) ? null : exampleOf(first, field, depth)
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part: TSchema) => exampleOf(part, field, depth)))
  if (schema.properties) return objectFor(schema, depth)
  if (schema.type === 'array') return arrayFor(schema, field, depth)
  if (schema.patternProperties || schema.type === 'object') return recordFor(schema, field, depth)
  if (schema.type === 'string') return textFor(schema, field)
  if (schema.type === 'number' || schema.type === 'integer') return numberFor(schema, field)
  if (schema.type === 'boolean') return true
  return schema.type === 'null' ? null : {}
}

function arrayFor(schema: TSchema, field: string, depth: number): unknown[] {
  if (depth > DEPTH_MAX || (schema.maxItems ?? 1) < 1) return []
  const item = exampleOf(schema.items, field.replace(/ies$/, 'y').replace(/s$/, ''), depth + 1)
  return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => item)
}

/** A record with one entry, when it is known what its keys are: `usd` for amounts by currency. */
function recordFor(schema: TSchema, field: string, depth: number): Record<string, unknown> {
  const part = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
  const key = KEYS[field]
  if (typeof part !== 'object' || key === undefined || depth > DEPTH_MAX) return {}
  return { [key]: exampleOf(part as TSchema, key, depth + 1) }
}
