/** Examples made from schemas: the same plausible value each time, and always one that its schema takes. */
import { FormatRegistry } from '@sinclair/typebox'
import { fieldsOf, solid } from './schemas.ts'
import { COMMON, NAMES, TEXTS } from './words.ts'
import type { TSchema } from '../http/schema.ts'

/** How deep an answer goes. */
const DEPTH_MAX = 8

/** A UUID v7 of its own for each field name. */
function uuidFor(field: string): string {
  const hex = Bun.hash(field).toString(16).padStart(16, '0')
  return `01985d2c-7c00-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(4, 16)}`
}

/** Instants in the order in which things happen; those of a future event are far enough away to stay in it. */
function instantFor(field: string): string {
  if (/created/i.test(field)) return '2026-03-02T10:15:00.000Z'
  if (/updated|modified/i.test(field)) return '2026-03-04T16:40:00.000Z'
  if (/^(end|until|to$|expire)/i.test(field)) return '2030-06-01T11:00:00.000Z'
  if (/^(start|from|scheduled|publish)/i.test(field)) return '2030-06-01T09:00:00.000Z'
  return '2026-03-03T12:00:00.000Z'
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

function textFor(schema: TSchema, field: string, holder: string): string {
  if (schema.contentMediaType) return '@file'
  if (schema.format === 'uuid') return uuidFor(field)
  if (schema.format === 'date-time' || /(At|Date)$/.test(field)) {
    const instant = instantFor(field)
    if (takes(schema, instant)) return instant
  }
  if (!schema.pattern && /^id$|Id$/.test(field) && takes(schema, uuidFor(field))) return uuidFor(field)
  const names = /name/i.test(field) ? NAMES.filter(([pattern]) => pattern.test(holder)).map(([, text]) => text) : []
  const candidates = [...TEXTS.filter(([pattern]) => pattern.test(field)).map(([, text]) => text), ...names, 'Linen shirt', ...COMMON]
  const found = candidates.find((text) => takes(schema, text))
  if (found !== undefined) return found
  return 'Linen shirt '
    .repeat(Math.ceil((schema.minLength ?? 1) / 12))
    .slice(0, Math.max(schema.minLength ?? 1, Math.min(schema.maxLength ?? 12, 12)))
}

/** Numbers by field: money in the units that the field's name tells, else a small count. */
function numberWished(field: string): number {
  if (/cents$/i.test(field)) return 1999
  if (/threshold/i.test(field)) return 100
  if (/price|amount|revenue|total/i.test(field)) return 19.99
  if (/^rate$/i.test(field)) return 19
  if (/percent|rate$|points|^value$/i.test(field)) return 10
  if (/rating|average|score/i.test(field)) return 4.5
  if (/grams|mm$|width|height|length/i.test(field)) return 250
  if (/limit/i.test(field)) return 10
  if (/^max/i.test(field)) return 10
  if (/offset|position|min|priority|sort/i.test(field)) return 1
  if (/refund/i.test(field)) return 0
  return 2
}

function numberFor(schema: TSchema, field: string): number {
  const low = schema.minimum ?? (schema.exclusiveMinimum !== undefined ? schema.exclusiveMinimum + 1 : -Infinity)
  const high = schema.maximum ?? (schema.exclusiveMaximum !== undefined ? schema.exclusiveMaximum - 1 : Infinity)
  const wished = Math.min(high, Math.max(low, numberWished(field)))
  const whole = schema.type === 'integer' ? Math.min(high, Math.max(low, Math.round(wished))) : wished
  return schema.multipleOf ? Math.ceil(whole / schema.multipleOf) * schema.multipleOf : whole
}

/** Fields that are null as long as nothing went wrong. */
const USUALLY_NULL = /^(failed|error|cancelled|canceled|deleted|disabled|revoked|archived)/i

function objectFor(schema: TSchema, holder: string, { depth }: Place): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fieldsOf(schema)!)) result[name] = valueFor(field, name, { depth: depth + 1, holder })
  const slug = fieldsOf(schema)!.slug
  if (slug && typeof result.slug === 'string' && typeof result.name === 'string') {
    const made = result.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    if (takes(slug, made)) result.slug = made
  }
  return result
}

/** Where a value stands: `holder` names the object around it. */
interface Place {
  depth: number
  holder: string
}

/** An example of what `schema` describes; `subject` says what that is, such as `tax-rates`. */
export const exampleOf = (schema: TSchema, subject: string): unknown => valueFor(schema, subject, { depth: 0, holder: subject })

function valueFor(schema: TSchema, field: string, place: Place): unknown {
  const { depth } = place
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined && schema.default !== null && typeof schema.default !== 'object') return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) {
    const parts = solid(schema)
    const nullable = parts.length < schema.anyOf.length
    if (!parts.length || (nullable && (depth > DEPTH_MAX || USUALLY_NULL.test(field)))) return null
    return valueFor(parts[0]!, field, place)
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part: TSchema) => valueFor(part, field, place)))
  if (fieldsOf(schema)?.type?.const === 'doc')
    return { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Made from European linen.' }] }] }
  // The entries of a list are what the list is about.
  if (schema.properties) return objectFor(schema, /^(data|items?)$/.test(field) && depth < 3 ? place.holder : field, place)
  if (schema.type === 'array') return arrayFor(schema, field, place)
  if (schema.patternProperties || schema.type === 'object') return recordFor(schema, field, place)
  if (schema.type === 'string') return textFor(schema, field, place.holder)
  if (schema.type === 'number' || schema.type === 'integer') return numberFor(schema, field)
  if (schema.type === 'boolean') return true
  return schema.type === 'null' ? null : {}
}

function arrayFor(schema: TSchema, field: string, place: Place): unknown[] {
  if (place.depth > DEPTH_MAX || (schema.maxItems ?? 1) < 1) return []
  const item = valueFor(schema.items, field.replace(/ies$/, 'y').replace(/s$/, ''), { ...place, depth: place.depth + 1 })
  return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => item)
}

/** A record with one entry, its key one that the pattern takes: `usd` for amounts by currency. */
function recordFor(schema: TSchema, field: string, place: Place): Record<string, unknown> {
  const [pattern, part] = Object.entries(schema.patternProperties ?? {})[0] ?? ['', schema.additionalProperties]
  if (typeof part !== 'object' || place.depth > DEPTH_MAX) return {}
  const key = [
    /currenc|price|amount/i.test(field)
      ? 'usd'
      : /languag|locale|translation/i.test(field)
        ? 'en-US'
        : /option/i.test(field)
          ? 'size'
          : 'key',
    ...COMMON,
  ].find((text) => !pattern || new RegExp(pattern, 'u').test(text))
  return key === undefined ? {} : { [key]: valueFor(part as TSchema, key === 'usd' ? 'amount' : key, { ...place, depth: place.depth + 1 }) }
}
