/** Issues of reading: every field and parameter of the OpenAPI document says what it is, and nothing is described that is not there. */
import { expect, test } from 'vitest'
import { DESCRIBED } from '../../api/openapi/described.ts'
import type { Json } from './operations.ts'
import { documentWith } from './released.ts'

/** Each field of a part of the document, with the schema or the field that holds it. */
function fieldsOf(part: unknown, holder: string, see: (holder: string, name: string, field: Json) => void) {
  if (Array.isArray(part)) return part.forEach((one) => fieldsOf(one, holder, see))
  if (typeof part !== 'object' || part === null) return
  const { properties, example, examples, ...rest } = part as Json
  for (const [name, field] of Object.entries((properties ?? {}) as Json)) {
    see(holder, name, field)
    fieldsOf(field, name, see)
  }
  if ((rest.in === 'query' || rest.in === 'path') && typeof rest.name === 'string') see(holder, rest.name, rest)
  for (const value of Object.values(rest)) fieldsOf(value, holder, see)
}

const document = documentWith()
const all: { at: string; name: string; description: unknown }[] = []
const see = (holder: string, name: string, { description }: Json) => void all.push({ at: `${holder}.${name}`, name, description })
for (const [name, schema] of Object.entries(document.components.schemas as Json)) fieldsOf(schema, name, see)
fieldsOf(document.paths, '', see)

test('every field and parameter says what it is', () => {
  expect(all.length).toBeGreaterThan(2_500)
  expect(all.filter(({ description }) => typeof description !== 'string' || description.length < 1).map(({ at }) => at)).toEqual([])
})

test('what is described is there', () => {
  const there = new Set(all.flatMap(({ at, name }) => [at, name]))
  expect([...DESCRIBED].filter((name) => !there.has(name))).toEqual([])
})

test('descriptions are short, and no sentences with a period', () => {
  for (const name of DESCRIBED) expect(name).toMatch(/^[A-Za-z0-9]+(\.[A-Za-z0-9]+)?$/)
  expect(all.filter(({ description }) => String(description).length > 300).map(({ at }) => at)).toEqual([])
})
