/** Values made from the document's schemas: mostly what they ask for, now and then what nobody should send. */
import fc, { type Arbitrary } from 'fast-check'
import { resolve, type Json } from './operations.ts'
import { linked, referred, type Known } from './seed.ts'

/** How deep a value goes before it gets simple. */
const DEPTH_MAX = 6
const NUL = String.fromCharCode(0)

const deep = (levels: number): unknown => (levels ? { a: [deep(levels - 1)] } : null)

/** Values that break assumptions: other types, ends of ranges, text that is hard to store, keys that mean something to JavaScript. */
const nasty: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    0.1,
    1.005,
    1e-7,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    1e21,
    1e308,
    -1e308,
    '',
    ' ',
    '0',
    '-1',
    'null',
    'true',
    '[object Object]',
    [],
    {},
    [null],
    [[]],
    [{}],
  ),
  fc.constantFrom<unknown>(
    '\ud800',
    'a\udfffb',
    NUL,
    `a${NUL}b`,
    '\u202e\u200b\ufeff',
    'ﷺ'.repeat(50),
    '👩‍👩‍👧‍👦',
    'Ł\u0308ß',
    "'; DROP TABLE products; --",
    '<script>alert(1)</script>',
    '%s%n%00',
    '../../etc/passwd',
    '{{7*7}}',
    '\r\nX-Evil: 1',
    '"*" NEAR(a b)',
    'x'.repeat(300),
    'x'.repeat(10_001),
    'é'.repeat(5001),
  ),
  fc.constantFrom<unknown>(
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '+275761-01-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-06-30T23:59:60Z',
    'javascript:alert(1)',
    'http://',
    'https://user:pw@[::1]/',
    'file:///etc/passwd',
    '00000000-0000-0000-0000-000000000000',
    'ZZZ',
    'zz-ZZ',
  ),
  fc.constantFrom<unknown>(
    deep(8),
    deep(60),
    Array(1000).fill(1),
    JSON.parse('{"__proto__":{"admin":true}}'),
    { constructor: { prototype: {} } },
    { toString: 1, hasOwnProperty: null },
    { length: 5 },
    Array(30).fill({}),
  ),
)

const DATES = [
  '2026-03-01T00:00:00Z',
  '2030-06-01T09:00:00+02:00',
  '2030-06-01T12:00:00.000Z',
  '2031-01-01T00:00:00Z',
  '2020-02-29T23:59:59.999Z',
]

function texts(schema: Json, field: string, known: Known, wild: boolean): Arbitrary<unknown> {
  const mine = referred(known, field)
  if (schema.format === 'uuid')
    return fc.oneof(
      { weight: 4, arbitrary: fc.constant(mine ?? '01985d2c-7c00-7a31-8c4e-0242ac120002') },
      { weight: wild ? 2 : 0, arbitrary: fc.constantFrom(...known.values(), 'x', '00000000-0000-0000-0000-000000000000') },
    )
  if (schema.format === 'date-time') return fc.constantFrom(...DATES)
  if (schema.format === 'email')
    return fc.oneof(fc.constantFrom('ada@example.com', 'ADA@Example.COM', 'bob+tag@example.com'), fc.emailAddress())
  if (schema.format === 'uri')
    return fc.constantFrom('https://example.com/a.webp', 'http://127.0.0.1:1/x', 'https://cdn.example.com/ü?q=1#x')
  if (schema.format === 'country') return fc.constantFrom('US', 'PL', 'de')
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern, 'u'))
  const [minLength, maxLength] = [schema.minLength ?? 0, Math.min(schema.maxLength ?? 60, 60)]
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ minLength, maxLength: Math.max(minLength, maxLength) }) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, maxLength) }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'linen-shirt',
        'Linen shirt',
        'usd',
        'US',
        'en-US',
        'pl-PL',
        'Europe/Berlin',
        'SPRING10',
        'ada@example.com',
        mine ?? 'x',
      ),
    },
    { weight: wild ? 1 : 0, arbitrary: fc.constant('y'.repeat((schema.maxLength ?? 60) + 1)) },
  )
}

