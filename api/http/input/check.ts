/** Checking what comes in against a schema: cleaned first, and refused with the details of document 3. */
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler'
import { Errors, ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { cleaner, type Clean } from './clean.ts'
import { isLonger, shortener, tooLong, tooMany, type Shortened } from './lengths.ts'
import { invalid, type Detail } from '../../values/refusal.ts'
import { unknownOf, type Notes } from './notes.ts'
import type { Static, TObject, TSchema } from '../schema.ts'

const plain = (type: string) =>
  ({
    string: 'a string',
    number: 'a number',
    integer: 'an integer',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    null: 'null',
  })[type] ?? type

/** The part of a union that an error is told about: the one that is not null. */
function closest(error: ValueError): ValueError | undefined {
  for (const [i, errors] of error.errors.entries()) {
    if ((error.schema.anyOf as TSchema[])[i]?.type === 'null') continue
    // The first alone: a value of a megabyte has as many errors as it has parts.
    for (const first of errors) return first
  }
}

function detail(error: ValueError): Detail {
  const path = error.path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { schema, value } = error
  const at = (code: Detail['code'], message: string, extra: Partial<Detail> = {}): Detail => ({ code, message, path, ...extra })
  if (value === undefined && error.type !== ValueErrorType.ObjectAdditionalProperties) return at('required', 'is required')
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return at('required', 'is required')
    case ValueErrorType.ObjectAdditionalProperties:
      return { code: 'unrecognized_keys', path: path.slice(0, -1), ...unknownOf(path.at(-1)!, Object.keys(schema.properties ?? {})) }
    case ValueErrorType.StringMinLength:
      return at('too_small', `must have at least ${count(schema.minLength, 'character')}`, { minimum: schema.minLength })
    case ValueErrorType.StringMaxLength:
      return tooLong(schema.maxLength, path)
    case ValueErrorType.ArrayMinItems:
      return at('too_small', `must have at least ${count(schema.minItems, 'item')}`, { minimum: schema.minItems })
    case ValueErrorType.ArrayMaxItems:
      return tooMany(schema.maxItems, path)
    case ValueErrorType.ObjectMaxProperties:
      return at('too_big', `must have at most ${count(schema.maxProperties, 'entrie')}`, { maximum: schema.maxProperties })
    case ValueErrorType.ObjectMinProperties:
      return at('too_small', `must have at least ${count(schema.minProperties, 'entrie')}`, { minimum: schema.minProperties })
    case ValueErrorType.ArrayUniqueItems:
      return at('custom', 'must not repeat an item')
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return at('too_small', `must be at least ${schema.minimum}`, { minimum: schema.minimum })
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return at('too_big', `must be at most ${schema.maximum}`, { maximum: schema.maximum })
    case ValueErrorType.NumberExclusiveMinimum:
    case ValueErrorType.IntegerExclusiveMinimum:
      return at('too_small', `must be more than ${schema.exclusiveMinimum}`, { minimum: schema.exclusiveMinimum })
    case ValueErrorType.StringPattern:
      return at('invalid_string', `must match ${schema.pattern}`, { pattern: schema.pattern })
    case ValueErrorType.StringFormat:
    case ValueErrorType.StringFormatUnknown:
      return at(
        'invalid_string',
        `must be ${({ uuid: 'a UUID', email: 'an email address', 'date-time': 'an ISO 8601 date and time with offset', uri: 'an http(s) URL', country: 'an ISO 3166-1 alpha-2 country code' } as Record<string, string>)[schema.format] ?? schema.format}`,
      )
    case ValueErrorType.Kind:
      return at('invalid_enum_value', `must be one of ${(schema.enum as string[]).join(', ')}`, { options: schema.enum })
    case ValueErrorType.Literal:
      return at('invalid_enum_value', `must be ${JSON.stringify(schema.const)}`, { options: [schema.const] })
    case ValueErrorType.Union: {
      const inner = closest(error)
      return inner ? detail(inner) : at('invalid_type', 'has the wrong type')
    }
    default:
      return at('invalid_type', schema.type ? `must be ${plain(schema.type)}` : 'has the wrong type')
  }
}

