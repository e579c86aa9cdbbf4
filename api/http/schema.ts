/** The schemas that resources are described with: TypeBox, with the formats of the documents. */
import {
  FormatRegistry,
  Kind,
  Type,
  TypeRegistry,
  type ObjectOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
} from '@sinclair/typebox'
import { isCountry } from '../values/countries.ts'
import { isEmail } from '../values/email.ts'
import { isUuid } from '../values/uuid.ts'
import { isDay, parseInstant } from '../values/time.ts'

FormatRegistry.Set('uuid', isUuid)
FormatRegistry.Set('email', isEmail)
FormatRegistry.Set('country', isCountry)
FormatRegistry.Set('date-time', (value) => parseInstant(value) !== null)
FormatRegistry.Set('date', isDay)
FormatRegistry.Set('uri', (value) => /^https?:\/\//i.test(value) && URL.canParse(value))

TypeRegistry.Set<{ enum: unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value))

/** An object with a name of its own, which is that of its component in the OpenAPI document: it never changes. */
export const Named = <T extends TProperties>(name: string, fields: T, options: ObjectOptions = {}) =>
  Type.Object(fields, { $id: name, ...options })
/** Such an object that a request sends: `examples` are what a first call sends. */
export const Body = <T extends TProperties>(name: string, examples: unknown[], fields: T, options: ObjectOptions = {}) =>
  Named(name, fields, { ...options, examples })
/** A field that may be null. */
export const Nullable = <T extends TSchema>(schema: T, options = {}) => Type.Union([schema, Type.Null()], options)
/** One of some words; plain literals, so that an omitted one is an error and not the first of them. */
export const OneOf = <const T extends readonly string[]>(values: T, options = {}) =>
  Type.Unsafe<T[number]>({ [Kind]: 'OneOf', type: 'string', enum: [...values], ...options })
export const Uuid = (options = {}) => Type.String({ format: 'uuid', ...options })
/** An instant: ISO 8601 with an offset on the way in, `…sssZ` on the way out. */
export const Instant = (options = {}) => Type.String({ format: 'date-time', ...options })
/** A day of the calendar (`2026-03-29`), or an instant. */
export const DayOrInstant = (options = {}) => Type.Union([Type.String({ format: 'date' }), Instant()], options)
export const Email = (options = {}) => Type.String({ format: 'email', maxLength: 254, ...options })
export const Text = (minLength: number, maxLength: number, options = {}) => Type.String({ minLength, maxLength, ...options })
/** The pattern of a text of one line: no line breaks and no other control characters. */
export const ONE_LINE = '^[^\\u0000-\\u001f\\u007f]*$'
/** Text of one line, taken without the space around it. */
export const Line = (minLength: number, maxLength: number, options = {}) => Text(minLength, maxLength, { pattern: ONE_LINE, ...options })
/** A name or a code: one line that is not blank. */
export const Label = (maxLength: number, options = {}) => Line(1, maxLength, options)
export const Count = (options = {}) => Type.Integer({ minimum: 0, maximum: 1_000_000_000, ...options })
/** Money in major units, a decimal number with no more decimals than its currency has. */
export const Money = (options = {}) => Type.Number({ minimum: 0, maximum: 1_000_000_000, ...options })
/** Money in integer minor units. */
export const Cents = (options = {}) => Type.Integer(options)
export const Slug = (options = {}) => Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', minLength: 1, maxLength: 200, ...options })
export const CurrencyCode = (options = {}) => Type.String({ pattern: '^[A-Za-z]{3}$', ...options })
/** ISO 3166-1 alpha-2, in either case. */
export const CountryCode = (options = {}) => Type.String({ pattern: '^[A-Za-z]{2}$', format: 'country', ...options })
export const WebUrl = (options = {}) => Type.String({ format: 'uri', maxLength: 2048, ...options })
/** A ProseMirror document, or (where allowed) text. */
export const RichDocument = () =>
  Named(
    'RichDocument',
    { type: Type.Literal('doc'), content: Type.Optional(Type.Array(Type.Any())) },
    {
      additionalProperties: true,
      description: 'ProseMirror document',
      examples: [{ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Made from European linen.' }] }] }],
    },
  )
export const RichTextOrText = () => Type.Union([Type.String({ maxLength: 100_000 }), RichDocument(), Type.Null()])
/** A list of ids without bounds on meaning, with a bound on length. */
export const Ids = (maxItems = 500, options = {}) => Type.Array(Uuid(), { maxItems, uniqueItems: true, ...options })

/** Query parameters of an offset-paged list (document 1, General conventions 6). */
export const Paging = (limit: number, maximum = 100) => ({
  limit: Type.Integer({ minimum: 1, maximum, default: limit, description: 'Page size' }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'How many to skip' }),
})
/** `{data, meta: {count, offset, limit}}`; `count` is all that match, not the page. */
export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    meta: Type.Object({ count: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() }),
  })
/** `{data, meta: {count}}` */
export const Counted = <T extends TSchema>(item: T) => Type.Object({ data: Type.Array(item), meta: Type.Object({ count: Type.Integer() }) })
/** `{items, pagination}`, the form of customers and their orders. */
export const Items = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    pagination: Type.Object({ total: Type.Integer(), offset: Type.Integer(), limit: Type.Integer(), hasMore: Type.Boolean() }),
  })
export const Deleted = Named('Deleted', { ok: Type.Literal(true), deleted: Type.Literal(1) })
/** The answer of a delete (document 1, General conventions 7). */
export const deleted = { ok: true as const, deleted: 1 as const }

export { Type, type Static, type TSchema, type TProperties, type TObject }
