/** Texts and lists that are longer than their schema allows: found before anything else is tried on them, however long they are. */
import type { Detail } from '../../values/refusal.ts'
import type { TProperties, TSchema } from '../schema.ts'

/** Notes in `found` what is too long, and gives the value with that left empty. */
export type Shortened = (value: unknown, path: readonly string[], found: Detail[]) => unknown

/** Whether a text has more characters than `maximum`: code points, as JSON Schema counts. Looks at no more than it must. */
export function isLonger(text: string, maximum: number): boolean {
  if (text.length <= maximum) return false
  if (text.length > 2 * maximum) return true
  let count = 0
  for (const _ of text) if (++count > maximum) return true
  return false
}

export const tooLong = (maximum: number, path: readonly string[]): Detail => ({
  code: 'too_big',
  message: `must have at most ${maximum} character${maximum === 1 ? '' : 's'}`,
  path: [...path],
  maximum,
})

export const tooMany = (maximum: number, path: readonly string[]): Detail => ({
  code: 'too_big',
  message: `must have at most ${maximum} item${maximum === 1 ? '' : 's'}`,
  path: [...path],
  maximum,
})

/** Makes the function for a schema; null when nothing in it has a bound. */
export function shortener(schema: TSchema): Shortened | null {
  if (schema.anyOf) return ofUnion(schema.anyOf as TSchema[])
  if (schema.type === 'string') return schema.maxLength === undefined ? null : ofText(schema.maxLength as number)
  if (schema.type === 'array') return ofList(schema.items ? shortener(schema.items as TSchema) : null, schema.maxItems)
  if (schema.type !== 'object') return null
  const fields = Object.entries((schema.properties ?? {}) as TProperties)
    .map(([name, field]) => [name, shortener(field)] as const)
    .filter((entry): entry is readonly [string, Shortened] => entry[1] !== null)
  const [others] = Object.values((schema.patternProperties ?? {}) as TProperties).map(shortener)
  return fields.length || others ? ofObject(new Map(fields), others ?? null) : null
}

const ofText =
  (maximum: number): Shortened =>
  (value, path, found) => {
    if (typeof value !== 'string' || !isLonger(value, maximum)) return value
    found.push(tooLong(maximum, path))
    return ''
  }

/** A text may be as long as the longest of the alternatives; an object is looked into where only one of them is one. */
function ofUnion(parts: TSchema[]): Shortened | null {
  const texts = parts.filter(({ type }) => type === 'string')
  const maximum = Math.max(...texts.map(({ maxLength }) => maxLength ?? Infinity))
  const text = texts.length && maximum < Infinity ? ofText(maximum) : null
  const others = parts.filter(({ type }) => type === 'object' || type === 'array')
  const other = others.length === 1 ? shortener(others[0]!) : null
  if (!text || !other) return text ?? other
  return (value, path, found) => (typeof value === 'string' ? text : other)(value, path, found)
}

function ofList(item: Shortened | null, maximum: number | undefined): Shortened | null {
  if (!item && maximum === undefined) return null
  return (value, path, found) => {
    if (!Array.isArray(value)) return value
    if (maximum !== undefined && value.length > maximum) {
      found.push(tooMany(maximum, path))
      return []
    }
    return item ? value.map((each, i) => item(each, [...path, String(i)], found)) : value
  }
}

const ofObject =
  (fields: ReadonlyMap<string, Shortened>, others: Shortened | null): Shortened =>
  (value, path, found) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const shorten = fields.get(name) ?? others
        return [name, shorten ? shorten(each, [...path, name], found) : each]
      }),
    )
  }
