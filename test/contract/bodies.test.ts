/** Bodies of every operation: types, sizes, forms, and each field that is missing or null (document 3, Conventions). */
import { afterAll, describe, expect, test } from 'vitest'
import { resolve, type Json, type Operation } from './operations.ts'
import { each, nowhere, world } from './world.ts'

const { app, document, keyed, caller, shop } = await world()
const withBody = keyed.filter(({ body }) => body)
afterAll(() => app.close())

const isNullable = (schema: Json): boolean => {
  const { type, anyOf, enum: values } = resolve(document, schema)
  return (
    type === 'null' ||
    (type === undefined && !anyOf && !values) ||
    (Array.isArray(type) && type.includes('null')) ||
    (anyOf ?? []).some(isNullable)
  )
}

/** Every way to leave one required field out of an example, also within objects and the first entry of lists. */
function leavingOut(schema: Json, example: any, path: string[] = []): { path: string[]; without: any }[] {
  const { properties = {}, required = [], items, anyOf } = resolve(document, schema)
  if (anyOf) {
    const parts = anyOf.filter((part: Json) => part.type !== 'null')
    return parts.length === 1 ? leavingOut(parts[0], example, path) : []
  }
  if (items && Array.isArray(example) && example.length) {
    return leavingOut(items, example[0], [...path, '0']).map(({ path: at, without }) => ({
      path: at,
      without: [without, ...example.slice(1)],
    }))
  }
  if (!example || typeof example !== 'object') return []
  return Object.entries(properties as Record<string, Json>)
    .filter(([name]) => name in example)
    .flatMap(([name, field]) => {
      const { [name]: value, ...without } = example
      return [
        ...(required.includes(name) ? [{ path: [...path, name], without }] : []),
        ...leavingOut(field, value, [...path, name]).map(({ path: at, without: inner }) => ({
          path: at,
          without: { ...example, [name]: inner },
        })),
      ]
    })
}

describe('bodies', () => {
  const send = (operation: Operation, raw: string, headers: Record<string, string> = {}) =>
    caller.call(operation, nowhere(operation), undefined, { raw, headers })

  test('another media type is 415', () =>
    each(withBody, async (operation, find) => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'application/xml']) {
        const answer = await send(operation, JSON.stringify(operation.body!.example), { 'content-type': type })
        if (answer.status !== 415) find(`takes ${type}`, answer)
      }
    }))

  test('JSON that breaks off, or is no object, is 400', () =>
    each(withBody, async (operation, find) => {
      for (const raw of ['{"name": "Broken', '{"a":1,}', "{'a':1}", 'nonsense', '[]', 'null', '"x"', '1', 'true']) {
        const answer = await send(operation, raw)
        if (answer.status !== 400) find(`${raw} is not 400`, answer)
      }
    }))

  test('a body over 1 MB is 413', async () => {
    const raw = JSON.stringify({ name: 'x'.repeat(1_048_576) })
    await each(withBody, async (operation, find) => {
      const answer = await send(operation, raw)
      if (answer.status !== 413) find('takes more than 1 MB', answer)
    })
  })

  test('bytes that are no UTF-8 are 400', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('","price":1}')])
    const headers = { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'application/json' }
    const answer = await app.app.fetch(new Request('http://localhost/api/v1/products', { method: 'POST', headers, body: bytes }))
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'the body is not valid UTF-8' })])
  })

  test('nesting without end, NUL and half characters are 400', () =>
    each(withBody, async (operation, find) => {
      for (const raw of [
        `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
        '['.repeat(100_000),
        '{"name":"a\\u0000b"}',
        '{"name":"\\ud800"}',
        '{"\\ud800":1}',
      ]) {
        const answer = await send(operation, raw)
        if (answer.status !== 400) find(`${raw.slice(0, 30)} is not 400`, answer)
      }
    }))

  test('each required field left out is 400, code required, at its path', () =>
    each(withBody, async (operation, find) => {
      for (const { path, without } of leavingOut(operation.body!.schema, operation.body!.example)) {
        const answer = await caller.call(operation, nowhere(operation), without)
        const named = answer.body?.details?.some(
          (detail: Json) => detail.code === 'required' && JSON.stringify(detail.path) === JSON.stringify(path),
        )
        if (answer.status !== 400 || !named) find(`without ${path.join('.')}`, answer)
      }
    }))

  test('null where null is not possible is 400 at its path', () =>
    each(withBody, async (operation, find) => {
      for (const [name, field] of Object.entries(operation.body!.schema.properties ?? {}) as [string, Json][]) {
        if (isNullable(field)) continue
        const answer = await caller.call(operation, nowhere(operation), { ...operation.body!.example, [name]: null })
        if (answer.status !== 400 || !answer.body.details?.some((detail: Json) => detail.path[0] === name)) find(`${name}: null`, answer)
      }
    }))
})

test('no answer was a failure of the server, or of another kind than described', () => {
  caller.verify()
})
