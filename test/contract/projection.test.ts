import { describe, expect, test } from 'vitest'
import { imageImport } from '../../api/content/media/image-import.ts'
import { coupons } from '../../db/store/marketing.ts'
import { closed, projection } from '../../api/http/projection.ts'
import { bodyOf, encoded, readied } from '../../api/http/ready.ts'
import { Reply, resource } from '../../api/http/route.ts'
import { parser } from '../../api/http/input/check.ts'
import { Nullable, Page, RichTextOrText, Type, Uuid } from '../../api/http/schema.ts'

const Item = Type.Object({ id: Uuid(), name: Nullable(Type.String()), price: Type.Optional(Type.Number()) })
const secret = { token: 'sesame' }

describe('an answer', () => {
  test('has the fields of its schema and no other, at any depth', () => {
    const Answer = Type.Object({ item: Item, list: Type.Array(Item), maybe: Nullable(Item), none: Nullable(Item) })
    const item = { id: '1', name: null, ...secret }
    expect(projection(Answer)({ item, list: [item, item], maybe: item, none: null, ...secret })).toEqual({
      item: { id: '1', name: null },
      list: [
        { id: '1', name: null },
        { id: '1', name: null },
      ],
      maybe: { id: '1', name: null },
      none: null,
    })
    expect(projection(Page(Item))({ data: [item], meta: { count: 1, offset: 0, limit: 10 }, ...secret })).not.toHaveProperty('token')
  })

  test('has no field that was left out', () => {
    expect(JSON.stringify(projection(Item)({ id: '1', name: 'one' }))).toBe('{"id":"1","name":"one"}')
  })

  test('passes what is open whole, and entries by the schema of each', () => {
    const open = { type: 'doc', content: [{ type: 'paragraph', ...secret }], ...secret }
    expect(projection(RichTextOrText())(open)).toBe(open)
    expect(projection(Type.Record(Type.String(), Type.Number()))({ eur: 1, pln: 2 })).toEqual({ eur: 1, pln: 2 })
    expect(projection(Type.Record(Type.String(), Item))({ one: { id: '1', name: null, ...secret } })).toEqual({
      one: { id: '1', name: null },
    })
  })

  test('goes by the part of a union that fits', () => {
    const Either = Type.Union([Type.Object({ mode: Type.Literal('zpl') }), Type.Object({ template: Type.Integer() }), Type.Null()])
    const project = projection(Either)
    expect([project({ mode: 'zpl', ...secret }), project({ template: 4, ...secret }), project(null)]).toEqual([
      { mode: 'zpl' },
      { template: 4 },
      null,
    ])
    expect(() => project(secret)).toThrow('its schema does not know')
  })

  test('is none when it has an object or a list where its schema has a plain value', () => {
    const wrong = [{ id: secret, name: null }, { id: [secret], name: null }, { id: '1', name: secret }, [secret]]
    for (const value of wrong) expect(() => projection(Item)(value)).toThrow('its schema does not know')
    expect(() => projection(Type.Array(Item))({ data: [] })).toThrow('its schema does not know')
    expect(() => projection(Type.Array(Type.String()))([secret])).toThrow('its schema does not know')
    expect(() => projection(Type.Record(Type.String(), Type.Number()))({ eur: secret })).toThrow('its schema does not know')
  })
})

describe('a handler', () => {
  const answers = { 200: Item, 404: 'text/html' }
  const options = { operationId: 'x', summary: 'x', scope: 'public', responses: answers }

  test('does not compile when it answers otherwise than its schema says', () => {
    resource('store', '/items')
      .get('', options, () => ({ id: '1', name: null, price: 1 }))
      .get('', options, async () => ({ id: '1', name: null, ...secret }))
      .get('', options, () => new Reply(404, 'gone'))
      // @ts-expect-error it has no name
      .get('', options, () => ({ id: '1' }))
      // @ts-expect-error its name is a number
      .get('', options, async () => ({ id: '1', name: 1 }))
      // @ts-expect-error of this status it is text
      .get('', options, () => new Reply(404, { id: '1', name: null }))
      // @ts-expect-error it does not describe this status
      .get('', options, () => new Reply(201, { id: '1', name: null }))
  })

  test('reads outside of a transaction, and changes nothing there', () => {
    resource('store', '/items')
      // @ts-expect-error that is for `write`
      .get('', options, async ({ db }) => db.delete(coupons))
      // @ts-expect-error that is for `write`
      .get('', options, async ({ db }) => db.update(coupons))
      // @ts-expect-error that is for `write`
      .get('', options, async ({ db }) => db.insert(coupons))
  })

  test('knows what its path names, and nothing else', () => {
    resource('store', '/items/{id}')
      .get('/parts/{partId}', options, ({ params: { id, partId } }) => ({ id, name: partId }))
      // @ts-expect-error the path has no such part
      .get('/parts/{partId}', options, ({ params }) => ({ id: params.itemId, name: null }))
  })
})

describe('a route', () => {
  const [route] = resource('store', '/items').get(
    '',
    { operationId: 'x', summary: 'x', scope: 'public', responses: { 200: Item } },
    () => null as never,
  ).routes
  const [text] = resource('store', '/text').get(
    '',
    { operationId: 'x', summary: 'x', scope: 'public', responses: { 200: 'text/plain' } },
    () => '',
  ).routes
  const ready = readied(route!, { contentUrl: '', images: imageImport }, [])

  test('answers nothing that it does not describe', () => {
    expect(() => bodyOf(ready, new Reply(202, {}))).toThrow('answers 202')
    expect(() => bodyOf(readied(text!, { contentUrl: '', images: imageImport }, []), secret)).toThrow('answers no text')
  })

  test('is refused by the tests when what it answers is not as it says', () => {
    expect(() => encoded(ready, { id: 'no UUID', name: null }, true)).toThrow('does not match its schema')
    expect(encoded(ready, { id: 'no UUID', name: null }, false)).toBe('{"id":"no UUID","name":null}')
    const { problems } = parser(closed(Page(Item)))
    const item = { id: '0191a1b0-0000-7000-8000-000000000000', name: null }
    const page = (each: object) => ({ data: [each], meta: { count: 1, offset: 0, limit: 1 } })
    expect([problems(page(item)), problems(page({ ...item, ...secret })).map(({ keys }) => keys)]).toEqual([[], [['token']]])
  })
})