function numbers(schema: Json, wild: boolean): Arbitrary<unknown> {
  const low = Math.max(schema.minimum ?? schema.exclusiveMinimum ?? -1000, -1e15)
  const high = Math.min(schema.maximum ?? schema.exclusiveMaximum ?? 1e6, 1e15)
  const edges = fc.constantFrom(low, high, Math.min(high, low + 1), ...(wild ? [low - 1, high + 1] : []))
  const whole = fc.integer({ min: Math.ceil(low), max: Math.max(Math.ceil(low), Math.floor(high)) })
  const small = fc.integer({ min: Math.ceil(low), max: Math.max(Math.ceil(low), Math.min(Math.floor(high), Math.ceil(low) + 20)) })
  if (schema.type === 'integer')
    return fc.oneof({ weight: 5, arbitrary: small }, { weight: 2, arbitrary: whole }, { weight: 1, arbitrary: edges })
  return fc.oneof(
    { weight: 4, arbitrary: small },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 99_999 }).map((cents) => cents / 100) },
    { weight: wild ? 1 : 0, arbitrary: fc.double({ min: low, max: high, noNaN: true }) },
    { weight: 1, arbitrary: edges },
  )
}

/** Makes values of one document for one store: ones that the schema takes, or `wild` ones, where one place in about twelve holds something else. */
class Values {
  constructor(
    readonly document: Json,
    readonly known: Known,
    readonly wild: boolean,
  ) {}

  of(schema: Json, field = '', depth = 0): Arbitrary<unknown> {
    const proper = this.#proper(resolve(this.document, schema), field, depth)
    return this.wild ? fc.oneof({ weight: 12, arbitrary: proper }, { weight: 1, arbitrary: nasty }) : proper
  }

  #proper(schema: Json, field: string, depth: number): Arbitrary<unknown> {
    if (depth > DEPTH_MAX) return fc.constant(null)
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((part: Json) => this.#proper(resolve(this.document, part), field, depth)))
    if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type: string) => this.#proper({ ...schema, type }, field, depth)))
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, field, depth)
      case 'string':
        return texts(schema, field, this.known, this.wild)
      case 'number':
      case 'integer':
        return numbers(schema, this.wild)
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      default:
        return this.wild ? nasty : fc.constantFrom<unknown>('linen', 1, { a: [1] })
    }
  }

  #object(schema: Json, depth: number): Arbitrary<unknown> {
    const required = new Set(schema.required as string[] | undefined)
    if (schema.properties?.type?.const === 'doc') {
      return fc.constantFrom<unknown>(
        { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Linen' }] }] },
        { type: 'doc' },
        { type: 'doc', content: [{ type: 'marquee' }] },
        { type: 'doc', content: deep(40) },
        { type: 'doc', content: [null, 1, { type: 'text' }] },
      )
    }
    const fields = Object.entries((schema.properties as Record<string, Json>) ?? {}).map(([name, field]) =>
      fc
        .integer({ min: 0, max: 29 })
        .chain((dice): Arbitrary<unknown[][]> =>
          (required.has(name) ? dice > 0 || !this.wild : dice > 20)
            ? this.of(field, name, depth + 1).map((value) => [[name, value]])
            : fc.constant([]),
        ),
    )
    const [pattern, part] = Object.entries(schema.patternProperties ?? {})[0] ?? [
      '',
      typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null,
    ]
    const keys = fc.oneof(
      {
        weight: 4,
        arbitrary: pattern ? fc.stringMatching(new RegExp(pattern as string, 'u')) : fc.constantFrom('usd', 'EUR', 'size', 'en-US'),
      },
      { weight: this.wild ? 1 : 0, arbitrary: fc.constantFrom('', '__proto__', 'constructor', 'x'.repeat(200), 'JPY', '\u0000') },
    )
    const entries = part ? fc.array(fc.tuple(keys, this.of(part as Json, '', depth + 1)), { maxLength: 3 }) : fc.constant([])
    const strangers = fc.oneof(
      { weight: 9, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<unknown[]>(
          [['__proto__', { admin: true }]],
          [['constructor', 1]],
          [['unknownField', 'x']],
          [['id', 'x']],
          [['storeId', 'x']],
        ),
      },
    )
    return fc.tuple(fc.tuple(...fields), entries, strangers).map(([own, more, strange]) =>
      // The way of JSON.parse: `__proto__` becomes a field, not a prototype.
      JSON.parse(
        `{${[...own.flat(), ...more, ...strange]
          .map((entry) => {
            const [name, value] = entry as [string, unknown]
            return `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`
          })
          .join()}}`,
      ),
    )
  }

  #array(schema: Json, field: string, depth: number): Arbitrary<unknown> {
    const item = this.of(schema.items ?? {}, field, depth + 1)
    const [least, most] = [schema.minItems ?? 0, schema.maxItems ?? 5]
    return fc.oneof(
      { weight: 9, arbitrary: fc.array(item, { minLength: Math.min(least, 3), maxLength: Math.max(least, Math.min(most, 4)) }) },
      { weight: this.wild ? 1 : 0, arbitrary: item.map((value) => Array(Math.min(most + 1, 1001)).fill(value)) },
    )
  }

  /** A query string of the parameters. */
  search(query: Record<string, Json>): Arbitrary<string> {
    const value = (name: string, schema: Json) => {
      const proper = this.of(schema, name).map((made) =>
        encodeURIComponent((typeof made === 'string' ? made : JSON.stringify(made)).toWellFormed()),
      )
      return this.wild ? fc.oneof({ weight: 4, arbitrary: proper }, { weight: 1, arbitrary: strangeText }) : proper
    }
    const parts = Object.entries(query).map(([name, schema]) =>
      fc
        .integer({ min: 0, max: 2 })
        .chain((dice): Arbitrary<string[]> => (dice === 0 ? value(name, schema).map((text) => [`${name}=${text}`]) : fc.constant([]))),
    )
    return parts.length ? fc.tuple(...parts).map((pairs) => pairs.flat().join('&')) : fc.constant('')
  }
}