/** Whether a text is too long in UTF-16 units alone: limits count characters, as JSON Schema does. */
const isShortEnough = (error: ValueError): boolean =>
  error.type === ValueErrorType.StringMaxLength
    ? !isLonger(error.value as string, error.schema.maxLength)
    : error.type === ValueErrorType.Union && (error.schema.anyOf as TSchema[]).some((part) => areShortEnough(Errors(part, error.value)))

function areShortEnough(errors: Iterable<ValueError>): boolean {
  for (const error of errors) if (!isShortEnough(error)) return false
  return true
}

/** The key by which a complaint is made once: one for each field, and one list of unknown fields for each object. */
const keyOf = ({ code, path }: Detail) => `${code === 'unrecognized_keys'}${path.join('\0')}`

/** How many errors of a body are complained about, and how many are looked at for it: a body may have one for each of its bytes. */
const COMPLAINTS_MAX = 50
const LOOKED_AT_MAX = 1_000

/** A compiled schema: `parse` cleans and checks, notes what it doesn't know, and refuses with 400 and details. */
export interface Parser<T> {
  parse(value: unknown, notes: Notes): T
  problems(value: unknown): Detail[]
}

/** `shown`: what answers show of the same resource (see `cleaner`). */
export function parser<T extends TSchema>(schema: T, shown: readonly TSchema[] = []): Parser<Static<T>> {
  let check: TypeCheck<T> | undefined
  let clean: Clean | null | undefined
  let shorten: Shortened | null | undefined
  const problems = (value: unknown): Detail[] => {
    check ??= TypeCompiler.Compile(schema)
    if (check.Check(value)) return []
    // A text that is too long is said to be that, and no pattern is tried on it: what comes in decides how long that takes.
    if (shorten === undefined) shorten = shortener(schema)
    const long: Detail[] = []
    const short = shorten ? shorten(value, [], long) : value
    const byPath = new Map(long.slice(0, COMPLAINTS_MAX).map((found) => [keyOf(found), found]))
    const unknown: string[] = []
    let lookedAt = 0
    for (const error of check.Errors(short)) {
      if (byPath.size >= COMPLAINTS_MAX || ++lookedAt > LOOKED_AT_MAX) break
      if (isShortEnough(error)) continue
      // Naming what may have been meant costs more than all else.
      if (error.type === ValueErrorType.ObjectAdditionalProperties && unknown.length >= COMPLAINTS_MAX) continue
      const found = detail(error)
      if (found.code === 'unrecognized_keys') unknown.push(...found.keys!)
      if (!byPath.has(keyOf(found))) byPath.set(keyOf(found), found)
    }
    const details = [...byPath.values()]
    for (const found of details) if (found.code === 'unrecognized_keys') found.keys = unknown
    return details
  }
  return {
    problems,
    parse(value, notes) {
      if (clean === undefined) clean = cleaner(schema, shown)
      const cleaned = clean ? clean(value, null, notes) : value
      const details = [...notes.problems, ...problems(cleaned)]
      if (details.length) throw invalid(details)
      notes.refuse()
      return cleaned as Static<T>
    },
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

function fromText(text: string, schema: TSchema): unknown {
  if (schema.type === 'integer' || schema.type === 'number') return NUMBER.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (schema.type === 'array') return text === '' ? [] : text.split(',')
  return text
}

/** How the query of a route is read; a route without parameters knows none. */
export interface QueryParser {
  schema: TObject
  check: Parser<unknown>
}

/** Turns a query string into the object that `schema` describes; unknown parameters are noted, repeated ones refused. */
export function parseQuery(search: string, { schema, check }: QueryParser, notes: Notes): unknown {
  const values: Record<string, unknown> = {}
  if (search) {
    for (const [name, text] of new URLSearchParams(search)) {
      const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      if (!field) {
        notes.parameter(name, Object.keys(schema.properties))
        continue
      }
      if (name in values) throw invalid([{ code: 'custom', message: 'is given more than once', path: [name] }])
      values[name] = fromText(text, field)
    }
  }
  return check.parse(values, notes)
}
