import { afterAll, describe, expect, test } from 'vitest'
import { parser } from '../../api/http/input/check.ts'
import { Notes } from '../../api/http/input/notes.ts'
import { Nullable, Text, Type } from '../../api/http/schema.ts'
import { testApp, type TestApp } from '../harness.ts'

const app: TestApp = await testApp()
afterAll(() => app.close())

/** Every pattern of the document, those of property names included. */
function patternsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) patternsIn(item, found)
  else if (value && typeof value === 'object')
    for (const [name, item] of Object.entries(value)) {
      if (name === 'pattern' && typeof item === 'string') found.add(item)
      if (name === 'patternProperties') for (const pattern of Object.keys(item as object)) found.add(pattern)
      patternsIn(item, found)
    }
  return found
}

const document = (await app.send('GET', '/openapi')).body
const patterns = [...patternsIn(document)]
/** What makes a pattern go back and try again: runs of what it may take, and an end that it may not. */
const UNITS = ['a', 'A', '1', '-', '.', '/', ' ', '_', '@', '#', 'a-', 'a.', 'a/', '1.', '..', 'http://', 'a1-A', '\n', 'é', '~', '!']
const ENDS = ['', '\0', ' ', '!', '-', '/', '\n']

/** The longest that `pattern` needs for a hostile text of 100 KB: of each text, the shortest of three tries. */
function longest(pattern: RegExp): number {
  let worst = 0
  for (const unit of UNITS) {
    for (const end of ENDS) {
      const text = unit.repeat(100_000 / unit.length) + end
      let best = Infinity
      for (let tries = 0; tries < 3; tries++) {
        const started = performance.now()
        pattern.test(text)
        best = Math.min(best, performance.now() - started)
      }
      worst = Math.max(worst, best)
    }
  }
  return worst
}

describe('what comes in decides nothing about how long it takes to refuse it', () => {
  test('the document has patterns', () => {
    expect(patterns.length).toBeGreaterThan(10)
  })

  test.each(patterns)('the pattern %s looks at a text once', (source) => {
    // What goes back and tries again needs ten thousand times what reading the text once does.
    const floor = longest(/^[^\u0000]*$/u)
    expect(longest(new RegExp(source, 'u')) / floor).toBeLessThan(500)
  })

  test('a text that is too long is refused for that alone, wherever it stands', () => {
    const hostile = `${'a'.repeat(60)}!`
    const Hostile = Text(1, 20, { pattern: '^(a+)+$' })
    const check = parser(
      Type.Object({
        plain: Hostile,
        empty: Nullable(Hostile),
        list: Type.Array(Hostile),
        inside: Type.Object({ name: Hostile }, { additionalProperties: false }),
        named: Type.Record(Type.String(), Hostile),
      }),
    )
    const value = { plain: hostile, empty: hostile, list: ['a', hostile], inside: { name: hostile, other: 1 }, named: { x: hostile } }
    const found = check.problems(value)
    expect(found.map(({ code, path, maximum }) => [code, path.join('.'), maximum])).toEqual([
      ['too_big', 'plain', 20],
      ['too_big', 'empty', 20],
      ['too_big', 'list.1', 20],
      ['too_big', 'inside.name', 20],
      ['too_big', 'named.x', 20],
      ['unrecognized_keys', 'inside', undefined],
    ])
  })

  test('a list that is too long is refused for that alone: nobody looks into it', () => {
    const looked: string[] = []
    const item = new Proxy({}, { ownKeys: (target) => (looked.push('keys'), Reflect.ownKeys(target)) })
    const check = parser(Type.Object({ items: Type.Array(Type.Object({ name: Text(1, 5) }), { minItems: 1, maxItems: 3 }) }))
    expect(() => check.parse({ items: Array(4).fill(item) }, new Notes())).toThrow('items: must have at most 3 items')
    expect(looked).toEqual([])
  })

  test('every list of a body has a bound', () => {
    const named = (ref: string) =>
      ref
        .split('/')
        .slice(1)
        .reduce((at: any, part) => at[part], document)
    const unbounded = (schema: any, path: string, seen: readonly string[] = []): string[] => {
      if (!schema || typeof schema !== 'object') return []
      if (schema.$ref) return seen.includes(schema.$ref) ? [] : unbounded(named(schema.$ref), path, [...seen, schema.$ref])
      // A rich-text document has a bound as a whole.
      if (schema.description === 'ProseMirror document') return []
      const parts = [
        ...Object.entries(schema.properties ?? {}),
        ['[]', schema.items],
        ...(schema.anyOf ?? []).map((part: unknown) => ['', part]),
      ]
      return [
        ...(schema.type === 'array' && schema.maxItems === undefined ? [path] : []),
        ...parts.flatMap(([name, part]) => unbounded(part, `${path}.${name}`, seen)),
      ]
    }
    const operations = Object.values<any>(document.paths).flatMap((methods) => Object.values<any>(methods))
    expect(
      operations.flatMap(({ operationId, requestBody }) => unbounded(requestBody?.content['application/json']?.schema, operationId)),
    ).toEqual([])
  })

  test('a length counts characters, not their halves', () => {
    const check = parser(Type.Object({ name: Text(1, 3, { pattern: '^[^x]*$' }), other: Nullable(Text(1, 3)) }))
    expect(check.problems({ name: '😀😀😀', other: '😀😀😀' })).toEqual([])
    expect(check.problems({ name: '😀😀😀😀', other: null }).map(({ code }) => code)).toEqual(['too_big'])
    expect(check.problems({ name: '😀x😀', other: null }).map(({ code }) => code)).toEqual(['invalid_string'])
  })
})