/** What may stand behind an equals sign, percent escapes and all. */
const strangeText = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '1e9',
    '%00',
    '%ED%A0%80',
    '%FF',
    '%25',
    '%22*%22',
    'NEAR(a%20b)',
    "'%22--",
    'a%20OR%20b*',
    '(',
    'true',
    'x'.repeat(2000),
    '%F0%9F%91%A9',
    '{}',
    '2026-02-30',
  ),
  fc.string({ maxLength: 20 }).map(encodeURIComponent),
)

/** Fields that no two resources may share. */
const UNIQUE = /^(slug|sku|code|name|email)$/
const renamed = (example: object, dice: number) =>
  Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      UNIQUE.test(name) && typeof value === 'string' ? (name === 'email' ? value.replace('@', `+${dice}@`) : `${value}-${dice}`) : value,
    ]),
  )

/** The requests of one document to one store. */
export class Requests {
  readonly #proper: Values
  readonly #wild: Values
  constructor(
    readonly document: Json,
    readonly known: Known,
  ) {
    this.#proper = new Values(document, known, false)
    this.#wild = new Values(document, known, true)
  }

  search(query: Record<string, Json>): Arbitrary<string> {
    return fc.oneof({ weight: 3, arbitrary: this.#proper.search(query) }, { weight: 2, arbitrary: this.#wild.search(query) })
  }

  /** A JSON text: the example with some fields changed, a whole made-up body, or one that is broken after it was made. */
  body(schema: Json, example: unknown): Arbitrary<string> {
    const fields = Object.entries((resolve(this.document, schema).properties as Record<string, Json>) ?? {})
    const start = linked(example, this.known) as object
    const changed = (values: Values) =>
      fields.length
        ? fc
            .array(
              fc.constantFrom(...fields).chain(([name, field]) => values.of(field, name, 1).map((value) => ({ [name]: value }))),
              { maxLength: 3 },
            )
            .chain((changes) => fc.nat(99_999).map((dice) => Object.assign({}, dice % 4 ? renamed(start, dice) : start, ...changes)))
        : fc.constant(start)
    const text = (values: Arbitrary<unknown>) => values.map((value) => JSON.stringify(value) ?? 'null')
    const wild = text(this.#wild.of(schema))
    return fc.oneof(
      { weight: 10, arbitrary: text(changed(this.#proper)) },
      { weight: 6, arbitrary: text(changed(this.#wild)) },
      { weight: 6, arbitrary: text(this.#proper.of(schema)) },
      { weight: 8, arbitrary: wild },
      { weight: 1, arbitrary: wild.map((whole) => whole.slice(0, -1)) },
      { weight: 1, arbitrary: wild.map((whole) => whole.replace(/^\{/, '{"__proto__":{"a":1},"__proto__":null,')) },
      { weight: 1, arbitrary: wild.map((whole) => whole.replace(/:"/, ':"\\ud800')) },
    )
  }
}
